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
fn a_thread_made_past_the_library_is_refused() {
    const CLONE: &str = "#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
static int n;
static int add(void *unused) { return n++; }
static void *work(void *unused) { n++; return unused; }
int main(void) {
  pthread_t t;
  char *stack = malloc(65536);
  clone(add, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
}
";
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", CLONE, &[]);
    for driver in ["auto", "fork", "exec"] {
        refused(&sandbox.atomfix(&["check", "./app", "--driver", driver]), "by the system call `clone`");
    }
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
fn a_schedule_that_another_build_does_not_follow_is_refused_with_the_step() {
    let (sandbox, schedule) = checked();
    sandbox.compile("app.c", &RACE.replace("  n++;\n", "  pthread_testcancel();\n  n += 3;\n"), &[]);
    refused(&sandbox.atomfix(&["replay", &schedule]), "a schedule of another build of ./app, which does not follow it: step ");
}

#[test]
fn a_schedule_outlives_the_recompiling_of_unrelated_code() {
    let (sandbox, schedule) = checked();
    let main = "int main(void) {";
    let moved = RACE.replace(main, &format!("int other(int a) {{\n  return a * 3;\n}}\n\n{main}"));
    assert_ne!(moved, RACE);
    sandbox.compile("app.c", &moved, &[]);
    let said = sandbox.atomfix(&["replay", &schedule]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("note: ./app was built anew since this schedule was found"), "{}", said.out);
    assert!(said.out.contains("at app.c:14") && said.out.ends_with("the same failure as recorded\n"), "{}", said.out);
    // What the assertion asks for is in a function that takes no step.
    let with = |wanted: u32| {
        let wants = format!("__attribute__((noinline)) int wanted(void) {{ return {wanted}; }}\nint main(void) {{");
        RACE.replace("int main(void) {", &wants).replace("n == 2", "n == wanted()")
    };
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", &with(2), &[]);
    assert_eq!(sandbox.atomfix(&["check", "./app"]).code, 1);
    let schedule = sandbox.schedules().remove(0);
    sandbox.compile("app.c", &with(1), &[]);
    let said = sandbox.atomfix(&["replay", &schedule]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.ends_with("no failure any more\n"), "{}", said.out);
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
fn a_forked_child_ends_as_it_would_without_control() {
    let sandbox = Sandbox::new();
    let source = "#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void leave(int signal) { _exit(signal); }
static void *end(void *status) { return status; }
static void *fork_there(void *child) {
  *(pid_t *)child = fork();
  return NULL;
}
int main(int argc, char **argv) {
  pid_t child;
  int status;
  pthread_t t;
  sigset_t set;
  signal(SIGUSR1, leave);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (argc == 2) {
    pthread_create(&t, NULL, fork_there, &child);
    pthread_join(t, NULL);
  } else {
    child = fork();
  }
  if (!child) {
    if (argc == 3) return 5;
    if (argc == 4) pthread_exit(NULL);
    if (argc == 5) abort();
    if (argc == 6) raise(SIGUSR1);
    if (argc == 7) raise(SIGUSR2);
    pthread_create(&t, NULL, end, NULL);
    pthread_join(t, NULL);
    return 7;
  }
  waitpid(child, &status, 0);
  printf(\"%d\", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}
";
    sandbox.compile("app.c", source, &[]);
    for (arguments, printed) in [(1, "0"), (2, "5"), (3, "0"), (4, "-6"), (5, "10"), (6, "7")] {
        let mut command = vec!["check", "./app", "--strategy", "dpor", "--outcomes", "--"];
        command.extend(vec!["x"; arguments]);
        let said = sandbox.atomfix(&command);
        assert_eq!(said.code, 0, "{arguments}: {}{}", said.out, said.err);
        let outcomes: Vec<&str> = said.out.lines().filter(|line| line.contains("outcome: ")).collect();
        assert!(outcomes.len() == 1 && outcomes[0].ends_with(&format!("printed \"{printed}\"")), "{arguments}: {}", said.out);
    }
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
    // What would have come after it, had there been more time, is not known.
    let said = sandbox.atomfix(&["check", "./app", "--step-timeout", "0.2", "--strategy", "dfs"]);
    assert!(said.out.contains("covering unfinished: "), "{}", said.out);
    let said = sandbox.atomfix(&["check", "./app", "--timeout", "1"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("nothing was found out: no schedule came to its end"), "{}", said.out);
    assert!(said.out.contains("stopped after 1 s, in the first schedule: ") && said.out.contains("--step-timeout"), "{}", said.out);
}

#[test]
fn a_thread_that_never_comes_back_is_cut_in_the_middle_of_hooks_too() {
    let sandbox = Sandbox::new();
    let source = "#include <pthread.h>
unsigned memory[1024];
static void *work(void *unused) { return unused; }
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  for (unsigned i = 0;; i++) memory[i % 1024] = memory[i * 7 % 1024] + 1;
}
";
    sandbox.compile("app.c", source, &[]);
    for driver in ["fork", "restore"] {
        let options = ["--strategy", "random", "--step-timeout", "0.2", "--max-schedules", "6", "--driver", driver];
        let said = sandbox.atomfix(&[&["check", "./app"], &options[..]].concat());
        assert_eq!(said.code, 1, "{driver}: {}{}", said.out, said.err);
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
fn a_clock_that_is_read_past_all_symbols_is_virtual_too() {
    let sandbox = Sandbox::new();
    let source = "#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int main(void) {
  int (*read)(clockid_t, struct timespec *) = dlsym(dlopen(\"linux-vdso.so.1\", RTLD_LAZY | RTLD_NOLOAD), \"__vdso_clock_gettime\");
  struct timespec first, then;
  if (!read || clock_gettime(CLOCK_MONOTONIC, &first) || read(CLOCK_MONOTONIC, &then)) return 2;
  return labs(then.tv_sec - first.tv_sec) > 1;
}
";
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--require-complete"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
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
fn a_program_that_replaces_itself_ends_there_and_is_named() {
    let sandbox = Sandbox::new();
    let source = "#include <pthread.h>\n#include <unistd.h>\nstatic void *work(void *p) { return p; }\nint main(void) {\n  pthread_t t;\n  \
                  pthread_create(&t, 0, work, 0);\n  pthread_join(t, 0);\n  execl(\"/bin/false\", \"false\", (char *)0);\n  return 1;\n}\n";
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("the program forks or starts other programs: what they do is not explored"), "{}", said.out);
    assert!(said.out.contains("driver fork: the program starts processes"), "{}", said.out);
}

/// Two threads that each do what the assembly says, and a check at the end.
fn assembly(body: &str, check: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\nstatic int x;\nstatic void *work(void *p) {{ {body} return p; }}\nint main(void) {{\n  \
         pthread_t t;\n  pthread_create(&t, 0, work, 0);\n  work(0);\n  pthread_join(t, 0);\n  assert({check});\n}}\n"
    )
}

#[test]
fn assembly_that_names_its_memory_is_explored() {
    let lost =
        "int v; __asm__ volatile(\"movl %1, %0\" : \"=r\"(v) : \"m\"(x)); v++; __asm__ volatile(\"xchgl %0, %1\" : \"+r\"(v), \"+m\"(x));";
    let whole = "__asm__ volatile(\"lock; incl %0\" : \"+m\"(x));";
    // A thread that tries in vain goes round in a circle, and does not go on before somebody unlocks.
    let spin = "static int locked; int v = 1; do { v = 1; __asm__ volatile(\"lock; xchgl %[v], %[m]\" : [v] \"+r\"(v), [m] \"+m\"(locked) : : \"memory\"); } while (v); \
                x++; __asm__ volatile(\"movl $0, %0\" : \"=m\"(locked) : : \"memory\");";
    for (body, code) in [(lost, 1), (whole, 0), (spin, 0)] {
        let sandbox = Sandbox::new();
        sandbox.compile("app.c", &assembly(body, "x == 2"), &[]);
        let said = sandbox.atomfix(&["check", "./app", "--require-complete"]);
        assert_eq!(said.code, code, "{}{}", said.out, said.err);
        assert!(!said.out.contains("assembly"), "{}", said.out);
    }
}

#[test]
fn assembly_that_cannot_be_controlled_is_named() {
    let through_register = "int *p2 = &x; __asm__ volatile(\"lock; incl (%0)\" : : \"r\"(p2) : \"memory\");";
    let copying = "int one = 1; void *to = &x; const void *from = &one; long n = sizeof x;
        __asm__ volatile(\"rep movsb\" : \"+D\"(to), \"+S\"(from), \"+c\"(n) : : \"memory\");";
    let random = "unsigned v; __asm__ volatile(\"rdrand %0\" : \"=r\"(v));";
    for (body, words) in [
        (through_register, "assembly synchronizes through memory that no operand names, in orders that are not explored: "),
        (copying, "assembly reads or writes memory that no operand names, which is not seen: "),
        (random, "random numbers by instruction differ from execution to execution: "),
    ] {
        for driver in ["restore", "fork"] {
            let sandbox = Sandbox::new();
            sandbox.compile("app.c", &assembly(body, "x >= 0"), &[]);
            let said = sandbox.atomfix(&["check", "./app", "--driver", driver, "--max-schedules", "20"]);
            assert_eq!(said.code, 0, "{}{}", said.out, said.err);
            let notes = said.out.lines().filter(|line| line.contains(words)).collect::<Vec<_>>();
            assert!(matches!(&notes[..], [one] if one.contains("app.c:4") || one.contains("app.c:5")), "{driver}: {}", said.out);
        }
    }
}

#[test]
fn raw_system_calls_are_explored_as_those_of_the_library() {
    // A thread waits for a word to change, and is woken, by calls that the program makes itself.
    let source = "#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
static atomic_int word;
static int data;
static long futex(atomic_int *at, long what, long value) {
  long result;
  register long timeout __asm__(\"r10\") = 0;
  __asm__ volatile(\"syscall\" : \"=a\"(result) : \"a\"((long)SYS_futex), \"D\"(at), \"S\"(what), \"d\"(value), \"r\"(timeout) : \"rcx\", \"r11\", \"memory\");
  return result;
}
static void *work(void *p) {
  data = 1;
  word = 1;
  futex(&word, FUTEX_WAKE, 1);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  while (!word) futex(&word, FUTEX_WAIT, 0);
  assert(data == 1);
  pthread_join(t, 0);
}
";
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--require-complete"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    sandbox.compile("app.c", &source.replace("  futex(&word, FUTEX_WAKE, 1);\n", ""), &[]);
    let said = sandbox.atomfix(&["check", "./app"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("failure: deadlock-condition"), "{}", said.out);
}

#[test]
fn a_swap_on_memory_that_another_thread_takes_away_is_the_programs_failure() {
    let source = "#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
static atomic_int *word;
static void *work(void *p) {
  int expected = 0;
  atomic_compare_exchange_strong(word, &expected, 1);
  return p;
}
int main(void) {
  pthread_t t;
  word = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_create(&t, 0, work, 0);
  munmap(word, 4096);
  pthread_join(t, 0);
}
";
    for driver in ["auto", "fork", "exec"] {
        let sandbox = Sandbox::new();
        sandbox.compile("app.c", source, &[]);
        let said = sandbox.atomfix(&["check", "./app", "--driver", driver]);
        assert_eq!(said.code, 1, "{driver}: {}{}", said.out, said.err);
        assert!(said.out.contains("failure: signal: SIGSEGV"), "{driver}: {}", said.out);
        assert!(said.out.contains("covering all sequentially consistent schedules"), "{driver}: {}", said.out);
    }
}

#[test]
fn threads_that_let_each_other_go_first_for_ever_are_found_soon() {
    let source = "#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
static atomic_int wants[2];
static void enter(int me) {
  wants[me] = 1;
  while (wants[1 - me]) {
    wants[me] = 0;
    sched_yield();
    wants[me] = 1;
  }
  wants[me] = 0;
}
static void *work(void *p) {
  enter(1);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  enter(0);
  pthread_join(t, 0);
}
";
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", source, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--max-schedules", "1000", "--until-failure"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("failure: livelock: threads try for ever: each goes on, and none gets anywhere"), "{}", said.out);
    let [schedule] = &sandbox.schedules()[..] else { panic!("one failure") };
    let text = sandbox.read(schedule);
    let steps: usize = text.lines().find_map(|line| line.strip_prefix("steps ")?.parse().ok()).expect("how many steps");
    assert!(steps < 40, "{text}");
    let again = sandbox.atomfix(&["replay", schedule]);
    assert!(again.out.ends_with("the same failure as recorded\n"), "{}{}", again.out, again.err);
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
    let (sandbox, schedule) = checked();
    for wrong in [
        ["--strategy", "fast"],
        ["--preemptions", "many"],
        ["--driver", "horse"],
        ["--timeout", "soon"],
        ["--timeout", "0"],
        ["--step-timeout", "0"],
        ["--max-steps", "0"],
        ["--max-schedules", "0"],
        ["--checkpoint", "/dev/zero"],
        ["--merge", "/dev/zero"],
        ["--checkpoint", "no such folder/file"],
    ] {
        let said = sandbox.atomfix(&["check", "./app", wrong[0], wrong[1]]);
        assert_eq!(said.code, 2, "{wrong:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(wrong[1]), "{wrong:?}: {}", said.err);
        assert!(said.err.contains("help"), "{wrong:?}: {}", said.err);
    }
    let said = sandbox.atomfix(&["replay", &schedule, "--step-timeout", "0"]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    refused(&sandbox.atomfix(&["replay", "/dev/zero"]), "/dev/zero: it is a device, not a file");
    refused(&sandbox.atomfix(&["replay", "app"]), "app: not a schedule of atomfix: it is no text");
    refused(&sandbox.atomfix(&["check", "/"]), "/: it is no program");
}

/// Most of its time is spent where the engine says what the assembly is, not in the program's own code.
#[test]
fn a_loop_of_assembly_that_nobody_ends_is_cut() {
    let source = "static int locked; int *l = &locked, v; do { v = 1; __asm__ volatile(\"lock; xchgl %0, (%1)\" : \"+r\"(v) : \"r\"(l + v - 1) : \"memory\"); } while (v);";
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", &assembly(source, "1"), &[]);
    let said = sandbox.atomfix(&["check", "./app", "--max-schedules", "2", "--step-timeout", "0.5"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("failure: step-limit: the program neither ended nor reached a scheduling point"), "{}", said.out);
    assert!(!said.out.contains("ended early"), "{}", said.out);
}

#[test]
fn a_schedule_that_cannot_be_stored_costs_nobody_the_result() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", RACE, &[]);
    fs::create_dir_all(sandbox.path("app.atomfix/schedules/original-1-assert.schedule/in the way")).expect("a folder");
    let said = sandbox.atomfix(&["check", "./app", "--json", "out.json"]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("original-1-assert.schedule") && said.err.contains("help: "), "{}", said.err);
    assert!(said.out.contains("failure: assert: "), "{}", said.out);
    assert!(fs::read_to_string(sandbox.path("out.json")).expect("a report").contains("\"assert\""));
}

#[test]
fn a_report_is_written_though_nobody_reads_what_is_printed() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", RACE, &[]);
    let line = format!("{} check ./app --json out.json | :", env!("CARGO_BIN_EXE_atomfix"));
    sandbox.run("sh", &["-c", &line]);
    assert!(fs::read_to_string(sandbox.path("out.json")).expect("a report").contains("\"assert\""));
}

#[test]
fn a_read_only_folder_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", RACE, &[]);
    fs::write(sandbox.path("app.atomfix"), "a file in the place of the folder").expect("a file");
    refused(&sandbox.atomfix(&["check", "./app"]), "app.atomfix");
}
