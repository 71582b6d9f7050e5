//! Whether an object's bitcode is all of it, and still what it is.
//!
//! An object that clang wrote itself needs no look: it is known by its one string table for sections and symbols, which
//! neither `ld -r` nor `objcopy` leaves. Any other may hold code without bitcode (assembly joined in) or other names
//! than its bitcode has (localized, renamed symbols); then the global symbols of the two do not agree, and the object is
//! linked as it is. Not seen: added code that defines no global symbol.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSymbol};

use super::CaptureError;
use super::toolchain::{self, Tool};

/// Why the bitcode does not stand for the object, if it does not.
pub(super) fn gap(object: &object::File<'_>, bitcodes: &[&[u8]], origin: &str) -> Result<Option<&'static str>, CaptureError> {
    if bitcodes.len() <= 1 && is_written_by_clang(object) {
        return Ok(None);
    }
    let in_object: BTreeSet<String> = object
        .symbols()
        .filter(|symbol| symbol.is_global() && !symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect();
    let folder = tempfile::tempdir().map_err(|source| CaptureError::Write { path: std::env::temp_dir(), source })?;
    let mut in_bitcode = Symbols::default();
    for bitcode in bitcodes {
        in_bitcode.add(bitcode, &folder.path().join("unit.bc"), origin)?;
    }
    if in_object.iter().any(|name| !in_bitcode.all.contains(name)) {
        return Ok(Some("parts of it were joined in without bitcode"));
    }
    Ok(in_bitcode.strong.iter().any(|name| !in_object.contains(name)).then_some("its symbols were changed after it was compiled"))
}

fn is_written_by_clang(object: &object::File<'_>) -> bool {
    match object {
        object::File::Elf64(elf) => {
            let names = usize::from(elf.elf_header().e_shstrndx.get(elf.endian()));
            elf.elf_symbol_table().string_section().0 == names
        }
        _ => false,
    }
}

/// Global symbols that bitcode defines.
#[derive(Default)]
struct Symbols {
    all: BTreeSet<String>,
    /// Those that no optimization drops.
    strong: BTreeSet<String>,
}

impl Symbols {
    fn add(&mut self, bitcode: &[u8], path: &Path, origin: &str) -> Result<(), CaptureError> {
        fs::write(path, bitcode).map_err(|source| CaptureError::Write { path: path.to_owned(), source })?;
        let nm = toolchain::find(Tool::Nm)?;
        let output = Command::new(&nm).args(["--defined-only", "--extern-only", "--format=posix", "--no-sort"]).arg(path).output();
        let output = output.map_err(|source| CaptureError::ToolStart { tool: nm, source })?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(CaptureError::ToolFailed { tool: "llvm-nm".to_owned(), origin: origin.to_owned(), stderr });
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let mut words = line.split_whitespace();
            if let (Some(name), Some(kind)) = (words.next(), words.next()) {
                self.all.insert(name.to_owned());
                if matches!(kind, "T" | "D" | "B" | "R") {
                    self.strong.insert(name.to_owned());
                }
            }
        }
        Ok(())
    }
}
