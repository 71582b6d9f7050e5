//! Where heap blocks begin, and who allocated them: it names the locks in them. And where those lie that `quarantine` keeps.
//!
//! Kept by page beside the cells. Not known: blocks of allocators other than the C library's.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::shadow::{Address, PAGE, Shadow};
use crate::sys::Zeroed;
use crate::table::SiteIndex;

/// Where heap blocks begin in a page, and which were freed: possible every 16 bytes.
#[derive(Debug)]
pub(crate) struct Starts {
    bits: [AtomicU64; 4],
    freed: [AtomicU64; 4],
    sites: [AtomicU32; 256],
}

// SAFETY: atomic integers.
unsafe impl Zeroed for Starts {}

impl Starts {
    /// Whether what lies at an address of the page is freed memory.
    #[inline]
    pub(crate) fn is_freed(&self, address: Address) -> bool {
        let unit = address.0 % PAGE / 16;
        self.freed[unit / 64].load(Ordering::Relaxed) & 1 << (unit % 64) != 0
    }
}

impl Shadow {
    /// A heap block begins here, allocated at this call.
    pub(crate) fn add_start(&self, address: Address, site: Option<SiteIndex>) {
        let Some(starts) = self.starts_in(address) else { return };
        let unit = address.0 % PAGE / 16;
        starts.sites[unit].store(site.map_or(0, |site| site.0 + 1), Ordering::Relaxed);
        starts.bits[unit / 64].fetch_or(1 << (unit % 64), Ordering::Relaxed);
    }

    /// Of the page that an address lies in.
    fn starts_in(&self, address: Address) -> Option<&'static Starts> {
        let page = self.page(address)?;
        if page.starts.get().is_none() {
            let _taken = page.lock.take();
            if page.starts.get().is_none() {
                page.starts.set(self.starts.get());
            }
        }
        page.starts.get()
    }

    /// Whether what lies in a block is freed memory, from now on.
    pub(crate) fn set_freed(&self, (start, length): (Address, usize), freed: bool) {
        let (mut unit, end) = (start.0 / 16, (start.0 + length).div_ceil(16));
        while unit < end {
            let next = (unit / 64 * 64 + 64).min(end);
            if let Some(starts) = self.starts_in(Address(unit * 16)) {
                let bits = (u64::MAX >> (64 - (next - unit))) << (unit % 64);
                let word = &starts.freed[unit % 256 / 64];
                let _ = if freed { word.fetch_or(bits, Ordering::Relaxed) } else { word.fetch_and(!bits, Ordering::Relaxed) };
            }
            unit = next;
        }
    }

    /// It ends.
    pub(crate) fn remove_start(&self, address: Address) {
        if let Some(starts) = self.find(address).and_then(|page| page.starts.get()) {
            let unit = address.0 % PAGE / 16;
            starts.bits[unit / 64].fetch_and(!(1 << (unit % 64)), Ordering::Relaxed);
        }
    }

    /// Whether a heap block begins here.
    pub(crate) fn is_start(&self, address: Address) -> bool {
        let starts = self.find(address).and_then(|page| page.starts.get());
        let unit = address.0 % PAGE / 16;
        address.0.is_multiple_of(16) && starts.is_some_and(|starts| starts.bits[unit / 64].load(Ordering::Relaxed) & 1 << (unit % 64) != 0)
    }

    /// Where the last heap block at or below this address begins, within a megabyte, and who allocated it.
    pub(crate) fn find_start(&self, address: Address) -> Option<(Address, Option<SiteIndex>)> {
        let mut unit = address.0 / 16;
        let lowest = unit.saturating_sub(1 << 16);
        while unit > lowest {
            let within = unit % 256;
            let bits = self.find(Address(unit * 16)).and_then(|page| page.starts.get()).map_or(0, |starts| {
                let upto = u64::MAX >> (63 - within % 64);
                starts.bits[within / 64].load(Ordering::Relaxed) & upto
            });
            if bits != 0 {
                let unit = unit / 64 * 64 + 63 - bits.leading_zeros() as usize;
                let site = self.find(Address(unit * 16))?.starts.get()?.sites[unit % 256].load(Ordering::Relaxed);
                return Some((Address(unit * 16), site.checked_sub(1).map(SiteIndex)));
            }
            unit = (unit / 64 * 64).checked_sub(1)?;
        }
        None
    }
}
