//! Orders of atomic blocks: the published path counts, every outcome that the discipline allows, every deadlock, no false alarm.

mod rows;

use std::collections::BTreeSet;

use explorer::fake::explore::explore;
use explorer::fake::machine::Outcome;
use explorer::fake::oracle::{self, Within};
use explorer::fake::program::{Program, parse};
use explorer::random::Random;
use explorer::strategy::Strategy;
use explorer::strategy::exit_block::{ExitBlock, Variant};
use model::report::Coverage;

fn paths(program: &Program, variant: Variant) -> u64 {
    let mut search = ExitBlock::new(variant);
    explore(program, &mut search);
    assert_eq!(search.coverage(), Coverage::Blocks);
    search.paths()
}

#[test]
fn independent_regions_have_the_published_path_counts() {
    // The large rows take minutes here: `cargo run --release --example blocks` runs all.
    for (threads, locks) in rows::ROWS.into_iter().filter(|&(k, n)| k * n <= 30 && rows::published(k, n) < 4000) {
        assert_eq!(
            paths(&parse(&rows::independent(threads, locks)), Variant::ReadWrite),
            rows::published(threads, locks),
            "{threads} {locks}"
        );
    }
}

#[test]
fn without_pruning_paths_are_the_orders_of_blocks() {
    // Each thread has its regions and its end as exits; the initial one, that creates them, has an exit at each creation.
    let factorial = |n: u64| (1..=n).product::<u64>();
    for (threads, locks) in [(1, 3), (2, 1), (2, 2), (2, 3), (3, 1)] {
        let program = parse(&rows::independent(threads, locks));
        let expected = orders(threads, locks as u64 + 1);
        assert_eq!(paths(&program, Variant::Plain), expected, "{threads} {locks}");
    }
    // Once all are there, they are the multinomial.
    assert_eq!(orders_of([2, 2]), factorial(4) / 4);
}

/// Orders of the blocks of K threads with N blocks each that one more thread creates, an exit for each.
fn orders(threads: usize, blocks: u64) -> u64 {
    fn count(created: usize, threads: usize, left: &mut Vec<u64>, blocks: u64) -> u64 {
        let mut total = 0;
        if created < threads {
            left.push(blocks);
            total += count(created + 1, threads, left, blocks);
            left.pop();
        }
        for at in 0..left.len() {
            if left[at] > 0 {
                left[at] -= 1;
                total += count(created, threads, left, blocks);
                left[at] += 1;
            }
        }
        if created == threads && left.iter().all(|&left| left == 0) { 1 } else { total }
    }
    count(0, threads, &mut Vec::new(), blocks)
}

fn orders_of<const N: usize>(blocks: [u64; N]) -> u64 {
    let total: u64 = blocks.iter().sum();
    (1..=total).product::<u64>() / blocks.iter().map(|&n| (1..=n).product::<u64>()).product::<u64>()
}

fn deadlocks(program: &Program, variant: Variant) -> (bool, u64) {
    let mut search = ExitBlock::new(variant);
    let seen = explore(program, &mut search);
    (seen.outcomes.keys().any(|outcome| matches!(outcome, Outcome::Deadlock(_))), search.paths())
}

fn can_deadlock(program: &Program) -> bool {
    oracle::outcomes(program, Within::Everything).0.iter().any(|outcome| matches!(outcome, Outcome::Deadlock(_)))
}

fn check_deadlock(program: &str, expected: bool) {
    let program = parse(program);
    assert_eq!(can_deadlock(&program), expected);
    for variant in [Variant::Deadlocks, Variant::ReadWriteDeadlocks] {
        let (found, paths) = deadlocks(&program, variant);
        assert_eq!(found, expected, "{variant:?}, {paths} paths");
    }
}

#[test]
fn lock_cycles_take_the_published_numbers_of_paths() {
    let check = |program: &str, expected: [u64; 4]| {
        let program = parse(program);
        assert!(can_deadlock(&program));
        let variants = [Variant::Plain, Variant::ReadWrite, Variant::Deadlocks, Variant::ReadWriteDeadlocks];
        assert_eq!(variants.map(|variant| paths(&program, variant)), expected);
    };
    // The thesis has 841 and 10 for the first (with the library's own regions), 2505 and 79 for the second.
    check("main: create x, create y\n x: lock a, lock b, unlock b, unlock a\n y: lock b, lock a, unlock a, unlock b", [19, 7, 19, 7]);
    check(
        "main: create x, create y, create z
         x: lock a, lock b, unlock b, unlock a
         y: lock b, lock c, unlock c, unlock b
         z: lock c, lock a, unlock a, unlock c",
        [2537, 55, 2537, 55],
    );
}

#[test]
fn a_block_that_leaves_a_lock_taken_does_not_commute_with_one_that_wants_it() {
    // As printed, the search with pruning never runs the first thread between the second one's regions.
    let program = parse(
        "main: create x, create y
         x: lock a, lock b, write vb 1, unlock b, read va r, unlock a
         y: lock a, write va 1, unlock a, lock b, read vb r, unlock b",
    );
    let (expected, _) = oracle::outcomes(&program, Within::Everything);
    let seen = explore(&program, &mut ExitBlock::new(Variant::ReadWrite));
    assert!(seen.outcomes.keys().eq(expected.iter()), "{:?} {expected:?}", seen.outcomes);
}

#[test]
fn a_lock_cycle_is_found_and_a_cycle_that_cannot_close_is_not_reported() {
    // The thesis, figure 2.17.
    check_deadlock(
        "main: create x, create y
         x: lock a, lock b, unlock b, unlock a
         y: lock a, unlock a, lock b, lock a, unlock a, unlock b",
        true,
    );
    // A chain closes, but the second thread wants b and a only once the first has done with b.
    check_deadlock(
        "main: create x, create y
         x: lock a, lock b, lock c, write flag 1, unlock c, unlock b, unlock a
         y: lock c, read flag r, unlock c, skip 4 unless r == 1, lock b, lock a, unlock a, unlock b",
        false,
    );
    // The chain closes only after the thread that waits for a has come to do so.
    check_deadlock(
        "main: create x, create y, create z
         x: lock b, lock c, unlock c, lock c, read v r, unlock c, unlock b
         y: lock a, lock b, unlock b, unlock a
         z: lock b, lock c, unlock c, unlock b, lock c, lock a, unlock a, unlock c",
        true,
    );
}

#[test]
fn a_wait_under_a_lock_voids_the_claim() {
    // Each can deadlock, which is missed: a block that does not come to its exit is undone, so that others find the lock free, and all goes on.
    for text in [
        "main: create a, create b\n a: lock m, join b, unlock m\n b: lock m, unlock m",
        "main: create a, create b\n a: lock m, take n, unlock m\n b: lock m, post n, unlock m",
        "main: create a, create b\n a: lock m, get p r, unlock m\n b: lock m, unlock m",
    ] {
        let program = parse(text);
        assert!(can_deadlock(&program));
        for variant in [Variant::Plain, Variant::ReadWrite, Variant::Deadlocks, Variant::ReadWriteDeadlocks] {
            let mut search = ExitBlock::new(variant);
            explore(&program, &mut search);
            assert!(matches!(search.coverage(), Coverage::Partial(_)), "{variant:?}: {text}");
        }
    }
}

#[test]
fn accesses_without_a_common_lock_void_the_claim() {
    let check = |program: &str, disciplined: bool| {
        let mut search = ExitBlock::new(Variant::ReadWrite);
        explore(&parse(program), &mut search);
        assert_eq!(search.coverage() == Coverage::Blocks, disciplined, "{program}");
    };
    check(
        "main: write x 1, create a, create b, join a, join b, read x r\n a: lock m, add x 1, unlock m\n b: lock m, read x r, unlock m",
        false,
    );
    check(
        "main: write x 1, create a, create b, join a, join b, read x r\n a: lock m, write x 1, unlock m\n b: lock m, read x r, unlock m",
        true,
    );
    check("main: create a, create b\n a: lock m, write x 1, unlock m\n b: lock n, read x r, unlock n", false);
    check("main: create a, create b\n a: read x r\n b: lock n, read x r, unlock n", true);
    // The second thread reads without the lock only when it comes last: some execution shows it.
    check(
        "main: create a, create b\n a: lock m, write x 1, unlock m\n b: lock m, read x r, unlock m, skip 1 unless r == 1, write x 2",
        false,
    );
}

/// A random program that follows the discipline: nested regions, and each variable under a lock of its own.
fn disciplined(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let threads = 2 + random.below(2) as usize;
    let mut text = String::new();
    for thread in 0..threads {
        let mut body = Vec::new();
        for _ in 0..1 + random.below(2) {
            region(&mut random, &mut Vec::new(), &mut body);
        }
        if random.below(3) == 0 {
            body.push("assert r == 1".into());
        }
        text.push_str(&format!("t{thread}: {}\n", body.join(", ")));
    }
    let create: Vec<String> = (0..threads).map(|thread| format!("create t{thread}")).collect();
    parse(&format!("main: {}\n{text}", create.join(", ")))
}

fn region(random: &mut Random, held: &mut Vec<&'static str>, body: &mut Vec<String>) {
    let lock = ["a", "b", "c"][random.below(3) as usize];
    if held.contains(&lock) {
        return;
    }
    held.push(lock);
    body.push(format!("lock {lock}"));
    for _ in 0..1 + random.below(2) {
        match random.below(6) {
            0..=2 if held.len() < 3 => region(random, held, body),
            3 => body.push(format!("write v{lock} {}", random.below(2))),
            4 => body.push(format!("read v{lock} r, write v{lock} r+1")),
            _ => body.push(format!("read v{lock} r")),
        }
    }
    body.push(format!("unlock {lock}"));
    held.pop();
}

#[test]
fn orders_of_blocks_show_every_outcome_and_every_deadlock_of_disciplined_programs() {
    let mut deadlocking = 0;
    for seed in 0..400 {
        let program = disciplined(seed);
        let (expected, schedules) = oracle::outcomes(&program, Within::Everything);
        if schedules > 20_000_000 {
            continue;
        }
        let is_deadlock = |outcome: &Outcome| matches!(outcome, Outcome::Deadlock(_));
        let deadlocks = expected.iter().any(is_deadlock);
        deadlocking += u32::from(deadlocks);
        for variant in [Variant::Plain, Variant::ReadWrite, Variant::Deadlocks, Variant::ReadWriteDeadlocks] {
            let mut search = ExitBlock::new(variant);
            let seen: BTreeSet<Outcome> = explore(&program, &mut search).outcomes.into_keys().collect();
            assert!(seen.is_subset(&expected), "{variant:?}, seed {seed}");
            assert_eq!(search.coverage(), Coverage::Blocks, "{variant:?}, seed {seed}");
            if matches!(variant, Variant::Deadlocks | Variant::ReadWriteDeadlocks) {
                assert_eq!(seen.iter().any(is_deadlock), deadlocks, "{variant:?}, seed {seed}: {program:?}");
            }
            let lost: Vec<&Outcome> = expected.difference(&seen).filter(|outcome| !is_deadlock(outcome)).collect();
            assert!(lost.is_empty(), "{variant:?}, seed {seed}: {lost:?}, {program:?}");
        }
    }
    assert!(deadlocking > 20, "only {deadlocking} programs can deadlock");
}
