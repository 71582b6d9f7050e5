//! Streams of C and C++: which of them all threads may use at the same time, where their state is, and which memory of the program's they were given.
//!
//! Such memory, a buffer or where a stream says where its text is, is found again by its address: the stream has it, or what the stream has the address of.
//!
//! What goes to standard output is read by no thread, so of its streams only how they are formatted counts, unless the program has them
//! lead elsewhere: a descriptor of its own, or another buffer.
//! Not handled: a program that gives a stream of C++ another buffer before `main`, and takes the library's later.

use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::ffi::CStr;
use core::ops::Range;

use model::event;
use model::external::handed::Object;
use model::pair::Rw;

use super::fiber::Engine;
use super::handed::{GUARDED, read};
use super::{heap, output};
use crate::sys::text;

/// Bytes of an address.
const POINTER: u32 = 8;
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
    /// Memory that streams were given.
    given: RefCell<Vec<event::Range>>,
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
        self.known.try_borrow_mut().is_ok() && self.given.try_borrow_mut().is_ok()
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
        self.given.borrow_mut().clear();
    }

    /// A stream is given memory.
    pub(super) fn give(&self, range: event::Range) {
        self.given.borrow_mut().push(range);
    }

    /// The memory that a stream of C was given, and its text where it says where that is; and what the stream may do to it.
    pub(super) fn given_to(&self, stream: u64) -> Vec<(event::Range, Rw)> {
        let mut found = Vec::new();
        for range in self.given.borrow().iter() {
            let Some(held) = held(stream, range.address) else { continue };
            // Of a buffer of the stream's own, all is filled anew to be read.
            let rw = if held == Held::Behind && is_read_only(stream) { Rw::Read } else { Rw::Update };
            let text = if range.length == POINTER { read(range.address).and_then(heap::rest_of_block) } else { None };
            found.extend([Some(*range), text].into_iter().flatten().map(|range| (range, rw)));
        }
        found
    }

    /// The program closes or replaces this descriptor.
    pub(crate) fn replaced(&self, descriptor: i32) {
        if matches!(descriptor, 1 | 2) {
            self.touched.set(true);
        }
    }
}

/// How a stream has an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// It has it itself.
    Directly,
    /// What it has the address of has it.
    Behind,
}

/// Whether a stream has an address, and how.
fn held(stream: u64, address: u64) -> Option<Held> {
    let is_behind = |word: u64| heap::owns(word) && words(word).any(|word| word == address);
    words(stream).find_map(|word| if word == address { Some(Held::Directly) } else { is_behind(word).then_some(Held::Behind) })
}

/// The words of an object of the C library's.
fn words(object: u64) -> impl Iterator<Item = u64> {
    const MOST: u32 = 1024;
    let bytes = heap::rest_of_block(object).map_or(GUARDED, |block| block.length.min(MOST));
    (0..u64::from(bytes / POINTER)).map_while(move |at| read(object + at * u64::from(POINTER)))
}

/// Whether a stream of C cannot be written to (`_IO_NO_WRITES` in its first word).
fn is_read_only(stream: u64) -> bool {
    const NO_WRITES: u64 = 8;
    read(stream).is_some_and(|flags| flags & NO_WRITES != 0)
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
