//! The one transformation: a plan's locks, hooks, or both, into a module. Sites are collected on the pristine module first,
//! so node numbers and keys are the same with and without a plan.
//!
//! In a function, locks are inserted before hooks, so that an operation before a node stands before the node's hooks and one
//! behind it stands behind them. Ways out come last (see `llvm::Function::ways_out`).

use std::collections::{BTreeMap, BTreeSet};

use model::plan::Plan;

use crate::extract::{self, Body, Calls};
use crate::inject::{Glances, PlannedBody, operations_of};
use crate::instrument::{
    Bare, Declared, WaysOut, add_frame, begin_locks, cover_ways_out, enter, inline_hooks, instrument_nodes, look_once, private_addresses,
    quiet_functions, takes_several,
};
use crate::llvm::{Builder, Function, Instruction, Module, with_module};
use crate::{Hooks, PassError, Skip, Transformed, inject};

/// What to do to a module.
#[derive(Clone, Copy, Debug)]
pub struct Transform<'a> {
    /// Locks to inject.
    pub plan: Option<&'a Plan>,
    /// Hooks to add.
    pub hooks: Option<Hooks>,
    /// Functions that the program defines, in whatever module: the hooks of the gate tell them from those of libraries.
    pub own: &'a BTreeSet<String>,
}

/// Transforms a module.
pub fn transform(bitcode: &[u8], what: &Transform<'_>) -> Result<Transformed, PassError> {
    with_module(bitcode, |module| {
        let mut done = transform_module(module, what)?;
        done.bitcode = module.bitcode();
        Ok(done)
    })
}

/// Transforms a live module; the result's bitcode is left empty.
pub(crate) fn transform_module(module: Module<'_>, what: &Transform<'_>) -> Result<Transformed, PassError> {
    let hooks = what.hooks.map(|hooks| if hooks == Hooks::RecordInline { Hooks::Record } else { hooks });
    let bodies = extract::bodies(module)?;
    if hooks == Some(Hooks::Gate) {
        // What functions of the C library only read. Not before, since which locals are nodes depends on whether functions keep addresses.
        module.run_passes("inferattrs")?;
    }
    let planned = match what.plan {
        Some(plan) => operations_of(plan, &bodies)?,
        None => bodies.iter().map(|_| PlannedBody::default()).collect(),
    };
    let private = private_addresses(&bodies);
    let bare = Bare { quiet: quiet_functions(&bodies, &private), private, own: what.own };
    let mut done = Transformed { bitcode: Vec::new(), sites: 0, skipped: BTreeMap::new(), refused: Vec::new(), operations: 0 };
    for (body, planned) in bodies.iter().zip(&planned) {
        let waits = what.plan.map_or_else(Vec::new, |plan| inject::listed_calls(module, plan, body));
        let open = is_open(body, hooks);
        count(body, planned, open, &mut done);
        if hooks == Some(Hooks::Gate) && open && body.skipped.contains_key(&Skip::VectorMemory) {
            let why = "vector instructions in it gather, scatter or the like, which is not seen";
            done.refused.push((body.function.name(), why.to_owned()));
        }
        done.operations += waits.len() as u64;
        if open {
            change(module, (body, planned, &waits), hooks, &bare)?;
        } else {
            inject::give_up_before(module, body.function, &waits);
        }
    }
    if what.hooks.is_some() || done.operations > 0 {
        strip_promises(module);
    }
    let changed = |(body, planned): (&Body<'_>, &PlannedBody)| is_open(body, hooks) && (hooks.is_some() || planned.len() > 0);
    bodies.iter().zip(&planned).filter(|pair| changed(*pair)).for_each(|(body, _)| keep_body(body.function));
    if what.hooks == Some(Hooks::Gate) {
        look_once(module);
    }
    if what.hooks == Some(Hooks::RecordInline) {
        inline_hooks(module)?;
    }
    module.verify()?;
    Ok(done)
}

/// Whether anything is inserted into a body. The gate's hooks stand before instructions and change nothing else.
fn is_open(body: &Body<'_>, hooks: Option<Hooks>) -> bool {
    body.refused.is_none_or(|refusal| hooks == Some(Hooks::Gate) && refusal.calls == Calls::Allowed)
}

fn count(body: &Body<'_>, planned: &PlannedBody, open: bool, done: &mut Transformed) {
    for (reason, number) in &body.skipped {
        *done.skipped.entry(*reason).or_default() += number;
    }
    match body.refused.filter(|_| !open) {
        Some(refusal) => done.refused.push((body.function.name(), refusal.why.to_owned())),
        None => {
            done.sites += body.points.iter().filter(|point| point.site.is_some()).count() as u64;
            done.operations += planned.len() as u64;
        }
    }
}

/// Templates of C++ that a library has instances of (`std::string`) are there for inlining only: what was changed in them has to stay where they
/// are not inlined. In C such a body may call the function that it stands for.
fn keep_body(function: Function<'_>) {
    // Their caches are filled by whoever comes first, with what all others would write.
    const FACETS: &str = "NKSt5ctypeI";
    let name = function.name();
    if function.is_for_inlining() && name.starts_with("_Z") && !name.contains(FACETS) {
        function.keep_body();
    }
}

/// Changes one body. Whatever stands before calls is inserted before its ways out are covered: that may make other instructions of calls.
fn change<'m>(
    module: Module<'m>,
    (body, planned, waits): (&Body<'m>, &PlannedBody, &[Instruction<'m>]),
    hooks: Option<Hooks>,
    bare: &Bare<'_, 'm>,
) -> Result<(), PassError> {
    let glances = if hooks.is_none() { Glances::Yes } else { Glances::No };
    let hooks = hooks.filter(|_| !bare.quiet.contains(&body.function));
    let record = hooks == Some(Hooks::Record);
    let locks = planned.len() > 0;
    let several = hooks == Some(Hooks::Gate) && takes_several(&body.function.name());
    if hooks.is_none() && !locks {
        inject::give_up_before(module, body.function, waits);
        return Ok(());
    }
    let builder = Builder::new(module, body.function);
    let declared = Declared::new(module);
    let operations = inject::anchored(body, planned)?;
    let frame = if record || locks || several { Some(add_frame(body.function, &builder, declared)?) } else { None };
    if let (true, Some(frame)) = (record, frame) {
        enter(body.function, body.key, frame, &builder, declared)?;
    }
    if let (true, Some(frame)) = (several, frame) {
        begin_locks(body.function, frame, &builder, declared)?;
    }
    if let Some(frame) = frame {
        inject::apply((body, &operations), glances, frame, &builder, declared);
    }
    if let Some(hooks) = hooks {
        instrument_nodes(body, hooks, bare, frame, &builder, declared)?;
    }
    inject::give_up_before(module, body.function, waits);
    if let Some(frame) = frame {
        cover_ways_out(body.function, WaysOut { leave: record, unwind: locks, locks: several }, frame, &builder, declared);
    }
    Ok(())
}

/// Promises that hooks break are taken back from every function and every call: which callees have hooks is not known here,
/// since they may be in other modules. LLVM infers those of library functions anew.
fn strip_promises(module: Module<'_>) {
    for function in module.functions().filter(|function| !function.is_intrinsic()) {
        function.strip_promises();
        for call in function.instructions().filter(|instruction| instruction.is_call()) {
            if !call.called().as_function().is_some_and(|callee| callee.is_intrinsic()) {
                call.strip_promises();
            }
        }
    }
}
