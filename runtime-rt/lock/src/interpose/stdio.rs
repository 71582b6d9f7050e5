//! The C library's streams. What they do to descriptors happens inside libc, so the streams' own functions are stood in front of.
//!
//! A call that finds what it wants in the stream's buffer waits for nobody. Otherwise holds are given up if the descriptor is a pipe,
//! socket or terminal that is not ready. If it is ready the call may still wait, for the rest of a line or block: holds are kept, and
//! a waiter that inspects sees a thread that may be blocked.
//!
//! Not here: wide characters.

use core::ffi::{c_int, c_short};

use super::next::{Next, interpose};
use super::stream::{INPUT, OUTPUT, waits};
use super::{begin_blocking, holds_something, keeping_errno, show_blocking};
use crate::protocol::graph::Blocked;
use crate::protocol::lock::Me;

type Stream = *mut libc::FILE;

/// How much of its input a call wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// So many bytes.
    Bytes(usize),
    /// All up to this byte.
    UpTo(u8),
}

/// Where glibc keeps the next byte to read and the end of what was read (`_IO_read_ptr`, `_IO_read_end`), in words.
const READ_AT: usize = 1;
const READ_END: usize = 2;

/// Whether the stream's buffer has it.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn is_buffered(stream: Stream, wanted: Wanted) -> bool {
    let words = stream.cast::<*const u8>();
    // SAFETY: within glibc's structure, whose head is part of its binary interface.
    let at = unsafe { words.add(READ_AT) };
    // SAFETY: as above; another thread that reads the same stream makes the answer out of date, no more.
    let at = unsafe { at.read_volatile() };
    // SAFETY: as above.
    let end = unsafe { words.add(READ_END) };
    // SAFETY: as above.
    let end = unsafe { end.read_volatile() };
    let there = end.addr().saturating_sub(at.addr());
    match wanted {
        Wanted::Bytes(bytes) => there >= bytes,
        Wanted::UpTo(byte) => (0..there).any(|index| {
            // SAFETY: between the two ends of the buffer.
            let place = unsafe { at.add(index) };
            // SAFETY: as above.
            (unsafe { place.read_volatile() }) == byte
        }),
    }
}

/// Whether the call has to wait for a peer before it can do anything.
///
/// # Safety
/// `stream` is null or an open stream.
unsafe fn is_kept_waiting(stream: Stream, event: c_short) -> bool {
    if stream.is_null() {
        return false;
    }
    keeping_errno(|| {
        // SAFETY: the caller's stream.
        let descriptor = unsafe { libc::fileno(stream) };
        descriptor >= 0 && waits(descriptor, event)
    })
}

/// Before a call that reads.
///
/// # Safety
/// `stream` is null or an open stream.
#[inline(never)]
pub(super) unsafe fn before_input(stream: Stream, wanted: Wanted) -> Option<Me> {
    // SAFETY: the caller's stream.
    if !holds_something() || stream.is_null() || unsafe { is_buffered(stream, wanted) } {
        return None;
    }
    // SAFETY: the caller's stream.
    if unsafe { is_kept_waiting(stream, INPUT) } { begin_blocking(Some(Blocked::Stream)) } else { show_blocking(Blocked::Stream) }
}

/// Before a call that may write.
///
/// # Safety
/// `stream` is null or an open stream.
#[inline(never)]
pub(super) unsafe fn before_output(stream: Stream) -> Option<Me> {
    // SAFETY: the caller's stream.
    let waits = holds_something() && unsafe { is_kept_waiting(stream, OUTPUT) };
    begin_blocking(waits.then_some(Blocked::Stream))
}

/// The standard streams, which some calls do not name.
pub(super) fn standard(which: Standard) -> Stream {
    unsafe extern "C" {
        static stdin: Stream;
        static stdout: Stream;
    }
    match which {
        // SAFETY: libc's variable; a program that assigns to it does so before it reads.
        Standard::Input => unsafe { stdin },
        // SAFETY: as above.
        Standard::Output => unsafe { stdout },
    }
}

/// A standard stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standard {
    /// `stdin`
    Input,
    /// `stdout`
    Output,
}

/// Defines functions that read from, or write to, a stream: `$before` is what is asked first.
macro_rules! interpose_stdio {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $symbol:literal, $before:expr;)*) => {$(
        interpose! {
            /// As libc's, but gives up what is held before it waits for a peer.
            fn $name($($argument: $type),*) -> $result,
            Next::new($symbol),
            |original| {
                // SAFETY: the caller's stream.
                let blocking = unsafe { $before };
                // SAFETY: the caller's duty, passed on.
                let result = unsafe { original($($argument),*) };
                super::end_blocking(blocking);
                result
            }
        }
    )*};
}

const LINE: Wanted = Wanted::UpTo(b'\n');
const BYTE: Wanted = Wanted::Bytes(1);

/// As libc takes it: an `int` that is converted to `unsigned char`.
fn up_to(delimiter: c_int) -> Wanted {
    Wanted::UpTo(u8::try_from(delimiter & 0xff).unwrap_or(0))
}

fn bytes(size: usize, count: usize) -> Wanted {
    Wanted::Bytes(size.saturating_mul(count))
}

interpose_stdio! {
    fgetc(stream: Stream) -> c_int, c"fgetc", before_input(stream, BYTE);
    getc(stream: Stream) -> c_int, c"getc", before_input(stream, BYTE);
    getc_unlocked(stream: Stream) -> c_int, c"getc_unlocked", before_input(stream, BYTE);
    getchar() -> c_int, c"getchar", before_input(standard(Standard::Input), BYTE);
    getchar_unlocked() -> c_int, c"getchar_unlocked", before_input(standard(Standard::Input), BYTE);
    // What the headers' macros call when the buffer is empty.
    __uflow(stream: Stream) -> c_int, c"__uflow", before_input(stream, BYTE);
    fgets(line: usize, size: c_int, stream: Stream) -> usize, c"fgets", before_input(stream, LINE);
    __fgets_chk(line: usize, room: usize, size: c_int, stream: Stream) -> usize, c"__fgets_chk", before_input(stream, LINE);
    fgets_unlocked(line: usize, size: c_int, stream: Stream) -> usize, c"fgets_unlocked", before_input(stream, LINE);
    getline(line: usize, size: usize, stream: Stream) -> libc::ssize_t, c"getline", before_input(stream, LINE);
    getdelim(line: usize, size: usize, delimiter: c_int, stream: Stream) -> libc::ssize_t, c"getdelim", before_input(stream, up_to(delimiter));
    __getdelim(line: usize, size: usize, delimiter: c_int, stream: Stream) -> libc::ssize_t, c"__getdelim", before_input(stream, up_to(delimiter));
    fread(data: usize, size: usize, count: usize, stream: Stream) -> usize, c"fread", before_input(stream, bytes(size, count));
    fread_unlocked(data: usize, size: usize, count: usize, stream: Stream) -> usize, c"fread_unlocked", before_input(stream, bytes(size, count));
    __fread_chk(data: usize, room: usize, size: usize, count: usize, stream: Stream) -> usize, c"__fread_chk", before_input(stream, bytes(size, count));

    __fgets_unlocked_chk(line: usize, room: usize, size: c_int, stream: Stream) -> usize, c"__fgets_unlocked_chk", before_input(stream, LINE);
    __fread_unlocked_chk(data: usize, room: usize, size: usize, count: usize, stream: Stream) -> usize, c"__fread_unlocked_chk", before_input(stream, bytes(size, count));

    fputc(byte: c_int, stream: Stream) -> c_int, c"fputc", before_output(stream);
    putc(byte: c_int, stream: Stream) -> c_int, c"putc", before_output(stream);
    putchar(byte: c_int) -> c_int, c"putchar", before_output(standard(Standard::Output));
    fputc_unlocked(byte: c_int, stream: Stream) -> c_int, c"fputc_unlocked", before_output(stream);
    putc_unlocked(byte: c_int, stream: Stream) -> c_int, c"putc_unlocked", before_output(stream);
    putchar_unlocked(byte: c_int) -> c_int, c"putchar_unlocked", before_output(standard(Standard::Output));
    fputs(text: usize, stream: Stream) -> c_int, c"fputs", before_output(stream);
    puts(text: usize) -> c_int, c"puts", before_output(standard(Standard::Output));
    fwrite(data: usize, size: usize, count: usize, stream: Stream) -> usize, c"fwrite", before_output(stream);
    fputs_unlocked(text: usize, stream: Stream) -> c_int, c"fputs_unlocked", before_output(stream);
    fwrite_unlocked(data: usize, size: usize, count: usize, stream: Stream) -> usize, c"fwrite_unlocked", before_output(stream);
    // What the headers' macros call when the buffer is full.
    __overflow(stream: Stream, byte: c_int) -> c_int, c"__overflow", before_output(stream);
    fflush(stream: Stream) -> c_int, c"fflush", before_output(stream);
    fclose(stream: Stream) -> c_int, c"fclose", before_output(stream);
}
