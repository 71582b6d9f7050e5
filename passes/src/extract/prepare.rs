//! Preparation, the same for every use: promote locals to registers (`sroa`), so that what is left in memory may matter,
//! and find the functions that are left alone whole, with the reason. Exploration, which only calls hooks before instructions, sees into
//! most of them all the same.
//!
//! Everything here is a function of one body (and of the module's ifuncs), so nodes are numbered alike everywhere.

use std::collections::HashSet;

use super::registers::{Statement, keeps_values};
use crate::PassError;
use crate::llvm::{Function, Module, Opcode, Value};

/// A defined function, prepared.
#[derive(Clone, Copy)]
pub(crate) struct Prepared<'m> {
    pub(crate) function: Function<'m>,
    pub(crate) refused: Option<Refusal>,
}

/// Why a function is left alone.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    /// In words.
    pub(crate) why: &'static str,
    /// Whether calls may stand before its instructions.
    pub(crate) calls: Calls,
}

/// Whether calls may stand before the instructions of a function, and nothing else be changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// They may.
    Allowed,
    /// They would change what it does.
    Harmful,
}

/// Prepares a module.
pub(crate) fn prepare(module: Module<'_>) -> Result<Vec<Prepared<'_>>, PassError> {
    let resolvers: HashSet<Value<'_>> = module.resolvers().into_iter().collect();
    let functions: Vec<Prepared<'_>> = module
        .functions()
        .filter(|function| function.is_defined())
        .map(|function| Prepared { function, refused: refusal(function, &resolvers) })
        .collect();
    promote(module, &functions)?;
    Ok(functions)
}

/// What is too odd about a function to change it.
fn refusal<'m>(function: Function<'m>, resolvers: &HashSet<Value<'m>>) -> Option<Refusal> {
    let harmed = |why| Some(Refusal { why, calls: Calls::Harmful });
    let allows = |why| Some(Refusal { why, calls: Calls::Allowed });
    if function.has("naked") {
        return harmed("it is naked");
    }
    if resolvers.contains(&function.into()) {
        return harmed("it resolves an ifunc");
    }
    if function.is_coroutine() {
        return allows("it is a coroutine");
    }
    if function.calls_returning_twice() {
        return allows(if pushes_cleanup(function) {
            "it uses `pthread_cleanup_push`, which is a setjmp in C that is compiled without -fexceptions"
        } else {
            "it calls a function that returns twice (setjmp)"
        });
    }
    let mut branches_indirectly = false;
    for instruction in function.instructions() {
        match instruction.opcode() {
            Opcode::LLVMCallBr => return allows("it has an asm goto"),
            Opcode::LLVMCatchSwitch | Opcode::LLVMCleanupPad => return harmed("it handles exceptions in funclets"),
            Opcode::LLVMCall if instruction.is_musttail() => return allows("it has a call that must be a tail call"),
            Opcode::LLVMIndirectBr => branches_indirectly = true,
            _ => {}
        }
    }
    let calls = function.instructions().filter(|instruction| instruction.opcode() == Opcode::LLVMCall).map(|call| call.called());
    if keeps_values(calls.filter_map(statement)) {
        return harmed("its assembly keeps values in registers without a word to the compiler");
    }
    if branches_indirectly && !function.split_indirect_edges() { allows("it has computed gotos with shared targets") } else { None }
}

/// Whether it has what the C library's macro becomes where C has no exceptions.
fn pushes_cleanup(function: Function<'_>) -> bool {
    let mut calls = function.instructions().filter(|instruction| instruction.opcode() == Opcode::LLVMCall);
    calls.any(|call| call.called().name() == "__pthread_register_cancel")
}

fn statement(called: Value<'_>) -> Option<Statement> {
    Some(Statement { text: called.assembly()?, constraints: called.assembly_constraints()? })
}

/// Runs `sroa` on all functions but those that are left alone. LLVM passes over `optnone`, so these get it for the time.
fn promote<'m>(module: Module<'m>, functions: &[Prepared<'m>]) -> Result<(), PassError> {
    let shielded: Vec<Function<'m>> =
        functions.iter().filter(|f| f.refused.is_some() && !f.function.has("optnone")).map(|f| f.function).collect();
    for function in &shielded {
        function.add(module, "optnone");
    }
    let result = module.run_passes("function(sroa)");
    for function in &shielded {
        function.remove("optnone");
    }
    result
}
