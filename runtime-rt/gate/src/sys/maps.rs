//! The process's own memory map, read without the C library.

use alloc::vec::Vec;

use super::call;

/// One mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// First byte.
    pub(crate) start: usize,
    /// One behind the last.
    pub(crate) end: usize,
    /// Whether it is private and writable: what a restore has to put back.
    pub(crate) restorable: bool,
    /// Whether it is writable and shared with other processes: what neither a restore nor a fork gives back.
    pub(crate) shared: bool,
    /// What file it is of, if it is of one: shared memory without a name is too.
    pub(crate) file: Option<File>,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its number.
    pub(crate) number: u64,
    /// A hash of its device and name, which tells files of several file systems apart.
    pub(crate) name: u64,
    /// Where in it the mapping begins.
    pub(crate) offset: u64,
}

/// All mappings, in ascending order.
pub(crate) fn mappings() -> Result<Vec<Mapping>, call::Errno> {
    let file = call::open(c"/proc/self/maps")?;
    let mut text = Vec::new();
    let mut part = [0_u8; 4096];
    loop {
        match call::read(file, &mut part) {
            Ok(0) => break,
            Ok(length) => text.extend_from_slice(&part[..length]),
            Err(error) => {
                call::close(file);
                return Err(error);
            }
        }
    }
    call::close(file);
    Ok(text.split(|&byte| byte == b'\n').filter_map(parse).collect())
}

/// Reads one line: `start-end perms ...`.
fn parse(line: &[u8]) -> Option<Mapping> {
    let text = core::str::from_utf8(line).ok()?;
    let (range, rest) = text.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let writable = rest.starts_with("rw");
    let sharing = rest.as_bytes().get(3);
    let mut words = rest.split_whitespace().skip(1);
    let file = (|| {
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        let (device, number) = (words.next()?, words.next()?.parse().ok().filter(|&number| number != 0)?);
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let name = device.bytes().chain(words.next().unwrap_or_default().bytes()).fold(0xcbf2_9ce4_8422_2325, mix);
        Some(File { number, name, offset })
    })();
    Some(Mapping { start, end, restorable: writable && sharing == Some(&b'p'), shared: writable && sharing == Some(&b's'), file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_writable_mappings_are_told_from_others() {
        let parsed = |text: &str| parse(text.as_bytes()).map(|mapping| (mapping.start, mapping.end, mapping.restorable));
        assert_eq!(parsed("7ffd1000-7ffd3000 rw-p 00000000 00:00 0 [stack]"), Some((0x7ffd_1000, 0x7ffd_3000, true)));
        assert_eq!(parsed("1000-2000 rw-s 00000000 00:01 7 /memfd:x"), Some((0x1000, 0x2000, false)));
        assert_eq!(parsed("1000-2000 r--p 00000000 08:01 7 /bin/x"), Some((0x1000, 0x2000, false)));
        assert_eq!(parsed(""), None);
    }

    #[test]
    fn the_map_of_this_process_has_this_function_in_it() {
        let here = (the_map_of_this_process_has_this_function_in_it as fn()) as usize;
        let maps = mappings().expect("the map of this process");
        assert!(maps.iter().any(|mapping| (mapping.start..mapping.end).contains(&here)));
    }
}
