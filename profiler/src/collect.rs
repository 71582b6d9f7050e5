//! Recordings into runs of a profile: indices become keys, locks get names that runs have in common.
//!
//! Each process that recorded left one file, `IDENTITY.recording`. A process that saw nothing teaches nothing and is left out;
//! so is one that ended before its recording began. One that used memory after it was freed teaches what must not be learnt.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use model::correlation::{CorrelatedSet, Joint};
use model::ids::{RunId, SiteKey};
use model::pair::Meeting;
use model::profile::{LockName, PairEvidence, PairKey, Run, SiteEvidence};
use model::recording::{self, Bytes, RecordedLock, Recording};

use crate::ProfileError;
use crate::symbols::Symbols;

/// A recording on disk, of which only the parts in use are read.
struct OnDisk(File);

impl Bytes for OnDisk {
    fn at(&self, offset: usize, length: usize) -> Option<Vec<u8>> {
        let size = usize::try_from(self.0.metadata().ok()?.len()).ok()?;
        if offset.checked_add(length)? > size {
            return None;
        }
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, offset as u64).ok()?;
        Some(bytes)
    }
}

/// What the recordings in a folder tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The runs to learn from.
    pub runs: BTreeMap<RunId, Run>,
    /// Where each of the others first used memory that another thread had freed.
    pub used_after_free: Vec<SiteKey>,
}

/// What the recordings in a folder tell. `sets` are those that they watched, as the watch list numbers them.
pub fn collect(folder: &Path, symbols: &Symbols, sets: &[CorrelatedSet]) -> Result<Collected, ProfileError> {
    let mut collected = Collected::default();
    for entry in fs::read_dir(folder).map_err(ProfileError::read(folder))? {
        let path = entry.map_err(ProfileError::read(folder))?.path();
        if path.extension().is_none_or(|extension| extension != "recording") {
            continue;
        }
        let file = File::open(&path).map_err(ProfileError::read(&path))?;
        if file.metadata().map_err(ProfileError::read(&path))?.len() == 0 {
            return Err(ProfileError::NoRoom { folder: folder.to_owned() });
        }
        let found = recording::decode(&OnDisk(file)).map_err(|bad| ProfileError::Recording { path: path.clone(), bad })?;
        if let Some(recording) = found
            && let Some(id) = recording.run
            && recording.sites.iter().any(|site| site.seen > 0)
        {
            match recording.used_after_free {
                Some(site) => collected.used_after_free.push(recording.sites[site].key),
                None => drop(collected.runs.insert(id, run(&recording, symbols, sets))),
            }
        }
    }
    Ok(collected)
}

/// Removes the recordings in a folder: of a run that failed, or that were collected.
pub fn discard(folder: &Path) -> Result<(), ProfileError> {
    for entry in fs::read_dir(folder).map_err(ProfileError::read(folder))? {
        let path = entry.map_err(ProfileError::read(folder))?.path();
        fs::remove_file(&path).map_err(ProfileError::write(&path))?;
    }
    Ok(())
}

/// One recording as a run.
#[must_use]
pub fn run(recording: &Recording, symbols: &Symbols, sets: &[CorrelatedSet]) -> Run {
    let site = |index: usize| recording.sites[index].key;
    let names: Vec<LockName> = recording.locks.iter().enumerate().map(|(n, lock)| name(n, *lock, symbols)).collect();
    let set = |index: usize| -> BTreeSet<LockName> { recording.sets[index].iter().map(|&lock| names[lock].clone()).collect() };

    let mut together: BTreeSet<_> = recording.edges.iter().map(|&(a, b)| ordered(site(a), site(b))).collect();
    let mut pairs = BTreeMap::new();
    let mut of_sets: BTreeMap<CorrelatedSet, BTreeMap<PairKey, PairEvidence>> =
        sets.iter().map(|set| (set.clone(), BTreeMap::new())).collect();
    for pair in &recording.pairs {
        let [head, tail, first, second] = pair.sites.map(site);
        let evidence = PairEvidence {
            atomicity: pair.atomicity,
            seen: pair.seen,
            shared: pair.shared,
            near: pair.near,
            threads: pair.threads,
            locks: set(pair.locks),
        };
        let key = PairKey { head, tail, first, second };
        if let Some(number) = pair.of {
            if let Some(of_set) = sets.get(number).and_then(|set| of_sets.get_mut(set)) {
                of_set.insert(key, evidence);
            }
            continue;
        }
        pairs.insert(key, evidence);
        // The recorder does not repeat as edges what pairs say.
        together.insert(ordered(first, second));
    }
    together.retain(|(a, b)| a != b);
    let mut met = BTreeMap::new();
    for &(a, b, meeting) in &recording.meetings {
        met.entry(ordered(site(a), site(b))).and_modify(|known: &mut Meeting| *known = (*known).max(meeting)).or_insert(meeting);
    }
    let accessing = recording.sites.iter().filter_map(|site| Some((site, site.rw.filter(|_| site.seen > 0)?)));
    let sites = accessing.map(|(site, rw)| {
        let locks = site.locks.filter(|_| site.shared > 0).map(set);
        (site.key, SiteEvidence { rw, seen: site.seen, shared: site.shared, locks, concurrent: site.concurrent })
    });
    Run {
        seed: recording.seed,
        sites: sites.collect(),
        pairs,
        together,
        met,
        joint: joints(recording),
        sets: of_sets,
        dropped: recording.drops.iter().map(|&(cause, count)| (cause.text().to_owned(), count)).collect(),
    }
}

/// Sites that ran near each other, as far as one of the two touched what several threads use, then or later, and how often each was looked at.
fn joints(recording: &Recording) -> BTreeMap<(SiteKey, SiteKey), Joint> {
    let all = on_shared_memory(recording);
    let shared = |index: usize| all.contains(&index);
    let kept = || recording.joints.iter().filter(|&&(a, b, _)| a != b && (shared(a) || shared(b)));
    let mentioned: BTreeSet<usize> = kept().flat_map(|&(a, b, _)| [a, b]).collect();
    let looks = recording.joints.iter().filter(|&&(a, b, _)| a == b && mentioned.contains(&a));
    kept().chain(looks).map(|&(a, b, joint)| ((recording.sites[a].key, recording.sites[b].key), joint)).collect()
}

/// Sites of memory that several threads used, at whatever time: those seen there, and those seen on one address with such a site.
fn on_shared_memory(recording: &Recording) -> BTreeSet<usize> {
    let mut beside: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let pairs = recording.pairs.iter().filter(|pair| pair.of.is_none()).map(|pair| (pair.sites[2], pair.sites[3]));
    for (a, b) in recording.edges.iter().copied().chain(pairs) {
        beside.entry(a).or_default().push(b);
        beside.entry(b).or_default().push(a);
    }
    let mut work: Vec<usize> = (0..recording.sites.len()).filter(|&site| recording.sites[site].shared > 0).collect();
    let mut found: BTreeSet<usize> = work.iter().copied().collect();
    while let Some(site) = work.pop() {
        let others = beside.get(&site).into_iter().flatten();
        work.extend(others.copied().filter(|&other| found.insert(other)));
    }
    found
}

fn ordered<T: Ord>(a: T, b: T) -> (T, T) {
    if b < a { (b, a) } else { (a, b) }
}

fn name(number: usize, lock: RecordedLock, symbols: &Symbols) -> LockName {
    let other = |number: usize| LockName::Other(u32::try_from(number).unwrap_or(u32::MAX));
    match lock {
        RecordedLock::Executable(address) => {
            symbols.at(address).map_or_else(|| other(number), |(symbol, offset)| LockName::Global { symbol: symbol.to_owned(), offset })
        }
        RecordedLock::Made(call) => LockName::Made { call },
        RecordedLock::Heap(allocation, offset) => LockName::Heap { allocation, offset },
        RecordedLock::Other(number) => other(number as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::pair::{Atomicity, Rw};
    use model::program::Place;
    use model::recording::{Drop, RecordedPair, RecordedSite, Section};

    #[test]
    fn a_recording_becomes_a_run() {
        let site =
            |key, rw, locks| RecordedSite { key: SiteKey(key), rw, seen: u64::from(rw.is_some()), shared: 1, locks, concurrent: false };
        let recording = Recording {
            run: Some(RunId(1)),
            seed: 5,
            sites: vec![site(30, Some(Rw::Read), Some(1)), site(20, Some(Rw::Write), None), site(10, None, None)],
            pairs: vec![
                RecordedPair {
                    sites: [2, 1, 0, 1],
                    atomicity: Atomicity::Read,
                    seen: 3,
                    shared: 2,
                    threads: 2,
                    locks: 1,
                    of: None,
                    near: 1,
                },
                RecordedPair {
                    sites: [0, 1, 0, 1],
                    atomicity: Atomicity::Exclusive,
                    seen: 1,
                    shared: 1,
                    threads: 1,
                    locks: 0,
                    near: 0,
                    of: Some(0),
                },
            ],
            joints: vec![(0, 1, Joint { seen: 2, apart: -8, aligned: 2 })],
            edges: vec![(0, 0)],
            locks: vec![RecordedLock::Heap(SiteKey(9), 8), RecordedLock::Executable(1)],
            sets: vec![BTreeSet::new(), BTreeSet::from([0, 1])],
            drops: vec![(Drop::WordFull, 2)],
            ..Recording::default()
        };
        let set = CorrelatedSet(BTreeSet::from([Place::Global { name: "x".to_owned(), offset: 0 }]));
        let run = run(&recording, &Symbols::default(), core::slice::from_ref(&set));
        let locks = BTreeSet::from([LockName::Heap { allocation: SiteKey(9), offset: 8 }, LockName::Other(1)]);
        let key = PairKey { head: SiteKey(10), tail: SiteKey(20), first: SiteKey(30), second: SiteKey(20) };
        assert_eq!(
            run.pairs[&key],
            PairEvidence { atomicity: Atomicity::Read, seen: 3, shared: 2, near: 1, threads: 2, locks: locks.clone() }
        );
        let key = PairKey { head: SiteKey(30), tail: SiteKey(20), first: SiteKey(30), second: SiteKey(20) };
        assert_eq!((run.pairs.len(), run.sets[&set][&key].seen), (1, 1), "pairs of sets are kept apart");
        assert_eq!(run.joint[&(SiteKey(30), SiteKey(20))].apart, -8);
        assert_eq!(run.together, BTreeSet::from([(SiteKey(20), SiteKey(30))]));
        assert_eq!(run.sites.keys().copied().collect::<Vec<_>>(), [SiteKey(20), SiteKey(30)]);
        assert_eq!(run.sites[&SiteKey(30)].locks, Some(locks));
        assert_eq!(run.dropped.into_iter().collect::<Vec<_>>(), [(Drop::WordFull.text().to_owned(), 2)]);
    }

    #[test]
    fn a_damaged_recording_is_named_with_its_offset() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("00.recording");
        let mut bytes = vec![0; recording::HEADER];
        bytes[..12].copy_from_slice(b"atomfix\0reco");
        bytes[12..16].copy_from_slice(&recording::VERSION.to_le_bytes());
        bytes[recording::BEGUN] = 1;
        bytes[recording::COUNTS] = 1;
        fs::write(&path, bytes).expect("written");
        let error = collect(folder.path(), &Symbols::default(), &[]).expect_err("it ends too early").to_string();
        let expected = format!("00.recording: damaged recording: it ends before its last entry (offset {})", Section::Sites.offset());
        assert!(error.ends_with(&expected), "{error}");
    }

    #[test]
    fn an_empty_file_says_that_there_was_no_room() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("00.recording"), "").expect("written");
        let error = collect(folder.path(), &Symbols::default(), &[]).expect_err("no room").to_string();
        assert!(error.ends_with(": no room for the recording of a process"), "{error}");
    }

    #[test]
    fn a_process_that_never_began_is_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("00.recording"), vec![0; recording::HEADER]).expect("written");
        assert_eq!(collect(folder.path(), &Symbols::default(), &[]).expect("read"), Collected::default());
        discard(folder.path()).expect("removed");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}
