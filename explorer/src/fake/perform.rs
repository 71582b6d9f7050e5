//! What performing a thread's pending event does to the state of a program.

use model::ids::ThreadId;
use model::pair::Mode;

use super::machine::{Machine, Outcome, Phase};
use super::pipes::End;
use super::program::{Op, Program, Value};

impl Machine {
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
