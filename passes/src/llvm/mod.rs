//! The only folder that names LLVM: safe thin wrappers over `inkwell` (ownership), `llvm_sys` (reading and building) and a
//! C++ shim (what the C API lacks). It decides nothing; `extract`, `instrument` and `inject` do.
//!
//! Each call of `with_module` has an LLVM context of its own, so different threads may work at the same time.
//!
//! **Invariant behind every `unsafe` block**: a handle (`Module<'m>`, `Value<'m>`, `Block<'m>`, ..) is only made from
//! pointers that LLVM gave us for a module that is alive throughout `'m`, on the thread that owns its context; handles
//! whose type promises more (`Instruction`, `Function`) are only made where LLVM said so. The operations that free
//! what handles may point to are `Function::ways_out` (it turns calls into invokes) and `Instruction::give_way_to`; their docs say so, and they come last.

/// Calls LLVM with live handles; the one form in which readers and builders here are unsafe.
macro_rules! llvm {
    ($call:expr) => {{
        // SAFETY: the operands come from live handles of the right kind (the folder's invariant, see `llvm/mod.rs`).
        unsafe { $call }
    }};
}

mod attributes;
mod build;
mod debug;
mod fields;
mod function;
mod handles;
mod memory;
mod module;
mod plugin;
mod reading;
mod shim;

pub(crate) use build::{Builder, Signature};
pub(crate) use debug::source_of;
pub(crate) use fields::Records;
pub(crate) use handles::{Block, Function, Instruction, Type, Value};
pub(crate) use memory::{Step, demangle};
pub(crate) use module::{Module, defined, with_module, with_new_module};
pub use plugin::{PluginInfo, atomfix_plugin_run, llvmGetPassPluginInfo};
pub(crate) use reading::{Opcode, Predicate, ValueKind};
