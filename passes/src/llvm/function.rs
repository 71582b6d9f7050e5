//! Functions: names, bodies, what makes them odd, ways out.

use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::llvm_sys::{LLVMLinkage, LLVMVisibility, core};

use super::handles::{Block, Function, Instruction, Type, Value};
use super::shim::{self, push};

impl<'m> Function<'m> {
    fn value(self) -> Value<'m> {
        self.into()
    }

    /// Its linkage name.
    pub(crate) fn name(self) -> String {
        self.value().name()
    }

    /// Whether it has a body here.
    pub(crate) fn is_defined(self) -> bool {
        !self.value().is_declaration()
    }

    /// Whether it is one of LLVM's own (`llvm.*`).
    pub(crate) fn is_intrinsic(self) -> bool {
        llvm!(core::LLVMGetIntrinsicID(self.raw)) != 0
    }

    /// Whether the compiler knows it by its name and type as one of the C library's.
    pub(crate) fn is_of_c(self) -> bool {
        llvm!(shim::atomfix_is_of_c(self.raw)) != 0
    }

    /// Whether its body here is only for inlining, as a library has it too.
    pub(crate) fn is_for_inlining(self) -> bool {
        llvm!(core::LLVMGetLinkage(self.raw)) == LLVMLinkage::LLVMAvailableExternallyLinkage
    }

    /// Has its body here stay, for this program alone, where it is not inlined.
    pub(crate) fn keep_body(self) {
        llvm!(core::LLVMSetLinkage(self.raw, LLVMLinkage::LLVMLinkOnceODRLinkage));
        llvm!(core::LLVMSetVisibility(self.raw, LLVMVisibility::LLVMHiddenVisibility));
    }

    /// Its type.
    pub(crate) fn function_type(self) -> Type<'m> {
        Type::new(llvm!(core::LLVMGlobalGetValueType(self.raw)))
    }

    /// Its parameters.
    pub(crate) fn parameters(self) -> Vec<Value<'m>> {
        let count = llvm!(core::LLVMCountParams(self.raw));
        (0..count).map(|index| Value::new(llvm!(core::LLVMGetParam(self.raw, index)))).collect()
    }

    /// Its blocks, in order.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        std::iter::successors(Block::maybe(llvm!(core::LLVMGetFirstBasicBlock(self.raw))), |block| {
            Block::maybe(llvm!(core::LLVMGetNextBasicBlock(block.raw)))
        })
    }

    /// Its instructions, in order.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        self.blocks().flat_map(Block::instructions)
    }

    /// Whether all its uses in the module are direct calls.
    pub(crate) fn is_only_called(self) -> bool {
        llvm!(shim::atomfix_is_only_called(self.raw)) != 0
    }

    /// Whether it calls a function that may return twice (`setjmp`, `vfork`).
    pub(crate) fn calls_returning_twice(self) -> bool {
        llvm!(shim::atomfix_returns_twice(self.raw)) != 0
    }

    /// Whether it is a coroutine that is not split yet.
    pub(crate) fn is_coroutine(self) -> bool {
        self.has("presplitcoroutine")
    }

    /// Splits the edges of its indirect branches; says whether each of them is a place now.
    pub(crate) fn split_indirect_edges(self) -> bool {
        llvm!(shim::atomfix_split_indirect_edges(self.raw)) != 0
    }

    /// Makes every way out by exception end in a `resume` and gives all `ret`s and `resume`s. Turns calls into invokes:
    /// **handles of the function's calls are dead afterwards**, so this comes last.
    pub(crate) fn ways_out(self) -> Vec<Instruction<'m>> {
        let mut ends: Vec<LLVMValueRef> = Vec::new();
        llvm!(shim::atomfix_ways_out(self.raw, push, (&raw mut ends).cast()));
        ends.into_iter().map(Instruction::new).collect()
    }
}
