//! Atomicity violations by name: pairs of accesses that correct runs never interleaved so, with the remote access that came
//! between them in a failing schedule.
//!
//! A pair of atomicity `Exclusive` is violated by any conflicting access of another thread between its ends, one of
//! atomicity `Read` by a write (the lattice in `model::pair`). Of several violations of one
//! pair the last is named: the one nearest to the failure.
//!
//! Not here: whether the violation is the cause; with several, all are named, the last first.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use model::event::{KindCode, Range};
use model::ids::SiteKey;
use model::pair::{Atomicity, Rw};

use crate::target::found::TakenStep;

/// The most violations that are named.
const MOST: usize = 3;

/// Pairs by the sites of their two accesses, with what is kept of each.
pub type Pairs = BTreeMap<(SiteKey, SiteKey), Atomicity>;

/// A pair whose ends were interleaved: three steps of a schedule, by number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The pair's first access.
    pub first: usize,
    /// What came between, by another thread.
    pub remote: usize,
    /// The pair's second access.
    pub second: usize,
}

/// The violations in a schedule of pairs of sites with these atomicities, the last first.
#[must_use]
pub fn violations(steps: &[TakenStep], pairs: &Pairs) -> Vec<Violation> {
    let mut found: Vec<Violation> = Vec::new();
    for (second, step) in steps.iter().enumerate().rev() {
        let Some((site, range)) = access(step) else { continue };
        let own = |at: &usize| steps[*at].thread == step.thread && touches(&steps[*at], range);
        let Some(first) = (0..second).rev().find(own) else { continue };
        let Some(&atomicity) = steps[first].site.and_then(|head| pairs.get(&(head, site))) else { continue };
        let breaks = |at: &usize| {
            let remote = &steps[*at];
            let matters = match atomicity {
                Atomicity::None => false,
                Atomicity::Read => writes(remote.kind),
                Atomicity::Exclusive => writes(remote.kind) || writes(step.kind) || writes(steps[first].kind),
            };
            remote.thread != step.thread && touches(remote, range) && matters
        };
        let Some(remote) = (first + 1..second).rev().find(breaks) else { continue };
        let same = |other: &Violation| steps[other.first].site == steps[first].site && steps[other.second].site == step.site;
        if !found.iter().any(same) {
            found.push(Violation { first, remote, second });
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

fn access(step: &TakenStep) -> Option<(SiteKey, Range)> {
    step.site.zip(step.range.filter(|_| step.kind.access().is_some()))
}

fn touches(step: &TakenStep, range: Range) -> bool {
    access(step).is_some_and(|(_, other)| other.overlaps(range))
}

fn writes(kind: KindCode) -> bool {
    kind.access().is_some_and(Rw::writes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use model::ids::ThreadId;

    /// `1rx` thread 1 reads x, at a site of its own for each word.
    fn check(steps: &str, pair: (&str, &str, Atomicity), expected: Option<(usize, usize, usize)>) {
        let words: Vec<&str> = steps.split_whitespace().collect();
        let site = |word: &str| SiteKey(word.bytes().fold(0, |hash, byte| hash * 256 + u64::from(byte)));
        let step = |word: &&str| TakenStep {
            thread: ThreadId(u32::from(word.as_bytes()[0] - b'0')),
            kind: if word.as_bytes()[1] == b'r' { "read" } else { "write" }.parse().expect("a kind"),
            site: Some(site(word)),
            ordinal: None,
            range: Some(Range { address: u64::from(word.as_bytes()[2]) * 8, length: 4 }),
            picks: Vec::new(),
        };
        let taken: Vec<TakenStep> = words.iter().map(step).collect();
        let pairs = BTreeMap::from([((site(pair.0), site(pair.1)), pair.2)]);
        let found = violations(&taken, &pairs).first().map(|found| (found.first, found.remote, found.second));
        assert_eq!(found, expected, "{}", String::from(steps));
    }

    #[test]
    fn a_pair_is_violated_by_what_correct_runs_kept_out() {
        use Atomicity::{Exclusive, None as Nothing, Read};
        check("1rx 2wx 1wx", ("1rx", "1wx", Exclusive), Some((0, 1, 2)));
        check("1rx 2rx 1wx", ("1rx", "1wx", Exclusive), Some((0, 1, 2)));
        check("1rx 2rx 1wx", ("1rx", "1wx", Read), None);
        check("1rx 2wx 1wx", ("1rx", "1wx", Nothing), None);
        check("1rx 2wy 1wx", ("1rx", "1wx", Exclusive), None);
        check("1rx 1wx 2wx", ("1rx", "1wx", Exclusive), None);
        // Its own access between them makes other pairs of it.
        check("1rx 2wx 1ax 1wx", ("1rx", "1wx", Exclusive), None);
    }
}
