//! What threads wait for without an object of the program's: futex words, and signals.
//!
//! Not here: the steps themselves (`perform`), and what a signal does (`engine::interrupts`).

use alloc::vec::Vec;

use model::event::Range;
use model::ids::{ObjectId, ThreadId};

use super::ask::{Ask, Until};
use super::model::Model;
use super::objects::State;
use super::perform::bit;
use super::thread::{Life, Thread};
use super::waiting::Condition;

impl Model {
    /// The thread has found a futex word as expected, in the step that it takes: it waits there from now on.
    pub(crate) fn wait_at(&mut self, thread: ThreadId, word: Range, until: Until) {
        if until == Until::Forever {
            // Whoever wakes is told how many there were.
            self.note_change(thread);
        }
        let id = self.objects.at(word, || State::Condition(Condition::default()));
        self.objects.condition(id).waiters.push(thread);
    }

    /// A thread that was interrupted waits at its futex word no more.
    pub(crate) fn leave_word(&mut self, thread: ThreadId) {
        if let Some(id) = self.threads[thread.index()].object {
            self.objects.condition(id).leave(thread);
            self.note_change(thread);
        }
    }

    /// Wakes the first so many of those who wait for one of these bits; how many there were.
    pub(super) fn wake_some(&mut self, id: ObjectId, count: u32, bits: u32) -> i32 {
        let waiters = &self.objects.condition(id).waiters;
        let is_meant = |thread: &&ThreadId| matches!(self.threads[thread.index()].request.ask, Ask::FutexReturn { bits: awaited, .. } if awaited & bits != 0);
        let woken: Vec<ThreadId> = waiters.iter().filter(is_meant).take(count as usize).copied().collect();
        for &thread in &woken {
            self.objects.condition(id).leave(thread);
            self.wake(thread);
        }
        i32::try_from(woken.len()).unwrap_or(i32::MAX)
    }

    /// Takes the lowest of these signals that the thread, or the process, was sent.
    pub(crate) fn take_signal(&mut self, thread: ThreadId, set: u64) -> Option<i32> {
        let entry = &mut self.threads[thread.index()];
        let signal = i32::try_from((entry.waiting() & set).trailing_zeros()).ok().filter(|&lowest| lowest < 64)? + 1;
        if entry.signals & bit(signal) == 0 {
            self.set_for_all(self.for_all & !bit(signal));
        } else {
            entry.signals &= !bit(signal);
        }
        Some(signal)
    }

    /// The process is sent a signal from outside of its threads.
    pub(crate) fn send_to_all(&mut self, signal: i32) {
        self.set_for_all(self.for_all | bit(signal));
    }

    /// Whether a thread waits for this signal.
    pub(crate) fn awaits(&self, signal: i32) -> bool {
        let is_awaited = |thread: &Thread| matches!(thread.request.ask, Ask::AwaitSignal { set, .. } if set & bit(signal) != 0);
        self.threads.iter().any(|thread| thread.life == Life::Alive && is_awaited(thread))
    }

    /// Signals that the process was sent and nobody has taken. Who was about to see to one may find it gone.
    pub(super) fn set_for_all(&mut self, signals: u64) {
        self.for_all = signals;
        for thread in &mut self.threads {
            thread.for_all = signals;
        }
        for thread in (0..self.threads.len()).map(ThreadId::new) {
            if self.threads[thread.index()].life == Life::Alive && self.dependent.contains(thread) {
                self.pending[thread.index()] = Some(self.event_of(thread));
            }
        }
        self.changed = true;
    }
}
