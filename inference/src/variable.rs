//! Phase 1: from access sites, run or not, to variables.
//!
//! Each `Place` is a class of its own to begin with, so a site that never ran falls to the class of its place: the write of seed 002,
//! Figure 1. Then, for every two sites that a run saw on one address, some variable is made to contain both:
//! - places that name their memory (globals, fields) are united, unless the memory was plainly used twice, as allocators of a program's
//!   own do: fields of one record that lie apart, and fields of different records unless one thread accessed them one after the other;
//! - a place behind a bare pointer *joins* the variables of the named places that it was seen with, one or several, without
//!   uniting them: code that copies or clears anything would otherwise make one variable of everything. Its accesses count for each.
//!
//! What never ran goes where `points_to` says: its place joins the variables of all places of its class that ran on shared memory, or
//! makes one variable with the others if none of them did. So static results add sites to variables and never unite two that
//! runs kept apart, which would make locks coarse, but for one thing: all elements of an array are one, however they are indexed.
//!
//! An access of several bytes belongs to the variable of each place in it (`model::range`); that it met another on one address says nothing of which of
//! them was meant. Where it begins at a bare pointer that never ran, points-to analysis says what lies behind. A block that is given back belongs to
//! the variables of all that lies in it (`blocks`).
//!
//! Not handled: a pointer that ran belongs to what it was seen with, though it may point elsewhere in other runs; a place of which
//! the analysis says too little (its class has fields that cannot be told apart, or more than `MOST_JOINED` variables) stays by itself, and
//! is counted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::ids::{SiteKey, VariableId};
use model::profile::Evidence;
use model::program::{Place, Program};

use crate::blocks::Blocks;
use crate::name::{named, source_name, told_apart};
use crate::points_to::{Class, PointsTo};
use crate::site_table::SiteTable;
use crate::union::{PlaceId, Places, Union};

/// More variables than this are joined by no place on the word of the static analysis.
pub(crate) const MOST_JOINED: usize = 4;

/// All variables of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Indexed by `VariableId`, in order of their least place.
    classes: Vec<Variable>,
    places: Places,
    /// By `PlaceId`; each sorted.
    of_place: Vec<Vec<VariableId>>,
    sites: SiteTable,
    /// Places whose class has too many variables to join.
    ambiguous: BTreeSet<Place>,
    /// Places of blocks that are given back.
    blocks: BTreeSet<PlaceId>,
}

/// One variable: what one lock would protect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What people call it: the source's name of its most telling place (without debug information, what `Place` displays), and how
    /// many more there are. No two variables share one.
    pub name: String,
    /// The places that it unites. Never empty.
    pub places: BTreeSet<Place>,
    /// The observations that united them.
    pub united_by: Vec<(SiteKey, SiteKey)>,
    /// The variables of a correlated set, if it is one (`correlate`).
    pub members: Vec<String>,
}

impl Variable {
    /// Whether two direct accesses to it certainly touch the same memory, so that one of them is a *must* access.
    #[must_use]
    pub fn is_single_instance(&self) -> bool {
        self.places.len() == 1 && self.places.iter().all(Place::is_single_instance)
    }

    /// Whether it stands for a correlated set of variables.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.members.is_empty()
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Variables {
    /// Groups every access of `program` by its place, by what `evidence` saw together, and by what pointers may point to.
    #[must_use]
    pub fn of(program: &Program, evidence: &Evidence, points_to: &PointsTo) -> Self {
        let mut grouping = Grouping { ranges: ranges(program), blocks: Blocks::of(program), ..Grouping::default() };
        let sites = SiteTable::of(program, &mut grouping.union);
        let places = |site: &SiteKey| sites.of_site(*site).unwrap_or_default();
        let shared = evidence.pairs.iter().filter(|(_, (pair, _))| pair.shared > 0).map(|(pair, _)| (pair.first, pair.second));
        let in_turn: BTreeSet<(SiteKey, SiteKey)> = shared.collect();
        let edges: BTreeSet<(SiteKey, SiteKey)> = evidence.together.union(&in_turn).copied().filter(|(a, b)| a != b).collect();
        // Sites with one place first: they say which of a copy's two places another site shares.
        let (plain, copies): (Vec<_>, Vec<_>) = edges.into_iter().partition(|(a, b)| places(a).len() <= 1 && places(b).len() <= 1);
        for (a, b) in plain.into_iter().chain(copies) {
            let seen = if in_turn.contains(&(a, b)) || in_turn.contains(&(b, a)) { Seen::InTurn } else { Seen::Together };
            grouping.connect((a, places(&a)), (b, places(&b)), seen);
        }
        grouping.connect_pointers();
        let mut runs = Runs(vec![None; grouping.union.places.len()]);
        for (site, seen) in &evidence.sites {
            let ran = if seen.shared > 0 { Ran::OnSharedMemory } else { Ran::Privately };
            places(site).iter().for_each(|place| runs.0[place.index()] = runs.0[place.index()].max(Some(ran)));
        }
        grouping.connect_statically(points_to, &runs, &bytes_behind_pointers(program));
        grouping.connect_blocks(points_to, &runs);
        let mut variables = grouping.finish(sites);
        variables.name(program);
        variables
    }

    /// Places that never ran and of which the static analysis says too little.
    #[must_use]
    pub fn ambiguous(&self) -> &BTreeSet<Place> {
        &self.ambiguous
    }

    /// Whether a place is a block that is given back, all of it.
    #[must_use]
    pub fn is_block(&self, place: &Place) -> bool {
        self.places.known(place).is_some_and(|place| self.blocks.contains(&place))
    }

    /// Whether a site gives a block back.
    #[must_use]
    pub fn gives_back(&self, site: SiteKey) -> bool {
        self.sites.of_site(site).is_some_and(|places| places.iter().any(|place| self.blocks.contains(place)))
    }

    /// The places that a variable unites, but for those of blocks that are given back with it.
    pub fn united(&self, id: VariableId) -> impl Iterator<Item = &Place> {
        self.get(id).places.iter().filter(|place| !self.is_block(place))
    }

    /// The variables of a place; none for one that the program does not access.
    pub fn of_place(&self, place: &Place) -> impl Iterator<Item = VariableId> + '_ {
        self.places.known(place).into_iter().flat_map(|place| &self.of_place[place.index()]).copied()
    }

    /// The variables that a site accesses, sorted, each once: two for a copy, none for a call into the program.
    #[must_use]
    pub fn of_site(&self, site: SiteKey) -> Cow<'_, [VariableId]> {
        match self.sites.of_site(site) {
            None | Some([]) => Cow::Borrowed(&[]),
            Some([place]) => Cow::Borrowed(&self.of_place[place.index()]),
            Some(places) => {
                let mut found: Vec<VariableId> = places.iter().flat_map(|place| &self.of_place[place.index()]).copied().collect();
                found.sort_unstable();
                found.dedup();
                Cow::Owned(found)
            }
        }
    }

    /// The variable with this id.
    #[must_use]
    pub fn get(&self, id: VariableId) -> &Variable {
        &self.classes[id.index()]
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (VariableId, &Variable)> {
        self.classes.iter().enumerate().map(|(v, variable)| (VariableId::new(v), variable))
    }

    /// The one variable of a place, sets left aside; `None` when there are several.
    #[must_use]
    pub fn only_of_place(&self, place: &Place) -> Option<VariableId> {
        only(self.of_place(place).filter(|&v| !self.get(v).is_set()))
    }

    /// The one variable of a site, sets left aside; `None` when there are several.
    #[must_use]
    pub fn only_of_site(&self, site: SiteKey) -> Option<VariableId> {
        only(self.of_site(site).iter().copied().filter(|&v| !self.get(v).is_set()))
    }

    /// The record and offset of a variable that is a field of one type of objects, whatever else points there.
    #[must_use]
    pub fn field_of(&self, id: VariableId) -> Option<(&str, u64)> {
        let fields = self.get(id).places.iter().filter_map(|place| match place {
            Place::Field { record, offset } => Some((record.as_str(), *offset)),
            _ => None,
        });
        only(fields)
    }

    /// Adds a variable that stands for several: each of their places belongs to it too.
    pub fn unite(&mut self, members: &BTreeSet<VariableId>) -> VariableId {
        let id = VariableId::new(self.classes.len());
        let places: BTreeSet<Place> = members.iter().flat_map(|&v| self.get(v).places.clone()).collect();
        for place in &places {
            // The latest variable has the largest id.
            self.places.known(place).into_iter().for_each(|place| self.of_place[place.index()].push(id));
        }
        let members: Vec<String> = members.iter().map(|&v| self.get(v).to_string()).collect();
        let name = format!("{{{}}}", members.join(", "));
        self.classes.push(Variable { name, places, united_by: Vec::new(), members });
        id
    }

    /// Names all variables, sets left aside. Two that would share a name are named as their places display, pointers with their site beside.
    fn name(&mut self, program: &Program) {
        let sites = program.sites();
        let named = |v: usize, name: &dyn Fn(&Place) -> String| named(self.united(VariableId::new(v)), name);
        let names: Vec<String> = (0..self.classes.len()).map(|v| named(v, &|place| source_name(program, &sites, place))).collect();
        let mut uses: BTreeMap<&String, usize> = BTreeMap::new();
        for name in &names {
            *uses.entry(name).or_default() += 1;
        }
        let shared = names.iter().enumerate().filter(|(_, name)| uses[name] > 1);
        let apart: BTreeMap<usize, String> = shared.map(|(v, _)| (v, named(v, &|place| told_apart(program, &sites, place)))).collect();
        for (v, (variable, name)) in self.classes.iter_mut().zip(names).enumerate() {
            variable.name = apart.get(&v).cloned().unwrap_or(name);
        }
    }

    /// The places that a site accesses; `None` for one that accesses nothing.
    #[must_use]
    pub fn places_of(&self, site: SiteKey) -> Option<Vec<&Place>> {
        self.sites.of_site(site).map(|places| places.iter().map(|&place| self.places.get(place)).collect())
    }
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// The sites that access several places of one range.
fn ranges(program: &Program) -> BTreeSet<SiteKey> {
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    nodes.filter(|node| node.accesses().iter().any(|access| !access.covers.is_empty())).filter_map(|node| node.site).collect()
}

/// How many bytes are accessed at once through each bare pointer, at most.
fn bytes_behind_pointers(program: &Program) -> BTreeMap<&Place, i64> {
    let mut found: BTreeMap<&Place, i64> = BTreeMap::new();
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    for access in nodes.flat_map(|node| node.accesses()).filter(|access| is_pointer(&access.place)) {
        let bytes = found.entry(&access.place).or_default();
        *bytes = (*bytes).max(access.bytes.map_or(0, i64::from));
    }
    found
}

/// Whether and where a place's sites ran.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ran {
    /// On memory of one thread only.
    Privately,
    /// On shared memory, at least once.
    OnSharedMemory,
}

/// By `PlaceId`: whether and where it ran.
struct Runs(Vec<Option<Ran>>);

impl Runs {
    fn of(&self, places: &Places, place: &Place) -> Option<Ran> {
        places.known(place).and_then(|id| self.0.get(id.index()).copied().flatten())
    }
}

/// How two sites came to one address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// At some time each.
    Together,
    /// One after the other, by one thread.
    InTurn,
}

/// Variables in the making.
#[derive(Default)]
struct Grouping {
    union: Union,
    /// For places behind pointers: named places that they were seen with.
    joins: BTreeMap<Place, BTreeSet<Place>>,
    /// Two places behind pointers that were seen together.
    pointers: BTreeSet<(Place, Place)>,
    /// Sites that access several places at once.
    ranges: BTreeSet<SiteKey>,
    blocks: Blocks,
    reasons: Vec<(Place, (SiteKey, SiteKey))>,
    ambiguous: BTreeSet<Place>,
}

impl Grouping {
    /// Takes note of two sites on one address. A copy touches two places and only one of them was meant: where the two sites share a
    /// variable already, that is the one; otherwise any may be.
    fn connect(&mut self, (a, of_a): (SiteKey, &[PlaceId]), (b, of_b): (SiteKey, &[PlaceId]), seen: Seen) {
        let combinations = || of_a.iter().flat_map(|&x| of_b.iter().map(move |&y| (x, y)));
        if combinations().any(|(x, y)| self.are_together(x, y)) {
            return;
        }
        for (x, y) in combinations() {
            let (x, y) = (&self.union.places.get(x).clone(), &self.union.places.get(y).clone());
            if self.blocks.note(x, y) {
                continue;
            }
            match (is_pointer(x), is_pointer(y)) {
                (false, false) if self.ranges.contains(&a) || self.ranges.contains(&b) => continue,
                (false, false) if may_unite(x, y, seen) => self.union.join(x, y),
                (false, false) => continue,
                (true, false) => {
                    self.joins.entry(x.clone()).or_default().insert(y.clone());
                }
                (false, true) => {
                    self.joins.entry(y.clone()).or_default().insert(x.clone());
                }
                (true, true) => {
                    self.pointers.insert((x.clone(), y.clone()));
                }
            }
            self.reasons.push((if is_pointer(x) { y.clone() } else { x.clone() }, (a, b)));
        }
    }

    fn are_together(&self, x: PlaceId, y: PlaceId) -> bool {
        let joined = |pointer: PlaceId, named: PlaceId| {
            let root = Some(self.union.root(named));
            let places = self.joins.get(self.union.places.get(pointer));
            places.is_some_and(|places| places.iter().any(|place| self.union.root_of(place) == root))
        };
        x == y || self.union.root(x) == self.union.root(y) || joined(x, y) || joined(y, x)
    }

    /// Pointers that share no named variable make one of their own.
    fn connect_pointers(&mut self) {
        for (x, y) in core::mem::take(&mut self.pointers) {
            let roots = |place: &Place| -> BTreeSet<PlaceId> {
                self.joins.get(place).into_iter().flatten().filter_map(|named| self.union.root_of(named)).collect()
            };
            if roots(&x).is_disjoint(&roots(&y)) {
                self.union.join(&x, &y);
            }
        }
    }

    /// Adds what never ran to what it may be.
    fn connect_statically(&mut self, points_to: &PointsTo, runs: &Runs, bytes: &BTreeMap<&Place, i64>) {
        let mut joins: BTreeMap<&Place, BTreeSet<Place>> = BTreeMap::new();
        for class in points_to.classes() {
            let known = class.places.iter().filter(|place| self.union.places.known(place).is_some());
            let places: Vec<&Place> = known.filter(|place| !self.blocks.has(place)).collect();
            // Where fields cannot be told apart, elements and fields cannot either.
            for (element, other) in elements(&places).into_iter().filter(|_| !class.whole) {
                self.union.join(element, other);
            }
            let targets = self.ran_in(class, runs);
            let bare = places.into_iter().filter(|place| runs.of(&self.union.places, place).is_none());
            let bare: Vec<&Place> = bare.filter(|place| !matches!(place, Place::Global { .. } | Place::GlobalElement { .. })).collect();
            if targets.is_empty() {
                let pointers: Vec<&Place> =
                    bare.into_iter().filter(|place| is_pointer(place) && !self.joins.contains_key(*place)).collect();
                pointers.windows(2).for_each(|pair| self.union.join(pair[0], pair[1]));
            } else if class.whole {
                self.ambiguous.extend(bare.into_iter().cloned());
            } else {
                for place in bare {
                    joins.entry(place).or_default().extend(targets.values().cloned());
                }
            }
        }
        for (place, targets) in joins {
            if targets.len() > MOST_JOINED || self.ambiguous.contains(place) {
                self.ambiguous.insert(place.clone());
            } else {
                self.joins.entry(place.clone()).or_default().extend(targets);
            }
        }
        self.connect_ranges(points_to, runs, bytes);
    }

    /// Adds blocks that are given back to all that lies in them.
    fn connect_blocks(&mut self, points_to: &PointsTo, runs: &Runs) {
        let joined = self.blocks.joined(
            points_to,
            |place| self.joins.get(place).cloned().unwrap_or_else(|| BTreeSet::from([place.clone()])),
            |place| runs.of(&self.union.places, place).is_some(),
            |class| self.ran_in(class, runs).into_values().collect(),
        );
        self.joins.extend(joined);
    }

    /// The variables of a class that ran on shared memory, each by one of its places.
    fn ran_in(&self, class: &Class, runs: &Runs) -> BTreeMap<Option<PlaceId>, Place> {
        let known = class.places.iter().filter(|place| self.union.places.known(place).is_some() && !self.blocks.has(place));
        let seen = known.filter(|place| runs.of(&self.union.places, place) == Some(Ran::OnSharedMemory));
        // A pointer that was seen with named places stands for those.
        let meant =
            seen.flat_map(|place| self.joins.get(place).map_or_else(|| vec![place.clone()], |named| named.iter().cloned().collect()));
        meant.map(|place| (self.union.root_of(&place), place)).collect()
    }

    /// Adds to bare pointers that never ran what lies behind the beginning of the memory that is accessed through them at once.
    fn connect_ranges(&mut self, points_to: &PointsTo, runs: &Runs, bytes: &BTreeMap<&Place, i64>) {
        let by_offset: BTreeMap<(u32, i64), &Class> =
            points_to.classes().iter().filter(|class| !class.whole).map(|class| ((class.object, class.offset), class)).collect();
        for class in by_offset.values() {
            let unknown = |place: &&Place| runs.of(&self.union.places, place).is_none() && !self.ambiguous.contains(*place);
            let bare = class.places.iter().filter(|place| unknown(place) && !self.blocks.has(place));
            let wide: Vec<(&Place, i64)> =
                bare.filter_map(|place| Some((place, *bytes.get(place)?))).filter(|(_, bytes)| *bytes > 1).collect();
            for (place, bytes) in wide {
                let (start, end) = (class.offset.saturating_add(1), class.offset.saturating_add(bytes));
                for behind in by_offset.range((class.object, start)..(class.object, end)).map(|(_, behind)| behind) {
                    let targets = self.ran_in(behind, runs);
                    if targets.len() <= MOST_JOINED {
                        self.joins.entry(place.clone()).or_default().extend(targets.into_values());
                    }
                }
            }
        }
    }

    fn finish(self, sites: SiteTable) -> Variables {
        let mut members: BTreeMap<PlaceId, BTreeSet<Place>> = BTreeMap::new();
        for (id, place) in self.union.places.iter() {
            members.entry(self.union.root(id)).or_default().insert(place.clone());
        }
        // A pointer that has joined named variables needs none of its own, and a block is nothing but what lies in it.
        let is_other = |place: &Place| self.joins.contains_key(place) || self.blocks.has(place);
        members.retain(|_, places| places.len() > 1 || !places.iter().all(is_other));
        for (pointer, named) in &self.joins {
            for place in named {
                if let Some(root) = self.union.root_of(place) {
                    members.entry(root).or_default().insert(pointer.clone());
                }
            }
        }
        let mut classes: Vec<(BTreeSet<Place>, PlaceId)> = members.into_iter().map(|(root, places)| (places, root)).collect();
        classes.sort();
        let mut of_place = vec![Vec::new(); self.union.places.len()];
        let mut of_root = BTreeMap::new();
        for (v, (members, root)) in classes.iter().enumerate() {
            of_root.insert(*root, v);
            for place in members {
                self.union.places.known(place).into_iter().for_each(|place| of_place[place.index()].push(VariableId::new(v)));
            }
        }
        let mut classes: Vec<Variable> = classes
            .into_iter()
            .map(|(places, _)| Variable { name: String::new(), places, united_by: Vec::new(), members: Vec::new() })
            .collect();
        for (place, sites) in &self.reasons {
            if let Some(&v) = self.union.root_of(place).and_then(|root| of_root.get(&root)) {
                classes[v].united_by.push(*sites);
            }
        }
        let blocks = self.union.places.iter().filter(|(_, place)| self.blocks.has(place)).map(|(id, _)| id).collect();
        Variables { classes, places: self.union.places, of_place, sites, ambiguous: self.ambiguous, blocks }
    }
}

fn is_pointer(place: &Place) -> bool {
    matches!(place, Place::Pointer { .. })
}

/// Elements of an array with the places of the same memory that a constant index names.
fn elements<'a>(places: &[&'a Place]) -> Vec<(&'a Place, &'a Place)> {
    let name = |place: &'a Place| match place {
        Place::Global { name, .. } => Some(name),
        _ => None,
    };
    let pairs = places.iter().filter_map(|&place| if let Place::GlobalElement { name, .. } = place { Some((place, name)) } else { None });
    pairs
        .flat_map(|(element, array)| places.iter().filter(move |&&other| name(other) == Some(array)).map(move |&other| (element, other)))
        .collect()
}

/// Whether two named places on one address are one variable, rather than memory that was used twice.
fn may_unite(x: &Place, y: &Place, seen: Seen) -> bool {
    const WIDEST_ACCESS: u64 = 8;
    match (x, y) {
        (Place::Field { record: r, offset: a }, Place::Field { record: s, offset: b }) if r == s => a.abs_diff(*b) < WIDEST_ACCESS,
        (Place::Field { offset: a, .. }, Place::Field { offset: b, .. }) => a == b && seen == Seen::InTurn,
        _ => true,
    }
}
