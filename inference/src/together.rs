//! Several locks that are taken at once: `std::lock(a, b)` and `std::scoped_lock` of several mutexes.
//!
//! Their bodies try lock after lock in a loop, through arrays of guards and tuples of references, so what these leave held cannot be seen from
//! what they do; they are known by their names in the Itanium C++ ABI, with the standard library's own mutexes. While they wait for one lock they
//! hold none of the others, so there is no order between these.
//!
//! A call of `std::lock` counts where the same function gives each of its locks up again, through guards that adopt them or itself; a
//! `std::scoped_lock` where it is a local variable. Not handled: all others, which count as given up at once; mutexes of other types.

use std::collections::BTreeSet;

use model::external::SyncOp;
use model::ids::{NodeId, PointerId, SiteKey};
use model::program::{Callee, Function, NodeKind, Place, Program};

use crate::origin::{Fillings, Origins, Root};
use crate::wrapper::{Behind, arguments, arrays, behind};

/// The mutexes of the standard library, mangled. What they lock lies at their beginning.
const MUTEXES: [&str; 6] =
    ["St5mutex", "St15recursive_mutex", "St11timed_mutex", "St21recursive_timed_mutex", "St12shared_mutex", "St18shared_timed_mutex"];

/// What `std::lock` is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Mutexes,
    /// `std::unique_lock`s, which keep the address of their mutex at their beginning.
    Guards,
}

/// A function of the standard library on several locks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Lock(Given),
    /// The constructor of a `std::scoped_lock`, also one that adopts: it returns with the locks held.
    Begin,
    /// Its destructor.
    End,
}

/// What is known of a function by its name.
fn known(name: &str) -> Option<Known> {
    if let Some(types) = name.strip_prefix("_ZSt4lockI") {
        return given(types).map(Known::Lock);
    }
    let types = name.strip_prefix("_ZNSt11scoped_lockIJ")?;
    let (first, rest) = mutexes(types);
    let member = rest.strip_prefix("EE").filter(|_| first > 1)?;
    match member.get(..2)? {
        "C1" | "C2" => Some(Known::Begin),
        "D1" | "D2" => Some(Known::End),
        _ => None,
    }
}

/// What kind of arguments the template arguments of `std::lock` mean.
fn given(types: &str) -> Option<Given> {
    if let Some(guards) = types.strip_prefix("St11unique_lockI") {
        let (1, rest) = mutexes(guards) else { return None };
        // The same type again; the ones before stand for `std::unique_lock` and the mutex.
        let more = rest.strip_prefix("ES2_J")?;
        return more.trim_start_matches("S2_").starts_with("EE").then_some(Given::Guards);
    }
    let (2, rest) = mutexes(types) else { return None };
    let (_, rest) = mutexes(rest.strip_prefix('J')?);
    rest.starts_with("EE").then_some(Given::Mutexes)
}

/// How many mutexes a list of types begins with, and what comes behind.
fn mutexes(mut types: &str) -> (usize, &str) {
    let mut count = 0;
    while let Some(rest) = MUTEXES.iter().find_map(|mutex| types.strip_prefix(mutex)).or_else(|| same_again(types)) {
        (count, types) = (count + 1, rest);
    }
    (count, types)
}

/// What comes behind a type that was named before: `S0_`, and so on; `S_` is the template.
fn same_again(types: &str) -> Option<&str> {
    let number = types.strip_prefix('S')?;
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    rest.strip_prefix('_').filter(|_| rest.len() < number.len())
}

/// The functions that these are made of and that only handle guards which are their own or their caller's.
pub(crate) fn parts(program: &Program) -> BTreeSet<String> {
    let is_own = |function: &Function| {
        let Some(calls) = calls(function) else { return true };
        let origins = Origins::of(function);
        let own = |&guard: &PointerId| matches!(origins.of_pointer(guard), Some((Root::Local(_) | Root::Parameter(_), _)));
        calls.iter().filter(|call| call.known == Known::Lock(Given::Guards)).flat_map(|call| &call.arguments).all(own)
    };
    let prefixes = ["_ZSt4lockI", "_ZNSt8__detail11__lock_implI", "_ZNSt8__detail15__try_lock_implI"];
    // A guard of a guard.
    let more = Some("_ZNSt11unique_lockIS_I").filter(|_| program.functions.iter().all(is_own));
    let names = program.functions.iter().map(Function::call_name);
    names.filter(|name| prefixes.iter().chain(&more).any(|prefix| name.starts_with(prefix))).collect()
}

/// Makes calls of these take, or give up, their locks. The operations of wrappers are at their calls already.
pub(crate) fn give_together(program: &mut Program, fillings: &Fillings) {
    let names = program.functions.iter().any(|function| known(&function.call_name()).is_some());
    if !names {
        return;
    }
    let arrays = arrays(program);
    for function in &mut program.functions {
        let Some(calls) = calls(function) else { continue };
        let origins = Origins::of(function);
        let mut given: Vec<(NodeId, SyncOp, Vec<Place>)> = Vec::new();
        let mut pointed: Vec<(Place, PointerId)> = Vec::new();
        for call in &calls {
            match call.known {
                Known::Lock(kind) => {
                    let given_up = |&lock: &PointerId| {
                        let value = match kind {
                            Given::Mutexes => origins.through(lock, fillings),
                            Given::Guards => origins.field(lock, 0, fillings)?,
                        };
                        unlocked(function, &origins, &behind(&origins, value, 0, &arrays))
                    };
                    let places: Option<Vec<Place>> = call.arguments.iter().map(given_up).collect();
                    given.extend(places.map(|places| (call.at, SyncOp::Lock, places)));
                }
                Known::Begin => {
                    let Some((object, locks)) = call.arguments.split_first() else { continue };
                    let Some(guard @ (Root::Local(_), _)) = origins.of_pointer(*object) else { continue };
                    let of_guard = |other: &&Several| other.arguments.first().and_then(|object| origins.of_pointer(*object)) == Some(guard);
                    let all = |wanted: Known| calls.iter().filter(move |other| other.known == wanted).filter(of_guard);
                    if all(Known::Begin).count() > 1 || all(Known::End).next().is_none() {
                        continue;
                    }
                    let mut places: Vec<Place> = Vec::new();
                    for &lock in locks {
                        let place = match behind(&origins, origins.through(lock, fillings), 0, &arrays) {
                            Behind::Named(place) => place,
                            Behind::Value(value) => {
                                let place = Place::Pointer { site: call.site };
                                pointed.push((place.clone(), value));
                                place
                            }
                            Behind::Field(..) | Behind::Unknown => Place::Pointer { site: call.site },
                        };
                        if !places.contains(&place) {
                            places.push(place);
                        }
                    }
                    given.extend(all(Known::End).map(|end| (end.at, SyncOp::Unlock, places.clone())));
                    given.push((call.at, SyncOp::Lock, places));
                }
                Known::End => {}
            }
        }
        function.pointers.behind.extend(pointed);
        for (at, op, places) in given {
            if let NodeKind::Call(call) = &mut function.nodes[at.index()].kind {
                call.sync = Some((op, places));
            }
        }
    }
}

/// A call of one of these.
struct Several {
    at: NodeId,
    site: SiteKey,
    known: Known,
    arguments: Vec<PointerId>,
}

/// All such calls of a function, if there is one.
fn calls(function: &Function) -> Option<Vec<Several>> {
    let calls = function.nodes.iter().enumerate().filter_map(|(n, node)| {
        let (NodeKind::Call(call), Some(site)) = (&node.kind, node.site) else { return None };
        let Callee::Direct(name) = &call.callee else { return None };
        let known = known(name)?;
        let arguments = arguments(function, site, name)?.iter().copied().collect::<Option<Vec<_>>>()?;
        Some(Several { at: NodeId::new(n), site, known, arguments })
    });
    Some(calls.collect::<Vec<_>>()).filter(|calls| !calls.is_empty())
}

/// The place by which a function gives a lock up, if it does.
fn unlocked(function: &Function, origins: &Origins<'_>, lock: &Behind) -> Option<Place> {
    let is_it = |place: &Place| match lock {
        Behind::Named(name) => place == name,
        Behind::Value(value) => {
            let mut behind = function.pointers.behind.iter().filter(|(of, _)| of == place);
            let origin = origins.of_pointer(*value);
            origin.is_some() && behind.any(|(_, pointer)| origins.of_pointer(*pointer) == origin)
        }
        Behind::Field(..) | Behind::Unknown => false,
    };
    function.nodes.iter().find_map(|node| match &node.kind {
        NodeKind::Call(call) => match &call.sync {
            Some((SyncOp::Unlock, places)) => places.iter().find(|place| is_it(place)).cloned(),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_on_several_locks_are_known_by_their_names() {
        let is = |name: &str, expected: Option<Known>| assert!(known(name) == expected, "{name}");
        is("_ZSt4lockISt5mutexS0_JEEvRT_RT0_DpRT1_", Some(Known::Lock(Given::Mutexes)));
        is("_ZSt4lockISt5mutexS0_JS0_S0_EEvRT_RT0_DpRT1_", Some(Known::Lock(Given::Mutexes)));
        is("_ZSt4lockISt5mutexSt15recursive_mutexJEEvRT_RT0_DpRT1_", Some(Known::Lock(Given::Mutexes)));
        is("_ZSt4lockISt11unique_lockISt5mutexES2_JS2_EEvRT_RT0_DpRT1_", Some(Known::Lock(Given::Guards)));
        is("_ZNSt11scoped_lockIJSt5mutexS0_EEC2ERS0_S2_", Some(Known::Begin));
        is("_ZNSt11scoped_lockIJSt5mutexS0_EED1Ev", Some(Known::End));
        // A mutex and a guard; a mutex of the program's own; one mutex, which is a wrapper.
        is("_ZSt4lockISt11unique_lockISt5mutexES1_JEEvRT_RT0_DpRT1_", None);
        is("_ZSt4lockI5MutexS0_JEEvRT_RT0_DpRT1_", None);
        is("_ZNSt11scoped_lockIJSt5mutexEEC2ERS0_", None);
    }
}
