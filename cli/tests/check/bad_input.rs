//! What cannot be done: one clear error and the right exit code, or a result that says what it does not cover.

use std::fs;

use crate::sandbox::{Said, Sandbox};

const RACE: &str = "#include <assert.h>
#include <pthread.h>
static int n;
static void *work(void *unused) { n++; return unused; }
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  n++;
  pthread_join(t, NULL);
  assert(n == 2);
}
";

/// A program with one stored failing schedule.
fn checked() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", RACE, &[]);
    assert_eq!(sandbox.atomfix(&["check", "./app"]).code, 1);
    let [schedule] = &sandbox.schedules()[..] else { panic!("one failure") };
    let schedule = schedule.clone();
    (sandbox, schedule)
}

fn refused(said: &Said, words: &str) {
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains(words), "{}", said.err);
    assert!(said.err.contains("help: "), "{}", said.err);
    assert_eq!(said.out, "");
}

#[test]
fn a_program_that_is_not_ours_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("script", "#!/bin/sh\n");
    refused(&sandbox.atomfix(&["check", "./script"]), "not a 64-bit ELF program");
    refused(&sandbox.atomfix(&["check", "/bin/true"]), "not linked with atomfix cc");
    refused(&sandbox.atomfix(&["check", "./nothing"]), "there is no such program");
}

#[test]
fn a_damaged_schedule_is_refused_with_its_line() {
    let (sandbox, schedule) = checked();
    let text = sandbox.read(&schedule);
    sandbox.write("cut", &text[..text.len() / 2]);
    refused(&sandbox.atomfix(&["replay", "cut"]), "cut: line ");
    sandbox.write("flipped", text.replace("t1", "t2"));
    refused(&sandbox.atomfix(&["replay", "flipped"]), "the checksum does not match");
    sandbox.write("foreign", "hello\n");
    refused(&sandbox.atomfix(&["replay", "foreign"]), "not a schedule of atomfix");
    refused(&sandbox.atomfix(&["replay", "missing"]), "missing: ");
}

#[test]
fn a_schedule_of_another_build_is_refused() {
    let (sandbox, schedule) = checked();
    sandbox.compile("app.c", &RACE.replace("n++;", "n += 1;"), &["-O0"]);
    refused(&sandbox.atomfix(&["replay", &schedule]), "a schedule of another build");
}

#[test]
fn a_program_that_does_not_start_is_an_error() {
    let sandbox = Sandbox::new();
    let source = "#include <unistd.h>\n__attribute__((constructor)) static void die(void) { _exit(5); }\nint main(void) { }\n";
    sandbox.compile("app.c", source, &[]);
    refused(&sandbox.atomfix(&["check", "./app"]), "it ended before main, with exit status: 5");
}

#[test]
fn a_program_that_forks_is_explored_and_named() {
    let sandbox = Sandbox::new();
    let source = "#include <sys/wait.h>\n#include <unistd.h>\nint main(void) {\n  if (!fork()) _exit(0);\n  wait(NULL);\n}\n";
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("the program forks or starts other programs: what they do is not explored"), "{}", said.out);
    assert!(said.out.contains("driver fork: the program starts processes"), "{}", said.out);
}

#[test]
fn a_program_that_reads_files_is_explored_by_forking() {
    let sandbox = Sandbox::new();
    let source = "#include <stdio.h>\nint main(void) {\n  char line[9];\n  FILE *f = fopen(\"app.c\", \"r\");\n  return !f || !fgets(line, 9, f);\n}\n";
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("driver fork: the program opens files"), "{}", said.out);
}

#[test]
fn a_thread_that_never_comes_back_is_cut_by_either_driver() {
    let sandbox = Sandbox::new();
    let source = "int main(void) {\n  for (;;) __asm__ volatile(\"pause\");\n}\n";
    sandbox.compile("app.c", source, &[]);
    for driver in ["fork", "restore"] {
        let said = sandbox.atomfix(&["check", "./app", "--step-timeout", "0.2", "--max-schedules", "1", "--driver", driver]);
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        assert!(said.out.contains("failure: step-limit: the program neither ended"), "{}", said.out);
    }
}

#[test]
fn a_program_that_waits_for_the_world_outside_is_named() {
    let sandbox = Sandbox::new();
    let source = "#include <netinet/in.h>
#include <sys/socket.h>
int main(void) {
  struct sockaddr_in any = {.sin_family = AF_INET};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0 || bind(s, (struct sockaddr *)&any, sizeof any) || listen(s, 1)) return 1;
  return accept(s, 0, 0) < 0;
}
";
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--step-timeout", "0.2", "--max-schedules", "1"]);
    assert!(said.out.contains("failure: step-limit: the program waits for something outside of it"), "{}{}", said.out, said.err);
    assert!(said.out.contains("note: the program waits for the world outside"), "{}", said.out);
}

#[test]
fn a_budget_that_runs_out_is_told() {
    let (sandbox, _) = checked();
    let said = sandbox.atomfix(&["check", "./app", "--max-schedules", "1", "--require-complete"]);
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
}

#[test]
fn wrong_options_are_refused() {
    let (sandbox, _) = checked();
    for wrong in [["--strategy", "fast"], ["--preemptions", "many"], ["--driver", "horse"], ["--timeout", "soon"]] {
        let said = sandbox.atomfix(&["check", "./app", wrong[0], wrong[1]]);
        assert_eq!(said.code, 2, "{wrong:?}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_read_only_folder_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", RACE, &[]);
    fs::write(sandbox.path("app.atomfix"), "a file in the place of the folder").expect("a file");
    refused(&sandbox.atomfix(&["check", "./app"]), "app.atomfix");
}
