//! Memory that provably belongs to one thread when the whole module is looked at: locals that are only handed to functions
//! with known bodies, which keep them to themselves, and what the parameters of such functions point to when all callers
//! hand them such memory. Accesses to it need no hooks.
//!
//! Nodes are not touched by this, since their numbers depend on one body only: such an access is a site that is never seen.
//!
//! Two fixpoints: *escape* grows from where pointers leave for the unknown, through the parameters that they are handed to;
//! *privacy of parameters* starts from all parameters of local functions that are only called directly, and shrinks. The
//! latter is sound by induction over the depth of calls: what the first caller hands down is a local of its own.

use std::collections::{HashMap, HashSet};

use crate::extract::{Act, Body, Target};
use crate::llvm::{Function, Opcode, Value, ValueKind};

/// The addresses of accesses and ranges of these bodies that point into such memory.
pub(crate) fn private_addresses<'m>(bodies: &[Body<'m>]) -> HashSet<Value<'m>> {
    let mut private = kept(bodies);
    private.extend(private_parameters(bodies, &private));
    let mut addresses = HashSet::new();
    for point in bodies.iter().flat_map(|body| &body.points) {
        let used: Vec<Value<'m>> = match &point.act {
            Act::Access(touch) => vec![touch.address],
            Act::Call(call) => call.ranges.iter().map(|range| range.address).collect(),
            Act::Block | Act::Return(_) | Act::Stop(_) => continue,
        };
        addresses
            .extend(used.into_iter().filter(|address| address.underlying_objects().iter().all(|object| is_private(*object, &private))));
    }
    addresses
}

/// What counts as private: the objects found here, and what is no object at all.
fn is_private<'m>(object: Value<'m>, private: &HashSet<Value<'m>>) -> bool {
    use ValueKind::{LLVMConstantPointerNullValueKind, LLVMPoisonValueKind, LLVMUndefValueValueKind};
    private.contains(&object)
        || (object.is_thread_local() && !object.is_handed_on())
        || matches!(object.kind(), LLVMConstantPointerNullValueKind | LLVMPoisonValueKind | LLVMUndefValueValueKind)
}

/// Locals and copied parameters that no other thread can come to know.
fn kept<'m>(bodies: &[Body<'m>]) -> HashSet<Value<'m>> {
    let mut objects: HashSet<Value<'m>> = HashSet::new();
    let mut holders: HashMap<Value<'m>, Vec<Value<'m>>> = HashMap::new();
    let mut escaping: Vec<Value<'m>> = Vec::new();
    let mut known: HashSet<Value<'m>> = HashSet::new();
    for body in bodies {
        let parameters = body.function.parameters().into_iter().filter(|parameter| parameter.ty().is_plain_pointer());
        let locals = body.function.instructions().filter(|instruction| instruction.opcode() == Opcode::LLVMAlloca).map(Value::from);
        let on_heap = body.function.is_coroutine();
        for pointer in parameters.chain(locals) {
            known.insert(pointer);
            if on_heap {
                escaping.push(pointer);
            }
            if pointer.kind() == ValueKind::LLVMInstructionValueKind || pointer.is_copied_parameter() {
                objects.insert(pointer);
            }
            match pointer.handed_to() {
                Some(parameters) => parameters.into_iter().for_each(|parameter| holders.entry(parameter).or_default().push(pointer)),
                None => escaping.push(pointer),
            }
        }
    }
    // A pointer handed to a parameter that was not looked at (of another type) is not followed.
    escaping.extend(holders.iter().filter(|(parameter, _)| !known.contains(parameter)).flat_map(|(_, pointers)| pointers));
    let mut escaped: HashSet<Value<'m>> = HashSet::new();
    while let Some(pointer) = escaping.pop() {
        if escaped.insert(pointer) {
            escaping.extend(holders.get(&pointer).into_iter().flatten());
        }
    }
    objects.retain(|object| !escaped.contains(object));
    objects
}

/// Parameters of local functions to which every caller hands private memory.
fn private_parameters<'m>(bodies: &[Body<'m>], kept: &HashSet<Value<'m>>) -> HashSet<Value<'m>> {
    let mut private = kept.clone();
    let mut candidates: HashMap<Function<'m>, Vec<Value<'m>>> = HashMap::new();
    for body in bodies.iter().filter(|body| Value::from(body.function).is_local() && body.function.is_only_called()) {
        let parameters = body.function.parameters();
        private.extend(parameters.iter().filter(|parameter| parameter.ty().is_plain_pointer()));
        candidates.insert(body.function, parameters);
    }
    // Each parameter with the objects that one call hands it; `None` where a call hands it nothing.
    let mut handed: Vec<(Value<'m>, Option<Vec<Value<'m>>>)> = Vec::new();
    for point in bodies.iter().flat_map(|body| &body.points) {
        let Act::Call(call) = &point.act else { continue };
        let Target::Defined(callee) = call.target else { continue };
        for (index, parameter) in candidates.get(&callee).into_iter().flatten().enumerate() {
            if private.contains(parameter) {
                let argument = u8::try_from(index).ok().and_then(|index| call.instruction.argument(index));
                handed.push((*parameter, argument.map(Value::underlying_objects)));
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (parameter, objects) in &handed {
            let holds = objects.as_ref().is_some_and(|objects| objects.iter().all(|object| is_private(*object, &private)));
            if !holds && private.remove(parameter) {
                changed = true;
            }
        }
    }
    private
}
