// Calls functions of libc by the very name of their symbol, which headers and compilers replace: `BY_NAME(int, putc, int, FILE *);`
// declares `call_putc`.
#pragma once
#ifdef __cplusplus
#define BY_NAME(result, name, ...) extern "C" result call_##name(__VA_ARGS__) __asm__(#name)
#else
#define BY_NAME(result, name, ...) result call_##name(__VA_ARGS__) __asm__(#name)
#endif
