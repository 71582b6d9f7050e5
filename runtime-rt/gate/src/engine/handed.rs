//! What functions outside the program are handed: which memory that is, and who is called, where a pointer names the function.
//!
//! Such a call is one access to the object behind each pointer that it is handed; where nothing is known of the function and threads share that
//! object, it is named, since what it reaches from there is not seen. Streams count as their state; of standard output only
//! how it is formatted is read, for no thread reads what is put out.
//! Not handled: iterators and other objects that only hold the address of what is worked on, and objects of unknown size that are no blocks of
//! the heap, of which a few words count.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ffi::CStr;

use explorer::target::page::Note;
use model::event::Range;
use model::external;
use model::external::handed::{Callee, Handed, Handing, Object, handed, only_reads};
use model::ids::{SiteKey, fnv1a};
use model::pair::Rw;

use super::explore::remark;
use super::fiber::Engine;
use super::{control, heap};
use crate::sys::{guarded, text};

/// What an object of unknown size counts as.
const SOME: u32 = 64;
/// More is not looked through.
const MOST: u32 = 1 << 16;
/// A stream of C with all that its macros look at (`putc_unlocked`).
const GUARDED: u32 = 216;
/// What a function keeps for itself is no memory that anybody could name.
const STATE: u64 = 1 << 63;
/// `std::basic_ios`, with all that a stream is formatted by.
const STREAM_STATE: u32 = 264;
/// A stream of C++ with that in it.
const OUTPUT_STREAM: u64 = 272;

/// `struct iovec`.
const ENTRY: u32 = 16;
/// `struct msghdr`, and where in it its list and the number of that's entries are.
const MESSAGE: u32 = 56;
const LIST_OF_MESSAGE: u64 = 16;

/// What is known of callees.
#[derive(Default)]
pub(crate) struct Outsiders {
    /// By its address, or that of its name: what a function does.
    by_address: RefCell<BTreeMap<u64, Outsider>>,
    /// The standard streams: where they begin and end.
    standard: RefCell<Option<StandardStreams>>,
}

struct Outsider {
    /// In words.
    name: String,
    /// Its symbol, if its library shows it.
    symbol: Option<String>,
    handed: Handed,
    /// Whether the result names it.
    is_named: bool,
}

impl Outsider {
    fn new(name: String, handed: Handed) -> Self {
        Self { name, symbol: None, handed, is_named: false }
    }
}

impl Outsiders {
    /// Whether nobody is at work on it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.by_address.try_borrow_mut().is_ok() && self.standard.try_borrow_mut().is_ok()
    }
}

/// One access that a call stands for.
pub(crate) struct Touch {
    pub(crate) range: Range,
    pub(crate) rw: Rw,
    /// Whether the library may guard the object, or not all of this is known: no data race comes of that.
    pub(crate) guarded: bool,
}

impl Touch {
    fn of(address: u64, bytes: u32, rw: Rw) -> Self {
        Self { range: Range { address, length: bytes.min(MOST) }, rw, guarded: false }
    }
}

/// What a call does that is handed this pointer, one access after the other. Others may come between them, so each is looked up in its turn.
pub(crate) fn each_access(engine: &Engine, address: u64, handing: Handing, callee: u64, mut access: impl FnMut(Touch)) {
    if handing.object == Object::State {
        let address = STATE | fnv1a(text_at(callee).to_bytes()) << 6;
        access(Touch { guarded: true, ..Touch::of(address, SOME, Rw::Update) });
        return;
    }
    if text::is_constant(address) {
        return;
    }
    let rw = match handed_by(engine, handing, callee) {
        Handed::Nothing => return,
        // It may look at nothing, so that what was freed is no more than a number to it.
        Handed::Anything if engine.shadow.borrow_mut().is_freed(address) => return,
        Handed::Pointed if handing.callee == Callee::Pointer && only_reads_at(engine, handing, callee) => Rw::Read,
        Handed::Pointed | Handed::Anything => handing.rw,
    };
    let standard = standard(engine, address);
    // Nobody reads what is put out; how it is formatted is read.
    if standard == Some(Standard::Output) && handing.object != Object::Stream {
        return;
    }
    let guarded = !handing.certain || standard.is_some();
    let mut access = |touch: Touch| access(Touch { guarded: touch.guarded || guarded, ..touch });
    let rest = || heap::rest_of_block(address).map_or(SOME, |range| range.length);
    let object = || Touch::of(address, if handing.bytes > 0 { handing.bytes } else { rest() }, rw);
    match handing.object {
        Object::Memory | Object::State => access(object()),
        Object::Guarded => access(Touch { guarded: true, ..Touch::of(address, GUARDED, rw) }),
        Object::Stream => {
            let rw = if standard == Some(Standard::Output) { Rw::Read } else { rw };
            access(state_of(address).map_or_else(|| Touch::of(address, SOME, rw), |state| Touch::of(state, STREAM_STATE, rw)));
        }
        Object::Text => {
            if let Some(text) = text_of(address, rw) {
                access(text);
            }
            access(object());
        }
        Object::List => each_of_list(address, handing.bytes, rw, access),
        Object::Message => {
            access(Touch::of(address, MESSAGE, Rw::Update));
            if let Some((list, count)) = read(address + LIST_OF_MESSAGE).zip(read(address + LIST_OF_MESSAGE + 8)) {
                each_of_list(list, u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(ENTRY), rw, access);
            }
        }
    }
}

/// The access to a string's text, where that is not in the string itself. Whoever changes the text by a function changes the string too, so its begin
/// will do.
fn text_of(string: u64, rw: Rw) -> Option<Touch> {
    let (text, length) = read(string).zip(read(string + 8))?;
    let is_elsewhere = text != string + 16 && heap::owns(text) && length < u64::from(MOST);
    let length = u32::try_from(length).unwrap_or(0) + 1;
    is_elsewhere.then(|| Touch::of(text, if rw.writes() { length.min(SOME) } else { length }, rw))
}

/// The accesses to a list's entries, and to what they name.
fn each_of_list(list: u64, bytes: u32, rw: Rw, mut access: impl FnMut(Touch)) {
    for at in 0..bytes.min(MOST) / ENTRY {
        let entry = list + u64::from(at * ENTRY);
        access(Touch::of(entry, ENTRY, Rw::Read));
        if let Some((address, length)) = read(entry).zip(read(entry + 8)).filter(|(_, length)| *length > 0) {
            access(Touch::of(address, u32::try_from(length).unwrap_or(MOST), rw));
        }
    }
}

/// Names a function of which nothing is known, and to which memory was handed that threads share.
pub(crate) fn name(engine: &Engine, handing: Handing, callee: u64, site: SiteKey) {
    if handing.object != Object::State && handed_by(engine, handing, callee) != Handed::Anything {
        return;
    }
    control::note(Note::Handed);
    let ran = engine.suspend();
    if handing.object == Object::State {
        let name = text_at(callee).to_str().unwrap_or("?");
        let state = || Outsider::new(format!("`{name}`"), Handed::Pointed);
        let mut known = engine.outsiders.by_address.borrow_mut();
        let outsider = known.entry(STATE | callee).or_insert_with(state);
        if !core::mem::replace(&mut outsider.is_named, true) {
            remark(&format!("`{name}` answers in memory that threads share, which is not seen: {site}"));
        }
    } else if let Some(outsider) = engine.outsiders.by_address.borrow_mut().get_mut(&callee).filter(|outsider| !outsider.is_named) {
        outsider.is_named = true;
        let name = &outsider.name;
        remark(&format!("{name} has no hooks and is handed memory that threads share; what it reaches from there is not seen: {site}"));
    }
    engine.go_on(ran);
}

/// What a callee does with what it is handed.
fn handed_by(engine: &Engine, handing: Handing, callee: u64) -> Handed {
    if handing.callee == Callee::Known {
        return Handed::Pointed;
    }
    if let Some(known) = engine.outsiders.by_address.borrow().get(&callee) {
        return known.handed;
    }
    let ran = engine.suspend();
    let found = if handing.callee == Callee::Unknown { named(text_at(callee)) } else { at(callee) };
    let handed = found.handed;
    engine.outsiders.by_address.borrow_mut().insert(callee, found);
    engine.go_on(ran);
    handed
}

/// Whether a function that a pointer names only reads what it is handed there.
fn only_reads_at(engine: &Engine, handing: Handing, callee: u64) -> bool {
    let known = engine.outsiders.by_address.borrow();
    let Some(name) = known.get(&callee).and_then(|outsider| outsider.symbol.as_deref()) else { return false };
    let argument = handing.argument;
    let ranges = external::lookup(name).map_or(&[][..], |known| known.ranges);
    let is_read = ranges.iter().any(|range| range.argument == argument && range.rw == Rw::Read);
    is_read || only_reads(name, argument.into()) || (argument == 0 && name.starts_with("_ZNK"))
}

/// Who is at this address.
fn at(address: u64) -> Outsider {
    let target = text::behind_stub(address);
    if text::is_code(target) {
        return Outsider::new(String::from("the program"), Handed::Nothing);
    }
    let (name, file) = text::symbol(target);
    // The C library may have loaded more of its own.
    let is_known = !text::is_foreign(target) || file.as_deref().is_some_and(|file| text::is_known(file.as_bytes()));
    let handed = match &name {
        _ if !is_known => Handed::Anything,
        // Of some, the C library has one for each processor, whose names it does not show.
        None => Handed::Pointed,
        Some(name) => match handed(name, true) {
            Handed::Anything => Handed::Pointed,
            known => known,
        },
    };
    let words = name.as_deref().map_or_else(|| String::from("a function"), |name| format!("`{name}`"));
    let words = format!("{words} of {}", file.as_deref().unwrap_or("nobody knows whom"));
    Outsider { symbol: name, ..Outsider::new(words, handed) }
}

/// Who has this name. Where that is in the program, it is code that was not compiled with hooks.
fn named(name: &CStr) -> Outsider {
    let found = text::address(name).map(at).filter(|found| found.handed != Handed::Nothing);
    found.unwrap_or_else(|| Outsider::new(format!("`{}`", name.to_str().unwrap_or("?")), Handed::Anything))
}

/// Where the standard streams begin and end.
type StandardStreams = Vec<(core::ops::Range<u64>, Standard)>;

/// Streams that all threads may use at the same time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standard {
    Input,
    Output,
}

/// Which standard stream it lies in, if it does.
fn standard(engine: &Engine, address: u64) -> Option<Standard> {
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
    if engine.outsiders.standard.borrow().is_none() {
        let ran = engine.suspend();
        let object = |&(name, kind): &(&CStr, Standard)| text::address(name).map(|begin| (begin..begin + OUTPUT_STREAM, kind));
        *engine.outsiders.standard.borrow_mut() = Some(STREAMS.iter().filter_map(object).collect());
        engine.go_on(ran);
    }
    let known = engine.outsiders.standard.borrow();
    known.iter().flatten().find(|(object, _)| object.contains(&address)).map(|(_, kind)| *kind)
}

/// Where a stream of C++ keeps its state: its virtual table says how far behind it that is (Itanium C++ ABI, 2.5).
fn state_of(stream: u64) -> Option<u64> {
    const OFFSET_OF_BASE: u64 = 24;
    let table = read(stream)?;
    let offset = read(table.checked_sub(OFFSET_OF_BASE)?)?;
    (offset < u64::from(MOST)).then(|| stream + offset)
}

fn read(address: u64) -> Option<u64> {
    address.is_multiple_of(8).then(|| usize::try_from(address).ok().and_then(guarded::word)).flatten()
}

fn text_at(address: u64) -> &'static CStr {
    let text: *const core::ffi::c_char = core::ptr::with_exposed_provenance(usize::try_from(address).unwrap_or(0));
    // SAFETY: the passes hand a constant text that ends with a zero.
    unsafe { CStr::from_ptr(text) }
}
