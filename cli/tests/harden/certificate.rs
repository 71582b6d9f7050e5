//! The certificate: stored in two forms, its hash in the hardened program, the same for any number of threads; and the lines of an edited plan that
//! the checker names.

use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn the_hash_of_the_certificate_is_in_the_hardened_program() {
    let sandbox = Sandbox::new();
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let json = fs::read(sandbox.path("app.atomfix/certificate.json")).expect("a certificate");
    let hash = blake3::hash(&json).to_hex().to_string();
    assert!(said.out.contains(&format!("certificate {hash} is in it")), "{}", said.out);
    let told = sandbox.shell("exec \"$ATOMFIX\" doctor app.hard");
    assert!(told.out.contains(&format!("certificate {hash}")), "{}{}", told.out, told.err);
    let value: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let certificate = &value["results"][0];
    assert_eq!((&certificate["checked"], &certificate["schema"]), (&true.into(), &1.into()));
    assert_eq!(certificate["locks"].as_array().map(Vec::len), Some(1));
    assert!(certificate["locks"][0]["pairs"][0]["seen"].as_u64().is_some_and(|seen| seen > 0), "{certificate}");
    let text = fs::read_to_string(sandbox.path("app.atomfix/certificate.txt")).expect("a certificate");
    assert!(text.contains("checked: ") && text.contains("lock0 protects ") && text.contains("lock order"), "{text}");
}

/// The lines of a plan on which an entry of this kind begins.
fn lines(plan: &str, header: &str) -> Vec<usize> {
    plan.lines().enumerate().filter(|(_, line)| *line == header).map(|(n, _)| n + 1).collect()
}

/// Hardens by the plan with the text `from` of an operation replaced, which must be refused with the line of its entry and `words`.
#[track_caller]
fn names_the_line(from: &str, to: &str, header: &str, words: &str) {
    let sandbox = Sandbox::new();
    let plan = sandbox.plan();
    let at = plan[..plan.find(from).unwrap_or_else(|| panic!("no '{from}' in\n{plan}"))].matches('\n').count() + 1;
    let line = lines(&plan, header).into_iter().rfind(|line| *line <= at).expect("an entry");
    fs::write(sandbox.path("edited.toml"), plan.replacen(from, to, 1)).expect("a file");
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard --plan edited.toml");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    let found = said.err.lines().any(|said| said.contains(&format!("edited.toml:{line}: lock0")) && said.contains(words));
    assert!(found, "line {line}, {words}:\n{}\n{}", said.err, plan);
}

#[test]
fn contradicting_edits_are_named_with_their_line() {
    names_the_line("acquire X l0", "release l0", "[[lock.operation]]", "is not covered at 'before n");
    names_the_line("do = \"release l0\"", "do = \"degrade l0\"", "[[lock.operation]]", "still held at the way out");
    names_the_line("at = \"edge n", "at = \"edge n99", "[[lock.operation]]", "there is no edge");
    names_the_line("head = ", "head = 99", "[[lock.pair]]", "names a node that does not exist");
    names_the_line("variable = \"", "variable = \"no_", "[[lock]]", "it is unknown what it protects");
}

#[test]
fn optimizations_can_be_turned_off_by_name_and_what_each_saved_is_told() {
    let sandbox = Sandbox::new();
    let said =
        sandbox.shell("exec \"$ATOMFIX\" infer ./app --stats --no-opt releases --no-opt acquisitions --no-opt loops --no-opt sequences");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let certificate = fs::read_to_string(sandbox.path("app.atomfix/certificate.txt")).expect("a certificate");
    for name in ["releases", "acquisitions", "loops", "sequences"] {
        let row = said.out.lines().find(|line| line.starts_with(&format!("saved by optimization '{name}'")));
        assert!(row.is_some_and(|row| row.ends_with("  0 operations, 0 executions a run")), "{name}: {}", said.out);
        assert!(certificate.contains(&format!("{name}: 0 operations, which would run 0 times a run")), "{certificate}");
    }
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard --no-opt unroll");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("'unroll' is none of releases, acquisitions, loops, sequences"), "{}", said.err);
}

#[test]
fn plans_do_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    let inferred = |threads: &str| {
        let said = sandbox.shell(&format!("rm -rf app.atomfix/build; RAYON_NUM_THREADS={threads} exec \"$ATOMFIX\" infer ./app"));
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        ["plan.toml", "certificate.json", "certificate.txt"].map(|file| fs::read(sandbox.path("app.atomfix").join(file)).expect("a file"))
    };
    assert_eq!(inferred("1"), inferred("7"));
}
