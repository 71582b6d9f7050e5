//! What cannot be done: one clear error with help, exit code 2, nothing half-written, the user's files untouched.

use std::fs;

use crate::sandbox::Sandbox;

/// Hardens by a plan of this text, which must be refused with `words`.
#[track_caller]
fn refused(plan: &str, words: &str) {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("edited.toml"), plan).expect("a file");
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard --plan edited.toml");
    assert_eq!(said.code, 2, "{words}: {}{}", said.out, said.err);
    assert!(said.err.contains(words) && said.err.contains("help: "), "{words}: {}", said.err);
    sandbox.check_untouched(&["edited.toml"]);
}

/// The text with the first occurrence of `from` replaced.
#[track_caller]
fn edited(plan: &str, from: &str, to: &str) -> String {
    assert!(plan.contains(from), "no '{from}' in\n{plan}");
    plan.replacen(from, to, 1)
}

#[test]
fn a_plan_that_is_no_plan_is_refused_with_its_line() {
    let plan = Sandbox::new().plan();
    let cut = &plan[..plan.find("do = ").expect("an operation") + 3];
    refused(cut, "edited.toml: not a plan: TOML parse error at line");
    refused("", "edited.toml: not a plan: ");
    refused("\u{7f}ELF", "edited.toml: not a plan: TOML parse error at line 1");
    refused(&edited(&plan, "acquire X l0", "acquire Y l0"), "'acquire Y l0' is not one of");
    refused(&edited(&plan, "before n", "behind n"), "is not one of 'before nN'");
    refused(&edited(&plan, "enabled = true", "enabeld = true"), "unknown field `enabeld`");
    refused(&edited(&plan, "seen = ", "seen = -"), "edited.toml: not a plan: TOML parse error at line");
}

#[test]
fn a_plan_of_another_form_or_build_is_refused() {
    let plan = Sandbox::new().plan();
    refused(&edited(&plan, "schema = 1", "schema = 99"), "schema 99 is not known to this atomfix, which reads 1");
    refused(&edited(&plan, "build = \"", "build = \"0"), "this plan was made for another build");
    refused(&edited(&plan, "id = 0", "id = 7"), "lock number 0 has the id lock7");
}

#[test]
fn a_plan_edited_into_nonsense_is_rejected_by_the_checker() {
    let plan = Sandbox::new().plan();
    let function = plan.split("function = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a function");
    for nonsense in [
        // A pair that nothing protects.
        edited(&plan, "do = \"acquire X l0\"", "do = \"acquire R l0\""),
        edited(&plan, "do = \"acquire X l0\"", "do = \"release l0\""),
        // A way out that keeps the lock.
        edited(&plan, "do = \"release l0\"", "do = \"degrade l0\""),
        // Places that do not exist.
        edited(&plan, "at = \"before n", "at = \"before n9999"),
        edited(&plan, "at = \"edge n", "at = \"edge n9999"),
        plan.replace(function, "fdddddddddddddddd"),
    ] {
        refused(&nonsense, "edited.toml: the checker rejects this plan:\n  ");
    }
}

#[test]
fn a_lock_can_be_switched_off() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("edited.toml"), edited(&sandbox.plan(), "enabled = true", "enabled = false")).expect("a file");
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard --plan edited.toml");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("0 locks, 0 operations injected"), "{}", said.out);
    sandbox.check_untouched(&["edited.toml", "app.hard"]);
}

#[test]
fn what_is_missing_is_named() {
    for (script, words) in [
        ("rm app.atomfix/profile; exec \"$ATOMFIX\" harden ./app -o app.hard", "there is no profile"),
        ("exec \"$ATOMFIX\" harden ./app -o app.hard --plan nothing.toml", "nothing.toml: No such file"),
        ("exec \"$ATOMFIX\" harden ./nothing -o app.hard", "there is no such program"),
        ("exec \"$ATOMFIX\" harden ./app -o nowhere/app.hard", "nowhere/app.hard: cannot write"),
        ("exec \"$ATOMFIX\" harden ./app -o app", "the output would overwrite the program itself"),
        ("cp app other; exec \"$ATOMFIX\" harden ./app -o other", "other: is there already, and is no hardened program"),
        ("echo text > notes; exec \"$ATOMFIX\" harden ./app -o notes", "notes: is there already, and is no hardened program"),
        ("exec \"$ATOMFIX\" harden ./app -o .", ".: cannot write: it is a folder"),
        ("exec \"$ATOMFIX\" check ./app --json nowhere/a.json", "nowhere/a.json: cannot write: there is no folder nowhere"),
        (
            "echo 'int main(void) {}' > s.c; \"$ATOMFIX\" cc -static s.c -o fixed; exec \"$ATOMFIX\" profile ./fixed",
            "fixed: a static executable",
        ),
        ("ln -s app other; exec \"$ATOMFIX\" harden ./app -o other", "the output would overwrite the program itself"),
    ] {
        let sandbox = Sandbox::new();
        let before = fs::read(sandbox.path("app")).expect("the program");
        let said = sandbox.shell(script);
        assert_eq!(said.code, 2, "{script}: {}{}", said.out, said.err);
        assert!(said.err.contains(words) && said.err.contains("help: "), "{script}: {}", said.err);
        assert!(!sandbox.path("app.hard").exists());
        assert!(fs::read(sandbox.path("app")).expect("the program") == before, "{script}: the program is not what it was");
    }
}

#[test]
fn a_line_without_accesses_is_told_with_what_it_calls() {
    for (line, words) in [("main.c:32", "stands there, but calls of append@main.c\n"), ("main.c:10", "stands there\n")] {
        let said = Sandbox::new().shell(&format!("exec \"$ATOMFIX\" infer ./app --explain {line}"));
        assert_eq!(said.code, 2, "{line}: {}{}", said.out, said.err);
        assert!(said.err.contains(words) && said.err.contains("help: "), "{line}: {}", said.err);
    }
}

#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    // Writing beyond a limit on the size of files fails, as on a full disk, instead of raising a signal. The last limit is beyond the
    // objects and short of the program.
    for blocks in [0, 1, 64, 256] {
        let sandbox = Sandbox::new();
        assert_eq!(sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard").code, 0);
        let before = fs::read(sandbox.path("app.hard")).expect("the old one");
        let said = sandbox.shell(&format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$ATOMFIX\" harden ./app -o app.hard"));
        assert!([2, 3].contains(&said.code), "{blocks}: {}{}", said.out, said.err);
        assert!(said.err.contains("help: "), "{blocks}: {}", said.err);
        assert!(fs::read(sandbox.path("app.hard")).expect("the old one") == before, "{blocks}: the old one is gone");
        sandbox.check_untouched(&["app.hard"]);
    }
}

#[test]
fn a_file_in_the_place_of_the_project_folder_is_named() {
    let sandbox = Sandbox::new();
    let script = "rm -r app.atomfix; echo in the way > app.atomfix; exec \"$ATOMFIX\" harden ./app -o app.hard";
    let said = sandbox.shell(script);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("app.atomfix") && said.err.contains("help: "), "{}", said.err);
    assert_eq!(fs::read(sandbox.path("app.atomfix")).expect("a file"), b"in the way\n");
    assert!(!sandbox.path("app.hard").exists());
}
