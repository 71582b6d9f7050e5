//! Counts holds of injected locks that ended before their regions, where the `atomfix` process finds them.

use alloc::vec::Vec;

use explorer::target::page::EarlyEnd;
use model::abi::LOCK_BYTES;
use model::ids::LockId;

use super::control;
use crate::gate::injected::Lost;

/// The table that relinking a hardened build defines; null in a build without a plan.
fn table() -> u64 {
    let address: u64;
    // SAFETY: loads a constant that the linker puts there: the address of the symbol, or 0 where nothing defines it.
    #[cfg(not(test))]
    unsafe {
        core::arch::asm!(
            ".weak __atomfix_locks",
            "mov {}, qword ptr [rip + __atomfix_locks@GOTPCREL]",
            out(reg) address,
            options(nostack, preserves_flags, readonly),
        );
    }
    #[cfg(test)]
    {
        address = 0;
    }
    address
}

/// Counts them by lock, place and reason.
pub(crate) fn count(lost: Vec<Lost>) {
    for Lost { hold, why } in lost {
        let number = hold.lock.saturating_sub(table()) / LOCK_BYTES as u64;
        let lock = LockId(u32::try_from(number).unwrap_or(u32::MAX));
        control::count_early(EarlyEnd { lock, label: hold.label, why, count: 0 }.key());
    }
}
