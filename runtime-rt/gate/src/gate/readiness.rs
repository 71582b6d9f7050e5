//! When a system call need not wait. The kernel keeps the state of pipes, sockets and the like: it is asked, not modelled.
//!
//! What other threads of the program feed is ready by their doing, so it depends on the schedule alone. What comes from
//! outside comes at any time: it counts only when no thread of the program can go on, so that executions repeat themselves.

use core::fmt;

use crate::sys::ipc::{self, Kind};
use crate::sys::poll;

/// What a system call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Nothing.
    Always,
    /// That a descriptor is ready for one of these events.
    Descriptor { descriptor: i32, events: i16 },
    /// That one of a list is, as `poll` takes it: its address and length.
    List { list: usize, count: usize },
    /// That one of three sets is, as `select` takes them: the highest descriptor plus one, and their addresses.
    Sets { below: usize, sets: [usize; 3] },
    /// That other threads have made more system calls than these: when the kernel does not say what it takes.
    Calls { known: u64 },
    /// That they have, since the kernel said that this descriptor is ready and yet refused a call on it: there is room, but not for so much.
    Refused { descriptor: i32, known: u64 },
    /// That they have, or that a queue or set of semaphores, which others outside may use, is not as it was.
    Queue { kind: Kind, id: usize, known: u64, mark: u64 },
    /// One of these, which is fed from outside.
    Outside(Fed),
}

/// What comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// As `Readiness::Descriptor`.
    Descriptor { descriptor: i32, events: i16 },
    /// As `Readiness::List`.
    List { list: usize, count: usize },
    /// As `Readiness::Sets`.
    Sets { below: usize, sets: [usize; 3] },
    /// That a child process changes its state: by the kind of id and the id that `waitid` takes.
    Child { kind: u32, id: usize },
}

impl Readiness {
    /// Whether it is so now. What waits for other calls is for the model to say: `false`, but for what others outside do.
    pub(crate) fn holds(self) -> bool {
        match self {
            Self::Always => true,
            Self::Calls { .. } | Self::Refused { .. } => false,
            Self::Queue { kind, id, mark, .. } => ipc::mark(kind, id) != mark,
            Self::Descriptor { descriptor, events } | Self::Outside(Fed::Descriptor { descriptor, events }) => {
                poll::is_ready(descriptor, events)
            }
            Self::List { list, count } | Self::Outside(Fed::List { list, count }) => poll::any_ready(list, count),
            Self::Sets { below, sets } | Self::Outside(Fed::Sets { below, sets }) => poll::any_selected(below, sets),
            Self::Outside(Fed::Child { kind, id }) => poll::child_changed(kind, id),
        }
    }

    /// The same, as something that is fed from outside.
    pub(crate) fn outside(self) -> Self {
        match self {
            Self::Descriptor { descriptor, events } => Self::Outside(Fed::Descriptor { descriptor, events }),
            Self::List { list, count } => Self::Outside(Fed::List { list, count }),
            Self::Sets { below, sets } => Self::Outside(Fed::Sets { below, sets }),
            _ => self,
        }
    }
}

/// What a thread waits for, after "waits".
impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descriptor { descriptor, events } | Self::Outside(Fed::Descriptor { descriptor, events }) => {
                let what = if *events == libc::POLLOUT { "write to" } else { "read from" };
                write!(f, "to {what} descriptor {descriptor}")
            }
            Self::List { .. } | Self::Sets { .. } | Self::Outside(Fed::List { .. } | Fed::Sets { .. }) => {
                f.write_str("for any of several descriptors")
            }
            Self::Outside(Fed::Child { .. }) => f.write_str("for the end of a process"),
            Self::Refused { descriptor, .. } => write!(f, "for more room to write to descriptor {descriptor}"),
            Self::Calls { .. } => f.write_str("for the other end of a pipe, or a lock of a file"),
            Self::Queue { kind: Kind::Messages, id, .. } => write!(f, "for messages, or for room for them, in queue {id}"),
            Self::Queue { kind: Kind::Memory, id, .. } => write!(f, "for shared memory {id}"),
            Self::Queue { kind: Kind::Semaphores, id, .. } => write!(f, "for semaphores of set {id}"),
            Self::Always => f.write_str("for its turn"),
        }
    }
}
