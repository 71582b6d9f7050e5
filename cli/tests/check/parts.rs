//! Explorations in parts: by several processes, interrupted, by several machines. The result is always the same.

use serde_json::Value;

use crate::sandbox::{LOST_UPDATE, Said, Sandbox};

/// Threads that increment under a lock: each order of theirs is another class of schedules.
const INCREMENTS: &str = "#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *add(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return p; }
int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, add, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
  return x != THREADS;
}
";

/// The result of a command as JSON, without what takes time.
fn result(sandbox: &Sandbox, options: &[&str]) -> (Value, Said) {
    let said = sandbox.atomfix(&[&["check", "./app", "--json", "result.json"][..], options].concat());
    let mut report: Value = serde_json::from_str(&sandbox.read("result.json")).unwrap_or_else(|_| panic!("{}{}", said.out, said.err));
    for key in ["seconds", "schedules_per_second"] {
        report["results"][0][key] = Value::Null;
    }
    (report, said)
}

/// What a checkpoint says of each part that is done, but for how long it took.
fn parts(sandbox: &Sandbox, options: &[&str]) -> Vec<String> {
    let checkpoint = sandbox.path("parts");
    let said = sandbox.atomfix(&[&["check", "./app", "--checkpoint", "parts"][..], options].concat());
    let bytes = std::fs::read(&checkpoint).unwrap_or_else(|_| panic!("{}{}", said.out, said.err));
    std::fs::remove_file(&checkpoint).expect("it can be removed");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let numbers = |line: &str| line.rsplit_once(' ').map(|(numbers, _)| numbers.to_owned());
    let said = |line: &str| match line.split_once(' ')?.0 {
        "numbers" => numbers(line),
        "done" | "remark" | "outcome" | "count" | "early" => Some(line.to_owned()),
        _ => None,
    };
    text.lines().filter_map(said).collect()
}

fn increments(threads: u32) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", INCREMENTS, &[&format!("-DTHREADS={threads}")]);
    sandbox
}

#[test]
fn results_do_not_depend_on_the_number_of_processes() {
    for (strategy, threads, orders) in [("dpor", 7, Some(5040)), ("sleep", 5, Some(120)), ("portfolio", 7, None)] {
        let sandbox = increments(threads);
        let (expected, _) = result(&sandbox, &["--strategy", strategy, "-j", "1"]);
        assert_eq!(expected["results"][0]["complete"], true, "{strategy}");
        assert!(orders.is_none_or(|orders| expected["results"][0]["schedules"] == orders), "{strategy}: {expected}");
        for jobs in ["2", "4"] {
            assert_eq!(result(&sandbox, &["--strategy", strategy, "-j", jobs]).0, expected, "{strategy} -j {jobs}");
        }
    }
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", LOST_UPDATE, &[]);
    for options in [&["--strategy", "pos", "--max-schedules", "2500"][..], &["--strategy", "dfs"], &["--strategy", "pairs"], &[]] {
        let (expected, said) = result(&sandbox, &[options, &["-j", "1"]].concat());
        assert_eq!(expected["results"][0]["failures"][0]["kind"], "assert", "{options:?}: {}", said.out);
        for jobs in ["2", "4"] {
            assert_eq!(result(&sandbox, &[options, &["-j", jobs]].concat()).0, expected, "{options:?} -j {jobs}");
        }
        let schedule = expected["results"][0]["failures"][0]["schedule"].as_str().expect("a path").to_owned();
        let again = sandbox.atomfix(&["replay", &schedule]);
        assert!(again.out.contains("the same failure as recorded"), "{options:?}: {}{}", again.out, again.err);
    }
}

/// Threads that meet in many orders. In some, one writes to pages of its own and waits with a time limit; in some one fails.
const UNEVEN: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
static atomic_int order;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static char pages[THREADS][8 * 4096];
__attribute__((constructor)) static void count(void) {
  FILE *starts = fopen(\"starts\", \"a\");
  fputc('.', starts);
  fclose(starts);
}
static void *meet(void *p) {
  int self = (int)(long)p, before = order++;
  if (self == 1 && before == 0) {
    for (int i = 0; i < 8; i++) pages[1][i * 4096] = 1;
    struct timespec until = {1, 0};
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&c, &m, &until);
    pthread_mutex_unlock(&m);
  }
  assert(self != THREADS - 1 || before != 1 || order != 3);
  return 0;
}
int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&t[i], 0, meet, (void *)(long)i);
  for (int i = 0; i < THREADS; i++) pthread_join(t[i], 0);
  puts(pages[1][0] ? \"first\" : \"later\");
}
";

#[test]
fn parts_come_out_the_same_whichever_are_done_by_one_process() {
    for (driver, strategy, threads, least) in
        [("restore", "dpor", 7, 7), ("restore", "portfolio", 3, 9), ("fork", "dfs", 3, 4), ("exec", "dfs", 2, 4)]
    {
        let sandbox = Sandbox::new();
        sandbox.compile("app.c", UNEVEN, &[&format!("-DTHREADS={threads}")]);
        let options = ["--driver", driver, "--strategy", strategy, "--outcomes"];
        let expected = parts(&sandbox, &[&options[..], &["-j", "1"]].concat());
        let number = expected.iter().filter(|line| line.starts_with("done ")).count();
        assert!(number >= least, "{driver}, {strategy}: {expected:?}");
        // One for the parts, and one to make a schedule simple. With `exec`, each execution as well.
        let started = sandbox.read("starts").len();
        assert!(driver == "exec" || started == 2, "{driver}, {strategy}: {number} parts by {started} processes");
        for jobs in ["2", "4"] {
            assert_eq!(parts(&sandbox, &[&options[..], &["-j", jobs]].concat()), expected, "{driver}, {strategy} -j {jobs}");
        }
    }
}

/// In some orders the process of an execution ends the one that explores, as long as there is a file of this name.
const DEADLY: &str = "#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int order;
static void *meet(void *p) {
  int before = order++;
  if ((long)p == 2 && before == 0 && order == 3 && access(\"deadly\", F_OK) == 0) kill(getppid(), SIGKILL);
  return 0;
}
int main(void) {
  pthread_t t[3];
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, meet, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
}
";

#[test]
fn a_process_that_dies_takes_only_its_part_with_it() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", DEADLY, &[]);
    let options = ["--driver", "fork", "--strategy", "dfs"];
    let expected = parts(&sandbox, &options);
    sandbox.write("deadly", "");
    let said = sandbox.atomfix(&[&["check", "./app", "--checkpoint", "parts"][..], &options].concat());
    assert!(said.err.contains("./app: its process was killed"), "{}{}", said.out, said.err);
    let kept = String::from_utf8_lossy(&std::fs::read(sandbox.path("parts")).expect("the checkpoint")).into_owned();
    // The first pass switches only where threads end, so there no second one comes between.
    assert!(kept.contains("\ndone 0 counted\n") && kept.contains("\ntodo 1 ") && kept.contains("\ntodo 3 "), "{kept}");
    std::fs::remove_file(sandbox.path("deadly")).expect("it can be removed");
    assert_eq!(parts(&sandbox, &options), expected);
}

#[test]
fn parts_come_out_the_same_after_interruptions() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", UNEVEN, &["-DTHREADS=5"]);
    let options = ["--strategy", "pos", "--max-schedules", "8000", "--outcomes"];
    let expected = parts(&sandbox, &options);
    for (jobs, timeout) in [("1", "0.05"), ("2", "0.07"), ("4", "0.1")] {
        let said =
            sandbox.atomfix(&[&["check", "./app", "--checkpoint", "parts", "-j", jobs, "--timeout", timeout][..], &options].concat());
        assert!(jobs != "1" || !said.out.contains("8000 schedules"), "it was not interrupted: {}", said.out);
    }
    assert_eq!(parts(&sandbox, &[&options[..], &["-j", "3"]].concat()), expected);
}

#[test]
fn an_interrupted_exploration_goes_on_where_it_was() {
    let sandbox = increments(6);
    let options = ["--strategy", "sleep", "--checkpoint", "kept"];
    let (expected, _) = result(&sandbox, &["--strategy", "sleep", "-j", "1"]);
    let (broken_off, _) = result(&sandbox, &[&options[..], &["--timeout", "0.05"]].concat());
    assert_eq!(broken_off["results"][0]["complete"], false);
    assert_eq!(result(&sandbox, &options).0, expected);
    // What is done is not done again.
    let (again, said) = result(&sandbox, &[&options[..], &["--timeout", "0.000001"]].concat());
    assert_eq!(again, expected);
    assert!(said.out.contains(" 0 schedules a second"), "{}", said.out);

    let other = sandbox.atomfix(&["check", "./app", "--strategy", "dpor", "--checkpoint", "kept"]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("kept: it explores with other options: `strategy sleep`, not `strategy dpor`"), "{}", other.err);
    let other = sandbox.atomfix(&["check", "./app", "--strategy", "sleep", "--races", "--checkpoint", "kept"]);
    assert!(other.err.contains("kept: it explores with other options: not `races yes`"), "{}", other.err);
    let other = sandbox.atomfix(&["check", "./app", "--strategy", "sleep", "--checkpoint", "kept", "--", "x"]);
    assert!(other.err.contains("kept: it explores the program with other arguments: none"), "{}", other.err);
    let bytes = std::fs::read(sandbox.path("kept")).expect("the checkpoint");
    sandbox.write("kept", &bytes[..bytes.len() / 2]);
    let damaged = sandbox.atomfix(&["check", "./app", "--strategy", "sleep", "--checkpoint", "kept"]);
    assert_eq!(damaged.code, 2);
    assert!(damaged.err.contains("kept: it is truncated"), "{}", damaged.err);
    sandbox.write("kept", &bytes);
    sandbox.compile("app.c", &INCREMENTS.replace("x++", "x += 1 + 0 * THREADS, x += 0"), &["-DTHREADS=6"]);
    let rebuilt = sandbox.atomfix(&["check", "./app", "--strategy", "sleep", "--checkpoint", "kept"]);
    assert_eq!(rebuilt.code, 2);
    assert!(rebuilt.err.contains("kept: it explores another build of the program"), "{}", rebuilt.err);
}

#[test]
fn who_interrupts_hears_how_far_it_came_and_how_to_go_on() {
    let sandbox = increments(4);
    let options = ["check", "./app", "--strategy", "random", "--max-schedules", "1000000000"];
    let kept = sandbox.interrupted(&[&options[..], &["--checkpoint", "kept", "-j", "2"]].concat());
    assert_eq!(kept.code, 130, "{}{}", kept.out, kept.err);
    assert!(kept.out.contains("note: interrupted after"), "{}", kept.out);
    assert!(kept.err.contains("schedules, which kept keeps: the same command goes on from there"), "{}", kept.err);
    let first = count(&kept.out);
    let again = sandbox.interrupted(&[&options[..], &["--checkpoint", "kept", "-j", "2"]].concat());
    assert!(count(&again.out) > first && first > 0, "{}{}", kept.out, again.out);
    let lost = sandbox.interrupted(&options);
    assert_eq!(lost.code, 130, "{}{}", lost.out, lost.err);
    assert!(lost.err.contains("which are not kept: `--checkpoint FILE` keeps them"), "{}", lost.err);
}

/// How many schedules a result says there were.
fn count(said: &str) -> u64 {
    said.split(" schedules").next().and_then(|before| before.split_whitespace().next_back()?.parse().ok()).expect("a count")
}

#[test]
fn shards_joined_are_the_whole() {
    let sandbox = increments(5);
    let shard = |index: u32, strategy: &str| {
        let (shard, file) = (format!("{index}/3"), format!("{strategy}-{index}"));
        let said = sandbox.atomfix(&["check", "./app", "--strategy", strategy, "--shard", &shard, "--checkpoint", &file]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains(&format!("shard {index} of 3")) && !said.out.contains("covering all"), "{}", said.out);
        file
    };
    for strategy in ["sleep", "dpor", "random", "portfolio", "coverage"] {
        let (expected, _) = result(&sandbox, &["--strategy", strategy, "-j", "1"]);
        let files: Vec<String> = (1..=3).map(|index| shard(index, strategy)).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        assert_eq!(result(&sandbox, &[&["--merge"], &files[..]].concat()).0, expected, "{strategy}");
    }
    for (files, why) in [
        (&["sleep-1", "sleep-3"][..], "there is no file of shard 2/3"),
        (&["sleep-1", "random-2", "sleep-3"], "random-2: it explores with other options"),
        (&["sleep-1", "sleep-1", "sleep-3"], "sleep-1: it explores shard 1/3, as another file does"),
        (&["app.c"], "app.c: it is not a file of atomfix"),
        (&["sleep-1", "sleep-2", "sleep-3", "--outcomes"], "--outcomes: the shards were explored without it"),
        (&["sleep-1", "sleep-2", "sleep-3", "--spurious"], "'--merge <FILE>...' cannot be used with '--spurious'"),
    ] {
        let said = sandbox.atomfix(&[&["check", "./app", "--merge"], files].concat());
        assert_eq!(said.code, 2, "{files:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(why), "{files:?}: {}", said.err);
    }
    for (options, why) in [
        (&["--shard", "4/3", "--checkpoint", "x"][..], "there are shards 1 to 3"),
        (&["--shard", "0/3", "--checkpoint", "x"], "there are shards 1 to 3"),
        (&["--shard", "1", "--checkpoint", "x"], "not of the form I/N"),
        (&["--shard", "1/3"], "--checkpoint"),
        (&["--shard", "1/3", "--checkpoint", "x", "--strategy", "pairs"], "pairs is not divided"),
        (&["-j", "0"], "0 is not in 1..=1024"),
    ] {
        let said = sandbox.atomfix(&[&["check", "./app"], options].concat());
        assert_eq!(said.code, 2, "{options:?}: {}{}", said.out, said.err);
        assert!(said.err.contains(why), "{options:?}: {}", said.err);
    }
}

/// Both threads write to `late`, which they only do in one schedule in hundreds.
const LATE: &str = "#include <pthread.h>
#include <stdatomic.h>
static atomic_int a, b, k;
static int late;
static void *first(void *p) {
  for (int i = 1; i <= 3; i++) {
    a = i;
    if (b == i && a == i && k == 2 * i) late++;
    k++;
  }
  return p;
}
static void *second(void *p) {
  for (int i = 1; i <= 3; i++) {
    b = i;
    if (a == 3 && i == 2) late++;
    k++;
  }
  return p;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, first, 0);
  pthread_create(&t[1], 0, second, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}
";

#[test]
fn looking_for_shared_memory_beside_a_search_changes_no_count() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", LATE, &[]);
    // Sleep sets know no bound; one that is given keeps scouts away.
    for options in [
        &["--strategy", "sleep", "--preemptions", "1000"][..],
        &["--strategy", "sleep"],
        &["--strategy", "dpor"],
        &["--strategy", "dpor", "--driver", "fork"],
        &["--strategy", "dpor", "-j", "2"],
    ] {
        let (found, said) = result(&sandbox, options);
        assert_eq!((&found["results"][0]["complete"], &found["results"][0]["schedules"]), (&true.into(), &1629.into()), "{}", said.out);
    }
}

#[test]
fn samples_count_although_more_memory_is_found_shared() {
    let sandbox = Sandbox::new();
    sandbox.compile("app.c", LATE, &[]);
    for strategy in ["random", "pos", "portfolio"] {
        let options = ["--strategy", strategy, "--max-schedules", "3000"];
        let (found, said) = result(&sandbox, &options);
        assert_eq!(found["results"][0]["schedules"], 3000, "{}", said.out);
        assert!(!said.out.contains("are not counted"), "{}", said.out);
        assert_eq!(result(&sandbox, &options).0, found, "{strategy}");
    }
}
