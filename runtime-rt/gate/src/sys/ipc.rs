//! Queues of messages, sets of semaphores and shared memory of System V: what the kernel says of them without changing them, and removing them.

use alloc::vec::Vec;

use super::call::{Errno, system_call, word};

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A queue of messages.
    Messages,
    /// A set of semaphores.
    Semaphores,
    /// Shared memory.
    Memory,
}

/// As long as either description of the kernel's, in which the key comes first.
type Status = [u64; 16];

fn status(kind: Kind, id: usize) -> Option<Status> {
    let mut status = [0; 16];
    let place = (&raw mut status).expose_provenance();
    // SAFETY: the kernel writes a description, which has room.
    unsafe { control(kind, id, libc::IPC_STAT, place) }.is_ok().then_some(status)
}

/// Makes the call that looks after one.
///
/// # Safety
///
/// The command may write to `place`.
unsafe fn control(kind: Kind, id: usize, command: i32, place: usize) -> Result<usize, Errno> {
    let command = word(command);
    let (number, arguments) = match kind {
        Kind::Messages => (libc::SYS_msgctl, [id, command, place, 0, 0, 0]),
        Kind::Semaphores => (libc::SYS_semctl, [id, 0, command, place, 0, 0]),
        Kind::Memory => (libc::SYS_shmctl, [id, command, place, 0, 0, 0]),
    };
    // SAFETY: as the caller says.
    unsafe { system_call(number, arguments) }
}

/// Removes it, if it is there.
pub(crate) fn remove(kind: Kind, id: usize) {
    // SAFETY: removing writes nothing.
    let _ = unsafe { control(kind, id, libc::IPC_RMID, 0) };
}

/// Whether no other process finds it by a key.
pub(crate) fn is_private(kind: Kind, id: usize) -> bool {
    status(kind, id).is_some_and(|[key, ..]| key & 0xffff_ffff == libc::IPC_PRIVATE as u64)
}

/// A number that is another one after most changes.
pub(crate) fn mark(kind: Kind, id: usize) -> u64 {
    /// Where the kernel says how many semaphores a set has.
    const COUNT: usize = 10;
    let mix = |mark: u64, word: u64| (mark ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    let Some(status) = status(kind, id) else { return 0 };
    let known = status.iter().copied().fold(1, mix);
    if kind != Kind::Semaphores {
        return known;
    }
    let mut values: Vec<u16> = alloc::vec![0; usize::try_from(status[COUNT]).unwrap_or(0).min(1 << 16)];
    let arguments = [id, 0, word(libc::GETALL), values.as_mut_ptr().expose_provenance(), 0, 0];
    // SAFETY: the kernel writes as many values as it has said that there are.
    let _ = unsafe { system_call(libc::SYS_semctl, arguments) };
    values.into_iter().map(u64::from).fold(known, mix)
}
