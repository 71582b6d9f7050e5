//! Planned steps by themselves, to be handed from one part of a search to another.
//!
//! A forest is a list in preorder, each step with its depth: sequences are as long as executions, so nothing here recurs. One step of an
//! execution may be planned in thousands of sequences, so what is known of it is kept once, and is read and written once for a text.
//!
//! As text, one step a line: depth, thread, what it is about to do, to which memory, options taken in it, injected locks that it gives up on
//! its way. `-` stands for nothing; a step without an event is planned alone, whatever it is.
//!
//! ```text
//! plan 0 t2 write 7ffff7d0+4 - -
//! plan 1 t1 signal 7ffff7e0+1 1 -
//! plan 0 t3 - - - -
//! ```
//!
//! Not kept: objects and sites of events, which no search looks at.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use model::event::{Comparison, Event, EventKind, Range};
use model::ids::ThreadId;
use model::pair::{Mode, Rw};

use crate::target::found::{range_text, read_range};

/// What is known of a step that is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::strategy) struct PlannedStep {
    pub(super) thread: ThreadId,
    /// What it was about to do where it was seen; `None` when it is planned alone, whatever that is.
    pub(super) event: Option<Event>,
    /// The options taken in it there.
    pub(super) picks: Box<[u32]>,
    /// The injected locks that it gave up on its way there.
    pub(super) released: Box<[u64]>,
}

impl PlannedStep {
    /// A thread's step, whatever it is.
    pub(super) fn alone(thread: ThreadId) -> Self {
        Self { thread, event: None, picks: Box::default(), released: Box::default() }
    }
}

/// A planned step in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::strategy) struct Planned {
    /// How many steps are planned before it.
    pub(super) depth: u32,
    pub(super) step: Rc<PlannedStep>,
}

impl Planned {
    /// The same step in another place.
    pub(super) fn at(&self, depth: u32) -> Self {
        Self { depth, step: Rc::clone(&self.step) }
    }
}

/// What was written of each step.
#[derive(Debug, Default)]
pub(in crate::strategy) struct Written(BTreeMap<*const PlannedStep, String>);

/// What was read of each text.
#[derive(Debug, Default)]
pub(in crate::strategy) struct Read<'a>(BTreeMap<&'a str, Rc<PlannedStep>>);

/// Planned steps, in preorder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forest(pub(in crate::strategy) Vec<Planned>);

impl Forest {
    pub(in crate::strategy) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The trees, each with its first step first.
    pub(super) fn trees(&self) -> impl Iterator<Item = &[Planned]> {
        self.0.chunk_by(|_, next| next.depth > 0)
    }

    /// All sequences of some trees, each from a first step to a last one.
    pub(super) fn sequences(trees: &[Planned]) -> Vec<Vec<&Planned>> {
        let (mut path, mut sequences) = (Vec::new(), Vec::new());
        for (at, step) in trees.iter().enumerate() {
            path.truncate(step.depth as usize);
            path.push(step);
            if trees.get(at + 1).is_none_or(|next| next.depth <= step.depth) {
                sequences.push(path.clone());
            }
        }
        sequences
    }

    /// What is planned after the first step of a tree.
    pub(super) fn after(tree: &[Planned]) -> Self {
        Self(tree.iter().skip(1).map(|planned| planned.at(planned.depth.saturating_sub(1))).collect())
    }

    /// Appends the text form, each line with a word before it.
    pub(in crate::strategy) fn write(&self, text: &mut String, word: &str, written: &mut Written) {
        for Planned { depth, step } in &self.0 {
            let step = written.0.entry(Rc::as_ptr(step)).or_insert_with(|| step.text());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{word} {depth} {step}");
        }
    }

    /// Reads a line, which has lost its first word; `None` when it is not one.
    pub(in crate::strategy) fn read_line<'a>(&mut self, line: &'a str, read: &mut Read<'a>) -> Option<()> {
        let (depth, text) = line.split_once(' ')?;
        let depth: u32 = depth.parse().ok()?;
        // The first step has none before it, any other at most one more than the one before it.
        let most = self.0.last().map_or(0, |last| last.depth + 1);
        let step = match read.0.get(text) {
            Some(step) => Rc::clone(step),
            None => Rc::clone(read.0.entry(text).or_insert(Rc::new(PlannedStep::read(text)?))),
        };
        self.0.push(Planned { depth: Some(depth).filter(|&depth| depth <= most)?, step });
        Some(())
    }
}

impl PlannedStep {
    fn text(&self) -> String {
        let Self { thread, event, picks, released } = self;
        let kind = event.map_or_else(|| "-".to_string(), |event| kind_text(event.kind));
        let range = event.and_then(|event| event.range).map_or_else(|| "-".to_string(), range_text);
        format!("{thread} {kind} {range} {} {}", numbers(picks), numbers(released))
    }

    fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [thread, kind, range, picks, released] = words[..] else { return None };
        let range = if range == "-" { None } else { Some(read_range(range)?) };
        let event = match kind {
            "-" => None,
            kind => Some(Event { kind: read_kind(kind)?, range, object: None, site: None }),
        };
        Some(Self { thread: read_thread(thread)?, event, picks: read_numbers(picks)?, released: read_numbers(released)? })
    }
}

fn numbers<T: ToString>(numbers: &[T]) -> String {
    if numbers.is_empty() { "-".into() } else { numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",") }
}

fn read_numbers<T: core::str::FromStr>(text: &str) -> Option<Box<[T]>> {
    text.split(',').filter(|word| *word != "-").map(|word| word.parse().ok()).collect()
}

fn read_thread(text: &str) -> Option<ThreadId> {
    text.strip_prefix('t')?.parse().ok().map(ThreadId).filter(|thread| thread.index() < crate::threads::MAX_THREADS)
}

fn kind_text(kind: EventKind) -> String {
    match kind {
        EventKind::Create { child } | EventKind::Join { child } => format!("{}:{}", kind.word(), child.0),
        EventKind::CompareAndSwap { expected, finds } => {
            format!("compare-and-swap:{expected:x}:{}", if finds == Comparison::Equal { "equal" } else { "unequal" })
        }
        kind => match kind.beside() {
            Some(range) => format!("{}:{}", kind.word(), range_text(range)),
            None => kind.word().to_string(),
        },
    }
}

fn read_kind(text: &str) -> Option<EventKind> {
    let child = |text: &str| text.parse().ok().map(ThreadId);
    let range = |text: &str| read_range(text).filter(|range: &Range| range.length > 0);
    let words: Vec<&str> = text.split(':').collect();
    match words[..] {
        ["create", text] => Some(EventKind::Create { child: child(text)? }),
        ["join", text] => Some(EventKind::Join { child: child(text)? }),
        ["compare-and-swap", expected, finds] => {
            let finds = [("equal", Comparison::Equal), ("unequal", Comparison::Unequal)].into_iter().find(|(word, _)| *word == finds)?.1;
            Some(EventKind::CompareAndSwap { expected: u64::from_str_radix(expected, 16).ok()?, finds })
        }
        ["wait", text] => Some(EventKind::WaitRelease { mutex: range(text)? }),
        ["interrupted", text] => Some(EventKind::Interrupted { by: range(text)? }),
        ["lock-timeout", text] => Some(EventKind::LockTimeout { by: Some(range(text)?) }),
        ["wait-timeout", text] => Some(EventKind::WaitTimeout { by: Some(range(text)?) }),
        ["wait-spurious", text] => Some(EventKind::WaitSpurious { by: Some(range(text)?) }),
        [word] => PLAIN.iter().copied().find(|kind| kind.word() == word),
        _ => None,
    }
}

/// All kinds that say nothing more than their words.
const PLAIN: &[EventKind] = &[
    EventKind::Start,
    EventKind::Exit,
    EventKind::ExitProcess,
    EventKind::Fail,
    EventKind::Access { rw: Rw::Read, atomic: false },
    EventKind::Access { rw: Rw::Write, atomic: false },
    EventKind::Access { rw: Rw::Update, atomic: false },
    EventKind::Access { rw: Rw::Read, atomic: true },
    EventKind::Access { rw: Rw::Write, atomic: true },
    EventKind::Access { rw: Rw::Update, atomic: true },
    EventKind::Lock,
    EventKind::TryLock,
    EventKind::TimedLock,
    EventKind::LockTimeout { by: None },
    EventKind::ReadLock,
    EventKind::TryReadLock,
    EventKind::Unlock,
    EventKind::Waiting,
    EventKind::WaitReacquire,
    EventKind::WaitTimeout { by: None },
    EventKind::WaitSpurious { by: None },
    EventKind::Signal,
    EventKind::Broadcast,
    EventKind::Acquire { mode: Mode::R },
    EventKind::Acquire { mode: Mode::U },
    EventKind::Acquire { mode: Mode::X },
    EventKind::Release,
    EventKind::Degrade,
    EventKind::Revoke,
    EventKind::SemWait,
    EventKind::SemTryWait,
    EventKind::SemPost,
    EventKind::BarrierArrive,
    EventKind::BarrierLeave,
    EventKind::OnceEnter,
    EventKind::OnceLeave,
    EventKind::FutexWait,
    EventKind::FutexReturn,
    EventKind::FutexWake,
    EventKind::Yield,
    EventKind::Sleep,
    EventKind::External,
];

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use model::event::KindCode;

    const RANGE: Range = Range { address: 0x7fff_0010, length: 4 };

    fn told() -> [EventKind; 9] {
        [
            EventKind::Create { child: ThreadId(3) },
            EventKind::Join { child: ThreadId(9) },
            EventKind::CompareAndSwap { expected: 0xff, finds: Comparison::Equal },
            EventKind::CompareAndSwap { expected: 0, finds: Comparison::Unequal },
            EventKind::WaitRelease { mutex: RANGE },
            EventKind::Interrupted { by: RANGE },
            EventKind::LockTimeout { by: Some(RANGE) },
            EventKind::WaitTimeout { by: Some(RANGE) },
            EventKind::WaitSpurious { by: Some(RANGE) },
        ]
    }

    #[test]
    fn every_kind_of_event_reads_back() {
        let kinds = || PLAIN.iter().copied().chain(told());
        for kind in kinds() {
            assert_eq!(read_kind(&kind_text(kind)), Some(kind));
        }
        let codes: BTreeSet<KindCode> = kinds().map(EventKind::code).collect();
        assert_eq!(codes, KindCode::all().collect(), "no kind is missing");
        for bad in ["fly", "create", "create:x", "compare-and-swap:1:maybe", "wait:7+0", "write:1"] {
            assert_eq!(read_kind(bad), None, "{bad}");
        }
    }

    fn read(text: &str) -> Option<Forest> {
        let mut forest = Forest::default();
        let mut read = Read::default();
        text.lines().try_for_each(|line| forest.read_line(line.strip_prefix("plan ")?, &mut read)).map(|()| forest)
    }

    #[test]
    fn a_forest_reads_back_and_has_its_sequences() {
        let text =
            "plan 0 t1 write 10+4 - -\nplan 1 t2 read 10+4 - 4096\nplan 1 t3 signal 20+1 1,0 -\nplan 2 t1 exit - - -\nplan 0 t4 - - - -\n";
        let forest = read(text).expect("a forest");
        let mut written = String::new();
        forest.write(&mut written, "plan", &mut Written::default());
        assert_eq!(written, text);
        let threads = |steps: Vec<&Planned>| steps.iter().map(|planned| planned.step.thread.0).collect::<Vec<_>>();
        assert_eq!(
            Forest::sequences(&forest.0).into_iter().map(threads).collect::<Vec<_>>(),
            [[1, 2].to_vec(), [1, 3, 1].to_vec(), [4].to_vec()]
        );
        let trees: Vec<_> = forest.trees().map(<[Planned]>::len).collect();
        assert_eq!(trees, [4, 1]);
        let after = Forest::after(forest.trees().next().expect("a tree"));
        assert_eq!(Forest::sequences(&after.0).into_iter().map(threads).collect::<Vec<_>>(), [[2].to_vec(), [3, 1].to_vec()]);
        for bad in ["plan 1 t1 - - - -", "plan 0 t1 - - -", "plan 0 x - - - -", "plan 0 t1 - - x -", "plan 0 t1 - - - -\nplan 2 t1 - - - -"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
