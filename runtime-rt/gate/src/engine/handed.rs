//! What functions outside the program are handed: which memory a call stands for an access to.
//!
//! Such a call is one access to the object behind each pointer that it is handed; where nothing is known of the function and threads share that
//! object, it is named, since what it reaches from there is not seen. Who is called is in `outsiders`, what formats tell of in `formats`,
//! and streams are in `streams`: they count as their state.
//! Not handled: iterators and other objects that only hold the address of what is worked on, and objects of unknown size that are neither blocks of
//! the heap nor variables of the program, of which a few words count.

use alloc::format;
use alloc::vec::Vec;

use explorer::target::page::Note;
use model::event::Range;
use model::external::handed::{Callee, ENTRY_OF_LIST, Handed, Handing, Object};
use model::external::kept::Kept;
use model::ids::SiteKey;
use model::pair::Rw;

use super::fiber::{Engine, running};
use super::formats::Width;
use super::outsiders::{handed_by, only_reads_at, text_at};
use super::streams::{self, Standard, standard, state_of};
use super::{control, formats, heap, own_variables, variables};
use crate::sys::{guarded, text};

/// What an object of unknown size counts as.
const SOME: u32 = 64;
/// More is not looked through.
pub(super) const MOST: u32 = 1 << 16;
/// A stream of C with all that its macros look at (`putc_unlocked`).
pub(super) const GUARDED: u32 = 216;
/// What functions keep is no memory that anybody could name: behind this.
const KEPT: u64 = 1 << 63;
/// `std::basic_ios`, with all that a stream is formatted by.
const STREAM_STATE: u32 = 264;
/// `std::basic_streambuf`: what the program's own code looks at of a stream's buffer.
const BUFFER: u32 = 64;

/// `struct msghdr`, and where in it its list and the number of that's entries are.
const MESSAGE: u32 = 56;
const LIST_OF_MESSAGE: u64 = 16;
/// `struct mmsghdr`, which begins with one.
const ONE_OF_MESSAGES: u64 = 64;

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
    let rw = handing.rw;
    match handing.object {
        Object::Kept if Kept::from_abi(handing.argument).is_some_and(Kept::is_drawn) => draw(engine, handing.argument),
        Object::Kept => {
            let ranges = [kept(handing.argument)].into_iter().chain(variables::that_show(handing.argument));
            ranges.for_each(|range| access(Touch { range, rw, guarded: true }));
        }
        Object::Input | Object::Output => {
            let stream = streams::of_c(engine, handing.object).filter(|stream| standard(engine, *stream) != Some(Standard::Output));
            if let Some(stream) = stream {
                access(Touch { guarded: true, ..Touch::of(stream, GUARDED, rw) });
            }
        }
        Object::Formatted | Object::FormattedWide => {
            each_told(formats::of_argument((callee, width(handing.object)), rw, handing.argument, (address, handing.bytes)), access);
        }
        Object::Arguments | Object::ArgumentsWide => each_told(formats::of_list((callee, width(handing.object)), rw, address), access),
        Object::TextBehind | Object::Behind => {
            let found = read(address).filter(|found| *found != 0 && !text::is_constant(*found));
            if let Some(found) = found {
                let bytes = if handing.object == Object::TextBehind { formats::text(found, MOST) } else { rest(found) };
                access(Touch { guarded: true, ..Touch::of(found, bytes, rw) });
            }
        }
        _ => each_access_by(engine, address, handing, callee, access),
    }
}

/// The same, of an object that is handed itself.
fn each_access_by(engine: &Engine, address: u64, handing: Handing, callee: u64, mut access: impl FnMut(Touch)) {
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
    let object = || Touch::of(address, if handing.bytes > 0 { handing.bytes } else { rest(address) }, rw);
    match handing.object {
        Object::Memory => access(object()),
        Object::Given => {
            let object = object();
            engine.streams.give(object.range);
            access(object);
        }
        Object::Guarded => {
            access(Touch { guarded: true, ..Touch::of(address, GUARDED, rw) });
            for (range, rw) in engine.streams.given_to(address) {
                access(Touch { range, rw, guarded: true });
            }
        }
        Object::Stream => {
            let rw = if standard == Some(Standard::Output) { Rw::Read } else { rw };
            access(state_of(address).map_or_else(|| Touch::of(address, SOME, rw), |state| Touch::of(state, STREAM_STATE, rw)));
            // Its buffer may be that of another stream, and what is in it is found by the program's own code.
            let buffer = state_of(address).and_then(|state| streams::buffer_of(engine, state));
            if let Some(buffer) = buffer.filter(|_| rw.writes()) {
                access(Touch { guarded: true, ..Touch::of(buffer, BUFFER, rw) });
            }
        }
        Object::Text => {
            if let Some(text) = text_of(address, rw) {
                access(text);
            }
            access(object());
        }
        Object::Holder => {
            access(object());
            if let Some(held) = read(address).filter(|held| heap::owns(*held)) {
                access(Touch { guarded: true, ..Touch::of(held, rest(held), rw) });
            }
        }
        Object::List => each_of_list(address, handing.bytes, rw, access),
        Object::Message => {
            for at in 0..(handing.bytes / ENTRY_OF_LIST).max(1) {
                let address = address + u64::from(at) * ONE_OF_MESSAGES;
                access(Touch::of(address, MESSAGE, Rw::Update));
                if let Some((list, count)) = read(address + LIST_OF_MESSAGE).zip(read(address + LIST_OF_MESSAGE + 8)) {
                    each_of_list(list, u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(ENTRY_OF_LIST), rw, &mut access);
                }
            }
        }
        _ => {}
    }
}

/// The accesses to what a format tells of, but to what never changes.
fn each_told(told: Vec<formats::Told>, access: impl FnMut(Touch)) {
    let touched = told.into_iter().filter(|told| !text::is_constant(told.address));
    touched.map(|told| Touch { guarded: told.guessed, ..Touch::of(told.address, told.bytes, told.rw) }).for_each(access);
}

/// The access to a string's text, where that is not in the string itself.
fn text_of(string: u64, rw: Rw) -> Option<Touch> {
    let (text, length) = read(string).zip(read(string + 8))?;
    let is_elsewhere = text != string + 16 && heap::owns(text) && length < u64::from(MOST);
    let length = u32::try_from(length).unwrap_or(0) + 1;
    is_elsewhere.then(|| Touch::of(text, length, rw))
}

/// The accesses to a list's entries, and to what they name.
fn each_of_list(list: u64, bytes: u32, rw: Rw, mut access: impl FnMut(Touch)) {
    for at in 0..bytes.min(MOST) / ENTRY_OF_LIST {
        let entry = list + u64::from(at * ENTRY_OF_LIST);
        access(Touch::of(entry, ENTRY_OF_LIST, Rw::Read));
        if let Some((address, length)) = read(entry).zip(read(entry + 8)).filter(|(_, length)| *length > 0) {
            access(Touch::of(address, u32::try_from(length).unwrap_or(MOST), rw));
        }
    }
}

/// How many bytes there are from here to the end of the block or variable, or some where nobody knows.
pub(super) fn rest(address: u64) -> u32 {
    let block = heap::rest_of_block(address).map(|range| range.length);
    block.or_else(|| own_variables::rest_of(running()?, address)).unwrap_or(SOME)
}

fn width(object: Object) -> Width {
    if matches!(object, Object::FormattedWide | Object::ArgumentsWide) { Width::Wide } else { Width::Bytes }
}

/// What is kept, as memory that no access is to.
fn kept(number: u8) -> Range {
    nowhere(number.into())
}

/// One thing that is no memory.
pub(super) fn nowhere(number: u64) -> Range {
    Range { address: KEPT | number << 6, length: SOME }
}

/// The thread draws a random number. Nearly always it does not matter which one that is, so who draws first is not explored, but said.
fn draw(engine: &Engine, generator: u8) {
    if engine.shadow.borrow_mut().touch(engine.current(), kept(generator), Rw::Update) {
        control::note(Note::Draws);
    }
}

/// Whether threads share what this call stands for although they do not meet there.
pub(crate) fn is_for_all(handing: Handing) -> bool {
    handing.object == Object::Kept && Kept::from_abi(handing.argument).is_some_and(|kept| kept.is_for_all(handing.rw))
}

/// Names a function of which nothing is known, and to which memory was handed that threads share; or one that answers in memory of its own.
pub(crate) fn name(engine: &Engine, handing: Handing, callee: u64, site: SiteKey) {
    let kept = (handing.object == Object::Kept).then(|| Kept::from_abi(handing.argument)).flatten();
    // Who is called is known from here on, also where only what is kept is looked at.
    let handed = handed_by(engine, handing, callee);
    if kept.map_or(handed != Handed::Anything, Kept::is_all_seen) {
        return;
    }
    control::note(Note::Handed);
    let ran = engine.suspend();
    engine.outsiders.name(callee, |name| match kept {
        Some(Kept::Locale) => format!("`{}` tells what other functions do, which is not seen: {site}", text_at(callee)),
        Some(Kept::Heap) => format!("`{}` tells of a heap that is not the one in use: {site}", text_at(callee)),
        Some(_) => format!("`{}` answers in memory that threads share, which is not seen: {site}", text_at(callee)),
        None => format!("{name} has no hooks and is handed memory that threads share; what it reaches from there is not seen: {site}"),
    });
    engine.go_on(ran);
}

/// The word at an address, if there is one.
pub(super) fn read(address: u64) -> Option<u64> {
    address.is_multiple_of(8).then(|| usize::try_from(address).ok().and_then(guarded::word)).flatten()
}
