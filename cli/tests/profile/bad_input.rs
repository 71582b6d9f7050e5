//! What cannot be done: one clear error, exit code 2, nothing half-written, the user's files untouched.

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn a_program_that_fails_in_every_run_teaches_nothing() {
    let sandbox = Sandbox::new();
    for (how, runs, words) in [
        ("fail", "2", "0 runs passed, 2 failed (2 exit status 3)\n  the last one wrote: no good"),
        ("abort", "2", "0 runs passed, 2 failed (2 killed by signal 6 (SIGABRT))"),
        ("hang", "1", "0 runs passed, 1 failed (1 time limit)"),
    ] {
        sandbox.atomfix(&["profile", "./app", "--runs", runs, "--timeout", "2", "--", how]).refused(words);
        assert!(!sandbox.has_profile());
        sandbox.check_original();
    }
}

#[test]
fn what_is_not_a_program_of_ours_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("script", "#!/bin/sh\n");
    sandbox.atomfix(&["profile", "./script"]).refused("not a 64-bit ELF program");
    sandbox.atomfix(&["profile", "./nothing"]).refused("there is no such program");
    sandbox.atomfix(&["profile", "/bin/true"]).refused("not linked with atomfix cc");
    sandbox.atomfix(&["profile", "./app", "--expect", "nothing"]).refused("nothing: ");
    assert!(!sandbox.path("script.atomfix").exists());
}

#[test]
fn wrong_usage_is_refused() {
    let sandbox = Sandbox::new();
    for arguments in [&["--runs", "0"][..], &["--runs", "x"], &["--timeout", "0"], &["--swap"], &["--swap", "--expect", "f", "--", "true"]]
    {
        let said = sandbox.atomfix(&[&["profile", "./app"], arguments].concat());
        assert_eq!(said.code, 2, "{arguments:?}: {}", said.err);
        assert!(!sandbox.path("app.atomfix").exists());
    }
}

#[test]
fn a_damaged_profile_is_refused_with_its_offset_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).good();
    let whole = sandbox.read("app.atomfix/profile");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for (bytes, words) in [
        (&whole[..whole.len() - 1], format!("app.atomfix/profile: it is truncated at byte {}", whole.len() - 1)),
        (&whole[..10], "app.atomfix/profile: it is truncated at byte 10".to_owned()),
        (&flipped[..], "app.atomfix/profile: it is damaged: the checksum of the body at offset 32".to_owned()),
        (b"#!/bin/sh and more than a header", "app.atomfix/profile: it is not a file of atomfix (offset 0)".to_owned()),
    ] {
        sandbox.write("app.atomfix/profile", bytes);
        sandbox.atomfix(&["profile", "./app", "--runs", "1"]).refused(&words);
        sandbox.atomfix(&["infer", "./app"]).refused(&words);
        assert_eq!(sandbox.read("app.atomfix/profile"), bytes);
    }
}

#[test]
fn a_profile_of_another_build_is_refused_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("other.c", "static int n; int main(void) { volatile int *p = &n; return *p; }");
    sandbox.atomfix(&["cc", "other.c", "-o", "other"]).good();
    sandbox.atomfix(&["profile", "./other", "--runs", "1"]).good();
    fs::create_dir(sandbox.path("app.atomfix")).expect("a folder");
    fs::copy(sandbox.path("other.atomfix/profile"), sandbox.path("app.atomfix/profile")).expect("copied");
    let before = sandbox.read("app.atomfix/profile");
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).refused("this is a profile of another build");
    assert_eq!(sandbox.read("app.atomfix/profile"), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::new();
    // Also root cannot make a folder where a file is.
    sandbox.write("app.atomfix", "in the way");
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).refused("app.atomfix/build: cannot write: ");
    assert_eq!(sandbox.read("app.atomfix"), b"in the way");
}

#[test]
fn a_full_disk_leaves_the_old_profile_as_it_was() {
    let sandbox = Sandbox::new();
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).good();
    let before = sandbox.read("app.atomfix/profile");
    // Writing beyond this limit on the size of files fails, as on a full disk, instead of raising a signal.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$ATOMFIX\" profile ./app --runs 1";
    let said = sandbox.shell(script);
    said.refused("no room for the recording of a process");
    assert_eq!(sandbox.read("app.atomfix/profile"), before);
    let left: Vec<_> =
        fs::read_dir(sandbox.path("app.atomfix")).expect("the folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".part")), "{left:?}");
    sandbox.check_original();
}
