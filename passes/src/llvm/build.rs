//! Building: calls of hooks and the little arithmetic around them.

use std::marker::PhantomData;

use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMIntPredicate, core, debuginfo};

use super::handles::{Function, Instruction, Type, Value};
use super::module::Module;
use super::shim;

/// Inserts instructions before others. Each gets the location of the instruction that it is inserted before, or line 0 of
/// the function: the verifier demands one on calls in functions with debug information.
pub(crate) struct Builder<'m> {
    raw: LLVMBuilderRef,
    module: Module<'m>,
    // invariant: the function that the builder stands in; its subprogram gives the fallback location.
    function: Function<'m>,
    owner: PhantomData<&'m ()>,
}

/// A declared hook: what a call of it needs.
#[derive(Clone, Copy)]
pub(crate) struct Signature<'m> {
    function: Value<'m>,
    ty: Type<'m>,
}

impl<'m> Signature<'m> {
    /// Declares an external function that never unwinds, once per module.
    pub(crate) fn declare(module: Module<'m>, name: &str, result: Type<'m>, arguments: &[Type<'m>]) -> Self {
        Self::declare_as(module, name, result, arguments, 0)
    }

    /// The same, of one that takes more arguments than these.
    pub(crate) fn declare_variadic(module: Module<'m>, name: &str, result: Type<'m>, arguments: &[Type<'m>]) -> Self {
        Self::declare_as(module, name, result, arguments, 1)
    }

    fn declare_as(module: Module<'m>, name: &str, result: Type<'m>, arguments: &[Type<'m>], variadic: i32) -> Self {
        let mut raw: Vec<LLVMTypeRef> = arguments.iter().map(|ty| ty.raw).collect();
        let count = u32::try_from(raw.len()).expect("a handful of arguments");
        let ty = Type::new(llvm!(core::LLVMFunctionType(result.raw, raw.as_mut_ptr(), count, variadic)));
        if let Some(function) = module.function(name) {
            return Self { function: function.into(), ty };
        }
        let symbol = std::ffi::CString::new(name).expect("names of hooks hold no zero");
        let function = Function::new(llvm!(core::LLVMAddFunction(module.raw, symbol.as_ptr(), ty.raw)));
        function.add(module, "nounwind");
        Self { function: function.into(), ty }
    }
}

impl<'m> Signature<'m> {
    /// A function that the module has.
    pub(crate) fn of(function: Function<'m>) -> Self {
        Self { function: function.into(), ty: function.function_type() }
    }
}

impl<'m> Builder<'m> {
    /// A builder for one function.
    pub(crate) fn new(module: Module<'m>, function: Function<'m>) -> Self {
        Self { raw: llvm!(core::LLVMCreateBuilderInContext(module.context)), module, function, owner: PhantomData }
    }

    /// Whatever is built next stands before this instruction.
    pub(crate) fn before(&self, instruction: Instruction<'m>) {
        llvm!(core::LLVMPositionBuilderBefore(self.raw, instruction.raw));
    }

    fn located(&self, value: LLVMValueRef) -> Value<'m> {
        let value = Value::new(value);
        if let Some(instruction) = value.as_instruction()
            && !instruction.has_location()
        {
            let subprogram = llvm!(debuginfo::LLVMGetSubprogram(self.function.raw));
            if !subprogram.is_null() {
                let nowhere = std::ptr::null_mut();
                let line0 = llvm!(debuginfo::LLVMDIBuilderCreateDebugLocation(self.module.context, 0, 0, subprogram, nowhere));
                llvm!(debuginfo::LLVMInstructionSetDebugLoc(instruction.raw, line0));
            }
        }
        value
    }

    /// Calls a hook.
    pub(crate) fn call(&self, hook: Signature<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|value| value.raw).collect();
        let count = u32::try_from(raw.len()).expect("a handful of arguments");
        self.located(llvm!(core::LLVMBuildCall2(self.raw, hook.ty.raw, hook.function.raw, raw.as_mut_ptr(), count, c"".as_ptr())))
    }

    /// Makes a load that stands between calls of these two hooks do without them as long as a glance at the lock, by a call of the third
    /// hook, holds: that is, if the word at this offset of the lock is afterwards the complement of what the glance returned.
    pub(crate) fn read_at_a_glance(&self, glance: Signature<'m>, load: Instruction<'m>, around: [Instruction<'m>; 2], offset: u64) {
        let [acquire, release] = around;
        llvm!(shim::atomfix_read_at_a_glance(glance.function.raw, load.raw, acquire.raw, release.raw, offset));
    }

    /// A stack slot.
    pub(crate) fn alloca(&self, ty: Type<'m>) -> Value<'m> {
        Value::new(llvm!(core::LLVMBuildAlloca(self.raw, ty.raw, c"".as_ptr())))
    }

    /// An unsigned integer, made to fit another integer type.
    pub(crate) fn resize(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.located(llvm!(core::LLVMBuildIntCast2(self.raw, value.raw, ty.raw, 0, c"".as_ptr())))
    }

    /// A pointer, or an integer of at most 64 bits, as one of 64 bits.
    pub(crate) fn word(&self, value: Value<'m>) -> Value<'m> {
        let word = self.module.integer(64);
        if value.ty().integer_bits().is_none() {
            return self.located(llvm!(core::LLVMBuildPtrToInt(self.raw, value.raw, word.raw, c"".as_ptr())));
        }
        self.resize(value, word)
    }

    /// A signed integer, made to fit another integer type.
    pub(crate) fn resize_signed(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.located(llvm!(core::LLVMBuildIntCast2(self.raw, value.raw, ty.raw, 1, c"".as_ptr())))
    }

    /// The product of two integers of one type.
    pub(crate) fn multiply(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.located(llvm!(core::LLVMBuildMul(self.raw, a.raw, b.raw, c"".as_ptr())))
    }

    /// The sum of two integers of one type.
    pub(crate) fn add(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.located(llvm!(core::LLVMBuildAdd(self.raw, a.raw, b.raw, c"".as_ptr())))
    }

    /// The smaller of two unsigned integers of one type.
    pub(crate) fn smaller(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        let less = self.located(llvm!(core::LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntULT, a.raw, b.raw, c"".as_ptr())));
        self.select(less, a, b)
    }

    /// Whether a signed integer is above zero.
    pub(crate) fn is_positive(&self, value: Value<'m>) -> Value<'m> {
        let zero = self.module.zero(value.ty());
        self.located(llvm!(core::LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntSGT, value.raw, zero.raw, c"".as_ptr())))
    }

    /// Whether a signed integer is not below zero.
    pub(crate) fn is_not_negative(&self, value: Value<'m>) -> Value<'m> {
        let zero = self.module.zero(value.ty());
        self.located(llvm!(core::LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntSGE, value.raw, zero.raw, c"".as_ptr())))
    }

    /// Whether a pointer is not null.
    pub(crate) fn is_not_null(&self, value: Value<'m>) -> Value<'m> {
        let null = self.module.zero(value.ty());
        self.located(llvm!(core::LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntNE, value.raw, null.raw, c"".as_ptr())))
    }

    /// A lane of a vector.
    pub(crate) fn lane(&self, vector: Value<'m>, index: u32) -> Value<'m> {
        let index = self.module.constant(self.module.integer(32), index.into());
        self.located(llvm!(core::LLVMBuildExtractElement(self.raw, vector.raw, index.raw, c"".as_ptr())))
    }

    /// The address so many bytes further on.
    pub(crate) fn behind(&self, address: Value<'m>, bytes: u32) -> Value<'m> {
        let mut offset = self.module.constant(self.module.integer(64), bytes.into()).raw;
        let byte = self.module.integer(8);
        self.located(llvm!(core::LLVMBuildGEP2(self.raw, byte.raw, address.raw, &raw mut offset, 1, c"".as_ptr())))
    }

    /// One of two values.
    pub(crate) fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        self.located(llvm!(core::LLVMBuildSelect(self.raw, condition.raw, yes.raw, no.raw, c"".as_ptr())))
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: made in `new`, owned by this value alone.
        unsafe { core::LLVMDisposeBuilder(self.raw) };
    }
}
