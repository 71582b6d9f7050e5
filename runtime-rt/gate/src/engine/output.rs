//! What the program prints: kept for the execution that printed it, in a file that every execution begins empty.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use model::ids::fnv1a;

use super::control;
use crate::sys::{call, poll};

/// Our own descriptor of the file that standard output and error go to. -1: none, as the C library says it.
static FILE: AtomicI32 = AtomicI32::new(-1);

/// Lines of it that a failure shows.
const SHOWN: usize = 10;
const SHOWN_BYTES: usize = 2048;

/// Keeps the file, whatever the program does to its descriptors.
pub(crate) fn keep() {
    if let Ok(descriptor) = call::duplicate(1) {
        FILE.store(descriptor, Relaxed);
    }
}

/// Whether what is written to a descriptor goes there.
pub(crate) fn is_kept(descriptor: i32) -> bool {
    matches!(descriptor, 1 | 2) && poll::identity(descriptor) == poll::identity(FILE.load(Relaxed))
}

/// Empties it, if there is anything in it.
pub(crate) fn clear() {
    let file = FILE.load(Relaxed);
    if call::length(file).is_ok_and(|length| length > 0) {
        call::truncate(file);
    }
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
    pub(crate) fn add(&mut self) {
        let file = FILE.load(Relaxed);
        let mut bytes = alloc::vec![0; call::length(file).unwrap_or(0)];
        let read = if bytes.is_empty() { 0 } else { call::read_at(file, &mut bytes, 0).unwrap_or(0) };
        bytes.truncate(read);
        let identity = fnv1a(&bytes);
        if self.seen.len() >= ENDINGS && !self.seen.contains_key(&identity) {
            self.more += 1;
            return;
        }
        let shown = || String::from_utf8_lossy(&bytes[..read.min(60)]).into_owned();
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
pub(crate) fn tail() -> Vec<String> {
    let file = FILE.load(Relaxed);
    let Ok(length) = call::length(file) else { return Vec::new() };
    let mut bytes = alloc::vec![0; length.min(SHOWN_BYTES)];
    let offset = length - bytes.len();
    let read = call::read_at(file, &mut bytes, offset).unwrap_or(0);
    let text = String::from_utf8_lossy(&bytes[..read.min(bytes.len())]).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN)..].iter().map(|line| alloc::format!("output: {line}")).collect()
}
