//! Streams of C and C++: which of them all threads may use at the same time, and where their state is.
//!
//! What goes to standard output is read by no thread, so of its streams only how they are formatted counts, unless the program has them
//! lead elsewhere: a descriptor of its own, or another buffer.
//! Not handled: a program that gives a stream of C++ another buffer before `main`, and takes the library's later.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::ffi::CStr;
use core::ops::Range;

use model::external::handed::Object;

use super::fiber::Engine;
use super::handed::read;
use super::output;
use crate::sys::text;

/// A stream of C++.
const OF_CPP: u64 = 272;
/// Where the state of a stream of C++ names its buffer: in the library of GNU, and in that of LLVM.
const BUFFER: [u64; 2] = [232, 40];

/// A stream that all threads may use at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standard {
    Input,
    Output,
}

/// The standard streams.
#[derive(Default)]
pub(crate) struct Streams {
    known: RefCell<Vec<Known>>,
    /// Where the C library's `stdin` and `stdout` stand.
    variables: Cell<[u64; 2]>,
    /// Where the state of a stream of C++ names its buffer, in the library that is there; 0 if none is.
    buffer: Cell<u64>,
    /// Whether something happened to the descriptors of standard output since it was last looked where they lead.
    touched: Cell<bool>,
    /// Whether one leads elsewhere than to where the program prints.
    elsewhere: Cell<bool>,
}

struct Known {
    object: Range<u64>,
    kind: Standard,
    /// Where the buffer's address stands, and what it was at first.
    buffer: Option<(u64, u64)>,
}

impl Streams {
    /// Whether nobody is at work on it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.known.try_borrow_mut().is_ok()
    }

    /// Before the program begins, in each process: names that nobody has make the C library allocate, which the program is not to see.
    pub(crate) fn look(&self) {
        self.variables.set([c"stdin", c"stdout"].map(|name| text::address(name).unwrap_or(0)));
        let has = |name: &CStr| text::address(name).is_some();
        self.buffer.set(if has(c"_ZSt4cout") {
            BUFFER[0]
        } else if has(c"_ZNSt3__14coutE") {
            BUFFER[1]
        } else {
            0
        });
        *self.known.borrow_mut() = look();
    }

    /// At the beginning of an execution.
    pub(crate) fn begin(&self) {
        self.touched.set(false);
        self.elsewhere.set(false);
    }

    /// The program closes or replaces this descriptor.
    pub(crate) fn replaced(&self, descriptor: i32) {
        if matches!(descriptor, 1 | 2) {
            self.touched.set(true);
        }
    }
}

/// Which standard stream it lies in, if it does and leads to where the process's does.
pub(super) fn standard(engine: &Engine, address: u64) -> Option<Standard> {
    let known = engine.streams.known.borrow();
    let stream = known.iter().find(|stream| stream.object.contains(&address))?;
    if stream.kind == Standard::Output && engine.streams.touched.replace(false) {
        let ran = engine.suspend();
        engine.streams.elsewhere.set(![1, 2].into_iter().all(output::is_kept));
        engine.go_on(ran);
    }
    let is_elsewhere = stream.kind == Standard::Output && engine.streams.elsewhere.get();
    let has_other_buffer = stream.buffer.is_some_and(|(place, first)| read(place) != Some(first));
    (!is_elsewhere && !has_other_buffer).then_some(stream.kind)
}

/// The stream of C that this standard one is now.
pub(super) fn of_c(engine: &Engine, object: Object) -> Option<u64> {
    let [input, output] = engine.streams.variables.get();
    read(if object == Object::Input { input } else { output })
}

/// Where a stream of C++ keeps its state: its virtual table says how far behind it that is (Itanium C++ ABI, 2.5).
pub(super) fn state_of(stream: u64) -> Option<u64> {
    const FAR: u64 = 1 << 16;
    const OFFSET_OF_BASE: u64 = 24;
    let table = read(stream)?;
    let offset = read(table.checked_sub(OFFSET_OF_BASE)?)?;
    (offset < FAR).then(|| stream + offset)
}

/// The buffer of the stream whose state this is.
pub(super) fn buffer_of(engine: &Engine, state: u64) -> Option<u64> {
    let offset = engine.streams.buffer.get();
    (offset != 0).then(|| read(state + offset)).flatten().filter(|buffer| *buffer != 0)
}

/// Where the standard streams are.
fn look() -> Vec<Known> {
    use Standard::{Input, Output};
    const STREAMS: [(&CStr, Standard); 18] = [
        (c"_IO_2_1_stdout_", Output),
        (c"_IO_2_1_stderr_", Output),
        (c"_ZSt4cout", Output),
        (c"_ZSt4cerr", Output),
        (c"_ZSt4clog", Output),
        (c"_ZSt5wcout", Output),
        (c"_ZSt5wcerr", Output),
        (c"_ZSt5wclog", Output),
        (c"_ZSt3cin", Input),
        (c"_ZSt4wcin", Input),
        (c"_ZNSt3__14coutE", Output),
        (c"_ZNSt3__14cerrE", Output),
        (c"_ZNSt3__14clogE", Output),
        (c"_ZNSt3__15wcoutE", Output),
        (c"_ZNSt3__15wcerrE", Output),
        (c"_ZNSt3__15wclogE", Output),
        (c"_ZNSt3__13cinE", Input),
        (c"_ZNSt3__14wcinE", Input),
    ];
    let known = |&(name, kind): &(&CStr, Standard)| {
        let begin = text::address(name)?;
        let offset = match name.to_bytes() {
            name if name.starts_with(b"_ZNSt3__1") => Some(BUFFER[1]),
            name if name.starts_with(b"_ZSt") => Some(BUFFER[0]),
            _ => None,
        };
        let place = offset.and_then(|offset| Some(state_of(begin)? + offset));
        let buffer = place.and_then(|place| Some((place, read(place).filter(|buffer| *buffer != 0)?)));
        Some(Known { object: begin..begin + OF_CPP, kind, buffer })
    };
    STREAMS.iter().filter_map(known).collect()
}
