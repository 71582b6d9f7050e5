//! What feeds a descriptor: threads of the program, or the world outside; and waiting for the latter.
//!
//! A pipe, event counter or socket pair that the program made itself is fed from inside, until it starts another process. A
//! listening socket, or one whose other end is on this machine, may be fed by either: the program's own connections count
//! when they come, and it is also waited for when nobody can go on. All else comes from outside.

use alloc::vec::Vec;

use explorer::target::page::{Note, Word};

use super::control;
use super::fiber::Engine;
use crate::gate::readiness::{Fed, Readiness};
use crate::sys::{call, ipc, poll};

/// Where what a descriptor gives comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Threads of the program.
    Inside,
    /// Either.
    Either,
    /// The world.
    Outside,
}

/// Whether another process may hold the other end of what the program has made.
fn has_children() -> bool {
    control::has_noted(Note::Forks)
}

/// Who feeds the descriptor.
pub(crate) fn origin(descriptor: i32) -> Origin {
    let inside = if has_children() { Origin::Outside } else { Origin::Inside };
    let link = poll::link(descriptor);
    if link.is_empty() {
        // Not open: a call fails at once.
        return Origin::Inside;
    }
    if link.starts_with(b"pipe:") {
        return inside;
    }
    if link.starts_with(b"socket:") {
        return socket(descriptor, inside);
    }
    if link.starts_with(b"anon_inode:[eventpoll]") {
        return members(descriptor).into_iter().map(origin).max().unwrap_or(Origin::Inside);
    }
    if link.starts_with(b"anon_inode:") { inside } else { Origin::Either }
}

fn socket(descriptor: i32, inside: Origin) -> Origin {
    let listens = poll::socket_option(descriptor, libc::SO_ACCEPTCONN).is_some_and(|value| value != 0);
    let local = poll::socket_option(descriptor, libc::SO_DOMAIN) == Some(libc::AF_UNIX);
    if !local || listens {
        return Origin::Either;
    }
    match poll::socket_option(descriptor, libc::SO_PEERCRED) {
        Some(peer) if usize::try_from(peer) == Ok(call::process()) => inside,
        // Datagrams have no peer.
        Some(0) | None => Origin::Either,
        Some(_) => Origin::Outside,
    }
}

/// What an `epoll` descriptor looks at.
fn members(descriptor: i32) -> Vec<i32> {
    let path = alloc::format!("/proc/self/fdinfo/{descriptor}\0");
    let Ok(path) = core::ffi::CStr::from_bytes_with_nul(path.as_bytes()) else { return Vec::new() };
    let Ok(file) = call::open(path) else { return Vec::new() };
    let mut text = Vec::new();
    let mut part = [0_u8; 1024];
    while let Ok(length @ 1..) = call::read(file, &mut part) {
        text.extend_from_slice(&part[..length]);
    }
    call::close(file);
    let number = |line: &[u8]| {
        let rest = core::str::from_utf8(line).ok()?.strip_prefix("tfd:")?;
        rest.split_whitespace().next()?.parse().ok()
    };
    text.split(|&byte| byte == b'\n').filter_map(number).filter(|&member| member != descriptor).collect()
}

/// The descriptors of which one may end a wait, the members of an `epoll` set and the set itself.
pub(crate) fn watched(ready: Readiness) -> Vec<i32> {
    match ready {
        Readiness::Descriptor { descriptor, .. } | Readiness::Outside(Fed::Descriptor { descriptor, .. }) => {
            let mut members = members(descriptor);
            members.push(descriptor);
            members
        }
        Readiness::List { list, count } | Readiness::Outside(Fed::List { list, count }) => poll::descriptors(list, count),
        Readiness::Sets { below, sets } | Readiness::Outside(Fed::Sets { below, sets }) => poll::selected(below, sets),
        _ => Vec::new(),
    }
}

/// When nobody is enabled: whether any thread waits for what may come from outside.
pub(crate) fn is_awaited(engine: &Engine) -> bool {
    engine.model.borrow().awaited().any(|ready| source(ready) != Origin::Inside)
}

/// Where what is waited for comes from.
pub(crate) fn source(ready: Readiness) -> Origin {
    match ready {
        Readiness::Outside(_) => Origin::Outside,
        Readiness::Descriptor { descriptor, .. } | Readiness::Refused { descriptor, .. } => origin(descriptor),
        Readiness::List { list, count } => poll::descriptors(list, count).into_iter().map(origin).max().unwrap_or(Origin::Inside),
        Readiness::Sets { below, sets } => poll::selected(below, sets).into_iter().map(origin).max().unwrap_or(Origin::Inside),
        Readiness::Queue { kind, id, .. } if !has_children() && ipc::is_private(kind, id) => Origin::Inside,
        Readiness::Queue { .. } => Origin::Either,
        Readiness::Always | Readiness::Calls { .. } => Origin::Inside,
    }
}

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as an answer from this machine takes; threads that may time out are next.
    Short,
    /// Until `atomfix` ends the execution.
    Endless,
}

/// When nobody is enabled: waits, for real, until something has come; whether it has.
pub(crate) fn wait(engine: &Engine, patience: Patience) -> bool {
    const PAUSE_MICROSECONDS: u64 = 200;
    const SHORT: u32 = 250;
    /// After so many pauses a call that was refused is tried again, as the kernel cannot be asked.
    const REFUSED: u32 = 50;
    control::note(Note::Outside);
    let awaited: Vec<Readiness> = engine.model.borrow().awaited().filter(|&ready| source(ready) != Origin::Inside).collect();
    let mut tries = 0;
    control::set(Word::AwaitsOutside, u64::from(patience == Patience::Endless));
    loop {
        let may_try_again = |ready: &Readiness| {
            matches!(ready, Readiness::Refused { .. }) && patience == Patience::Endless && tries % REFUSED == REFUSED - 1
        };
        if awaited.iter().any(|ready| ready.holds() || may_try_again(ready)) {
            control::set(Word::AwaitsOutside, 0);
            engine.model.borrow_mut().open_to_outside();
            return true;
        }
        tries += 1;
        if (patience == Patience::Short && tries > SHORT) || control::get(Word::Stop) != 0 {
            return false;
        }
        call::pause_for(PAUSE_MICROSECONDS);
    }
}
