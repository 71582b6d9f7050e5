//! Blocks of the heap that are given back: `free` ends every field of an object at once, so what it is given stands for the variables of all
//! of them, and takes their locks as a store to each would.
//!
//! A call that ran belongs to what it was seen with, where other threads had used the block; one that never ran, to all that points-to
//! analysis finds in the object, behind the pointer. Neither unites anything.
//!
//! Giving back is weaker evidence than a store. Most objects are taken out of reach before they end, under a lock or by an order that the end
//! itself need not have; so what no run saw to meet another thread's access (`Evidence::met`) makes no variable contended and no lock of the
//! program worthless. It only takes locks that there are for other reasons.
//!
//! Not handled: blocks behind a pointer whose class has fields that cannot be told apart, and more than `MOST_JOINED` of them.

use std::collections::{BTreeMap, BTreeSet};

use model::program::{NodeKind, Place, Program};

use crate::points_to::{Class, PointsTo};
use crate::variable::MOST_JOINED;

/// The places of what a program gives back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    places: BTreeSet<Place>,
    /// The places that runs saw in the same memory.
    seen_with: BTreeMap<Place, BTreeSet<Place>>,
}

impl Blocks {
    /// Those of all calls of a program that give blocks back.
    pub(crate) fn of(program: &Program) -> Self {
        let nodes = program.functions.iter().flat_map(|function| &function.nodes);
        let calls = nodes.filter_map(|node| if let NodeKind::Call(call) = &node.kind { Some(call) } else { None });
        let accesses = calls.filter(|call| call.gives_back()).flat_map(|call| &call.accesses);
        Self { places: accesses.map(|access| access.place.clone()).collect(), seen_with: BTreeMap::new() }
    }

    /// Whether a place is that of a block.
    pub(crate) fn has(&self, place: &Place) -> bool {
        self.places.contains(place)
    }

    /// Takes note that a run saw two places in one memory, if one of them is a block's.
    pub(crate) fn note(&mut self, x: &Place, y: &Place) -> bool {
        for (block, other) in [(x, y), (y, x)] {
            if self.has(block) && !self.has(other) {
                self.seen_with.entry(block.clone()).or_default().insert(other.clone());
            }
        }
        self.has(x) || self.has(y)
    }

    /// The places whose variables each block belongs to. `stands_for` says what a bare pointer joined, `ran` whether a place ran, and
    /// `shared` which of a class ran on shared memory.
    pub(crate) fn joined(
        &self,
        points_to: &PointsTo,
        stands_for: impl Fn(&Place) -> BTreeSet<Place>,
        ran: impl Fn(&Place) -> bool,
        shared: impl Fn(&Class) -> BTreeSet<Place>,
    ) -> BTreeMap<Place, BTreeSet<Place>> {
        let mut by_object: BTreeMap<u32, Vec<&Class>> = BTreeMap::new();
        for class in points_to.classes() {
            by_object.entry(class.object).or_default().push(class);
        }
        let behind = |class: &Class| -> BTreeSet<Place> {
            let within = by_object.get(&class.object).into_iter().flatten().filter(|other| other.offset >= class.offset);
            within.flat_map(|other| shared(other)).collect()
        };
        let mut joined = BTreeMap::new();
        for block in &self.places {
            let mut targets: BTreeSet<Place> = match self.seen_with.get(block) {
                Some(seen) => seen.iter().flat_map(&stands_for).collect(),
                None if ran(block) => continue,
                None => {
                    let found = points_to.of_place(block).map(|class| (class.whole, behind(class)));
                    found.filter(|(whole, found)| !whole || found.len() <= MOST_JOINED).flat_map(|(_, found)| found).collect()
                }
            };
            // Nobody gives a global back: its address came there by another way through the same code.
            targets.retain(|place| !self.has(place) && !matches!(place, Place::Global { .. } | Place::GlobalElement { .. }));
            if !targets.is_empty() {
                joined.insert(block.clone(), targets);
            }
        }
        joined
    }
}
