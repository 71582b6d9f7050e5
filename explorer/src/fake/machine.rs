//! The state of a program as data: which events are pending, which are enabled, and how a run ended.
//!
//! What performing one does: `perform`.
//!
//! The rules are those that an engine for real programs must follow; `Event`'s docs state them. Not modelled: unlocking
//! what one does not hold (a program's mistake: it frees the mutex).

use std::vec;
use std::vec::Vec;

use model::event::{Comparison, Event, EventKind, Range};
use model::ids::{ObjectId, SiteKey, ThreadId};
use model::pair::{Mode, Rw};

use super::pipes::{End, Pipes};
use super::program::{Op, Program, REGISTERS};
use super::thread::{Attention, Phase, Stand, Thread};
use super::waiting::Waiting;
use crate::threads::ThreadSet;

/// A program in the middle of its run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Machine {
    pub(super) threads: Vec<Thread>,
    pub(super) variables: Vec<i64>,
    pub(super) mutexes: Vec<Mutex>,
    pub(super) waiting: Waiting,
    pub(super) onces: Vec<Once>,
    /// Holders of each injected lock.
    pub(super) locks: Vec<Vec<(ThreadId, Mode)>>,
    pub(super) semaphores: Vec<u32>,
    pub(super) pipes: Pipes,
    /// The thread of each body, once it was created.
    pub(super) created: Vec<Option<ThreadId>>,
    /// Who ends the process: it alone goes on, with what its body has after that.
    pub(super) exiting: Option<ThreadId>,
    /// Whether threads interrupt each other: then each looks for that before what it does.
    pub(super) interruptions: bool,
    /// Injected locks that the last step dropped or weakened, until somebody asks.
    pub(super) dropped: Vec<(usize, Option<Mode>)>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Mutex {
    pub(super) owner: Option<ThreadId>,
    pub(super) readers: Vec<ThreadId>,
}

/// How far a routine that runs once has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Once {
    New,
    Running,
    Done,
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
            waiting: Waiting::new(sizes.conditions, sizes.variables, &program.meets),
            onces: vec![Once::New; sizes.onces],
            locks: vec![Vec::new(); sizes.locks],
            semaphores: vec![0; sizes.semaphores],
            pipes: Pipes::new(&program.room),
            created: vec![None; program.bodies.len()],
            exiting: None,
            interruptions: program.has_interruptions(),
            dropped: Vec::new(),
        };
        machine.spawn(0, false);
        machine.threads[0].phase = Phase::Running;
        machine
    }

    /// A thread more, which blocks signals or not.
    pub(super) fn spawn(&mut self, body: usize, blocks: bool) -> ThreadId {
        let id = ThreadId::new(self.threads.len());
        let (attention, registers) = (Attention::Due, [0; REGISTERS]);
        self.threads.push(Thread {
            body,
            at: 0,
            phase: Phase::Fresh,
            registers,
            attention,
            signalled: false,
            blocks,
            cancelled: false,
            leaves: false,
            interrupted: false,
        });
        self.created[body] = Some(id);
        id
    }

    /// How many threads have been created.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn op(&self, program: &Program, thread: ThreadId) -> Option<Op> {
        let thread = &self.threads[thread.index()];
        program.bodies[thread.body].get(thread.at).copied()
    }

    /// The operation that a thread is about to do, unless it is to see to a signal.
    fn body_op(&self, program: &Program, thread: ThreadId) -> Option<Op> {
        self.op(program, thread).filter(|_| self.stand(program, thread) == Stand::Body)
    }

    /// What a living thread is about to do, as far as signals matter.
    pub(super) fn stand(&self, program: &Program, thread: ThreadId) -> Stand {
        let state = &self.threads[thread.index()];
        let op = self.op(program, thread);
        let fails = matches!(op, Some(Op::Assert { .. }));
        if !self.interruptions || matches!(state.phase, Phase::Fresh | Phase::Ended) || fails {
            return Stand::Body;
        }
        match state.attention {
            Attention::Handling => Stand::Handles,
            Attention::Due => Stand::Looks,
            Attention::Paid if op.is_some_and(|op| (state.takes_signal() || state.ends_in(op)) && self.waits(thread, op)) => {
                Stand::Interrupted
            }
            Attention::Paid => Stand::Body,
        }
    }

    /// Whether a thread is in the middle of a wait, or about to wait, as things are now: what it waits for is not there.
    fn waits(&self, thread: ThreadId, op: Op) -> bool {
        let phase = self.threads[thread.index()].phase;
        match op {
            Op::Wait { mutex, .. } => match phase {
                Phase::Waiting => true,
                Phase::Woken | Phase::Expired => !self.is_free(mutex),
                _ => false,
            },
            Op::Meet { .. } | Op::FutexWait { .. } => phase == Phase::Waiting,
            Op::Lock(mutex) | Op::TimedLock { mutex, .. } => !self.is_free(mutex),
            Op::ReadLock(mutex) => self.mutexes[mutex].owner.is_some(),
            Op::Enter { once, .. } => self.onces[once] == Once::Running,
            Op::Take(semaphore) | Op::TimedTake { semaphore, .. } => self.semaphores[semaphore] == 0,
            Op::Join(body) => !self.has_ended(body),
            Op::Put { .. } | Op::Get { .. } | Op::Await { .. } => self.lacks(op),
            Op::SigWait { .. } => !self.threads[thread.index()].signalled,
            _ => false,
        }
    }

    /// Whether none of the ends of pipes is ready of which an operation needs one.
    fn lacks(&self, op: Op) -> bool {
        !ends(op).iter().any(|&end| self.pipes.is_ready(end))
    }

    fn has_ended(&self, body: usize) -> bool {
        self.created[body].is_some_and(|child| self.threads[child.index()].phase == Phase::Ended)
    }

    /// What a wait that a signal ends is about; `None` for what calls bring.
    fn awaited(&self, thread: ThreadId, op: Op) -> Option<(Sort, usize)> {
        Some(match op {
            Op::Wait { condition, .. } if self.threads[thread.index()].phase == Phase::Waiting => (Sort::Condition, condition),
            Op::Lock(mutex) | Op::TimedLock { mutex, .. } | Op::ReadLock(mutex) | Op::Wait { mutex, .. } => (Sort::Mutex, mutex),
            Op::Meet { barrier, .. } => (Sort::Barrier, barrier),
            Op::FutexWait { variable, .. } => (Sort::Variable, variable),
            Op::Enter { once, .. } => (Sort::Once, once),
            Op::Take(semaphore) | Op::TimedTake { semaphore, .. } => (Sort::Semaphore, semaphore),
            Op::Join(body) => (Sort::End, body),
            _ => return None,
        })
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
        let word = Sort::Word.range(thread.index());
        let atomic = |rw, range| Some(Event { kind: EventKind::Access { rw, atomic: true }, range: Some(range), object: None, site: None });
        let stand = self.stand(program, thread);
        match stand {
            Stand::Looks => return atomic(Rw::Read, word),
            Stand::Handles => return atomic(Rw::Update, Sort::Variable.range(0)),
            Stand::Body | Stand::Interrupted => {}
        }
        let Some(op) = self.op(program, thread) else { return plain(EventKind::Exit) };
        let by = self.interruptions.then_some(word);
        let site = Some(SiteKey((state.body as u64) << 32 | state.at as u64));
        let object =
            |sort: Sort, index: usize, kind| Some(Event { kind, range: Some(sort.range(index)), object: Some(sort.object(index)), site });
        if stand == Stand::Interrupted {
            let kind = EventKind::Interrupted { by: word };
            let call = Event { kind, range: None, object: None, site };
            return self.awaited(thread, op).map_or(Some(call), |(sort, index)| object(sort, index, kind));
        }
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
            Op::Meet { barrier, .. } => object(
                Sort::Barrier,
                barrier,
                match state.phase {
                    Phase::Waiting => EventKind::Waiting,
                    Phase::Woken => EventKind::BarrierLeave,
                    _ => EventKind::BarrierArrive,
                },
            ),
            Op::FutexWait { variable, timed, .. } => object(
                Sort::Variable,
                variable,
                match (state.phase, timed) {
                    (Phase::Waiting, false) => EventKind::Waiting,
                    (Phase::Waiting, true) => EventKind::WaitTimeout { by },
                    (Phase::Woken, _) => EventKind::FutexReturn,
                    _ => EventKind::FutexWait,
                },
            ),
            Op::FutexWake { variable, .. } => object(Sort::Variable, variable, EventKind::FutexWake),
            Op::Enter { once, .. } => object(Sort::Once, once, EventKind::OnceEnter),
            Op::Leave(once) => object(Sort::Once, once, EventKind::OnceLeave),
            Op::TimedLock { mutex, .. } => {
                let kind = if self.is_free(mutex) { EventKind::TimedLock } else { EventKind::LockTimeout { by } };
                object(Sort::Mutex, mutex, kind)
            }
            Op::TimedTake { semaphore, .. } => {
                let kind = if self.semaphores[semaphore] > 0 { EventKind::SemTryWait } else { EventKind::LockTimeout { by } };
                object(Sort::Semaphore, semaphore, kind)
            }
            Op::TryTake { semaphore, .. } => object(Sort::Semaphore, semaphore, EventKind::SemTryWait),
            Op::Lock(mutex) => object(Sort::Mutex, mutex, EventKind::Lock),
            Op::TryLock { mutex, .. } => object(Sort::Mutex, mutex, EventKind::TryLock),
            Op::ReadLock(mutex) => object(Sort::Mutex, mutex, EventKind::ReadLock),
            Op::Unlock(mutex) => object(Sort::Mutex, mutex, EventKind::Unlock),
            Op::Wait { condition, mutex, timeout } => match (state.phase, timeout) {
                (Phase::Waiting, _) if state.leaves => object(Sort::Condition, condition, EventKind::WaitTimeout { by }),
                (Phase::Waiting, None) if program.spurious => object(Sort::Condition, condition, EventKind::WaitSpurious { by }),
                (Phase::Waiting, None) => object(Sort::Condition, condition, EventKind::Waiting),
                (Phase::Waiting, Some(_)) => object(Sort::Condition, condition, EventKind::WaitTimeout { by }),
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
            Op::Await { timed: true, .. } if self.lacks(op) => {
                Some(Event { kind: EventKind::WaitTimeout { by }, range: None, object: None, site })
            }
            Op::Put { .. } | Op::Get { .. } | Op::TryGet { .. } | Op::Move { .. } | Op::Await { .. } => {
                Some(Event { kind: EventKind::External, range: None, object: None, site })
            }
            // Whoever sends a signal meanwhile may come before, when it is blocked, or after.
            Op::Block(_) => atomic(Rw::Read, word),
            Op::SigWait { .. } if state.signalled => atomic(Rw::Update, word),
            Op::SigWait { timed: true, .. } => {
                Some(Event { kind: EventKind::WaitTimeout { by: None }, range: Some(word), object: None, site })
            }
            Op::SigWait { .. } => plain(EventKind::Waiting),
            Op::Kill(body) | Op::Cancel(body) => atomic(Rw::Write, Sort::Word.range(self.created[body].unwrap_or(thread).index())),
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
        if self.stand(program, thread) != Stand::Body {
            return true;
        }
        match self.op(program, thread) {
            Some(Op::Acquire(lock, mode)) => self.locks[lock].iter().all(|&(holder, held)| holder == thread || compatible(held, mode)),
            Some(op) => !self.waits(thread, op) || self.may_end(program, thread, op),
            None => true,
        }
    }

    /// Whether a wait may end without what is waited for.
    fn may_end(&self, program: &Program, thread: ThreadId, op: Op) -> bool {
        match op {
            Op::TimedLock { .. } | Op::TimedTake { .. } => true,
            Op::FutexWait { timed, .. } | Op::Await { timed, .. } | Op::SigWait { timed, .. } => timed,
            Op::Wait { timeout, .. } => {
                let state = &self.threads[thread.index()];
                state.phase == Phase::Waiting && (timeout.is_some() || program.spurious || state.leaves)
            }
            _ => false,
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
        let looks_at_body = matches!(self.stand(program, thread), Stand::Body | Stand::Interrupted);
        let op = self.op(program, thread).filter(|_| state.phase == Phase::Running && looks_at_body);
        op.map(ends).filter(|ends| !ends.iter().any(|&end| self.pipes.is_ready(end))).unwrap_or_default()
    }

    pub(super) fn is_free(&self, mutex: usize) -> bool {
        let mutex = &self.mutexes[mutex];
        mutex.owner.is_none() && mutex.readers.is_empty()
    }

    /// All enabled threads.
    #[must_use]
    pub fn enabled(&self, program: &Program) -> ThreadSet {
        (0..self.threads.len()).map(ThreadId::new).filter(|&thread| self.is_enabled(program, thread)).collect()
    }

    /// Those whom the thread's pending event may wake, when it is a signal and there are any.
    #[must_use]
    pub fn waiters(&self, program: &Program, thread: ThreadId) -> &[ThreadId] {
        match (self.threads[thread.index()].phase, self.body_op(program, thread)) {
            (Phase::Running, Some(Op::Signal(condition))) => self.waiting.at_condition(condition),
            _ => &[],
        }
    }

    /// How many ways there are to perform the thread's pending event: whom it wakes, or whether it times out or is woken without a cause.
    #[must_use]
    pub fn options(&self, program: &Program, thread: ThreadId) -> usize {
        match (self.threads[thread.index()].phase, self.body_op(program, thread)) {
            (Phase::Waiting, Some(Op::Wait { timeout: Some(_), .. })) if program.spurious => 2,
            _ => self.waiters(program, thread).len().max(1),
        }
    }

    /// What is in the variable that the thread's pending event would write to.
    #[must_use]
    pub fn overwritten(&self, program: &Program, thread: ThreadId) -> Option<u64> {
        if self.stand(program, thread) == Stand::Handles {
            return Some(self.variables[0].cast_unsigned());
        }
        match (self.threads[thread.index()].phase, self.body_op(program, thread)?) {
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
    Barrier,
    Once,
    /// Of a thread: where others write who send it a signal.
    Word,
    /// Of a thread: its end.
    End,
}

impl Sort {
    fn range(self, index: usize) -> Range {
        Range { address: (self as u64 + 1) << 16 | (index as u64) << 4, length: 8 }
    }

    fn object(self, index: usize) -> ObjectId {
        ObjectId::new((self as usize) << 8 | index)
    }
}
