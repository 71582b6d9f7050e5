//! What each system call of a fiber waits for, and how it is made so that it cannot wait.
//!
//! Not here: waiting, and making it (`calls`).

use super::fiber::Engine;
use crate::gate::ask::{Nanoseconds, Until};
use crate::gate::readiness::Readiness;
use crate::sys::call::word;
use crate::sys::ipc::Kind;
use crate::sys::poll::{self, is_nonblocking};

/// What a call waits for.
pub(super) enum Shape {
    /// That a descriptor is ready. What is given is made in one go, or as far as it gets.
    Transfer { descriptor: i32, events: i16, pieces: Pieces, flags: usize, late: Late },
    /// One of several descriptors, for so long.
    Several { ready: Readiness, limit: Limit },
    /// A child process.
    Child { kind: u32, id: usize, options: usize },
    /// Another thread's doing, told by an error: made in this way, the call fails with it where it would wait.
    Retry { number: libc::c_long, arguments: [usize; 6], error: i32, queue: Option<(Kind, usize)>, late: Late },
    /// A connection.
    Connect { descriptor: i32 },
    /// Nothing.
    Nothing,
}

/// Until when a call waits, and what it fails with then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    pub(super) until: Until,
    pub(super) error: i32,
}

impl Late {
    /// Whether it has come to that: a wait may have ended by a timer that is due before.
    pub(super) fn has_come(self, engine: &Engine) -> bool {
        matches!(self.until, Until::Deadline(at) if engine.model.borrow().now() >= at)
    }
}

pub(super) const NEVER_LATE: Late = Late { until: Until::Forever, error: libc::ETIMEDOUT };

/// Whether a call is over when only a part was transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pieces {
    /// It goes on until all is.
    All,
    /// It is.
    Any,
}

/// The time limit of a call, and in which argument it stands, so that the call can be made without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// Milliseconds; negative: none.
    Milliseconds(usize),
    /// A pointer to seconds and a fraction of which so many make a second; null: none.
    Pointer(usize, u64),
}

/// What a call waits for, and how it is made without.
pub(super) fn shape(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Shape {
    let [first, second, third, fourth, fifth, _] = *arguments;
    let transfer = |events, pieces, flags| Shape::Transfer {
        descriptor: descriptor(first),
        events,
        pieces,
        flags,
        late: late_socket(engine, descriptor(first), events),
    };
    let message = |events| {
        let late = Late { until: span_at(fifth, 1_000_000_000).map_or(Until::Forever, Until::Deadline), error: libc::ETIMEDOUT };
        Shape::Transfer { descriptor: descriptor(first), events, pieces: Pieces::Any, flags: 0, late }
    };
    let several = |ready, limit| Shape::Several { ready, limit };
    let set = |limit| several(Readiness::Sets { below: first, sets: [second, third, fourth] }, limit);
    let list = |limit| several(Readiness::List { list: first, count: second }, limit);
    let events = |limit| several(Readiness::Descriptor { descriptor: descriptor(first), events: libc::POLLIN }, limit);
    let whole = if fourth & word(libc::MSG_WAITALL) == 0 { Pieces::Any } else { Pieces::All };
    match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_accept | libc::SYS_accept4 => transfer(libc::POLLIN, Pieces::Any, 0),
        libc::SYS_recvfrom => transfer(libc::POLLIN, whole, fourth),
        libc::SYS_recvmsg => transfer(libc::POLLIN, Pieces::Any, third),
        libc::SYS_recvmmsg => transfer(libc::POLLIN, Pieces::Any, fourth),
        libc::SYS_write => transfer(libc::POLLOUT, Pieces::All, 0),
        libc::SYS_writev => transfer(libc::POLLOUT, Pieces::Any, 0),
        libc::SYS_sendto => transfer(libc::POLLOUT, Pieces::All, fourth),
        libc::SYS_sendmsg => transfer(libc::POLLOUT, Pieces::Any, third),
        libc::SYS_sendmmsg => transfer(libc::POLLOUT, Pieces::Any, fourth),
        libc::SYS_poll => list(Limit::Milliseconds(2)),
        libc::SYS_ppoll => list(Limit::Pointer(2, 1_000_000_000)),
        libc::SYS_select => set(Limit::Pointer(4, 1_000_000)),
        libc::SYS_pselect6 => set(Limit::Pointer(4, 1_000_000_000)),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => events(Limit::Milliseconds(3)),
        libc::SYS_epoll_pwait2 => events(Limit::Pointer(3, 1_000_000_000)),
        libc::SYS_wait4 => match descriptor(first) {
            process @ 1.. => Shape::Child { kind: libc::P_PID, id: word(process), options: third },
            _ => Shape::Child { kind: libc::P_ALL, id: 0, options: third },
        },
        libc::SYS_waitid => Shape::Child { kind: u32::try_from(first).unwrap_or(0), id: second, options: fourth },
        libc::SYS_flock => with_flag(number, arguments, 1, word(libc::LOCK_NB), libc::EWOULDBLOCK),
        libc::SYS_fcntl if descriptor(second) == libc::F_OFD_SETLKW => {
            let mut other = *arguments;
            other[1] = word(libc::F_OFD_SETLK);
            at_once(number, other, libc::EAGAIN)
        }
        libc::SYS_open if is_pipe(word(libc::AT_FDCWD), first, second) => {
            with_flag(number, arguments, 1, word(libc::O_NONBLOCK), libc::ENXIO)
        }
        libc::SYS_openat if is_pipe(first, second, third) => with_flag(number, arguments, 2, word(libc::O_NONBLOCK), libc::ENXIO),
        libc::SYS_mq_timedsend => message(libc::POLLOUT),
        libc::SYS_mq_timedreceive => message(libc::POLLIN),
        libc::SYS_msgsnd => of_queue(with_flag(number, arguments, 3, word(libc::IPC_NOWAIT), libc::EAGAIN), Kind::Messages, first),
        libc::SYS_msgrcv => of_queue(with_flag(number, arguments, 4, word(libc::IPC_NOWAIT), libc::ENOMSG), Kind::Messages, first),
        libc::SYS_semop => semaphores(engine, [first, second, third], None),
        libc::SYS_semtimedop => semaphores(engine, [first, second, third], span_at(fourth, 1_000_000_000)),
        libc::SYS_splice => with_flag(number, arguments, 5, word(SPLICE_AT_ONCE), libc::EAGAIN),
        libc::SYS_tee | libc::SYS_vmsplice => with_flag(number, arguments, 3, word(SPLICE_AT_ONCE), libc::EAGAIN),
        libc::SYS_sendfile => transfer(libc::POLLOUT, Pieces::Any, 0),
        libc::SYS_connect if !is_nonblocking(descriptor(first)) => Shape::Connect { descriptor: descriptor(first) },
        _ => Shape::Nothing,
    }
}

const SPLICE_AT_ONCE: i32 = libc::SPLICE_F_NONBLOCK.cast_signed();

fn at_once(number: libc::c_long, arguments: [usize; 6], error: i32) -> Shape {
    Shape::Retry { number, arguments, error, queue: None, late: NEVER_LATE }
}

/// A call that does not wait with this flag in one of its arguments.
fn with_flag(number: libc::c_long, arguments: &[usize; 6], at: usize, flag: usize, error: i32) -> Shape {
    let mut other = *arguments;
    other[at] |= flag;
    if other == *arguments { Shape::Nothing } else { at_once(number, other, error) }
}

/// The same, of a queue or a set of semaphores.
fn of_queue(shape: Shape, kind: Kind, id: usize) -> Shape {
    match shape {
        Shape::Retry { number, arguments, error, late, .. } => Shape::Retry { number, arguments, error, queue: Some((kind, id)), late },
        other => other,
    }
}

/// Operations on semaphores, made with no time to wait.
fn semaphores(engine: &Engine, [id, list, count]: [usize; 3], span: Option<Nanoseconds>) -> Shape {
    static NO_TIME: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let operations: *const libc::sembuf = core::ptr::with_exposed_provenance(list);
    if operations.is_null() || count > 500 {
        return Shape::Nothing;
    }
    // SAFETY: the program passes so many operations.
    let operations = unsafe { core::slice::from_raw_parts(operations, count) };
    let may_wait = operations.iter().any(|operation| i32::from(operation.sem_flg) & libc::IPC_NOWAIT == 0);
    if !may_wait {
        return Shape::Nothing;
    }
    let until = span.map_or(Until::Forever, |span| Until::Deadline(later(engine, span)));
    let arguments = [id, list, count, (&raw const NO_TIME).expose_provenance(), 0, 0];
    let late = Late { until, error: libc::EAGAIN };
    Shape::Retry { number: libc::SYS_semtimedop, arguments, error: libc::EAGAIN, queue: Some((Kind::Semaphores, id)), late }
}

pub(super) fn later(engine: &Engine, span: Nanoseconds) -> Nanoseconds {
    Nanoseconds(engine.model.borrow().now().0.saturating_add(span.0))
}

/// Until when calls on a descriptor wait: as long as the program said, if it is a socket.
pub(super) fn late_socket(engine: &Engine, descriptor: i32, events: i16) -> Late {
    let limit = if engine.timers.borrow().limits_sockets() { poll::time_limit(descriptor, events) } else { None };
    Late { until: limit.map_or(Until::Forever, |span| Until::Deadline(later(engine, span))), error: libc::EAGAIN }
}

/// Whether a path that is to be opened names a pipe, whose opening waits for its other end.
fn is_pipe(folder: usize, path: usize, flags: usize) -> bool {
    flags & word(libc::O_NONBLOCK | libc::O_PATH) == 0 && flags & word(libc::O_ACCMODE) != word(libc::O_RDWR) && poll::is_pipe(folder, path)
}

/// A C `int` from a register.
pub(crate) fn descriptor(value: usize) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

pub(super) fn span_at(address: usize, fractions: u64) -> Option<Nanoseconds> {
    let time: *const [u64; 2] = core::ptr::with_exposed_provenance(address);
    // SAFETY: the program passes a valid time, or null.
    let [seconds, fraction] = *unsafe { time.as_ref() }?;
    Some(Nanoseconds(seconds.saturating_mul(1_000_000_000).saturating_add(fraction.saturating_mul(1_000_000_000 / fractions))))
}
