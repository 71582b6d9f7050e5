//! Which variables another thread could have interfered with at all: the *opportunity* behind a pair.
//!
//! A pair that was never interleaved teaches something only where it could have been. Two kinds of shared memory offer no
//! opportunity: memory that is handed over (created here, used there, freed here again), whose accesses by several threads the
//! program's synchronization puts in order; and memory that is written only before it is handed to its readers. A write
//! that never ran may come at any time, so it always counts (seed 002, Fig. 1), unless it comes before all threads (`early`). Accesses under locks count as able to meet,
//! so atomicity across two locked sections stays visible. The end of an object counts only as far as it was seen to meet somebody (`blocks`).
//!
//! Not handled: order by atomics; what may be written by code that was not captured.

use model::ids::{FunctionId, SiteKey, VariableId};
use model::profile::Evidence;
use model::program::Program;

use crate::access::Accesses;
use crate::early::Early;
use crate::sets::Set;
use crate::summary::Touch;
use crate::variable::Variables;

/// The two kinds of opportunity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposure {
    /// Variables of which accesses by several threads could have come in another order.
    pub contended: Set<VariableId>,
    /// Variables with a write that could come between the accesses of others, or that never ran.
    pub written: Set<VariableId>,
}

impl Exposure {
    /// Collects both from what was seen of each site.
    #[must_use]
    pub fn of(program: &Program, evidence: &Evidence, accesses: &Accesses, variables: &Variables, early: &Early) -> Self {
        let seen = |site: SiteKey| evidence.sites.get(&site).map(|site| site.concurrent);
        let (mut contended, mut written) = (Set::default(), Set::default());
        for (&site, _) in evidence.sites.iter().filter(|(site, seen)| seen.concurrent && !variables.gives_back(**site)) {
            contended.extend(variables.of_site(site).iter().copied());
        }
        // What an end met is its variable; the others of the object may have been out of reach by then.
        for (end, other) in evidence.met.keys().flat_map(|&(a, b)| [(a, b), (b, a)]).filter(|&(end, _)| variables.gives_back(end)) {
            let ended = variables.of_site(end);
            written.extend(variables.of_site(other).iter().copied().filter(|variable| ended.contains(variable)));
        }
        for function in (0..program.functions.len()).map(FunctionId::new) {
            for (node, access) in
                accesses.of_function(function).filter(|(node, access)| Touch::Writes.is(access) && !early.has(function, *node))
            {
                let met = program.function(function).node(node).site.and_then(seen);
                if met.unwrap_or(true) {
                    written.insert(access.variable);
                }
            }
        }
        Self { contended, written }
    }
}
