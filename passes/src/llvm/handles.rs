//! Handles: copyable references into a live module. Equality is identity.

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMTypeRef, LLVMValueRef};

/// Defines a handle around one kind of LLVM pointer.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $raw:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name<'m> {
            // invariant: not null, and alive throughout 'm.
            pub(super) raw: $raw,
            module: PhantomData<&'m ()>,
        }

        impl $name<'_> {
            pub(super) fn new(raw: $raw) -> Self {
                assert!(!raw.is_null(), concat!("LLVM gave no ", stringify!($name)));
                Self { raw, module: PhantomData }
            }

        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                std::ptr::eq(self.raw, other.raw)
            }
        }

        impl Eq for $name<'_> {}

        impl Hash for $name<'_> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.raw.hash(state);
            }
        }
    };
}

handle!(
    /// Anything that can be an operand.
    Value,
    LLVMValueRef
);
handle!(
    /// A value that is an instruction.
    Instruction,
    LLVMValueRef
);
handle!(
    /// A value that is a function.
    Function,
    LLVMValueRef
);
handle!(
    /// A basic block.
    Block,
    LLVMBasicBlockRef
);
handle!(
    /// A type.
    Type,
    LLVMTypeRef
);

/// Some handles stand for pointers that may be null.
macro_rules! nullable {
    ($($name:ident: $raw:ty),*) => {$(
        impl $name<'_> {
            pub(super) fn maybe(raw: $raw) -> Option<Self> {
                (!raw.is_null()).then_some(Self { raw, module: PhantomData })
            }
        }
    )*};
}

nullable!(Value: LLVMValueRef, Instruction: LLVMValueRef, Function: LLVMValueRef, Block: LLVMBasicBlockRef);

impl<'m> From<Instruction<'m>> for Value<'m> {
    fn from(instruction: Instruction<'m>) -> Self {
        Self::new(instruction.raw)
    }
}

impl<'m> From<Function<'m>> for Value<'m> {
    fn from(function: Function<'m>) -> Self {
        Self::new(function.raw)
    }
}
