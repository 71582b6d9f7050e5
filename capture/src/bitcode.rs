//! The sections with bitcode and with commands, and how they are split where several objects were joined.
//!
//! Clang names them `.llvmbc` and `.llvmcmd`; the driver renames the first (see there why). Both names are read.
//! Joined sections follow each other without a gap. A unit of bitcode is the magic `BC C0 DE` and then top-level blocks
//! (LLVM's "Bitstream Format"): 2 bits `ENTER_SUBBLOCK` (1), the block's number as VBR8, its abbreviation width as VBR4,
//! alignment to 32 bits, and its length in 32-bit words. The magic itself does not begin as a block does, so the walk
//! cannot run past a unit. A command is a list of arguments, each ended by a zero byte, that begins with `-cc1`.

use object::{Object, ObjectSection};

/// Where clang puts bitcode.
pub(super) const CLANG_SECTION: &str = ".llvmbc";
/// What the driver renames it to: of the same length, and unknown to other tools.
pub(super) const BITCODE_SECTION: &str = ".atombc";
const COMMAND_SECTION: &str = ".llvmcmd";

const MAGIC: &[u8] = b"BC\xc0\xde";
const ENTER_SUBBLOCK: u32 = 1;

/// The units in a file, with or without the renamed section.
pub(super) fn units_of<'a>(file: &object::File<'a>) -> Result<Vec<&'a [u8]>, String> {
    let section = [BITCODE_SECTION, CLANG_SECTION].into_iter().find_map(|name| file.section_by_name(name));
    units(section.and_then(|section| section.data().ok()).unwrap_or_default())
}

/// The commands in a file.
pub(super) fn commands_of(file: &object::File<'_>) -> Vec<Vec<String>> {
    commands(file.section_by_name(COMMAND_SECTION).and_then(|section| section.data().ok()).unwrap_or_default())
}

/// The units in a section.
fn units(section: &[u8]) -> Result<Vec<&[u8]>, String> {
    let mut units = Vec::new();
    let mut start = 0;
    while start < section.len() {
        // A linker may fill up to the alignment of the next object's section.
        if section[start] == 0 {
            start += 1;
            continue;
        }
        let end = unit_end(section, start).ok_or_else(|| format!("its bitcode is damaged near offset {start} of its section"))?;
        units.push(&section[start..end]);
        start = end;
    }
    Ok(units)
}

/// Where the unit that starts at `start` ends.
fn unit_end(section: &[u8], start: usize) -> Option<usize> {
    if !section[start..].starts_with(MAGIC) {
        return None;
    }
    let mut at = start + MAGIC.len();
    while let Some(head) = section.get(at..at + 8) {
        let first = u32::from_le_bytes(head[..4].try_into().ok()?);
        if first & 0b11 != ENTER_SUBBLOCK {
            break;
        }
        // Top-level block numbers and widths fit the first word: 2 bits, one VBR8 group, one VBR4 group.
        let words = u32::from_le_bytes(head[4..].try_into().ok()?);
        at = at.checked_add(8)?.checked_add(usize::try_from(words).ok()?.checked_mul(4)?)?;
        if at > section.len() {
            return None;
        }
    }
    (at > start + MAGIC.len()).then_some(at)
}

/// The commands in a section.
fn commands(section: &[u8]) -> Vec<Vec<String>> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    for argument in section.split(|byte| *byte == 0) {
        let argument = String::from_utf8_lossy(argument).into_owned();
        if argument == "-cc1" {
            commands.push(Vec::new());
        } else if let Some(command) = commands.last_mut() {
            command.push(argument);
        }
    }
    for command in &mut commands {
        // What follows the last zero byte, and filling between sections.
        while command.last().is_some_and(String::is_empty) {
            command.pop();
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit with blocks of these lengths in words.
    fn unit(blocks: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for words in blocks {
            bytes.extend([0x35, 0x14, 0, 0, *words, 0, 0, 0]);
            bytes.extend(std::iter::repeat_n(0x42, usize::from(*words) * 4));
        }
        bytes
    }

    #[test]
    fn joined_units_are_told_apart() {
        let (one, two) = (unit(&[2, 1]), unit(&[3]));
        assert_eq!(units(&[]), Ok(vec![]));
        assert_eq!(units(&one), Ok(vec![&one[..]]));
        assert_eq!(units(&[one.clone(), two.clone()].concat()), Ok(vec![&one[..], &two[..]]));
        assert_eq!(units(&[one.clone(), vec![0; 4], two.clone()].concat()), Ok(vec![&one[..], &two[..]]));
    }

    #[test]
    fn damaged_bitcode_is_refused() {
        let whole = unit(&[2, 1]);
        let inner = [MAGIC.len() + 4, MAGIC.len() + 8, whole.len() - 1];
        for length in inner {
            assert!(units(&whole[..length]).is_err(), "{length}");
        }
        assert!(units(b"BC").is_err());
        assert!(units(b"\x7fELF").is_err());
        assert!(units(&[unit(&[1]), b"rubbish".to_vec()].concat()).is_err());
    }

    #[test]
    fn joined_commands_are_told_apart() {
        assert_eq!(commands(b"-cc1\0-O2\0a b\0-cc1\0-x\0\0"), [vec!["-O2".to_owned(), "a b".to_owned()], vec!["-x".to_owned()]]);
        assert!(commands(b"").is_empty());
    }
}
