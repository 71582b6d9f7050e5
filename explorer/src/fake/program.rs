//! Programs as data, and their text form: a line a thread, `name: operation, operation, …`; the first is the initial one.
//!
//! | operation | does |
//! |---|---|
//! | `read x r`, `write x 1`, `write x r+1` | plain accesses; registers are `r`, `s` |
//! | `load x r`, `store x 1`, `add x 1` | atomic ones; `add` is one update |
//! | `fill 1` | a plain write to all variables in one step, as of a record |
//! | `cas x 0 1 r` | compare-and-swap, here of 0 by 1; 1 in the register says that it wrote |
//! | `lock m`, `trylock m r`, `rdlock m`, `unlock m` | mutexes and reader-writer locks |
//! | `wait c m`, `timedwait c m r`, `signal c`, `broadcast c` | conditions; a time-out sets the register to 1 |
//! | `meet b2 r` | a barrier for as many threads as the number at its end says (for one, without); 1 in the register says that this was the last |
//! | `futex x 0 r`, `futex x 0 r timed`, `wake x 1 r` | waits at a variable while it has this value: 0 in the register says that it had another, 1 woken, 2 timed out; `wake` says how many |
//! | `timedlock m r`, `timedtake n r`, `trytake n r` | with a time limit, 1 in the register says that it has passed; or not waiting, 1 says that it was there |
//! | `enter o r`, `leave o` | `once`: 1 in the register says that this one runs the routine, which `leave` ends |
//! | `acquire k X`, `degrade k`, `release k` | injected locks, in modes R, U, X |
//! | `post n`, `take n` | semaphores, from 0 |
//! | `put p 1`, `get p r`, `tryget p r` | pipes: `put` waits for room, `get` for something; `tryget` gives -1 where there is nothing |
//! | `move p q r` | takes the first thing out of one and puts it into another, if there is one and room for it; 1 in the register says so |
//! | `await p q r`, `await p q r timed` | waits until there is something in one of two pipes, takes nothing, and says where: 1, 2, or 3 for both; 0 when the time limit has passed |
//! | `kill a` | sends a thread a signal, whose handler adds [`HANDLED`] to the first variable |
//! | `cancel a` | has a thread end where it next waits for a condition, a semaphore, a signal or the end of another, or is about to |
//! | `block`, `unblock` | the thread leaves signals where they are, or takes them again; as those do that it creates |
//! | `sigwait r`, `sigwait r timed` | takes one without its handler when it is there: 1 in the register says so, 0 that the time limit has passed |
//! | `create a`, `join a`, `yield`, `exit` | threads; `exit` ends the process: what comes after it runs alone |
//! | `assert r == 1`, `skip 2 unless r == 1`, `drop k` | part of the step before them; an assertion that fails is one of its own; `drop` is a release, `drop k R` weakens |
//!
//! Names need no declaration. Waits on conditions end without a cause where a program's `spurious` says so, not its text; likewise waits at semaphores and
//! variables, but for those with a time limit, go on after a signal's handler where its `restart` says so. A pipe has room for as much as the number at the end of its name says (`p2`), for one thing without. Texts are ours, so a mistake in one panics.

use std::string::{String, ToString};
use std::vec::Vec;

use model::pair::Mode;

/// A program: threads by index, the first is the initial one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The operations of each thread body.
    pub bodies: Vec<Vec<Op>>,
    /// How many variables it has; mutexes, conditions, injected locks and semaphores likewise.
    pub sizes: Sizes,
    /// For how many things each pipe has room.
    pub room: Vec<usize>,
    /// For how many threads each barrier is.
    pub meets: Vec<usize>,
    /// Whether waits on conditions may end without a cause.
    pub spurious: bool,
    /// Whether waits go on after a signal's handler, as with `SA_RESTART`.
    pub restart: bool,
}

impl Program {
    /// Whether threads interrupt each other, by signals or by cancellation.
    #[must_use]
    pub fn has_interruptions(&self) -> bool {
        self.bodies.iter().flatten().any(|op| matches!(op, Op::Kill(_) | Op::Cancel(_)))
    }
}

/// How many objects of each sort there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Variables.
    pub variables: usize,
    /// Mutexes and reader-writer locks.
    pub mutexes: usize,
    /// Conditions.
    pub conditions: usize,
    /// Injected locks.
    pub locks: usize,
    /// Semaphores.
    pub semaphores: usize,
    /// Routines that run once.
    pub onces: usize,
}

/// Registers of each thread.
pub const REGISTERS: usize = 2;

/// What the handler of a signal adds to the first variable.
pub const HANDLED: i64 = 4;

/// One operation. Objects and thread bodies are indices.
#[expect(missing_docs, reason = "the fields are named for what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads a variable into a register.
    Read { variable: usize, register: usize, atomic: bool },
    /// Writes a variable.
    Write { variable: usize, value: Value, atomic: bool },
    /// Adds to a variable in one step.
    Add { variable: usize, amount: i64 },
    /// Writes all variables.
    Fill { value: i64 },
    /// Writes a variable if it has the expected value.
    CompareAndSwap { variable: usize, expected: i64, value: i64, register: usize },
    /// Takes a mutex.
    Lock(usize),
    /// Takes it if it is free; 1 in the register says so.
    TryLock { mutex: usize, register: usize },
    /// Takes it shared.
    ReadLock(usize),
    /// Releases it.
    Unlock(usize),
    /// Waits on a condition; with a register, also for a time-out.
    Wait { condition: usize, mutex: usize, timeout: Option<usize> },
    /// Wakes one.
    Signal(usize),
    /// Wakes all.
    Broadcast(usize),
    /// Waits at a barrier.
    Meet { barrier: usize, register: usize },
    /// Waits at a variable while it has the expected value, for ever or for a time.
    FutexWait { variable: usize, expected: i64, register: usize, timed: bool },
    /// Wakes the first so many who wait there.
    FutexWake { variable: usize, count: usize, register: usize },
    /// Takes a mutex unless a time passes before; 1 in the register says so.
    TimedLock { mutex: usize, register: usize },
    /// Runs a routine, if it is the first; else waits until it has been run.
    Enter { once: usize, register: usize },
    /// Ends the routine.
    Leave(usize),
    /// Takes an injected lock.
    Acquire(usize, Mode),
    /// Weakens it to R.
    Degrade(usize),
    /// Gives it up.
    Release(usize),
    /// Gives it up, or weakens it, within the step before.
    Drop { lock: usize, left: Option<Mode> },
    /// Adds to a semaphore.
    Post(usize),
    /// Takes from a semaphore.
    Take(usize),
    /// Takes from it unless a time passes before; 1 in the register says so.
    TimedTake { semaphore: usize, register: usize },
    /// Takes from it if it can; 1 in the register says so.
    TryTake { semaphore: usize, register: usize },
    /// Puts something into a pipe when there is room.
    Put { pipe: usize, value: Value },
    /// Takes the first thing out when there is one.
    Get { pipe: usize, register: usize },
    /// Takes it if there is one; -1 in the register says that there was none.
    TryGet { pipe: usize, register: usize },
    /// Takes the first thing out of one pipe and puts it into another, if there is one and room; 1 in the register says so.
    Move { from: usize, to: usize, register: usize },
    /// Waits until there is something in one of them, or for a time; a bit for each in the register says in which.
    Await { pipes: [usize; 2], register: usize, timed: bool },
    /// Sends a thread a signal.
    Kill(usize),
    /// Cancels a thread.
    Cancel(usize),
    /// Takes no signals from here on, or takes them again.
    Block(bool),
    /// Waits for a signal, or for a time, and takes it without its handler; 1 in the register says that it did.
    SigWait { register: usize, timed: bool },
    /// Creates a thread.
    Create(usize),
    /// Waits for its end.
    Join(usize),
    /// Offers the processor.
    Yield,
    /// Ends the process.
    ExitProcess,
    /// Fails unless the register has the value.
    Assert { register: usize, value: i64 },
    /// Skips operations unless the register has the value.
    SkipUnless { count: usize, register: usize, value: i64 },
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Constant(i64),
    /// A register, and a number added to it.
    Register(usize, i64),
}

/// Reads the text form.
///
/// # Panics
///
/// When the text is not a program.
#[must_use]
pub fn parse(text: &str) -> Program {
    let lines: Vec<(&str, &str)> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| line.split_once(':').expect("'name: operations'")).collect();
    let mut names = Names { bodies: lines.iter().map(|(name, _)| (*name).to_string()).collect(), ..Names::default() };
    let bodies = lines
        .iter()
        .map(|(_, operations)| operations.split(',').map(str::trim).filter(|op| !op.is_empty()).map(|op| names.op(op)).collect())
        .collect();
    let sizes = Sizes {
        variables: names.variables.len(),
        mutexes: names.mutexes.len(),
        conditions: names.conditions.len(),
        locks: names.locks.len(),
        semaphores: names.semaphores.len(),
        onces: names.onces.len(),
    };
    let numbers = |names: &[String]| names.iter().map(|name| number_at_end(name)).collect();
    let (room, meets) = (numbers(&names.pipes), numbers(&names.barriers));
    let mut program = Program { bodies, sizes, room, meets, spurious: false, restart: false };
    // The one that handlers change.
    program.sizes.variables = sizes.variables.max(usize::from(program.has_interruptions()));
    program
}

/// The number at the end of a name; 1 without.
fn number_at_end(name: &str) -> usize {
    let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    if digits.is_empty() { 1 } else { digits.parse().expect("a number at the end") }
}

#[derive(Default)]
struct Names {
    bodies: Vec<String>,
    variables: Vec<String>,
    mutexes: Vec<String>,
    conditions: Vec<String>,
    locks: Vec<String>,
    semaphores: Vec<String>,
    pipes: Vec<String>,
    barriers: Vec<String>,
    onces: Vec<String>,
}

impl Names {
    fn op(&mut self, text: &str) -> Op {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["read", x, r] => Op::Read { variable: index(&mut self.variables, x), register: register(r), atomic: false },
            ["load", x, r] => Op::Read { variable: index(&mut self.variables, x), register: register(r), atomic: true },
            ["write", x, v] => Op::Write { variable: index(&mut self.variables, x), value: value(v), atomic: false },
            ["store", x, v] => Op::Write { variable: index(&mut self.variables, x), value: value(v), atomic: true },
            ["add", x, amount] => Op::Add { variable: index(&mut self.variables, x), amount: number(amount) },
            ["fill", v] => Op::Fill { value: number(v) },
            ["cas", x, expected, v, r] => Op::CompareAndSwap {
                variable: index(&mut self.variables, x),
                expected: number(expected),
                value: number(v),
                register: register(r),
            },
            ["lock", m] => Op::Lock(index(&mut self.mutexes, m)),
            ["trylock", m, r] => Op::TryLock { mutex: index(&mut self.mutexes, m), register: register(r) },
            ["rdlock", m] => Op::ReadLock(index(&mut self.mutexes, m)),
            ["unlock", m] => Op::Unlock(index(&mut self.mutexes, m)),
            ["wait", c, m] => Op::Wait { condition: index(&mut self.conditions, c), mutex: index(&mut self.mutexes, m), timeout: None },
            ["timedwait", c, m, r] => {
                Op::Wait { condition: index(&mut self.conditions, c), mutex: index(&mut self.mutexes, m), timeout: Some(register(r)) }
            }
            ["signal", c] => Op::Signal(index(&mut self.conditions, c)),
            ["broadcast", c] => Op::Broadcast(index(&mut self.conditions, c)),
            ["meet", b, r] => Op::Meet { barrier: index(&mut self.barriers, b), register: register(r) },
            ["futex", x, expected, r] => self.futex(x, expected, r, false),
            ["futex", x, expected, r, "timed"] => self.futex(x, expected, r, true),
            ["wake", x, count, r] => {
                Op::FutexWake { variable: index(&mut self.variables, x), count: count.parse().expect("a count"), register: register(r) }
            }
            ["timedlock", m, r] => Op::TimedLock { mutex: index(&mut self.mutexes, m), register: register(r) },
            ["timedtake", n, r] => Op::TimedTake { semaphore: index(&mut self.semaphores, n), register: register(r) },
            ["trytake", n, r] => Op::TryTake { semaphore: index(&mut self.semaphores, n), register: register(r) },
            ["enter", o, r] => Op::Enter { once: index(&mut self.onces, o), register: register(r) },
            ["leave", o] => Op::Leave(index(&mut self.onces, o)),
            ["acquire", k, mode] => Op::Acquire(index(&mut self.locks, k), self::mode(mode)),
            ["degrade", k] => Op::Degrade(index(&mut self.locks, k)),
            ["release", k] => Op::Release(index(&mut self.locks, k)),
            ["drop", k] => Op::Drop { lock: index(&mut self.locks, k), left: None },
            ["drop", k, left] => Op::Drop { lock: index(&mut self.locks, k), left: Some(mode(left)) },
            ["post", n] => Op::Post(index(&mut self.semaphores, n)),
            ["take", n] => Op::Take(index(&mut self.semaphores, n)),
            ["put", p, v] => Op::Put { pipe: index(&mut self.pipes, p), value: value(v) },
            ["get", p, r] => Op::Get { pipe: index(&mut self.pipes, p), register: register(r) },
            ["tryget", p, r] => Op::TryGet { pipe: index(&mut self.pipes, p), register: register(r) },
            ["move", p, q, r] => Op::Move { from: index(&mut self.pipes, p), to: index(&mut self.pipes, q), register: register(r) },
            ["await", p, q, r] => self.r#await([p, q], r, false),
            ["await", p, q, r, "timed"] => self.r#await([p, q], r, true),
            ["kill", a] => Op::Kill(self.body(a)),
            ["cancel", a] => Op::Cancel(self.body(a)),
            ["block"] => Op::Block(true),
            ["unblock"] => Op::Block(false),
            ["sigwait", r] => Op::SigWait { register: register(r), timed: false },
            ["sigwait", r, "timed"] => Op::SigWait { register: register(r), timed: true },
            ["create", a] => Op::Create(self.body(a)),
            ["join", a] => Op::Join(self.body(a)),
            ["yield"] => Op::Yield,
            ["exit"] => Op::ExitProcess,
            ["assert", r, "==", v] => Op::Assert { register: register(r), value: number(v) },
            ["skip", n, "unless", r, "==", v] => {
                Op::SkipUnless { count: n.parse().expect("a count"), register: register(r), value: number(v) }
            }
            _ => panic!("no operation: '{text}'"),
        }
    }

    fn futex(&mut self, variable: &str, expected: &str, register: &str, timed: bool) -> Op {
        let variable = index(&mut self.variables, variable);
        Op::FutexWait { variable, expected: number(expected), register: self::register(register), timed }
    }

    fn r#await(&mut self, pipes: [&str; 2], register: &str, timed: bool) -> Op {
        Op::Await { pipes: pipes.map(|name| index(&mut self.pipes, name)), register: self::register(register), timed }
    }

    fn body(&self, name: &str) -> usize {
        self.bodies.iter().position(|body| body == name).unwrap_or_else(|| panic!("no thread '{name}'"))
    }
}

fn index(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_string());
        names.len() - 1
    })
}

fn register(text: &str) -> usize {
    ["r", "s"].iter().position(|name| *name == text).unwrap_or_else(|| panic!("no register '{text}'"))
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or_else(|_| panic!("no number '{text}'"))
}

fn mode(text: &str) -> Mode {
    match text {
        "R" => Mode::R,
        "U" => Mode::U,
        "X" => Mode::X,
        _ => panic!("no mode '{text}'"),
    }
}

fn value(text: &str) -> Value {
    if !text.starts_with(['r', 's']) {
        return Value::Constant(number(text));
    }
    let (name, rest) = text.split_at(1);
    Value::Register(register(name), if rest.is_empty() { 0 } else { number(rest.trim_start_matches('+')) })
}
