//! Version scripts of the user's that would hide what a runtime archive stands in front of libc with.
//!
//! A script (`{ global: main; local: *; };`) gets the symbols added. One with versions (`ONE { global: main; local: *; };`) gives them its
//! first version, and as a symbol with a version of the program's stands in front of nothing, that is taken from them again when the program
//! is linked. Functions of the program's own that have such a name are left alone.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol};

use super::CaptureError;
use super::open::{Capture, Part};

const OPTIONS: [&str; 2] = ["--version-script", "-version-script"];

/// Where symbols of a program without versions have the version that says so.
const VERSIONS: &str = ".gnu.version";
/// That version: `VER_NDX_GLOBAL`.
const NONE: u16 = 1;

/// Puts copies of the line's version scripts, with `symbols` as further global ones, in their places, and has them exported. Returns those
/// whose versions are to be taken away.
pub(super) fn open_up(
    line: &mut Vec<String>,
    capture: &Capture,
    symbols: &BTreeSet<String>,
    scratch: &Path,
) -> Result<BTreeSet<String>, CaptureError> {
    let own = own_symbols(capture);
    let symbols: BTreeSet<&str> = symbols.iter().map(String::as_str).filter(|symbol| !own.contains(*symbol)).collect();
    let mut exported = Vec::new();
    let mut versioned = BTreeSet::new();
    for index in 0..line.len() {
        let separate = index > 0 && OPTIONS.contains(&line[index - 1].as_str());
        let joined = OPTIONS.iter().find_map(|option| line[index].strip_prefix(option)?.strip_prefix('='));
        let Some(path) = joined.map(str::to_owned).or_else(|| separate.then(|| line[index].clone())) else { continue };
        let path = capture.record.absolute(Path::new(&path));
        let script = fs::read_to_string(&path).map_err(|source| CaptureError::Read { path, source })?;
        let Some((open, naming)) = with(&script, &symbols) else { continue };
        if naming == Naming::Versions {
            versioned = symbols.iter().map(|&symbol| symbol.to_owned()).collect();
        }
        let copy = scratch.join(format!("version{index}.script"));
        fs::write(&copy, open).map_err(|source| CaptureError::Write { path: copy.clone(), source })?;
        line[index] = if separate { copy.display().to_string() } else { format!("{}={}", OPTIONS[0], copy.display()) };
        // GNU's linker exports what a library defines too only without a script.
        exported = symbols.iter().map(|symbol| format!("--export-dynamic-symbol={symbol}")).collect();
    }
    line.splice(0..0, exported);
    Ok(versioned)
}

/// Takes the versions of these symbols away in a program that was linked.
pub(super) fn unversion(program: &Path, symbols: &BTreeSet<String>) -> Result<(), CaptureError> {
    if symbols.is_empty() {
        return Ok(());
    }
    let content = fs::read(program).map_err(|source| CaptureError::Read { path: program.to_owned(), source })?;
    let file = fs::OpenOptions::new().write(true).open(program);
    let file = file.map_err(|source| CaptureError::Write { path: program.to_owned(), source })?;
    for at in versions(&content, symbols) {
        file.write_all_at(&NONE.to_le_bytes(), at).map_err(|source| CaptureError::Write { path: program.to_owned(), source })?;
    }
    Ok(())
}

/// Where in the file the versions of these symbols are, as far as it defines them. Each has two bytes.
fn versions(content: &[u8], symbols: &BTreeSet<String>) -> Vec<u64> {
    let Ok(file) = object::File::parse(content) else { return Vec::new() };
    let Some((start, _)) = file.section_by_name(VERSIONS).and_then(|section| section.file_range()) else { return Vec::new() };
    let wanted = |symbol: &object::Symbol<'_, '_>| symbol.is_definition() && symbol.name().is_ok_and(|name| symbols.contains(name));
    file.dynamic_symbols().filter(wanted).map(|symbol| start + 2 * symbol.index().0 as u64).collect()
}

/// What the user's own objects define for each other.
fn own_symbols(capture: &Capture) -> BTreeSet<String> {
    let pieces = capture.parts.iter().flat_map(|part| match part {
        Part::Object(piece) => std::slice::from_ref(piece),
        Part::Archive(pieces) => pieces,
        Part::Whole | Part::As(_) => &[],
    });
    // Members of archives may be anything; what is no object defines nothing.
    pieces.filter_map(|piece| object::File::parse(&*piece.content).ok()).flat_map(|object| defined(&object)).collect()
}

/// The symbols that an object defines for others.
pub(super) fn defined(object: &object::File<'_>) -> Vec<String> {
    let defined = object.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined());
    defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// Whether a script names versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    Nothing,
    Versions,
}

/// The script with further global symbols, in its first version if it has any; `None` if it is no script.
fn with(script: &str, symbols: &BTreeSet<&str>) -> Option<(String, Naming)> {
    let (name, body) = without_comment(script)?.split_once('{')?;
    let naming = if name.is_empty() { Naming::Nothing } else { Naming::Versions };
    // Linkers take the word only once, and symbols are global where it is left out.
    let body = without_comment(body)?;
    let body = body.strip_prefix("global").and_then(|rest| rest.trim_start().strip_prefix(':')).unwrap_or(body);
    let listed: String = symbols.iter().map(|symbol| format!(" {symbol};")).collect();
    Some((format!("{name}{{ global:{listed}\n{body}"), naming))
}

/// A text from its first word on; `None` if a comment never ends.
fn without_comment(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        text = match text.strip_prefix("/*") {
            Some(comment) => comment.split_once("*/")?.1,
            None if text.starts_with('#') => text.split_once('\n')?.1,
            None => return Some(text),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_of_a_script_gets_symbols() {
        let symbols = BTreeSet::from(["read", "write"]);
        let check = |script: &str, expected: &str, naming: Naming| {
            assert_eq!(with(script, &symbols), Some((expected.to_owned(), naming)), "{script}");
        };
        check("{ local: *; };", "{ global: read; write;\nlocal: *; };", Naming::Nothing);
        check("{ /* a */ global : main; local: *; };", "{ global: read; write;\n main; local: *; };", Naming::Nothing);
        check("/* a */\n# b\n{ main; local: *; };", "{ global: read; write;\nmain; local: *; };", Naming::Nothing);
        check(
            "ONE { global: main; local: *; };\nTWO { more; } ONE;",
            "ONE { global: read; write;\n main; local: *; };\nTWO { more; } ONE;",
            Naming::Versions,
        );
        for bad in ["/* never ends { local: *; };", "ONE", ""] {
            assert_eq!(with(bad, &symbols), None, "{bad}");
        }
    }
}
