//! `--swap`: a command with the recording build in the program's place.

use crate::sandbox::Sandbox;

const SUITE: &str = "./app; ./app serve fifo & read line < fifo; kill $!; wait $!; ./app fork";

#[test]
fn all_processes_of_a_passing_suite_are_merged_also_servers_that_were_signaled() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo fifo").good();
    let said = sandbox.atomfix(&["profile", "./app", "--swap", "--", "sh", "-c", SUITE]).good();
    assert!(said.out.contains("1 run passed, 0 failed\n4 processes recorded"), "{}", said.out);
    assert_eq!(sandbox.profile().runs.len(), 4);
    sandbox.check_original();
}

#[test]
fn a_suite_that_starts_the_program_with_an_empty_environment_is_recorded_too() {
    let sandbox = Sandbox::new();
    sandbox.atomfix(&["profile", "./app", "--swap", "--", "sh", "-c", "cd /; env -i $OLDPWD/app; env -i $OLDPWD/app fork"]).good();
    assert_eq!(sandbox.profile().runs.len(), 3);
    sandbox.check_original();
}

#[test]
fn nothing_of_a_failing_suite_is_merged() {
    let sandbox = Sandbox::new();
    sandbox.atomfix(&["profile", "./app", "--swap", "--", "sh", "-c", "./app; exit 4"]).refused("no run passed");
    assert!(!sandbox.has_profile());
    sandbox.check_original();
}

#[test]
fn the_suite_passes_its_output_on() {
    let sandbox = Sandbox::new();
    let said = sandbox.atomfix(&["profile", "./app", "--swap", "--", "sh", "-c", "./app; echo said >&2"]).good();
    assert!(said.out.starts_with("6\n") && said.err.contains("said\n"), "{}{}", said.out, said.err);
}

#[test]
fn a_suite_that_never_starts_the_program_teaches_nothing() {
    let sandbox = Sandbox::new();
    sandbox.atomfix(&["profile", "./app", "--swap", "--", "true"]).refused("none recorded anything");
    sandbox.atomfix(&["profile", "./app", "--swap", "--", "./no-such-suite"]).refused("./no-such-suite: does not start");
    assert!(!sandbox.has_profile());
    sandbox.check_original();
}

#[test]
fn an_interrupt_puts_the_original_back() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo fifo").good();
    for signal in ["INT", "TERM"] {
        let mut atomfix = sandbox.start(&["profile", "./app", "--swap", "--", "./app", "serve", "fifo"]);
        sandbox.shell("read line < fifo").good();
        sandbox.shell(&format!("kill -{signal} {}", atomfix.id())).good();
        assert_eq!(atomfix.wait().expect("it ended").code(), Some(2), "{signal}");
        assert!(!sandbox.has_profile());
        sandbox.check_original();
    }
}

#[test]
fn the_next_command_undoes_what_a_killed_one_left() {
    let sandbox = Sandbox::new();
    sandbox.shell("mkfifo fifo").good();
    let suite = "./app serve fifo & echo $! > server; wait";
    let mut atomfix = sandbox.start(&["profile", "./app", "--swap", "--", "sh", "-c", suite]);
    sandbox.shell("read line < fifo").good();
    sandbox.atomfix(&["infer", "./app"]).refused("another atomfix has the instrumented program in its place right now");
    atomfix.kill().expect("killed");
    atomfix.wait().expect("it ended");
    sandbox.shell("kill $(cat server)").good();
    let said = sandbox.atomfix(&["infer", "./app"]);
    said.refused("there is no profile of this program");
    assert!(said.err.contains("./app: put back in its place"), "{}", said.err);
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).good();
    sandbox.check_original();
}
