//! Locks that a function takes through its parameter, seen where it is called: one level of calling context, and one more for each wrapper
//! around a wrapper.
//!
//! `safe_mutex_lock(&a)` and `std::mutex::lock` are called for every lock of a program, so without context all of these are one class, and
//! no order between them is seen. A *wrapper* does one lock operation, on what a parameter of its points to, and nothing else that matters: it
//! accesses no shared memory before, so no region of its own can be held then, and calls nothing but code outside the program and functions
//! that do nothing. Its operation becomes one of each of its calls, on the argument.
//!
//! Not handled: wrappers whose address is taken; guards, which keep the lock in an object between two calls (all guards of one type are one
//! class); arguments that are elements of arrays or come out of memory, which are what points-to analysis says.

use std::collections::{BTreeMap, BTreeSet};

use model::external::SyncOp;
use model::ids::{NodeId, PointerId, SiteKey};
use model::pointer::{Called, Flow};
use model::program::{Call, Callee, Function, NodeKind, Place, Program};

/// Wrappers around wrappers are followed so far.
const LEVELS: usize = 4;

/// A wrapper: where it does its operation, and on which parameter, how far behind what that points to.
#[derive(Clone, Copy, Debug)]
struct Wrapper {
    node: NodeId,
    op: SyncOp,
    parameter: usize,
    offset: i64,
}

/// The program with the operations of wrappers at their calls.
#[must_use]
pub fn unwrapped(program: &Program) -> Program {
    let mut program = program.clone();
    for _ in 0..LEVELS {
        let found = wrappers(&program);
        if found.is_empty() {
            break;
        }
        let arrays = arrays(&program);
        for function in &mut program.functions {
            if let Some(own) = found.get(&function.call_name())
                && let NodeKind::Call(call) = &mut function.nodes[own.node.index()].kind
            {
                call.sync = None;
            }
            give_to_calls(function, &found, &arrays);
        }
    }
    program
}

/// All wrappers that are only called by name, by the name that calls use.
fn wrappers(program: &Program) -> BTreeMap<String, Wrapper> {
    let idle = |function: &&Function| function.nodes.iter().all(|node| !matches!(node.kind, NodeKind::Access(_) | NodeKind::Call(_)));
    let idle: BTreeSet<String> = program.functions.iter().filter(idle).map(Function::call_name).collect();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for function in &program.functions {
        *names.entry(function.call_name()).or_default() += 1;
    }
    let defined = |name: &str| names.contains_key(name) && !idle.contains(name);
    let mut found = BTreeMap::new();
    for function in &program.functions {
        let name = function.call_name();
        if !program.taken.contains(&name)
            && names[&name] == 1
            && let Some(wrapper) = wrapper(function, &defined)
        {
            found.insert(name, wrapper);
        }
    }
    found
}

fn wrapper(function: &Function, defined: &impl Fn(&str) -> bool) -> Option<Wrapper> {
    let (mut found, mut accesses) = (None, Vec::new());
    for (n, node) in function.nodes.iter().enumerate() {
        match &node.kind {
            NodeKind::Access(_) => accesses.push(NodeId::new(n)),
            NodeKind::Call(call) => match lock_operation(call) {
                Some((op, place)) if found.is_none() => found = Some((NodeId::new(n), op, place)),
                Some(_) => return None,
                None => {
                    let Callee::Direct(name) = &call.callee else { return None };
                    if defined(name) || call.sync.is_some() || call.blocking.is_some() || !call.accesses.is_empty() {
                        return None;
                    }
                }
            },
            NodeKind::Block | NodeKind::Return | NodeKind::Stop => {}
        }
    }
    let (node, op, place) = found?;
    if reaches(function, accesses, node) {
        return None;
    }
    let mut behind = function.pointers.behind.iter().filter(|(of, _)| of == place).map(|(_, pointer)| *pointer);
    let pointer = behind.next().filter(|_| behind.next().is_none())?;
    match origin(function, pointer)? {
        (Origin::Parameter(parameter), offset) => Some(Wrapper { node, op, parameter, offset }),
        (Origin::Symbol(_), _) => None,
    }
}

/// Whether control gets from any of some nodes to another one.
fn reaches(function: &Function, from: Vec<NodeId>, to: NodeId) -> bool {
    let mut seen: BTreeSet<NodeId> = from.iter().copied().collect();
    let mut work = from;
    while let Some(node) = work.pop() {
        if node == to {
            return true;
        }
        work.extend(function.node(node).successors.iter().copied().filter(|next| seen.insert(*next)));
    }
    false
}

/// Arrays of locks whose elements are chosen by a computed index.
fn arrays(program: &Program) -> BTreeSet<String> {
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    let locks = nodes.filter_map(|node| if let NodeKind::Call(call) = &node.kind { lock_operation(call) } else { None });
    locks.filter_map(|(_, place)| if let Place::GlobalElement { name, .. } = place { Some(name.clone()) } else { None }).collect()
}

fn lock_operation(call: &Call) -> Option<(SyncOp, &Place)> {
    let (op, places) = call.sync.as_ref()?;
    let locks = matches!(op, SyncOp::Lock | SyncOp::TryLock | SyncOp::ReadLock | SyncOp::TryReadLock | SyncOp::Unlock);
    places.first().filter(|_| locks).map(|place| (*op, place))
}

/// Where a pointer comes from.
enum Origin<'a> {
    Parameter(usize),
    Symbol(&'a str),
}

/// The one origin of a pointer, and how far behind it is, where it is nothing but a step or several from there.
fn origin(function: &Function, mut pointer: PointerId) -> Option<(Origin<'_>, i64)> {
    let mut offset = 0_i64;
    let mut left = function.pointers.flows.len() + 1;
    while left > 0 {
        left -= 1;
        if pointer.0 < function.pointers.parameters {
            return Some((Origin::Parameter(pointer.index()), offset));
        }
        let mut sources = function.pointers.flows.iter().filter(|flow| target(flow) == Some(pointer));
        match (sources.next()?, sources.next()) {
            (Flow::Symbol { name, .. }, None) => return Some((Origin::Symbol(name), offset)),
            (Flow::Step { from, bytes, .. }, None) => {
                offset = offset.checked_add(*bytes)?;
                pointer = *from;
            }
            _ => return None,
        }
    }
    None
}

/// The value that a flow makes.
fn target(flow: &Flow) -> Option<PointerId> {
    match flow {
        Flow::Symbol { to, .. } | Flow::Fresh { to } | Flow::Copy { to, .. } | Flow::Step { to, .. } | Flow::Load { to, .. } => Some(*to),
        Flow::Call { result, .. } => *result,
        Flow::Store { .. } | Flow::CopyBytes { .. } | Flow::Return { .. } => None,
    }
}

/// Makes calls of wrappers do what these do.
fn give_to_calls(function: &mut Function, wrappers: &BTreeMap<String, Wrapper>, arrays: &BTreeSet<String>) {
    let mut given: Vec<(usize, SyncOp, Place, Option<PointerId>)> = Vec::new();
    for (n, node) in function.nodes.iter().enumerate() {
        let (NodeKind::Call(call), Some(site)) = (&node.kind, node.site) else { continue };
        let Callee::Direct(name) = &call.callee else { continue };
        let Some(wrapper) = wrappers.get(name) else { continue };
        let pointer = argument(function, site, name, wrapper.parameter);
        let global = pointer.and_then(|pointer| origin(function, pointer)).and_then(|(origin, offset)| match origin {
            Origin::Symbol(name) if arrays.contains(name) => None,
            Origin::Symbol(name) => {
                let offset = u64::try_from(offset.checked_add(wrapper.offset)?).ok()?;
                Some(Place::Global { name: name.to_owned(), offset })
            }
            Origin::Parameter(_) => None,
        });
        let behind = if global.is_none() { pointer } else { None };
        given.push((n, wrapper.op, global.unwrap_or(Place::Pointer { site }), behind));
    }
    for (n, op, place, behind) in given {
        function.pointers.behind.extend(behind.map(|pointer| (place.clone(), pointer)));
        if let NodeKind::Call(call) = &mut function.nodes[n].kind {
            call.sync = Some((op, vec![place]));
        }
    }
}

/// What a call passes as one of its arguments.
fn argument(function: &Function, site: SiteKey, callee: &str, index: usize) -> Option<PointerId> {
    function.pointers.flows.iter().find_map(|flow| match flow {
        Flow::Call { site: Some(of), callee: Called::Named(name), arguments, .. } if *of == site && name == callee => {
            arguments.get(index).copied().flatten()
        }
        _ => None,
    })
}
