//! `libatomfix_passes.so`: the passes as a plugin of `opt`, `clang` and `lld`. All of it is `passes::llvm::plugin`.

pub use passes::llvmGetPassPluginInfo;
