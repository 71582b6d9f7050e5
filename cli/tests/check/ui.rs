//! Programs sorted by outcome. Each is explored with all drivers, which must agree; what `dfs` prints is compared with a
//! golden file beside the program (`ATOMFIX_BLESS=1` writes it); the default strategy must find the same; and every failure is replayed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

fn programs(outcome: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(outcome)).expect("a folder of programs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// What is printed, without what differs from run to run.
fn stable(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.contains(" schedules a second,"));
    kept.map(|line| format!("{line}\n")).collect()
}

/// What a comment in the program asks for: `// flags: ..` for the compiler, `// options: ..` for `check`.
fn asked<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix("// ")?.strip_prefix(key))
        .map(|words| words.split_whitespace().collect())
        .unwrap_or_default()
}

/// The result in JSON, without what differs from run to run and from driver to driver.
fn result(sandbox: &Sandbox) -> Value {
    let mut report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
    assert_eq!(report["schema"], 1);
    let mut result = report["results"][0].take();
    for key in ["seconds", "schedules_per_second", "notes"] {
        result.as_object_mut().expect("an object").remove(key).expect("every result has it");
    }
    result
}

/// What was found, whichever schedules showed it: failures by kind and place, and whether that is all.
fn what(result: &Value) -> (BTreeSet<String>, Value) {
    let failures = result["failures"].as_array().expect("a list").iter();
    (
        failures.map(|failure| format!("{} {} {}", failure["kind"], failure["location"], failure["message"])).collect(),
        result["complete"].clone(),
    )
}

fn check(outcome: &str, code: i32) {
    for program in programs(outcome) {
        let name = program.file_name().expect("a name").to_string_lossy();
        let sandbox = Sandbox::new();
        let text = fs::read_to_string(&program).expect("a program");
        sandbox.compile(&name, &text, &asked(&text, "flags: "));
        let options = asked(&text, "options: ");
        let explore = |driver| {
            let arguments = [&["check", "./app", "--strategy", "dfs", "--driver", driver, "--json", "result.json"], &options[..]].concat();
            sandbox.atomfix(&arguments)
        };

        let said = sandbox.atomfix(&[&["check", "./app", "--json", "result.json"], &options[..]].concat());
        assert!(said.out.contains("portfolio: "), "{name}: {}{}", said.out, said.err);
        let by_default = what(&result(&sandbox));

        let forked = explore("fork");
        assert_eq!(forked.code, code, "{name}: {}{}", forked.out, forked.err);
        let by_fork = result(&sandbox);
        let restored = explore("restore");
        assert_eq!(restored.code, code, "{name}: {}{}", restored.out, restored.err);
        assert!(restored.out.contains("driver restore"), "{name}: {}", restored.out);
        assert_eq!(result(&sandbox), by_fork, "{name}: both drivers find the same");
        assert_eq!(what(&by_fork), by_default, "{name}: the default strategy finds what depth-first search finds");
        let schedules = sandbox.schedules();

        let golden = program.with_extension("out");
        if std::env::var_os("ATOMFIX_BLESS").is_some() {
            fs::write(&golden, stable(&restored.out)).expect("a golden file");
        }
        assert_eq!(stable(&restored.out), fs::read_to_string(&golden).unwrap_or_default(), "{name}: ATOMFIX_BLESS=1 accepts it");

        assert_eq!(schedules.len(), by_fork["failures"].as_array().expect("a list").len(), "{name}");
        for schedule in schedules {
            let said = sandbox.atomfix(&["replay", &schedule]);
            assert!(said.out.ends_with("the same failure as recorded\n"), "{name}: {}{}", said.out, said.err);
            assert_eq!(said.code, 1, "{name}");
        }
    }
}

/// The same strategy and seed give the same schedules and outcomes, whichever driver starts executions. A fresh process for each takes
/// milliseconds, so these are the first ones only.
#[test]
fn all_drivers_take_the_same_schedules() {
    for program in ["fail", "pass", "deadlock"].into_iter().flat_map(programs) {
        let name = program.file_name().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&program).expect("a program");
        let sandbox = Sandbox::new();
        sandbox.compile(&name, &text, &asked(&text, "flags: "));
        for strategy in ["dfs", "random", "portfolio"] {
            let explore = |driver| {
                let bounds = ["--strategy", strategy, "--seed", "7", "--max-schedules", "12", "--outcomes"];
                let said = sandbox.atomfix(&[&["check", "./app", "--driver", driver, "--json", "result.json"][..], &bounds].concat());
                assert!(matches!(said.code, 0 | 1), "{name} by {driver}: {}{}", said.out, said.err);
                assert!(said.out.contains(&format!("note: driver {driver}: asked for")), "{name}: {}", said.out);
                let texts: Vec<String> = sandbox.schedules().iter().map(|path| sandbox.read(path)).collect();
                (result(&sandbox), texts)
            };
            let restored = explore("restore");
            for driver in ["fork", "exec"] {
                assert_eq!(explore(driver), restored, "{name}, {strategy} by {driver}");
            }
        }
    }
}

#[test]
fn programs_without_a_bug_pass() {
    check("pass", 0);
}

#[test]
fn programs_with_a_bug_fail() {
    check("fail", 1);
}

#[test]
fn programs_that_may_hang_are_found() {
    check("deadlock", 1);
}

#[test]
fn a_failure_replays_a_hundred_times() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", &fs::read_to_string(folder().join("fail/lost_update.c")).expect("a program"), &[]);
    assert_eq!(sandbox.atomfix(&["check", "./app"]).code, 1);
    let [schedule] = &sandbox.schedules()[..] else { panic!("one failure") };
    let first = sandbox.atomfix(&["replay", schedule]);
    assert!(first.out.ends_with("the same failure as recorded\n"), "{}", first.out);
    for _ in 1..100 {
        let said = sandbox.atomfix(&["replay", schedule]);
        assert_eq!((said.code, said.out), (1, first.out.clone()), "{}", said.err);
    }
}

#[test]
fn failures_of_threads_that_interrupt_each_other_replay() {
    let begin = "#include <assert.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdatomic.h>\n#include <unistd.h>\n\
                 static atomic_int n;\nstatic pthread_t initial;\nstatic void handle(int s) { n += s > 0; }\n";
    for (what, work, main) in [
        (
            "a signal to a thread",
            "pthread_kill(initial, SIGUSR1);",
            "signal(SIGUSR1, handle); pthread_create(&t, 0, work, 0); int v = n; pthread_join(t, 0); assert(v == n); assert(0);",
        ),
        (
            "a signal to the process",
            "int s; sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigwait(&set, &s); n = 1;",
            "sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_BLOCK, &set, 0);
             pthread_create(&t, 0, work, 0); kill(getpid(), SIGUSR1); int v = n; pthread_join(t, 0); assert(v);",
        ),
        (
            "cancellation",
            "n = 1; pthread_testcancel(); n = 2;",
            "pthread_create(&t, 0, work, 0); pthread_cancel(t); pthread_join(t, 0); assert(n == 2);",
        ),
        (
            "a look for an end",
            "n = 1;",
            "pthread_create(&t, 0, work, 0); int v = pthread_tryjoin_np(t, 0); if (v) pthread_join(t, 0); assert(v);",
        ),
    ] {
        let sandbox = Sandbox::new();
        let source = format!(
            "#define _GNU_SOURCE\n{begin}static void *work(void *p) {{ {work} return p; }}\nint main(void) {{\n  pthread_t t;\n  initial = pthread_self();\n  {main}\n}}\n"
        );
        sandbox.compile("app.c", &source, &[]);
        for options in [&[][..], &["--strategy", "dpor", "-j", "2"]] {
            let said = sandbox.atomfix(&[&["check", "./app"], options].concat());
            assert_eq!(said.code, 1, "{what}: {}{}", said.out, said.err);
            for schedule in sandbox.schedules() {
                let said = sandbox.atomfix(&["replay", &schedule]);
                assert!(said.out.ends_with("the same failure as recorded\n"), "{what}: {}{}", said.out, said.err);
            }
        }
    }
}

#[test]
fn executions_that_showed_more_memory_to_be_shared_are_told_of() {
    let sandbox = Sandbox::new();
    // The second thread must go before all of the first, which sleep sets try last.
    sandbox.compile(
        "app.c",
        r"#include <pthread.h>
static int x, late;
static void *a(void *p) {
  for (int i = 0; i < 6; i++)
    if (__atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST) == 6 && i == 0) late++;
  return p;
}
static void *b(void *p) {
  for (int i = 0; i < 6; i++) __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);
  late++;
  return p;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, a, 0);
  pthread_create(&t[1], 0, b, 0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
}
",
        &[],
    );
    // Sleep sets know no bound; one that is given keeps away the scouts that find the memory soon.
    for (options, told) in [(&["--preemptions", "1000"][..], true), (&[], false)] {
        let said = sandbox.atomfix(&[&["check", "./app", "--strategy", "sleep"], options].concat());
        assert!(said.out.contains(": 927 schedules (and 4045 abandoned"), "{}", said.out);
        let words = " executions are not counted: they showed that more memory is shared";
        assert_eq!(said.out.contains(words), told, "{}", said.out);
    }
}
