//! The hooks that instrumented and hardened code calls. Their signatures are those of `model::abi`.

use explorer::races::Party;
use model::abi::{KIND_ATOMIC, LENGTH_STRING};
use model::cause::Cause;
use model::event::Range;
use model::external::Unseen;
use model::external::handed::Handing;
use model::ids::{Label, SiteKey};
use model::pair::{Mode, Rw};

use super::export;
use crate::engine::circle;
use crate::engine::fiber::{Engine, Fiber, running};
use crate::engine::handed::{self, Touch};
use crate::engine::interrupts;
use crate::engine::lifetime;
use crate::engine::signals;
use crate::gate::ask::{Ask, Request};
use crate::gate::compare::{WORD, word};
use crate::gate::injected::Hold;
use crate::gate::thread::Hope;

fn rw(kind: u32) -> Rw {
    match kind & 3 {
        0 => Rw::Read,
        1 => Rw::Write,
        _ => Rw::Update,
    }
}

/// An access: noted, and a scheduling point when it is atomic or to memory known to be shared; whether it was one.
fn access(engine: &Engine, range: Range, kind: u32, site: SiteKey, frame: usize) -> bool {
    let rw = rw(kind);
    let atomic = kind & KIND_ATOMIC != 0;
    let party = Party { thread: engine.current(), site, rw, atomic };
    engine.with_current(|fiber| {
        point(engine, fiber, range, party, Place { site, always: atomic, certain: true }, frame, || {
            engine.request_access(fiber, range, party)
        })
    })
}

/// A compare-and-swap, which writes only if it finds what it expects.
fn compare_and_swap(engine: &Engine, range: Range, expected: u64, site: SiteKey, frame: usize) {
    let party = Party { thread: engine.current(), site, rw: Rw::Update, atomic: true };
    let request = Request { ask: Ask::CompareAndSwap { range, expected }, site: Some(site) };
    engine.with_current(|fiber| {
        point(engine, fiber, range, party, Place { site, always: true, certain: true }, frame, || {
            engine.request(party.thread, request);
        });
    });
}

/// Where an access stands.
#[derive(Clone, Copy)]
struct Place {
    /// What tells it from others that the thread comes to with the same stack.
    site: SiteKey,
    /// Whether it is a scheduling point whatever it accesses.
    always: bool,
    /// Whether it is known to be made: no data race comes of what is not.
    certain: bool,
}

/// Notes what the current thread is about to do to memory, and asks for it where others may see it; whether it did.
#[inline(always)]
fn point(engine: &Engine, fiber: &Fiber, range: Range, party: Party, place: Place, frame: usize, ask: impl FnOnce()) -> bool {
    let Party { thread: me, site, rw, atomic } = party;
    if engine.hangs.get() {
        signals::end_hanging(engine);
    }
    if fiber.is_full(frame) {
        signals::end_full(engine, site);
    }
    let ordinal = fiber.count_access();
    let shared = engine.shadow.borrow_mut().touch(me, range, rw);
    let asks = engine.recorder.borrow().wants(me, ordinal).unwrap_or(shared || place.always) || interrupts::is_due(engine, me);
    // Whether a write that others may see changes anything is looked at when it is done, and what stands on the thread's own stack when it
    // comes back; any other one counts as progress.
    let is_word = rw.writes() && range.length <= WORD;
    let in_doubt = is_word && (asks || atomic);
    let is_local = rw.writes() && !asks && fiber.is_on_stack(frame, range);
    let found = {
        let mut circle = fiber.circle.borrow_mut();
        if rw.writes() && !in_doubt && !is_local {
            circle.progress();
        }
        circle::pass(engine, fiber, &mut circle, place.site, frame);
        circle.is_found()
    };
    fiber.last_site.set(Some(site));
    // A thread that goes round in a circle stops here in a replay too, whether or not it ever goes on.
    let stops = asks || found;
    if stops {
        circle::stand(engine, fiber, place.site, frame);
        engine.pieces.note(range, atomic);
        fiber.ask_for(ordinal, ask);
    } else if rw.writes() && !is_local {
        engine.rounds.disturb();
    }
    // Nobody runs between here and the instruction.
    lifetime::look(engine, range.address, Some(site), if rw.writes() { "memory is written" } else { "memory is read" });
    let before = if is_word && (stops || in_doubt) { word(range) } else { None };
    if stops && is_word {
        engine.overwritten.set(before);
    }
    if in_doubt {
        fiber.circle.borrow_mut().doubt(range, before);
    }
    if place.certain {
        engine.note_access(party, range);
    }
    stops
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

/// Defines a hook that also wants to know where its caller's frame is and what is in the registers that calls preserve:
/// it stores them on the stack and passes the address of the lowest as the argument in `r8`.
macro_rules! framed {
    ($($name:ident -> $to:ident($($type:ty),*))*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[unsafe(naked)]
        extern "C" fn $name($(_: $type),*) {
            core::arch::naked_asm!(
                // Exceptions do not pass here, but debuggers look through.
                ".cfi_startproc",
                "push rbp", "push rbx", "push r12", "push r13", "push r14", "push r15",
                "mov r8, rsp",
                "sub rsp, 8",
                ".cfi_def_cfa_offset 64",
                "call {to}",
                "add rsp, 56",
                ".cfi_def_cfa_offset 8",
                "ret",
                ".cfi_endproc",
                to = sym $to,
            )
        }
    )*};
}

framed! {
    __atomfix_gate_access -> gate_access(u64, u32, u32, u64)
    __atomfix_gate_compare -> gate_compare(u64, u32, u64, u64)
    __atomfix_gate_range -> gate_range(u64, u64, u32, u64)
    __atomfix_gate_read -> gate_read(u64, u64, u32, u64)
    __atomfix_gate_handed -> gate_handed(u64, u64, u64, u64)
    __atomfix_gate_call -> gate_call(u64, u32, u64, u64)
    __atomfix_acquire -> acquire(u64, u32, u32, u64)
}

extern "C" fn gate_access(address: u64, size: u32, kind: u32, site: u64, frame: usize) {
    if let Some(engine) = running() {
        access(engine, Range { address, length: size.max(1) }, kind, SiteKey(site), frame);
    }
}

extern "C" fn gate_compare(address: u64, size: u32, expected: u64, site: u64, frame: usize) {
    if let Some(engine) = running() {
        compare_and_swap(engine, Range { address, length: size.max(1) }, expected, SiteKey(site), frame);
    }
}

/// The range that a hook is about; nothing when it has no length.
fn whole(address: u64, length: u64) -> Option<Range> {
    let length = if length == LENGTH_STRING { string_length(address) } else { length };
    (length > 0).then(|| Range { address, length: u32::try_from(length).unwrap_or(u32::MAX) })
}

extern "C" fn gate_range(address: u64, length: u64, kind: u32, site: u64, frame: usize) {
    if let Some((engine, range)) = running().zip(whole(address, length)) {
        access(engine, range, kind, SiteKey(site), frame);
    }
}

extern "C" fn gate_read(address: u64, length: u64, number: u32, site: u64, frame: usize) -> u64 {
    const READ: u32 = Rw::Read as u32;
    match running().zip(whole(address, length)) {
        Some((engine, range)) if access(engine, range, READ, SiteKey(site), frame) => {
            // A string may have another length by now.
            let now = whole(address, length).unwrap_or(range);
            engine.with_current(|fiber| fiber.kept.keep(now, number))
        }
        _ => address,
    }
}

extern "C" fn gate_handed(address: u64, what: u64, callee: u64, site: u64, frame: usize) {
    let Some(engine) = running() else { return };
    let (handing, site) = (Handing::from_abi(what), SiteKey(site));
    let mut is_shared = false;
    let mut number = 0;
    handed::each_access(engine, address, handing, callee, |Touch { range, rw, guarded }| {
        let party = Party { thread: engine.current(), site, rw, atomic: guarded };
        number += 1;
        // Each access of a call is at a place of its own: a thread that comes to the next one has gone on.
        let place = Place { site: SiteKey(site.0.wrapping_add(number)), always: false, certain: !guarded };
        is_shared |= engine.with_current(|fiber| {
            point(engine, fiber, range, party, place, frame, || {
                engine.request(party.thread, Request { ask: Ask::Access { range, rw, atomic: guarded }, site: Some(site) });
            })
        });
    });
    if is_shared || handed::is_for_all(handing) && !engine.model.borrow().is_alone() {
        handed::name(engine, handing, callee, site);
    }
}

extern "C" fn gate_call(site: u64, unseen: u32, _: u64, _: u64, frame: usize) {
    if let Some(engine) = running() {
        if engine.hangs.get() {
            signals::end_hanging(engine);
        }
        let site = SiteKey(site);
        if engine.with_current(|fiber| fiber.is_full(frame)) {
            signals::end_full(engine, site);
        }
        if unseen != Unseen::Nothing as u32 {
            note_unseen(engine, unseen);
        }
        engine.with_current(|fiber| {
            fiber.call_site.set(Some(site));
            fiber.last_site.set(Some(site));
            circle::pass(engine, fiber, &mut fiber.circle.borrow_mut(), site, frame);
            // The function may be one of ours, which asks without another place.
            circle::stand(engine, fiber, site, frame);
        });
    }
}

/// What the function that is called changes, or depends on, that no hook sees.
#[inline(never)]
fn note_unseen(engine: &Engine, unseen: u32) {
    match Unseen::from_abi(unseen) {
        Some(Unseen::State) => {
            engine.with_current(|fiber| fiber.circle.borrow_mut().progress());
            engine.rounds.disturb();
        }
        Some(Unseen::Numbers) => engine.hope(Hope::Luck),
        Some(Unseen::Nothing) | None => {}
    }
}

extern "C" fn acquire(lock: u64, mode: u32, label: u32, activation: u64, frame: usize) {
    let Some((engine, mode)) = running().zip(u8::try_from(mode).ok().and_then(Mode::from_abi)) else { return };
    let me = engine.current();
    let hold = Hold { lock, thread: me, frame: activation, label: Label(label), mode };
    {
        let mut model = engine.model.borrow_mut();
        if model.holds.covers(me, lock, mode) {
            // Nothing that another thread could see: only the origin changes.
            model.holds.acquire(hold);
            return;
        }
        if !model.holds.can_acquire(me, lock, mode) {
            model.give_up_weaker(me, lock);
        }
    }
    // What it has read since the last place is in its registers now, and decides where it goes.
    engine.with_current(|fiber| circle::stand(engine, fiber, SiteKey(lock), frame));
    engine.request(me, Request { ask: Ask::Acquire { hold }, site: None });
}

export! {
    fn __atomfix_gate_assembly(what: u32, site: u64) {
        if let Some(engine) = running() {
            engine.name_assembly(what, SiteKey(site));
        }
    }

    fn __atomfix_gate_locks_begin(frame: u64) {
        if let Some(engine) = running() {
            let since = engine.rounds.next_step();
            engine.with_current(|fiber| fiber.takes_several.begin(frame, since));
        }
    }

    fn __atomfix_gate_locks_end(frame: u64) {
        if let Some(engine) = running() {
            engine.with_current(|fiber| fiber.takes_several.end(frame));
        }
    }

    fn __atomfix_release(lock: u64, label: u32, frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().let_go(engine.current(), |holds, me| holds.release(me, lock, Label(label), frame));
        }
    }

    fn __atomfix_degrade(lock: u64, label: u32, frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().let_go(engine.current(), |holds, me| holds.degrade(me, lock, Label(label), frame, Mode::R));
        }
    }

    fn __atomfix_degrade_to_update(lock: u64, label: u32, frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().let_go(engine.current(), |holds, me| holds.degrade(me, lock, Label(label), frame, Mode::U));
        }
    }

    fn __atomfix_give_up() {
        if let Some(engine) = running() {
            engine.model.borrow_mut().let_go(engine.current(), |holds, me| holds.give_up(me, Cause::Poll));
        }
    }

    fn __atomfix_unwind(frame: u64) {
        if let Some(engine) = running() {
            engine.model.borrow_mut().let_go(engine.current(), |holds, me| holds.unwind(me, frame));
        }
    }
}

#[cfg(test)]
mod tests {
    use model::abi::{Archive, HOOKS};

    #[test]
    fn every_hook_that_the_archive_owes_is_defined_here() {
        let source = include_str!("hooks.rs");
        let owed = HOOKS.iter().filter(|hook| hook.archives.contains(&Archive::Gate));
        let missing: Vec<&str> = owed
            .map(|hook| hook.name)
            .filter(|name| !source.contains(&format!("    {name} -> ")) && !source.contains(&format!("    fn {name}(")))
            .collect();
        assert_eq!(missing, [""; 0]);
    }
}
