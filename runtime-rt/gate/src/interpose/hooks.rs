//! The hooks that instrumented and hardened code calls. Their signatures are those of `model::abi`.

use model::abi::{KIND_ATOMIC, LENGTH_STRING};
use model::event::Range;
use model::ids::{Label, SiteKey};
use model::pair::{Mode, Rw};

use super::export;
use crate::engine::fiber::{Engine, running};
use crate::gate::ask::{Ask, Request};
use crate::gate::injected::Hold;

fn rw(kind: u32) -> Rw {
    match kind & 3 {
        0 => Rw::Read,
        1 => Rw::Write,
        _ => Rw::Update,
    }
}

/// An access: noted, and a scheduling point when it is atomic or to memory known to be shared.
fn access(engine: &Engine, range: Range, kind: u32, site: SiteKey) {
    let me = engine.current();
    let rw = rw(kind);
    let atomic = kind & KIND_ATOMIC != 0;
    let ordinal = engine.with_current(|fiber| {
        fiber.last_site.set(Some(site));
        fiber.accesses.set(fiber.accesses.get() + 1);
        fiber.accesses.get()
    });
    let shared = engine.shadow.borrow_mut().touch(me, range, rw);
    let wanted = engine.recorder.borrow().wants(me, ordinal);
    if wanted.unwrap_or(shared || atomic) {
        engine.request(me, Request { ask: Ask::Access { range, rw, atomic }, site: Some(site) });
    }
}

/// The length of a range whose end is a zero byte.
fn string_length(address: u64) -> u64 {
    let text: *const core::ffi::c_char = core::ptr::with_exposed_provenance(usize::try_from(address).unwrap_or(0));
    if text.is_null() {
        return 1;
    }
    // SAFETY: the call that the hook announces reads the string as far as this.
    (unsafe { libc::strlen(text) } as u64) + 1
}

export! {
    fn __atomfix_gate_access(address: u64, size: u32, kind: u32, site: u64) {
        if let Some(engine) = running() {
            access(engine, Range { address, length: size.max(1) }, kind, SiteKey(site));
        }
    }

    fn __atomfix_gate_range(address: u64, length: u64, kind: u32, site: u64) {
        if let Some(engine) = running() {
            let length = if length == LENGTH_STRING { string_length(address) } else { length };
            if length > 0 {
                access(engine, Range { address, length: u32::try_from(length).unwrap_or(u32::MAX) }, kind, SiteKey(site));
            }
        }
    }

    fn __atomfix_gate_call(site: u64) {
        if let Some(engine) = running() {
            engine.with_current(|fiber| {
                fiber.call_site.set(Some(SiteKey(site)));
                fiber.last_site.set(Some(SiteKey(site)));
            });
        }
    }

    fn __atomfix_acquire(lock: u64, mode: u32, label: u32, frame: u64) {
        let Some((engine, mode)) = running().zip(u8::try_from(mode).ok().and_then(Mode::from_abi)) else { return };
        let me = engine.current();
        let hold = Hold { lock, thread: me, frame, label: Label(label), mode };
        {
            let mut model = engine.model.borrow_mut();
            if model.holds.covers(me, lock, mode) {
                // Nothing that another thread could see: only the origin changes.
                model.holds.acquire(hold);
                return;
            }
        }
        engine.request(me, Request { ask: Ask::Acquire { hold }, site: None });
    }

    fn __atomfix_release(lock: u64, label: u32, frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().holds.release(engine.current(), lock, Label(label), frame);
        }
    }

    fn __atomfix_degrade(lock: u64, label: u32, frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().holds.degrade(engine.current(), lock, Label(label), frame);
        }
    }

    fn __atomfix_unwind(frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().holds.unwind(engine.current(), frame);
        }
    }
}
