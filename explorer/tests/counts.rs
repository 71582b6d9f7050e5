//! Exact counts: an optimal explorer runs one execution for each class of equivalent schedules, and abandons none.

use explorer::fake::explore::explore;
use explorer::fake::oracle::{self, Within, traces};
use explorer::fake::program::parse;
use explorer::strategy::Strategy;
use explorer::strategy::dpor::Dpor;
use model::report::Coverage;

fn check(program: &str, expected: u64) {
    let mut dpor = Dpor::new();
    explore(&parse(program), &mut dpor);
    assert_eq!((dpor.counts().schedules, dpor.counts().abandoned), (expected, 0), "{program}");
}

/// A program whose initial thread creates threads with these bodies.
fn threads(bodies: &[String]) -> String {
    let main: Vec<String> = (0..bodies.len()).map(|at| format!("create t{at}")).collect();
    let lines = bodies.iter().enumerate().map(|(at, body)| format!("t{at}: {body}\n"));
    format!("main: {}\n{}", main.join(", "), lines.collect::<String>())
}

fn same(count: usize, body: &str) -> String {
    threads(&vec![body.to_string(); count])
}

#[test]
fn locked_increments_have_an_execution_for_each_order_of_threads() {
    for (count, expected) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        check(&same(count, "lock m, read x r, write x r+1, unlock m"), expected);
    }
}

#[test]
fn unlocked_increments_have_the_published_counts() {
    // GenMC, synthetic/inc: N threads that each read and then write one variable.
    for (count, expected) in [(2, 4), (3, 36), (4, 576)] {
        check(&same(count, "load x r, store x r+1"), expected);
    }
}

#[test]
fn readers_of_one_variable_each_have_two_executions_a_reader() {
    // Nidhugg, readers: one writer, N readers: 2^N.
    for readers in 1..=8 {
        let mut bodies = vec!["store x 1".to_string()];
        bodies.extend((0..readers).map(|_| "load x r".to_string()));
        check(&threads(&bodies), 1 << readers);
    }
}

#[test]
fn a_scan_for_the_last_zero_has_the_published_count() {
    // Nidhugg, lastzero: one thread looks for the last zero of an array, N others each set their element from the one before.
    for (count, expected) in [(4, 28), (5, 64), (10, 3328)] {
        let look = |at: usize| format!("load x{at} r, skip 1 unless r == 0, skip 99 unless r == 99, ");
        let mut bodies = vec![(0..=count).rev().map(look).collect()];
        bodies.extend((1..=count).map(|at| format!("load x{} r, store x{at} r+1", at - 1)));
        check(&threads(&bodies), expected);
    }
}

#[test]
fn a_file_system_has_the_published_counts() {
    // Flanagan and Godefroid's file system: each thread takes its own inode and the first free of the 26 blocks from its own
    // on; threads from the fourteenth on compete with an earlier one.
    for (count, expected) in [(13, 1), (14, 2), (16, 8), (18, 32)] {
        let attempt = |thread: usize, block: usize| {
            format!(
                "lock b{block}, read busy{block} r, skip 5 unless r == 0, write busy{block} 1, write inode{thread} 1, \
                 unlock b{block}, unlock i{thread}, skip 99 unless r == 99, unlock b{block}, "
            )
        };
        let body = |thread: usize| {
            let attempts: String = (0..2).map(|turn| attempt(thread, (thread * 2 + turn) % 26)).collect();
            format!("lock i{thread}, read inode{thread} r, {attempts}")
        };
        check(&threads(&(0..count).map(body).collect::<Vec<_>>()), expected);
    }
}

#[test]
fn fibonacci_sums_have_the_published_counts() {
    // Nidhugg, fib_bench: two threads add to each other's sum while the initial one looks at both.
    for (turns, expected) in [(1, 11), (4, 19_605)] {
        let (a, b) = ("load i r, load j r, store i r+1, ".repeat(turns), "load j r, load i r, store j r+1, ".repeat(turns));
        check(&format!("main: create a, create b, load i r, load j r\n a: {a}\n b: {b}"), expected);
    }
}

#[test]
fn a_compare_and_swap_that_fails_is_a_read() {
    // GenMC, MPU2: a value is raised to 1, from 1 to 2, from 2 to 3, and looked at. Where none of the swaps finds its value, all of them read.
    let raise = "store y 1".to_string();
    let bodies = [raise, "cas y 2 3 r".into(), "cas y 1 2 r".into(), "load y r".into()];
    check(&threads(&bodies), 14);
    // GenMC, cas: of N threads that each swap 0 for something else, one succeeds.
    for count in 2..=5 {
        check(&threads(&(1..=count).map(|value| format!("cas x 0 {value} r")).collect::<Vec<_>>()), count);
    }
}

#[test]
fn swaps_behind_other_steps_have_an_execution_for_each_class() {
    for (program, expected) in [
        ("main: create a, create b\n a: load x r, cas x 0 1 s, load x r\n b: cas x 1 2 r, cas x 0 1 s", 5),
        ("main: create a, create b, create c\n a: store y 1, cas x 1 2 r\n b: load y r, cas x 0 1 s\n c: cas x 2 0 r", 10),
        ("main: create a, create b\n a: cas x 0 1 r, skip 1 unless r == 1, store x 0\n b: cas x 0 1 r, cas x 0 1 r", 4),
    ] {
        check(program, expected);
        assert_eq!(traces(&parse(program)), expected, "{program}");
    }
}

#[test]
fn independent_threads_have_one_execution() {
    check("main: create a, create b, create c\n a: write x 1, write x 2\n b: write y 1, read y r\n c: lock m, write z 1, unlock m", 1);
}

#[test]
fn a_lock_cycle_has_two_orders_and_a_deadlock() {
    check("main: create a, create b\n a: lock m, lock n, unlock n, unlock m\n b: lock n, lock m, unlock m, unlock n", 3);
}

#[test]
fn counts_are_those_of_brute_force() {
    for program in [
        "main: create a, create b\n a: write x 1, read y r\n b: write y 1, read x r",
        "main: create a, create b, create c\n a: add x 1\n b: add x 1\n c: read x r",
        "main: create a, create b\n a: lock m, write x 1, unlock m\n b: trylock m r, skip 2 unless r == 1, write x 2, unlock m",
        "main: create a, create b\n a: lock m, wait c m, unlock m\n b: lock m, signal c, unlock m",
        "main: create a, create b\n a: rdlock m, read x r, unlock m\n b: lock m, write x 1, unlock m",
        "main: create a, create b\n a: acquire k X, write x 1, release k\n b: acquire k U, read x r, acquire k X, write x r+1, release k",
        "main: create a, write x 1, join a, read x r\n a: read x r, write x r+1",
        "main: create a, create b, create c\n a: read x r\n b: read x r\n c: write x 1",
    ] {
        check(program, traces(&parse(program)));
    }
}

#[test]
fn calls_that_wait_have_an_execution_for_each_order_in_which_they_can_come() {
    for (program, expected) in [
        ("main: create a, create b\n a: put p 1\n b: put p 2", 2),
        ("main: create a, create b, create c\n a: put p 1\n b: put p 2\n c: get p r, get p s", 2),
        ("main: create a, create b\n a: get p r, put q 1\n b: put p 1, get q r", 1),
        ("main: create a, create b, create c\n a: get p r\n b: put p 1\n c: add x 1", 1),
        ("main: create a, create b, create c\n a: put p2 1\n b: put p2 2\n c: put p2 3", 6),
        ("main: create a, create b\n a: await p q r\n b: put p 1, put q 2", 2),
    ] {
        check(program, expected);
        assert_eq!(traces(&parse(program)), expected, "{program}");
    }
    // Who comes late to a call may turn out to wait for the one that it was to come before: that is known when it is there.
    let mut dpor = Dpor::new();
    explore(&parse("main: create a, create b\n a: put p 1\n b: get p r"), &mut dpor);
    assert_eq!((dpor.counts().schedules, dpor.counts().abandoned), (1, 1));
}

#[test]
fn locks_given_up_within_a_step_order_what_follows() {
    // The second thread can take k between the first one's two writes, though no step of its own says so.
    let program = parse(
        "main: create a, create b
         a: acquire k X, write x 1, drop k, write y 1
         b: acquire k X, read x r, drop k, read y s",
    );
    let mut dpor = Dpor::new();
    let found: Vec<_> = explore(&program, &mut dpor).outcomes.into_keys().collect();
    let (expected, _) = oracle::outcomes(&program, Within::Everything);
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    assert_eq!((dpor.counts().abandoned, dpor.coverage()), (0, Coverage::All));
}

#[test]
fn a_lock_given_up_within_a_step_may_be_shared_before_that_step() {
    // U is compatible with R: the first thread can take k, and write, before the step in which the second reads and gives k up.
    let program = parse(
        "main: create a, create b
         a: take n, acquire k U, write x 3, drop k
         b: post n, acquire k R, write x 2, read x r, drop k",
    );
    let mut dpor = Dpor::new();
    let found: Vec<_> = explore(&program, &mut dpor).outcomes.into_keys().collect();
    let (expected, _) = oracle::outcomes(&program, Within::Everything);
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}
