//! What a format of `printf` or `scanf` says of the arguments behind it: which of them there are, and the memory that they point to.
//!
//! A wide format is read as its characters in bytes.
//! Not handled: conversions that a program defines itself (`register_printf_specifier`). A format that the C library would not understand says nothing.

use alloc::vec::Vec;

use super::Length;
use crate::pair::Rw;

/// An argument behind a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// How many arguments stand between the format and this one.
    pub index: u8,
    /// How it is passed.
    pub class: Class,
    /// What is done to the memory that it points to.
    pub memory: Option<(Rw, Length)>,
    /// Whether that is as long as only the memory itself tells, and not as said before, which is the least that it is.
    pub open: Option<Open>,
}

/// Memory whose end nothing but itself tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Wide characters with a zero behind them.
    WideText,
    /// As much as is found in what is scanned.
    Scanned,
}

/// Whether the lengths that a format tells of are all that there is to say.
#[must_use]
pub fn is_plain(format: &[u8], rw: Rw) -> bool {
    arguments(format, rw, 0).iter().all(|argument| argument.open.is_none())
}

/// How an argument is passed (System V ABI for x86-64, 3.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Integers and pointers.
    Integer,
    /// `double`.
    Double,
    /// `long double`.
    LongDouble,
}

/// A conversion, as far as it says what is behind a pointer.
struct Conversion {
    letter: u8,
    /// The bytes of a number that it stores.
    bytes: u32,
    width: Option<u32>,
    precision: Precision,
    suppressed: bool,
    allocates: bool,
    /// The argument that it names by its number, counted from 1.
    position: Option<u8>,
    /// Arguments that say a width or a precision, by number where they have one. They come before its own.
    stars: Vec<Option<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Precision {
    None,
    /// So many bytes.
    Said(u32),
    /// What the last of the arguments for widths and precisions says.
    Argument,
}

/// The arguments of a format, which are read, as by `printf`, or written, as by `scanf`, in their order; some may be told of more than once.
/// `first` is the number of the argument behind the format.
#[must_use]
pub fn arguments(format: &[u8], rw: Rw, first: u8) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut next = 0_u8;
    let mut take = |position: Option<u8>| match position {
        Some(number) => number.saturating_sub(1),
        None => {
            next = next.saturating_add(1);
            next - 1
        }
    };
    let mut rest = format.split(|byte| *byte == 0).next().unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let Some((conversion, behind)) = conversion(&rest[at + 1..], rw) else { return Vec::new() };
        rest = behind;
        let mut star = None;
        for position in &conversion.stars {
            let index = take(*position);
            found.push(Argument { index, class: Class::Integer, memory: None, open: None });
            star = Some(first.saturating_add(index));
        }
        let takes = !matches!(conversion.letter, b'%' | b'm') && !conversion.suppressed;
        if takes {
            let memory = memory(&conversion, rw, star);
            let open = open(&conversion, rw);
            found.push(Argument { index: take(conversion.position), class: class(&conversion, rw), memory, open });
        }
    }
    found.sort_by_key(|argument| argument.index);
    found
}

fn class(conversion: &Conversion, rw: Rw) -> Class {
    let is_number = matches!(conversion.letter, b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G');
    match is_number && rw == Rw::Read {
        true if conversion.bytes == 16 => Class::LongDouble,
        true => Class::Double,
        false => Class::Integer,
    }
}

/// Whether the length of what a conversion touches is open.
fn open(conversion: &Conversion, rw: Rw) -> Option<Open> {
    let is_text = matches!(conversion.letter, b's' | b'S' | b'[');
    let is_wide = conversion.letter == b'S' || (is_text && conversion.bytes == 8);
    match rw {
        Rw::Read => is_wide.then_some(Open::WideText),
        _ if conversion.allocates => None,
        _ => (is_text && (is_wide || conversion.width.is_none())).then_some(Open::Scanned),
    }
}

/// What a conversion does to the memory that its argument points to. `star`: the argument that says its precision.
fn memory(conversion: &Conversion, rw: Rw, star: Option<u8>) -> Option<(Rw, Length)> {
    let reads = rw == Rw::Read;
    let length = match conversion.letter {
        b's' | b'S' if reads => match (conversion.precision, star) {
            (Precision::None, _) => Length::String,
            (Precision::Said(most), _) => Length::StringWithin(most),
            (Precision::Argument, star) => star.map_or(Length::String, Length::StringUpTo),
        },
        b'n' => return Some((Rw::Write, Length::Bytes(conversion.bytes))),
        _ if reads => return None,
        _ if conversion.allocates => Length::Bytes(8),
        b's' | b'S' | b'[' => Length::Bytes(conversion.width.map_or(1, |width| width.saturating_add(1))),
        b'c' => Length::Bytes(conversion.width.unwrap_or(1)),
        b'p' => Length::Bytes(8),
        b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' if conversion.bytes == 16 => Length::Bytes(16),
        _ => Length::Bytes(conversion.bytes),
    };
    Some((rw, length))
}

/// The number that a text begins with, and what comes behind it.
fn number(text: &[u8]) -> (Option<u32>, &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..digits].iter().fold(0_u32, |value, digit| value.saturating_mul(10).saturating_add((digit - b'0').into()));
    ((digits > 0).then_some(value), &text[digits..])
}

/// A number with a dollar sign: which argument is meant.
fn position(text: &[u8]) -> (Option<u8>, &[u8]) {
    match number(text) {
        (Some(value), [b'$', behind @ ..]) => (Some(u8::try_from(value).unwrap_or(u8::MAX)), behind),
        _ => (None, text),
    }
}

/// The conversion behind a percent sign, and what comes behind it.
fn conversion(text: &[u8], rw: Rw) -> Option<(Conversion, &[u8])> {
    let scans = rw != Rw::Read;
    let (position_of_it, mut text) = position(text);
    let mut found = Conversion {
        letter: 0,
        bytes: 4,
        width: None,
        precision: Precision::None,
        suppressed: false,
        allocates: false,
        position: position_of_it,
        stars: Vec::new(),
    };
    loop {
        let from = text;
        let (&byte, behind) = text.split_first()?;
        text = behind;
        match byte {
            b'*' if scans => found.suppressed = true,
            b'*' => {
                let (position, behind) = position(text);
                found.stars.push(position);
                text = behind;
            }
            b'.' if text.first() == Some(&b'*') => found.precision = Precision::Argument,
            b'.' => {
                let (value, behind) = number(text);
                found.precision = Precision::Said(value.unwrap_or(0));
                text = behind;
            }
            b'-' | b'+' | b' ' | b'#' | b'0' | b'\'' | b'I' => {}
            b'1'..=b'9' => (found.width, text) = number(from),
            b'm' if scans => found.allocates = true,
            b'h' if found.bytes == 2 => found.bytes = 1,
            b'h' => found.bytes = 2,
            b'l' | b'j' | b'z' | b't' | b'q' => found.bytes = 8,
            b'L' => found.bytes = 16,
            b'[' if scans => {
                // A bracket that comes first, or behind the sign that turns a set around, belongs to it.
                let first = usize::from(text.first() == Some(&b'^'));
                let end = (first + 1..text.len()).find(|&end| text[end] == b']')?;
                found.letter = byte;
                return Some((found, &text[end + 1..]));
            }
            _ => {
                found.letter = byte;
                return Some((found, text));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Length::{Bytes, String as Text, StringUpTo, StringWithin};

    fn check(format: &str, rw: Rw, expected: &[(u8, Rw, Length)]) {
        let found = arguments(format.as_bytes(), rw, 2);
        let found: Vec<_> = found.iter().filter_map(|argument| argument.memory.map(|(rw, length)| (argument.index, rw, length))).collect();
        assert_eq!(found, expected, "{format}");
    }

    #[test]
    fn printing_reads_strings() {
        for (format, expected) in [
            ("", &[][..]),
            ("100 %% %d %p", &[]),
            ("%s %d %-10s", &[(0, Rw::Read, Text), (2, Rw::Read, Text)]),
            ("%ld: %m %s", &[(1, Rw::Read, Text)]),
            ("%*d %.*s", &[(3, Rw::Read, StringUpTo(4))]),
            ("%-*.*s", &[(2, Rw::Read, StringUpTo(3))]),
            ("%.3s %10.12s %.s", &[(0, Rw::Read, StringWithin(3)), (1, Rw::Read, StringWithin(12)), (2, Rw::Read, StringWithin(0))]),
            ("%*s %05d", &[(1, Rw::Read, Text)]),
            ("%hhn %zn", &[(0, Rw::Write, Bytes(1)), (1, Rw::Write, Bytes(8))]),
            ("%2$s %1$d", &[(1, Rw::Read, Text)]),
            ("%2$.*1$s", &[(1, Rw::Read, StringUpTo(2))]),
            ("%s %", &[]),
            ("%s\0%s", &[(0, Rw::Read, Text)]),
        ] {
            check(format, Rw::Read, expected);
        }
    }

    #[test]
    fn scanning_writes_what_the_conversions_store() {
        let stores = |list: &[(u8, u32)]| list.iter().map(|&(index, bytes)| (index, Rw::Write, Bytes(bytes))).collect::<Vec<_>>();
        for (format, expected) in [
            ("%d,%hd %hhu %lx", stores(&[(0, 4), (1, 2), (2, 1), (3, 8)])),
            ("%*d %f %lf %Lf", stores(&[(0, 4), (1, 8), (2, 16)])),
            ("%9s %c %4c", stores(&[(0, 10), (1, 1), (2, 4)])),
            ("%[^]a] %3[]] %p%n", stores(&[(0, 1), (1, 4), (2, 8), (3, 4)])),
            ("%ms %d", stores(&[(0, 8), (1, 4)])),
        ] {
            check(format, Rw::Write, &expected);
        }
    }

    #[test]
    fn some_lengths_are_open() {
        for (format, printed, scanned) in [
            ("%s %d", true, false),
            ("%9s %d %3[a]", true, true),
            ("%ls", false, false),
            ("%S", false, false),
            ("%[a]", true, false),
            ("%ms", true, true),
        ] {
            assert_eq!((is_plain(format.as_bytes(), Rw::Read), is_plain(format.as_bytes(), Rw::Write)), (printed, scanned), "{format}");
        }
    }

    #[test]
    fn each_argument_has_its_class() {
        let classes =
            |format: &str| arguments(format.as_bytes(), Rw::Read, 1).iter().map(|found| (found.index, found.class)).collect::<Vec<_>>();
        let expected = [(0, Class::Integer), (1, Class::Double), (2, Class::LongDouble), (3, Class::Integer), (4, Class::Double)];
        assert_eq!(classes("%d %f %Lg %*e"), expected);
        assert_eq!(classes("%2$f %1$d"), [(0, Class::Integer), (1, Class::Double)]);
        assert_eq!(arguments(b"%f", Rw::Write, 1)[0].class, Class::Integer);
    }
}
