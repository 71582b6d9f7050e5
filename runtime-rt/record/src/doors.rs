//! The hooks of `model::abi` that instrumented code calls, and the slow ways that it takes where the short ways through them
//! (`passes`, `inline.ll`) stand in the code itself. Those that need their caller's stack pointer pass it on in the next free argument
//! register.
//!
//! A slow way keeps all general registers but `r11` (LLVM's `preserve_mostcc`), and is told where the place's own word is.

use core::arch::global_asm;
use core::ffi::c_void;
use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, Ordering};

use model::abi::{LENGTH_BLOCK, LENGTH_STRING};
use model::ids::{FunctionKey, SiteKey};
use model::pair::Rw;

use crate::change::{Before, LONGEST};
use crate::frame::StackAddress;
use crate::interpose::{block_size, give_all_back};
use crate::pace::{Clock, Pace};
use crate::process::{Local, ORDERS, PACE, current, exiting, with, with_at};
use crate::recorder::Recorder;
use crate::shadow::{Address, Public};
use crate::sys;
use crate::thread::Thread;

global_asm!(
    // What the short ways compare their words with.
    ".globl __atomfix_record_window",
    ".hidden __atomfix_record_window",
    ".set __atomfix_record_window, {pace}",
    // A function that keeps the general registers but `r11`, which is the caller's stack pointer to what is called with nine words
    // pushed; `rax` is kept by those that give no result.
    ".macro atomfix_keep register",
    "push \\register",
    ".cfi_adjust_cfa_offset 8",
    ".endm",
    ".macro atomfix_back register",
    "pop \\register",
    ".cfi_adjust_cfa_offset -8",
    ".endm",
    ".macro atomfix_slow name stack target",
    ".globl \\name",
    ".type \\name,@function",
    "\\name:",
    ".cfi_startproc",
    "lea r11, [rsp + 8]",
    ".irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11",
    "atomfix_keep \\register",
    ".endr",
    "mov \\stack, r11",
    "call \\target",
    ".irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax",
    "atomfix_back \\register",
    ".endr",
    "ret",
    ".cfi_endproc",
    ".size \\name, . - \\name",
    ".endm",
    "atomfix_slow __atomfix_slow_enter rcx {enter}",
    "atomfix_slow __atomfix_slow_leave rsi {leave}",
    "atomfix_slow __atomfix_slow_call rcx {call}",
    "atomfix_slow __atomfix_slow_end rsi {end}",
    "atomfix_slow __atomfix_slow_range r9 {range}",
    ".globl __atomfix_slow_begin",
    ".type __atomfix_slow_begin,@function",
    "__atomfix_slow_begin:",
    ".cfi_startproc",
    "lea r11, [rsp + 8]",
    ".irp register, rcx, rdx, rsi, rdi, r8, r9, r10",
    "atomfix_keep \\register",
    ".endr",
    "mov r9, r11",
    "call {begin}",
    ".irp register, r10, r9, r8, rdi, rsi, rdx, rcx",
    "atomfix_back \\register",
    ".endr",
    "ret",
    ".cfi_endproc",
    ".size __atomfix_slow_begin, . - __atomfix_slow_begin",
    // The hooks themselves, called by code without short ways: all its places share one word, which is never looked at.
    ".macro atomfix_hook name word stack target",
    ".globl \\name",
    ".type \\name,@function",
    "\\name:",
    "lea \\stack, [rsp + 8]",
    "lea \\word, [rip + {nowhere}]",
    "jmp \\target",
    ".size \\name, . - \\name",
    ".endm",
    "atomfix_hook __atomfix_record_enter rdx rcx {counted_enter}",
    "atomfix_hook __atomfix_record_leave rdx rsi {leave}",
    "atomfix_hook __atomfix_record_call rdx rcx {caller}",
    "atomfix_hook __atomfix_record_begin r8 r9 {begin}",
    "atomfix_hook __atomfix_record_end rdx rsi {given_end}",
    "atomfix_hook __atomfix_record_range r8 r9 {range}",
    pace = sym PACE,
    nowhere = sym NOWHERE,
    enter = sym enter,
    counted_enter = sym counted_enter,
    leave = sym leave,
    call = sym call,
    caller = sym caller,
    begin = sym begin,
    end = sym end,
    given_end = sym given_end,
    range = sym range,
);

const _: () = assert!(offset_of!(Pace, window) == 0);

/// The word of places that have none.
static NOWHERE: AtomicU32 = AtomicU32::new(0);

/// The pause in which a place was last found to be nothing new.
type Met<'a> = &'a AtomicU32;

extern "C" fn enter(frame: usize, function: u64, met: Met<'_>, stack: usize) {
    let stack = StackAddress(stack);
    recording(function, met, stack, |recorder, thread, _| recorder.enter(thread, StackAddress(frame), FunctionKey(function), stack));
}

extern "C" fn counted_enter(frame: usize, function: u64, met: Met<'_>, stack: usize) {
    sys::set_entries_word(sys::entries_word().wrapping_add(1));
    enter(frame, function, met, stack);
}

/// The recorder and this thread, unless recording pauses and this key is nothing new.
#[inline]
fn awake(key: u64, met: Met<'_>) -> Option<(&'static Recorder, &'static Local)> {
    let (recorder, local) = current()?;
    let window = recorder.pace.window();
    if !window.is_open() {
        let clock = if sys::entries_word() == 0 { Clock::Look } else { Clock::Ignore };
        if !recorder.pace.wakes(key, clock) {
            met.store(window.0, Ordering::Relaxed);
            return None;
        }
    }
    Some((recorder, local))
}

/// Does something unless recording pauses and this key is nothing new.
#[inline]
fn recording(key: u64, met: Met<'_>, stack: StackAddress, act: impl FnOnce(&'static Recorder, &mut Thread, &'static Public)) {
    if let Some((recorder, local)) = awake(key, met) {
        with_at(recorder, local, stack, |thread| act(recorder, thread, &local.public));
    }
}

extern "C" fn leave(frame: usize, stack: usize) {
    let stack = StackAddress(stack);
    let Some((recorder, local)) = current() else { return };
    if recorder.pace.window().is_open() {
        with_at(recorder, local, stack, |thread| thread.frames.leave(StackAddress(frame), stack));
    }
}

extern "C" fn call(frame: usize, site: u64, met: Met<'_>, stack: usize) {
    let stack = StackAddress(stack);
    recording(site, met, stack, |recorder, thread, _| recorder.call(thread, StackAddress(frame), SiteKey(site), stack));
}

extern "C" fn caller(frame: usize, site: u64, met: Met<'_>, stack: usize) {
    // Through pauses too: it is where an allocation comes from.
    sys::set_caller_word(site);
    call(frame, site, met, stack);
}

fn rw(kind: u32) -> Rw {
    match kind & 3 {
        0 => Rw::Read,
        1 => Rw::Write,
        _ => Rw::Update,
    }
}

extern "C" fn begin(address: usize, size: u32, kind: u32, site: u64, met: Met<'_>, stack: usize) -> *const c_void {
    let stack = StackAddress(stack);
    let Some((recorder, local)) = awake(site, met) else { return core::ptr::null() };
    if let Some(orders) = ORDERS.get() {
        orders.bring_about(SiteKey(site), Address(address), size);
    }
    if local.enter_at(recorder, stack).is_none() {
        return core::ptr::null();
    }
    if let Some(delay) = local.act(|thread| thread.perturbation.at_access()) {
        local.leave();
        delay.wait();
        if local.enter_at(recorder, stack).is_none() {
            return core::ptr::null();
        }
    }
    let access = (Address(address), size as usize);
    let begun = local.act(|thread| {
        thread.resume(recorder.pace.window());
        let begun = recorder.begin(thread, &local.public, access, rw(kind), SiteKey(site), stack);
        let compares = access.1 <= LONGEST && (thread.pending_store.is_some() || (rw(kind).writes() && thread.pending_instance.is_some()));
        thread.before = if compares { Before::look(access.0, access.1) } else { Before::default() };
        begun
    });
    if begun.is_none() {
        local.leave();
        return core::ptr::null();
    }
    core::ptr::from_ref(local).cast()
}

extern "C" fn end() {
    // The token said that an access began; one that a signal handler abandoned has ended already.
    let Some((recorder, local)) = current() else { return };
    if local.public.accessing.load(Ordering::Relaxed) != 0 {
        local.act(|thread| recorder.end(thread, &local.public, thread.before.effect()));
        local.leave();
    }
}

extern "C" fn given_end(token: *const c_void) {
    if !token.is_null() {
        end();
    }
}

extern "C" fn range(address: *const u8, length: u64, kind: u32, site: u64, met: Met<'_>) {
    let length = if length == LENGTH_STRING { string_length(address) } else { length };
    if address.is_null() || length == 0 {
        return;
    }
    if awake(site, met).is_none() {
        return;
    }
    let start = Address(address.addr());
    with(|recorder, thread, public| {
        thread.resume(recorder.pace.window());
        match length {
            LENGTH_BLOCK => recorder.give_back(thread, public, start, block_size, (rw(kind), SiteKey(site))),
            _ => recorder.range(thread, public, (start, length), rw(kind), SiteKey(site)),
        }
    });
}

fn string_length(address: *const u8) -> u64 {
    if address.is_null() {
        return 0;
    }
    // SAFETY: instrumentation passes a string that the program is about to read, or has just written.
    unsafe { libc::strlen(address.cast()) as u64 + 1 }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    exiting();
    give_all_back();
}
