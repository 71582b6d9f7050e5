//! Locks that a function takes through its parameter, seen where it is called: one level of calling context, and one more for each wrapper
//! around a wrapper.
//!
//! `safe_mutex_lock(&a)` and `std::mutex::lock` are called for every lock of a program, so without context all of these are one class, and
//! no order between them is seen. A *wrapper* does one lock operation, on what a parameter of its points to, and nothing else that matters: it
//! accesses no shared memory before, so no region of its own can be held then, and calls nothing but code outside the program and functions
//! that do nothing. Its operation becomes one of each of its calls, on the argument.
//!
//! The lock may also be the one whose address a field behind the parameter holds: so guards (`std::lock_guard`, `std::unique_lock`,
//! `std::scoped_lock` of one mutex) unlock, where they end, the mutex that they were made with (`origin`). What they remember of themselves lies in
//! a local variable of their user, and is not shared memory.
//!
//! A function that makes a guard of a global mutex and returns it tells its callers which (`origin`).
//!
//! A guard that is moved, as a parameter by value is, gives its lock to the new one (`is_moved_on`).
//!
//! Not handled: wrappers whose address is taken; guards that are assigned, or lie on the heap, which are one class for each type; arguments that are elements of arrays or come out of memory, which are what points-to analysis says.

use std::collections::{BTreeMap, BTreeSet};

use model::external::SyncOp;
use model::ids::{FunctionKey, NodeId, PointerId, SiteKey};
use model::pointer::{Called, Flow};
use model::program::{Call, Callee, Function, Node, NodeKind, Place, Program};

use crate::origin::{Fillings, Origins, Root, Value};
use crate::together::{give_together, parts};

/// Wrappers around wrappers are followed so far: a guard calls a mutex, which calls a function of the C library through another.
const LEVELS: usize = 6;

/// What a wrapper does, for its callers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wrapper {
    op: SyncOp,
    parameter: usize,
    /// The lock is not behind the parameter, but where this field behind it points to.
    field: Option<i64>,
    /// How far behind it lies.
    offset: i64,
    /// Parameters that must point to local variables, since it looks at these before.
    objects: BTreeSet<usize>,
}

/// The program with the operations of wrappers at their calls.
#[must_use]
pub fn unwrapped(program: &Program) -> Program {
    let mut program = program.clone();
    let fillings = Fillings::of(&program);
    for _ in 0..LEVELS {
        let found = wrappers(&program, &fillings);
        if found.is_empty() {
            break;
        }
        let arrays = arrays(&program);
        for function in &mut program.functions {
            if let Some((_, nodes)) = found.get(&function.call_name()) {
                for node in nodes.iter().filter(|(key, _)| *key == function.key).map(|(_, node)| node.index()) {
                    if let NodeKind::Call(call) = &mut function.nodes[node].kind {
                        call.sync = None;
                    }
                }
            }
            give_to_calls(function, &found, &fillings, &arrays);
        }
    }
    give_together(&mut program, &fillings);
    program
}

/// A wrapper, with the node of each of its bodies that does the operation: functions in headers have several.
type Wrappers = BTreeMap<String, (Wrapper, Vec<(FunctionKey, NodeId)>)>;

/// All wrappers that are only called by name, by the name that calls use.
fn wrappers(program: &Program, fillings: &Fillings) -> Wrappers {
    let mut bodies: BTreeMap<String, Vec<&Function>> = BTreeMap::new();
    for function in &program.functions {
        bodies.entry(function.call_name()).or_default().push(function);
    }
    let outside = |name: &str| !bodies.contains_key(name);
    let idle: BTreeSet<&str> =
        bodies.iter().filter(|(_, all)| all.iter().all(|body| is_idle(body, &outside))).map(|(name, _)| name.as_str()).collect();
    let defined = |name: &str| !outside(name) && !idle.contains(name);
    let mut found = Wrappers::new();
    for (name, bodies) in bodies.iter().filter(|(name, _)| !program.taken.contains(*name)) {
        let all: Option<Vec<_>> = bodies.iter().map(|body| wrapper(body, &defined, fillings).map(|found| (body.key, found))).collect();
        let Some(all) = all.filter(|all| all.windows(2).all(|two| two[0].1.0 == two[1].1.0)) else { continue };
        if let Some((_, (wrapper, _))) = all.first() {
            found.insert(name.clone(), (wrapper.clone(), all.iter().map(|(key, (_, node))| (*key, *node)).collect()));
        }
    }
    let strangers = handed_strangers(program, &found);
    found.retain(|name, _| !strangers.contains(name));
    found
}

/// Whether a function accesses nothing, and calls only code outside the program that does nothing to locks: such as what ends the program.
fn is_idle(function: &Function, outside: &impl Fn(&str) -> bool) -> bool {
    let harmless = |node: &Node| match &node.kind {
        NodeKind::Access(_) => false,
        NodeKind::Call(call) => {
            matches!(&call.callee, Callee::Direct(name) if outside(name))
                && call.sync.is_none()
                && call.blocking.is_none()
                && call.accesses.is_empty()
        }
        NodeKind::Block | NodeKind::Return | NodeKind::Stop => true,
    };
    function.nodes.iter().all(harmless)
}

/// Those wrappers that some caller gives objects which are not its own.
fn handed_strangers(program: &Program, found: &Wrappers) -> BTreeSet<String> {
    let mut strangers = BTreeSet::new();
    let parts = parts(program);
    for function in program.functions.iter().filter(|function| !parts.contains(&function.call_name())) {
        let mut origins = None;
        for flow in &function.pointers.flows {
            let Flow::Call { callee: Called::Named(name), arguments, .. } = flow else { continue };
            let Some((wrapper, _)) = found.get(name).filter(|(wrapper, _)| !wrapper.objects.is_empty()) else { continue };
            let origins = origins.get_or_insert_with(|| Origins::of(function));
            let own = |&index: &usize| {
                let root = arguments.get(index).copied().flatten().and_then(|pointer| origins.of_pointer(pointer));
                matches!(root, Some((Root::Local(_) | Root::Parameter(_), _)))
            };
            if !wrapper.objects.iter().all(own) {
                strangers.insert(name.clone());
            }
        }
    }
    strangers
}

fn wrapper(function: &Function, defined: &impl Fn(&str) -> bool, fillings: &Fillings) -> Option<(Wrapper, NodeId)> {
    let (mut found, mut accesses) = (None, Vec::new());
    for (n, node) in function.nodes.iter().enumerate() {
        match &node.kind {
            NodeKind::Access(access) => accesses.push((NodeId::new(n), access)),
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
    let origins = Origins::of(function);
    let mut objects = BTreeSet::new();
    for (_, access) in accesses.into_iter().filter(|(at, _)| reaches(function, *at, node)) {
        for place in access.places() {
            let mut behind = function.pointers.behind.iter().filter(|(of, _)| of == place).map(|(_, pointer)| *pointer).peekable();
            behind.peek()?;
            for pointer in behind {
                let Some((Root::Parameter(parameter), _)) = origins.of_pointer(pointer) else { return None };
                objects.insert(parameter);
            }
        }
    }
    let mut behind = function.pointers.behind.iter().filter(|(of, _)| of == place).map(|(_, pointer)| *pointer);
    let pointer = behind.next().filter(|_| behind.next().is_none())?;
    let (Value::Pointer(value), far) = origins.through(pointer, fillings) else { return None };
    let (root, more) = origins.of_pointer(value)?;
    let offset = far.checked_add(more)?;
    let (parameter, field) = match root {
        Root::Parameter(parameter) => (parameter, None),
        Root::Loaded(from) => {
            let (parameter, field) = origins.read_field(from, fillings)?;
            (parameter, Some(field))
        }
        Root::Symbol(_) | Root::Local(_) => return None,
    };
    Some((Wrapper { op, parameter, field, offset, objects }, node))
}

/// Whether control gets from one node to another.
fn reaches(function: &Function, from: NodeId, to: NodeId) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut work = vec![from];
    while let Some(node) = work.pop() {
        if node == to {
            return true;
        }
        work.extend(function.node(node).successors.iter().copied().filter(|next| seen.insert(*next)));
    }
    false
}

/// Arrays of locks whose elements are chosen by a computed index.
pub(crate) fn arrays(program: &Program) -> BTreeSet<String> {
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    let locks = nodes.filter_map(|node| if let NodeKind::Call(call) = &node.kind { lock_operation(call) } else { None });
    locks.filter_map(|(_, place)| if let Place::GlobalElement { name, .. } = place { Some(name.clone()) } else { None }).collect()
}

fn lock_operation(call: &Call) -> Option<(SyncOp, &Place)> {
    let (op, places) = call.sync.as_ref()?;
    let locks = matches!(op, SyncOp::Lock | SyncOp::TryLock | SyncOp::ReadLock | SyncOp::TryReadLock | SyncOp::Unlock);
    places.first().filter(|_| locks).map(|place| (*op, place))
}

/// The lock of a call of a wrapper, as its caller sees it.
pub(crate) enum Behind {
    /// This one.
    Named(Place),
    /// What this value points to.
    Value(PointerId),
    /// What a field behind this value points to.
    Field(PointerId, i64),
    /// Nobody knows.
    Unknown,
}

/// Makes calls of wrappers do what these do.
fn give_to_calls(function: &mut Function, wrappers: &Wrappers, fillings: &Fillings, arrays: &BTreeSet<String>) {
    let mut given: Vec<(usize, SyncOp, SiteKey, Behind)> = Vec::new();
    let mut origins = None;
    for (n, node) in function.nodes.iter().enumerate() {
        let (NodeKind::Call(call), Some(site)) = (&node.kind, node.site) else { continue };
        let Callee::Direct(name) = &call.callee else { continue };
        let Some((wrapper, _)) = wrappers.get(name) else { continue };
        let origins = origins.get_or_insert_with(|| Origins::of(function));
        if wrapper.op == SyncOp::Unlock && is_moved_on(function, origins, NodeId::new(n), wrapper, fillings) {
            continue;
        }
        let behind = match (argument(function, site, name, wrapper.parameter), wrapper.field) {
            (None, _) => Behind::Unknown,
            (Some(pointer), None) => behind(origins, origins.through(pointer, fillings), wrapper.offset, arrays),
            (Some(pointer), Some(field)) => match origins.field(pointer, field, fillings) {
                Some(content) => behind(origins, content, wrapper.offset, arrays),
                None => Behind::Field(pointer, field),
            },
        };
        given.push((n, wrapper.op, site, behind));
    }
    for (n, op, site, behind) in given {
        let pointer = match behind {
            Behind::Value(value) => Some(value),
            Behind::Field(object, bytes) => {
                let [at, value] = [0, 1].map(|more| PointerId(function.pointers.count + more));
                function.pointers.count += 2;
                function.pointers.flows.extend([Flow::Step { to: at, from: object, bytes }, Flow::Load { to: value, from: at }]);
                Some(value)
            }
            Behind::Named(_) | Behind::Unknown => None,
        };
        let place = if let Behind::Named(place) = behind { place } else { Place::Pointer { site } };
        function.pointers.behind.extend(pointer.map(|pointer| (place.clone(), pointer)));
        if let NodeKind::Call(call) = &mut function.nodes[n].kind {
            call.sync = Some((op, vec![place]));
        }
    }
}

/// Whether a guard may have been moved before it ends at a node: then another one gives its lock up.
fn is_moved_on(function: &Function, origins: &Origins<'_>, end: NodeId, wrapper: &Wrapper, fillings: &Fillings) -> bool {
    let NodeKind::Call(Call { callee: Callee::Direct(name), .. }) = &function.node(end).kind else { return false };
    let guard = function.node(end).site.and_then(|site| argument(function, site, name, wrapper.parameter));
    let (Some(guard), Some(field)) = (guard, wrapper.field) else { return false };
    let nodes = || function.nodes.iter().enumerate().map(|(n, node)| (NodeId::new(n), node));
    let moves: BTreeSet<SiteKey> = origins.moves(guard, field, fillings).collect();
    let mut moved = nodes().filter(|(at, node)| *at != end && node.site.is_some_and(|site| moves.contains(&site)));
    moved.any(|(at, _)| reaches(function, at, end))
}

/// A lock that lies so far behind a value.
pub(crate) fn behind(origins: &Origins<'_>, (value, far): (Value<'_>, i64), offset: i64, arrays: &BTreeSet<String>) -> Behind {
    let (name, more, otherwise) = match value {
        Value::Symbol(name) => (name, 0, Behind::Unknown),
        Value::Pointer(pointer) => match origins.of_pointer(pointer) {
            Some((Root::Symbol(name), more)) => (name, more, Behind::Value(pointer)),
            _ => return Behind::Value(pointer),
        },
    };
    let offset = far.checked_add(more).and_then(|far| u64::try_from(far.checked_add(offset)?).ok());
    match offset.filter(|_| !arrays.contains(name)) {
        Some(offset) => Behind::Named(Place::Global { name: name.to_owned(), offset }),
        None => otherwise,
    }
}

/// What a call passes as one of its arguments.
fn argument(function: &Function, site: SiteKey, callee: &str, index: usize) -> Option<PointerId> {
    arguments(function, site, callee)?.get(index).copied().flatten()
}

/// What a call passes; `None` for what is no pointer.
pub(crate) fn arguments<'a>(function: &'a Function, site: SiteKey, callee: &str) -> Option<&'a [Option<PointerId>]> {
    function.pointers.flows.iter().find_map(|flow| match flow {
        Flow::Call { site: Some(of), callee: Called::Named(name), arguments, .. } if *of == site && name == callee => Some(&arguments[..]),
        _ => None,
    })
}
