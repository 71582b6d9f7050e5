//! System calls that other threads may see, or that wait for them, made by the fiber that wants them.
//!
//! Each is a scheduling point; one that would have to wait is not enabled until it need not. It is then made in a way that
//! cannot wait. All such calls count as in conflict with each other: the kernel tells nobody which of them commute.
//!
//! Not handled: time limits set on sockets; System V and POSIX queues that are full or empty, which block for real.

use model::cause::Cause;
use model::event::Range;
use model::ids::{SiteKey, ThreadId};

use super::dispatch::own_signal;
use super::fiber::{Engine, running};
use super::outside::{Origin, source};
use super::{answers, clocks, control, endings, interrupts, lifetime, output, seen, timers};
use crate::gate::ask::{Ask, Nanoseconds, Request, Until};
use crate::gate::readiness::{Fed, Readiness};
use crate::interpose::futex;
use crate::sys::call::{Errno, process, system_call, word};
use crate::sys::poll::{self, Waiting, is_nonblocking, set_waiting};
use crate::sys::trap::Saved;

use explorer::target::page::Note;

/// What a call waits for.
enum Shape {
    /// That a descriptor is ready. What is given is made in one go, or as far as it gets.
    Transfer { descriptor: i32, events: i16, pieces: Pieces, flags: usize },
    /// One of several descriptors, for so long.
    Several { ready: Readiness, limit: Limit },
    /// A child process.
    Child { kind: u32, id: usize, options: usize },
    /// Another thread's doing, told by an error: with other arguments, the call fails with it where it would wait.
    Retry { arguments: [usize; 6], error: i32 },
    /// A connection.
    Connect { descriptor: i32 },
    /// Nothing.
    Nothing,
}

/// Whether a call is over when only a part was transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pieces {
    /// It goes on until all is.
    All,
    /// It is.
    Any,
}

/// The time limit of a call, and in which argument it stands, so that the call can be made without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Milliseconds; negative: none.
    Milliseconds(usize),
    /// A pointer to seconds and a fraction of which so many make a second; null: none.
    Pointer(usize, u64),
}

/// What the landing calls: makes the call that the fiber wanted.
pub(crate) extern "C" fn on_fiber(saved: &mut Saved) {
    let Some(engine) = running() else { control::broken("a system call of no fiber has landed") };
    let result = perform(engine, saved.number(), saved.arguments());
    saved.answer(match result {
        Ok(value) => value.cast_signed(),
        Err(Errno(error)) => -(error as isize),
    });
}

/// The way to a call's scheduling points.
struct Caller<'a> {
    engine: &'a Engine,
    site: Option<SiteKey>,
    why: Cause,
}

impl Caller<'_> {
    /// Waits until it is so; or, where there is a time limit, until that passes.
    fn wait(&self, ready: Readiness, until: Until) -> i32 {
        let until = match (self.asking(|| timers::first_due(self.engine, ready)), until) {
            (Some(due), Until::Deadline(at)) => Until::Deadline(due.min(at)),
            (Some(due), Until::Forever) => Until::Deadline(due),
            (None, until) => until,
        };
        let ready = if self.asking(|| source(ready)) == Origin::Outside { ready.outside() } else { ready };
        self.engine.request(self.engine.current(), Request { ask: Ask::Call { ready, until, why: self.why }, site: self.site })
    }

    fn kernel(&self, number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
        self.engine.suspend();
        // SAFETY: the program's own call; where arguments differ from its own, they keep the kernel from waiting.
        let result = unsafe { system_call(number, arguments) };
        self.engine.go_on(true);
        result
    }

    /// As `kernel`, without waiting, on a descriptor on which calls wait.
    fn at_once(&self, descriptor: i32, number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
        self.engine.suspend();
        set_waiting(descriptor, Waiting::Never);
        // SAFETY: the program's own call.
        let result = unsafe { system_call(number, arguments) };
        set_waiting(descriptor, Waiting::Allowed);
        self.engine.go_on(true);
        result
    }

    fn asking<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.engine.suspend();
        let answer = ask();
        self.engine.go_on(true);
        answer
    }
}

fn perform(engine: &Engine, number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
    engine.with_current(|fiber| fiber.circle.borrow_mut().progress());
    if matches!(number, libc::SYS_rt_sigqueueinfo | libc::SYS_rt_tgsigqueueinfo) && own_signal(number, &arguments).is_some() {
        control::note(Note::QueuedSignals);
    }
    match number {
        libc::SYS_kill | libc::SYS_rt_sigqueueinfo => {
            if let Some(signal) = own_signal(number, &arguments) {
                interrupts::send_to_process(engine, signal);
                return Ok(0);
            }
        }
        libc::SYS_tkill | libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => {
            if let Some(signal) = own_signal(number, &arguments) {
                let named = if number == libc::SYS_tkill { arguments[0] } else { arguments[1] };
                let thread = named.checked_sub(process()).filter(|&at| at < engine.fibers.borrow().len());
                interrupts::send(engine, thread.map_or(engine.current(), ThreadId::new), signal);
                return Ok(0);
            }
        }
        libc::SYS_rt_sigpending => return Ok(interrupts::pending(engine, arguments[0])),
        libc::SYS_signalfd | libc::SYS_signalfd4 => control::note(Note::SignalDescriptors),
        libc::SYS_exit_group => endings::end_process_at_once(engine, descriptor(arguments[0]) & 0xff),
        libc::SYS_execve | libc::SYS_execveat => {
            control::note(Note::Forks);
            endings::end_process_at_once(engine, 0)
        }
        libc::SYS_exit => endings::end_thread(engine, core::ptr::null_mut()),
        libc::SYS_sched_yield => {
            engine.point(Ask::Yield);
            return Ok(0);
        }
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => return sleep(engine, number, &arguments),
        libc::SYS_futex => {
            if let Some(result) = futex::perform(engine, arguments) {
                return result;
            }
        }
        libc::SYS_close => {
            engine.timers.borrow_mut().close(descriptor(arguments[0]));
            engine.streams.replaced(descriptor(arguments[0]));
        }
        libc::SYS_dup2 | libc::SYS_dup3 => engine.streams.replaced(descriptor(arguments[1])),
        _ => {}
    }
    let site = engine.take_site().or_else(|| engine.with_current(|fiber| fiber.last_site.get()));
    let caller = Caller { engine, site, why: cause(number) };
    if is_output(number, &arguments, &caller) {
        return caller.kernel(number, arguments);
    }
    if number == libc::SYS_read && caller.asking(|| is_random(descriptor(arguments[0]))) {
        answers::fill(engine, arguments[1], arguments[2]);
        return Ok(arguments[2]);
    }
    if seen::CANCELLABLE.contains(&number) {
        interrupts::look_for_cancellation(engine);
    }
    if matches!(number, libc::SYS_timerfd_create | libc::SYS_timerfd_settime | libc::SYS_timerfd_gettime) {
        caller.wait(Readiness::Always, Until::Forever);
        return caller.asking(|| timers::call(engine, number, &arguments));
    }
    if let Some(pages) = pages(number, &arguments) {
        lifetime::announce(engine, pages, site);
        return caller.kernel(number, arguments);
    }
    match caller.asking(|| shape(number, &arguments)) {
        Shape::Transfer { descriptor, events, pieces, flags } => transfer(&caller, number, arguments, (descriptor, events, pieces, flags)),
        Shape::Several { ready, limit } => several(&caller, number, arguments, ready, limit),
        Shape::Child { kind, id, options } => {
            let waits = options & word(libc::WNOHANG) == 0;
            caller.wait(if waits { Readiness::Outside(Fed::Child { kind, id }) } else { Readiness::Always }, Until::Forever);
            caller.kernel(number, arguments)
        }
        Shape::Retry { arguments: other, error } => loop {
            caller.wait(Readiness::Always, Until::Forever);
            match caller.kernel(number, other) {
                Err(Errno(found)) if found == error => {
                    let known = engine.model.borrow().calls();
                    caller.wait(Readiness::Calls { known }, Until::Forever);
                }
                result => return result.inspect(|&opened| settle(&caller, number, &arguments, opened)),
            }
        },
        Shape::Connect { descriptor } => connect(&caller, number, arguments, descriptor),
        Shape::Nothing => {
            caller.wait(Readiness::Always, Until::Forever);
            caller.kernel(number, arguments)
        }
    }
}

/// Why injected locks are given up before this call waits.
fn cause(number: libc::c_long) -> Cause {
    match number {
        libc::SYS_poll | libc::SYS_ppoll | libc::SYS_select | libc::SYS_pselect6 => Cause::Poll,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait | libc::SYS_wait4 | libc::SYS_waitid => Cause::Poll,
        libc::SYS_flock | libc::SYS_fcntl => Cause::Meet,
        _ => Cause::Stream,
    }
}

fn sleep(engine: &Engine, number: libc::c_long, arguments: &[usize; 6]) -> Result<usize, Errno> {
    let [clock, flags, time, place] = match number {
        libc::SYS_nanosleep => [word(libc::CLOCK_MONOTONIC), 0, arguments[0], arguments[1]],
        _ => [arguments[0], arguments[1], arguments[2], arguments[3]],
    };
    let (clock, flags) = (descriptor(clock), descriptor(flags));
    let time: *const [i64; 2] = core::ptr::with_exposed_provenance(time);
    // SAFETY: the program passes a valid time, or null.
    let [seconds, fraction] = *unsafe { time.as_ref() }.ok_or(Errno(libc::EFAULT))?;
    let time = clocks::span(seconds, fraction).filter(|_| clocks::can_sleep_by(engine, clock)).ok_or(Errno(libc::EINVAL))?;
    let Err(clocks::Rest(rest)) = clocks::sleep_by(engine, clock, flags, time) else { return Ok(0) };
    let place: *mut [u64; 2] = core::ptr::with_exposed_provenance_mut(place);
    if !place.is_null() && flags & libc::TIMER_ABSTIME == 0 {
        // SAFETY: as above.
        unsafe { place.write(clocks::parts(rest)) };
    }
    Err(Errno(libc::EINTR))
}

/// The memory of the program that a call takes away, replaces or protects: a write to all of it.
fn pages(number: libc::c_long, arguments: &[usize; 6]) -> Option<Range> {
    let replaces = |flags: usize| flags & word(libc::MAP_FIXED) != 0;
    match number {
        libc::SYS_munmap | libc::SYS_mprotect | libc::SYS_pkey_mprotect | libc::SYS_mremap | libc::SYS_madvise => {}
        libc::SYS_mmap if replaces(arguments[3]) => {}
        _ => return None,
    }
    let length = u32::try_from(arguments[1]).unwrap_or(u32::MAX);
    (length > 0).then_some(Range { address: arguments[0] as u64, length })
}

/// Whether a descriptor gives random numbers, which are the same in every execution.
fn is_random(descriptor: i32) -> bool {
    matches!(&poll::link(descriptor)[..], b"/dev/urandom" | b"/dev/random")
}

/// Whether the call prints: into our own file, in the order in which it happens; no thread of the program reads it.
fn is_output(number: libc::c_long, arguments: &[usize; 6], caller: &Caller<'_>) -> bool {
    matches!(number, libc::SYS_write | libc::SYS_writev) && caller.asking(|| output::is_kept(descriptor(arguments[0])))
}

fn shape(number: libc::c_long, arguments: &[usize; 6]) -> Shape {
    let [first, second, third, fourth, ..] = *arguments;
    let transfer = |events, pieces, flags| Shape::Transfer { descriptor: descriptor(first), events, pieces, flags };
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
        libc::SYS_wait4 => match descriptor(first) {
            process @ 1.. => Shape::Child { kind: libc::P_PID, id: word(process), options: third },
            _ => Shape::Child { kind: libc::P_ALL, id: 0, options: third },
        },
        libc::SYS_waitid => Shape::Child { kind: u32::try_from(first).unwrap_or(0), id: second, options: fourth },
        libc::SYS_flock if second & word(libc::LOCK_NB) == 0 => retry(arguments, 1, word(libc::LOCK_NB), libc::EWOULDBLOCK),
        libc::SYS_fcntl if descriptor(second) == libc::F_OFD_SETLKW => {
            let mut other = *arguments;
            other[1] = word(libc::F_OFD_SETLK);
            Shape::Retry { arguments: other, error: libc::EAGAIN }
        }
        libc::SYS_open if is_pipe(word(libc::AT_FDCWD), first, second) => retry(arguments, 1, word(libc::O_NONBLOCK), libc::ENXIO),
        libc::SYS_openat if is_pipe(first, second, third) => retry(arguments, 2, word(libc::O_NONBLOCK), libc::ENXIO),
        libc::SYS_connect if !is_nonblocking(descriptor(first)) => Shape::Connect { descriptor: descriptor(first) },
        _ => Shape::Nothing,
    }
}

fn retry(arguments: &[usize; 6], at: usize, flag: usize, error: i32) -> Shape {
    let mut other = *arguments;
    other[at] |= flag;
    Shape::Retry { arguments: other, error }
}

/// Whether a path that is to be opened names a pipe, whose opening waits for its other end.
fn is_pipe(folder: usize, path: usize, flags: usize) -> bool {
    flags & word(libc::O_NONBLOCK | libc::O_PATH) == 0 && flags & word(libc::O_ACCMODE) != word(libc::O_RDWR) && poll::is_pipe(folder, path)
}

/// A pipe was opened without waiting: what was opened waits from now on. That its reading end is there before the writing one
/// shows in nothing else.
fn settle(caller: &Caller<'_>, number: libc::c_long, _: &[usize; 6], opened: usize) {
    if matches!(number, libc::SYS_open | libc::SYS_openat) {
        caller.asking(|| set_waiting(descriptor(opened), Waiting::Allowed));
    }
}

/// A C `int` from a register.
pub(super) fn descriptor(value: usize) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn span_at(address: usize, fractions: u64) -> Option<Nanoseconds> {
    let time: *const [u64; 2] = core::ptr::with_exposed_provenance(address);
    // SAFETY: the program passes a valid time, or null.
    let [seconds, fraction] = *unsafe { time.as_ref() }?;
    Some(Nanoseconds(seconds.saturating_mul(1_000_000_000).saturating_add(fraction.saturating_mul(1_000_000_000 / fractions))))
}

fn transfer(
    caller: &Caller<'_>,
    number: libc::c_long,
    mut arguments: [usize; 6],
    (descriptor, events, pieces, flags): (i32, i16, Pieces, usize),
) -> Result<usize, Errno> {
    let returns_at_once = flags & word(libc::MSG_DONTWAIT) != 0 || caller.asking(|| is_nonblocking(descriptor));
    if returns_at_once {
        caller.wait(Readiness::Always, Until::Forever);
        return caller.kernel(number, arguments);
    }
    let mut done = 0;
    loop {
        if caller.wait(Readiness::Descriptor { descriptor, events }, Until::Forever) == libc::EINTR {
            return if done == 0 { Err(Errno(libc::EINTR)) } else { Ok(done) };
        }
        match caller.at_once(descriptor, number, arguments) {
            Err(Errno(libc::EAGAIN)) => {}
            Err(error) if done == 0 => return Err(error),
            Ok(0) | Err(_) => return Ok(done),
            Ok(more) => {
                done += more;
                if pieces == Pieces::Any || more >= arguments[2] {
                    return Ok(done);
                }
                arguments[1] += more;
                arguments[2] -= more;
            }
        }
    }
}

fn several(caller: &Caller<'_>, number: libc::c_long, mut arguments: [usize; 6], ready: Readiness, limit: Limit) -> Result<usize, Errno> {
    const NEVER: [u64; 2] = [0, 0];
    let (at, span) = match limit {
        Limit::Milliseconds(at) => (at, u64::try_from(descriptor(arguments[at])).ok().map(|span| Nanoseconds(span * 1_000_000))),
        Limit::Pointer(at, fractions) => (at, span_at(arguments[at], fractions)),
    };
    let until = match span {
        None => Until::Forever,
        Some(Nanoseconds(0)) => Until::Deadline(Nanoseconds(0)),
        Some(span) => Until::Deadline(Nanoseconds(caller.engine.model.borrow().now().0.saturating_add(span.0))),
    };
    let ready = if span == Some(Nanoseconds(0)) { Readiness::Always } else { ready };
    let mut zero = NEVER;
    arguments[at] = match limit {
        Limit::Milliseconds(_) => 0,
        Limit::Pointer(..) => zero.as_mut_ptr().expose_provenance(),
    };
    loop {
        match caller.wait(ready, until) {
            libc::ETIMEDOUT => control::note(Note::BoundedTimeouts),
            libc::EINTR => return Err(Errno(libc::EINTR)),
            _ => {}
        }
        match caller.kernel(number, arguments) {
            Ok(0) if until == Until::Forever => {}
            result => return result,
        }
    }
}

fn connect(caller: &Caller<'_>, number: libc::c_long, arguments: [usize; 6], descriptor: i32) -> Result<usize, Errno> {
    loop {
        caller.wait(Readiness::Always, Until::Forever);
        match caller.at_once(descriptor, number, arguments) {
            Err(Errno(libc::EAGAIN)) => {
                let known = caller.engine.model.borrow().calls();
                caller.wait(Readiness::Calls { known }, Until::Forever);
            }
            Err(Errno(libc::EINPROGRESS)) => {
                caller.wait(Readiness::Descriptor { descriptor, events: libc::POLLOUT }, Until::Forever);
                return match caller.asking(|| poll::socket_option(descriptor, libc::SO_ERROR)) {
                    None | Some(0) => Ok(0),
                    Some(error) => Err(Errno(error)),
                };
            }
            result => return result,
        }
    }
}
