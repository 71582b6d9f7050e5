//! Phase 3: which observed pairs get a lock.
//!
//! Observations are grouped by frontier and variable, the weakest atomicity winning. A group is admitted unless a remote write
//! came between (NONE), the program's own locks guarantee it already, nothing could have come between (`exposure`), or it is
//! *refused*: then a reason is kept for the report.
//! Whether the variable is racy is not asked: many real atomicity bugs are free of races.
//!
//! Not handled: locks that have a number only (`LockName::Other`) are trusted within one run, since numbers of two runs do not
//! correspond; a class of heap locks is taken for the lock of the object, as the pair's lock *instances* suggest.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::external;
use model::ids::{FunctionId, NodeId, SiteKey, VariableId};
use model::pair::Atomicity;
use model::plan::{Refused, confidence};
use model::profile::{Evidence, LockName, PairEvidence, PairKey, SiteEvidence};
use model::program::{Callee, NodeKind, Program};

use crate::access::Accesses;
use crate::correlate::Correlated;
use crate::early::Early;
use crate::exposure::Exposure;
use crate::flow::Flow;
use crate::joint::Observed;
use crate::meeting::Meetings;
use crate::pipeline::{Config, Reads};
use crate::sets::Set;
use crate::spin::refuse_spins;
use crate::summary::{Calls, Summary, Touch, Touching, waits};
use crate::variable::Variables;
use crate::weaken::weakened;

/// What the phases before found, for this one to read.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The program.
    pub program: &'a Program,
    /// Where its sites stand.
    pub sites: &'a BTreeMap<SiteKey, (FunctionId, NodeId)>,
    /// Its runs.
    pub evidence: &'a Evidence,
    /// Phase 1.
    pub variables: &'a Variables,
    /// Which node accesses what.
    pub accesses: &'a Accesses,
    /// The call graph.
    pub calls: &'a Calls,
    /// Phase 2.
    pub summaries: &'a [Summary],
    /// Which variables offer an opportunity.
    pub exposure: &'a Exposure,
    /// What runs before any thread is started.
    pub early: &'a Early,
    /// By `FunctionId`.
    pub flows: &'a [Flow],
    /// Variables that stand for correlated sets.
    pub correlated: &'a [Correlated],
    /// What was seen of them.
    pub joint: &'a [Observed<'a>],
}

/// A pair that gets a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedPair {
    /// Which variable.
    pub variable: VariableId,
    /// The function of both ends.
    pub function: FunctionId,
    /// The first end.
    pub head: NodeId,
    /// The second end.
    pub tail: NodeId,
    /// READ or EXCLUSIVE.
    pub atomicity: Atomicity,
    /// How often it was seen.
    pub seen: u64,
    /// In how many of these another thread was near enough to interleave.
    pub near: u64,
    /// By how many threads.
    pub threads: u32,
    /// In how many runs.
    pub runs: u32,
    /// The nodes between the ends, on ways that do not wait.
    pub interior: Set<NodeId>,
    /// What may wait on the other ways, if there are any.
    pub except: Option<String>,
}

impl AdmittedPair {
    /// What tells it from other pairs.
    #[must_use]
    pub fn key(&self) -> (VariableId, FunctionId, NodeId, NodeId) {
        (self.variable, self.function, self.head, self.tail)
    }

    /// Whether its lock is to be held while `node` runs.
    #[must_use]
    pub fn covers(&self, node: NodeId) -> bool {
        node == self.head || node == self.tail || self.interior.contains(node)
    }
}

/// What became of the observed pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    /// Sorted by (variable, function, head, tail).
    pub pairs: Vec<AdmittedPair>,
    /// Sorted.
    pub refused: Vec<Refused>,
    /// Pairs that a remote write interleaved.
    pub interleaved: u64,
    /// Pairs that the program's locks guarantee.
    pub guaranteed: u64,
    /// Pairs on memory that one thread used.
    pub private: u64,
    /// Pairs on memory that threads hand to each other, so that nothing could come between.
    pub handed_over: u64,
    /// Pairs on memory that is written only before others read it.
    pub constant: u64,
    /// Pairs that end before any thread is started.
    pub early: u64,
    /// Observations of sites that the program does not have.
    pub unknown: u64,
    /// Pairs whose ends are fields of unrelated types: memory that the program used twice.
    pub unrelated: u64,
    /// Variables that more than one thread used.
    pub shared: Set<VariableId>,
    /// Those of them that no lock protects at all their accesses.
    pub unprotected: Set<VariableId>,
}

/// Where an observation belongs.
pub(crate) type Place = (VariableId, FunctionId, NodeId, NodeId);

impl Admission {
    /// Moves pairs to the refused ones.
    pub fn give_up(&mut self, facts: &Facts<'_>, refused: &[(AdmittedPair, String)]) {
        let gone: BTreeSet<_> = refused.iter().map(|(pair, _)| pair.key()).collect();
        self.pairs.retain(|pair| !gone.contains(&pair.key()));
        for (pair, why) in refused {
            let ends = (node_text(facts, pair.function, pair.head), node_text(facts, pair.function, pair.tail));
            self.refused.push(refusal(facts, Some(pair.variable), ends, pair.seen, why));
        }
        self.refused.sort();
    }
}

struct Group {
    evidence: PairEvidence,
    runs: u32,
    /// The accesses at both ends, which a call at an end hides.
    accesses: BTreeSet<SiteKey>,
}

/// Sorts the observed pairs.
#[must_use]
pub fn admit(facts: &Facts<'_>, config: &Config) -> Admission {
    let mut admission = Admission::default();
    let common = common_locks(facts);
    admission.shared = shared_variables(facts);
    admission.unprotected = admission.shared.iter().filter(|variable| common.get(variable).is_none_or(|locks| locks.is_empty())).collect();
    let (groups, sundered) = group(facts, &mut admission);
    for (key, evidence) in sundered {
        let ends = (site_text(facts, key.head), site_text(facts, key.tail));
        admission.refused.push(refusal(facts, None, ends, evidence.seen, "its ends are not in one function"));
    }
    let meetings = Meetings::of(facts.evidence, facts.variables, |locks| trusted(facts, locks));
    let observed_variables = groups.keys().map(|(variable, ..)| *variable).collect();
    let mut writing = Touching::of(facts.calls, facts.accesses, Touch::Writes, &observed_variables);
    let observed = groups.iter().map(|(&place, group)| (place, group.evidence.atomicity)).collect();
    let weakened = match config.reads {
        Reads::Shared => weakened(facts, &mut writing, &observed),
        Reads::AsSeen => BTreeSet::new(),
    };
    for (place, group) in groups {
        sort_group(facts, config, place, &group, &meetings, &weakened, &mut admission);
    }
    refuse_spins(facts, &mut writing, &mut admission);
    admission.refused.sort();
    admission.refused.dedup();
    admission
}

fn sort_group(
    facts: &Facts<'_>,
    config: &Config,
    place: Place,
    group: &Group,
    meetings: &Meetings<'_>,
    weakened: &BTreeSet<Place>,
    admission: &mut Admission,
) {
    let (variable, function, head, tail) = place;
    let evidence = &group.evidence;
    if evidence.atomicity == Atomicity::None {
        admission.interleaved += 1;
        return;
    }
    if facts.early.has(function, tail) {
        admission.early += 1;
        return;
    }
    let held = trusted(facts, &evidence.locks);
    let kept = if weakened.contains(&place) { Atomicity::Read } else { evidence.atomicity };
    if meetings.keep_out(variable, &group.accesses, &held, kept) {
        admission.guaranteed += 1;
        return;
    }
    if is_private(facts, variable, evidence, &admission.shared) && !meetings.met_an_end(&group.accesses) {
        admission.private += 1;
        return;
    }
    if !facts.exposure.contended.contains(variable) || is_handed_over(facts, variable, &group.accesses) {
        admission.handed_over += 1;
        return;
    }
    if config.reads == Reads::Shared && !facts.exposure.written.contains(variable) {
        admission.constant += 1;
        return;
    }
    let ends = (node_text(facts, function, head), node_text(facts, function, tail));
    let body = &facts.program.functions[function.index()];
    let why = if let Some(why) = &body.refused {
        Err(format!("its function is left alone: {why}"))
    } else if evidence.seen < config.support {
        Err(format!("seen fewer than {} times", config.support))
    } else if confidence(evidence.near) < config.confidence {
        Err(format!("it is less than {} % sure", config.confidence))
    } else {
        region(facts, place)
    };
    match why {
        Ok((interior, except)) => admission.pairs.push(AdmittedPair {
            variable,
            function,
            head,
            tail,
            atomicity: kept,
            seen: evidence.seen,
            near: evidence.near,
            threads: evidence.threads,
            runs: group.runs,
            interior,
            except,
        }),
        Err(why) => admission.refused.push(refusal(facts, Some(variable), ends, evidence.seen, &why)),
    }
}

/// Whether the memory was one thread's until then: who comes to it later is not looked at. A global has one instance, so it is shared if it ever was; of a class of many instances
/// the pair itself must have met a shared one, unless it was seen too seldom to tell.
fn is_private(facts: &Facts<'_>, variable: VariableId, evidence: &PairEvidence, shared: &Set<VariableId>) -> bool {
    const ENOUGH_TO_TELL: u64 = 64;
    let one_instance = facts.variables.get(variable).is_single_instance();
    evidence.shared == 0 && (!shared.contains(variable) || (!one_instance && evidence.seen >= ENOUGH_TO_TELL))
}

/// Whether, of memory with many instances, a pair's accesses only ever ran on instances that no other thread could have come to at that
/// time, though others of the class are contended. Of a global this is asked for all its accesses together: what never ran may come at any time.
fn is_handed_over(facts: &Facts<'_>, variable: VariableId, accesses: &BTreeSet<SiteKey>) -> bool {
    let met = |site: &SiteKey| facts.evidence.sites.get(site).is_none_or(|site| site.concurrent);
    !facts.variables.get(variable).is_single_instance() && !accesses.iter().any(met)
}

/// The nodes between a pair's ends, or why no lock may be held over them. Where some ways between the ends may wait, the region is split:
/// the lock is given up as soon as such a way is taken, and what may wait there is named.
pub(crate) fn region(facts: &Facts<'_>, (variable, function, head, tail): Place) -> Result<(Set<NodeId>, Option<String>), String> {
    let flow = &facts.flows[function.index()];
    let mut barred = facts.accesses.must(function, variable);
    barred.remove(head);
    barred.remove(tail);
    let mut interior =
        flow.between(head, tail, &barred).ok_or_else(|| "no path leads from one end to the other without another access".to_owned())?;
    let waits = |why: String| format!("its region may wait for another thread or a peer: {why}");
    if let Some(why) = [head, tail].into_iter().find_map(|end| blocks(facts, function, end)) {
        return Err(waits(why));
    }
    let waiting: Vec<(NodeId, String)> = interior.iter().filter_map(|node| Some((node, blocks(facts, function, node)?))).collect();
    let except = waiting.first().map(|(_, why)| why.clone());
    if let Some(why) = &except {
        barred.unite(&waiting.iter().map(|(node, _)| *node).collect());
        interior = flow.between(head, tail, &barred).ok_or_else(|| waits(why.clone()))?;
    }
    for node in [head, tail].into_iter().chain(interior.iter()) {
        if let Some(name) = unknown_code(facts, function, node) {
            return Err(format!("its region calls {name}, which was not captured and may take any time"));
        }
    }
    Ok((interior, except))
}

/// The code outside the program that a node calls, if nothing is known of it: a compressor, say, which would keep all other threads
/// waiting. Only the region's own calls count: what lies deeper is mostly error paths.
pub(crate) fn unknown_code(facts: &Facts<'_>, function: FunctionId, node: NodeId) -> Option<String> {
    let NodeKind::Call(call) = &facts.program.function(function).node(node).kind else { return None };
    let Callee::Direct(name) = &call.callee else { return None };
    let known = call.sync.is_some() || !facts.calls.from_node(function, node).is_empty() || external::is_quick(name);
    (!known).then(|| name.clone())
}

/// Why a node may wait for another thread or a peer, if it may.
#[must_use]
pub fn blocks(facts: &Facts<'_>, function: FunctionId, node: NodeId) -> Option<String> {
    let NodeKind::Call(call) = &facts.program.function(function).node(node).kind else { return None };
    let callees = facts.calls.from_node(function, node).iter();
    waits(call).or_else(|| callees.filter_map(|callee| facts.summaries[callee.index()].blocks.clone()).next())
}

fn group(facts: &Facts<'_>, admission: &mut Admission) -> (BTreeMap<Place, Group>, Vec<(PairKey, PairEvidence)>) {
    let mut groups: BTreeMap<Place, Group> = BTreeMap::new();
    let mut sundered = Vec::new();
    let no_set = |site| match facts.variables.of_site(site) {
        all if all.iter().any(|&v| facts.variables.get(v).is_set()) => {
            Cow::Owned(all.iter().copied().filter(|&v| !facts.variables.get(v).is_set()).collect())
        }
        all => all,
    };
    let of_addresses = facts.evidence.pairs.iter().map(|(key, seen)| (key, seen, no_set(key.first), no_set(key.second)));
    let of_sets = facts.joint.iter().flat_map(|observed| {
        let set: Cow<'_, [VariableId]> = Cow::Borrowed(core::slice::from_ref(&observed.correlated.variable));
        observed.pairs.iter().map(move |&(key, seen)| (key, seen, set.clone(), set.clone()))
    });
    for (key, (evidence, runs), first, second) in of_addresses.chain(of_sets) {
        let (Some(&(function, head)), Some(&(other, tail))) = (facts.sites.get(&key.head), facts.sites.get(&key.tail)) else {
            admission.unknown += 1;
            continue;
        };
        if function != other {
            sundered.push((*key, evidence.clone()));
            continue;
        }
        let both = first.iter().filter(|variable| second.contains(variable));
        if both.clone().next().is_none() {
            admission.unrelated += 1;
        }
        for &variable in both {
            groups
                .entry((variable, function, head, tail))
                .and_modify(|group| {
                    group.evidence.absorb(evidence);
                    group.runs = group.runs.max(*runs);
                    group.accesses.extend([key.first, key.second]);
                })
                .or_insert_with(|| Group { evidence: evidence.clone(), runs: *runs, accesses: BTreeSet::from([key.first, key.second]) });
        }
    }
    (groups, sundered)
}

/// Per variable, the locks held at every execution of every site of it on shared memory.
fn common_locks(facts: &Facts<'_>) -> BTreeMap<VariableId, BTreeSet<LockName>> {
    let mut common: BTreeMap<VariableId, BTreeSet<LockName>> = BTreeMap::new();
    // An object that is out of reach needs no lock to be given back.
    let out_of_reach = |site: SiteKey, seen: &SiteEvidence| !seen.concurrent && facts.variables.gives_back(site);
    for (&site, evidence) in facts.evidence.sites.iter().filter(|(site, seen)| !out_of_reach(**site, seen)) {
        let Some(locks) = &evidence.locks else { continue };
        let locks = trusted(facts, locks);
        for &variable in facts.variables.of_site(site).iter() {
            common.entry(variable).and_modify(|known| known.retain(|lock| locks.contains(lock))).or_insert_with(|| locks.clone());
        }
    }
    common
}

fn trusted(facts: &Facts<'_>, locks: &BTreeSet<LockName>) -> BTreeSet<LockName> {
    let numbered = |lock: &LockName| matches!(lock, LockName::Other(_));
    locks.iter().filter(|lock| facts.evidence.runs <= 1 || !numbered(lock)).cloned().collect()
}

fn shared_variables(facts: &Facts<'_>) -> Set<VariableId> {
    let sites = facts.evidence.sites.iter().filter(|(_, evidence)| evidence.shared > 0).map(|(&site, _)| site);
    let pairs = facts.evidence.pairs.iter().filter(|(_, (evidence, _))| evidence.shared > 0).map(|(key, _)| key.first);
    let mut shared = Set::default();
    for site in sites.chain(pairs) {
        shared.extend(facts.variables.of_site(site).iter().copied());
    }
    shared
}

/// A pair that gets no lock, for the report.
#[must_use]
pub fn refusal(facts: &Facts<'_>, variable: Option<VariableId>, (from, to): (String, String), seen: u64, why: &str) -> Refused {
    let variable = variable.map_or_else(|| "?".to_owned(), |variable| facts.variables.get(variable).to_string());
    Refused { why: why.to_owned(), variable, from, to, seen }
}

/// `file:line (function)`.
#[must_use]
pub fn node_text(facts: &Facts<'_>, function: FunctionId, node: NodeId) -> String {
    facts.program.function(function).place_of(node)
}

fn site_text(facts: &Facts<'_>, site: SiteKey) -> String {
    facts.sites.get(&site).map_or_else(|| site.to_string(), |&(function, node)| node_text(facts, function, node))
}
