//! A hardened build beside its original: both are explored, and the exit code is that of the build named.

use serde_json::Value;

use crate::sandbox::{LOST_UPDATE, Sandbox};

#[test]
fn exploration_may_end_at_the_first_failure() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", LOST_UPDATE, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--until-failure", "--json", "result.json"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
    let result = &report["results"][0];
    assert_eq!(result["complete"], false, "{report}");
    assert_eq!(result["failures"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(result["failures"][0]["count"], 1, "{report}");
    // Passes that began anew, as more memory was found shared, count too.
    assert!(result["failures"][0]["first"].as_u64() >= result["schedules"].as_u64(), "{report}");
}

#[test]
fn a_hardened_build_is_explored_beside_its_original() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", LOST_UPDATE, &[]);
    for arguments in [&["profile", "./app", "--runs", "10"][..], &["harden", "./app", "-o", "app.hard"]] {
        let said = sandbox.atomfix(arguments);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    }
    let said = sandbox.atomfix(&["check", "./app.hard", "--json", "result.json", "--require-complete"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("assert at app.c:16"), "{}", said.out);
    assert!(said.out.lines().any(|line| line.ends_with("gone")), "{}", said.out);

    let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
    let builds: Vec<&Value> = report["results"].as_array().expect("a list").iter().map(|result| &result["build"]).collect();
    assert_eq!(builds, ["original", "hardened"]);
    assert_eq!(report["results"][0]["failures"][0]["kind"], "assert");
    assert_eq!(report["results"][1]["failures"].as_array().map(Vec::len), Some(0));
    assert_eq!(report["results"][1]["complete"], true);

    let said = sandbox.atomfix(&["check", "./app"]);
    assert_eq!(said.code, 1, "the original by itself: {}{}", said.out, said.err);
}

/// Objects without locks are linked as they were, so bitcode in the program tells of them alone.
#[test]
fn a_build_whose_locks_are_all_in_an_archive_is_compared_with_all_of_its_original() {
    let sandbox = Sandbox::new();
    let (library, main) = LOST_UPDATE.split_once("int main(void)").expect("a main function");
    sandbox.write("fill.c", library.replace("static ", ""));
    sandbox.write("unused.c", "int unused;\n");
    let declared = "#include <assert.h>\n#include <pthread.h>\n#include <stddef.h>\nextern int fill;\nvoid *append(void *);\n";
    sandbox.write("main.c", format!("{declared}int main(void){main}"));
    for arguments in [
        &["cc", "-O1", "-g", "-c", "fill.c", "unused.c", "main.c"][..],
        &["cc", "main.o", "-L.", "-lfill", "-pthread", "-o", "app"],
        &["profile", "./app", "--runs", "10"],
        &["harden", "./app", "-o", "app.hard"],
    ] {
        if arguments.contains(&"-lfill") {
            let made =
                std::process::Command::new("ar").args(["rcs", "libfill.a", "fill.o", "unused.o"]).current_dir(sandbox.path("")).status();
            assert!(made.expect("ar is installed").success());
        }
        let said = sandbox.atomfix(arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
    }
    let said = sandbox.atomfix(&["check", "./app.hard"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.lines().any(|line| line.contains("assert at") && line.ends_with("gone")), "{}", said.out);
}
