//! The compiler driver behaves as clang does, and its objects carry bitcode from before optimization.

use std::fs;
use std::process::Stdio;

use object::{Object, ObjectSection};

use crate::sandbox::{Ran, Sandbox};

const FILES: &[(&str, &str)] = &[
    (
        "a.c",
        "#include <stdio.h>\nint other(int);\nint assembled(void);\nint main(int argc, char **argv) {\n  (void)argv;\n  printf(\"%d %d\\n\", other(argc), assembled());\n  return 0;\n}\n",
    ),
    ("b.c", "static int twice(int x) { return 2 * x; }\nint other(int x) { return twice(x) + 1; }\n"),
    ("plain.s", ".text\n.globl assembled\nassembled:\n  mov $7, %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n"),
    (
        "pre.S",
        "#define RESULT $7\n.text\n.globl assembled\nassembled:\n  mov RESULT, %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n",
    ),
    ("warned.c", "int warned(void) { int unused; return 0; }\n"),
    ("broken.c", "int broken(void) { return undeclared; }\n"),
    ("unresolved.c", "int missing(void);\nint main(void) { return missing(); }\n"),
    ("with space/a b.c", "#include \"c d.h\"\nint main(void) { return VALUE; }\n"),
    ("with space/c d.h", "#define VALUE 0\n"),
    ("thrown.cpp", "#include <iostream>\nint main() { try { throw 5; } catch (int x) { std::cout << x << '\\n'; } }\n"),
    ("all.rsp", "-O1 -c a.c\n-o \"from response.o\"\n"),
    ("ir.ll", "define i32 @ir() {\n  ret i32 1\n}\n"),
];

/// Runs one line with clang and with us, each in a folder of its own, and compares all that can be seen.
#[track_caller]
fn check_as(driver: &str, subcommand: &str, arguments: &[&str]) -> Ran {
    let (theirs, ours) = (Sandbox::new(FILES), Sandbox::new(FILES));
    let expected = theirs.run(driver, arguments);
    let found = ours.run("atomfix", &[&[subcommand], arguments].concat());
    assert_eq!(found, expected, "{arguments:?}");
    assert_eq!(ours.files(), theirs.files(), "files of {arguments:?}");
    assert_eq!(ours.left_over(), Vec::<std::path::PathBuf>::new(), "temporary files of {arguments:?}");
    found
}

#[track_caller]
fn check(line: &str) -> Ran {
    check_as("clang-22", "cc", &line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn objects_assembly_and_preprocessed_text_are_as_from_clang() {
    for line in [
        "-c a.c",
        "-c a.c -o x.o",
        "-c a.c b.c plain.s pre.S",
        "-c -O0 a.c",
        "-c -O3 -g a.c",
        "-c plain.s",
        "-c pre.S -o pre.o",
        "-S b.c",
        "-S -O2 b.c -o -",
        "-E b.c",
        "-E -P pre.S",
        "-emit-llvm -S b.c",
        "-emit-llvm -c b.c -o b.bc",
        "-c ir.ll",
        "-MD -c a.c",
        "-MMD -MF deps/a.dep -MT target -MP -c b.c -o b.o",
        "-MM a.c",
        "-fsyntax-only a.c",
        "-c b.c -o /dev/null",
        "@all.rsp",
        "-c @/no/such/file",
    ] {
        check(line);
    }
    check_as("clang-22", "cc", &["-c", "with space/a b.c", "-o", "with space/x y.o"]);
    check_as("clang-22", "cc", &["-E", "with space/a b.c"]);
}

#[test]
fn programs_are_made_in_one_call_and_from_several_files() {
    for line in [
        "a.c b.c plain.s -o app",
        "-O3 a.c b.c pre.S -o app",
        "-static a.c b.c plain.s -o app",
        "-fuse-ld=lld a.c b.c plain.s",
        "-flto -fno-lto a.c b.c plain.s",
        "-shared -fPIC b.c -o libb.so",
        "-r b.c -o b.o",
        "-Wl,--version",
    ] {
        check(line);
    }
    check_as("clang-22", "cc", &["with space/a b.c", "-o", "with space/app"]);
    check_as("clang++-22", "c++", &["-O1", "thrown.cpp", "-o", "thrown"]);
}

#[test]
fn intermediate_files_that_are_kept_have_the_same_names() {
    for line in ["-save-temps -c b.c", "-save-temps=obj a.c b.c plain.s -o app"] {
        let (theirs, ours) = (Sandbox::new(FILES), Sandbox::new(FILES));
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(ours.cc(line).good(), theirs.run("clang-22", &words), "{line}");
        let names = |sandbox: &Sandbox| sandbox.files().into_keys().collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&theirs), "{line}");
    }
}

#[test]
fn warnings_errors_and_statuses_are_as_from_clang() {
    for (line, fails) in [
        ("-c -Wall warned.c", false),
        ("-c -Wall -Werror warned.c", true),
        ("-c broken.c", true),
        ("-c a.c broken.c", true),
        ("-c no_such_file.c", true),
        ("-g unresolved.c -o app", true),
        ("-c a.c -lm", false),
        ("-fuse-ld=nonesuch a.c b.c plain.s", true),
        ("-c --no-such-option a.c", true),
        ("", true),
    ] {
        assert_eq!(check(line).code != Some(0), fails, "{line}");
    }
}

#[test]
fn questions_are_answered_as_by_clang() {
    for line in ["--version", "-dumpmachine", "-dumpversion", "-print-prog-name=ld", "-print-search-dirs", "-print-file-name=crt1.o", "-v"]
    {
        assert_eq!(check(line).code, Some(0), "{line}");
    }
}

#[test]
fn source_code_is_read_from_standard_input() {
    let sandbox = Sandbox::new(FILES);
    let mut command = sandbox.command("atomfix");
    command.args(["cc", "-x", "c", "-", "-o", "app"]).stdin(Stdio::from(fs::File::open(sandbox.path("with space/a b.c")).expect("a file")));
    assert_ne!(sandbox.finish(&mut command).code, Some(0), "its header is not found from here");
    sandbox.write("input", "#include <stdio.h>\nint main(void) { puts(\"from input\"); return 0; }\n");
    let mut command = sandbox.command("atomfix");
    command.args(["cc", "-x", "c", "-", "-o", "app"]).stdin(Stdio::from(fs::File::open(sandbox.path("input")).expect("a file")));
    sandbox.finish(&mut command).good();
    sandbox.check_round_trip("app", &["-"]);
}

#[test]
fn link_time_optimization_is_left_out_with_one_line() {
    let sandbox = Sandbox::new(FILES);
    let ran = sandbox.cc("-flto=thin -c a.c").good();
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("atomfix: note: -flto is left out"), "{}", ran.stderr);
    let object = fs::read(sandbox.path("a.o")).expect("an object");
    assert!(object.starts_with(b"\x7fELF"), "native code");
    sandbox.cc("-flto a.o b.c plain.s -o app").good();
    sandbox.check_round_trip("app", &["a.c", "b.c"]);
}

#[test]
fn bitcode_is_from_before_optimization_and_can_be_optimized() {
    for options in ["-O0", "-O1", "-O3", "-Os -g"] {
        let sandbox = Sandbox::new(FILES);
        sandbox.cc(&format!("{options} a.c b.c plain.s -o app")).good();
        let capture = sandbox.check_round_trip("app", &["a.c", "b.c"]);
        fs::write(sandbox.path("b.bc"), &capture.units[1].bitcode).expect("a file");
        let text = sandbox.run("clang-22", &["-S", "-emit-llvm", "-x", "ir", "b.bc", "-o", "-"]).good().stdout;
        for (part, expected) in [("define internal i32 @twice", true), ("alloca i32", true), ("!DILocation", true), ("optnone", false)] {
            assert_eq!(text.contains(part), expected, "{options}: {part} in {text}");
        }
    }
}

#[test]
fn gnu_tools_take_the_objects_for_ordinary_ones() {
    let sandbox = Sandbox::new(FILES);
    sandbox.cc("-c a.c b.c").good();
    let object = fs::read(sandbox.path("b.o")).expect("an object");
    let file = object::File::parse(&*object).expect("an ELF file");
    let names: Vec<_> = file.sections().map(|section| section.name().expect("a name").to_owned()).collect();
    assert!(names.iter().any(|name| name == ".atombc") && !names.iter().any(|name| name == ".llvmbc"), "{names:?}");
    let ran = sandbox.shell("ar rcs lib.a a.o b.o; ranlib lib.a; nm -s lib.a; strip -g b.o; objcopy b.o c.o").good();
    assert_eq!(ran.stderr, "");
    for symbol in ["main in a.o", "other in b.o", "t twice"] {
        assert!(ran.stdout.contains(symbol), "{symbol}: {}", ran.stdout);
    }
}

#[test]
fn a_home_that_cannot_be_written_is_no_obstacle() {
    let sandbox = Sandbox::new(FILES);
    for (home, cache) in [("/dev/null", ""), ("", ""), ("/nonexistent", "/dev/null/cache")] {
        let mut command = sandbox.command("atomfix");
        command.args(["cc", "a.c", "b.c", "plain.s", "-o", "app"]).env("HOME", home).env("XDG_CACHE_HOME", cache);
        let ran = sandbox.finish(&mut command).good();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "HOME={home} XDG_CACHE_HOME={cache}");
        assert!(sandbox.left_over().is_empty());
        sandbox.check_round_trip("app", &["a.c", "b.c"]);
    }
}
