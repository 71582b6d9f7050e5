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
    let said = sandbox.atomfix(&["check", "./app", "--step-timeout", "1", "--max-schedules", "1"]);
    assert!(said.out.contains("failure: step-limit: the program waits for something outside of it"), "{}{}", said.out, said.err);
    assert!(said.out.contains("note: the program waits for the world outside"), "{}", said.out);
}

#[test]
fn what_differs_from_run_to_run_is_the_same_in_all_executions() {
    for (what, source) in [
        ("the clock", "#include <time.h>\nlong read_it(void) { return time(0); }\n"),
        ("random numbers", "#include <sys/random.h>\nlong read_it(void) { long n; getrandom(&n, sizeof n, 0); return n; }\n"),
        (
            "a random device",
            "#include <fcntl.h>\n#include <unistd.h>\nlong read_it(void) {\n  long n = 0;\n  int f = open(\"/dev/urandom\", O_RDONLY);\n  \
             if (read(f, &n, sizeof n) != sizeof n) return 0;\n  close(f);\n  return n;\n}\n",
        ),
        ("its own addresses", "#include <stdlib.h>\nlong read_it(void) { char here; return (long)&here + (long)malloc(9); }\n"),
        (
            "the time that it takes",
            "#include <sys/resource.h>\nlong read_it(void) { struct rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_utime.tv_usec + u.ru_maxrss; }\n",
        ),
        ("the processor's clock", "#include <x86intrin.h>\nlong read_it(void) { return __rdtsc(); }\n"),
    ] {
        let sandbox = Sandbox::new();
        let main = "#include <pthread.h>\n#include <stdio.h>\nstatic void *add(void *n) { ++*(int *)n; return n; }\nint main(void) {\n  int n = 0;\n  pthread_t t;\n  \
                    pthread_create(&t, 0, add, &n);\n  pthread_join(t, 0);\n  printf(\"%ld\", read_it());\n  fflush(stdout);\n}\n";
        sandbox.compile("app.c", &format!("{source}{main}"), &[]);
        let run = || {
            let said = sandbox.atomfix(&["check", "./app", "--outcomes", "--strategy", "random", "--max-schedules", "20"]);
            assert_eq!(said.code, 0, "{what}: {}{}", said.out, said.err);
            said.out.lines().filter(|line| line.contains("outcome:")).map(str::to_owned).collect::<Vec<_>>()
        };
        let first = run();
        assert!(matches!(&first[..], [one] if one.contains("20 of 20 schedules printed")), "{what}: {first:?}");
        assert_eq!(run(), first, "{what}");
    }
}

#[test]
fn a_thread_that_was_created_before_main_gets_a_fresh_process_each_time() {
    let sandbox = Sandbox::new();
    let source = "#include <pthread.h>
static void *work(void *unused) { return unused; }
static pthread_t early;
__attribute__((constructor)) static void begin(void) { pthread_create(&early, NULL, work, NULL); }
int main(void) { return 0; }
";
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--max-schedules", "3"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("driver exec: a thread was created before main"), "{}", said.out);
    assert!(said.out.contains("note: a thread was created before main: it runs outside of control"), "{}", said.out);
}

#[test]
fn gdb_stops_at_the_critical_step_in_the_program_s_own_source() {
    let (sandbox, schedule) = checked();
    let said = sandbox.atomfix(&["replay", &schedule, "--gdb"]);
    if said.code == 3 {
        assert!(said.err.contains("gdb: not found"), "{}", said.err);
        return;
    }
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let text = sandbox.read(&schedule);
    let critical = text.lines().find_map(|line| line.strip_prefix("critical ")).expect("the critical step");
    assert!(said.out.contains(&format!("stopped after step {critical} of the schedule, where t")), "{}", said.out);
    assert!(said.out.contains("app.c:"), "{}", said.out);
    assert!(said.out.contains("n++;"), "{}", said.out);
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
