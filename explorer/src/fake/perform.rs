//! What performing a thread's pending event does to the state of a program.

use model::ids::ThreadId;
use model::pair::Mode;

use super::machine::{Machine, Once, Outcome};
use super::pipes::End;
use super::program::{HANDLED, Op, Program, Value};
use super::thread::{Attention, Phase, Stand};
use super::waiting::Place;

/// What a wait at a variable ends with: it had another value, it was woken, or its time has passed.
const OTHERWISE: i64 = 0;
const WOKEN: i64 = 1;
const TIMED_OUT: i64 = 2;

impl Machine {
    /// Performs a thread's pending event. `option` is which of its options: the place of whom a signal wakes; of a wait that may time out as well as end without
    /// a cause, 0 for the first. An outcome ends the run.
    pub fn perform(&mut self, program: &Program, thread: ThreadId, option: usize) -> Option<Outcome> {
        if self.see_to_signals(program, thread) {
            return None;
        }
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
            Op::Meet { barrier, register } => {
                if phase == Phase::Woken {
                    self.threads[index].phase = Phase::Running;
                } else {
                    self.threads[index].phase = Phase::Waiting;
                    let leaving = self.waiting.arrive(barrier, thread);
                    self.threads[index].registers[register] = i64::from(!leaving.is_empty());
                    self.wake(leaving);
                    return None;
                }
            }
            Op::FutexWait { variable, expected, register, .. } => {
                let result = match phase {
                    Phase::Woken => WOKEN,
                    Phase::Waiting => {
                        self.waiting.leave(Place::Variable(variable), thread);
                        TIMED_OUT
                    }
                    _ if self.variables[variable] != expected => OTHERWISE,
                    _ => {
                        self.waiting.join(Place::Variable(variable), thread);
                        self.threads[index].phase = Phase::Waiting;
                        return None;
                    }
                };
                self.threads[index].phase = Phase::Running;
                self.threads[index].registers[register] = result;
            }
            Op::FutexWake { variable, count, register } => {
                let woken = self.waiting.wake_first(Place::Variable(variable), count);
                self.threads[index].registers[register] = i64::try_from(woken.len()).expect("few threads");
                self.wake(woken);
            }
            Op::TimedLock { mutex, register } => self.threads[index].registers[register] = i64::from(!self.lock(mutex, thread)),
            Op::TimedTake { semaphore, register } => self.threads[index].registers[register] = i64::from(!self.take(semaphore)),
            Op::TryTake { semaphore, register } => self.threads[index].registers[register] = i64::from(self.take(semaphore)),
            Op::Enter { once, register } => {
                let first = self.onces[once] == Once::New;
                if first {
                    self.onces[once] = Once::Running;
                }
                self.threads[index].registers[register] = i64::from(first);
            }
            Op::Leave(once) => self.onces[once] = Once::Done,
            Op::Lock(mutex) => self.mutexes[mutex].owner = Some(thread),
            Op::TryLock { mutex, register } => self.threads[index].registers[register] = i64::from(self.lock(mutex, thread)),
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
                    self.waiting.leave(Place::Condition(condition), thread);
                    let times_out = self.threads[index].leaves || (timeout.is_some() && option == 0);
                    self.threads[index].phase = if times_out { Phase::Expired } else { Phase::Woken };
                    return None;
                }
                Phase::Woken | Phase::Expired => {
                    if let (Phase::Expired, Some(register), false) = (phase, timeout, self.threads[index].leaves) {
                        self.threads[index].registers[register] = 1;
                    }
                    self.mutexes[mutex].owner = Some(thread);
                    self.threads[index].phase = Phase::Running;
                    if core::mem::take(&mut self.threads[index].leaves) && phase == Phase::Expired {
                        self.end_cancelled(program, thread);
                        return None;
                    }
                }
                _ => {
                    if self.mutexes[mutex].owner == Some(thread) {
                        self.mutexes[mutex].owner = None;
                    }
                    self.waiting.join(Place::Condition(condition), thread);
                    self.threads[index].phase = Phase::Waiting;
                    return None;
                }
            },
            Op::Signal(condition) => {
                let woken = self.waiting.wake(Place::Condition(condition), option);
                self.wake(woken);
            }
            Op::Broadcast(condition) => {
                let woken = self.waiting.wake_first(Place::Condition(condition), usize::MAX);
                self.wake(woken);
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
            Op::Await { pipes: [first, second], register, .. } => {
                let [first, second] = [first, second].map(|pipe| i64::from(self.pipes.is_ready(End::Out(pipe))));
                self.threads[index].registers[register] = first + 2 * second;
            }
            Op::Kill(body) => {
                if let Some(to) = self.created[body] {
                    let to = &mut self.threads[to.index()];
                    to.signalled = to.phase != Phase::Ended;
                }
            }
            Op::Cancel(body) => {
                if let Some(to) = self.created[body] {
                    self.threads[to.index()].cancelled = true;
                }
            }
            Op::Block(blocks) => self.threads[index].blocks = blocks,
            Op::SigWait { register, .. } => {
                let taken = core::mem::take(&mut self.threads[index].signalled);
                self.threads[index].registers[register] = i64::from(taken);
            }
            Op::Create(body) => drop(self.spawn(body, self.threads[index].blocks)),
            Op::Join(_) | Op::Yield => {}
            Op::ExitProcess => self.exiting = Some(thread),
            Op::Assert { .. } => return Some(Outcome::Failed(self.threads[index].body, self.threads[index].at)),
            Op::SkipUnless { .. } | Op::Drop { .. } => {
                unreachable!("local operations are part of the step before them")
            }
        }
        self.pass(program, thread);
        None
    }

    /// Goes on to a thread's next operation.
    fn pass(&mut self, program: &Program, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        state.at += 1;
        state.attention = Attention::Due;
        self.settle(program, thread);
    }

    /// Looks for a signal, takes one in the middle of a wait, or does what its handler does, if that is what the thread is about to do.
    fn see_to_signals(&mut self, program: &Program, thread: ThreadId) -> bool {
        let op = self.op(program, thread);
        let stand = self.stand(program, thread);
        let state = &mut self.threads[thread.index()];
        match stand {
            Stand::Body => return false,
            Stand::Looks if state.takes_signal() => (state.signalled, state.attention) = (false, Attention::Handling),
            Stand::Looks => {
                state.attention = Attention::Paid;
                if op.is_some_and(|op| state.ends_in(op)) {
                    self.cancel(program, thread);
                } else if core::mem::take(&mut state.interrupted) {
                    self.go_on_waiting(program, thread, op);
                }
            }
            Stand::Handles => {
                self.variables[0] += HANDLED;
                state.attention = Attention::Due;
            }
            Stand::Interrupted if !state.takes_signal() => self.cancel(program, thread),
            Stand::Interrupted => {
                (state.signalled, state.attention, state.interrupted) = (false, Attention::Handling, true);
                if let Some(Op::FutexWait { variable, .. }) = op {
                    state.phase = Phase::Running;
                    self.waiting.leave(Place::Variable(variable), thread);
                }
            }
        }
        true
    }

    /// A thread that was cancelled ends, with what it has; in the middle of a wait on a condition when it has left the waiters and has the mutex.
    fn cancel(&mut self, program: &Program, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        state.interrupted = false;
        if state.phase == Phase::Waiting {
            state.leaves = true;
        } else {
            self.end_cancelled(program, thread);
        }
    }

    fn end_cancelled(&mut self, program: &Program, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        (state.at, state.attention, state.cancelled) = (program.bodies[state.body].len(), Attention::Paid, false);
    }

    /// After a handler in the middle of a wait: most waits go on, some end, and one at a variable is made anew.
    fn go_on_waiting(&mut self, program: &Program, thread: ThreadId, op: Option<Op>) {
        let ended = match op {
            Some(Op::Take(_)) if !program.restart => None,
            Some(Op::Put { .. }) if !program.restart => None,
            Some(Op::Get { register, .. }) if !program.restart => Some((register, -1)),
            Some(Op::Await { register, .. }) => Some((register, 0)),
            Some(Op::TimedTake { register, .. }) => Some((register, 1)),
            Some(Op::FutexWait { register, timed, .. }) if timed || !program.restart => Some((register, OTHERWISE)),
            _ => return,
        };
        if let Some((register, result)) = ended {
            self.threads[thread.index()].registers[register] = result;
        }
        self.pass(program, thread);
    }

    fn wake(&mut self, threads: impl IntoIterator<Item = ThreadId>) {
        for thread in threads {
            self.threads[thread.index()].phase = Phase::Woken;
        }
    }

    /// Takes a mutex, if it is free.
    fn lock(&mut self, mutex: usize, thread: ThreadId) -> bool {
        let free = self.is_free(mutex);
        if free {
            self.mutexes[mutex].owner = Some(thread);
        }
        free
    }

    /// Takes from a semaphore, if there is something.
    fn take(&mut self, semaphore: usize) -> bool {
        let left = self.semaphores[semaphore].checked_sub(1);
        self.semaphores[semaphore] = left.unwrap_or(0);
        left.is_some()
    }

    fn value(&self, thread: ThreadId, value: Value) -> i64 {
        match value {
            Value::Constant(number) => number,
            Value::Register(register, plus) => self.threads[thread.index()].registers[register] + plus,
        }
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
}
