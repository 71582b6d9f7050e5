//! What a pointer points to, as far as one function tells.

use std::ffi::c_char;

use inkwell::llvm_sys::prelude::LLVMValueRef;

use super::handles::{Instruction, Value};
use super::module::Module;
use super::reading::c_text;
use super::shim;

/// One GEP, seen as a step from its base.
#[derive(Clone, Debug)]
pub(crate) struct Step<'m> {
    /// The pointer that it steps from.
    pub(crate) base: Value<'m>,
    /// The constant bytes of the step.
    pub(crate) constant: i64,
    /// Whether some index is computed.
    pub(crate) computed: bool,
    /// The record type that it walks through, if it has a name.
    pub(crate) record: Option<String>,
    /// Offsets of the record fields that it walks through, and plain bytes; without any array index: all elements count
    /// as one.
    pub(crate) fields: i64,
}

impl<'m> Value<'m> {
    /// The pointer as a step from another, if it is a GEP (instruction or constant).
    pub(crate) fn step(self, module: Module<'m>) -> Option<Step<'m>> {
        let mut out = shim::Step { base: std::ptr::null_mut(), constant: 0, computed: 0, record: shim::Text::default(), fields: 0 };
        if llvm!(shim::atomfix_step(module.raw, self.raw, &raw mut out)) == 0 {
            return None;
        }
        Some(Step {
            base: Self::new(out.base),
            constant: out.constant,
            computed: out.computed != 0,
            record: out.record.to_text(),
            fields: out.fields,
        })
    }

    /// The objects that the pointer may point into, as far up as LLVM looks; the pointer itself where it cannot tell.
    pub(crate) fn underlying_objects(self) -> Vec<Self> {
        let mut room = vec![std::ptr::null_mut(); 8];
        loop {
            let count = llvm!(shim::atomfix_underlying_objects(self.raw, room.as_mut_ptr(), room.len()));
            if count <= room.len() {
                room.truncate(count);
                return room.into_iter().map(Self::new).collect();
            }
            room.resize(count, std::ptr::null_mut());
        }
    }

    /// Bytes from where the pointer points to the end of the variable or local that it points into; 0 where that is not known. With a
    /// computed index, from its beginning.
    pub(crate) fn rest_of_object(self, module: Module<'m>) -> u64 {
        llvm!(shim::atomfix_rest_of_object(module.raw, self.raw))
    }

    /// Whether a pointer may become known outside the function (LLVM's capture analysis: no is a proof).
    pub(crate) fn may_be_captured(self) -> bool {
        llvm!(shim::atomfix_captured(self.raw)) != 0
    }

    /// Whether it is a thread-local variable whose address other threads may come to know, as far as its module shows: other modules may
    /// hand on what they can name.
    pub(crate) fn is_handed_on(self) -> bool {
        self.is_thread_local() && llvm!(shim::atomfix_is_handed_on(self.raw)) != 0
    }

    /// The parameters of functions with known bodies that the pointer is handed to, if that is the only way in which it leaves
    /// its function; `None` if it may leave otherwise.
    pub(crate) fn handed_to(self) -> Option<Vec<Self>> {
        let mut handed: Vec<LLVMValueRef> = Vec::new();
        let escapes = llvm!(shim::atomfix_escapes(self.raw, shim::push, (&raw mut handed).cast())) != 0;
        (!escapes).then(|| handed.into_iter().map(Self::new).collect())
    }

    /// Whether a parameter points to a copy made for this call.
    pub(crate) fn is_copied_parameter(self) -> bool {
        self.kind() == super::ValueKind::LLVMArgumentValueKind && llvm!(shim::atomfix_has_byval(self.raw)) != 0
    }
}

impl Instruction<'_> {
    /// The record and offset that struct-path TBAA names for an access, if it does.
    pub(crate) fn tbaa_field(self) -> Option<(String, u64)> {
        let mut name = shim::Text::default();
        let mut offset = 0;
        if llvm!(shim::atomfix_tbaa(self.raw, &raw mut name, &raw mut offset)) == 0 {
            return None;
        }
        name.to_text().map(|name| (name, offset))
    }

    /// Whether TBAA says that the access is to an object's pointer to its virtual table.
    pub(crate) fn is_vtable_pointer(self) -> bool {
        llvm!(shim::atomfix_is_vtable_pointer(self.raw)) != 0
    }
}

/// What a call does with an argument, as attributes say.
impl Instruction<'_> {
    /// How many bytes it points to, at least.
    pub(crate) fn dereferenceable(self, argument: u32) -> u64 {
        llvm!(shim::atomfix_dereferenceable(self.raw, argument))
    }

    /// Whether what it points to is only read.
    pub(crate) fn only_reads(self, argument: u32) -> bool {
        llvm!(shim::atomfix_only_reads(self.raw, argument)) != 0
    }

    /// Whether it says where the result is stored.
    pub(crate) fn is_result(self, argument: u32) -> bool {
        llvm!(shim::atomfix_is_result(self.raw, argument)) != 0
    }
}

/// The readable form of an Itanium-mangled name.
pub(crate) fn demangle(mangled: &str) -> Option<String> {
    // SAFETY: the name is a readable range of its length.
    owned(unsafe { shim::atomfix_demangle(mangled.as_ptr().cast(), mangled.len()) })
}

/// A copy of a text that the shim allocated with `malloc`, which is freed; `None` when there is none.
pub(super) fn owned(text: *mut c_char) -> Option<String> {
    unsafe extern "C" {
        fn free(memory: *mut c_char);
    }
    if text.is_null() {
        return None;
    }
    let copy = c_text(text);
    // SAFETY: the shim allocated it with `malloc`; used no more.
    unsafe { free(text) };
    Some(copy)
}
