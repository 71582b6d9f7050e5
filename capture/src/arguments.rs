//! What a compiler call needs beside the user's own arguments.
//!
//! Clang itself judges the arguments: here they are only looked through for the few that matter, with the options known
//! that take the next argument as their value. What we add stands between `--start-no-unused-arguments` and its end, so
//! that no warning speaks of arguments that the user did not give.
//!
//! | the call | added |
//! |---|---|
//! | `-S`, `-emit-llvm`, `-cc1`, `-print-..` | nothing |
//! | anything else | the bitcode, before optimization |
//! | it compiles, and has no `-g..` | `-gline-tables-only` |
//! | it has `-flto` | `-fno-lto`, and a note |

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What to change in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Additions {
    /// To put in front of the user's arguments, so that a later one of theirs wins.
    pub(super) before: Vec<&'static str>,
    /// To put behind the user's options, so that it wins over them.
    pub(super) after: Vec<&'static str>,
    /// How far the call goes.
    pub(super) stage: Stage,
    /// The linker that `-fuse-ld=` or `--ld-path=` asks for.
    pub(super) linker: Linker,
    /// What the user must be told.
    pub(super) note: Option<&'static str>,
}

/// How far a call goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It may end in a link.
    #[default]
    Link,
    /// It ends with objects, which are these if all goes well.
    Objects(Vec<PathBuf>),
    /// It makes neither.
    Neither,
}

/// Which linker a call asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Linker {
    /// None in particular.
    #[default]
    Default,
    /// `ld.NAME`.
    Named(String),
    /// This program.
    Path(OsString),
}

const EMBED: [&str; 4] = ["-Xclang", "-fembed-bitcode=all", "-Xclang", "-disable-O0-optnone"];
const LTO_NOTE: &str = "-flto is left out: objects are compiled to native code, and carry their bitcode beside it";

/// Options whose value is the next argument, so that it is not taken for an option itself.
const VALUED: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-T",
    "-u",
    "-e",
    "-z",
    "-F",
    "-A",
    "-G",
    "-B",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-iframework",
    "-include-pch",
    "-ivfsoverlay",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "--target",
    "-arch",
    "--param",
    "-rpath",
    "-framework",
    "--sysroot",
    "-dumpdir",
    "-working-directory",
    "-resource-dir",
    "-serialize-diagnostics",
    "--config",
    "-gen-reproducer",
    "-Xanalyzer",
    "-Xcuda-ptxas",
    "-Xopenmp-target",
    "-stdlib++-isystem",
    "--output",
    "--language",
];

const SOURCES: &[&str] = &[
    "c", "i", "ii", "cc", "cp", "cxx", "cpp", "CPP", "c++", "C", "CC", "CXX", "m", "mi", "mm", "M", "mii", "ll", "bc", "cppm", "ccm",
    "cxxm", "c++m", "ixx",
];

/// Looks through arguments in which response files are already expanded.
pub(super) fn additions(arguments: &[OsString]) -> Additions {
    let mut additions = Additions::default();
    let mut untouched = false;
    let mut debug = false;
    let mut assembly_text = false;
    let mut language: Option<Vec<u8>> = None;
    let mut arguments = arguments.iter().map(OsString::as_os_str);
    let mut only_inputs = false;
    let mut sources = Vec::new();
    let mut output = None;
    let (mut objects, mut neither) = (false, false);
    while let Some(argument) = arguments.next() {
        let text = argument.as_bytes();
        if only_inputs || text == b"-" || !text.starts_with(b"-") {
            if is_compiled(argument, language.as_deref()) {
                sources.push(argument);
            }
            continue;
        }
        let value = VALUED.iter().any(|option| option.as_bytes() == text).then(|| arguments.next()).flatten();
        match text {
            b"--" => only_inputs = true,
            b"-x" | b"--language" => language = value.map(|value| value.as_bytes().to_vec()),
            b"-Xclang" => untouched |= value.is_some_and(|value| value.as_bytes().starts_with(b"-emit-")),
            b"-o" | b"--output" => output = value.map(PathBuf::from),
            b"-c" | b"--compile" => objects = true,
            b"-E" | b"-M" | b"-MM" | b"-fsyntax-only" | b"--analyze" | b"--precompile" | b"--preprocess" => neither = true,
            b"-S" | b"--assemble" | b"-emit-llvm" | b"-emit-ast" | b"-cc1" | b"-cc1as" => untouched = true,
            b"-fno-integrated-as" | b"-no-integrated-as" | b"-save-temps" | b"--save-temps" => assembly_text = true,
            b"-fno-lto" => additions.after.clear(),
            _ if text.starts_with(b"-print-") || text.starts_with(b"--print-") => untouched = true,
            _ if text == b"-flto" || text.starts_with(b"-flto=") => additions.after = vec!["-fno-lto"],
            _ if text.starts_with(b"--output=") => output = Some(OsStr::from_bytes(&text[9..]).into()),
            _ if text.starts_with(b"-o") && !text.starts_with(b"-objc") => output = Some(OsStr::from_bytes(&text[2..]).into()),
            _ if text.starts_with(b"-save-temps=") => assembly_text = true,
            _ if text.starts_with(b"-x") => language = Some(text[2..].to_vec()),
            _ if text.starts_with(b"-g") && !text.starts_with(b"-gcc") => debug = true,
            _ => linker(argument, &mut additions.linker),
        }
    }
    if untouched {
        return Additions { stage: Stage::Neither, ..Additions::default() };
    }
    additions.stage = match (neither, objects) {
        (true, _) => Stage::Neither,
        (false, true) => {
            Stage::Objects(output.map_or_else(|| sources.iter().map(|source| object_of(source)).collect(), |output| vec![output]))
        }
        (false, false) => Stage::Link,
    };
    additions.note = (!additions.after.is_empty()).then_some(LTO_NOTE);
    additions.before = [&["--start-no-unused-arguments"][..], &EMBED].concat();
    if !sources.is_empty() && !debug {
        // Assemblers that read clang's text complain about the sums in its newest form of line tables.
        additions.before.extend(assembly_text.then_some("-gdwarf-4"));
        additions.before.push("-gline-tables-only");
    }
    additions.before.push("--end-no-unused-arguments");
    additions
}

fn linker(argument: &OsStr, linker: &mut Linker) {
    let text = argument.as_bytes();
    if let Some(path) = text.strip_prefix(b"--ld-path=") {
        *linker = Linker::Path(OsStr::from_bytes(path).to_owned());
    } else if let Some(name) = text.strip_prefix(b"-fuse-ld=")
        && !matches!(linker, Linker::Path(_))
    {
        *linker = match str::from_utf8(name) {
            Ok("" | "ld") | Err(_) => Linker::Default,
            Ok(path) if path.starts_with('/') => Linker::Path(path.into()),
            Ok(name) => Linker::Named(name.to_owned()),
        };
    }
}

/// The object that a source file becomes if no name is given.
fn object_of(source: &OsStr) -> PathBuf {
    let name = if source == "-" { OsStr::new("-") } else { Path::new(source).file_stem().unwrap_or_default() };
    let mut object = name.to_owned();
    object.push(".o");
    object.into()
}

/// Whether an input is source code that the front end compiles.
fn is_compiled(input: &OsStr, language: Option<&[u8]>) -> bool {
    match language {
        Some(language) if language != b"none" => !language.starts_with(b"assembler"),
        _ => input.to_str().and_then(|name| name.rsplit_once('.')).is_some_and(|(_, extension)| SOURCES.contains(&extension)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Additions {
        additions(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn assembly_and_bitcode_outputs_and_questions_are_left_alone() {
        for line in [
            "-S a.c",
            "-emit-llvm -c a.c",
            "-c a.c -S",
            "-Xclang -emit-llvm -c a.c",
            "-cc1 -emit-obj a.c",
            "-print-prog-name=ld",
            "--print-search-dirs",
        ] {
            assert_eq!(of(line), Additions { stage: Stage::Neither, ..Additions::default() }, "{line}");
        }
    }

    #[test]
    fn a_value_is_not_an_option() {
        for line in ["-c a.c -o -S", "-Xlinker -S a.c", "-c a.c -D -S", "a.c -MF -S"] {
            assert!(of(line).before.contains(&"-fembed-bitcode=all"), "{line}");
        }
    }

    #[test]
    fn line_tables_are_added_where_c_is_compiled_without_debug_information() {
        for (line, expected) in [
            ("-c a.c", true),
            ("-x c -", true),
            ("-xc++ -", true),
            ("a.o b.cpp", true),
            ("-- a.c", true),
            ("-c -g a.c", false),
            ("-c -ggdb3 a.c", false),
            ("-c -g0 a.c", false),
            ("-c a.s", false),
            ("-c a.S", false),
            ("-x assembler-with-cpp a.c", false),
            ("a.o -lm", false),
            ("-fno-integrated-as -c a.c", true),
            ("--gcc-toolchain=/x -c a.c", true),
        ] {
            assert_eq!(of(line).before.contains(&"-gline-tables-only"), expected, "{line}");
        }
    }

    #[test]
    fn link_time_optimization_is_switched_off_with_a_note() {
        for line in ["-flto -c a.c", "-flto=thin a.c", "-fno-lto -flto=full a.o"] {
            let additions = of(line);
            assert_eq!(additions.after, ["-fno-lto"], "{line}");
            assert!(additions.note.is_some());
        }
        assert_eq!(of("-flto -fno-lto a.c").note, None);
    }

    #[test]
    fn the_last_word_on_the_linker_counts() {
        assert_eq!(of("a.o").linker, Linker::Default);
        assert_eq!(of("-fuse-ld=gold -fuse-ld=lld a.o").linker, Linker::Named("lld".to_owned()));
        assert_eq!(of("--ld-path=/x/ld -fuse-ld=lld a.o").linker, Linker::Path("/x/ld".into()));
    }

    #[test]
    fn what_a_call_makes_is_known() {
        let objects = |names: &[&str]| Stage::Objects(names.iter().map(PathBuf::from).collect());
        for (line, stage) in [
            ("-c a.c", objects(&["a.o"])),
            ("-c x/a.tar.c ../b.cpp c.s", objects(&["a.tar.o", "b.o"])),
            ("-x c -c - plain", objects(&["-.o", "plain.o"])),
            ("a.c -c -o b.o", objects(&["b.o"])),
            ("a.c -c -ob.o", objects(&["b.o"])),
            ("a.c -c --output=b.o", objects(&["b.o"])),
            ("a.c -E", Stage::Neither),
            ("-c a.c -fsyntax-only", Stage::Neither),
            ("a.c -o -c", Stage::Link),
            ("a.c -MD", Stage::Link),
        ] {
            assert_eq!(of(line).stage, stage, "{line}");
        }
    }
}
