//! Programs that cannot be opened or linked anew: one clear error, the right exit code, nothing half-written.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use capture::{CaptureError, open, relink};

use crate::sandbox::{Ran, Sandbox, unchanged};

const FILES: &[(&str, &str)] = &[
    ("main.c", "#include <stdio.h>\nint one(void);\nint main(void) { printf(\"%d\\n\", one()); return 0; }\n"),
    ("one.c", "int one(void) { return 1; }\n"),
];

const USAGE: i32 = 2;
const TOOLCHAIN: i32 = 3;

fn built() -> Sandbox {
    let sandbox = Sandbox::new(FILES);
    sandbox.cc("-c main.c one.c").good();
    sandbox.shell("ar rcs lib.a one.o").good();
    sandbox.cc("main.o lib.a -o app").good();
    sandbox
}

/// One error, which names these things and says what to do, on stderr alone.
#[track_caller]
fn check(ran: &Ran, code: i32, parts: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("atomfix: ") && lines[1].starts_with("  help: "), "{}", ran.stderr);
    for part in parts {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
}

#[test]
fn programs_that_were_not_linked_by_us_are_refused_by_every_command() {
    let sandbox = built();
    sandbox.write("text", "just text\n");
    sandbox.write("empty", "");
    sandbox.write("script", "#!/bin/sh\n# script - temporary wrapper script for .libs/script\n# This is the libtool wrapper\n");
    sandbox.shell("clang-22 main.c one.c -o foreign; printf '\\177ELF\\002\\001garbage' > short").good();
    let before = sandbox.files();
    for (name, parts) in [
        ("text", &["text: not a 64-bit ELF program", "atomfix cc"][..]),
        ("empty", &["empty: not a 64-bit ELF program"]),
        ("short", &["short: not a 64-bit ELF program"]),
        ("script", &["script: a script that libtool made", ".libs/script"]),
        ("foreign", &["foreign: not linked with atomfix cc", "CC=\"atomfix cc\""]),
        ("main.o", &["main.o: not linked with atomfix cc"]),
    ] {
        for line in [&["infer", name][..], &["harden", name, "-o", "out"]] {
            check(&sandbox.run("atomfix", line), USAGE, parts);
        }
    }
    assert_eq!(sandbox.files(), before, "nothing is written");
}

#[test]
fn inputs_that_changed_or_vanished_are_named() {
    let sandbox = built();
    sandbox.write("one.c", "int one(void) { return 2; }\n");
    sandbox.cc("-c one.c").good();
    sandbox.check_round_trip("app", &["main.c", "one.c"]);
    sandbox.shell("ar r lib.a one.o").good();
    check(&sandbox.run("atomfix", &["infer", "app"]), USAGE, &["app: changed since the program was linked: lib.a", "link it again"]);
    fs::remove_file(sandbox.path("main.o")).expect("a file");
    check(
        &sandbox.run("atomfix", &["infer", "app"]),
        USAGE,
        &["changed since the program was linked: lib.a; gone since the program was linked: main.o"],
    );
}

#[test]
fn members_of_thin_archives_are_inputs() {
    let sandbox = built();
    sandbox.shell("ar rcsT thin.a one.o").good();
    sandbox.cc("main.o thin.a -o app").good();
    sandbox.check_round_trip("app", &["main.c", "one.c"]);
    sandbox.write("one.c", "int one(void) { return 2; }\n");
    sandbox.cc("-c one.c").good();
    assert!(
        matches!(open(&sandbox.path("app")), Err(CaptureError::Stale { changed, .. }) if changed == [std::path::PathBuf::from("thin.a")])
    );
}

#[test]
fn a_damaged_record_is_an_error_and_never_a_panic() {
    let sandbox = Sandbox::new(FILES);
    sandbox.cc("main.c one.c -o app").good();
    let whole = fs::read(sandbox.path("app")).expect("a program");
    let record = whole.windows(12).position(|window| window == b"{\"version\":1").expect("a record");
    let check = |content: &[u8]| {
        fs::write(sandbox.path("damaged"), content).expect("a file");
        open(&sandbox.path("damaged"))
    };
    let mut other = whole.clone();
    other[record + 11] = b'9';
    let error = check(&other).expect_err("another version");
    assert!(error.to_string().contains("version 9 is not known"), "{error}");
    for step in 0..200 {
        let at = record + step * 7;
        let mut flipped = whole.clone();
        flipped[at] ^= 0x40;
        // A flipped letter of a name may go unnoticed, or be an input that is gone: any answer but a panic.
        let _ = check(&flipped);
    }
    for length in (0..whole.len()).step_by(97) {
        check(&whole[..length]).expect_err("truncated");
    }
}

#[test]
fn damaged_bitcode_is_named() {
    let sandbox = built();
    sandbox.shell("objcopy --update-section .atombc=main.c main.o; objcopy --remove-section .llvmcmd one.o half.o").good();
    for (line, part) in
        [("main.o one.o", "main.o: its bitcode is damaged"), ("half.o main.c", "half.o: it has 1 units of bitcode, but 0 commands")]
    {
        sandbox.cc(&format!("{line} -o app")).good();
        check(&sandbox.run("atomfix", &["infer", "app"]), USAGE, &[part, "compile it again"]);
    }
}

#[test]
fn a_missing_compiler_is_a_toolchain_error_with_the_way_to_mend_it() {
    let sandbox = built();
    for line in [&["cc", "-c", "main.c"][..], &["cc", "main.c", "one.c", "-o", "new"], &["c++", "main.c"]] {
        let mut command = sandbox.command("atomfix");
        command.args(line).env("ATOMFIX_LLVM_BIN", "/nonexistent");
        let tool = if line[0] == "cc" { "clang-22 is not installed" } else { "clang++-22 is not installed" };
        check(&sandbox.finish(&mut command), TOOLCHAIN, &[tool, "/nonexistent", "atomfix doctor"]);
    }
    assert!(!sandbox.path("new").exists());
}

#[test]
fn passes_that_are_missing_or_do_not_work_are_named_with_what_to_do() {
    let sandbox = built();
    fs::copy(env!("CARGO_BIN_EXE_atomfix"), sandbox.path("atomfix")).expect("a copy");
    let infer = || sandbox.run("./atomfix", &["profile", "app", "--runs", "1"]);
    check(&infer(), TOOLCHAIN, &["$ROOT/work/atomfix-passes: cannot start", "in its own folder", "make install"]);
    // Compiling needs none.
    sandbox.run("./atomfix", &["cc", "-c", "main.c", "-o", "again.o"]).good();
    for (script, code, part) in [("kill -9 $$", 70, "signal: 9"), ("echo what", TOOLCHAIN, "of another build")] {
        sandbox.write("atomfix-passes", &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(sandbox.path("atomfix-passes"), fs::Permissions::from_mode(0o755)).expect("permissions");
        check(&infer(), code, &["$ROOT/work/atomfix-passes: ", part]);
    }
}

#[test]
fn an_output_that_cannot_be_written_leaves_everything_as_it_was() {
    let sandbox = built();
    fs::create_dir(sandbox.path("folder")).expect("a folder");
    let before = sandbox.files();
    let capture = sandbox.open("app");
    for out in ["no/such/folder/app.hard", "main.o/app.hard", "folder"] {
        let error = relink(&capture, &unchanged(&capture, &sandbox.path(out))).expect_err("cannot be written");
        assert!(matches!(error, CaptureError::Write { .. }) && !error.is_toolchain(), "{error}");
    }
    assert_eq!(sandbox.files(), before);
}

#[test]
fn a_folder_that_nobody_may_write_is_told_before_any_work() {
    let sandbox = built();
    let capture = sandbox.open("app");
    // Not even the superuser makes files in /proc.
    let mut order = unchanged(&capture, "/proc/app.hard".as_ref());
    order.bitcode[0] = Some(b"would not compile".to_vec());
    let error = relink(&capture, &order).expect_err("cannot be written");
    assert!(error.to_string().starts_with("/proc/app.hard: cannot write"), "{error}");
    assert!(!error.is_toolchain() && error.help().contains("writable"), "{}", error.help());
}

#[test]
fn bitcode_that_does_not_compile_gives_the_compilers_words() {
    let sandbox = built();
    let capture = sandbox.open("app");
    let mut order = unchanged(&capture, &sandbox.path("app.new"));
    order.bitcode[0] = Some(b"BC\xc0\xdenonsense".to_vec());
    let error = relink(&capture, &order).expect_err("nonsense");
    assert!(error.is_toolchain() && error.to_string().contains("main.o"), "{error}");
    assert!(!sandbox.path("app.new").exists());
    order = unchanged(&capture, &sandbox.path("app.new"));
    order.link_args = vec!["-lno_such_library".to_owned()];
    let error = relink(&capture, &order).expect_err("no such library");
    assert!(error.is_toolchain() && error.to_string().contains("no_such_library"), "{error}");
    assert!(!sandbox.path("app.new").exists());
}

#[test]
fn a_record_that_does_not_fit_on_the_disk_costs_one_line_and_nothing_else() {
    const BLOCK: usize = 512;
    let sandbox = Sandbox::new(&[("start.s", ".globl _start\n_start:\n  hlt\n.section .note.GNU-stack,\"\",@progbits\n")]);
    sandbox.shell("clang-22 -c start.s; ld start.o -o plain; atomfix cc -nostdlib start.o -o first").good();
    let plain = fs::read(sandbox.path("plain")).expect("a program");
    // A limit on the size of files stands for the full disk: the program fits, the record does not. Clang would reset the signal, so
    // its part is played here.
    let call = r#"{"language":"c","compiler":"'$(command -v clang-22)'","arguments":["start.o"],"linker":null,"search":null}"#;
    let blocks = plain.len() / BLOCK + 1;
    let linker = r#""$XDG_CACHE_HOME"/atomfix/linkers-*/ld"#;
    let limited = format!("ulimit -f {blocks}; trap '' XFSZ; ATOMFIX_CALL='{call}' {linker} start.o -o app");
    let ran = sandbox.shell(&limited).good();
    assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{}", ran.stderr);
    assert!(ran.stderr.contains("app: the link cannot be recorded, so atomfix cannot work on it"), "{}", ran.stderr);
    assert_eq!(fs::read(sandbox.path("app")).expect("a program"), plain);
    check(&sandbox.run("atomfix", &["infer", "app"]), USAGE, &["app: not linked with atomfix cc"]);
}
