//! Functions in which no hook can run: they access private memory only and call such functions only. Calls of them, and they
//! themselves, need no hook; small arithmetic helpers are most of these.
//!
//! What may be replaced at link time by another function is never quiet.

use std::collections::{HashMap, HashSet};

use super::assembly;
use crate::extract::{Act, Body, Target};
use crate::llvm::{Function, Value};

/// The quiet functions of a module, in which accesses through these addresses get no hooks.
pub(crate) fn quiet_functions<'m>(bodies: &[Body<'m>], private: &HashSet<Value<'m>>) -> HashSet<Function<'m>> {
    let mut callers: HashMap<Function<'m>, Vec<Function<'m>>> = HashMap::new();
    let mut loud: Vec<Function<'m>> = Vec::new();
    for body in bodies {
        let mut is_loud = Value::from(body.function).is_weak();
        for point in &body.points {
            match &point.act {
                Act::Call(call) => match call.target {
                    Target::Defined(callee) => callers.entry(callee).or_default().push(body.function),
                    Target::Assembly => is_loud |= !assembly::is_plain(call.instruction),
                    Target::Intrinsic(_) => is_loud |= call.ranges.iter().any(|range| !private.contains(&range.address)),
                    Target::External(_) | Target::Indirect => is_loud = true,
                },
                Act::Access(touch) => is_loud |= !private.contains(&touch.address),
                Act::Block | Act::Return(_) | Act::Stop(_) => {}
            }
        }
        if is_loud {
            loud.push(body.function);
        }
    }
    let mut quiet: HashSet<Function<'m>> = bodies.iter().map(|body| body.function).collect();
    while let Some(function) = loud.pop() {
        if quiet.remove(&function) {
            loud.extend(callers.get(&function).into_iter().flatten());
        }
    }
    quiet
}
