//! Declares hooks of `model::abi` in a module, with the signature that the table gives.

use model::abi::{Hook, Type as AbiType};

use crate::llvm::{Module, Signature, Type, Value};

/// Declares hooks as they are needed.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'m> {
    module: Module<'m>,
}

impl<'m> Declared<'m> {
    pub(crate) fn new(module: Module<'m>) -> Self {
        Self { module }
    }

    /// The hook, declared.
    pub(crate) fn hook(self, hook: &Hook) -> Signature<'m> {
        let arguments: Vec<Type<'m>> = hook.arguments.iter().map(|&ty| self.ty(ty)).collect();
        Signature::declare(self.module, hook.name, self.ty(hook.result), &arguments)
    }

    fn ty(self, ty: AbiType) -> Type<'m> {
        match ty {
            AbiType::Void => self.module.void(),
            AbiType::Pointer => self.module.pointer(),
            AbiType::U32 => self.module.integer(32),
            AbiType::U64 => self.module.integer(64),
        }
    }

    /// A 32-bit constant.
    pub(crate) fn u32(self, value: u32) -> Value<'m> {
        self.module.constant(self.module.integer(32), value.into())
    }

    /// A 64-bit constant.
    pub(crate) fn u64(self, value: u64) -> Value<'m> {
        self.module.constant(self.module.integer(64), value)
    }

    /// The module.
    pub(crate) fn module(self) -> Module<'m> {
        self.module
    }
}
