//! Declarations of `shim.cpp`, one for one.

use std::ffi::{c_char, c_uint, c_void};

use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBool, LLVMMetadataRef, LLVMModuleRef, LLVMValueRef};

/// `AtomfixText`: bytes that live as long as the module's context.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) data: *const c_char,
    pub(super) size: usize,
}

impl Default for Text {
    fn default() -> Self {
        Self { data: std::ptr::null(), size: 0 }
    }
}

impl Text {
    /// A copy; `None` when there is no text.
    pub(super) fn to_text(self) -> Option<String> {
        self.to_bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A copy; `None` when there is nothing.
    pub(super) fn to_bytes(self) -> Option<Vec<u8>> {
        if self.data.is_null() || self.size == 0 {
            return None;
        }
        // SAFETY: LLVM gives `size` readable bytes that live as long as the context, which outlives this call.
        Some(unsafe { std::slice::from_raw_parts(self.data.cast::<u8>(), self.size) }.to_vec())
    }
}

/// `AtomfixStep`.
#[repr(C)]
pub(super) struct Step {
    pub(super) base: LLVMValueRef,
    pub(super) constant: i64,
    pub(super) computed: LLVMBool,
    pub(super) record: Text,
    pub(super) fields: i64,
}

/// `AtomfixPosition`.
#[repr(C)]
#[derive(Default)]
pub(super) struct Position {
    pub(super) file: Text,
    pub(super) function: Text,
    pub(super) line: c_uint,
    pub(super) column: c_uint,
}

/// Called with its context and a value.
pub(super) type Report = extern "C" fn(*mut c_void, LLVMValueRef);

/// The `Report` whose context is a `Vec<LLVMValueRef>` that is not otherwise in use during the call: keeps the values.
pub(super) extern "C" fn push(context: *mut c_void, value: LLVMValueRef) {
    // SAFETY: callers of the shim pass a pointer to such a vector, which outlives the call (see above).
    let values = unsafe { &mut *context.cast::<Vec<LLVMValueRef>>() };
    values.push(value);
}

unsafe extern "C" {
    pub(super) fn atomfix_step(module: LLVMModuleRef, pointer: LLVMValueRef, out: *mut Step) -> LLVMBool;
    pub(super) fn atomfix_tbaa(access: LLVMValueRef, name: *mut Text, offset: *mut u64) -> LLVMBool;
    pub(super) fn atomfix_is_vtable_pointer(access: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_raw_data(constant: LLVMValueRef) -> Text;
    pub(super) fn atomfix_captured(pointer: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_is_handed_on(variable: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_underlying_objects(pointer: LLVMValueRef, out: *mut LLVMValueRef, room: usize) -> usize;
    pub(super) fn atomfix_rest_of_object(module: LLVMModuleRef, pointer: LLVMValueRef) -> u64;
    pub(super) fn atomfix_dereferenceable(call: LLVMValueRef, argument: c_uint) -> u64;
    pub(super) fn atomfix_only_reads(call: LLVMValueRef, argument: c_uint) -> LLVMBool;
    pub(super) fn atomfix_is_result(call: LLVMValueRef, argument: c_uint) -> LLVMBool;
    pub(super) fn atomfix_is_of_c(function: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_has_byval(argument: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_escapes(pointer: LLVMValueRef, handed: Report, context: *mut c_void) -> LLVMBool;
    pub(super) fn atomfix_is_only_called(function: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_returns_twice(function: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_split_indirect_edges(function: LLVMValueRef) -> LLVMBool;
    pub(super) fn atomfix_block_start(block: LLVMBasicBlockRef) -> LLVMValueRef;
    pub(super) fn atomfix_read_at_a_glance(
        glance: LLVMValueRef,
        load: LLVMValueRef,
        acquire: LLVMValueRef,
        release: LLVMValueRef,
        offset: u64,
    );
    pub(super) fn atomfix_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) -> LLVMValueRef;
    pub(super) fn atomfix_ways_out(function: LLVMValueRef, report: Report, context: *mut c_void);
    pub(super) fn atomfix_position(location: LLVMMetadataRef, out: *mut Position) -> LLVMMetadataRef;
    pub(super) fn atomfix_function_position(function: LLVMValueRef, out: *mut Position) -> LLVMBool;
    pub(super) fn atomfix_demangle(name: *const c_char, size: usize) -> *mut c_char;
}
