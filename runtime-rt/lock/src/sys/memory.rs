//! Reading memory that may be gone by now.

use super::call::call;

/// The word at this address of this process. `None`: it is not there, or the kernel does not let us ask.
#[must_use]
pub fn read(address: usize) -> Option<u32> {
    let mut word = 0_u32;
    let here = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<u32>() };
    let there = libc::iovec { iov_base: core::ptr::without_provenance_mut(address), iov_len: size_of::<u32>() };
    let arguments = [super::thread::pid() as usize, (&raw const here).addr(), 1, (&raw const there).addr(), 1, 0];
    // SAFETY: the kernel writes the live `word` only, and checks the other address itself.
    let copied = unsafe { call(libc::SYS_process_vm_readv, arguments) };
    (copied == size_of::<u32>().cast_signed()).then_some(word)
}
