//! What a format of `printf` or `scanf` says of the memory that the arguments behind it point to.
//!
//! A format that is not known, or that numbers its arguments, says nothing.

use model::external::Length;
use model::pair::Rw;

/// Memory that one of the arguments behind a format points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointed {
    /// How many arguments stand between the format and this one.
    pub(super) index: u8,
    pub(super) rw: Rw,
    pub(super) length: Length,
}

/// A conversion, as far as it says what is behind a pointer.
struct Conversion {
    letter: u8,
    /// The bytes of a number that it stores.
    bytes: u32,
    width: Option<u32>,
    /// Whether a precision bounds a string.
    bounded: bool,
    suppressed: bool,
    allocates: bool,
    /// How many arguments come before its own: widths and precisions.
    stars: u8,
}

/// The memory of a format's arguments, which are read, as by `printf`, or written, as by `scanf`. `first` is the argument behind the format.
pub(super) fn pointed(format: &[u8], rw: Rw, first: u8) -> Vec<Pointed> {
    let mut found = Vec::new();
    let mut index = 0_u8;
    let mut rest = format.split(|byte| *byte == 0).next().unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let Some((conversion, behind)) = conversion(&rest[at + 1..], rw) else { return Vec::new() };
        rest = behind;
        index = index.saturating_add(conversion.stars);
        let takes = !matches!(conversion.letter, b'%' | b'm') && !conversion.suppressed;
        if !takes {
            continue;
        }
        if let Some((rw, length)) = memory(&conversion, rw, first.saturating_add(index)) {
            found.push(Pointed { index, rw, length });
        }
        index = index.saturating_add(1);
    }
    found
}

/// What a conversion does to the memory that its argument points to. `at` is that argument.
fn memory(conversion: &Conversion, rw: Rw, at: u8) -> Option<(Rw, Length)> {
    let reads = rw == Rw::Read;
    let length = match conversion.letter {
        b's' if reads && conversion.bounded && conversion.stars > 0 => Length::StringUpTo(at - 1),
        b's' if reads && conversion.bounded => Length::Bytes(1),
        b's' if reads => Length::String,
        b'n' => return Some((Rw::Write, Length::Bytes(conversion.bytes))),
        _ if reads => return None,
        _ if conversion.allocates => Length::Bytes(8),
        b's' | b'[' => Length::Bytes(conversion.width.map_or(1, |width| width.saturating_add(1))),
        b'c' => Length::Bytes(conversion.width.unwrap_or(1)),
        b'p' => Length::Bytes(8),
        b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' if conversion.bytes == 16 => Length::Bytes(16),
        _ => Length::Bytes(conversion.bytes),
    };
    Some((rw, length))
}

/// The conversion behind a percent sign, and what comes behind it.
fn conversion(text: &[u8], rw: Rw) -> Option<(Conversion, &[u8])> {
    let scans = rw != Rw::Read;
    let mut found = Conversion { letter: 0, bytes: 4, width: None, bounded: false, suppressed: false, allocates: false, stars: 0 };
    let mut at = 0;
    loop {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'$' => return None,
            b'*' if scans => found.suppressed = true,
            b'*' => found.stars += 1,
            b'.' => found.bounded = true,
            b'0'..=b'9' => found.width = Some(found.width.unwrap_or(0).saturating_mul(10).saturating_add((byte - b'0').into())),
            b'-' | b'+' | b' ' | b'#' | b'\'' | b'I' => {}
            b'm' if scans => found.allocates = true,
            b'h' if found.bytes == 2 => found.bytes = 1,
            b'h' => found.bytes = 2,
            b'l' | b'j' | b'z' | b't' | b'q' => found.bytes = 8,
            b'L' => found.bytes = 16,
            b'[' if scans => {
                // A bracket that comes first, or behind the sign that turns a set around, belongs to it.
                let first = at + usize::from(text.get(at) == Some(&b'^'));
                let end = (first + 1..text.len()).find(|&end| text[end] == b']')?;
                found.letter = byte;
                return Some((found, &text[end + 1..]));
            }
            _ => {
                found.letter = byte;
                return Some((found, &text[at..]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Length::{Bytes, String as Text, StringUpTo};

    fn check(format: &str, rw: Rw, expected: &[(u8, Rw, Length)]) {
        let expected: Vec<Pointed> = expected.iter().map(|&(index, rw, length)| Pointed { index, rw, length }).collect();
        assert_eq!(pointed(format.as_bytes(), rw, 2), expected, "{format}");
    }

    #[test]
    fn printing_reads_strings() {
        for (format, expected) in [
            ("", &[][..]),
            ("100 %% %d %p", &[]),
            ("%s %d %-10s", &[(0, Rw::Read, Text), (2, Rw::Read, Text)]),
            ("%ld: %m %s", &[(1, Rw::Read, Text)]),
            ("%*d %.*s", &[(3, Rw::Read, StringUpTo(4))]),
            ("%.3s", &[(0, Rw::Read, Bytes(1))]),
            ("%hhn %zn", &[(0, Rw::Write, Bytes(1)), (1, Rw::Write, Bytes(8))]),
            ("%2$s %1$s", &[]),
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
}
