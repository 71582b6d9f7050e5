//! What a call reads or writes by a format that is known only when the call is made, or by a `va_list`.
//!
//! A text that is scanned counts as all that there is room for, or as long as the whole text is from which it comes.

use alloc::vec::Vec;

use model::event::Range;
use model::external::Length;
use model::external::format::{Argument, Class, Open, arguments};
use model::pair::Rw;

use super::handed::{MOST, read, rest};
use crate::gate::compare;
use crate::sys::guarded;

/// Memory that an argument points to: from where on, and so many bytes.
pub(super) struct Told {
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) rw: Rw,
    /// Whether it may be less.
    pub(super) guessed: bool,
}

/// How wide a format's characters are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Bytes,
    Wide,
}

const WIDE: u32 = 4;

/// What a format tells of the argument so far behind it.
pub(super) fn of_argument((format, width): (u64, Width), rw: Rw, behind: u8, (address, limit): (u64, u32)) -> Vec<Told> {
    let told = told_by(format, width, rw).into_iter().filter(|argument| argument.index == behind);
    told.filter_map(|argument| memory(&argument, (address, limit), |_| None)).collect()
}

/// What a format tells of the arguments that a `va_list` still holds.
pub(super) fn of_list((format, width): (u64, Width), rw: Rw, list: u64) -> Vec<Told> {
    let told = told_by(format, width, rw);
    let values = values(list, &told);
    let value = |index: u8| values.get(usize::from(index)).copied().flatten();
    told.iter().filter_map(|argument| memory(argument, (value(argument.index)?, 0), value)).collect()
}

fn told_by(format: u64, width: Width, rw: Rw) -> Vec<Argument> {
    let character = |at: u64| match width {
        Width::Bytes => byte(format + at),
        // What is no byte is no part of a conversion.
        Width::Wide => wide(format + at * u64::from(WIDE)).map(|found| u8::try_from(found).unwrap_or(b'?')),
    };
    let text: Vec<u8> = (0..u64::from(MOST)).map_while(|at| character(at).filter(|byte| *byte != 0)).collect();
    arguments(&text, rw, 0)
}

/// What is behind an argument. `value`: of the argument that says how long it is.
fn memory(argument: &Argument, (address, limit): (u64, u32), value: impl Fn(u8) -> Option<u64>) -> Option<Told> {
    let (rw, length) = argument.memory?;
    match argument.open {
        Some(Open::WideText) => return Some(Told { address, bytes: wide_text(address), rw, guessed: false }),
        Some(Open::Scanned) => {
            let rest = rest(address);
            let most = if limit == 0 { rest } else { rest.min(limit.saturating_mul(WIDE)) };
            return Some(Told { address, bytes: most, rw, guessed: true });
        }
        None => {}
    }
    let bytes = match length {
        Length::Bytes(bytes) => bytes,
        Length::StringWithin(most) => text(address, most),
        #[expect(clippy::cast_possible_truncation, reason = "an `int`, of which the upper half says nothing")]
        Length::StringUpTo(index) => text(address, value(index).and_then(|most| u32::try_from(most as i32).ok()).unwrap_or(MOST)),
        _ => text(address, MOST),
    };
    (bytes > 0).then_some(Told { address, bytes, rw, guessed: false })
}

/// A string with its zero, of no more than so many bytes.
pub(super) fn text(address: u64, most: u32) -> u32 {
    let most = most.min(MOST);
    let end = (0..most).find(|at| byte(address + u64::from(*at)).is_none_or(|byte| byte == 0));
    end.map_or(most, |at| at + 1)
}

/// The same, of wide characters.
fn wide_text(address: u64) -> u32 {
    let end = (0..MOST / WIDE).find(|at| wide(address + u64::from(at * WIDE)).is_none_or(|found| found == 0));
    end.map_or(MOST, |at| (at + 1) * WIDE)
}

fn wide(address: u64) -> Option<u32> {
    compare::word(Range { address, length: WIDE }).and_then(|word| u32::try_from(word).ok())
}

fn byte(address: u64) -> Option<u8> {
    usize::try_from(address).ok().and_then(guarded::byte)
}

/// The arguments that are still to come, as far as the format tells of any (System V ABI for x86-64, 3.5.7).
fn values(list: u64, told: &[Argument]) -> Vec<Option<u64>> {
    const INTEGERS: u64 = 48;
    const DOUBLES: u64 = 176;
    let (Some(offsets), Some(overflow), Some(saved)) = (read(list), read(list + 8), read(list + 16)) else { return Vec::new() };
    let (mut integers, mut doubles, mut overflow) = (offsets & 0xffff_ffff, offsets >> 32, overflow);
    let mut next = |class: Class| match class {
        Class::Integer if integers < INTEGERS => {
            integers += 8;
            read(saved + integers - 8)
        }
        Class::Double if doubles < DOUBLES => {
            doubles += 16;
            None
        }
        Class::LongDouble => {
            overflow = overflow.next_multiple_of(16) + 16;
            None
        }
        Class::Integer | Class::Double => {
            overflow += 8;
            read(overflow - 8)
        }
    };
    let count = told.iter().map(|argument| argument.index + 1).max().unwrap_or(0);
    let class = |index: u8| told.iter().find(|argument| argument.index == index).map_or(Class::Integer, |argument| argument.class);
    (0..count).map(|index| next(class(index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `va_list` with so many integers and doubles in registers that are used up, whose integers are the numbers from 100 on in registers, and
    /// those from 200 on behind.
    fn check(format: &str, integers: u32, doubles: u32, expected: &[Option<u64>]) {
        let saved: Vec<u64> = (100..106).chain(core::iter::repeat_n(0, 16)).collect();
        let behind: Vec<u64> = (200..232).collect();
        let address = |words: &[u64]| words.as_ptr().expose_provenance() as u64;
        // Long doubles stand at multiples of 16.
        let overflow = address(&behind).next_multiple_of(16);
        let list = [u64::from(integers * 8) | u64::from(48 + doubles * 16) << 32, overflow, address(&saved)];
        let skew = (overflow - address(&behind)) / 8;
        let expected: Vec<_> = expected.iter().map(|value| value.map(|value| if value < 200 { value } else { value + skew })).collect();
        assert_eq!(values(address(&list), &arguments(format.as_bytes(), Rw::Read, 0)), expected, "{format}");
    }

    #[test]
    fn arguments_are_found_as_callers_pass_them() {
        check("%d %s", 2, 0, &[Some(102), Some(103)]);
        check("%d %d %d", 4, 0, &[Some(104), Some(105), Some(200)]);
        check("%s %f %s", 5, 0, &[Some(105), None, Some(200)]);
        check("%f %f %s", 0, 7, &[None, Some(200), Some(100)]);
        check("%d %Lf %d", 6, 0, &[Some(200), None, Some(204)]);
        check("%3$s", 0, 0, &[Some(100), Some(101), Some(102)]);
        check("%*d", 0, 0, &[Some(100), Some(101)]);
    }

    #[test]
    fn strings_are_measured_as_far_as_they_are_read() {
        let string = c"four";
        let address = string.as_ptr().expose_provenance() as u64;
        let bytes = |format: &core::ffi::CStr| {
            let format = format.as_ptr().expose_provenance() as u64;
            of_argument((format, Width::Bytes), Rw::Read, 0, (address, 0)).iter().map(|told| told.bytes).collect::<Vec<_>>()
        };
        assert_eq!((bytes(c"%s"), bytes(c"%.2s"), bytes(c"%.9s"), bytes(c"%.0s")), (vec![5], vec![2], vec![5], vec![]));
        assert_eq!((bytes(c"%d"), bytes(c"%1$s %1$.1s")), (vec![], vec![5, 1]));
    }
}
