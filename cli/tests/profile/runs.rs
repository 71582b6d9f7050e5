//! Runs of the program itself.

use std::collections::BTreeSet;

use model::pair::Atomicity;
use model::profile::LockName;

use crate::sandbox::Sandbox;

#[test]
fn each_passing_run_is_merged_and_the_seed_is_printed() {
    let sandbox = Sandbox::new();
    let said = sandbox.atomfix(&["profile", "./app", "--runs", "3", "--seed", "7"]).good();
    assert!(said.out.starts_with("seed 7: 3 runs passed, 0 failed\n"), "{}", said.out);
    assert_eq!(said.err, "");
    let seeds: BTreeSet<u64> = sandbox.profile().runs.values().map(|run| run.seed).collect();
    assert_eq!(seeds, BTreeSet::from([7, 8, 9]));
    sandbox.atomfix(&["profile", "./app", "--runs", "2"]).good();
    assert_eq!(sandbox.profile().runs.len(), 5);
    sandbox.check_original();
}

#[test]
fn the_programs_lock_is_known_by_its_name() {
    let sandbox = Sandbox::new();
    sandbox.atomfix(&["profile", "./app", "--runs", "1", "--seed", "1"]).good();
    let evidence = sandbox.profile().evidence();
    let lock = LockName::Global { symbol: "lock".into(), offset: 0 };
    // In `add`, from its read to its write, the lock is held; from one call of `add` to the next it is not.
    let inside = evidence.pairs.iter().filter(|(key, _)| key.head == key.first && key.tail == key.second && key.first != key.second);
    let locks: Vec<_> = inside.filter(|(_, (pair, _))| pair.seen == 6).map(|(_, (pair, _))| pair.locks.clone()).collect();
    assert_eq!(locks, [BTreeSet::from([lock])]);
    let between = evidence.pairs.iter().filter(|(key, _)| key.head == key.tail && key.head != key.first);
    assert!(between.clone().count() > 0 && between.clone().all(|(_, (pair, _))| pair.locks.is_empty()));
}

#[test]
fn the_same_seed_gives_the_same_delays_to_the_same_run() {
    // What a run records depends on the machine too; that its seed is kept shows that it can be run again.
    let sandbox = Sandbox::new();
    for _ in 0..2 {
        sandbox.atomfix(&["profile", "./app", "--runs", "1", "--seed", "5"]).good();
    }
    let profile = sandbox.profile();
    assert_eq!(profile.runs.values().map(|run| run.seed).collect::<Vec<_>>(), [5, 5]);
    assert_eq!(profile.evidence().runs, 2, "two runs, each with an identity of its own");
}

#[test]
fn an_order_too_rare_for_chance_is_brought_about_and_named_where_runs_fail_of_it() {
    const SOURCE: &str = r"
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static int shown, count;
static void *work(void *unused) {
  shown = 1;
  shown = 0;
  int seen = count; /* a lost update */
  count = seen + 1;
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  usleep(8000);
  int value = shown;
  count = value + 10;
  pthread_join(t, 0);
  assert(count != 1);
  return 0;
}
";
    let sandbox = Sandbox::new();
    sandbox.write("rare.c", SOURCE);
    sandbox.atomfix(&["cc", "-g", "rare.c", "-o", "rare", "-pthread"]).good();
    let said = sandbox.atomfix(&["profile", "./rare", "--runs", "20", "--seed", "1", "--directed"]).good();
    let evidence = sandbox.profile_of("rare").evidence();
    let writes = |site| evidence.sites[site].rw.writes();
    let of_stores = evidence.pairs.iter().filter(|(key, _)| writes(&key.first) && writes(&key.second));
    let weakest: Vec<_> = of_stores.map(|(_, (pair, _))| pair.atomicity).collect();
    // It is EXCLUSIVE where runs are not directed: the stores follow each other at once, and the read comes 8 ms later.
    assert_eq!(weakest, [Atomicity::Read], "{}", said.out);
    let line = |text| 1 + SOURCE.lines().position(|line| line.contains(text)).expect("such a line");
    let lost =
        format!("\n  rare.c:{} (main) just before rare.c:{} (work) in another thread\n", line("count = value"), line("count = seen"));
    assert!(said.out.contains("\nnote: threads were held back in ") && said.out.contains(&lost), "{}", said.out);
}

#[test]
fn a_forked_child_is_a_run_of_its_own() {
    let sandbox = Sandbox::new();
    let said = sandbox.atomfix(&["profile", "./app", "--runs", "1", "--", "fork"]).good();
    assert!(said.out.contains("2 processes recorded"), "{}", said.out);
    let profile = sandbox.profile();
    let accesses: Vec<u64> = profile.runs.values().map(|run| run.sites.values().map(|site| site.seen).sum()).collect();
    assert!(accesses.len() == 2 && accesses.iter().all(|&seen| seen >= 12), "{accesses:?}");
}

#[test]
fn what_a_passing_run_must_print_can_be_given() {
    let sandbox = Sandbox::new();
    sandbox.write("right", "6\n");
    sandbox.write("wrong", "7\n");
    sandbox.atomfix(&["profile", "./app", "--runs", "2", "--expect", "right"]).good();
    let said = sandbox.atomfix(&["profile", "./app", "--runs", "2", "--expect", "wrong"]);
    said.refused("0 runs passed, 2 failed (2 unexpected output in line 1)");
    assert_eq!(sandbox.profile().runs.len(), 2);
}

#[test]
fn nothing_is_learnt_from_a_process_that_uses_freed_memory() {
    let sandbox = Sandbox::new();
    let line = 1 + crate::sandbox::SOURCE.lines().position(|line| line.contains("too late")).expect("such a line");
    let place = format!("app.c:{line} (stale)");
    let note =
        |count| format!("note: memory was used that another thread had freed, at {place} in {count}: nothing was learnt from there\n");
    let said = sandbox.atomfix(&["profile", "./app", "--runs", "2", "--seed", "1", "--", "stale"]);
    assert!(said.out.contains(&note("2 processes")), "{}", said.out);
    said.refused("0 runs passed, 2 failed (2 use after free)");
    assert!(!sandbox.path("app.atomfix/profile").exists());
    let said = sandbox.atomfix(&["profile", "./app", "--runs", "1", "--seed", "1", "--", "stale-child"]).good();
    assert!(said.out.starts_with(&format!("seed 1: 1 run passed, 0 failed\n{}1 process recorded", note("1 process"))), "{}", said.out);
    assert_eq!(sandbox.profile().runs.len(), 1);
}

#[test]
fn a_program_is_read_and_instrumented_once() {
    let sandbox = Sandbox::new();
    let made = || -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(sandbox.path("app.atomfix/build")).expect("builds");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        paths
    };
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).good();
    let once = made();
    assert_eq!(once.len(), 2, "an extract and a build: {once:?}");
    sandbox.atomfix(&["profile", "./app", "--runs", "1"]).good();
    assert_eq!(made(), once);
    // The extract is a convenience: a damaged one is made anew, and said to be.
    let extract = &once[0];
    std::fs::write(extract, "no extract").expect("a file");
    let said = sandbox.atomfix(&["profile", "./app", "--runs", "1"]);
    assert!(said.err.contains("damaged, and made anew"), "{}", said.err);
    said.good();
    assert_ne!(std::fs::read(extract).expect("an extract"), b"no extract");
}

#[test]
fn the_status_of_a_main_that_returns_nothing_is_not_looked_at() {
    let sandbox = Sandbox::new();
    sandbox.write("old.c", "int x;\nint seven(void) { return 7; }\nvoid main(void) { x = 1; seven(); }\n");
    sandbox.atomfix(&["cc", "-g", "-w", "old.c", "-o", "old"]).good();
    let said = sandbox.atomfix(&["profile", "./old", "--runs", "2", "--seed", "1"]).good();
    let expected = "seed 1: 2 runs passed, 0 failed\nnote: main returns nothing, so exit statuses say nothing and were not looked at\n";
    assert!(said.out.starts_with(expected), "{}", said.out);
}
