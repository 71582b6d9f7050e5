//! One part after the other in one process: when a part is done `atomfix` may have another, of which it tells by a socket and the page.
//!
//! What comes of a part must not depend on which parts the same process did before it. So a process goes on only where it has learnt nothing that
//! a fresh one would not be told (`explore` says so), and begins the next part as one that has just started: with the memory that it
//! started with, no page of it known to be written to, and with what the page said before the first execution.
//!
//! Not here: what `atomfix` puts back, the words that count (`page::OF_A_PART`).

use explorer::target::page::{Phase, Word};
use explorer::target::setup::Setup;

use super::control;
use super::fiber::Engine;
use crate::sys::call;

/// The line to `atomfix`, and what the page said when it was opened.
pub(crate) struct Line {
    descriptor: i32,
    notes: u64,
    found: u64,
}

impl Line {
    /// Opens the one that `atomfix` has for this process, if any. What the process says of itself has been said. The program is to find the
    /// descriptor free.
    pub(crate) fn open() -> Option<Self> {
        let given = i32::try_from(control::get(Word::Line)).ok().filter(|&descriptor| descriptor > 0)?;
        let descriptor = call::duplicate(given);
        call::close(given);
        Some(Self { descriptor: descriptor.ok()?, notes: control::get(Word::Notes), found: control::get(Word::FoundBytes) })
    }

    /// The part is done: waits for the next one. `None` when there is none.
    pub(crate) fn next(&self, engine: &Engine) -> Option<Setup> {
        control::set(Word::Phase, Phase::Waiting as u64);
        call::write(self.descriptor, &[0]);
        let told = call::read(self.descriptor, &mut [0]).is_ok_and(|bytes| bytes > 0);
        if !told {
            return None;
        }
        control::set(Word::Notes, self.notes);
        control::set(Word::FoundBytes, self.found);
        engine.recorder.borrow_mut().keep(0);
        if !engine.restorer.begin_again() {
            control::broken("memory can no longer be protected");
        }
        control::setup()
    }
}
