//! The hooks of `model::abi` that instrumented code calls. Those that need their caller's stack pointer pass it on in the next
//! free argument register.

use core::arch::global_asm;
use core::ffi::c_void;

use model::abi::LENGTH_STRING;
use model::ids::SiteKey;
use model::pair::Rw;

use crate::frame::StackAddress;
use crate::process::{current, exiting, with, with_at};
use crate::shadow::Address;

global_asm!(
    ".globl __atomfix_record_enter, __atomfix_record_leave, __atomfix_record_call, __atomfix_record_begin",
    ".type __atomfix_record_enter,@function",
    "__atomfix_record_enter: lea rdx, [rsp + 8]",
    "jmp {enter}",
    ".type __atomfix_record_leave,@function",
    "__atomfix_record_leave: lea rsi, [rsp + 8]",
    "jmp {leave}",
    ".type __atomfix_record_call,@function",
    "__atomfix_record_call: lea rdx, [rsp + 8]",
    "jmp {call}",
    ".type __atomfix_record_begin,@function",
    "__atomfix_record_begin: lea r8, [rsp + 8]",
    "jmp {begin}",
    enter = sym enter,
    leave = sym leave,
    call = sym call,
    begin = sym begin,
);

extern "C" fn enter(frame: usize, _function: u64, stack: usize) {
    let stack = StackAddress(stack);
    with_at(stack, |recorder, thread, _| recorder.enter(thread, StackAddress(frame), stack));
}

extern "C" fn leave(frame: usize, stack: usize) {
    let stack = StackAddress(stack);
    with_at(stack, |_, thread, _| thread.frames.leave(StackAddress(frame), stack));
}

extern "C" fn call(frame: usize, site: u64, stack: usize) {
    let stack = StackAddress(stack);
    with_at(stack, |_, thread, _| thread.frames.call(StackAddress(frame), stack, SiteKey(site)));
}

fn rw(kind: u32) -> Rw {
    match kind & 3 {
        0 => Rw::Read,
        1 => Rw::Write,
        _ => Rw::Update,
    }
}

extern "C" fn begin(address: usize, size: u32, kind: u32, site: u64, stack: usize) -> *const c_void {
    let stack = StackAddress(stack);
    let Some((recorder, local)) = current() else { return core::ptr::null() };
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
    let begun = local.act(|thread| recorder.begin(thread, &local.public, access, rw(kind), SiteKey(site), stack));
    if begun.is_none() {
        local.leave();
        return core::ptr::null();
    }
    core::ptr::from_ref(local).cast()
}

/// `RECORD_END`
#[unsafe(no_mangle)]
extern "C" fn __atomfix_record_end(token: *const c_void) {
    // The token says only whether an access began: an access that a signal handler abandoned has ended already.
    if token.is_null() {
        return;
    }
    let Some((recorder, local)) = current() else { return };
    if local.public.accessing.load(core::sync::atomic::Ordering::Relaxed) != 0 {
        local.act(|thread| recorder.end(thread, &local.public));
        local.leave();
    }
}

/// `RECORD_RANGE`
#[unsafe(no_mangle)]
extern "C" fn __atomfix_record_range(address: *const u8, length: u64, kind: u32, site: u64) {
    let length = if length == LENGTH_STRING { string_length(address) } else { length };
    if address.is_null() || length == 0 {
        return;
    }
    let range = (Address(address.addr()), length);
    with(|recorder, thread, public| recorder.range(thread, public, range, rw(kind), SiteKey(site)));
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
}
