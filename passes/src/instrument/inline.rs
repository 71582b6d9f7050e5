//! Calls of recording hooks become calls of the short ways in `inline.ll`, which the compiler then puts in their place: while recording
//! pauses, a hook is a comparison, not a call, and the registers of hot loops stay what they are.
//!
//! Each place gets a word of its own, the pause in which it was last found to be nothing new (`runtime-rt/record`, `pace`). Modules
//! without this step call the hooks themselves, which do the same more slowly.

use std::collections::HashMap;

use model::abi;

use crate::PassError;
use crate::llvm::{Builder, Function, Instruction, Module, Signature, Value};

const SHORT_WAYS: &str = include_str!("inline.ll");

/// The hooks that have a short way, with its name.
const HOOKS: [(&abi::Hook, &str); 6] = [
    (&abi::RECORD_ENTER, "__atomfix_inline_enter"),
    (&abi::RECORD_LEAVE, "__atomfix_inline_leave"),
    (&abi::RECORD_CALL, "__atomfix_inline_call"),
    (&abi::RECORD_BEGIN, "__atomfix_inline_begin"),
    (&abi::RECORD_END, "__atomfix_inline_end"),
    (&abi::RECORD_RANGE, "__atomfix_inline_range"),
];

/// Puts short ways in the place of all calls of recording hooks. Comes last: handles of those calls are dead afterwards.
pub(crate) fn inline_hooks(module: Module<'_>) -> Result<(), PassError> {
    if HOOKS.iter().all(|(hook, _)| module.function(hook.name).is_none()) {
        return Ok(());
    }
    module.link_text(SHORT_WAYS)?;
    let mut ways = HashMap::new();
    for (hook, short) in HOOKS {
        let way = module.function(short).ok_or_else(|| PassError::Internal { what: format!("inline.ll lacks {short}") })?;
        module.make_internal(way);
        if let Some(hook) = module.function(hook.name) {
            ways.insert(Value::from(hook), Signature::of(way));
        }
    }
    for function in module.functions().filter(|function| function.is_defined()) {
        let calls: Vec<Instruction<'_>> =
            function.instructions().filter(|instruction| instruction.is_call() && ways.contains_key(&instruction.called())).collect();
        replace(module, function, &calls, &ways);
    }
    Ok(())
}

fn replace<'m>(module: Module<'m>, function: Function<'m>, calls: &[Instruction<'m>], ways: &HashMap<Value<'m>, Signature<'m>>) {
    if calls.is_empty() {
        return;
    }
    let builder = Builder::new(module, function);
    for &call in calls {
        let mut arguments = call.arguments();
        arguments.push(module.private_word());
        builder.before(call);
        let short = builder.call(ways[&call.called()], &arguments);
        call.give_way_to(short);
    }
}
