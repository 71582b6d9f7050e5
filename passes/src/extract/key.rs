//! The stable identity of a function: FNV-1a over its linkage name, its module's path when the name is local, and its
//! prepared body (opcodes, types, constants, names of referenced globals, data flow, block structure).
//!
//! Not in it: debug locations, the lines that failed assertions name, metadata, attributes, value names, numeric suffixes that depend on the rest of the module.

use std::collections::HashMap;

use model::ids::{FunctionKey, fnv1a, fnv1a_from};

use crate::llvm::{Block, Function, Instruction, Type, Value, ValueKind};

/// How deep constants are looked into.
const DEPTH: u32 = 12;

/// Hashes bodies of one module; remembers what it knows of types and globals.
pub(crate) struct Hasher<'m> {
    module: String,
    types: HashMap<Type<'m>, u64>,
    globals: HashMap<Value<'m>, u64>,
}

/// The values of one body, numbered.
struct Numbers<'m> {
    values: HashMap<Value<'m>, u64>,
    blocks: HashMap<Block<'m>, u64>,
}

struct State(u64);

impl State {
    fn word(&mut self, word: u64) {
        self.0 = fnv1a_from(self.0, &word.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.0 = fnv1a_from(self.0, text.as_bytes());
    }
}

impl<'m> Hasher<'m> {
    pub(crate) fn new(module: String) -> Self {
        Self { module, types: HashMap::new(), globals: HashMap::new() }
    }

    /// The key of a function.
    pub(crate) fn key(&mut self, function: Function<'m>) -> FunctionKey {
        let mut state = State(fnv1a(b"atomfix function 1"));
        if Value::from(function).is_local() {
            state.text(&self.module);
        }
        state.text(&function.name());
        state.word(self.type_hash(function.function_type()));
        let numbers = number(function);
        for block in function.blocks() {
            state.word(u64::MAX);
            for instruction in block.instructions() {
                self.instruction(&mut state, instruction, &numbers);
            }
        }
        FunctionKey(state.0)
    }

    fn instruction(&mut self, state: &mut State, instruction: Instruction<'m>, numbers: &Numbers<'m>) {
        use crate::llvm::Opcode as O;
        let opcode = instruction.opcode();
        state.word(opcode as u64);
        let value: Value<'m> = instruction.into();
        state.word(self.type_hash(value.ty()));
        match opcode {
            O::LLVMICmp | O::LLVMFCmp => state.word(instruction.variant()),
            O::LLVMAtomicRMW => {
                state.word(instruction.variant());
                state.word(instruction.ordering());
            }
            O::LLVMLoad | O::LLVMStore | O::LLVMFence => state.word(instruction.ordering()),
            O::LLVMExtractValue | O::LLVMInsertValue => {
                instruction.aggregate_indices().into_iter().for_each(|index| state.word(index.into()))
            }
            O::LLVMPHI => {
                for block in instruction.incoming_blocks() {
                    state.word(numbers.blocks.get(&block).copied().unwrap_or(u64::MAX));
                }
            }
            O::LLVMCall | O::LLVMInvoke | O::LLVMCallBr => state.word(self.type_hash(instruction.called_type())),
            _ => {}
        }
        if let Some(ty) = instruction.allocated_type().or_else(|| instruction.walked_type()) {
            state.word(self.type_hash(ty));
        }
        let line = line_argument(instruction);
        for index in (0..value.operand_count()).filter(|&index| Some(index) != line) {
            if let Some(operand) = value.operand(index) {
                self.operand(state, operand, numbers, DEPTH);
            }
        }
    }

    fn operand(&mut self, state: &mut State, operand: Value<'m>, numbers: &Numbers<'m>, depth: u32) {
        use ValueKind as K;
        let kind = operand.kind();
        state.word(kind as u64);
        match kind {
            K::LLVMArgumentValueKind | K::LLVMInstructionValueKind => state.word(numbers.values.get(&operand).copied().unwrap_or(u64::MAX)),
            K::LLVMBasicBlockValueKind => {
                state.word(operand.as_block().and_then(|block| numbers.blocks.get(&block).copied()).unwrap_or(u64::MAX));
            }
            K::LLVMFunctionValueKind | K::LLVMGlobalVariableValueKind | K::LLVMGlobalAliasValueKind | K::LLVMGlobalIFuncValueKind => {
                let hash = self.global_hash(operand, numbers, depth);
                state.word(hash);
            }
            K::LLVMConstantIntValueKind => {
                state.word(self.type_hash(operand.ty()));
                match operand.as_integer() {
                    Some(value) => state.word(value.cast_unsigned()),
                    None => state.text(&operand.print()),
                }
            }
            K::LLVMConstantFPValueKind => state.text(&operand.print()),
            K::LLVMConstantDataArrayValueKind => state.0 = fnv1a_from(state.0, &operand.raw_data()),
            K::LLVMConstantDataVectorValueKind => state.text(&operand.print()),
            K::LLVMInlineAsmValueKind => state.text(&operand.assembly().unwrap_or_default()),
            K::LLVMConstantExprValueKind
            | K::LLVMConstantArrayValueKind
            | K::LLVMConstantStructValueKind
            | K::LLVMConstantVectorValueKind
                if depth > 0 =>
            {
                state.word(operand.constant_opcode().map_or(0, |opcode| opcode as u64));
                for index in 0..operand.operand_count() {
                    if let Some(part) = operand.operand(index) {
                        self.operand(state, part, numbers, depth - 1);
                    }
                }
            }
            K::LLVMConstantPointerNullValueKind
            | K::LLVMUndefValueValueKind
            | K::LLVMPoisonValueKind
            | K::LLVMConstantAggregateZeroValueKind => {
                state.word(self.type_hash(operand.ty()));
            }
            _ => {}
        }
    }

    /// Named globals by name; the compiler's own (string literals) by content, since their names count through the module.
    fn global_hash(&mut self, global: Value<'m>, numbers: &Numbers<'m>, depth: u32) -> u64 {
        if let Some(known) = self.globals.get(&global) {
            return *known;
        }
        let mut state = State(fnv1a(b"global"));
        match global.initializer() {
            Some(value) if global.is_private() && global.is_constant_global() && depth > 0 => {
                self.operand(&mut state, value, numbers, depth - 1)
            }
            _ => state.text(without_number(&global.name())),
        }
        self.globals.insert(global, state.0);
        state.0
    }

    fn type_hash(&mut self, ty: Type<'m>) -> u64 {
        *self.types.entry(ty).or_insert_with(|| fnv1a(without_numbers(&ty.print()).as_bytes()))
    }
}

/// Which operand of a call says in which line of the source it is: what comes above that line changes it.
fn line_argument(instruction: Instruction<'_>) -> Option<u32> {
    (instruction.is_call() && instruction.called().name() == "__assert_fail").then_some(2)
}

fn number(function: Function<'_>) -> Numbers<'_> {
    let mut numbers = Numbers { values: HashMap::new(), blocks: HashMap::new() };
    let mut next = 0;
    for parameter in function.parameters() {
        numbers.values.insert(parameter, next);
        next += 1;
    }
    for (index, block) in function.blocks().enumerate() {
        numbers.blocks.insert(block, index as u64);
        for instruction in block.instructions() {
            numbers.values.insert(instruction.into(), next);
            next += 1;
        }
    }
    numbers
}

/// A name without the numeric suffix with which LLVM tells equal names apart.
pub(crate) fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, digits)) if !stem.is_empty() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    }
}

/// A printed type without such suffixes of the names in it.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dot) = rest.find('.') {
        let (before, after) = rest.split_at(dot);
        out.push_str(before);
        let digits = after[1..].bytes().take_while(u8::is_ascii_digit).count();
        let ends = after[1 + digits..].bytes().next().is_none_or(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')));
        let skipped = if digits > 0 && ends { 1 + digits } else { 0 };
        if skipped == 0 {
            out.push('.');
            rest = &after[1..];
        } else {
            rest = &after[skipped..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_suffixes_do_not_count() {
        for (name, stem) in [("struct.S", "struct.S"), ("struct.S.12", "struct.S"), ("f.cold", "f.cold"), (".5", ".5"), ("a.b.7", "a.b")] {
            assert_eq!(without_number(name), stem);
        }
        assert_eq!(
            without_numbers("%struct.S.3 = type { %union.u.12, [4 x i8], %a.5b }"),
            "%struct.S = type { %union.u, [4 x i8], %a.5b }"
        );
    }
}
