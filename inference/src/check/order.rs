//! Whether threads can wait for each other in a circle, injected and program locks taken together, and the order that they show.
//!
//! First every lock and every function is a vertex and modes are left out: what has no common component there cannot wait in
//! a circle. Within a component, an edge is (lock held, its mode, lock waited for, its mode). Edges that can wait for no other edge are
//! struck out until none can be; what is left is the circles. An edge on one is refuted if following both its locks *together* shows that
//! the second is always held already where it would be waited for; only then is there anything to fear.

use std::collections::{BTreeMap, BTreeSet};

use model::certificate::Unordered;
use model::pair::Mode;
use model::program::Program;

use super::calls::{AnyLock, Effects, Kind};
use super::components::components;
use super::machine::ByFunction;
use super::scene::{InCalls, Scene, Taking};

/// A thread may hold the first and wait for the second.
pub type Wait = ((AnyLock, Mode), (AnyLock, Mode));

/// What was found about the order of locks.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Waits that form circles in which injected locks have part, with the functions in which each arises.
    pub circles: BTreeMap<Wait, BTreeSet<usize>>,
    /// The locks that are held while others are taken, or taken while others are held, in order.
    pub rungs: Vec<(BTreeSet<AnyLock>, Option<Unordered>)>,
}

/// Looks at the whole program.
#[must_use]
pub fn order(program: &Program, operations: &ByFunction<'_>, effects: &Effects) -> Order {
    let rough = Rough::of(program, operations, effects);
    let mut found = Order::default();
    for locks in rough.groups {
        if locks.len() == 1 || locks.iter().all(|lock| matches!(lock, AnyLock::Program(_))) {
            let why = (locks.len() > 1).then_some(Unordered::Program);
            found.rungs.push((locks, why));
            continue;
        }
        let (waits, circles) = examine(program, operations, effects, &locks);
        found.rungs.extend(rungs(&locks, &waits, &circles));
        found.circles.extend(circles);
    }
    found
}

/// The order without modes.
struct Rough {
    /// Locks that may be on common circles, first ones first; only locks that have to do with others.
    groups: Vec<BTreeSet<AnyLock>>,
}

impl Rough {
    fn of(program: &Program, operations: &ByFunction<'_>, effects: &Effects) -> Self {
        // Each function twice: called with program locks held, and with injected ones still held.
        let count = program.functions.len();
        let functions = 2 * count;
        let called = |f: usize, held: Kind| if held == Kind::Injected { count + f } else { f };
        let locks: Vec<AnyLock> = effects.locks().collect();
        let number = |lock: &AnyLock| locks.binary_search(lock).ok().map(|place| functions + place);
        let mut edges: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); functions + locks.len()];
        let mut concerned: BTreeSet<usize> = BTreeSet::new();
        for (place, &lock) in locks.iter().enumerate() {
            for &f in effects.takers(lock).into_iter().flatten().map(|(f, _)| f) {
                edges[f].insert(functions + place);
                edges[count + f].insert(functions + place);
            }
        }
        for f in 0..count {
            edges[f].extend(effects.called_by(f));
            edges[count + f].extend(effects.goes_on_to_from(f).map(|callee| count + callee));
            let scene = Scene::of(program, f, operations, effects);
            for (held, wanted) in scene.pairs() {
                let (Some(held), Some(wanted)) = (number(&held), number(&wanted)) else { continue };
                edges[held].insert(wanted);
                concerned.extend([held, wanted]);
            }
            for (held, callee) in scene.held_at_calls() {
                let Some(number) = number(&held) else { continue };
                edges[number].insert(called(callee, held.kind()));
                concerned.insert(number);
            }
        }
        let edges: Vec<Vec<usize>> = edges.into_iter().map(|to| to.into_iter().collect()).collect();
        let of = components(&edges);
        // What is taken in a call under a lock is concerned as well.
        let mut reached = vec![false; edges.len()];
        let mut work: Vec<usize> = concerned.iter().copied().collect();
        while let Some(vertex) = work.pop() {
            if !core::mem::replace(&mut reached[vertex], true) {
                work.extend(&edges[vertex]);
            }
        }
        let mut groups: BTreeMap<std::cmp::Reverse<usize>, BTreeSet<AnyLock>> = BTreeMap::new();
        for (place, &lock) in locks.iter().enumerate().filter(|(place, _)| reached[functions + place]) {
            groups.entry(std::cmp::Reverse(of[functions + place])).or_default().insert(lock);
        }
        Self { groups: groups.into_values().collect() }
    }
}

type Waits = BTreeMap<Wait, BTreeSet<usize>>;

/// All waits between some locks that are not refuted, and those of them that form circles.
fn examine(program: &Program, operations: &ByFunction<'_>, effects: &Effects, locks: &BTreeSet<AnyLock>) -> (Waits, Waits) {
    let in_calls: InCalls = locks.iter().map(|&lock| (lock, Taking::of(effects, lock))).collect();
    let mut scenes: BTreeMap<usize, Scene<'_>> = BTreeMap::new();
    let mut all = Waits::new();
    for f in 0..program.functions.len() {
        let scene = Scene::of(program, f, operations, effects);
        let waits = scene.waits(&in_calls);
        if !waits.is_empty() {
            scenes.insert(f, scene);
        }
        for wait in waits {
            all.entry(wait).or_default().insert(f);
        }
    }
    let mut confirmed: BTreeSet<(Wait, usize)> = BTreeSet::new();
    loop {
        let mut circles = all.clone();
        strike_out(&mut circles);
        let suspects: Vec<(Wait, usize)> = circles
            .iter()
            .filter(|(wait, _)| matches!(wait.1.0, AnyLock::Injected(_)))
            .flat_map(|(wait, places)| places.iter().map(|&f| (*wait, f)))
            .filter(|suspect| !confirmed.contains(suspect))
            .collect();
        let mut refuted = false;
        for (wait, f) in suspects {
            if scenes[&f].can_wait(&wait, &in_calls) {
                confirmed.insert((wait, f));
            } else {
                refuted = true;
                if let Some(places) = all.get_mut(&wait) {
                    places.remove(&f);
                }
            }
        }
        all.retain(|_, places| !places.is_empty());
        if !refuted {
            // What lies between two circles is not on one.
            let left: Vec<Wait> = circles.keys().copied().collect();
            let of = components(&follow(&left));
            let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
            of.iter().for_each(|&component| *sizes.entry(component).or_default() += 1);
            let keep: BTreeSet<Wait> = left.iter().zip(&of).filter(|(_, component)| sizes[component] > 1).map(|(wait, _)| *wait).collect();
            let ours: BTreeSet<usize> =
                left.iter().zip(&of).filter(|(wait, _)| !is_the_programs(wait)).map(|(_, &component)| component).collect();
            let theirs = |wait: &Wait| left.iter().zip(&of).any(|(other, component)| other == wait && !ours.contains(component));
            circles.retain(|wait, _| keep.contains(wait) && !theirs(wait));
            return (all, circles);
        }
    }
}

/// For each wait, those that may follow it.
fn follow(waits: &[Wait]) -> Vec<Vec<usize>> {
    let mut holding: BTreeMap<AnyLock, Vec<usize>> = BTreeMap::new();
    for (w, (held, _)) in waits.iter().enumerate() {
        holding.entry(held.0).or_default().push(w);
    }
    let next = |(_, (lock, mode)): &Wait| -> Vec<usize> {
        holding.get(lock).into_iter().flatten().copied().filter(|&other| !waits[other].0.1.compatible(*mode)).collect()
    };
    waits.iter().map(next).collect()
}

fn is_the_programs(((held, _), (wanted, _)): &Wait) -> bool {
    matches!((held, wanted), (AnyLock::Program(_), AnyLock::Program(_)))
}

/// Takes away, again and again, every wait that cannot be followed by another.
fn strike_out(waits: &mut Waits) {
    loop {
        let held: BTreeSet<(AnyLock, Mode)> = waits.keys().map(|(held, _)| *held).collect();
        let wanted: BTreeSet<(AnyLock, Mode)> = waits.keys().map(|(_, wanted)| *wanted).collect();
        let clash = |(lock, mode): &(AnyLock, Mode), others: &BTreeSet<(AnyLock, Mode)>| {
            [Mode::R, Mode::U, Mode::X].into_iter().any(|other| !mode.compatible(other) && others.contains(&(*lock, other)))
        };
        let before = waits.len();
        waits.retain(|(holds, wants), _| clash(wants, &held) && clash(holds, &wanted));
        if waits.len() == before {
            return;
        }
    }
}

/// The order of some locks as their waits show it.
fn rungs(locks: &BTreeSet<AnyLock>, waits: &Waits, circles: &Waits) -> Vec<(BTreeSet<AnyLock>, Option<Unordered>)> {
    let list: Vec<AnyLock> = locks.iter().copied().collect();
    let mut edges: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); list.len()];
    for ((held, _), (wanted, _)) in waits.keys() {
        if let (Ok(from), Ok(to)) = (list.binary_search(held), list.binary_search(wanted)) {
            edges[from].insert(to);
        }
    }
    let edges: Vec<Vec<usize>> = edges.into_iter().map(|to| to.into_iter().collect()).collect();
    let of = components(&edges);
    let mut groups: BTreeMap<std::cmp::Reverse<usize>, BTreeSet<AnyLock>> = BTreeMap::new();
    for (place, &lock) in list.iter().enumerate() {
        groups.entry(std::cmp::Reverse(of[place])).or_default().insert(lock);
    }
    let why = |group: &BTreeSet<AnyLock>| {
        let wrong = circles.keys().any(|((held, _), _)| group.contains(held));
        match (group.len(), wrong) {
            (1, _) => None,
            (_, true) => Some(Unordered::Circle),
            _ if group.iter().all(|lock| matches!(lock, AnyLock::Program(_))) => Some(Unordered::Program),
            _ => Some(Unordered::Readers),
        }
    };
    groups.into_values().map(|group| (group.clone(), why(&group))).collect()
}
