//! What the program prints: kept for the execution that printed it, in a file that every execution begins empty.
//!
//! Under the restore driver, where nobody else writes to the file and descriptors stay as they are, small writes are kept in the engine's
//! memory instead (`take`), which costs no system call; the file gets them when somebody asks about the file (`spill`).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use model::ids::fnv1a;

use super::control;
use super::fiber::Engine;
use crate::sys::{call, guarded, poll, stream};

/// Our own descriptor of the file that standard output and error go to. -1: none, as the C library says it.
static FILE: AtomicI32 = AtomicI32::new(-1);

/// Lines of it that a failure shows.
const SHOWN: usize = 10;
const SHOWN_BYTES: usize = 2048;

/// The largest write that is kept in memory, and the most that is kept there of one execution.
const SMALL: usize = 4096;
const MOST: usize = 1 << 20;

/// What is printed, in memory.
#[derive(Default)]
pub(crate) struct Printed {
    bytes: RefCell<Vec<u8>>,
    /// Which of the descriptors 1 and 2 are those of the file: they stay so.
    kept: Cell<[bool; 2]>,
    /// Whether there may be anything in the file.
    spilled: Cell<bool>,
}

impl Printed {
    /// Under a driver with which descriptors stay as they are: from now on writes can be kept in memory.
    pub(crate) fn begin(&self) {
        self.kept.set([1, 2].map(is_kept));
        self.spilled.set(true);
    }

    /// They cannot any more.
    pub(crate) fn end(&self) {
        self.kept.set([false; 2]);
    }

    fn is_kept(&self, descriptor: usize) -> bool {
        descriptor.checked_sub(1).and_then(|at| self.kept.get().get(at).copied()).unwrap_or(false)
    }

    /// Keeps what the program writes to a descriptor; `false` when the kernel has to see to it.
    pub(crate) fn take(&self, descriptor: usize, address: usize, length: usize) -> bool {
        let mut bytes = self.bytes.borrow_mut();
        if !self.is_kept(descriptor) || length > SMALL || bytes.len() + length > MOST {
            return false;
        }
        let before = bytes.len();
        bytes.extend((address..address.saturating_add(length)).map_while(guarded::byte));
        let complete = bytes.len() - before == length;
        if !complete {
            bytes.truncate(before);
        }
        complete
    }

    /// Before the kernel is asked about a descriptor: puts into the file what belongs there.
    pub(crate) fn spill(&self, descriptor: usize) {
        let mut bytes = self.bytes.borrow_mut();
        if self.is_kept(descriptor) && !bytes.is_empty() {
            call::write(FILE.load(Relaxed), &bytes);
            bytes.clear();
            self.spilled.set(true);
        }
    }

    /// Before the kernel is asked to write to a descriptor.
    pub(crate) fn pass(&self, descriptor: usize) {
        self.spill(descriptor);
        self.spilled.set(true);
    }

    /// All that was printed from an offset on, counted from the end.
    fn end_of(&self, most: usize) -> Vec<u8> {
        let file = FILE.load(Relaxed);
        let bytes = self.bytes.borrow();
        let within = most.min(bytes.len());
        let length = call::length(file).unwrap_or(0);
        let mut all = alloc::vec![0; length.min(most - within)];
        let offset = length - all.len();
        let read = if all.is_empty() { 0 } else { call::read_at(file, &mut all, offset).unwrap_or(0) };
        all.truncate(read);
        all.extend_from_slice(&bytes[bytes.len() - within..]);
        all
    }

    /// Forgets all of it.
    pub(crate) fn clear(&self) {
        self.bytes.borrow_mut().clear();
        let file = FILE.load(Relaxed);
        let untouched = self.kept.get() == [true; 2] && !self.spilled.replace(false);
        if !untouched && call::length(file).is_ok_and(|length| length > 0) {
            call::truncate(file);
        }
    }
}

/// Keeps the file, whatever the program does to its descriptors. What the program prints goes there, so it need not ask.
pub(crate) fn keep() {
    stream::prepare();
    if let Ok(descriptor) = call::duplicate(1) {
        FILE.store(descriptor, Relaxed);
    }
}

/// Whether what is written to a descriptor goes there.
pub(crate) fn is_kept(descriptor: i32) -> bool {
    matches!(descriptor, 1 | 2) && poll::identity(descriptor) == poll::identity(FILE.load(Relaxed))
}

/// How executions ended that did not fail: what they printed, with how many printed it.
#[derive(Default)]
pub(crate) struct Endings {
    seen: BTreeMap<u64, (u64, String)>,
    /// Executions that are not among them.
    more: u64,
}

/// The most that are told apart.
const ENDINGS: usize = 10_000;

impl Endings {
    /// Counts the execution that has just ended.
    pub(crate) fn add(&mut self, printed: &Printed) {
        let bytes = printed.end_of(usize::MAX);
        let identity = fnv1a(&bytes);
        if self.seen.len() >= ENDINGS && !self.seen.contains_key(&identity) {
            self.more += 1;
            return;
        }
        let shown = || String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        self.seen.entry(identity).or_insert_with(|| (0, shown())).0 += 1;
    }

    /// Reports them.
    pub(crate) fn report(&self) {
        let mut text = String::new();
        for (identity, (count, shown)) in &self.seen {
            text.push_str(&alloc::format!("outcome {identity:x} {count} {}\n", explorer::target::found::escape(shown)));
        }
        control::report(&text);
        if self.more > 0 {
            super::explore::remark(&alloc::format!("{} executions ended in more ways than are told apart", self.more));
        }
    }
}

/// The last lines.
pub(crate) fn tail(engine: &Engine) -> Vec<String> {
    let text = String::from_utf8_lossy(&engine.printed.end_of(SHOWN_BYTES)).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].iter().map(|line| alloc::format!("output: {line}")).collect()
}
