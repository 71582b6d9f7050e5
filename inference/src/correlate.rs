//! Correlated sets: variables that belong together, so that one lock protects them all (seed 002, section 5).
//!
//! Step one, `candidates`, is association mining in the manner of MUVI (Lu et al., SOSP 2007): two variables are correlated if
//! accesses to them run near each other often enough, reads near reads or writes near writes, and each is seldom seen without the
//! other. Sets are made of variables that are all correlated with each other, and a variable is in one set at most.
//! Step two is runs that watch the candidates (`model::correlation`). `join` makes one more variable of each set that was watched,
//! whose pairs are admitted like any other's.
//!
//! The instance of a set is fixed if all its variables are globals, and an object if they are fields of one type. Not handled: other
//! mixtures; elements of arrays within objects, which count as the object that would begin so far before them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::correlation::{CorrelatedSet, Instance, Kinds, MOST_MEMBERS, MOST_SETS, Watched};
use model::ids::{SiteKey, VariableId};
use model::pair::Rw;
use model::profile::Evidence;
use model::program::{Place, Program};

use crate::access::Accesses;
use crate::early::Early;
use crate::exposure::Exposure;
use crate::indirect::resolved;
use crate::points_to::PointsTo;
use crate::variable::Variables;
use crate::wrapper::unwrapped;

/// When variables count as correlated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// They must have been accessed together so often.
    pub support: u64,
    /// Of the accesses to each, so many in a hundred must be near one to the other.
    pub confidence: u64,
    /// Variables that one set may have.
    pub members: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { support: 3, confidence: 60, members: 8 }
    }
}

/// How strongly variables are correlated: of all pairs of variables in a set, the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strength {
    /// How often they were accessed together.
    pub support: u64,
    /// In how many of a hundred accesses to one of them the other was accessed too: the lower of the two directions.
    pub confidence: u64,
}

impl Strength {
    /// What holds of both.
    #[must_use]
    pub fn weaker(self, other: Self) -> Self {
        Self { support: self.support.min(other.support), confidence: self.confidence.min(other.confidence) }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "accessed together {} times, in {} % of the accesses to each", self.support, self.confidence)
    }
}

/// Sets to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// In order; a watch list names them by their place here.
    pub sets: Vec<CorrelatedSet>,
    /// The sites of their variables.
    pub watched: Vec<Watched>,
}

/// A correlated set that has become a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correlated {
    /// How profiles name it.
    pub set: CorrelatedSet,
    /// The variable that stands for all.
    pub variable: VariableId,
    /// The variables in it.
    pub members: BTreeSet<VariableId>,
    /// How strongly they are correlated.
    pub strength: Strength,
    /// How many runs watched it.
    pub runs: u32,
}

/// A program to find sets in, and what does not change from run to run.
#[derive(Debug)]
pub struct Subject {
    points_to: PointsTo,
    program: Program,
}

impl Subject {
    /// Looks where its pointers lead.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let program = &unwrapped(program);
        let points_to = PointsTo::of(program);
        let program = resolved(program, &points_to);
        Self { points_to, program }
    }
}

/// Step one: the sets to watch, from what runs have shown so far.
#[must_use]
pub fn candidates(subject: &Subject, evidence: &Evidence, thresholds: &Thresholds) -> Candidates {
    let program = &subject.program;
    let variables = Variables::of(program, evidence, &subject.points_to);
    let accesses = Accesses::of(program, &variables);
    let exposure = Exposure::of(program, evidence, &accesses, &variables, &Early::default());
    let mined = Mined::of(evidence, &variables);
    let mut pairs: Vec<(Strength, VariableId, VariableId)> = mined
        .together
        .keys()
        .filter(|(x, y, _)| x < y && offers(&exposure, *x) && offers(&exposure, *y))
        .filter_map(|&(x, y, _)| Some((mined.strength(x, y, thresholds).filter(|found| enough(*found, thresholds))?, x, y)))
        .collect();
    pairs.sort_by_key(|&(strength, x, y)| (std::cmp::Reverse(strength), x, y));
    pairs.dedup();
    let mut groups: Vec<BTreeSet<VariableId>> = Vec::new();
    for (_, x, y) in pairs {
        let place = |v: VariableId| groups.iter().position(|group| group.contains(&v));
        let (a, b) = (place(x), place(y));
        if a.is_some() && a == b {
            continue;
        }
        let group = |place: Option<usize>, v| place.map_or_else(|| BTreeSet::from([v]), |place| groups[place].clone());
        let joint: BTreeSet<VariableId> = group(a, x).union(&group(b, y)).copied().collect();
        if joint.len() <= thresholds.members.min(MOST_MEMBERS)
            && is_clique(&joint, &mined, thresholds)
            && layout(&joint, &variables).is_some()
        {
            groups = groups.into_iter().enumerate().filter(|(n, _)| Some(*n) != a && Some(*n) != b).map(|(_, group)| group).collect();
            groups.push(joint);
        }
    }
    watch_list(&groups, &variables, program)
}

fn enough(strength: Strength, thresholds: &Thresholds) -> bool {
    strength.support >= thresholds.support && strength.confidence >= thresholds.confidence
}

fn is_clique(group: &BTreeSet<VariableId>, mined: &Mined, thresholds: &Thresholds) -> bool {
    let correlated = |x, y| mined.strength(x, y, thresholds).is_some_and(|strength| enough(strength, thresholds));
    group.iter().all(|&x| group.iter().all(|&y| x == y || correlated(x, y)))
}

/// Reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Reads,
    Writes,
}

fn kinds(rw: Rw) -> impl Iterator<Item = Kind> {
    [Kind::Reads, Kind::Writes].into_iter().filter(move |kind| match rw {
        Rw::Read => *kind == Kind::Reads,
        Rw::Write => *kind == Kind::Writes,
        Rw::Update => true,
    })
}

/// Counts by variable, from those by site.
struct Mined {
    /// How often each variable was accessed.
    accesses: BTreeMap<(VariableId, Kind), u64>,
    /// Of the accesses to the first, those near one to the second.
    together: BTreeMap<(VariableId, VariableId, Kind), Near>,
}

/// A count, and on how much it rests.
#[derive(Clone, Copy, Debug, Default)]
struct Near {
    /// As often as that was looked at.
    looked: u64,
    /// Scaled to all executions.
    all: u64,
}

impl Near {
    /// Adds a count; a site cannot be near more often than it runs.
    fn add(&mut self, other: Self, runs: u64) {
        self.looked = self.looked.saturating_add(other.looked).min(runs);
        self.all = self.all.saturating_add(other.all).min(runs);
    }
}

impl Mined {
    fn of(evidence: &Evidence, variables: &Variables) -> Self {
        // A site that may mean several variables says nothing about any of them.
        let variable = |site: SiteKey| variables.only_of_site(site);
        let mut near: BTreeMap<(SiteKey, VariableId, Kind), Near> = BTreeMap::new();
        let mut accesses: BTreeMap<(VariableId, Kind), u64> = BTreeMap::new();
        for (&site, seen) in &evidence.sites {
            for kind in kinds(seen.rw) {
                if let Some(v) = variable(site) {
                    *accesses.entry((v, kind)).or_default() += seen.seen;
                }
            }
        }
        for (&(first, second), joint) in evidence.joint.iter().filter(|((first, second), _)| first != second) {
            let (Some(x), Some(y)) = (variable(first), variable(second)) else { continue };
            let (Some(of_x), Some(of_y)) = (evidence.sites.get(&first), evidence.sites.get(&second)) else { continue };
            let looked = match (variables.field_of(x), variables.field_of(y)) {
                _ if x == y => continue,
                (Some((r, a)), Some((s, b))) if r == s && joint.apart == b.cast_signed().wrapping_sub(a.cast_signed()) => joint.aligned,
                (Some((r, _)), Some((s, _))) if r == s => 0,
                _ => joint.seen,
            };
            let looks = evidence.joint.get(&(second, second)).map_or(0, |looks| looks.seen);
            let all = (u128::from(looked) * u128::from(of_y.seen)).checked_div(u128::from(looks)).unwrap_or_default();
            let count = Near { looked, all: u64::try_from(all).unwrap_or(u64::MAX) };
            for kind in kinds(of_x.rw).filter(|kind| kinds(of_y.rw).any(|other| other == *kind)) {
                near.entry((first, y, kind)).or_default().add(count, of_x.seen);
                near.entry((second, x, kind)).or_default().add(count, of_y.seen);
            }
        }
        let mut together: BTreeMap<(VariableId, VariableId, Kind), Near> = BTreeMap::new();
        for ((site, other, kind), count) in near {
            if let Some(v) = variable(site) {
                together.entry((v, other, kind)).or_default().add(count, u64::MAX);
            }
        }
        Self { accesses, together }
    }

    /// By reads and by writes, as far as the confidence is enough; failing both, by whichever comes nearest.
    fn strength(&self, x: VariableId, y: VariableId, thresholds: &Thresholds) -> Option<Strength> {
        let one_way = |x, y, kind| {
            let near = self.together.get(&(x, y, kind)).filter(|near| near.looked > 0)?;
            let all = self.accesses.get(&(x, kind)).copied()?;
            Some(Strength { support: near.looked, confidence: near.all.saturating_mul(100).checked_div(all)?.min(100) })
        };
        let of_kind = |kind| Some(one_way(x, y, kind)?.weaker(one_way(y, x, kind)?));
        let kinds = [Kind::Reads, Kind::Writes].into_iter().filter_map(of_kind);
        let (sure, unsure): (Vec<Strength>, Vec<Strength>) = kinds.partition(|strength| strength.confidence >= thresholds.confidence);
        let both = sure.into_iter().reduce(|a, b| Strength { support: a.support + b.support, confidence: a.confidence.min(b.confidence) });
        both.or_else(|| unsure.into_iter().max_by_key(|strength| (strength.confidence, strength.support)))
    }

    /// The weakest of all pairs of a set.
    fn weakest(&self, members: &BTreeSet<VariableId>, thresholds: &Thresholds) -> Option<Strength> {
        let pairs = members.iter().flat_map(|&x| members.iter().filter(move |&&y| x < y).map(move |&y| self.strength(x, y, thresholds)));
        pairs.collect::<Option<Vec<Strength>>>()?.into_iter().reduce(Strength::weaker)
    }
}

/// How the instances of a set lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// In globals: one instance.
    Globals,
    /// In objects of this type.
    Objects(String),
}

/// The layout of a set; `None` for a mixture that is not handled.
fn layout(group: &BTreeSet<VariableId>, variables: &Variables) -> Option<Layout> {
    let places = || group.iter().flat_map(|&v| &variables.get(v).places);
    if places().all(|place| matches!(place, Place::Global { .. } | Place::GlobalElement { .. } | Place::Pointer { .. })) {
        return Some(Layout::Globals);
    }
    let records: BTreeSet<&str> = group.iter().filter_map(|&v| variables.field_of(v)).map(|(record, _)| record).collect();
    let (&record, rest) = (records.first()?, records.len() - 1);
    let elements = places().any(|place| matches!(place, Place::GlobalElement { .. }));
    (rest == 0 && !elements && group.iter().all(|&v| variables.field_of(v).is_some())).then(|| Layout::Objects(record.to_owned()))
}

/// Names the sets, and lists the sites of their variables.
fn watch_list(groups: &[BTreeSet<VariableId>], variables: &Variables, program: &Program) -> Candidates {
    let mut sets: Vec<(CorrelatedSet, &BTreeSet<VariableId>, Layout)> =
        groups.iter().filter_map(|group| Some((name(group, variables)?, group, layout(group, variables)?))).collect();
    sets.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    sets.truncate(MOST_SETS);
    let mut watched = Vec::new();
    for (number, (_, group, layout)) in sets.iter().enumerate() {
        for (member, &variable) in group.iter().enumerate() {
            for (site, place, rw) in accesses_to(program, variables, variable) {
                let instance = match layout {
                    Layout::Globals => Some(Instance::Only),
                    Layout::Objects(_) => offset(place, variables, variable).map(Instance::Object),
                };
                let kinds = match rw {
                    Rw::Read => Kinds::Reads,
                    Rw::Write => Kinds::Writes,
                    Rw::Update => Kinds::Both,
                };
                let number = (u16::try_from(number), u8::try_from(member));
                if let (Some(instance), (Ok(set), Ok(member))) = (instance, number) {
                    let member = Some(member).filter(|_| members_at(place, group, variables) == 1);
                    watched.push(Watched { site, kinds, set, member, instance });
                }
            }
        }
    }
    watched.sort();
    watched.dedup();
    Candidates { sets: sets.into_iter().map(|(set, _, _)| set).collect(), watched }
}

/// Every access of the program that may be one to this variable, but for the end of all of its object.
fn accesses_to<'a>(
    program: &'a Program,
    variables: &'a Variables,
    variable: VariableId,
) -> impl Iterator<Item = (SiteKey, &'a Place, Rw)> + 'a {
    let nodes = program.functions.iter().flat_map(|function| &function.nodes);
    nodes.filter_map(|node| Some((node.site?, node.accesses()))).flat_map(move |(site, accesses)| {
        let meant = accesses
            .iter()
            .filter(move |access| !variables.is_block(&access.place) && variables.of_place(&access.place).any(|v| v == variable));
        meant.map(move |access| (site, &access.place, access.rw))
    })
}

/// Of how many variables of the set an access to this place may be one.
fn members_at(place: &Place, group: &BTreeSet<VariableId>, variables: &Variables) -> usize {
    variables.of_place(place).filter(|v| group.contains(v)).count()
}

/// How far an access to a field lies behind the beginning of its object.
fn offset(place: &Place, variables: &Variables, variable: VariableId) -> Option<u32> {
    let offset = match place {
        Place::Global { offset, .. } | Place::Field { offset, .. } => *offset,
        Place::Pointer { .. } => variables.field_of(variable)?.1,
        Place::GlobalElement { .. } => return None,
    };
    u32::try_from(offset).ok().filter(|&offset| offset != u32::MAX)
}

/// How profiles name a set.
fn name(group: &BTreeSet<VariableId>, variables: &Variables) -> Option<CorrelatedSet> {
    let named = |v: &VariableId| variables.get(*v).places.iter().find(|place| !matches!(place, Place::Pointer { .. })).cloned();
    group.iter().map(named).collect::<Option<BTreeSet<Place>>>().map(CorrelatedSet)
}

/// Whether another thread could interfere with a variable.
fn offers(exposure: &Exposure, variable: VariableId) -> bool {
    exposure.contended.contains(variable) && exposure.written.contains(variable)
}

/// What became of the sets that were watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Those that became variables.
    pub sets: Vec<Correlated>,
    /// One line for each of the others.
    pub left: Vec<String>,
}

/// Step two: makes a variable of each set that was watched, still is strong enough, and could be interfered with in all its variables.
#[must_use]
pub fn join(program: &Program, variables: &mut Variables, evidence: &Evidence, thresholds: &Thresholds) -> Joined {
    let mut joined = Joined::default();
    if evidence.sets.is_empty() {
        return joined;
    }
    let accesses = Accesses::of(program, variables);
    let exposure = Exposure::of(program, evidence, &accesses, variables, &Early::default());
    let mined = Mined::of(evidence, variables);
    let mut known: Vec<Correlated> = Vec::new();
    for (set, seen) in &evidence.sets {
        let Some(members) = members_of(set, variables) else { continue };
        match mined.weakest(&members, thresholds) {
            _ if !members.iter().all(|&v| offers(&exposure, v)) => {}
            Some(strength) if enough(strength, thresholds) => {
                let variable = VariableId::new(0);
                known.push(Correlated { set: set.clone(), variable, members, strength, runs: seen.runs });
            }
            strength => joined.left.push(format!("{set} does not count as correlated: {}", weak(strength))),
        }
    }
    // What was watched most first, and of that the larger sets: what is known grows from run to run, and so may sets.
    let weight = |set: &Correlated| (set.runs, set.members.len(), set.strength);
    known.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.set.cmp(&b.set)));
    for correlated in known {
        if joined.sets.iter().all(|other| other.members.is_disjoint(&correlated.members)) {
            let variable = variables.unite(&correlated.members);
            joined.sets.push(Correlated { variable, ..correlated });
        }
    }
    joined
}

/// The variables of a set. One of code that has changed since, or whose variables turned out to be one, is none any more.
fn members_of(set: &CorrelatedSet, variables: &Variables) -> Option<BTreeSet<VariableId>> {
    let members = set.0.iter().map(|place| variables.only_of_place(place)).collect::<Option<BTreeSet<_>>>();
    members.filter(|members| members.len() > 1)
}

/// Makes a variable of every set that was watched, to read a plan by, whatever it was made with.
pub fn unite_all(variables: &mut Variables, evidence: &Evidence) {
    let all: Vec<BTreeSet<VariableId>> = evidence.sets.keys().filter_map(|set| members_of(set, variables)).collect();
    for members in all {
        variables.unite(&members);
    }
}

fn weak(strength: Option<Strength>) -> String {
    strength.map_or_else(|| "some of its variables were never accessed together".to_owned(), |strength| strength.to_string())
}
