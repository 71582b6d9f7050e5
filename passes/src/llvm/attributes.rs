//! Function attributes: asking, adding, and removing the promises that hooks break.

use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, core};

use super::handles::{Function, Instruction, Type};
use super::module::Module;

fn kind(name: &str) -> u32 {
    // SAFETY: the name is a readable range of its length.
    unsafe { core::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

/// Promises that no instrumented function keeps: with them, LLVM deletes and merges hooks and calls of hooked functions.
const PROMISES: [&str; 6] = ["memory", "willreturn", "nosync", "nofree", "norecurse", "speculatable"];

impl Function<'_> {
    /// Whether it has this attribute (`optnone`, `naked`, ..).
    pub(crate) fn has(self, attribute: &str) -> bool {
        !llvm!(core::LLVMGetEnumAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, kind(attribute))).is_null()
    }

    /// Adds an attribute without a value.
    pub(crate) fn add(self, module: Module<'_>, attribute: &str) {
        let made = llvm!(core::LLVMCreateEnumAttribute(module.context, kind(attribute), 0));
        llvm!(core::LLVMAddAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, made));
    }

    /// Removes an attribute.
    pub(crate) fn remove(self, attribute: &str) {
        llvm!(core::LLVMRemoveEnumAttributeAtIndex(self.raw, LLVMAttributeFunctionIndex, kind(attribute)));
    }

    /// Takes back what the front end promised about the function.
    pub(crate) fn strip_promises(self) {
        for promise in PROMISES {
            self.remove(promise);
        }
    }
}

impl<'m> Instruction<'m> {
    /// The type of the memory that an argument of an assembly call points to, where the argument stands for that memory.
    pub(crate) fn element_type(self, argument: u32) -> Option<Type<'m>> {
        // Attributes of arguments are counted from 1.
        let attribute = llvm!(core::LLVMGetCallSiteEnumAttribute(self.raw, argument + 1, kind("elementtype")));
        (!attribute.is_null()).then(|| Type::new(llvm!(core::LLVMGetTypeAttributeValue(attribute))))
    }

    /// Takes back what the front end promised about a call.
    pub(crate) fn strip_promises(self) {
        for promise in PROMISES {
            llvm!(core::LLVMRemoveCallSiteEnumAttribute(self.raw, LLVMAttributeFunctionIndex, kind(promise)));
        }
    }
}
