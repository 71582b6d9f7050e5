//! Vector instructions that touch memory where a mask says so, lane by lane, as programs write them by intrinsics of the processor. What the
//! optimizer makes of loops needs nothing here: accesses were collected before.
//!
//! Not handled: gathering, scattering, compressing and expanding. Functions that do these are named.

use crate::Skip;
use crate::llvm::{Instruction, Module, Value};
use model::pair::Rw;

/// The lanes of an access.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'m> {
    /// Which of them are touched: single bits, or integers that are negative.
    pub(crate) mask: Value<'m>,
    /// How many there are.
    pub(crate) count: u32,
    /// How long each is.
    pub(crate) bytes: u32,
}

/// An intrinsic whose lanes lie one after the other.
struct Known {
    prefix: &'static str,
    address: u8,
    mask: u8,
    /// The argument that is stored; what is loaded is the result.
    stored: Option<u8>,
}

const KNOWN: [Known; 6] = [
    Known { prefix: "llvm.masked.load.", address: 0, mask: 1, stored: None },
    Known { prefix: "llvm.masked.store.", address: 1, mask: 2, stored: Some(0) },
    Known { prefix: "llvm.x86.avx.maskload.", address: 0, mask: 1, stored: None },
    Known { prefix: "llvm.x86.avx2.maskload.", address: 0, mask: 1, stored: None },
    Known { prefix: "llvm.x86.avx.maskstore.", address: 0, mask: 1, stored: Some(2) },
    Known { prefix: "llvm.x86.avx2.maskstore.", address: 0, mask: 1, stored: Some(2) },
];

/// The address, size and direction of such an access, with its lanes.
pub(crate) fn touched<'m>(call: Instruction<'m>, name: &str, module: Module<'m>) -> Option<(Value<'m>, u32, Rw, Lanes<'m>)> {
    let known = KNOWN.iter().find(|known| name.starts_with(known.prefix))?;
    let (address, mask) = (call.argument(known.address)?, call.argument(known.mask)?);
    let (vector, rw) = match known.stored {
        None => (call.into(), Rw::Read),
        Some(stored) => (call.argument(stored)?, Rw::Write),
    };
    let size = u32::try_from(module.store_size(vector.ty())).ok()?;
    // Bits have no address: masks and data have as many lanes.
    let count = mask.ty().lanes().filter(|&count| size.is_multiple_of(count))?;
    Some((address, size, rw, Lanes { mask, count, bytes: size / count }))
}

/// Why an intrinsic that is none of these is no site.
pub(crate) fn skipped(call: Instruction<'_>, name: &str) -> Skip {
    const VECTOR: [&str; 5] = ["llvm.masked.", "llvm.vp.", "llvm.x86.", "llvm.matrix.", "llvm.memcpy.element."];
    /// They touch a pointer, but nothing that anybody sees.
    const HARMLESS: [&str; 6] = ["clflush", "clwb", "cldemote", "prefetch", "mxcsr", "monitor"];
    let is_named = VECTOR.iter().any(|prefix| name.starts_with(prefix)) && !HARMLESS.iter().any(|part| name.contains(part));
    let points = |argument: &Value<'_>| argument.ty().is_plain_pointer() || argument.ty().is_of_pointers();
    if is_named && call.arguments().iter().any(points) { Skip::VectorMemory } else { Skip::Intrinsic }
}
