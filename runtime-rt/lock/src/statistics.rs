//! What `stats=1` prints at exit: one line in all, one a lock and cause, and one a place (a label of the plan) and cause.
//!
//! A process that ends without `exit` (a signal, `_exit`) prints nothing.

use core::ffi::c_int;

use crate::events;
use crate::options;
use crate::protocol::lock::CAUSE_NAMES;
use crate::sys;
use crate::table;
use crate::text::Line;

/// Listed among the functions that `exit` calls last.
#[cfg(panic = "abort")]
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = report;

/// Prints the counters, if asked to.
pub extern "C" fn report() {
    if options::statistics() {
        let log = options::log().and_then(open);
        write(log.unwrap_or(libc::STDERR_FILENO));
    }
}

/// Opens the log for appending; lines of several processes do not mix.
fn open(name: &[u8]) -> Option<c_int> {
    let mut path = [0_u8; 4096];
    let room = path.get_mut(..name.len())?;
    for (place, byte) in room.iter_mut().zip(name) {
        *place = *byte;
    }
    // The name ends before the array does, or the kernel says that it is too long.
    let last = path.last_mut()?;
    *last = 0;
    let flags = usize::try_from(libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC).ok()?;
    let here = usize::try_from(libc::AT_FDCWD).unwrap_or(usize::MAX - 99);
    // SAFETY: the kernel reads the zero-terminated name only.
    let descriptor = unsafe { sys::call::call(libc::SYS_openat, [here, path.as_ptr().addr(), flags, 0o644, 0, 0]) };
    c_int::try_from(descriptor).ok().filter(|&descriptor| descriptor >= 0)
}

fn write(to: c_int) {
    let pid = u64::from(sys::thread::pid());
    let total = table::locks().iter().flat_map(|lock| lock.counts()).map(u64::from).sum();
    Line::new().number(pid).text(b": ").number(table::locks().len() as u64).text(b" locks, ").number(total).text(b" events").write(to);
    for (number, lock) in (0_u64..).zip(table::locks()) {
        for (cause, count) in CAUSE_NAMES.iter().zip(lock.counts()).filter(|(_, count)| *count != 0) {
            let line = Line::new().number(pid).text(b": lock").number(number).text(b" ");
            line.text(name(number)).text(b": ").text(cause.as_bytes()).text(b" ").number(u64::from(count)).write(to);
        }
    }
    for event in events::all() {
        let number = table::locks().iter().take_while(|lock| lock.address() != event.lock).count() as u64;
        let cause = usize::try_from(event.cause).ok().and_then(|cause| CAUSE_NAMES.get(cause)).copied().unwrap_or("?");
        let line = Line::new().number(pid).text(b": lock").number(number).text(b" at ");
        let line = match event.label {
            Some(label) => line.text(b"l").number(u64::from(label)),
            None => line.text(b"an unknown place"),
        };
        line.text(b": ").text(cause.as_bytes()).text(b" ").number(u64::from(event.count)).write(to);
    }
    if events::elsewhere() != 0 {
        Line::new().number(pid).text(b": ").number(u64::from(events::elsewhere())).text(b" events at further places").write(to);
    }
}

fn name(number: u64) -> &'static [u8] {
    usize::try_from(number).ok().and_then(|number| table::names().nth(number)).map_or(b"", |name| name.to_bytes())
}
