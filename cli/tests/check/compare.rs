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
