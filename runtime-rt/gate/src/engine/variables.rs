//! Variables of the C library that show what its functions keep (`environ`, `optind`, `timezone`): such functions access them too.
//!
//! Not told: what they point to.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use model::event::Range;
use model::external::kept::Kept;

use crate::sys::text;

/// Where they are, in the order in which `Kept::shown` has them; 0 where there is none.
static PLACES: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

/// All of them, by what they show.
fn all() -> impl Iterator<Item = (Kept, (&'static core::ffi::CStr, u32))> {
    Kept::shown().flat_map(|kept| kept.variables().iter().map(move |variable| (kept, *variable)))
}

/// Before the program begins.
pub(crate) fn look() {
    for ((_, (name, _)), place) in all().zip(&PLACES) {
        place.store(text::address(name).unwrap_or(0), Relaxed);
    }
}

/// Those that show what has this number.
pub(super) fn that_show(kept: u8) -> impl Iterator<Item = Range> {
    let shown = all().zip(&PLACES).filter(move |((shown, _), _)| *shown as u8 == kept);
    shown.map(|((_, (_, length)), place)| Range { address: place.load(Relaxed), length }).filter(|range| range.address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_place() {
        assert!(all().count() <= PLACES.len());
    }
}
