//! Asking the kernel, without waiting, whether a call would have to wait.
//!
//! Nothing here has an effect on the program's memory or descriptors.

use alloc::vec::Vec;

use super::call::{Errno, system_call, word};
use crate::gate::ask::Nanoseconds;

/// A moment that has come.
static NOW: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

/// Whether any of these holds of the descriptor. One that is not open holds, since a call on it fails at once.
pub(crate) fn is_ready(descriptor: i32, events: i16) -> bool {
    let mut one = [libc::pollfd { fd: descriptor, events, revents: 0 }];
    poll(&mut one)
}

/// Of a process's descriptors, from 0 on: what each is ready for.
pub(crate) struct States {
    list: Vec<libc::pollfd>,
    /// Whether the kernel has said so.
    known: bool,
}

impl States {
    /// Whether there is none that is not open.
    pub(crate) fn are_all_open(&self) -> bool {
        self.known && self.list.iter().all(|one| one.revents & libc::POLLNVAL == 0)
    }

    /// Those that are no longer ready for something, or may not be.
    pub(crate) fn lost_since(&self, before: &Self) -> impl Iterator<Item = u32> {
        let was = |at: usize| before.list.get(at).filter(|_| before.known).map_or(ALWAYS, ready_for);
        let is = |one: &libc::pollfd| if self.known { ready_for(one) } else { 0 };
        let lost = self.list.iter().enumerate().filter(move |&(at, one)| was(at) & !is(one) != 0);
        lost.filter_map(|(at, _)| u32::try_from(at).ok())
    }
}

/// For what one that is not open, or broken, is ready: all calls return at once.
const ALWAYS: i16 = -1;

fn ready_for(one: &libc::pollfd) -> i16 {
    if one.revents & (libc::POLLNVAL | libc::POLLERR | libc::POLLHUP) == 0 { one.revents } else { ALWAYS }
}

/// What the first so many descriptors are ready for.
pub(crate) fn states(count: usize) -> States {
    let one = |fd| libc::pollfd { fd, events: libc::POLLIN | libc::POLLPRI | libc::POLLOUT | libc::POLLRDHUP, revents: 0 };
    let mut list: Vec<libc::pollfd> = (0..).map(one).take(count).collect();
    let known = ask(&mut list).is_ok();
    States { list, known }
}

/// Whether `poll` would return at once, given the program's own list.
pub(crate) fn any_ready(list: usize, count: usize) -> bool {
    let list: *const libc::pollfd = core::ptr::with_exposed_provenance(list);
    if list.is_null() || count == 0 {
        return false;
    }
    // SAFETY: the program passes the list to a call that waits, during which it stays.
    let list = unsafe { core::slice::from_raw_parts(list, count.min(1 << 16)) };
    let mut copy: Vec<libc::pollfd> = list.to_vec();
    poll(&mut copy)
}

/// The descriptors in the program's own list.
pub(crate) fn descriptors(list: usize, count: usize) -> Vec<i32> {
    let list: *const libc::pollfd = core::ptr::with_exposed_provenance(list);
    if list.is_null() || count == 0 {
        return Vec::new();
    }
    // SAFETY: as in `any_ready`.
    let list = unsafe { core::slice::from_raw_parts(list, count.min(1 << 16)) };
    list.iter().map(|one| one.fd).filter(|&descriptor| descriptor >= 0).collect()
}

fn poll(list: &mut [libc::pollfd]) -> bool {
    ask(list) != Ok(0)
}

/// How many of a list are ready, which is written there.
fn ask(list: &mut [libc::pollfd]) -> Result<usize, Errno> {
    let arguments = [list.as_mut_ptr().expose_provenance(), list.len(), 0, 0, 0, 0];
    // SAFETY: the kernel writes only to the list.
    unsafe { system_call(libc::SYS_poll, arguments) }
}

/// Whether `select` would return at once, given the program's own sets: readers, writers, exceptions.
pub(crate) fn any_selected(below: usize, sets: [usize; 3]) -> bool {
    let mut copies = sets.map(|set| copied(below, set));
    let at = |index: usize, copies: &mut [[u64; 16]; 3]| if sets[index] == 0 { 0 } else { copies[index].as_mut_ptr().expose_provenance() };
    let [read, write, other] = [0, 1, 2].map(|index| at(index, &mut copies));
    let arguments = [below.min(1024), read, write, other, (&raw const NOW).expose_provenance(), 0];
    // SAFETY: the kernel writes only to the copies.
    let result = unsafe { system_call(libc::SYS_pselect6, arguments) };
    result != Ok(0)
}

/// A copy of a set for `select`; empty for none.
fn copied(below: usize, set: usize) -> [u64; 16] {
    let set: *const u64 = core::ptr::with_exposed_provenance(set);
    // Read in part only: the program's own sets may be as short as the descriptors that they name.
    let words = below.div_ceil(64).min(16);
    let mut copy = [0_u64; 16];
    if !set.is_null() {
        // SAFETY: the program passes sets of that many bits to a call that waits, during which they stay.
        unsafe { core::ptr::copy_nonoverlapping(set, copy.as_mut_ptr(), words) };
    }
    copy
}

/// The descriptors in the program's own sets for `select`.
pub(crate) fn selected(below: usize, sets: [usize; 3]) -> Vec<i32> {
    let copies = sets.map(|set| copied(below, set));
    let named = |index: &usize| copies.iter().any(|set| set[index / 64] & (1 << (index % 64)) != 0);
    (0..below.min(1024)).filter(named).filter_map(|index| i32::try_from(index).ok()).collect()
}

/// Whether a child, by the kind of id and the id that `waitid` takes, has changed its state; or there is none to wait for.
pub(crate) fn child_changed(kind: u32, id: usize) -> bool {
    let mut info = [0_u64; 16];
    let options = word(libc::WEXITED | libc::WNOHANG | libc::WNOWAIT);
    let arguments = [kind as usize, id, info.as_mut_ptr().expose_provenance(), options, 0, 0];
    // SAFETY: the kernel writes only to `info`, which is as long as a `siginfo_t`.
    match unsafe { system_call(libc::SYS_waitid, arguments) } {
        Err(Errno(_)) => true,
        // The third 32-bit word but one is the process; zero when none has changed.
        Ok(_) => info != [0; 16],
    }
}

/// What a descriptor is open for, as its link in `/proc` says it: a path, or `pipe:[7]`, `socket:[8]`, `anon_inode:[eventfd]`.
pub(crate) fn link(descriptor: i32) -> Vec<u8> {
    let path = alloc::format!("/proc/self/fd/{descriptor}\0");
    let mut text = alloc::vec![0_u8; 256];
    let arguments = [path.as_ptr().expose_provenance(), text.as_mut_ptr().expose_provenance(), text.len(), 0, 0, 0];
    // SAFETY: the kernel reads the path and writes at most the length given.
    let length = unsafe { system_call(libc::SYS_readlink, arguments) }.unwrap_or(0);
    text.truncate(length);
    text
}

/// One integer option of a socket.
pub(crate) fn socket_option(descriptor: i32, option: i32) -> Option<i32> {
    // Long enough for the credentials of a peer, whose first word is the process.
    let mut value = [0_i32; 3];
    let mut length = 12_u32;
    let [value_at, length_at] = [(&raw mut value).expose_provenance(), (&raw mut length).expose_provenance()];
    let arguments = [word(descriptor), word(libc::SOL_SOCKET), word(option), value_at, length_at, 0];
    // SAFETY: the kernel writes at most `length` bytes of `value`, and `length`.
    unsafe { system_call(libc::SYS_getsockopt, arguments) }.ok().map(|_| value[0])
}

/// Whether an option of a socket is a time limit, whichever size its times have.
pub(crate) fn is_time_limit(option: usize) -> bool {
    const OF_64_BITS: [usize; 2] = [66, 67];
    OF_64_BITS.contains(&option) || [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO].map(word).contains(&option)
}

/// How long calls on a socket wait for this event.
pub(crate) fn time_limit(descriptor: i32, events: i16) -> Option<Nanoseconds> {
    let option = if events & libc::POLLIN == 0 { libc::SO_SNDTIMEO } else { libc::SO_RCVTIMEO };
    let (mut value, mut length) = ([0_u64; 2], 16_u32);
    let [value_at, length_at] = [(&raw mut value).expose_provenance(), (&raw mut length).expose_provenance()];
    let arguments = [word(descriptor), word(libc::SOL_SOCKET), word(option), value_at, length_at, 0];
    // SAFETY: the kernel writes at most `length` bytes of `value`, and `length`.
    unsafe { system_call(libc::SYS_getsockopt, arguments) }.ok()?;
    let [seconds, microseconds] = value;
    (value != [0, 0]).then(|| Nanoseconds(seconds.saturating_mul(1_000_000_000).saturating_add(microseconds * 1000)))
}

/// The file's device and number.
pub(crate) fn identity(descriptor: i32) -> Option<(u64, u64)> {
    status(descriptor).map(|status| (status.st_dev, status.st_ino))
}

/// Whether it is an ordinary file.
pub(crate) fn is_regular(descriptor: i32) -> bool {
    status(descriptor).is_some_and(|status| status.st_mode & libc::S_IFMT == libc::S_IFREG)
}

fn status(descriptor: i32) -> Option<libc::stat> {
    let mut stat = core::mem::MaybeUninit::<libc::stat>::zeroed();
    let arguments = [word(descriptor), stat.as_mut_ptr().expose_provenance(), 0, 0, 0, 0];
    // SAFETY: the kernel writes a whole `stat`.
    unsafe { system_call(libc::SYS_fstat, arguments) }.ok()?;
    // SAFETY: as above; zeroed memory is a valid `stat` too.
    Some(unsafe { stat.assume_init() })
}

/// Whether a path, as `openat` takes it, names a pipe.
pub(crate) fn is_pipe(folder: usize, path: usize) -> bool {
    let mut stat = core::mem::MaybeUninit::<libc::stat>::zeroed();
    let arguments = [folder, path, stat.as_mut_ptr().expose_provenance(), 0, 0, 0];
    // SAFETY: the kernel reads the program's path and writes a whole `stat`.
    if unsafe { system_call(libc::SYS_newfstatat, arguments) }.is_err() {
        return false;
    }
    // SAFETY: as above.
    let stat = unsafe { stat.assume_init() };
    stat.st_mode & libc::S_IFMT == libc::S_IFIFO
}

/// Whether calls on the descriptor return at once where they would have to wait.
pub(crate) fn is_nonblocking(descriptor: i32) -> bool {
    flags(descriptor).is_some_and(|flags| flags & libc::O_NONBLOCK.cast_unsigned() as usize != 0)
}

fn flags(descriptor: i32) -> Option<usize> {
    // SAFETY: reads flags.
    unsafe { system_call(libc::SYS_fcntl, [word(descriptor), word(libc::F_GETFL), 0, 0, 0, 0]) }.ok()
}

/// Makes calls on the descriptor wait, or not.
pub(crate) fn set_waiting(descriptor: i32, waiting: Waiting) {
    let Some(flags) = flags(descriptor) else { return };
    let bit = word(libc::O_NONBLOCK);
    let flags = match waiting {
        Waiting::Never => flags | bit,
        Waiting::Allowed => flags & !bit,
    };
    // SAFETY: sets flags of a descriptor that the program uses; callers put them back.
    let _ = unsafe { system_call(libc::SYS_fcntl, [word(descriptor), word(libc::F_SETFL), flags, 0, 0, 0]) };
}

/// Whether calls on a descriptor may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// They fail instead.
    Never,
    /// They do.
    Allowed,
}
