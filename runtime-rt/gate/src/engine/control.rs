//! The page shared with the `atomfix` process, on the target's side.

use alloc::string::String;
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use explorer::target::found::Unable;
use explorer::target::page::{BYTES, EARLY, EARLY_BYTES, EARLY_ENTRIES, FOUND, Note, Phase, SETUP, Word};
use explorer::target::setup::Setup;

use crate::sys::call;
use crate::sys::memory::map_file;

static PAGE: AtomicUsize = AtomicUsize::new(0);

/// Finds the page; whether there is one. Without it the process is not being explored.
pub(crate) fn open(descriptor: i32) -> bool {
    match map_file(descriptor, BYTES) {
        Ok(address) => {
            PAGE.store(address, Relaxed);
            true
        }
        Err(_) => false,
    }
}

/// Whether the page lies there.
pub(crate) fn is_page(address: usize) -> bool {
    PAGE.load(Relaxed) == address
}

fn word(word: Word) -> Option<&'static AtomicU64> {
    let page = PAGE.load(Relaxed);
    if page == 0 {
        return None;
    }
    let address: *const AtomicU64 = core::ptr::with_exposed_provenance(page + word.offset());
    // SAFETY: the page is mapped, never unmapped, and words are accessed as atomics only.
    Some(unsafe { &*address })
}

/// Sets a word.
pub(crate) fn set(which: Word, value: u64) {
    if let Some(word) = word(which) {
        word.store(value, Relaxed);
    }
}

/// Reads a word.
pub(crate) fn get(which: Word) -> u64 {
    word(which).map_or(0, |word| word.load(Relaxed))
}

/// Adds to a word.
#[inline]
pub(crate) fn add(which: Word, value: u64) {
    if let Some(word) = word(which) {
        word.store(word.load(Relaxed) + value, Relaxed);
    }
}

/// Raises a word to a value.
pub(crate) fn raise(which: Word, value: u64) {
    set(which, get(which).max(value));
}

/// Counts a hold that ended early. When there is no room left, it goes uncounted.
pub(crate) fn count_early(key: u64) {
    let page = PAGE.load(Relaxed);
    if page == 0 {
        return;
    }
    for entry in 0..EARLY_ENTRIES {
        let entry: *const [AtomicU64; 2] = core::ptr::with_exposed_provenance(page + EARLY + entry * EARLY_BYTES);
        // SAFETY: the page is mapped, never unmapped, and words are accessed as atomics only.
        let [found, count] = unsafe { &*entry };
        if found.load(Relaxed) == 0 {
            found.store(key, Relaxed);
        }
        if found.load(Relaxed) == key {
            count.store(count.load(Relaxed) + 1, Relaxed);
            return;
        }
    }
}

/// Sets a bit of the notes.
pub(crate) fn note(note: Note) {
    set(Word::Notes, get(Word::Notes) | note.bit());
}

/// Whether a bit of the notes is set.
pub(crate) fn has_noted(note: Note) -> bool {
    get(Word::Notes) & note.bit() != 0
}

/// The setup that `atomfix` wrote.
pub(crate) fn setup() -> Option<Setup> {
    let text: *const u8 = core::ptr::with_exposed_provenance(PAGE.load(Relaxed) + SETUP);
    // SAFETY: within the mapped page, and nobody writes to the setup any more.
    let text = unsafe { core::slice::from_raw_parts(text, FOUND - SETUP) };
    let length = text.iter().position(|&byte| byte == 0)?;
    Setup::from_text(core::str::from_utf8(&text[..length]).ok()?)
}

/// Whether it wrote one.
pub(crate) fn is_told() -> bool {
    let text: *const u8 = core::ptr::with_exposed_provenance(PAGE.load(Relaxed) + SETUP);
    // SAFETY: within the mapped page; who is told later waits to be told that as well.
    unsafe { text.read() != 0 }
}

/// Appends to what was found. What does not fit is dropped whole, so that the text stays readable.
pub(crate) fn report(text: &str) {
    let used = usize::try_from(get(Word::FoundBytes)).unwrap_or(BYTES);
    let page = PAGE.load(Relaxed);
    if page == 0 || used + text.len() > BYTES - FOUND {
        return;
    }
    let target: *mut u8 = core::ptr::with_exposed_provenance_mut(page + FOUND + used);
    // SAFETY: the range lies within the page, and the engine alone writes to it.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), target, text.len()) };
    set(Word::FoundBytes, (used + text.len()) as u64);
}

/// The engine is wrong: says so and ends the process.
pub(crate) fn broken(message: &str) -> ! {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "broken {}", explorer::target::found::escape(message));
    give_up(&text)
}

/// The program, or the machine, is such that exploring cannot go on: says so and ends the process.
pub(crate) fn unable(why: &str, help: &str) -> ! {
    let mut text = String::new();
    Unable { why: why.into(), help: help.into() }.write(&mut text);
    give_up(&text)
}

/// Leaves this behind, and ends the process.
fn give_up(text: &str) -> ! {
    report(text);
    set(Word::Phase, Phase::Broken as u64);
    call::exit_process(70)
}

/// As `broken`, for a panic.
#[cfg(panic = "abort")]
pub(crate) fn internal_error(info: &core::panic::PanicInfo<'_>) -> ! {
    let mut text = String::new();
    let _ = write!(text, "{info}");
    broken(&text)
}

/// A symbol that every C library has is missing.
pub(crate) fn missing_symbol() -> ! {
    unable("the C library lacks a function that the gate stands in front of", "a static executable cannot be explored: link it dynamically")
}
