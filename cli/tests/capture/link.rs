//! What a link records, and what is found again: objects, archives, joined objects, other linkers.

use std::fs;

use crate::sandbox::{Sandbox, unchanged};
use capture::{CaptureError, Hardened, open, relink};

const FILES: &[(&str, &str)] = &[
    (
        "main.c",
        "#include <stdio.h>\nint one(void), two(void), assembled(void);\nint main(void) { printf(\"%d %d %d\\n\", one(), two(), assembled()); return 3; }\n",
    ),
    ("one.c", "static int count = 1;\nint shared;\nint one(void) { shared += count++; return shared; }\n"),
    (
        "two.cpp",
        "extern \"C\" int one(void);\ntemplate <class T> T twice(T x) { return x + x; }\nextern \"C\" int two(void) { return twice(one()); }\n",
    ),
    ("assembled.s", ".text\n.globl assembled\nassembled:\n  mov $7, %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n"),
    ("idle.c", "int idle(void) { return 1; }\n"),
];

/// A sandbox with an object for each file.
fn objects() -> Sandbox {
    let sandbox = Sandbox::new(FILES);
    sandbox.cc("-O2 -c main.c one.c idle.c assembled.s").good();
    sandbox.run("atomfix", &["c++", "-c", "two.cpp"]).good();
    sandbox
}

#[track_caller]
fn check_uncovered(sandbox: &Sandbox, program: &str, expected: &[(&str, &str)]) {
    let capture = sandbox.open(program);
    let found: Vec<_> = capture.uncovered.iter().map(|uncovered| (uncovered.what.as_str(), uncovered.why.as_str())).collect();
    assert_eq!(found, expected, "uncovered in {program}");
}

#[test]
fn a_program_of_objects_makes_its_round_trip_with_every_kind_of_link() {
    for options in [
        "",
        "-no-pie",
        "-static",
        "-static-pie",
        "-s",
        "-Wl,--gc-sections",
        "-fuse-ld=lld",
        "-fuse-ld=gold",
        "-Wl,-Map=app.map",
        "-Wl,-z,nosectionheader -fuse-ld=lld",
    ] {
        let sandbox = objects();
        let ran = sandbox.cc(&format!("main.o one.o two.o assembled.o -o app {options}"));
        if ran.code != Some(0) && options.contains("nosectionheader") {
            continue;
        }
        ran.good();
        let map = sandbox.files().remove("app.map");
        sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
        assert_eq!(sandbox.files().remove("app.map"), map, "the map of the first link is not touched");
        check_uncovered(&sandbox, "app", &[("assembled.o", "it has no bitcode")]);
    }
}

#[test]
fn sanitized_split_and_covered_builds_make_their_round_trip() {
    for options in [
        "-fsanitize=address",
        "-fsanitize=thread",
        "-fsanitize=undefined",
        "-gsplit-dwarf",
        "--coverage",
        "-fno-integrated-as",
        "-save-temps",
        "-ffunction-sections",
    ] {
        let sandbox = Sandbox::new(FILES);
        sandbox.cc(&format!("{options} main.c one.c two.cpp assembled.s -o app")).good();
        let before = sandbox.files();
        sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
        let changed = sandbox.files().into_iter().filter(|(name, _)| !name.contains(".again") && !name.ends_with(".gcda"));
        assert_eq!(changed.collect::<std::collections::BTreeMap<_, _>>(), before, "{options}: the user's files are untouched");
    }
}

#[test]
fn archives_of_every_form_are_rebuilt_with_their_members_in_order() {
    let sandbox = objects();
    sandbox.shell("ar rcs lib.a one.o idle.o two.o assembled.o; ar rcsT thin.a one.o idle.o two.o assembled.o").good();
    sandbox.shell("mkdir d e; cp one.o d/same.o; cp two.o e/same.o; ar qcs double.a d/same.o e/same.o assembled.o").good();
    sandbox.shell("cp assembled.o d; ar rcsT paths.a d/same.o e/same.o d/assembled.o").good();
    for (line, member) in [
        ("main.o lib.a", "lib.a(assembled.o)"),
        ("main.o -L. -l:lib.a", "lib.a(assembled.o)"),
        ("main.o -L . -Wl,-Bstatic -l:lib.a -Wl,-Bdynamic", "lib.a(assembled.o)"),
        ("main.o -Wl,--start-group lib.a -Wl,--end-group", "lib.a(assembled.o)"),
        ("main.o lib.a lib.a -L. -l:lib.a", "lib.a(assembled.o)"),
        ("main.o thin.a", "thin.a(assembled.o)"),
        ("main.o double.a", "double.a(assembled.o)"),
        ("main.o paths.a", "paths.a(d/assembled.o)"),
    ] {
        sandbox.cc(&format!("{line} -o app")).good();
        // The member that the link does not need is no part of the program.
        sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
        check_uncovered(&sandbox, "app", &[(member, "it has no bitcode")]);
    }
    sandbox.shell("ar rcs libasm.a assembled.o").good();
    sandbox.cc("main.o one.o two.o -L. -lasm -o app").good();
    sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
    check_uncovered(&sandbox, "app", &[("libasm.a", "it has no bitcode")]);
}

#[test]
fn objects_joined_by_the_linker_are_covered_if_all_of_them_is() {
    let sandbox = objects();
    sandbox.shell("ld -r one.o two.o -o both.o; ld -r one.o two.o assembled.o -o all.o").good();
    sandbox.cc("-r main.c both.o -o joined.o").good();
    sandbox.cc("main.o both.o assembled.o -o app").good();
    sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
    sandbox.cc("joined.o assembled.o -o app").good();
    sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
    sandbox.cc("main.o all.o -o app").good();
    sandbox.check_round_trip("app", &["main.c"]);
    check_uncovered(&sandbox, "app", &[("all.o", "parts of it were joined in without bitcode")]);
}

#[test]
fn an_object_whose_symbols_were_changed_is_linked_as_it_is() {
    let sandbox = objects();
    sandbox.write("bridge.c", "int uno(void);\nint one(void) { return uno(); }\n");
    sandbox.shell("objcopy --redefine-sym one=uno one.o renamed.o").good();
    sandbox.cc("main.o renamed.o bridge.c two.o assembled.o -o app").good();
    sandbox.check_round_trip("app", &["main.c", "bridge.c", "two.cpp"]);
    sandbox.shell("objcopy --localize-symbol=shared one.o local.o").good();
    sandbox.cc("main.o local.o two.o assembled.o -o app").good();
    sandbox.check_round_trip("app", &["main.c", "two.cpp"]);
    check_uncovered(
        &sandbox,
        "app",
        &[("local.o", "its symbols were changed after it was compiled"), ("assembled.o", "it has no bitcode")],
    );
}

#[test]
fn a_shared_library_is_an_uncovered_input_and_no_program() {
    let sandbox = objects();
    sandbox.run("atomfix", &["c++", "-shared", "-fPIC", "one.c", "two.cpp", "assembled.s", "-o", "libparts.so"]);
    sandbox.cc("-shared -fPIC one.c two.cpp assembled.s -o libparts.so").good();
    // Those of the languages themselves are not worth a word: libm may be a linker script.
    sandbox.cc("main.o -L. -lparts -Wl,-rpath,$ORIGIN -lm -lstdc++ -ldl -o app").good();
    sandbox.check_round_trip("app", &["main.c"]);
    check_uncovered(&sandbox, "app", &[("libparts.so", "a shared library")]);
    let error = open(&sandbox.path("libparts.so")).expect_err("not a program");
    assert!(matches!(error, CaptureError::SharedLibrary { .. }), "{error}");
}

#[test]
fn a_record_survives_copying_and_stripping() {
    let sandbox = Sandbox::new(FILES);
    sandbox.cc("main.c one.c two.cpp assembled.s -o app").good();
    let build = sandbox.open("app").build;
    sandbox.shell("cp app copy; strip copy; install -s app installed; mv app moved").good();
    for name in ["copy", "installed", "moved"] {
        assert_eq!(sandbox.check_round_trip(name, &["main.c", "one.c", "two.cpp"]).build, build, "{name}");
    }
}

#[test]
fn equal_builds_are_equal_and_their_identity_says_so() {
    let sandbox = objects();
    let link = || {
        sandbox.cc("main.o one.c two.o assembled.o -o app").good();
        (fs::read(sandbox.path("app")).expect("a program"), sandbox.open("app").build)
    };
    let first = link();
    assert_eq!(link(), first);
    sandbox.write("one.c", "int one(void) { return 9; }\n");
    assert_ne!(link().1, first.1);
}

#[test]
fn the_linker_that_the_user_chose_is_the_one_that_links() {
    let sandbox = objects();
    sandbox.write("mine/ld", "#!/bin/sh\necho mine >> chosen\nexec /usr/bin/ld \"$@\"\n");
    sandbox.shell("chmod +x mine/ld").good();
    for (number, line) in ["CALL -Bmine", "CALL -B mine", "COMPILER_PATH=mine CALL", "CALL --ld-path=mine/ld", "CALL -fuse-ld=$PWD/mine/ld"]
        .iter()
        .enumerate()
    {
        let call = "atomfix cc main.o one.o two.o assembled.o -o app";
        sandbox.shell(&line.replace("CALL", call)).good();
        sandbox.open("app");
        assert_eq!(sandbox.read("chosen").lines().count(), 2 * number + 1, "{line}");
        // The second link has the same linker.
        sandbox.check_round_trip("app", &["main.c", "one.c", "two.cpp"]);
        assert_eq!(sandbox.read("chosen").lines().count(), 2 * number + 2, "{line}");
    }
}

#[test]
fn sources_of_one_name_in_one_call_stay_apart() {
    let sandbox = Sandbox::new(&[
        ("x/part.c", "#include <stdio.h>\nint other(void);\nint main(void) { printf(\"%d\\n\", other()); return 0; }\n"),
        ("y/part.c", "int other(void) { return 8; }\n"),
    ]);
    sandbox.cc("x/part.c y/part.c -o app").good();
    sandbox.check_round_trip("app", &["part.c", "part.c"]);
}

#[test]
fn units_that_do_not_change_stay_as_they_are() {
    let sandbox = objects();
    sandbox.shell("ar rcs lib.a one.o two.o assembled.o").good();
    sandbox.cc("main.c lib.a -o app").good();
    let capture = sandbox.open("app");
    for changed in 0..capture.units.len() {
        let mut order = unchanged(&capture, &sandbox.path("app.new"));
        for (index, bitcode) in order.bitcode.iter_mut().enumerate() {
            if index != changed {
                *bitcode = None;
            }
        }
        relink(&capture, &order).expect("linked");
        assert_eq!(sandbox.run("./app.new", &[]), sandbox.run("./app", &[]), "with unit {changed} compiled again");
    }
}

#[test]
fn a_hardened_program_remembers_its_original() {
    let sandbox = Sandbox::new(FILES);
    sandbox.cc("main.c one.c two.cpp assembled.s -o app").good();
    let capture = sandbox.open("app");
    let hardened = Hardened {
        original: sandbox.path("app"),
        original_hash: capture.build.clone(),
        plan: "schema = 1\n".to_owned(),
        certificate: Some("0123".to_owned()),
    };
    let order = capture::Relink { hardened: Some(hardened.clone()), ..unchanged(&capture, &sandbox.path("app.hard")) };
    relink(&capture, &order).expect("linked");
    let again = sandbox.open("app.hard");
    assert_eq!(again.record.hardened, Some(hardened));
    assert_eq!(again.build, capture.build);
    sandbox.check_round_trip("app.hard", &["main.c", "one.c", "two.cpp"]);
}

#[test]
fn what_is_added_to_a_link_comes_before_the_users_libraries() {
    let sandbox = objects();
    sandbox.write("runtime.c", "int one(void);\nint two(void) { return 100; }\nvoid __atomfix_door(void) {}\n");
    sandbox.write("late.c", "int two(void) { return 200; }\n");
    sandbox.write("extra.c", "int extra_global = 5;\n");
    sandbox
        .shell("clang-22 -c runtime.c late.c; ar rcs runtime.a runtime.o; ar rcs liblate.a late.o; clang-22 -c -emit-llvm extra.c")
        .good();
    sandbox.cc("main.o one.o assembled.o -L. -llate -o app").good();
    let capture = sandbox.open("app");
    let order = capture::Relink {
        archives: vec![sandbox.path("runtime.a")],
        extra_bitcode: vec![("extra".to_owned(), fs::read(sandbox.path("extra.bc")).expect("bitcode"))],
        link_args: vec!["-Wl,--defsym=__atomfix_given=7".to_owned()],
        ..unchanged(&capture, &sandbox.path("app.new"))
    };
    relink(&capture, &order).expect("linked");
    assert!(sandbox.run("./app", &[]).stdout.contains(" 200 "));
    assert!(sandbox.run("./app.new", &[]).stdout.contains(" 100 "));
    let symbols = sandbox.shell("nm app.new").good().stdout;
    for symbol in ["__atomfix_door", "extra_global", "__atomfix_given"] {
        assert!(symbols.contains(symbol), "{symbol} in {symbols}");
    }
}
