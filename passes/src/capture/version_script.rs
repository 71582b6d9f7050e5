//! Version scripts of the user's that would hide what a runtime archive stands in front of libc with.
//!
//! A script without a version (`{ global: main; local: *; };`) gets the symbols added. One with a version is left alone: it would give
//! them that version, and a symbol with a version of the program's stands in front of nothing. So are functions of the program's own that
//! have such a name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use object::{Object, ObjectSymbol};

use super::CaptureError;
use super::open::{Capture, Part};

const OPTIONS: [&str; 2] = ["--version-script", "-version-script"];

/// Puts copies of the line's version scripts, with `symbols` as further global ones, in their places, and has them exported.
pub(super) fn open_up(line: &mut Vec<String>, capture: &Capture, symbols: &BTreeSet<String>, scratch: &Path) -> Result<(), CaptureError> {
    let own = own_symbols(capture);
    let symbols: BTreeSet<&str> = symbols.iter().map(String::as_str).filter(|symbol| !own.contains(*symbol)).collect();
    let mut exported = Vec::new();
    for index in 0..line.len() {
        let separate = index > 0 && OPTIONS.contains(&line[index - 1].as_str());
        let joined = OPTIONS.iter().find_map(|option| line[index].strip_prefix(option)?.strip_prefix('='));
        let Some(path) = joined.map(str::to_owned).or_else(|| separate.then(|| line[index].clone())) else { continue };
        let path = capture.record.absolute(Path::new(&path));
        let script = fs::read_to_string(&path).map_err(|source| CaptureError::Read { path, source })?;
        let Some(open) = with(&script, &symbols) else { continue };
        let copy = scratch.join(format!("version{index}.script"));
        fs::write(&copy, open).map_err(|source| CaptureError::Write { path: copy.clone(), source })?;
        line[index] = if separate { copy.display().to_string() } else { format!("{}={}", OPTIONS[0], copy.display()) };
        // GNU's linker exports what a library defines too only without a script.
        exported = symbols.iter().map(|symbol| format!("--export-dynamic-symbol={symbol}")).collect();
    }
    line.splice(0..0, exported);
    Ok(())
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

/// The script with further global symbols, unless it has a version.
fn with(script: &str, symbols: &BTreeSet<&str>) -> Option<String> {
    let mut rest = script;
    loop {
        rest = rest.trim_start();
        rest = match rest.strip_prefix("/*") {
            Some(comment) => comment.split_once("*/")?.1,
            None if rest.starts_with('#') => rest.split_once('\n')?.1,
            None => break,
        };
    }
    let body = rest.strip_prefix('{')?;
    let listed: String = symbols.iter().map(|symbol| format!(" {symbol};")).collect();
    Some(format!("{{ global:{listed}\n{body}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scripts_without_a_version_get_symbols() {
        let symbols = BTreeSet::from(["read", "write"]);
        let check = |script: &str, expected: Option<&str>| assert_eq!(with(script, &symbols).as_deref(), expected, "{script}");
        check("{ local: *; };", Some("{ global: read; write;\n local: *; };"));
        check("/* a */\n# b\n{ main; local: *; };", Some("{ global: read; write;\n main; local: *; };"));
        check("ONE { global: main; local: *; };", None);
        check("/* never ends { local: *; };", None);
        check("", None);
    }
}
