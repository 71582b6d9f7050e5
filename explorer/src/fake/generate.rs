//! Random programs: small enough for brute force, varied enough to hold every kind of operation.

use std::vec;
use std::vec::Vec;

use model::pair::Mode;

use super::program::{Op, Program, Sizes, Value};
use crate::random::Random;

/// Which operations a random program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// Plain and atomic accesses.
    Accesses,
    /// Accesses and mutexes.
    Locks,
    /// Accesses, mutexes and writes to all variables at once.
    Records,
    /// Every operation there is, but those on pipes.
    Everything,
    /// Accesses and semaphores in four threads beside the initial one, each of them short.
    FourThreads,
    /// All that a program without injected locks can do, in two to four threads, the initial one among them. The first mutex is never
    /// locked shared, so that the second alone has to be a reader-writer lock.
    Primitives,
    /// Accesses, barriers, futexes, time limits, `once`, conditions and semaphores, in two or three threads, the initial one among them or not.
    Waits,
    /// Accesses, signals, and what they come in the middle of: locks, conditions, semaphores, futexes and joins, in two or three threads, the initial one
    /// among them. It and the others send each other signals.
    Signals,
    /// Accesses, signals and two pipes, in two or three threads likewise.
    Calls,
    /// Accesses, one mutex, and two pipes, the second with room for two things, in two to four threads beside the initial one; no injected locks either.
    Pipes,
}

/// All flavors.
pub const FLAVORS: [Flavor; 10] = [
    Flavor::Accesses,
    Flavor::Locks,
    Flavor::Records,
    Flavor::Everything,
    Flavor::FourThreads,
    Flavor::Primitives,
    Flavor::Waits,
    Flavor::Signals,
    Flavor::Calls,
    Flavor::Pipes,
];

/// The random program of a seed: an initial thread that creates others, and joins them or not.
#[must_use]
pub fn program(seed: u64, flavor: Flavor) -> Program {
    let mut random = Random::new(seed);
    let threads = match flavor {
        Flavor::Accesses | Flavor::Locks | Flavor::Records | Flavor::Everything => 2 + random.below(2) as usize,
        Flavor::FourThreads => 4,
        Flavor::Pipes => 2 + random.below(3) as usize,
        Flavor::Primitives | Flavor::Waits => 1 + random.below(3) as usize,
        Flavor::Signals | Flavor::Calls => 1 + random.below(2) as usize,
    };
    let length = match threads {
        1 | 2 => 3,
        3 => 2,
        _ => 1 + random.below(2) as usize,
    };
    let has_signals = matches!(flavor, Flavor::Signals | Flavor::Calls);
    let sizes = Sizes { variables: 2, mutexes: 2, conditions: 1, locks: 2, semaphores: 1, onces: 1 };
    let mut bodies = vec![(1..=threads).map(Op::Create).collect::<Vec<_>>()];
    if threads == 1 || has_signals {
        let most = bodies[0].len() + if threads == 1 { length } else { 1 };
        while bodies[0].len() < most && !is_over(flavor, &bodies[0]) {
            let to = if has_signals { 1 + random.below(u32::try_from(threads).unwrap_or(1)) as usize } else { 0 };
            block(&mut random, flavor, to, &mut bodies[0]);
        }
    }
    if random.below(2) == 0 && !is_over(flavor, &bodies[0]) {
        bodies[0].extend((1..=threads).map(Op::Join));
    }
    for _ in 0..threads {
        let mut body = Vec::new();
        while body.len() < length && !is_over(flavor, &body) {
            block(&mut random, flavor, 0, &mut body);
        }
        if random.below(4) == 0 && !is_over(flavor, &body) {
            body.push(Op::Assert { register: 0, value: i64::from(random.below(2)) });
        }
        bodies.push(body);
    }
    let spurious = matches!(flavor, Flavor::Primitives | Flavor::Waits) && random.below(4) == 0;
    let restart = has_signals && random.below(2) == 0;
    Program { bodies, sizes, room: vec![1, 2], meets: vec![2, 3], spurious, restart }
}

/// Whether the body has ended the process, where nothing can follow that.
fn is_over(flavor: Flavor, body: &[Op]) -> bool {
    matches!(flavor, Flavor::Primitives | Flavor::Pipes) && body.last() == Some(&Op::ExitProcess)
}

/// One or a few operations that make sense together. Signals go to the thread of body `to`.
fn block(random: &mut Random, flavor: Flavor, to: usize, body: &mut Vec<Op>) {
    const RECORDS: [u32; 8] = [0, 1, 2, 4, 6, 7, 19, 19];
    const FOUR_THREADS: [u32; 8] = [0, 1, 2, 3, 4, 5, 16, 17];
    const PRIMITIVES: [u32; 25] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 25, 25, 26, 26, 27, 27, 28, 29];
    const WAITS: [u32; 24] = [0, 0, 2, 2, 4, 5, 6, 11, 12, 13, 16, 17, 18, 25, 25, 25, 26, 26, 27, 27, 28, 29, 29, 30];
    const SIGNALS: [u32; 27] = [0, 2, 4, 6, 11, 12, 16, 16, 17, 17, 25, 26, 27, 28, 29, 31, 31, 31, 31, 31, 31, 32, 32, 33, 34, 34, 34];
    const CALLS: [u32; 13] = [0, 2, 4, 20, 20, 21, 21, 22, 23, 31, 31, 31, 32];
    const PIPES: [u32; 16] = [0, 2, 3, 4, 6, 18, 20, 20, 20, 20, 21, 21, 21, 22, 23, 24];
    let pick = |random: &mut Random| random.below(2) as usize;
    let (variable, mutex, lock) = (pick(random), pick(random), pick(random));
    let kind = match flavor {
        Flavor::Accesses => random.below(6),
        Flavor::Locks => random.below(10),
        Flavor::Records => RECORDS[random.below(8) as usize],
        Flavor::Everything => random.below(20),
        Flavor::FourThreads => FOUR_THREADS[random.below(8) as usize],
        Flavor::Primitives => PRIMITIVES[random.below(25) as usize],
        Flavor::Waits => WAITS[random.below(24) as usize],
        Flavor::Signals => SIGNALS[random.below(27) as usize],
        Flavor::Calls => CALLS[random.below(13) as usize],
        Flavor::Pipes => PIPES[random.below(16) as usize],
    };
    match kind {
        0 | 1 => body.push(Op::Read { variable, register: pick(random), atomic: random.below(2) == 0 }),
        2 | 3 => {
            let value = if random.below(2) == 0 { Value::Constant(i64::from(random.below(3))) } else { Value::Register(0, 1) };
            body.push(Op::Write { variable, value, atomic: random.below(2) == 0 });
        }
        4 => body.push(Op::Add { variable, amount: 1 }),
        5 => body.push(Op::CompareAndSwap {
            variable,
            expected: i64::from(random.below(3)),
            value: i64::from(random.below(3)),
            register: pick(random),
        }),
        6 if flavor == Flavor::Pipes => body.extend([Op::Lock(0), call(random), Op::Unlock(0)]),
        6 | 7 => body.extend([Op::Lock(mutex), access(random, variable), Op::Unlock(mutex)]),
        8 => body.extend([Op::Lock(mutex), Op::Lock(1 - mutex), Op::Unlock(mutex), Op::Unlock(1 - mutex)]),
        9 => body.extend([
            Op::TryLock { mutex, register: 1 },
            Op::SkipUnless { count: 2, register: 1, value: 1 },
            access(random, variable),
            Op::Unlock(mutex),
        ]),
        10 => {
            let mutex = if flavor == Flavor::Primitives { 1 } else { mutex };
            body.extend([Op::ReadLock(mutex), access(random, variable), Op::Unlock(mutex)]);
        }
        11 => {
            let timeout = (random.below(2) == 0).then_some(0);
            body.extend([Op::Lock(0), Op::Wait { condition: 0, mutex: 0, timeout }, Op::Unlock(0)]);
        }
        12 => body.push(Op::Signal(0)),
        13 => body.push(Op::Broadcast(0)),
        14 => {
            let release = if random.below(2) == 0 { Op::Release(lock) } else { Op::Drop { lock, left: None } };
            body.extend([Op::Acquire(lock, mode(random)), access(random, variable)]);
            if random.below(3) == 0 {
                body.extend([Op::Drop { lock, left: Some(Mode::R) }, access(random, variable)]);
            }
            body.push(release);
        }
        15 => body.extend([
            Op::Acquire(lock, Mode::U),
            Op::Acquire(lock, Mode::X),
            access(random, variable),
            Op::Degrade(lock),
            Op::Release(lock),
        ]),
        16 => body.push(Op::Post(0)),
        17 => body.push(Op::Take(0)),
        19 => body.push(Op::Fill { value: i64::from(random.below(3)) }),
        20 => body.push(put(random)),
        21 => body.push(get(random)),
        22 => body.push(call(random)),
        23 => body.extend([await_any(random), Op::SkipUnless { count: 1, register: 1, value: 1 }, call(random)]),
        24 => {
            body.extend([Op::TryGet { pipe: pick(random), register: 1 }, Op::SkipUnless { count: 1, register: 1, value: -1 }, call(random)])
        }
        25 => {
            let barrier = if flavor == Flavor::Waits && random.below(4) == 0 { 1 } else { 0 };
            body.push(Op::Meet { barrier, register: pick(random) });
        }
        26 => {
            let timed = random.below(2) == 0;
            body.push(Op::FutexWait { variable, expected: i64::from(random.below(2)), register: pick(random), timed });
        }
        27 => {
            let count = if random.below(2) == 0 { 1 } else { 9 };
            let change = [Op::Write { variable, value: Value::Constant(1), atomic: true }];
            body.extend(change.into_iter().filter(|_| random.below(2) == 0));
            body.push(Op::FutexWake { variable, count, register: pick(random) });
        }
        28 => body.extend([
            Op::TimedLock { mutex, register: 1 },
            Op::SkipUnless { count: 2, register: 1, value: 0 },
            access(random, variable),
            Op::Unlock(mutex),
        ]),
        29 if random.below(2) == 0 => body.push(Op::TimedTake { semaphore: 0, register: pick(random) }),
        29 => body.push(Op::TryTake { semaphore: 0, register: pick(random) }),
        30 => body.extend([
            Op::Enter { once: 0, register: 1 },
            Op::SkipUnless { count: 2, register: 1, value: 1 },
            access(random, variable),
            Op::Leave(0),
        ]),
        31 => body.push(Op::Kill(to)),
        32 => {
            let within = if random.below(2) == 0 { access(random, variable) } else { Op::Take(0) };
            body.extend([Op::Block(true), within]);
            body.extend((random.below(3) > 0).then_some(Op::Block(false)));
        }
        33 => {
            body.extend((random.below(2) == 0).then_some(Op::Block(true)));
            body.push(Op::SigWait { register: pick(random), timed: random.below(2) == 0 });
        }
        // The initial thread is not cancelled: what comes after its end is nobody's.
        34 if to > 0 => body.push(Op::Cancel(to)),
        34 => body.push(Op::Kill(to)),
        _ => body.push(if random.below(4) == 0 { Op::ExitProcess } else { Op::Yield }),
    }
}

/// A call on pipes.
fn call(random: &mut Random) -> Op {
    match random.below(5) {
        0 => put(random),
        1 => get(random),
        2 => Op::TryGet { pipe: random.below(2) as usize, register: random.below(2) as usize },
        3 => {
            let from = random.below(2) as usize;
            Op::Move { from, to: 1 - from, register: 1 }
        }
        _ => await_any(random),
    }
}

fn put(random: &mut Random) -> Op {
    let value = if random.below(2) == 0 { Value::Constant(i64::from(random.below(3))) } else { Value::Register(0, 1) };
    Op::Put { pipe: random.below(2) as usize, value }
}

fn get(random: &mut Random) -> Op {
    Op::Get { pipe: random.below(2) as usize, register: random.below(2) as usize }
}

fn await_any(random: &mut Random) -> Op {
    Op::Await { pipes: [0, 1], register: 1, timed: random.below(3) == 0 }
}

fn access(random: &mut Random, variable: usize) -> Op {
    match random.below(3) {
        0 => Op::Read { variable, register: 0, atomic: false },
        1 => Op::Write { variable, value: Value::Constant(i64::from(random.below(3))), atomic: false },
        _ => Op::Add { variable, amount: 1 },
    }
}

fn mode(random: &mut Random) -> Mode {
    [Mode::R, Mode::U, Mode::X][random.below(3) as usize]
}
