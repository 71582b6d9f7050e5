//! What injected locks cost, beside others: a C program with the archive linked in, and `parking_lot` measured here.
//!
//! The ratios that we promise are checked where a machine can show them: alone, by processor time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::archive;
use crate::table::Table;

/// What was measured: nanoseconds for an acquire and its release, by what and by the number of threads.
#[derive(Clone, Debug, Default)]
pub struct Costs(BTreeMap<(String, u32), f64>);

/// A ratio that is promised.
struct Promise {
    what: &'static str,
    against: &'static str,
    threads: u32,
    most: f64,
}

const PROMISES: [Promise; 3] = [
    Promise { what: "ours X", against: "pthread mutex", threads: 1, most: 0.7 },
    Promise { what: "ours R", against: "pthread rwlock read", threads: 1, most: 0.5 },
    Promise { what: "ours read", against: "pthread rwlock read", threads: 2, most: 0.4 },
];

/// Builds and runs everything.
pub fn measure(work: &Path) -> Result<Costs> {
    let folder = work.join("locks");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let program = build(&folder)?;
    let output = Command::new(&program).output().with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(output.status.success(), "{}: {}", program.display(), output.status);
    let mut costs = parse(&String::from_utf8_lossy(&output.stdout));
    parking_lot(&mut costs);
    parking_lot_among_threads(&mut costs);
    Ok(costs)
}

fn build(folder: &Path) -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let archive = archive::lock(folder)?;
    let program = folder.join("locks");
    let mut clang = Command::new("clang-22");
    clang.args(["-O2", "-pthread", "-o"]).arg(&program).arg(here.join("locks/locks.c")).arg(archive);
    ensure!(clang.status().context("cannot start clang-22")?.success(), "locks.c does not compile");
    Ok(program)
}

fn parse(text: &str) -> Costs {
    let entry = |line: &str| {
        let mut cells = line.split('\t');
        let what = cells.next()?.to_owned();
        let threads = cells.next()?.parse().ok()?;
        Some(((what, threads), cells.next()?.parse().ok()?))
    };
    Costs(text.lines().filter_map(entry).collect())
}

/// The least of many batches, by wall time: without pthread's clocks there is no other in safe code.
fn parking_lot(costs: &mut Costs) {
    let mutex = parking_lot::Mutex::new(());
    let lock = parking_lot::RwLock::new(());
    let mut add = |what: &str, operation: &dyn Fn()| {
        costs.0.insert((what.to_owned(), 1), least(operation));
    };
    add("parking_lot Mutex", &|| drop(mutex.lock()));
    add("parking_lot RwLock read", &|| drop(lock.read()));
    add("parking_lot RwLock write", &|| drop(lock.write()));
    add("parking_lot RwLock upgradable to write", &|| {
        drop(parking_lot::RwLockUpgradableReadGuard::upgrade(lock.upgradable_read()));
    });
}

/// A use of one of `parking_lot`'s locks: by a thread with this number, as a write or a read.
type Use = fn(&[(parking_lot::Mutex<()>, parking_lot::RwLock<()>)], usize, bool);

/// As `locks.c` does it: the median wall time per operation, all threads together.
fn parking_lot_among_threads(costs: &mut Costs) {
    const ROUNDS: usize = 9;
    let uses: [(&str, Use); 2] = [
        ("parking_lot Mutex", |locks, own, _| drop(locks[own].0.lock())),
        ("parking_lot RwLock", |locks, own, is_write| {
            if is_write {
                drop(locks[own].1.write());
            } else {
                drop(locks[own].1.read());
            }
        }),
    ];
    let locks: Vec<_> = (0..8).map(|_| Default::default()).collect();
    for (name, tenths, is_spread) in [("read", 0, false), ("90/10", 1, false), ("write", 10, false), ("write, own locks", 10, true)] {
        for threads in [2, 4, 8] {
            for (what, operation) in uses {
                let round = |_| {
                    let own = |thread| if is_spread { thread } else { 0 };
                    among(threads, &|thread, random| operation(&locks, own(thread), random % 10 < tenths))
                };
                let mut rounds: Vec<f64> = (0..ROUNDS).map(round).collect();
                rounds.sort_by(f64::total_cmp);
                let number = u32::try_from(threads).unwrap_or(u32::MAX);
                costs.0.insert((format!("{what} {name}"), number), rounds[ROUNDS / 2]);
            }
        }
    }
}

/// Nanoseconds per operation: threads that are given their number and a random one, for a tenth of a second.
fn among(threads: usize, operation: &(dyn Fn(usize, u32) + Sync)) -> f64 {
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let work = |thread: usize| {
        let (mut random, mut operations) = (u32::try_from(thread).unwrap_or(0), 0_u32);
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..100 {
                random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                operation(thread, random >> 16);
            }
            operations += 100;
        }
        operations
    };
    let operations: u32 = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn({
                    let work = &work;
                    move || work(thread)
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        stop.store(true, Ordering::Relaxed);
        started.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
    });
    began.elapsed().as_secs_f64() * 1e9 / f64::from(operations)
}

fn least(operation: &dyn Fn()) -> f64 {
    const BATCH: u32 = 2_000;
    let batch = |_| {
        let began = Instant::now();
        (0..BATCH).for_each(|_| operation());
        began.elapsed()
    };
    let least = (0..2_000).map(batch).min().unwrap_or(Duration::MAX);
    least.as_secs_f64() * 1e9 / f64::from(BATCH)
}

impl Costs {
    fn of(&self, what: &str, threads: u32) -> Option<f64> {
        self.0.get(&(what.to_owned(), threads)).copied()
    }

    /// One line each, by threads.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new(["acquire + release", "1 thread", "2", "4", "8"]);
        let names: std::collections::BTreeSet<&str> = self.0.keys().map(|(what, _)| what.as_str()).collect();
        for what in names {
            let cell = |threads| self.of(what, threads).map_or(String::new(), |cost| format!("{cost:.2}"));
            table.row([what.to_owned(), cell(1), cell(2), cell(4), cell(8)]);
        }
        table
    }

    /// Promises that were not kept.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let broken = |promise: &Promise| {
            let ratio = self.of(promise.what, promise.threads)? / self.of(promise.against, promise.threads)?;
            let Promise { what, against, threads, most } = promise;
            (ratio > *most).then(|| format!("{what}, {threads} threads: {ratio:.2} times {against}, promised {most}"))
        };
        PROMISES.iter().filter_map(broken).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_broken_promise_is_a_problem() {
        let kept = parse("ours X\t1\t3.0\npthread mutex\t1\t6.0\nours read\t2\t2\npthread rwlock read\t2\t9\n");
        assert_eq!(kept.problems(), Vec::<String>::new());
        let broken = parse("ours X\t1\t6.0\npthread mutex\t1\t6.0\n");
        assert_eq!(broken.problems(), ["ours X, 1 threads: 1.00 times pthread mutex, promised 0.7"]);
    }
}
