//! The C library's standard output, as its own structure tells: what waits in its buffer can be taken out without a system call.
//!
//! The beginning of the structure is part of the C library's interface for programs, and has stayed the same since 1999 (`struct _IO_FILE`
//! of glibc). Whatever does not look like it is left alone.

use core::ffi::{c_char, c_int};

use super::real::Real;

/// The beginning of a stream.
#[repr(C)]
struct Stream {
    flags: u32,
    read: [usize; 3],
    write_base: usize,
    write_at: usize,
    write_end: usize,
    rest: [usize; 6],
    chain: usize,
    descriptor: c_int,
}

/// The first of all streams that there are, which lead from one to the next.
static FIRST: Real = Real::new(c"_IO_list_all");

/// All of them.
pub(crate) static REALS: &[&Real] = &[&FIRST];

/// The upper half of the flags of every stream.
const MAGIC: u32 = 0xfbad_0000;

unsafe extern "C" {
    static stdout: *mut Stream;
    fn setvbuf(stream: *mut Stream, buffer: *mut c_char, mode: c_int, size: usize) -> c_int;
    fn __fbufsize(stream: *mut Stream) -> usize;
    fn fwide(stream: *mut Stream, mode: c_int) -> c_int;
}

fn standard_output() -> *mut Stream {
    // SAFETY: a variable of the C library's, which the program sets as a whole if at all.
    unsafe { stdout }
}

/// Before the program begins: standard output gets the buffer that it would get when it is first written to, were it a file. Otherwise each
/// execution would ask the kernel what it is.
pub(crate) fn prepare() {
    const SIZE: usize = 4096;
    let stream = standard_output();
    // SAFETY: a stream of the C library's.
    if stream.is_null() || unsafe { __fbufsize(stream) } != 0 {
        return;
    }
    let buffer = crate::engine::heap::allocate(SIZE, 16);
    if !buffer.is_null() {
        // SAFETY: the buffer is as long, and is never given back.
        unsafe { setvbuf(stream, buffer.cast(), libc::_IOFBF, SIZE) };
    }
}

/// Whether anything waits in the buffer of any stream. Yes where that cannot be told.
pub(crate) fn any_waits() -> bool {
    let Some(first) = FIRST.address() else { return true };
    // SAFETY: the C library's variable, which is a pointer to a stream.
    let mut stream = unsafe { first.cast::<*mut Stream>().read() };
    // SAFETY: a stream of the C library's, or the end of their chain.
    while let Some(found) = unsafe { stream.as_ref() } {
        // SAFETY: as above; 0 only asks.
        if found.flags & 0xffff_0000 != MAGIC || found.write_at > found.write_base || unsafe { fwide(stream, 0) } > 0 {
            return true;
        }
        stream = core::ptr::with_exposed_provenance_mut(found.chain);
    }
    false
}

/// At the end of an execution: hands over what waits in standard output's buffer, with its descriptor; the buffer is empty then, if `take`
/// takes it. `take` gets descriptor, address and length.
pub(crate) fn empty(take: impl FnOnce(usize, usize, usize) -> bool) {
    let stream = standard_output();
    // SAFETY: a stream of the C library's; what is none has not passed for one before.
    let Some(found) = (unsafe { stream.as_mut() }) else { return };
    // SAFETY: as above; 0 only asks.
    let wide = unsafe { fwide(stream, 0) } > 0;
    let length = found.write_at.checked_sub(found.write_base).filter(|&length| length > 0);
    let Some((length, descriptor)) = length.zip(usize::try_from(found.descriptor).ok()) else { return };
    let sound = found.flags & 0xffff_0000 == MAGIC && !wide && found.write_base != 0;
    if sound && take(descriptor, found.write_base, length) {
        found.write_at = found.write_base;
    }
}

const _: () = assert!(core::mem::offset_of!(Stream, chain) == 104 && core::mem::offset_of!(Stream, descriptor) == 112);
