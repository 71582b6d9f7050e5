//! Sections of our own at the end of an ELF file that a linker has finished, and new names for old ones.
//!
//! | appended | content |
//! |---|---|
//! | sections | 8-byte aligned, not loaded |
//! | names | the old section names and ours |
//! | headers | the old section headers and ours |
//!
//! Nothing that is loaded moves, and the linker's command line stays the user's own. The file is valid until the very
//! last write, which points its header at the new table. 64-bit little-endian files only.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEADER: usize = 64;
const ENTRY: usize = 64;
const PROGBITS: u32 = 1;
const STRTAB: u32 = 3;
/// Section numbers from here on are written in another way, which no real program needs.
const RESERVED: usize = 0xff00;

/// Whether bytes begin as a 64-bit little-endian ELF file does.
pub(super) fn is_elf64(content: &[u8]) -> bool {
    content.len() >= HEADER && content.starts_with(b"\x7fELF\x02\x01")
}

/// Appends sections to the file. On an error the file is as it was.
pub(super) fn append(path: &Path, sections: &[(&str, &[u8])]) -> io::Result<()> {
    let content = std::fs::read(path)?;
    let (tail, header) =
        appended(&content, sections).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its section headers are not sound"))?;
    let file = OpenOptions::new().write(true).open(path)?;
    let end = content.len() as u64;
    let written = file.write_all_at(&tail, end).and_then(|()| file.write_all_at(&header, 0));
    if written.is_err() {
        // The error itself is what the caller must know.
        let _ = file.write_all_at(&content[..HEADER], 0);
        let _ = file.set_len(end);
    }
    written
}

/// Gives a section of an object another name of the same length, in the file. An object without such a section, or with
/// its name inside a longer one, stays as it is.
pub(super) fn rename(path: &Path, from: &str, to: &str) -> io::Result<()> {
    debug_assert_eq!(from.len(), to.len());
    let content = std::fs::read(path)?;
    match name_place(&content, from) {
        Some(at) => OpenOptions::new().write(true).open(path)?.write_all_at(to.as_bytes(), at as u64),
        None => Ok(()),
    }
}

/// Where in the file the name of a section stands, if it is used for nothing else.
fn name_place(content: &[u8], name: &str) -> Option<usize> {
    let (table, names) = is_elf64(content).then(|| old_table(content))??;
    let names = table.get(names? * ENTRY..(names? + 1) * ENTRY)?;
    let start = word(names, 24)?;
    let names = body(content, names)?;
    table.chunks_exact(ENTRY).find_map(|entry| {
        let at = usize::try_from(u32::from_le_bytes(entry[..4].try_into().ok()?)).ok()?;
        let found = names.get(at..)?.strip_prefix(name.as_bytes())?.first() == Some(&0);
        (found && at > 0 && names[at - 1] == 0).then_some(start + at)
    })
}

/// What to write at the end, and the new file header.
fn appended(content: &[u8], sections: &[(&str, &[u8])]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut header = is_elf64(content).then(|| content[..HEADER].to_vec())?;
    let (mut table, names_index) = old_table(content)?;
    let mut names = match names_index {
        Some(index) => body(content, table.get(index * ENTRY..(index + 1) * ENTRY)?)?.to_vec(),
        None => vec![0],
    };
    let mut tail = Vec::new();
    for (name, bytes) in sections {
        let at = place(content.len(), &mut tail, bytes);
        let name = push_name(&mut names, name)?;
        table.extend(entry(name, PROGBITS, at, bytes.len()));
    }
    let names_index = match names_index {
        Some(index) => index,
        None => {
            let name = push_name(&mut names, ".shstrtab")?;
            table.extend(entry(name, STRTAB, 0, 0));
            table.len() / ENTRY - 1
        }
    };
    let at = place(content.len(), &mut tail, &names);
    let names_entry = &mut table[names_index * ENTRY..];
    names_entry[24..32].copy_from_slice(&(at as u64).to_le_bytes());
    names_entry[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
    let count = table.len() / ENTRY;
    if count >= RESERVED {
        return None;
    }
    let at = place(content.len(), &mut tail, &table);
    header[40..48].copy_from_slice(&(at as u64).to_le_bytes());
    header[58..60].copy_from_slice(&u16::try_from(ENTRY).ok()?.to_le_bytes());
    header[60..62].copy_from_slice(&u16::try_from(count).ok()?.to_le_bytes());
    header[62..64].copy_from_slice(&u16::try_from(names_index).ok()?.to_le_bytes());
    Some((tail, header))
}

/// The section headers and the index of the one with the names; an empty header alone where there are none.
fn old_table(content: &[u8]) -> Option<(Vec<u8>, Option<usize>)> {
    let half = |at: usize| usize::from(u16::from_le_bytes([content[at], content[at + 1]]));
    let start = word(content, 40)?;
    let (size, count, names) = (half(58), half(60), half(62));
    if start == 0 {
        return Some((vec![0; ENTRY], None));
    }
    if size != ENTRY || count == 0 || names == 0 || names >= count {
        return None;
    }
    Some((content.get(start..start.checked_add(count * ENTRY)?)?.to_vec(), Some(names)))
}

fn body<'a>(content: &'a [u8], entry: &[u8]) -> Option<&'a [u8]> {
    let start = word(entry, 24)?;
    content.get(start..start.checked_add(word(entry, 32)?)?)
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok()
}

fn push_name(names: &mut Vec<u8>, name: &str) -> Option<u32> {
    let at = u32::try_from(names.len()).ok()?;
    names.extend_from_slice(name.as_bytes());
    names.push(0);
    Some(at)
}

/// Puts bytes at the next aligned place behind the file; gives their offset in it.
fn place(end: usize, tail: &mut Vec<u8>, bytes: &[u8]) -> usize {
    const ALIGNMENT: usize = 8;
    let at = (end + tail.len()).next_multiple_of(ALIGNMENT);
    tail.resize(at - end, 0);
    tail.extend_from_slice(bytes);
    at
}

fn entry(name: u32, kind: u32, at: usize, length: usize) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[0..4].copy_from_slice(&name.to_le_bytes());
    entry[4..8].copy_from_slice(&kind.to_le_bytes());
    entry[24..32].copy_from_slice(&(at as u64).to_le_bytes());
    entry[32..40].copy_from_slice(&(length as u64).to_le_bytes());
    entry[48] = 1;
    entry
}

#[cfg(test)]
mod tests {
    use object::{Object, ObjectSection};

    use super::*;

    fn check(content: &[u8]) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, content).expect("a file");
        append(&path, &[(".one", b"first"), (".two", b"")]).expect("appended");
        let after = std::fs::read(&path).expect("a file");
        let file = object::File::parse(&*after).expect("an ELF file");
        assert_eq!(file.section_by_name(".one").expect("a section").data().expect("data"), b"first");
        assert_eq!(file.section_by_name(".two").expect("a section").data().expect("data"), b"");
        assert_eq!(&after[HEADER..content.len()], &content[HEADER..], "nothing before the end has changed");
        for section in object::File::parse(content).expect("an ELF file").sections() {
            let name = section.name().expect("a name");
            assert_eq!(file.section_by_index(section.index()).expect("kept").name(), Ok(name));
        }
    }

    #[test]
    fn sections_are_appended_and_found_again() {
        check(&std::fs::read(std::env::current_exe().expect("this test")).expect("this test's program"));
    }

    #[test]
    fn a_file_without_section_headers_gets_some() {
        let mut content = std::fs::read(std::env::current_exe().expect("this test")).expect("this test's program");
        content[40..48].fill(0);
        content[58..64].fill(0);
        check(&content);
    }

    #[test]
    fn a_section_is_renamed_and_nothing_else_changes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        let content = std::fs::read(std::env::current_exe().expect("this test")).expect("this test's program");
        std::fs::write(&path, &content).expect("a file");
        rename(&path, ".comment", ".renamed").expect("renamed");
        let after = std::fs::read(&path).expect("a file");
        let (before, now) = (object::File::parse(&*content).expect("an ELF file"), object::File::parse(&*after).expect("an ELF file"));
        let data = |file: &object::File<'_>, name: &str| file.section_by_name(name).map(|section| section.data().expect("data").to_vec());
        assert_eq!(data(&now, ".renamed"), data(&before, ".comment"));
        assert_eq!(data(&now, ".comment"), None);
        assert_eq!(content.iter().zip(&after).filter(|(one, other)| one != other).count(), "renamed".len(), "the letters of one name");
        rename(&path, ".nothere", ".renamed").expect("nothing to do");
        assert_eq!(std::fs::read(&path).expect("a file"), after);
    }

    #[test]
    fn a_file_that_is_not_elf_is_left_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        for content in [&b"#!/bin/sh\n"[..], &[0; 200], b"\x7fELF\x02\x01", &[b"\x7fELF\x02\x01".as_slice(), &[0xff; 100]].concat()] {
            std::fs::write(&path, content).expect("a file");
            append(&path, &[(".one", b"first")]).expect_err("refused");
            assert_eq!(std::fs::read(&path).expect("a file"), content);
        }
    }
}
