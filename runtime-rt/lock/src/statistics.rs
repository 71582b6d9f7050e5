//! What `stats=1` prints at exit: one line in all, one a lock and cause, and one a place (a label of the plan) and cause.
//!
//! The log is opened before `main`, since servers give up their rights and change their folder. One that closes every descriptor
//! may have its number in use for something else at the end: then the log is opened by its name again.
//!
//! A process that ends without `exit` (a signal, `_exit`) prints nothing.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::events;
use crate::options;
use crate::sys;
use crate::table;
use crate::text::Line;
use model::cause::Cause;

/// Listed among the functions that `exit` calls last.
#[cfg(panic = "abort")]
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = report;

/// The descriptor of the open log, plus one; 0: none.
static LOG: AtomicU32 = AtomicU32::new(0);
/// Which file that is.
static LOG_DEVICE: AtomicU64 = AtomicU64::new(0);
static LOG_INODE: AtomicU64 = AtomicU64::new(0);

/// Descriptors from here on are out of the program's way: programs may count on getting the lowest ones.
const FIRST_OF_OURS: usize = 200;

/// Opens the log, if there is to be one.
///
/// # Errors
/// Its name, when it cannot be opened.
pub fn prepare() -> Result<(), &'static [u8]> {
    let Some(name) = options::log().filter(|_| options::statistics()) else { return Ok(()) };
    keep(open(name).ok_or(name)?);
    Ok(())
}

/// Keeps an open log for the end, out of the program's way.
fn keep(opened: c_int) {
    let moved = [usize::try_from(opened).unwrap_or(0), usize::try_from(libc::F_DUPFD_CLOEXEC).unwrap_or(0), FIRST_OF_OURS, 0, 0, 0];
    // SAFETY: the call takes no pointers.
    let moved = descriptor(unsafe { sys::call::call(libc::SYS_fcntl, moved) });
    if moved.is_some() {
        // SAFETY: the call takes no pointers; the descriptor is this function's own.
        let _ = unsafe { sys::call::call(libc::SYS_close, [usize::try_from(opened).unwrap_or(0), 0, 0, 0, 0, 0]) };
    }
    let kept = moved.unwrap_or(opened);
    let Some((device, inode)) = identity(kept) else { return };
    LOG_DEVICE.store(device, Ordering::Relaxed);
    LOG_INODE.store(inode, Ordering::Relaxed);
    LOG.store(u32::try_from(kept + 1).unwrap_or(0), Ordering::Relaxed);
}

/// The descriptor that was opened before `main`, if it still is the log.
fn kept() -> Option<c_int> {
    let kept = c_int::try_from(LOG.load(Ordering::Relaxed).checked_sub(1)?).ok()?;
    (identity(kept)? == (LOG_DEVICE.load(Ordering::Relaxed), LOG_INODE.load(Ordering::Relaxed))).then_some(kept)
}

/// Which file a descriptor is open on: device and inode.
fn identity(descriptor: c_int) -> Option<(u64, u64)> {
    // SAFETY: all-zero is a value of this structure of integers.
    let mut status = unsafe { core::mem::zeroed::<libc::stat>() };
    // SAFETY: the kernel writes the live `status` only.
    let known = unsafe { libc::fstat(descriptor, &raw mut status) } == 0;
    known.then_some((status.st_dev, status.st_ino))
}

/// What a call that makes a descriptor returned.
fn descriptor(result: isize) -> Option<c_int> {
    c_int::try_from(result).ok().filter(|&descriptor| descriptor >= 0)
}

/// Prints the counters, if asked to.
pub extern "C" fn report() {
    if options::statistics() {
        let log = kept().or_else(|| options::log().and_then(open));
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
    descriptor(unsafe { sys::call::call(libc::SYS_openat, [here, path.as_ptr().addr(), flags, 0o644, 0, 0]) })
}

fn write(to: c_int) {
    let pid = u64::from(sys::thread::pid());
    let total = table::locks().iter().flat_map(|lock| lock.counts()).map(u64::from).sum();
    let line = counted(Line::new().number(pid).text(b": "), table::locks().len() as u64, b" lock").text(b", ");
    counted(line, total, b" event").write(to);
    for (number, lock) in (0_u64..).zip(table::locks()) {
        for (cause, count) in Cause::ALL.iter().zip(lock.counts()).filter(|(_, count)| *count != 0) {
            let line = Line::new().number(pid).text(b": lock").number(number).text(b" ");
            line.text(name(number)).text(b": ").text(cause.name().as_bytes()).text(b" ").number(u64::from(count)).write(to);
        }
    }
    for event in events::all() {
        let number = table::locks().iter().take_while(|lock| lock.address() != event.lock).count() as u64;
        let cause = Cause::from_number(u64::from(event.cause)).map_or("?", Cause::name);
        let line = Line::new().number(pid).text(b": lock").number(number).text(b" at ");
        let line = match event.label {
            Some(label) => line.text(b"l").number(u64::from(label)),
            None => line.text(b"an unknown place"),
        };
        line.text(b": ").text(cause.as_bytes()).text(b" ").number(u64::from(event.count)).write(to);
    }
    if events::elsewhere() != 0 {
        let line = Line::new().number(pid).text(b": ");
        counted(line, u64::from(events::elsewhere()), b" event").text(b" at further places").write(to);
    }
}

/// Adds a number of things.
fn counted(line: Line, number: u64, thing: &[u8]) -> Line {
    line.number(number).text(thing).text(if number == 1 { b"" } else { b"s" })
}

fn name(number: u64) -> &'static [u8] {
    usize::try_from(number).ok().and_then(|number| table::names().nth(number)).map_or(b"", |name| name.to_bytes())
}
