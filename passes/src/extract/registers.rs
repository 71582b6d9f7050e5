//! Whether inline assembly keeps values in registers from one statement to the next, behind the compiler's back.
//!
//! snapraid's parity functions load `%xmm0` in one statement, add to it in others and store it in a last one. That works as long as the
//! compiler puts nothing between them that uses the register; our calls do. Such a function is left alone.
//!
//! A register is suspect that a statement names without declaring it, and a vector register that several statements name and clobber: each
//! may only need it for itself, but which it is would take the meaning of every instruction. Not seen: values that stay from one function to
//! another, and general registers that are declared as clobbered.

use std::collections::{BTreeMap, BTreeSet};

/// One statement: its text and its constraints, as LLVM has them.
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) constraints: String,
}

/// A register under one name for all its parts; `v0` stands for `xmm0`, `ymm0` and `zmm0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Register(String);

/// How a statement declares a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    Operand,
    Clobbered,
}

/// Whether the statements of one function may do so.
pub(super) fn keeps_values(statements: impl IntoIterator<Item = Statement>) -> bool {
    let mut clobbered = BTreeSet::new();
    statements.into_iter().any(|statement| {
        let declared = declared(&statement.constraints);
        let named: BTreeSet<Register> = words(&statement.text).filter_map(register).collect();
        named.into_iter().any(|register| match declared.get(&register) {
            None => true,
            Some(Declared::Clobbered) if register.0.starts_with('v') => !clobbered.insert(register),
            Some(_) => false,
        })
    })
}

/// What constraints say of registers: `={ax},{xmm1},~{xmm0}`.
fn declared(constraints: &str) -> BTreeMap<Register, Declared> {
    let mut declared = BTreeMap::new();
    for constraint in constraints.split(',') {
        let how = if constraint.starts_with('~') { Declared::Clobbered } else { Declared::Operand };
        for register in words(constraint).filter_map(register) {
            let known = declared.entry(register).or_insert(how);
            *known = if how == Declared::Operand { how } else { *known };
        }
    }
    declared
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
}

/// The register of this name. Not those that point to code, the stack and its frames: assembly may read them at any time.
fn register(word: &str) -> Option<Register> {
    let word = word.to_ascii_lowercase();
    let numbered = |prefix: &str, suffixes: &[char]| {
        let number = word.strip_prefix(prefix)?.trim_end_matches(suffixes);
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
    };
    for (prefix, class) in [("xmm", "v"), ("ymm", "v"), ("zmm", "v"), ("mm", "mm"), ("k", "k")] {
        if let Some(number) = numbered(prefix, &[]) {
            return Some(Register(format!("{class}{number}")));
        }
    }
    if let Some(number) = numbered("r", &['b', 'w', 'd']) {
        return Some(Register(format!("r{number}")));
    }
    let general = match word.strip_prefix(['r', 'e']).unwrap_or(&word) {
        "ax" | "al" | "ah" => "ax",
        "bx" | "bl" | "bh" => "bx",
        "cx" | "cl" | "ch" => "cx",
        "dx" | "dl" | "dh" => "dx",
        "si" | "sil" => "si",
        "di" | "dil" => "di",
        _ => return None,
    };
    Some(Register(general.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(statements: &[(&str, &str)], expected: bool) {
        let all = statements.iter().map(|(text, constraints)| Statement { text: (*text).into(), constraints: (*constraints).into() });
        assert_eq!(keeps_values(all), expected, "{statements:?}");
    }

    #[test]
    fn registers_that_are_named_and_not_declared_keep_values() {
        check(&[("movdqa $0,%xmm0", "*m,~{dirflag},~{fpsr},~{flags}")], true);
        check(&[("mov %r12d, $0", "=r")], true);
        check(&[("mov rcx, rax", "={ax}")], true);
    }

    #[test]
    fn declared_registers_do_not() {
        check(&[("cpuid", "={ax},={bx},={cx},={dx},0"), ("lock; cmpxchgq $2,$1", "={ax},=*m,q,*m,0,~{memory}")], false);
        check(&[("shl %cl, $0", "=r,{cx},0"), ("movl %eax, $0", "=m,~{rax}"), ("movl %eax, $0", "=m,~{rax}")], false);
        check(&[("movdqu $0, %ymm3; movdqu %xmm3, $1", "*m,=*m,~{xmm3}")], false);
        check(&[("movq %rsp, $0", "=r"), ("movq %fs:0, $0", "=r"), ("pause", "~{memory}"), ("", "")], false);
    }

    #[test]
    fn vector_registers_that_several_statements_clobber_may() {
        check(&[("movdqa $0,%xmm1", "*m,~{xmm1}"), ("movdqa %xmm1,$0", "=*m,~{xmm1}")], true);
        check(&[("movdqa $0,%xmm1", "*m,~{xmm1}"), ("movdqa %xmm2,$0", "=*m,~{xmm2}")], false);
    }
}
