//! What the program has been seen to do that needs scheduling points which other programs do without.
//!
//! A habit is learnt once and stays. The execution in which it is learnt lacks points that it should have had, so it ends there, and
//! the exploration (or replay) begins anew with them.

use core::cell::Cell;

use explorer::target::page::Word;
use model::event::Range;

use super::control;
use super::fiber::{Engine, Stop};

/// Something that few programs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Habit {
    /// It looks whether threads have ended without waiting for that: the end of a thread shows in a word.
    LooksForEnds = 0,
    /// Threads interrupt each other, by signals or cancellation: each point of a thread is preceded by a look whether it was.
    Interrupts = 1,
    /// Signals are sent to the process, which any thread may take: those who look for one have to do with each other.
    SignalsForAll = 2,
    /// A thread asks for a name that another one gives: each name shows in a word.
    AsksForNames = 3,
}

impl Habit {
    /// Habits are told to other processes together with the memory that is shared, as a byte of it at which there is none.
    fn range(self) -> Range {
        const NOWHERE: u64 = 0xffff_ff00_0000_0000;
        Range { address: NOWHERE + 16 * self as u64, length: 1 }
    }
}

/// The habits of a program.
#[derive(Default)]
pub(crate) struct Habits(Cell<u8>);

impl Habits {
    /// Takes over what is known with the memory that is shared.
    pub(crate) fn know(&self, shared: &[Range]) {
        for habit in [Habit::LooksForEnds, Habit::Interrupts, Habit::SignalsForAll, Habit::AsksForNames] {
            if shared.contains(&habit.range()) {
                self.0.set(self.0.get() | 1 << habit as u8);
            }
        }
    }

    /// Takes over what is known from another run.
    pub(crate) fn adopt(&self, habits: u64) {
        self.0.set(self.0.get() | u8::try_from(habits).unwrap_or(0));
    }

    /// All of them, as others are told.
    pub(crate) fn all(&self) -> u64 {
        u64::from(self.0.get())
    }

    /// Whether it is one of the program's.
    #[inline]
    pub(crate) fn has(&self, habit: Habit) -> bool {
        self.0.get() & (1 << habit as u8) != 0
    }
}

/// In a fiber: the program does this. Returns when that was known from the beginning.
pub(crate) fn show(engine: &Engine, habit: Habit) {
    if !learn(engine, habit) {
        engine.leave_for_good(Stop::Learnt);
    }
}

/// The program does this. Whether that was known; if not, the execution has to end.
pub(crate) fn learn(engine: &Engine, habit: Habit) -> bool {
    let is_known = engine.habits.has(habit);
    if !is_known {
        engine.habits.0.set(engine.habits.0.get() | 1 << habit as u8);
        engine.shadow.borrow_mut().share(&[habit.range()]);
        control::set(Word::Habits, engine.habits.all());
    }
    is_known
}
