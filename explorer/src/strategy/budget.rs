//! Any strategy, with an end after a number of executions.

use alloc::boxed::Box;

use super::Strategy;
use super::around::{Around, Change};

/// A strategy that stops after a number of executions, abandoned ones included.
pub type Budget = Around<Box<dyn Strategy>, Executions>;

/// How many executions there may be.
#[derive(Debug)]
pub struct Executions(u64);

impl Budget {
    /// `inner`, for at most this many executions.
    #[must_use]
    pub fn new(inner: Box<dyn Strategy>, executions: u64) -> Self {
        Self::changing(inner, Executions(executions))
    }
}

impl Change for Executions {
    fn begin(&mut self, inner: &mut dyn Strategy) -> bool {
        // The inner strategy is asked last: its `begin` may be what finds that nothing is left.
        inner.counts().executions() < self.0 && inner.begin()
    }
}
