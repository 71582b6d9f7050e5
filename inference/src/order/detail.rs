//! The edges of the full graph between locks of one tangle, with modes and witnesses.
//!
//! There may still be too many: calls that take a thousand locks under each of a thousand others. Then only the number that each call would
//! add is returned, so that pairs can be given up by it.

use std::collections::BTreeMap;
use std::ops::Range;

use model::ids::{FunctionId, NodeId, VariableId};
use model::pair::Mode;

use super::local::{Known, Local, Moment};
use super::{Edge, LockKey, Order, OrderFacts, OrderGraph, Origin, Rank, Tangle, Witness};
use crate::placement::{Placements, Spot};
use crate::reach::{Reach, Slot, pieces};
use crate::summary::Calls;

/// Edges that are made at most; beyond, pairs are given up until there are fewer.
const MOST_EDGES: usize = 400_000;

/// What `Order::detail` found.
#[derive(Clone, Debug)]
pub enum Detail {
    /// All edges.
    Graph(OrderGraph),
    /// There are too many.
    TooMany(Spans),
}

/// For each injected lock, by function and node: how many other locks may be taken there while it is held.
pub type Spans = BTreeMap<Spot, BTreeMap<NodeId, usize>>;

/// The locks of the tangles in a row.
struct Row<'a> {
    locks: Vec<(usize, LockKey)>,
    /// By lock: its tangle.
    tangle_of: BTreeMap<LockKey, usize>,
    /// By tangle: its locks' places in the row.
    ranges: Vec<Range<usize>>,
    placements: &'a Placements,
}

/// A call at which a lock is held.
struct HeldCall<'a> {
    function: FunctionId,
    at: NodeId,
    callees: &'a [FunctionId],
    origin: Origin,
    mode: Mode,
    /// How many locks of the tangle it may take.
    spans: usize,
}

/// What calls may do to the locks of one piece of the row while a lock is held.
struct Taking<'a> {
    under_program: Modes<'a>,
    /// `None` where it is the same.
    under_injected: Option<Modes<'a>>,
}

/// What calls may do to the locks of one piece of the row: take them at all, more strongly than R, exclusively.
struct Modes<'a> {
    start: usize,
    at_all: Reach<'a>,
    above_read: Reach<'a>,
    exclusive: Reach<'a>,
}

impl<'a> Row<'a> {
    fn of(tangles: &[Tangle], placements: &'a Placements) -> Self {
        let mut row = Self { locks: Vec::new(), tangle_of: BTreeMap::new(), ranges: Vec::new(), placements };
        for (t, tangle) in tangles.iter().enumerate() {
            let start = row.locks.len();
            for &lock in &tangle.locks {
                row.tangle_of.insert(lock, t);
                row.locks.push((t, lock));
            }
            row.ranges.push(start..row.locks.len());
        }
        row
    }

    fn taking<'b>(&self, order: &Order<'b>, piece: &Range<usize>) -> Taking<'b> {
        let OrderFacts { calls, going_on, .. } = *order.facts;
        let differ = !core::ptr::eq(calls, going_on);
        Taking {
            under_program: self.modes(order, calls, piece.clone()),
            under_injected: differ.then(|| self.modes(order, going_on, piece.clone())),
        }
    }

    fn modes<'b>(&self, order: &Order<'b>, calls: &'b Calls, piece: Range<usize>) -> Modes<'b> {
        let new = || Reach::new(calls);
        let mut modes = Modes { start: piece.start, at_all: new(), above_read: new(), exclusive: new() };
        for index in piece {
            let mut add = |function: FunctionId, mode: Mode| {
                modes.at_all.add(function, Slot::of(index));
                if mode > Mode::R {
                    modes.above_read.add(function, Slot::of(index));
                }
                if mode == Mode::X {
                    modes.exclusive.add(function, Slot::of(index));
                }
            };
            match self.locks[index].1 {
                LockKey::Injected(variable) => {
                    for (function, placement) in self.placements.of_variable(variable) {
                        placement.acquires.values().map(|acquire| acquire.mode).max().into_iter().for_each(|mode| add(function, mode));
                    }
                }
                LockKey::Program(lock) => order.takers.get(&lock).into_iter().flatten().for_each(|&(function, mode)| add(function, mode)),
            }
        }
        modes.at_all.close();
        modes.above_read.close();
        modes.exclusive.close();
        modes
    }
}

impl<'a> Taking<'a> {
    fn under(&self, held: LockKey) -> &Modes<'a> {
        match (held, &self.under_injected) {
            (LockKey::Injected(_), Some(modes)) => modes,
            _ => &self.under_program,
        }
    }
}

impl Modes<'_> {
    /// The part of the piece that lies in a range of the row.
    fn slots(&self, range: &Range<usize>) -> Range<usize> {
        range.start.saturating_sub(self.start)..range.end.saturating_sub(self.start).min(Slot::COUNT)
    }

    /// What calls of `callees` may take of a range of the row, at most how strongly.
    fn taken(&self, callees: &[FunctionId], range: &Range<usize>) -> impl Iterator<Item = (usize, Mode)> {
        let any = |reach: &Reach<'_>, slot: Slot| callees.iter().any(|&callee| reach.has(callee, slot));
        self.at_all.of_any(callees, self.slots(range)).map(move |slot| {
            let mode = match (any(&self.exclusive, slot), any(&self.above_read, slot)) {
                (true, _) => Mode::X,
                (false, true) => Mode::U,
                (false, false) => Mode::R,
            };
            (self.start + Reach::position(slot), mode)
        })
    }
}

impl Order<'_> {
    /// The edges between the locks of each of the tangles.
    #[must_use]
    pub fn detail(&self, placements: &Placements, rank: Option<&Rank>, tangles: &[Tangle]) -> Detail {
        let row = Row::of(tangles, placements);
        let together = |a: LockKey, b: LockKey| row.tangle_of.get(&a).is_some_and(|t| row.tangle_of.get(&b) == Some(t));
        let mut found: Vec<(Edge, Witness)> = Vec::new();
        let mut calls: Vec<Vec<HeldCall<'_>>> = tangles.iter().map(|_| Vec::new()).collect();
        for (f, takes) in self.locals.iter().enumerate() {
            let function = FunctionId::new(f);
            found.extend(takes.edges.iter().filter(|(edge, _)| together(edge.held, edge.acquired)));
            for &(at, origin, mode) in &takes.at_calls {
                if let Some(&tangle) = row.tangle_of.get(&origin.lock) {
                    let callees = self.facts.calls_under(origin.lock).from_node(function, at);
                    calls[tangle].push(HeldCall { function, at, callees, origin, mode, spans: 0 });
                }
            }
            let ranked = rank.into_iter().flat_map(|rank| ranked_edges(function, takes, rank));
            found.extend(ranked.filter(|(edge, _)| together(edge.held, edge.acquired)));
        }
        self.call_edges(&row, &mut calls, found)
    }

    fn call_edges(&self, row: &Row<'_>, calls: &mut [Vec<HeldCall<'_>>], mut found: Vec<(Edge, Witness)>) -> Detail {
        let injected = row.placements.by_function(self.facts.program.functions.len());
        let mut known: BTreeMap<FunctionId, Known> = BTreeMap::new();
        let mut total = found.len();
        for piece in pieces(row.locks.len()) {
            let taking = row.taking(self, &piece);
            let tangles = row.locks[piece.start].0..=row.locks[piece.end - 1].0;
            for tangle in tangles {
                let range = &row.ranges[tangle];
                for call in &mut calls[tangle] {
                    let modes = taking.under(call.origin.lock);
                    let more = modes.at_all.count_any(call.callees, modes.slots(range));
                    call.spans += more;
                    total += more;
                    if total > MOST_EDGES || more == 0 {
                        continue;
                    }
                    let &mut HeldCall { function, at, origin, .. } = call;
                    let local = Local { facts: self.facts, function, injected: &injected[function.index()] };
                    let known = known.entry(function).or_default();
                    let given_up = self.facts.going_on.from_node(function, at).is_empty();
                    for (index, mode) in modes.taken(call.callees, range) {
                        let lock = row.locks[index].1;
                        let is_held = |variable: VariableId, known| {
                            !given_up && local.surely_held(&origin, variable, mode, (at, Moment::Running), known)
                        };
                        if lock != origin.lock && !matches!(lock, LockKey::Injected(variable) if is_held(variable, known)) {
                            let edge = Edge { held: origin.lock, held_mode: call.mode, acquired: lock, acquired_mode: mode };
                            found.push((edge, Witness { function, from: origin.from, at }));
                        }
                    }
                }
            }
        }
        if total > MOST_EDGES { Detail::TooMany(spans(calls)) } else { Detail::Graph(OrderGraph::new(found)) }
    }
}

/// How many locks are spanned, added up over the calls at one node.
fn spans(calls: &[Vec<HeldCall<'_>>]) -> Spans {
    let mut spans = Spans::new();
    for call in calls.iter().flatten() {
        if let LockKey::Injected(held) = call.origin.lock {
            *spans.entry((held, call.function)).or_default().entry(call.at).or_default() += call.spans;
        }
    }
    spans
}

/// The edges between locks that one node acquires, which it takes in the order of `rank`.
fn ranked_edges(function: FunctionId, takes: &super::Takes, rank: &Rank) -> Vec<(Edge, Witness)> {
    let mut found = Vec::new();
    for (at, several) in &takes.together {
        for &(variable, acquired_mode, _) in several {
            for &(sooner, _, held_mode) in several.iter().filter(|(other, ..)| rank.get(other) < rank.get(&variable)) {
                let edge = Edge { held: LockKey::Injected(sooner), held_mode, acquired: LockKey::Injected(variable), acquired_mode };
                found.push((edge, Witness { function, from: *at, at: *at }));
            }
        }
    }
    found
}
