//! A strategy around another one: it changes a few answers, and all else is the inner one's.

use alloc::vec::Vec;
use core::ops::DerefMut;

use model::ids::ThreadId;
use model::pair::Mode;
use model::report::{Coverage, Estimate};

use super::dpor::Asked;
use super::replay::Divergence;
use super::sketch::Class;
use super::subtree::Subtree;
use super::{Choice, Counts, Ending, Pick, Point, Step, Strategy, Supply};

/// What is changed. Whatever is not is asked of the inner strategy.
pub trait Change {
    /// As [`Strategy::begin`].
    fn begin(&mut self, inner: &mut dyn Strategy) -> bool {
        inner.begin()
    }

    /// As [`Strategy::repeats`].
    fn repeats(&self, inner: &dyn Strategy) -> usize {
        inner.repeats()
    }

    /// As [`Strategy::repeated`].
    fn repeated(&mut self, inner: &mut dyn Strategy, steps: usize) {
        inner.repeated(steps);
    }

    /// As [`Strategy::choose`].
    fn choose(&mut self, inner: &mut dyn Strategy, point: &Point<'_>) -> Choice {
        inner.choose(point)
    }

    /// As [`Strategy::pick`].
    fn pick(&mut self, inner: &mut dyn Strategy, pick: &Pick<'_>) -> u32 {
        inner.pick(pick)
    }

    /// As [`Strategy::executed`].
    #[inline]
    fn executed(&mut self, inner: &mut dyn Strategy, step: &Step) {
        inner.executed(step);
    }

    /// As [`Strategy::end`].
    fn end(&mut self, inner: &mut dyn Strategy, ending: &Ending<'_>) {
        inner.end(ending);
    }

    /// As [`Strategy::reads_from`].
    fn reads_from(&self, inner: &dyn Strategy) -> Option<u64> {
        inner.reads_from()
    }
}

/// A strategy, changed.
#[derive(Debug)]
pub struct Around<S, C> {
    pub(super) inner: S,
    pub(crate) change: C,
}

impl<S, C> Around<S, C> {
    /// A strategy with a change.
    pub(crate) fn changing(inner: S, change: C) -> Self {
        Self { inner, change }
    }
}

impl<'a, S: DerefMut<Target = dyn Strategy + 'a>, C: Change> Strategy for Around<S, C> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn begin(&mut self) -> bool {
        self.change.begin(&mut *self.inner)
    }

    fn repeats(&self) -> usize {
        self.change.repeats(&*self.inner)
    }

    fn repeated(&mut self, steps: usize) {
        self.change.repeated(&mut *self.inner, steps);
    }

    #[inline]
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        self.change.choose(&mut *self.inner, point)
    }

    fn pick(&mut self, pick: &Pick<'_>) -> u32 {
        self.change.pick(&mut *self.inner, pick)
    }

    #[inline]
    fn executed(&mut self, step: &Step) {
        self.change.executed(&mut *self.inner, step);
    }

    fn released(&mut self, thread: ThreadId, lock: u64, left: Option<Mode>) {
        self.inner.released(thread, lock, left);
    }

    fn supplied(&mut self, thread: ThreadId, supply: Supply) {
        self.inner.supplied(thread, supply);
    }

    fn overwrote(&mut self, before: u64) {
        self.inner.overwrote(before);
    }

    fn end(&mut self, ending: &Ending<'_>) {
        self.change.end(&mut *self.inner, ending);
    }

    fn learnt(&mut self) -> bool {
        self.inner.learnt()
    }

    fn counts(&self) -> Counts {
        self.inner.counts()
    }

    fn coverage(&self) -> Coverage {
        self.inner.coverage()
    }

    fn left(&self) -> Vec<Subtree> {
        self.inner.left()
    }

    fn asked(&self) -> Vec<Asked> {
        self.inner.asked()
    }

    fn estimate(&self) -> Option<Estimate> {
        self.inner.estimate()
    }

    fn sketch(&self) -> Vec<Class> {
        self.inner.sketch()
    }

    fn reads_from(&self) -> Option<u64> {
        self.change.reads_from(&*self.inner)
    }

    fn is_limited(&self) -> bool {
        self.inner.is_limited()
    }

    fn divergence(&self) -> Option<Divergence> {
        self.inner.divergence()
    }
}
