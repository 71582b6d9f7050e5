//! System calls that other threads may see, or that wait for them, made by the fiber that wants them.
//!
//! Each is a scheduling point; one that would have to wait is not enabled until it need not. It is then made in a way that
//! cannot wait. All such calls count as in conflict with each other: the kernel tells nobody which of them commute.
//!
//! Not handled: operations on System V semaphores of which some may wait and others must not, which all wait; that another process lets go of a
//! lock of a file.

use model::cause::Cause;
use model::event::Range;
use model::ids::{SiteKey, ThreadId};

use super::dispatch::own_signal;
use super::fiber::{Engine, running};
use super::outside::{Origin, source};
use super::shapes::{Late, Limit, Pieces, Shape, descriptor, late_socket, later, shape, span_at};
use super::{answers, clocks, control, endings, handlers, interrupts, lifetime, output, seen, thread_names, timers, unseen};
use crate::gate::ask::{Ask, Nanoseconds, Request, Until};
use crate::gate::readiness::{Fed, Readiness};
use crate::interpose::futex;
use crate::sys::call::{Errno, process, system_call, word};
use crate::sys::ipc::{self, Kind};
use crate::sys::poll::{self, Waiting, is_nonblocking, set_waiting};
use crate::sys::trap::Saved;

use explorer::target::page::Note;

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
        unseen::before(self.engine, number, &arguments);
        // SAFETY: the program's own call; where arguments differ from its own, they keep the kernel from waiting.
        let result = unsafe { system_call(number, arguments) };
        unseen::after(self.engine, number, &arguments, result);
        self.engine.leftovers.look(number, &arguments, result);
        self.engine.go_on(true);
        result
    }

    /// As `kernel`, without waiting, on a descriptor on which calls wait.
    fn at_once(&self, descriptor: i32, number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno> {
        self.asking(|| set_waiting(descriptor, Waiting::Never));
        let result = self.kernel(number, arguments);
        self.asking(|| set_waiting(descriptor, Waiting::Allowed));
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
        libc::SYS_prctl => {
            if let Some(result) = thread_names::answer(engine, arguments[0], arguments[1]) {
                return Ok(result.cast_unsigned());
            }
        }
        libc::SYS_rt_sigaction => {
            if let Some(result) = handlers::set_by_fiber(engine, [arguments[0], arguments[1], arguments[2]]) {
                return Ok(result.cast_unsigned());
            }
        }
        libc::SYS_io_uring_setup | libc::SYS_io_setup | libc::SYS_userfaultfd => control::note(Note::Helpers),
        libc::SYS_futex_waitv | 454..=456 => control::note(Note::OtherFutexes),
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
        libc::SYS_setsockopt if poll::is_time_limit(arguments[2]) => engine.timers.borrow_mut().limit_sockets(),
        libc::SYS_close => {
            engine.timers.borrow_mut().close(descriptor(arguments[0]));
            engine.streams.replaced(descriptor(arguments[0]));
        }
        libc::SYS_dup2 | libc::SYS_dup3 => {
            engine.streams.replaced(descriptor(arguments[1]));
            engine.supplies.reach(descriptor(arguments[1]));
        }
        libc::SYS_fcntl if matches!(descriptor(arguments[1]), libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) => {
            engine.supplies.reach(descriptor(arguments[2]));
        }
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
    match caller.asking(|| shape(engine, number, &arguments)) {
        Shape::Transfer { descriptor, events, pieces, flags, late } => {
            transfer(&caller, number, arguments, (descriptor, events), (pieces, flags), late)
        }
        Shape::Several { ready, limit } => several(&caller, number, arguments, ready, limit),
        Shape::Child { kind, id, options } => {
            let waits = options & word(libc::WNOHANG) == 0;
            caller.wait(if waits { Readiness::Outside(Fed::Child { kind, id }) } else { Readiness::Always }, Until::Forever);
            caller.kernel(number, arguments)
        }
        Shape::Retry { number: other, arguments: at_once, error, queue, late } => {
            let opened = retry(&caller, (other, at_once), error, queue, late)?;
            settle(&caller, number, opened);
            Ok(opened)
        }
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
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 | libc::SYS_wait4 | libc::SYS_waitid => Cause::Poll,
        libc::SYS_flock | libc::SYS_fcntl | libc::SYS_semop | libc::SYS_semtimedop => Cause::Meet,
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
        libc::SYS_remap_file_pages => {}
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

/// Makes a call until it need not wait.
fn retry(
    caller: &Caller<'_>,
    (number, arguments): (libc::c_long, [usize; 6]),
    error: i32,
    queue: Option<(Kind, usize)>,
    late: Late,
) -> Result<usize, Errno> {
    caller.wait(Readiness::Always, Until::Forever);
    loop {
        match caller.kernel(number, arguments) {
            Err(Errno(found)) if found == error => {}
            result => return result,
        }
        let known = caller.engine.model.borrow().calls();
        let ready = match queue {
            Some((kind, id)) => Readiness::Queue { kind, id, known, mark: caller.asking(|| ipc::mark(kind, id)) },
            None => Readiness::Calls { known },
        };
        match caller.wait(ready, late.until) {
            libc::ETIMEDOUT => {
                control::note(Note::BoundedTimeouts);
                return Err(Errno(late.error));
            }
            libc::EINTR => return Err(Errno(libc::EINTR)),
            _ => {}
        }
    }
}

/// A pipe was opened without waiting: what was opened waits from now on. That its reading end is there before the writing one
/// shows in nothing else.
fn settle(caller: &Caller<'_>, number: libc::c_long, opened: usize) {
    if matches!(number, libc::SYS_open | libc::SYS_openat) {
        caller.asking(|| set_waiting(descriptor(opened), Waiting::Allowed));
    }
}

fn transfer(
    caller: &Caller<'_>,
    number: libc::c_long,
    mut arguments: [usize; 6],
    (descriptor, events): (i32, i16),
    (pieces, flags): (Pieces, usize),
    late: Late,
) -> Result<usize, Errno> {
    let returns_at_once = flags & word(libc::MSG_DONTWAIT) != 0 || caller.asking(|| is_nonblocking(descriptor));
    if returns_at_once {
        caller.wait(Readiness::Always, Until::Forever);
        return caller.kernel(number, arguments);
    }
    let awaited = Readiness::Descriptor { descriptor, events };
    let (mut done, mut ready) = (0, awaited);
    let so_far = |done, error| if done == 0 { Err(error) } else { Ok(done) };
    loop {
        let waited = caller.wait(ready, late.until);
        if waited == libc::EINTR {
            return so_far(done, Errno(libc::EINTR));
        }
        ready = match caller.at_once(descriptor, number, arguments) {
            Err(Errno(libc::EAGAIN)) if waited == libc::ETIMEDOUT && late.has_come(caller.engine) => {
                control::note(Note::BoundedTimeouts);
                return so_far(done, Errno(late.error));
            }
            Err(Errno(libc::EAGAIN)) if caller.asking(|| poll::is_ready(descriptor, events)) => {
                Readiness::Refused { descriptor, known: caller.engine.model.borrow().calls() }
            }
            Err(Errno(libc::EAGAIN)) => awaited,
            Err(error) => return so_far(done, error),
            Ok(more) if more == 0 || pieces == Pieces::Any || more >= arguments[2] => return Ok(done + more),
            Ok(more) => {
                done += more;
                arguments[1] += more;
                arguments[2] -= more;
                awaited
            }
        };
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
        Some(span) => Until::Deadline(later(caller.engine, span)),
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
                let late = caller.asking(|| late_socket(caller.engine, descriptor, libc::POLLOUT));
                if caller.wait(Readiness::Descriptor { descriptor, events: libc::POLLOUT }, late.until) == libc::ETIMEDOUT {
                    control::note(Note::BoundedTimeouts);
                    return Err(Errno(libc::EINPROGRESS));
                }
                return match caller.asking(|| poll::socket_option(descriptor, libc::SO_ERROR)) {
                    None | Some(0) => Ok(0),
                    Some(error) => Err(Errno(error)),
                };
            }
            result => return result,
        }
    }
}
