//! What the model knows of one thread.
//!
//! Not here: what it may do next (`model`).

use model::ids::ObjectId;

use super::ask::Request;

/// How far a thread has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Its creator has its number but has not created it yet.
    Unborn,
    /// It is about to do what it asked for.
    Alive,
    /// It has ended.
    Ended,
}

/// One thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread {
    /// How far it has come.
    pub(crate) life: Life,
    /// What it asks for.
    pub(crate) request: Request,
    /// The object that the request is about.
    pub(super) object: Option<ObjectId>,
    /// The mutex of a wait.
    pub(super) mutex: Option<ObjectId>,
    /// A signal that it was sent and has not taken.
    pub(super) signal: Option<i32>,
    /// Whether a waiting thread has been woken, or may leave its barrier.
    pub(super) woken: bool,
    /// How many changes it has made itself.
    pub(super) own_changes: u64,
    /// How many changes others had made when it last timed out.
    pub(super) timed_out_at: Option<u64>,
    /// How many changes others had made when its wait last ended without a cause.
    pub(super) woken_for_nothing_at: Option<u64>,
    /// How many changes others had made when it was found to spin: it has nothing to do until there are more.
    pub(super) spinning_at: Option<u64>,
    /// Whether the passing of time may end that.
    pub(super) awaits_time: bool,
    /// Whether it is about to end, as those see who do not wait for that.
    pub(crate) ending: bool,
    /// Whether another thread has waited for its end.
    pub(super) joined: bool,
}
