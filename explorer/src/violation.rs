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
    if pairs.is_empty() {
        return found;
    }
    let near = Near::of(steps);
    for (second, step) in steps.iter().enumerate().rev() {
        let Some((site, range)) = access(step) else { continue };
        let own = |at: usize| steps[at].thread == step.thread && touches(&steps[at], range);
        let Some(first) = near.last(range, 0..second, own) else { continue };
        let Some(&atomicity) = steps[first].site.and_then(|head| pairs.get(&(head, site))) else { continue };
        let breaks = |at: usize| {
            let remote = &steps[at];
            let matters = match atomicity {
                Atomicity::None => false,
                Atomicity::Read => writes(remote.kind),
                Atomicity::Exclusive => writes(remote.kind) || writes(step.kind) || writes(steps[first].kind),
            };
            remote.thread != step.thread && touches(remote, range) && matters
        };
        let Some(remote) = near.last(range, first + 1..second, breaks) else { continue };
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

/// Accesses of a schedule by the blocks of memory that they touch, each block's in the order of steps: schedules may be long.
struct Near(BTreeMap<u64, Vec<usize>>);

impl Near {
    const BLOCK: u64 = 64;

    fn of(steps: &[TakenStep]) -> Self {
        let mut near: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            let Some((_, range)) = access(step) else { continue };
            Self::blocks(range).for_each(|block| near.entry(block).or_default().push(at));
        }
        Self(near)
    }

    fn blocks(range: Range) -> impl Iterator<Item = u64> {
        let last = range.address.saturating_add(u64::from(range.length).saturating_sub(1));
        range.address / Self::BLOCK..=last / Self::BLOCK
    }

    /// The last of these steps that is wanted, among those that touch a block of this range.
    fn last(&self, range: Range, steps: core::ops::Range<usize>, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let last = |block: u64| {
            let here = self.0.get(&block)?;
            let until = here.partition_point(|at| *at < steps.end);
            here[..until].iter().rev().copied().take_while(|at| *at >= steps.start).find(|at| wanted(*at))
        };
        Self::blocks(range).filter_map(last).max()
    }
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

    /// `1rx` thread 1 reads x, at a site of its own for each word. `W` is `w` with what follows it, up to and with `x`.
    fn check(steps: &str, pair: (&str, &str, Atomicity), expected: Option<(usize, usize, usize)>) {
        let words: Vec<&str> = steps.split_whitespace().collect();
        let site = |word: &str| SiteKey(word.bytes().fold(0, |hash, byte| hash * 256 + u64::from(byte)));
        let step = |word: &&str| TakenStep {
            thread: ThreadId(u32::from(word.as_bytes()[0] - b'0')),
            kind: if word.as_bytes()[1] == b'r' { "read" } else { "write" }.parse().expect("a kind"),
            site: Some(site(word)),
            ordinal: None,
            range: Some(match word.as_bytes()[2] {
                b'W' => Range { address: u64::from(b'w') * 8, length: 12 },
                name => Range { address: u64::from(name) * 8, length: 4 },
            }),
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
        // Others' accesses may be larger, and lie across blocks of memory.
        check("1rw 2wW 1ww", ("1rw", "1ww", Exclusive), Some((0, 1, 2)));
        check("1rw 2wW 2ww 1ww", ("1rw", "1ww", Exclusive), Some((0, 2, 3)));
        check("1rW 2wx 1wW", ("1rW", "1wW", Exclusive), Some((0, 1, 2)));
        check("1rW 2wz 1wW", ("1rW", "1wW", Exclusive), None);
    }
}
