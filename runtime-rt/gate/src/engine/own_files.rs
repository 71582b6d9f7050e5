//! The files in `/proc` by which the program looks at itself: its memory, its threads and their names, its mappings.
//!
//! They show what threads change by accesses, and what the engine answers itself, so that no call that they make would be in conflict. The kernel
//! knows the engine's threads, too. Use of them beside other threads is named; what only calls change (descriptors, limits) is not meant.
//! Not handled: calls that only name such a file (`stat`, `access`).

use core::cell::Cell;

use explorer::target::page::Note;

use super::control;
use super::fiber::Engine;
use super::shapes::descriptor;
use crate::sys::call::{Errno, process};
use crate::sys::poll;

/// Whether the execution has opened any.
#[derive(Default)]
pub(crate) struct OwnFiles(Cell<bool>);

impl OwnFiles {
    /// An execution begins.
    pub(crate) fn begin(&self) {
        self.0.set(false);
    }
}

/// After a call: notes that it uses such a file.
pub(crate) fn look(engine: &Engine, number: libc::c_long, arguments: &[usize; 6], result: Result<usize, Errno>) {
    let used = match (number, result) {
        (libc::SYS_open | libc::SYS_openat | libc::SYS_openat2, Ok(opened)) => opened,
        (
            libc::SYS_read
            | libc::SYS_readv
            | libc::SYS_pread64
            | libc::SYS_preadv
            | libc::SYS_write
            | libc::SYS_writev
            | libc::SYS_pwrite64
            | libc::SYS_pwritev
            | libc::SYS_getdents64,
            _,
        ) if engine.unseen.own_files.0.get() => arguments[0],
        _ => return,
    };
    if shows_itself(&poll::link(descriptor(used))) {
        engine.unseen.own_files.0.set(true);
        if !engine.model.borrow().is_last() {
            control::note(Note::OwnFiles);
        }
    }
}

/// Whether a path names such a file.
fn shows_itself(path: &[u8]) -> bool {
    const BY_CALLS: [&[u8]; 10] =
        [b"auxv", b"cgroup", b"exe", b"fd", b"fdinfo", b"limits", b"mountinfo", b"mounts", b"ns", b"oom_score_adj"];
    let Some(rest) = path.strip_prefix(b"/proc/") else { return false };
    let Some(end) = rest.iter().position(|&byte| byte == b'/') else { return false };
    let first = rest[end + 1..].split(|&byte| byte == b'/').next().unwrap_or_default();
    rest[..end] == *alloc::format!("{}", process()).as_bytes() && !BY_CALLS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_shows_the_process_itself_is_meant() {
        let own = |name: &str| shows_itself(alloc::format!("/proc/{}/{name}", process()).as_bytes());
        assert!(own("mem") && own("maps") && own("task/7/comm") && own("task"));
        assert!(!own("fd") && !own("fdinfo/3") && !own("exe"));
        assert!(!shows_itself(b"/proc/1/mem") && !shows_itself(b"/proc/stat") && !shows_itself(b"/tmp/mem") && !shows_itself(b""));
    }
}
