//! Reading values, instructions and blocks.

use std::ffi::{CStr, c_char};

pub(crate) use inkwell::llvm_sys::LLVMOpcode as Opcode;
pub(crate) use inkwell::llvm_sys::LLVMValueKind as ValueKind;
use inkwell::llvm_sys::prelude::LLVMUseRef;
use inkwell::llvm_sys::{LLVMTailCallKind, LLVMTypeKind, core};

use super::handles::{Block, Function, Instruction, Type, Value};
use super::shim;

/// The global that lists what runs before `main`.
pub(super) const CONSTRUCTORS: &str = "llvm.global_ctors";

/// A copy of a zero-terminated text of LLVM's; empty when there is none.
pub(super) fn c_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's messages are zero-terminated and live until the caller frees them.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl<'m> Value<'m> {
    /// What kind of value it is.
    pub(crate) fn kind(self) -> ValueKind {
        llvm!(core::LLVMGetValueKind(self.raw))
    }

    /// Its type.
    pub(crate) fn ty(self) -> Type<'m> {
        Type::new(llvm!(core::LLVMTypeOf(self.raw)))
    }

    /// Its name; empty when it has none.
    pub(crate) fn name(self) -> String {
        let mut size = 0;
        let data = llvm!(core::LLVMGetValueName2(self.raw, &raw mut size));
        shim::Text { data, size }.to_text().unwrap_or_default()
    }

    /// As an instruction, if it is one.
    pub(crate) fn as_instruction(self) -> Option<Instruction<'m>> {
        (self.kind() == ValueKind::LLVMInstructionValueKind).then_some(Instruction::new(self.raw))
    }

    /// As a function, if it is one.
    pub(crate) fn as_function(self) -> Option<Function<'m>> {
        (self.kind() == ValueKind::LLVMFunctionValueKind).then_some(Function::new(self.raw))
    }

    /// How many operands it has (0 for what is not a user).
    pub(crate) fn operand_count(self) -> u32 {
        u32::try_from(llvm!(core::LLVMGetNumOperands(self.raw))).unwrap_or(0)
    }

    /// An operand; `None` beyond the last. Not for metadata's own operands.
    pub(crate) fn operand(self, index: u32) -> Option<Self> {
        // LLVM's own accessor reads what lies behind the operands.
        if index >= self.operand_count() {
            return None;
        }
        Self::maybe(llvm!(core::LLVMGetOperand(self.raw, index)))
    }

    /// As a basic block, if it is one.
    pub(crate) fn as_block(self) -> Option<Block<'m>> {
        (self.kind() == ValueKind::LLVMBasicBlockValueKind).then(|| Block::new(llvm!(core::LLVMValueAsBasicBlock(self.raw))))
    }

    /// The operation of a constant expression.
    pub(crate) fn constant_opcode(self) -> Option<Opcode> {
        (self.kind() == ValueKind::LLVMConstantExprValueKind).then(|| llvm!(core::LLVMGetConstOpcode(self.raw)))
    }

    /// Everything that has it as an operand, once for each time.
    fn users(self) -> impl Iterator<Item = Self> {
        let some = |one: LLVMUseRef| (!one.is_null()).then_some(one);
        let first = some(llvm!(core::LLVMGetFirstUse(self.raw)));
        std::iter::successors(first, move |&one| some(llvm!(core::LLVMGetNextUse(one)))).map(|one| Self::new(llvm!(core::LLVMGetUser(one))))
    }

    /// Whether a constant is part of the list of constructors and of nothing else.
    fn is_only_listed(self) -> bool {
        use ValueKind::{LLVMConstantArrayValueKind, LLVMConstantStructValueKind, LLVMGlobalVariableValueKind};
        match self.kind() {
            LLVMGlobalVariableValueKind => self.name() == CONSTRUCTORS,
            LLVMConstantArrayValueKind | LLVMConstantStructValueKind => self.users().all(Self::is_only_listed),
            _ => false,
        }
    }

    /// Whether a function is used otherwise than by calling it, or before `main`.
    pub(crate) fn is_taken(self) -> bool {
        self.users().filter(|user| !user.is_only_listed()).any(|user| {
            let call = user.as_instruction().filter(|user| matches!(user.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke));
            let times = (0..user.operand_count()).filter(|&index| user.operand(index) == Some(self)).count();
            call.is_none_or(|call| call.called() != self) || times > 1
        })
    }

    /// The value of an integer constant of at most 64 bits, sign-extended.
    pub(crate) fn as_integer(self) -> Option<i64> {
        (self.kind() == ValueKind::LLVMConstantIntValueKind && self.ty().integer_bits().is_some_and(|bits| bits <= 64))
            .then(|| llvm!(core::LLVMConstIntGetSExtValue(self.raw)))
    }

    /// The bytes of a constant array of simple elements.
    pub(crate) fn raw_data(self) -> Vec<u8> {
        llvm!(shim::atomfix_raw_data(self.raw)).to_bytes().unwrap_or_default()
    }

    /// As the textual IR prints it.
    pub(crate) fn print(self) -> String {
        let message = llvm!(core::LLVMPrintValueToString(self.raw));
        let text = c_text(message);
        // SAFETY: LLVM allocated the message for us; used no more.
        unsafe { core::LLVMDisposeMessage(message) };
        text
    }

    /// Whether a global has no body or initial value here.
    pub(crate) fn is_declaration(self) -> bool {
        llvm!(core::LLVMIsDeclaration(self.raw)) != 0
    }

    /// Whether a global's name means nothing in other modules.
    pub(crate) fn is_local(self) -> bool {
        use inkwell::llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
        matches!(llvm!(core::LLVMGetLinkage(self.raw)), LLVMInternalLinkage | LLVMPrivateLinkage)
    }

    /// Whether a global's name is the compiler's own.
    pub(crate) fn is_private(self) -> bool {
        llvm!(core::LLVMGetLinkage(self.raw)) == inkwell::llvm_sys::LLVMLinkage::LLVMPrivateLinkage
    }

    /// Whether another definition may replace a global's at link or load time.
    pub(crate) fn is_weak(self) -> bool {
        use inkwell::llvm_sys::LLVMLinkage::{LLVMCommonLinkage, LLVMExternalWeakLinkage, LLVMLinkOnceAnyLinkage, LLVMWeakAnyLinkage};
        matches!(
            llvm!(core::LLVMGetLinkage(self.raw)),
            LLVMWeakAnyLinkage | LLVMLinkOnceAnyLinkage | LLVMExternalWeakLinkage | LLVMCommonLinkage
        )
    }

    /// Whether a global variable never changes.
    pub(crate) fn is_constant_global(self) -> bool {
        self.kind() == ValueKind::LLVMGlobalVariableValueKind && llvm!(core::LLVMIsGlobalConstant(self.raw)) != 0
    }

    /// Whether a global variable has one instance per thread.
    pub(crate) fn is_thread_local(self) -> bool {
        self.kind() == ValueKind::LLVMGlobalVariableValueKind && llvm!(core::LLVMIsThreadLocal(self.raw)) != 0
    }

    /// What an alias stands for.
    pub(crate) fn aliasee(self) -> Option<Self> {
        (self.kind() == ValueKind::LLVMGlobalAliasValueKind).then(|| Self::new(llvm!(core::LLVMAliasGetAliasee(self.raw))))
    }

    /// The initial value of a global variable.
    pub(crate) fn initializer(self) -> Option<Self> {
        (self.kind() == ValueKind::LLVMGlobalVariableValueKind).then(|| Self::maybe(llvm!(core::LLVMGetInitializer(self.raw)))).flatten()
    }

    /// The section that a global is to lie in; empty where nothing is said.
    pub(super) fn section(self) -> String {
        c_text(llvm!(core::LLVMGetSection(self.raw)))
    }

    /// The functions, or second names of such, that a constant holds.
    pub(super) fn functions_within(self) -> Vec<Self> {
        use ValueKind::{LLVMConstantArrayValueKind, LLVMConstantExprValueKind, LLVMConstantStructValueKind};
        match self.kind() {
            ValueKind::LLVMFunctionValueKind | ValueKind::LLVMGlobalAliasValueKind => vec![self],
            LLVMConstantArrayValueKind | LLVMConstantStructValueKind | LLVMConstantExprValueKind => {
                (0..self.operand_count()).filter_map(|index| self.operand(index)).flat_map(Self::functions_within).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text of an inline assembly value.
    pub(crate) fn assembly(self) -> Option<String> {
        if self.kind() != ValueKind::LLVMInlineAsmValueKind {
            return None;
        }
        let mut size = 0;
        let data = llvm!(core::LLVMGetInlineAsmAsmString(self.raw, &raw mut size));
        Some(shim::Text { data, size }.to_text().unwrap_or_default())
    }

    /// The constraints of an inline assembly value.
    pub(crate) fn assembly_constraints(self) -> Option<String> {
        if self.kind() != ValueKind::LLVMInlineAsmValueKind {
            return None;
        }
        let mut size = 0;
        let data = llvm!(core::LLVMGetInlineAsmConstraintString(self.raw, &raw mut size));
        Some(shim::Text { data, size }.to_text().unwrap_or_default())
    }
}

impl<'m> Type<'m> {
    /// As the textual IR prints it.
    pub(crate) fn print(self) -> String {
        let message = llvm!(core::LLVMPrintTypeToString(self.raw));
        let text = c_text(message);
        // SAFETY: LLVM allocated the message for us; used no more.
        unsafe { core::LLVMDisposeMessage(message) };
        text
    }

    fn kind(self) -> LLVMTypeKind {
        llvm!(core::LLVMGetTypeKind(self.raw))
    }

    /// The width of an integer type.
    pub(crate) fn integer_bits(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| llvm!(core::LLVMGetIntTypeWidth(self.raw)))
    }

    /// How many fields a record type has; 0 for other types.
    pub(crate) fn field_count(self) -> u32 {
        if self.kind() == LLVMTypeKind::LLVMStructTypeKind { llvm!(core::LLVMCountStructElementTypes(self.raw)) } else { 0 }
    }

    /// Whether values of it have parts.
    pub(crate) fn is_aggregate(self) -> bool {
        use LLVMTypeKind::{LLVMArrayTypeKind, LLVMScalableVectorTypeKind, LLVMStructTypeKind, LLVMVectorTypeKind};
        matches!(self.kind(), LLVMStructTypeKind | LLVMArrayTypeKind | LLVMVectorTypeKind | LLVMScalableVectorTypeKind)
    }

    /// How many lanes a vector type has.
    pub(crate) fn lanes(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMVectorTypeKind).then(|| llvm!(core::LLVMGetVectorSize(self.raw)))
    }

    /// Whether it is a vector of pointers.
    pub(crate) fn is_of_pointers(self) -> bool {
        self.lanes().is_some() && Self::new(llvm!(core::LLVMGetElementType(self.raw))).kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is a pointer into the ordinary address space (not relative to a segment register).
    pub(crate) fn is_plain_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind && llvm!(core::LLVMGetPointerAddressSpace(self.raw)) == 0
    }
}

impl<'m> Instruction<'m> {
    fn value(self) -> Value<'m> {
        self.into()
    }

    /// What it does.
    pub(crate) fn opcode(self) -> Opcode {
        llvm!(core::LLVMGetInstructionOpcode(self.raw))
    }

    /// The next one in its block.
    pub(crate) fn next(self) -> Option<Self> {
        Self::maybe(llvm!(core::LLVMGetNextInstruction(self.raw)))
    }

    /// The block that it stands in.
    pub(crate) fn block(self) -> Block<'m> {
        Block::new(llvm!(core::LLVMGetInstructionParent(self.raw)))
    }

    /// Whether it ends its block.
    pub(crate) fn is_terminator(self) -> bool {
        !llvm!(core::LLVMIsATerminatorInst(self.raw)).is_null()
    }

    /// Whether a memory instruction is atomic.
    pub(crate) fn is_atomic(self) -> bool {
        llvm!(core::LLVMIsAtomic(self.raw)) != 0
    }

    /// The ordering of a load, store, read-modify-write or fence, as a number.
    pub(crate) fn ordering(self) -> u64 {
        llvm!(core::LLVMGetOrdering(self.raw)) as u64
    }

    /// The predicate of a comparison or the operation of a read-modify-write, as a number.
    pub(crate) fn variant(self) -> u64 {
        match self.opcode() {
            Opcode::LLVMICmp => llvm!(core::LLVMGetICmpPredicate(self.raw)) as u64,
            Opcode::LLVMFCmp => llvm!(core::LLVMGetFCmpPredicate(self.raw)) as u64,
            Opcode::LLVMAtomicRMW => llvm!(core::LLVMGetAtomicRMWBinOp(self.raw)) as u64,
            _ => 0,
        }
    }

    /// How a comparison of integers or pointers compares; `None` for other instructions.
    pub(crate) fn predicate(self) -> Option<Predicate> {
        use inkwell::llvm_sys::LLVMIntPredicate as P;
        (self.opcode() == Opcode::LLVMICmp).then(|| match llvm!(core::LLVMGetICmpPredicate(self.raw)) {
            P::LLVMIntEQ => Predicate::Equals,
            P::LLVMIntNE => Predicate::Differs,
            P::LLVMIntUGT | P::LLVMIntUGE | P::LLVMIntSGT | P::LLVMIntSGE => Predicate::Greater,
            P::LLVMIntULT | P::LLVMIntULE | P::LLVMIntSLT | P::LLVMIntSLE => Predicate::Less,
        })
    }

    /// Whether a load or store is volatile.
    pub(crate) fn is_volatile(self) -> bool {
        matches!(self.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore) && llvm!(core::LLVMGetVolatile(self.raw)) != 0
    }

    /// The type that an alloca allocates.
    pub(crate) fn allocated_type(self) -> Option<Type<'m>> {
        (self.opcode() == Opcode::LLVMAlloca).then(|| Type::new(llvm!(core::LLVMGetAllocatedType(self.raw))))
    }

    /// The type that a GEP walks through.
    pub(crate) fn walked_type(self) -> Option<Type<'m>> {
        (self.opcode() == Opcode::LLVMGetElementPtr).then(|| Type::new(llvm!(core::LLVMGetGEPSourceElementType(self.raw))))
    }

    /// Incoming blocks of a phi.
    pub(crate) fn incoming_blocks(self) -> Vec<Block<'m>> {
        if self.opcode() != Opcode::LLVMPHI {
            return Vec::new();
        }
        let count = llvm!(core::LLVMCountIncoming(self.raw));
        (0..count).map(|index| Block::new(llvm!(core::LLVMGetIncomingBlock(self.raw, index)))).collect()
    }

    /// Indices of an `extractvalue` or `insertvalue`.
    pub(crate) fn aggregate_indices(self) -> Vec<u32> {
        if !matches!(self.opcode(), Opcode::LLVMExtractValue | Opcode::LLVMInsertValue) {
            return Vec::new();
        }
        let count = llvm!(core::LLVMGetNumIndices(self.raw)) as usize;
        let indices = llvm!(core::LLVMGetIndices(self.raw));
        if count == 0 || indices.is_null() {
            return Vec::new();
        }
        // SAFETY: LLVM gives `count` numbers that live as long as the instruction.
        unsafe { std::slice::from_raw_parts(indices, count) }.to_vec()
    }

    /// Whether it is a call or an invoke.
    pub(crate) fn is_call(self) -> bool {
        matches!(self.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr)
    }

    /// Whom a call calls.
    pub(crate) fn called(self) -> Value<'m> {
        Value::new(llvm!(core::LLVMGetCalledValue(self.raw)))
    }

    /// The function type of a call.
    pub(crate) fn called_type(self) -> Type<'m> {
        Type::new(llvm!(core::LLVMGetCalledFunctionType(self.raw)))
    }

    /// Removes it, which nothing uses: **handles of it are dead afterwards**.
    pub(crate) fn erase(self) {
        llvm!(core::LLVMInstructionEraseFromParent(self.raw));
    }

    /// Puts a value in the place of this instruction, which is removed: **handles of it are dead afterwards**.
    pub(crate) fn give_way_to(self, value: Value<'m>) {
        if llvm!(core::LLVMGetTypeKind(self.value().ty().raw)) != LLVMTypeKind::LLVMVoidTypeKind {
            llvm!(core::LLVMReplaceAllUsesWith(self.raw, value.raw));
        }
        llvm!(core::LLVMInstructionEraseFromParent(self.raw));
    }

    /// Puts a value in the place of an operand.
    pub(crate) fn set_operand(self, index: u32, value: Value<'m>) {
        llvm!(core::LLVMSetOperand(self.raw, index, value.raw));
    }

    /// An argument of a call.
    pub(crate) fn argument(self, index: u8) -> Option<Value<'m>> {
        let count = llvm!(core::LLVMGetNumArgOperands(self.raw));
        (u32::from(index) < count).then(|| self.value().operand(u32::from(index))).flatten()
    }

    /// All arguments of a call.
    pub(crate) fn arguments(self) -> Vec<Value<'m>> {
        let count = llvm!(core::LLVMGetNumArgOperands(self.raw));
        (0..count).filter_map(|index| self.value().operand(index)).collect()
    }

    /// Whether the caller's frame must be gone when a call begins.
    pub(crate) fn is_musttail(self) -> bool {
        self.opcode() == Opcode::LLVMCall && llvm!(core::LLVMGetTailCallKind(self.raw)) == LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    /// The block in which a call that may unwind goes on.
    pub(crate) fn normal_destination(self) -> Option<Block<'m>> {
        (self.opcode() == Opcode::LLVMInvoke).then(|| Block::new(llvm!(core::LLVMGetNormalDest(self.raw))))
    }

    /// Where control goes after a terminator, in its order.
    pub(crate) fn successors(self) -> Vec<Block<'m>> {
        if !self.is_terminator() {
            return Vec::new();
        }
        let count = llvm!(core::LLVMGetNumSuccessors(self.raw));
        (0..count).map(|index| Block::new(llvm!(core::LLVMGetSuccessor(self.raw, index)))).collect()
    }
}

/// A comparison, signs and equality at the bound left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Predicate {
    /// Below, or not above.
    Less,
    /// Above, or not below.
    Greater,
    /// The same.
    Equals,
    /// Not the same.
    Differs,
}

impl Predicate {
    /// What holds of the second and the first.
    pub(crate) fn swapped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Greater => Self::Less,
            Self::Equals | Self::Differs => self,
        }
    }

    /// What holds where this does not.
    pub(crate) fn inverse(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Greater => Self::Less,
            Self::Equals => Self::Differs,
            Self::Differs => Self::Equals,
        }
    }
}

impl<'m> Block<'m> {
    /// The blocks from which control comes, without repeats.
    pub(crate) fn predecessors(self) -> Vec<Self> {
        let users = Value::new(llvm!(core::LLVMBasicBlockAsValue(self.raw))).users();
        let mut found: Vec<Self> = Vec::new();
        for user in users.filter_map(Value::as_instruction).filter(|user| user.is_terminator()) {
            if !found.contains(&user.block()) {
                found.push(user.block());
            }
        }
        found
    }

    /// Its instructions, in order.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        std::iter::successors(Instruction::maybe(llvm!(core::LLVMGetFirstInstruction(self.raw))), |instruction| instruction.next())
    }

    /// The instruction that ends it.
    pub(crate) fn terminator(self) -> Option<Instruction<'m>> {
        Instruction::maybe(llvm!(core::LLVMGetBasicBlockTerminator(self.raw)))
    }

    /// The instruction before which code stands that runs whenever the block is entered.
    pub(crate) fn start(self) -> Option<Instruction<'m>> {
        Instruction::maybe(llvm!(shim::atomfix_block_start(self.raw)))
    }

    /// The instruction before which code stands that runs exactly on the edge to another block. Splits the edge where it
    /// has to, moving nothing but phis and landing pads. `None` when that is impossible.
    pub(crate) fn edge_to(self, to: Self) -> Option<Instruction<'m>> {
        Instruction::maybe(llvm!(shim::atomfix_edge(self.raw, to.raw)))
    }
}
