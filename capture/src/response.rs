//! Response files: `@file` stands for the arguments in the file, in GNU quoting, nested.
//!
//! A file that cannot be read stays an argument as it is, as in clang and the linkers. Arguments that are not UTF-8 are
//! kept as they are.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Deeper nesting is taken literally, so that a file that names itself ends.
const DEEPEST: u32 = 8;

/// The arguments with response files replaced by what they hold.
pub(super) fn expand(arguments: &[OsString]) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(arguments.len());
    for argument in arguments {
        push(argument, DEEPEST, &mut expanded);
    }
    expanded
}

fn push(argument: &OsStr, depth: u32, expanded: &mut Vec<OsString>) {
    let content = argument.as_bytes().strip_prefix(b"@").filter(|_| depth > 0).and_then(|path| fs::read(OsStr::from_bytes(path)).ok());
    match content {
        Some(content) => split(&content).iter().for_each(|inner| push(inner, depth - 1, expanded)),
        None => expanded.push(argument.to_owned()),
    }
}

/// GNU quoting: white space separates, a backslash keeps the next byte, quotes keep all but backslashes.
fn split(content: &[u8]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => current.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                current.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => arguments.extend(current.take()),
            _ => current.get_or_insert_default().push(byte),
        }
    }
    arguments.extend(current);
    arguments.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: &[&str]) {
        assert_eq!(split(content.as_bytes()), expected.iter().map(OsString::from).collect::<Vec<_>>(), "{content:?}");
    }

    #[test]
    fn quoting_is_gnu_quoting() {
        check("", &[]);
        check("-c a.c\n-o\ta.o ", &["-c", "a.c", "-o", "a.o"]);
        check(r#""a b" 'c "d"' e\ f"#, &["a b", "c \"d\"", "e f"]);
        check(r#"-DX=\"y\" "" "#, &["-DX=\"y\"", ""]);
    }

    #[test]
    fn nested_files_are_read_and_a_missing_one_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        let outer = folder.path().join("outer");
        fs::write(&inner, "-O2 @/no/such/file").expect("a file");
        fs::write(&outer, format!("-c @{}", inner.display())).expect("a file");
        let mut argument = OsString::from("@");
        argument.push(&outer);
        assert_eq!(expand(&[argument, "x.c".into()]), ["-c", "-O2", "@/no/such/file", "x.c"].map(OsString::from));
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("loop");
        fs::write(&path, format!("@{}", path.display())).expect("a file");
        let mut argument = OsString::from("@");
        argument.push(&path);
        assert_eq!(expand(&[argument.clone()]), [argument]);
    }
}
