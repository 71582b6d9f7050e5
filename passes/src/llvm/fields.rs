//! Names of fields and elements from debug information (`fields.cpp`).
//!
//! Not here: records without debug information, which have no names; template arguments, which LLVM's types lack (what all instances of
//! a template call a field counts).

use std::ffi::c_char;
use std::ptr::NonNull;

use inkwell::llvm_sys::core;
use inkwell::llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};

use super::handles::Value;
use super::memory::owned;
use super::module::Module;

/// `AtomfixRecords`.
#[repr(C)]
struct Raw {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn atomfix_records(module: LLVMModuleRef) -> *mut Raw;
    fn atomfix_records_free(records: *mut Raw);
    fn atomfix_field_path(records: *const Raw, name: *const c_char, size: usize, offset: u64) -> *mut c_char;
    fn atomfix_global_path(global: LLVMValueRef, offset: u64) -> *mut c_char;
}

/// The records that a module's debug information describes.
pub(crate) struct Records<'m> {
    raw: NonNull<Raw>,
    module: Module<'m>,
}

impl<'m> Records<'m> {
    /// Reads a module's debug information.
    pub(crate) fn of(module: Module<'m>) -> Self {
        let raw = llvm!(atomfix_records(module.raw));
        Self { raw: NonNull::new(raw).expect("made by `new`"), module }
    }

    /// What follows the name of a record (as LLVM's type has it, without prefix) for the field at `offset` bytes: `.head`,
    /// `.slots[].next`. `None` when nothing is known of it.
    pub(crate) fn field(&self, record: &str, offset: u64) -> Option<String> {
        owned(llvm!(atomfix_field_path(self.raw.as_ptr(), record.as_ptr().cast(), record.len(), offset)))
    }

    /// The same for a global variable by its linkage name.
    pub(crate) fn in_global(&self, name: &str, offset: u64) -> Option<String> {
        let global = Value::maybe(llvm!(core::LLVMGetNamedGlobalWithLength(self.module.raw, name.as_ptr().cast(), name.len())))?;
        owned(llvm!(atomfix_global_path(global.raw, offset)))
    }
}

impl Drop for Records<'_> {
    fn drop(&mut self) {
        llvm!(atomfix_records_free(self.raw.as_ptr()));
    }
}
