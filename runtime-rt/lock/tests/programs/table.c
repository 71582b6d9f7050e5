// The table that relinking a hardened build defines, with four locks.
#include "hooks.h"
atomfix_lock __atomfix_locks[4];
uint32_t __atomfix_lock_count = 4;
const char *__atomfix_lock_names[] = {"first", "second", "third", "fourth", 0};
