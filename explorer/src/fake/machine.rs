//! The state of a program as data: which events are pending, which are enabled, and what performing one does.
//!
//! The rules are those that an engine for real programs must follow; `Event`'s docs state them. Not modelled: unlocking
//! what one does not hold (a program's mistake: it frees the mutex).

use std::vec;
use std::vec::Vec;

use model::event::{Comparison, Event, EventKind, Range};
use model::ids::{ObjectId, SiteKey, ThreadId};
use model::pair::{Mode, Rw};

use super::pipes::{End, Pipes};
use super::program::{Op, Program, REGISTERS, Value};
use crate::threads::ThreadSet;

/// A program in the middle of its run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Machine {
    threads: Vec<Thread>,
    variables: Vec<i64>,
    mutexes: Vec<Mutex>,
    /// Waiters of each condition, in order of arrival.
    conditions: Vec<Vec<ThreadId>>,
    /// Holders of each injected lock.
    locks: Vec<Vec<(ThreadId, Mode)>>,
    semaphores: Vec<u32>,
    pipes: Pipes,
    /// The thread of each body, once it was created.
    created: Vec<Option<ThreadId>>,
    /// Who ends the process: it alone goes on, with what its body has after that.
    exiting: Option<ThreadId>,
    /// Injected locks that the last step dropped or weakened, until somebody asks.
    dropped: Vec<(usize, Option<Mode>)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Thread {
    body: usize,
    at: usize,
    phase: Phase,
    registers: [i64; REGISTERS],
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Phase {
    Fresh,
    Running,
    Waiting,
    Woken,
    /// It timed out, which it learns when it has the mutex again.
    Expired,
    Ended,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Mutex {
    owner: Option<ThreadId>,
    readers: Vec<ThreadId>,
}

/// How a run ended. Two runs are the same outcome when these are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// All threads ended: the variables, the registers of each body's thread, and what is left in each pipe.
    Ended(Vec<i64>, Vec<Option<[i64; REGISTERS]>>, Vec<Vec<i64>>),
    /// A thread ended the process: likewise.
    Exited(Vec<i64>, Vec<Option<[i64; REGISTERS]>>, Vec<Vec<i64>>),
    /// An assertion failed: body and operation.
    Failed(usize, usize),
    /// Nobody can go on: where each body's thread stands, if it exists and has not ended.
    Deadlock(Vec<Option<usize>>),
}

impl Machine {
    /// The program before its first step.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let sizes = program.sizes;
        let mut machine = Self {
            threads: Vec::new(),
            variables: vec![0; sizes.variables],
            mutexes: vec![Mutex::default(); sizes.mutexes],
            conditions: vec![Vec::new(); sizes.conditions],
            locks: vec![Vec::new(); sizes.locks],
            semaphores: vec![0; sizes.semaphores],
            pipes: Pipes::new(&program.room),
            created: vec![None; program.bodies.len()],
            exiting: None,
            dropped: Vec::new(),
        };
        machine.spawn(0);
        machine.threads[0].phase = Phase::Running;
        machine
    }

    fn spawn(&mut self, body: usize) -> ThreadId {
        let id = ThreadId::new(self.threads.len());
        self.threads.push(Thread { body, at: 0, phase: Phase::Fresh, registers: [0; REGISTERS] });
        self.created[body] = Some(id);
        id
    }

    /// How many threads have been created.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    fn op(&self, program: &Program, thread: ThreadId) -> Option<Op> {
        let thread = &self.threads[thread.index()];
        program.bodies[thread.body].get(thread.at).copied()
    }

    /// What a thread is about to do.
    #[must_use]
    pub fn pending(&self, program: &Program, thread: ThreadId) -> Option<Event> {
        let state = &self.threads[thread.index()];
        let plain = |kind| Some(Event { kind, range: None, object: None, site: None });
        if state.phase == Phase::Ended {
            return None;
        }
        if state.phase == Phase::Fresh {
            return plain(EventKind::Start);
        }
        let Some(op) = self.op(program, thread) else { return plain(EventKind::Exit) };
        let site = Some(SiteKey((state.body as u64) << 32 | state.at as u64));
        let object =
            |sort: Sort, index: usize, kind| Some(Event { kind, range: Some(sort.range(index)), object: Some(sort.object(index)), site });
        match op {
            Op::Read { variable, atomic, .. } => object(Sort::Variable, variable, EventKind::Access { rw: Rw::Read, atomic }),
            Op::Write { variable, atomic, .. } => object(Sort::Variable, variable, EventKind::Access { rw: Rw::Write, atomic }),
            Op::Add { variable, .. } => object(Sort::Variable, variable, EventKind::Access { rw: Rw::Update, atomic: true }),
            Op::Fill { .. } => {
                let range = Some(Range { length: RECORD, ..Sort::Variable.range(0) });
                Some(Event { kind: EventKind::Access { rw: Rw::Write, atomic: false }, range, object: None, site })
            }
            Op::CompareAndSwap { variable, expected, .. } => {
                let finds = if self.variables[variable] == expected { Comparison::Equal } else { Comparison::Unequal };
                object(Sort::Variable, variable, EventKind::CompareAndSwap { expected: expected.cast_unsigned(), finds })
            }
            Op::Lock(mutex) => object(Sort::Mutex, mutex, EventKind::Lock),
            Op::TryLock { mutex, .. } => object(Sort::Mutex, mutex, EventKind::TryLock),
            Op::ReadLock(mutex) => object(Sort::Mutex, mutex, EventKind::ReadLock),
            Op::Unlock(mutex) => object(Sort::Mutex, mutex, EventKind::Unlock),
            Op::Wait { condition, mutex, timeout } => match (state.phase, timeout) {
                (Phase::Waiting, None) => object(Sort::Condition, condition, EventKind::Waiting),
                (Phase::Waiting, Some(_)) => object(Sort::Condition, condition, EventKind::WaitTimeout),
                (Phase::Woken | Phase::Expired, _) => object(Sort::Mutex, mutex, EventKind::WaitReacquire),
                _ => object(Sort::Condition, condition, EventKind::WaitRelease { mutex: Sort::Mutex.range(mutex) }),
            },
            Op::Signal(condition) => object(Sort::Condition, condition, EventKind::Signal),
            Op::Broadcast(condition) => object(Sort::Condition, condition, EventKind::Broadcast),
            Op::Acquire(lock, mode) => object(Sort::Lock, lock, EventKind::Acquire { mode }),
            Op::Degrade(lock) => object(Sort::Lock, lock, EventKind::Degrade),
            Op::Release(lock) => object(Sort::Lock, lock, EventKind::Release),
            Op::Post(semaphore) => object(Sort::Semaphore, semaphore, EventKind::SemPost),
            Op::Take(semaphore) => object(Sort::Semaphore, semaphore, EventKind::SemWait),
            Op::Put { .. } | Op::Get { .. } | Op::TryGet { .. } | Op::Move { .. } | Op::Await { .. } => {
                Some(Event { kind: EventKind::External, range: None, object: None, site })
            }
            Op::Create(_) => plain(EventKind::Create { child: ThreadId::new(self.threads.len()) }),
            // A thread that was never created is waited for in vain: it waits for itself.
            Op::Join(body) => plain(EventKind::Join { child: self.created[body].unwrap_or(thread) }),
            Op::Yield => plain(EventKind::Yield),
            Op::ExitProcess => plain(EventKind::ExitProcess),
            Op::Assert { .. } => Some(Event { kind: EventKind::Fail, range: None, object: None, site }),
            Op::SkipUnless { .. } | Op::Drop { .. } => {
                unreachable!("local operations are part of the step before them")
            }
        }
    }

    /// Whether a thread can perform its pending event.
    #[must_use]
    pub fn is_enabled(&self, program: &Program, thread: ThreadId) -> bool {
        let state = &self.threads[thread.index()];
        if state.phase == Phase::Ended || self.exiting.is_some_and(|exiting| exiting != thread) {
            return false;
        }
        if state.phase == Phase::Fresh {
            return true;
        }
        match self.op(program, thread) {
            Some(Op::Lock(mutex)) => self.is_free(mutex, None),
            Some(Op::ReadLock(mutex)) => self.mutexes[mutex].owner.is_none(),
            Some(Op::Wait { mutex, timeout, .. }) => match state.phase {
                Phase::Waiting => timeout.is_some(),
                Phase::Woken | Phase::Expired => self.is_free(mutex, None),
                _ => true,
            },
            Some(Op::Acquire(lock, mode)) => self.locks[lock].iter().all(|&(holder, held)| holder == thread || compatible(held, mode)),
            Some(Op::Take(semaphore)) => self.semaphores[semaphore] > 0,
            Some(Op::Join(body)) => self.created[body].is_some_and(|child| self.threads[child.index()].phase == Phase::Ended),
            Some(op @ (Op::Put { .. } | Op::Get { .. } | Op::Await { .. })) => ends(op).iter().any(|&end| self.pipes.is_ready(end)),
            _ => true,
        }
    }

    /// The ends of pipes that are ready.
    #[must_use]
    pub fn ready_ends(&self) -> Vec<End> {
        self.pipes.ready()
    }

    /// The ends of pipes that a thread waits for; none when one of them is ready.
    #[must_use]
    pub fn lacked_ends(&self, program: &Program, thread: ThreadId) -> Vec<End> {
        let state = &self.threads[thread.index()];
        let op = self.op(program, thread).filter(|_| state.phase == Phase::Running);
        op.map(ends).filter(|ends| !ends.iter().any(|&end| self.pipes.is_ready(end))).unwrap_or_default()
    }

    fn is_free(&self, mutex: usize, except: Option<ThreadId>) -> bool {
        let mutex = &self.mutexes[mutex];
        mutex.owner.is_none_or(|owner| Some(owner) == except) && mutex.readers.is_empty()
    }

    /// All enabled threads.
    #[must_use]
    pub fn enabled(&self, program: &Program) -> ThreadSet {
        (0..self.threads.len()).map(ThreadId::new).filter(|&thread| self.is_enabled(program, thread)).collect()
    }

    /// Those whom the thread's pending event may wake, when it is a signal and there are any.
    #[must_use]
    pub fn waiters(&self, program: &Program, thread: ThreadId) -> &[ThreadId] {
        match (self.threads[thread.index()].phase, self.op(program, thread)) {
            (Phase::Running, Some(Op::Signal(condition))) => &self.conditions[condition],
            _ => &[],
        }
    }

    /// Performs a thread's pending event. `woken` is the place of whom a signal wakes. An outcome ends the run.
    pub fn perform(&mut self, program: &Program, thread: ThreadId, woken: usize) -> Option<Outcome> {
        let op = self.op(program, thread);
        let index = thread.index();
        let phase = self.threads[index].phase;
        let (Phase::Running | Phase::Waiting | Phase::Woken | Phase::Expired, Some(op)) = (phase, op) else {
            self.threads[index].phase = if phase == Phase::Fresh { Phase::Running } else { Phase::Ended };
            if phase == Phase::Fresh {
                self.settle(program, thread);
            }
            return None;
        };
        match op {
            Op::Read { variable, register, .. } => self.threads[index].registers[register] = self.variables[variable],
            Op::Write { variable, value, .. } => self.variables[variable] = self.value(thread, value),
            Op::Add { variable, amount } => self.variables[variable] += amount,
            Op::Fill { value } => self.variables.fill(value),
            Op::CompareAndSwap { variable, expected, value, register } => {
                let equal = self.variables[variable] == expected;
                if equal {
                    self.variables[variable] = value;
                }
                self.threads[index].registers[register] = i64::from(equal);
            }
            Op::Lock(mutex) => self.mutexes[mutex].owner = Some(thread),
            Op::TryLock { mutex, register } => {
                let free = self.is_free(mutex, None);
                if free {
                    self.mutexes[mutex].owner = Some(thread);
                }
                self.threads[index].registers[register] = i64::from(free);
            }
            Op::ReadLock(mutex) => {
                self.mutexes[mutex].readers.push(thread);
                self.mutexes[mutex].readers.sort_unstable();
            }
            Op::Unlock(mutex) => {
                let mutex = &mut self.mutexes[mutex];
                match mutex.readers.iter().position(|&reader| reader == thread) {
                    Some(at) => drop(mutex.readers.remove(at)),
                    None => mutex.owner = None,
                }
            }
            Op::Wait { condition, mutex, timeout } => match phase {
                Phase::Waiting => {
                    self.conditions[condition].retain(|&waiter| waiter != thread);
                    self.threads[index].phase = Phase::Expired;
                    return None;
                }
                Phase::Woken | Phase::Expired => {
                    if let (Phase::Expired, Some(register)) = (phase, timeout) {
                        self.threads[index].registers[register] = 1;
                    }
                    self.mutexes[mutex].owner = Some(thread);
                    self.threads[index].phase = Phase::Running;
                }
                _ => {
                    if self.mutexes[mutex].owner == Some(thread) {
                        self.mutexes[mutex].owner = None;
                    }
                    self.conditions[condition].push(thread);
                    self.threads[index].phase = Phase::Waiting;
                    return None;
                }
            },
            Op::Signal(condition) => {
                if !self.conditions[condition].is_empty() {
                    let waiter = self.conditions[condition].remove(woken);
                    self.threads[waiter.index()].phase = Phase::Woken;
                }
            }
            Op::Broadcast(condition) => {
                for waiter in core::mem::take(&mut self.conditions[condition]) {
                    self.threads[waiter.index()].phase = Phase::Woken;
                }
            }
            Op::Acquire(lock, mode) => {
                let held = self.locks[lock].iter().find(|(holder, _)| *holder == thread).map(|&(_, held)| held);
                self.locks[lock].retain(|(holder, _)| *holder != thread);
                self.locks[lock].push((thread, held.map_or(mode, |held| held.max(mode))));
                self.locks[lock].sort_unstable();
            }
            Op::Degrade(lock) => {
                for hold in self.locks[lock].iter_mut().filter(|(holder, _)| *holder == thread) {
                    hold.1 = Mode::R;
                }
            }
            Op::Release(lock) => self.locks[lock].retain(|(holder, _)| *holder != thread),
            Op::Post(semaphore) => self.semaphores[semaphore] += 1,
            Op::Take(semaphore) => self.semaphores[semaphore] -= 1,
            Op::Put { pipe, value } => self.pipes.put(pipe, self.value(thread, value)),
            Op::Get { pipe, register } | Op::TryGet { pipe, register } => {
                self.threads[index].registers[register] = self.pipes.get(pipe).unwrap_or(-1);
            }
            Op::Move { from, to, register } => self.threads[index].registers[register] = i64::from(self.pipes.shift(from, to)),
            Op::Await { pipes: [first, second], register } => {
                let [first, second] = [first, second].map(|pipe| i64::from(self.pipes.is_ready(End::Out(pipe))));
                self.threads[index].registers[register] = first + 2 * second;
            }
            Op::Create(body) => drop(self.spawn(body)),
            Op::Join(_) | Op::Yield => {}
            Op::ExitProcess => self.exiting = Some(thread),
            Op::Assert { .. } => return Some(Outcome::Failed(self.threads[index].body, self.threads[index].at)),
            Op::SkipUnless { .. } | Op::Drop { .. } => {
                unreachable!("local operations are part of the step before them")
            }
        }
        self.threads[index].at += 1;
        self.settle(program, thread);
        None
    }

    fn value(&self, thread: ThreadId, value: Value) -> i64 {
        match value {
            Value::Constant(number) => number,
            Value::Register(register, plus) => self.threads[thread.index()].registers[register] + plus,
        }
    }

    /// What is in the variable that the thread's pending event would write to.
    #[must_use]
    pub fn overwritten(&self, program: &Program, thread: ThreadId) -> Option<u64> {
        match (self.threads[thread.index()].phase, self.op(program, thread)?) {
            (Phase::Running, Op::Write { variable, .. } | Op::Add { variable, .. } | Op::CompareAndSwap { variable, .. }) => {
                Some(self.variables[variable].cast_unsigned())
            }
            _ => None,
        }
    }

    /// The addresses of the injected locks that the last step dropped or weakened, and what is left of the holds.
    pub fn take_dropped(&mut self) -> Vec<(u64, Option<Mode>)> {
        core::mem::take(&mut self.dropped).into_iter().map(|(lock, left)| (Sort::Lock.range(lock).address, left)).collect()
    }

    /// Runs a thread's local operations, up to an assertion that fails.
    fn settle(&mut self, program: &Program, thread: ThreadId) {
        loop {
            let op = self.op(program, thread);
            if let Some(Op::Drop { lock, left }) = op {
                let held = self.locks[lock].iter().position(|(holder, held)| *holder == thread && Some(*held) > left);
                if let Some(at) = held {
                    self.locks[lock].remove(at);
                    self.locks[lock].extend(left.map(|left| (thread, left)));
                    self.locks[lock].sort_unstable();
                    self.dropped.push((lock, left));
                }
            }
            let state = &mut self.threads[thread.index()];
            match op {
                Some(Op::Assert { register, value }) if state.registers[register] != value => return,
                Some(Op::SkipUnless { count, register, value }) if state.registers[register] != value => state.at += count,
                Some(Op::Assert { .. } | Op::SkipUnless { .. } | Op::Drop { .. }) => {}
                _ => return,
            }
            state.at += 1;
        }
    }

    /// The outcome of a run in which nobody is enabled.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let of_body = |body: usize| self.created[body].map(|thread| &self.threads[thread.index()]);
        let bodies = 0..self.created.len();
        let registers = || bodies.clone().map(|body| of_body(body).map(|thread| thread.registers)).collect();
        let is_over = |thread: ThreadId| self.threads[thread.index()].phase == Phase::Ended;
        if self.exiting.is_some_and(is_over) {
            Outcome::Exited(self.variables.clone(), registers(), self.pipes.left())
        } else if self.threads.iter().all(|thread| thread.phase == Phase::Ended) {
            Outcome::Ended(self.variables.clone(), registers(), self.pipes.left())
        } else {
            let stands = |thread: &Thread| (thread.phase != Phase::Ended).then_some(thread.at);
            Outcome::Deadlock(bodies.map(|body| of_body(body).and_then(stands)).collect())
        }
    }
}

/// The ends of pipes of which an operation needs one to be ready.
fn ends(op: Op) -> Vec<End> {
    match op {
        Op::Put { pipe, .. } => vec![End::In(pipe)],
        Op::Get { pipe, .. } => vec![End::Out(pipe)],
        Op::Await { pipes, .. } => pipes.map(End::Out).into(),
        _ => Vec::new(),
    }
}

fn compatible(held: Mode, wanted: Mode) -> bool {
    matches!((held, wanted), (Mode::R, Mode::R | Mode::U) | (Mode::U, Mode::R))
}

/// Bytes of all variables together: sixteen at most.
const RECORD: u32 = 256;

#[derive(Clone, Copy)]
enum Sort {
    Variable,
    Mutex,
    Condition,
    Lock,
    Semaphore,
}

impl Sort {
    fn range(self, index: usize) -> Range {
        Range { address: (self as u64 + 1) << 16 | (index as u64) << 4, length: 8 }
    }

    fn object(self, index: usize) -> ObjectId {
        ObjectId::new((self as usize) << 8 | index)
    }
}
