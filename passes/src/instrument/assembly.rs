//! What inline assembly does, as far as its text and its operands tell.
//!
//! Operands that are memory are known by address and type. Memory that code finds through a register is not, so whoever explores
//! schedules has to be told that such code synchronizes. Not seen: what assembly calls, and loops in it.

use crate::llvm::{Instruction, Module, Value};

/// What its instructions are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Nothing that threads could tell from plain code.
    Plain,
    /// It reads and writes memory in one step.
    Synchronizes,
    /// It reads or writes memory that it finds through a register.
    Touches,
    /// It draws random numbers.
    DrawsNumbers,
}

/// What a call of assembly is for; an intrinsic that counts as one draws random numbers.
pub(super) fn purpose(call: Instruction<'_>) -> Purpose {
    call.called().assembly().map_or(Purpose::DrawsNumbers, |text| purpose_of(&text))
}

/// Whether it is plain code without an operand that is memory.
pub(super) fn is_plain(call: Instruction<'_>) -> bool {
    let arguments = 0..u32::try_from(call.arguments().len()).unwrap_or(u32::MAX);
    purpose(call) == Purpose::Plain && arguments.map(|index| call.element_type(index)).all(|element| element.is_none())
}

/// What the instructions in this text are for.
fn purpose_of(text: &str) -> Purpose {
    let text = text.to_ascii_lowercase();
    let has = |text: &str, wanted: fn(&str) -> bool| text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(wanted);
    if has(&text, |word| word.starts_with("rdrand") || word.starts_with("rdseed")) {
        return Purpose::DrawsNumbers;
    }
    let synchronizes = |word: &str| word == "lock" || ["xchg", "cmpxchg", "xadd", "xbegin"].iter().any(|name| word.starts_with(name));
    // A prefix may stand as an instruction of its own.
    let text = text.replace("lock;", "lock ").replace("lock\n", "lock ");
    let each = || text.split([';', '\n']);
    if each().any(|one| has(one, synchronizes) && !is_fence(one)) {
        Purpose::Synchronizes
    } else if each().any(|one| goes_through_register(one, has(one, |word| STRINGS.iter().any(|name| word.starts_with(name))))) {
        Purpose::Touches
    } else {
        Purpose::Plain
    }
}

/// Instructions on strings of memory, which they find through registers that need no mention.
const STRINGS: [&str; 5] = ["cmps", "lods", "movs", "scas", "stos"];

/// Whether an instruction reads or writes memory that it finds through a register: one that is an operand, or those of instructions on strings.
fn goes_through_register(instruction: &str, is_of_strings: bool) -> bool {
    const HARMLESS: [&str; 4] = ["clflush", "clwb", "lea", "prefetch"];
    let words = || instruction.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_harmless = words().next().is_some_and(|first| HARMLESS.iter().any(|name| first.starts_with(name)));
    // `movsd` with an operand moves a number, and `movsx` widens one.
    let has_operand = instruction.contains(['$', '%']);
    let is_repeated = words().any(|word| word.starts_with("rep"));
    let is_own = |base: &str| ["%rsp", "%esp", "%rbp", "%rip", "$$"].iter().any(|name| base.starts_with(name));
    let is_through = |base: &str| base.starts_with(['$', '%']) && !is_own(base);
    !is_harmless && (instruction.split('(').skip(1).any(is_through) || (is_of_strings && (is_repeated || !has_operand)))
}

/// Whether an instruction that locks does so on the top of the stack, without an operand: all that it does is to order others.
fn is_fence(instruction: &str) -> bool {
    let on_stack = ["(%rsp)", "(%esp)", "[rsp]", "[esp]"].iter().any(|place| instruction.contains(place));
    // Two signs stand for one that begins a number.
    let has_operand = instruction.replace("$$", "").contains('$');
    on_stack && !has_operand
}

/// The operands of an assembly call that are memory: address and bytes. One that is read and written stands among them twice.
pub(super) fn memory<'m>(call: Instruction<'m>, module: Module<'m>) -> Vec<(Value<'m>, u32)> {
    let sized = |(index, address)| Some((address, u32::try_from(module.store_size(call.element_type(index)?)).ok()?));
    let mut operands: Vec<(Value<'m>, u32)> = Vec::new();
    for (address, size) in (0..).zip(call.arguments()).filter_map(sized) {
        match operands.iter_mut().find(|(known, _)| *known == address) {
            Some((_, known)) => *known = size.max(*known),
            None => operands.push((address, size)),
        }
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_tell_what_assembly_is_for() {
        for (text, expected) in [
            ("", Purpose::Plain),
            ("pause", Purpose::Plain),
            ("mfence", Purpose::Plain),
            ("movl $1, $0 # unlocked", Purpose::Plain),
            ("lock; xaddl $0, $1", Purpose::Synchronizes),
            ("LOCK CMPXCHGQ $2, $1\n\tsete $0", Purpose::Synchronizes),
            ("xchgb $0, $1", Purpose::Synchronizes),
            ("lock; addl $$0,0(%rsp)", Purpose::Plain),
            ("lock\n\torl $$0, (%rsp)", Purpose::Plain),
            ("lock; addl $0,0(%rsp)", Purpose::Synchronizes),
            ("lock; addl $$0,0(%rsp); xchgb $0, $1", Purpose::Synchronizes),
            ("lock addl $$1, counter(%rip)", Purpose::Synchronizes),
            ("rep movsb", Purpose::Touches),
            ("cld\n\trep\n\tstosq", Purpose::Touches),
            ("movsb", Purpose::Touches),
            ("movsd $1, $0", Purpose::Plain),
            ("movslq $1, $0", Purpose::Plain),
            ("movl 8($1), $0", Purpose::Touches),
            ("movq (%rax), $0", Purpose::Touches),
            ("movq 8(%rsp), $0", Purpose::Plain),
            ("prefetcht0 ($0)", Purpose::Plain),
            ("leaq ($0,$1), $2", Purpose::Plain),
            ("lock; incl ($0)", Purpose::Synchronizes),
            ("rdrandq $0", Purpose::DrawsNumbers),
        ] {
            assert_eq!(purpose_of(text), expected, "{text}");
        }
    }
}
