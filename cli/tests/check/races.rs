//! Data races on request, and atomicity violations by the name of what is violated.

use serde_json::Value;

use crate::sandbox::{LOST_UPDATE, Sandbox};

const RACY: &str = "#include <pthread.h>
#include <stdatomic.h>
static int plain, guarded;
static atomic_int flag;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *p) {
  pthread_mutex_lock(&m);
  guarded++;
  pthread_mutex_unlock(&m);
  flag = 1;
#ifdef RACE
  plain++;
#endif
  return p;
}
int main(void) {
  pthread_t t;
  plain = 1;
  pthread_create(&t, NULL, other, NULL);
  pthread_mutex_lock(&m);
  guarded++;
  pthread_mutex_unlock(&m);
  int seen = flag;
#ifdef RACE
  int read = plain;
#endif
  pthread_join(t, NULL);
  plain = 2;
  return seen > 1;
}
";

#[test]
fn races_are_reported_on_request_with_both_places() {
    for driver in ["restore", "fork"] {
        let sandbox = Sandbox::new();
        sandbox.compile("app.c", RACY, &["-DRACE"]);
        assert_eq!(sandbox.atomfix(&["check", "./app", "--driver", driver]).code, 0);
        let said = sandbox.atomfix(&["check", "./app", "--races", "--driver", driver, "--json", "result.json"]);
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        assert!(said.out.contains("data-race: nothing orders the accesses at app.c:"), "{}", said.out);
        assert!(said.out.contains("t1 writes at app.c:12"), "{}", said.out);
        assert!(said.out.contains("t0 reads at app.c:25"), "{}", said.out);
        let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
        assert_eq!(report["results"][0]["failures"].as_array().map(Vec::len), Some(1), "{report}");
        for schedule in sandbox.schedules() {
            let said = sandbox.atomfix(&["replay", &schedule]);
            assert!(said.out.contains("plain"), "{}{}", said.out, said.err);
            assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        }
    }
}

#[test]
fn synchronized_programs_have_no_races() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", RACY, &[]);
    let said = sandbox.atomfix(&["check", "./app", "--races", "--require-complete"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn a_failure_names_the_pair_that_no_passing_run_interleaved() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", LOST_UPDATE, &[]);
    assert_eq!(sandbox.atomfix(&["profile", "./app", "--runs", "10"]).code, 0);
    let said = sandbox.atomfix(&["check", "./app", "--json", "result.json"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let report: Value = serde_json::from_str(&sandbox.read("result.json")).expect("JSON");
    let violation = report["results"][0]["failures"][0]["violations"][0].as_str().unwrap_or_default();
    assert!(violation.starts_with("fill: t"), "{violation}");
    for place in ["read app.c:7", "write app.c:8", "as in no passing run"] {
        assert!(violation.contains(place), "{violation}");
    }
    let replayed = sandbox.atomfix(&["replay", &sandbox.schedules()[0]]);
    assert!(replayed.out.contains("read fill (app.c:7"), "{}", replayed.out);
}

#[test]
fn behaviors_that_a_build_has_lost_are_named() {
    let source = "#include <pthread.h>
#include <stdio.h>
static int x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *step(void *p) {
  if (LOCK) pthread_mutex_lock(&m);
  int y = x;
  x = y + 1;
  if (LOCK) pthread_mutex_unlock(&m);
  return p;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, step, NULL);
  step(NULL);
  pthread_join(t, NULL);
  printf(\"x is %d\\n\", x);
}
";
    let sandbox = Sandbox::new();
    sandbox.write("app.c", source);
    for (lock, program) in [("-DLOCK=0", "before"), ("-DLOCK=1", "after")] {
        assert_eq!(sandbox.atomfix(&["cc", "-g", lock, "app.c", "-o", program, "-pthread"]).code, 0);
    }
    let said = sandbox.atomfix(&["check", "./after", "--against", "./before"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let line = said.out.lines().find(|line| line.contains("\"x is 1\"")).unwrap_or_default();
    assert!(line.ends_with("lost"), "{}", said.out);
    assert!(!said.out.contains("NEW"), "{}", said.out);
}
