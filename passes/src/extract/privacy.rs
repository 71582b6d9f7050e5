//! Whether memory may be shared, and the named reasons to leave an instruction out.
//!
//! "Private" is a proof: every object that the pointer may point into belongs to one thread or never changes. An alloca
//! whose address is passed to a call counts as shared, since front-end bitcode does not say which callees keep it; so does a
//! thread-local variable, and one that other modules can name. A coroutine's locals lie on the heap, which one thread after the other may use.

use std::collections::HashMap;

use crate::Skip;
use crate::llvm::{Function, Instruction, Module, Opcode, Value, ValueKind};

/// Remembers what was found out about objects.
pub(crate) struct Privacy<'m> {
    module: Module<'m>,
    captured: HashMap<Value<'m>, bool>,
    in_coroutine: bool,
}

impl<'m> Privacy<'m> {
    pub(crate) fn new(module: Module<'m>) -> Self {
        Self { module, captured: HashMap::new(), in_coroutine: false }
    }

    /// What is asked from now on is about this function.
    pub(crate) fn enter(&mut self, function: Function<'m>) {
        self.in_coroutine = function.is_coroutine();
    }

    /// Why an access through this pointer is private, if it is.
    pub(crate) fn of(&mut self, pointer: Value<'m>) -> Option<Skip> {
        if !pointer.ty().is_plain_pointer() {
            return Some(Skip::Unaddressable);
        }
        let objects = pointer.underlying_objects();
        let mut reason = None;
        for object in objects {
            reason = Some(self.object(object)?);
        }
        reason
    }

    fn object(&mut self, object: Value<'m>) -> Option<Skip> {
        match object.kind() {
            ValueKind::LLVMGlobalVariableValueKind if object.is_thread_local() => self.kept(object),
            ValueKind::LLVMGlobalVariableValueKind if object.is_constant_global() => Some(Skip::Constant),
            ValueKind::LLVMUndefValueValueKind | ValueKind::LLVMPoisonValueKind => Some(Skip::Constant),
            ValueKind::LLVMArgumentValueKind if object.is_copied_parameter() => self.uncaptured(object),
            ValueKind::LLVMInstructionValueKind => {
                let instruction = object.as_instruction()?;
                match instruction.opcode() {
                    Opcode::LLVMAlloca if self.in_coroutine => None,
                    Opcode::LLVMAlloca => self.uncaptured(object),
                    Opcode::LLVMCall if is_thread_local_address(instruction) => self.kept(instruction.argument(0)?),
                    Opcode::LLVMLoad if instruction.is_vtable_pointer() => Some(Skip::VirtualTable),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn uncaptured(&mut self, object: Value<'m>) -> Option<Skip> {
        let captured = *self.captured.entry(object).or_insert_with(|| object.may_be_captured());
        (!captured).then_some(Skip::Stack)
    }

    fn kept(&mut self, variable: Value<'m>) -> Option<Skip> {
        let handed_on = *self.captured.entry(variable).or_insert_with(|| variable.is_handed_on());
        (!handed_on).then_some(Skip::ThreadLocal)
    }

    /// The module that the objects live in.
    pub(crate) fn module(&self) -> Module<'m> {
        self.module
    }
}

fn is_thread_local_address(call: Instruction<'_>) -> bool {
    call.called().as_function().is_some_and(|function| function.name().starts_with("llvm.threadlocal.address"))
}
