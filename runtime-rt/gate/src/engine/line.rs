//! One part after the other in one process: `atomfix` tells of each by a socket and the page, of the first one too where it started the process before it
//! knew what there is to do.
//!
//! What comes of a part must not depend on which parts the same process did before it. So `atomfix` gives a part only to a process that has learnt
//! nothing which a fresh one would not be told, and the process begins it as one that has just started: with the memory that it
//! started with, no page of it known to be written to, and with what the page said before the first execution.
//!
//! Not here: what `atomfix` puts back, the words that count (`page::OF_A_PART`).

use explorer::target::page::{Phase, Word};
use explorer::target::setup::Setup;

use super::control;
use super::fiber::Engine;
use crate::sys::call;

/// The line to `atomfix`.
pub(crate) struct Line {
    descriptor: i32,
}

/// What the page said before the first execution.
pub(crate) struct Begun {
    notes: u64,
    found: u64,
}

impl Begun {
    pub(crate) fn now() -> Self {
        Self { notes: control::get(Word::Notes), found: control::get(Word::FoundBytes) }
    }
}

impl Line {
    /// Opens the one that `atomfix` has for this process, if any. The program is to find the descriptor free.
    pub(crate) fn open() -> Option<Self> {
        let given = i32::try_from(control::get(Word::Line)).ok().filter(|&descriptor| descriptor > 0)?;
        let descriptor = call::duplicate(given);
        call::close(given);
        Some(Self { descriptor: descriptor.ok()? })
    }

    /// Waits for a part. `None` when there is none.
    pub(crate) fn wait(&self) -> Option<Setup> {
        control::set(Word::Phase, Phase::Waiting as u64);
        call::write(self.descriptor, &[0]);
        let told = call::read(self.descriptor, &mut [0]).is_ok_and(|bytes| bytes > 0);
        if told { control::setup() } else { None }
    }

    /// A part is done: waits for the next one, and makes ready for it.
    pub(crate) fn next(&self, engine: &Engine, begun: &Begun) -> Option<Setup> {
        let setup = self.wait()?;
        control::set(Word::Notes, begun.notes);
        control::set(Word::FoundBytes, begun.found);
        engine.recorder.borrow_mut().keep(0);
        if !engine.restorer.begin_again() {
            control::broken("memory can no longer be protected");
        }
        Some(setup)
    }
}
