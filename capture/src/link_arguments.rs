//! A linker's command line: its output, its inputs, and where `-l` leads.
//!
//! The forms are those that GNU ld, gold, lld and mold share. An argument is an input if it is no option and no option's
//! value. Not handled: inputs named inside linker scripts (the script itself is an input).

use std::path::{Path, PathBuf};

use super::record::{InputKind, OutputKind};

/// A linker's command line, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// What it makes; `None` for `-r`, which makes one more object.
    pub(super) kind: Option<OutputKind>,
    /// Where it writes.
    pub(super) output: PathBuf,
    /// The arguments without the output, and with `-l NAME` as one.
    pub(super) arguments: Vec<String>,
    /// Which of them are inputs.
    pub(super) inputs: Vec<Named>,
}

/// An input as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Which argument.
    pub(super) argument: usize,
    /// The file that it names.
    pub(super) path: PathBuf,
}

/// Options of one letter whose value may be the next argument.
const SHORT: &str = "oeLlmzhTuyYRAabcFfGI";
/// Long options, with one dash or two, whose value may be the next argument.
const LONG: &[&str] = &[
    "soname",
    "rpath",
    "rpath-link",
    "dynamic-linker",
    "plugin",
    "plugin-opt",
    "Map",
    "defsym",
    "version-script",
    "dynamic-list",
    "wrap",
    "format",
    "oformat",
    "section-start",
    "init",
    "fini",
    "undefined",
    "require-defined",
    "retain-symbols-file",
    "just-symbols",
    "entry",
    "output",
    "library",
    "library-path",
    "script",
    "default-script",
    "dT",
    "sysroot",
    "sort-section",
    "exclude-libs",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "dependency-file",
    "out-implib",
    "filter",
    "auxiliary",
    "mllvm",
    "Ttext",
    "Tdata",
    "Tbss",
    "Ttext-segment",
    "Trodata-segment",
    "Tldata-segment",
    "trace-symbol",
    "gpsize",
    "assert",
    "image-base",
    "symbol-ordering-file",
    "mri-script",
    "undefined-version",
    "version-exports-section",
    "task-link",
    "hash-size",
    "split-by-file",
    "split-by-reloc",
    "architecture",
];

/// Whether an option, as it stands, takes the next argument for its value.
fn takes_next(option: &str) -> bool {
    let name = option.strip_prefix("--").or_else(|| option.strip_prefix('-')).unwrap_or(option);
    let short = name.len() == 1 && !option.starts_with("--") && name.chars().all(|letter| SHORT.contains(letter));
    short || LONG.contains(&name)
}

/// The value of a library option: `-lNAME`, `--library=NAME`.
fn joined<'a>(option: &'a str, short: &str, long: &str) -> Option<&'a str> {
    let value = option.strip_prefix("--").or_else(|| option.strip_prefix('-')).and_then(|name| name.strip_prefix(long)?.strip_prefix('='));
    value.or_else(|| option.strip_prefix(short).filter(|value| !option.starts_with("--") && !value.is_empty()))
}

/// Takes a command line apart. Paths are relative to `folder`.
pub(super) fn parse(line: &[String], folder: &Path) -> Link {
    let mut link = Link { kind: Some(OutputKind::Executable), output: folder.join("a.out"), arguments: Vec::new(), inputs: Vec::new() };
    let mut libraries = Libraries::default();
    let mut pending = Vec::new();
    let mut line = line.iter();
    while let Some(argument) = line.next() {
        if !argument.starts_with('-') || argument == "-" {
            link.inputs.push(Named { argument: link.arguments.len(), path: PathBuf::from(argument) });
            link.arguments.push(argument.clone());
            continue;
        }
        let value = if takes_next(argument) { line.next() } else { None };
        if let Some(output) = output(argument, value) {
            link.output = folder.join(output);
            continue;
        }
        let library = match (argument.as_str(), value) {
            ("-l" | "-library" | "--library", Some(name)) => Some(name.as_str()),
            _ => joined(argument, "-l", "library"),
        };
        if let Some(name) = library {
            pending.push((link.arguments.len(), name.to_owned(), libraries.choice));
            link.arguments.push(format!("-l{name}"));
            continue;
        }
        let path = match (argument.as_str(), value) {
            ("-L" | "-library-path" | "--library-path", Some(path)) => Some(path.as_str()),
            _ => joined(argument, "-L", "library-path"),
        };
        libraries.note(argument, path, folder);
        match argument.as_str() {
            "-r" | "-i" | "-Ur" | "-relocatable" | "--relocatable" => link.kind = None,
            "-shared" | "--shared" | "-Bshareable" => link.kind = link.kind.map(|_| OutputKind::Shared),
            _ => {}
        }
        link.arguments.push(argument.clone());
        link.arguments.extend(value.cloned());
    }
    for (argument, name, choice) in pending {
        if let Some(path) = libraries.find(&name, choice) {
            // Without the `.` of `-L.`, and relative where the user's own inputs are.
            let path: PathBuf = path.components().collect();
            let path = path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path);
            link.inputs.push(Named { argument, path });
        }
    }
    link.inputs.sort_by_key(|input| input.argument);
    link
}

fn output(argument: &str, value: Option<&String>) -> Option<String> {
    match argument {
        "-o" | "-output" | "--output" => value.cloned(),
        "-omagic" => None,
        _ => joined(argument, "-o", "output").filter(|_| !argument.starts_with("-oformat")).map(str::to_owned),
    }
}

/// Which kinds of library `-l` may find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Choice {
    /// A shared one, else an archive.
    #[default]
    SharedFirst,
    /// Archives only.
    Static,
}

/// Where libraries are looked for. Every `-L` counts for every `-l`.
#[derive(Default)]
struct Libraries {
    folders: Vec<PathBuf>,
    choice: Choice,
    sysroot: PathBuf,
}

impl Libraries {
    fn note(&mut self, option: &str, path: Option<&str>, folder: &Path) {
        match option {
            "-Bstatic" | "-dn" | "-non_shared" | "-static" | "--static" => self.choice = Choice::Static,
            "-Bdynamic" | "-dy" | "-call_shared" => self.choice = Choice::SharedFirst,
            _ => {}
        }
        if let Some(sysroot) = option.strip_prefix("--sysroot=") {
            self.sysroot = PathBuf::from(sysroot);
        }
        if let Some(path) = path {
            let below = path
                .strip_prefix('=')
                .or_else(|| path.strip_prefix("$SYSROOT"))
                .map(|path| self.sysroot.join(path.trim_start_matches('/')));
            self.folders.push(folder.join(below.unwrap_or_else(|| PathBuf::from(path))));
        }
    }

    fn find(&self, name: &str, choice: Choice) -> Option<PathBuf> {
        let names = match (name.strip_prefix(':'), choice) {
            (Some(exact), _) => vec![exact.to_owned()],
            (None, Choice::SharedFirst) => vec![format!("lib{name}.so"), format!("lib{name}.a")],
            (None, Choice::Static) => vec![format!("lib{name}.a")],
        };
        self.folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).find(|path| path.is_file())
    }
}

/// What a file is, by how it begins (and, for ELF, by its type).
pub(super) fn kind_of(content: &[u8]) -> InputKind {
    const RELOCATABLE: u16 = 1;
    const DYNAMIC: u16 = 3;
    if content.starts_with(b"!<arch>\n") || content.starts_with(b"!<thin>\n") {
        return InputKind::Archive;
    }
    match (content.starts_with(b"\x7fELF"), content.get(16..18).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes)) {
        (true, Some(RELOCATABLE)) => InputKind::Object,
        (true, Some(DYNAMIC)) => InputKind::Shared,
        _ => InputKind::Other,
    }
}

/// Linker options that write more files than the output; a second link must not repeat them.
pub(super) fn without_side_outputs(arguments: &[Option<String>]) -> Vec<String> {
    let side = ["Map", "dependency-file", "out-implib"];
    let mut kept = Vec::with_capacity(arguments.len());
    let mut arguments = arguments.iter().flatten();
    while let Some(argument) = arguments.next() {
        let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')).unwrap_or_default();
        let (name, joined) = name.split_once('=').map_or((name, false), |(name, _)| (name, true));
        if side.contains(&name) {
            if !joined {
                arguments.next();
            }
        } else {
            kept.push(argument.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Link {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), Path::new("/w"))
    }

    fn check(line: &str, kind: Option<OutputKind>, output: &str, inputs: &[&str]) {
        let link = of(line);
        let found: Vec<_> = link.inputs.iter().map(|input| input.path.display().to_string()).collect();
        assert_eq!(
            (link.kind, link.output.display().to_string(), found),
            (kind, output.to_owned(), inputs.iter().map(|name| (*name).to_owned()).collect()),
            "{line}"
        );
        for input in &link.inputs {
            assert_eq!(link.arguments[input.argument], input.path.display().to_string(), "{line}");
        }
    }

    #[test]
    fn inputs_and_output_are_told_from_options_and_their_values() {
        check("-pie -o app crt1.o a.o lib.a -z now -m elf_x86_64", Some(OutputKind::Executable), "/w/app", &["crt1.o", "a.o", "lib.a"]);
        check("a.o --output=x/app", Some(OutputKind::Executable), "/w/x/app", &["a.o"]);
        check("-oapp -rpath /lib --version-script v.map a.o", Some(OutputKind::Executable), "/w/app", &["a.o"]);
        check("-T script.ld -e start a.o", Some(OutputKind::Executable), "/w/a.out", &["a.o"]);
        check("-shared -soname libx.so -o libx.so a.o", Some(OutputKind::Shared), "/w/libx.so", &["a.o"]);
        check("-r a.o b.o -o c.o", None, "/w/c.o", &["a.o", "b.o"]);
        check("--start-group a.a b.a --end-group -o x", Some(OutputKind::Executable), "/w/x", &["a.a", "b.a"]);
    }

    #[test]
    fn a_library_is_found_in_any_folder_shared_first_unless_static() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["libone.a", "libtwo.so", "libtwo.a"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        let line = ["-lone", "-ltwo", "-Bstatic", "-l", "two", "-lnone", "-l:libtwo.a", "-L."].map(str::to_owned);
        let found: Vec<_> = parse(&line, folder.path())
            .inputs
            .iter()
            .map(|input| (input.argument, input.path.file_name().expect("a name").to_owned()))
            .collect();
        assert_eq!(found, [(0, "libone.a".into()), (1, "libtwo.so".into()), (3, "libtwo.a".into()), (5, "libtwo.a".into())]);
    }

    #[test]
    fn side_outputs_are_left_out() {
        let line = ["-Map=x.map", "a.o", "-Map", "y.map", "--dependency-file=d", "-lc"].map(|argument| Some(argument.to_owned()));
        assert_eq!(without_side_outputs(&line), ["a.o", "-lc"]);
    }
}
