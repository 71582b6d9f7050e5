//! The hooks of `model::abi` that instrumented code calls. Those that need their caller's stack pointer pass it on in the next
//! free argument register.

use core::arch::global_asm;
use core::ffi::c_void;
use core::mem::offset_of;
use core::sync::atomic::Ordering;

use model::abi::LENGTH_STRING;
use model::ids::{FunctionKey, SiteKey};
use model::pair::Rw;

use crate::change::{Before, LONGEST};
use crate::frame::StackAddress;
use crate::pace::{KEYS, Pace};
use crate::process::{Local, PACE, current, exiting, with, with_at};
use crate::recorder::Recorder;
use crate::shadow::{Address, Public};
use crate::thread::Thread;

// In a pause a hook does nothing but see whether its key was met before. `{window}` is odd while recording.
global_asm!(
    ".globl __atomfix_record_enter, __atomfix_record_leave, __atomfix_record_call, __atomfix_record_begin, __atomfix_record_end",
    ".type __atomfix_record_enter,@function",
    "__atomfix_record_enter:",
    "lea rdx, [rsp + 8]",
    "test byte ptr [rip + {pace} + {window}], 1",
    "jnz {enter}",
    "mov eax, esi",
    "and eax, {last_key}",
    "mov ecx, eax",
    "shr ecx, 5",
    "lea r9, [rip + {pace} + {keys}]",
    "mov ecx, dword ptr [r9 + 4*rcx]",
    "bt ecx, eax",
    "jnc {enter}",
    "mov rax, qword ptr [rip + __atomfix_record_thread@GOTTPOFF]",
    "mov rax, qword ptr fs:[rax]",
    "test rax, rax",
    "jz {enter}",
    "inc word ptr [rax + {waited}]",
    "jz {enter}",
    "ret",
    ".type __atomfix_record_leave,@function",
    "__atomfix_record_leave:",
    "lea rsi, [rsp + 8]",
    "test byte ptr [rip + {pace} + {window}], 1",
    "jnz {leave}",
    "ret",
    ".type __atomfix_record_call,@function",
    "__atomfix_record_call:",
    "lea rdx, [rsp + 8]",
    "test byte ptr [rip + {pace} + {window}], 1",
    "jnz {call}",
    "mov eax, esi",
    "and eax, {last_key}",
    "mov ecx, eax",
    "shr ecx, 5",
    "lea r9, [rip + {pace} + {keys}]",
    "mov ecx, dword ptr [r9 + 4*rcx]",
    "bt ecx, eax",
    "jnc {call}",
    "mov rax, qword ptr [rip + __atomfix_record_thread@GOTTPOFF]",
    "mov rax, qword ptr fs:[rax]",
    "test rax, rax",
    "jz {call}",
    "mov qword ptr [rax + {last_call}], rsi",
    "ret",
    ".type __atomfix_record_begin,@function",
    "__atomfix_record_begin:",
    "lea r8, [rsp + 8]",
    "test byte ptr [rip + {pace} + {window}], 1",
    "jnz {begin}",
    "mov eax, ecx",
    "and eax, {last_key}",
    "mov r9d, eax",
    "shr r9d, 5",
    "lea r10, [rip + {pace} + {keys}]",
    "mov r9d, dword ptr [r10 + 4*r9]",
    "bt r9d, eax",
    "jnc {begin}",
    "xor eax, eax",
    "ret",
    ".type __atomfix_record_end,@function",
    "__atomfix_record_end:",
    "test rdi, rdi",
    "jnz {end}",
    "ret",
    pace = sym PACE,
    window = const offset_of!(Pace, window),
    keys = const offset_of!(Pace, keys),
    last_key = const KEYS - 1,
    waited = const offset_of!(Public, waited),
    last_call = const offset_of!(Public, last_call),
    enter = sym enter,
    leave = sym leave,
    call = sym call,
    begin = sym begin,
    end = sym end,
);

const _: () = assert!(offset_of!(Local, public) == 0);

extern "C" fn enter(frame: usize, function: u64, stack: usize) {
    let stack = StackAddress(stack);
    recording(function, stack, |recorder, thread, _| recorder.enter(thread, StackAddress(frame), FunctionKey(function), stack));
}

/// Does something unless recording pauses and this key is nothing new.
#[inline]
fn recording(key: u64, stack: StackAddress, act: impl FnOnce(&'static Recorder, &mut Thread, &'static Public)) {
    let Some((recorder, local)) = current() else { return };
    if !recorder.pace.window().is_open() && !recorder.pace.wakes(key, &local.public.waited) {
        return;
    }
    with_at(recorder, local, stack, |thread| act(recorder, thread, &local.public));
}

extern "C" fn leave(frame: usize, stack: usize) {
    let stack = StackAddress(stack);
    let Some((recorder, local)) = current() else { return };
    if recorder.pace.window().is_open() {
        with_at(recorder, local, stack, |thread| thread.frames.leave(StackAddress(frame), stack));
    }
}

extern "C" fn call(frame: usize, site: u64, stack: usize) {
    let stack = StackAddress(stack);
    let Some((recorder, local)) = current() else { return };
    // Through pauses too: it is where an allocation comes from.
    local.public.last_call.store(site, Ordering::Relaxed);
    if recorder.pace.window().is_open() || recorder.pace.wakes(site, &local.public.waited) {
        with_at(recorder, local, stack, |thread| recorder.call(thread, StackAddress(frame), SiteKey(site), stack));
    }
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
    if !recorder.pace.window().is_open() && !recorder.pace.wakes(site, &local.public.waited) {
        return core::ptr::null();
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

/// `RECORD_RANGE`
#[unsafe(no_mangle)]
extern "C" fn __atomfix_record_range(address: *const u8, length: u64, kind: u32, site: u64) {
    let length = if length == LENGTH_STRING { string_length(address) } else { length };
    if address.is_null() || length == 0 {
        return;
    }
    let Some((recorder, local)) = current() else { return };
    if recorder.pace.window().is_open() || recorder.pace.wakes(site, &local.public.waited) {
        let range = (Address(address.addr()), length);
        with(|recorder, thread, public| {
            thread.resume(recorder.pace.window());
            recorder.range(thread, public, range, rw(kind), SiteKey(site));
        });
    }
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
