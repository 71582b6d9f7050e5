//! The layout of the memory that the `atomfix` process and the target share, a file that both have open.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 × 64 | the words below, 64-bit, native order |
//! | 1024 | 16 × 64 | holds of injected locks that ended early, by place and cause: see `EarlyEnd` |
//! | 4096 | up to 16 MiB | the setup, text; ends with a zero byte |
//! | 16 MiB | up to 48 MiB | what was found, text; `Word::FoundBytes` long |
//!
//! Words are written by the target, except where said otherwise; each is meaningful by itself, whenever it is read. A target that does several
//! parts, one after the other, waits after each until what it found was read and the next setup is there; and before the first if there is no setup.

use model::cause::Cause;
use model::ids::{Label, LockId};

/// Bytes of the whole.
pub const BYTES: usize = 64 << 20;
/// Where the setup begins.
pub const SETUP: usize = 4096;
/// Where what was found begins.
pub const FOUND: usize = 16 << 20;

/// Where entries of holds that ended early begin.
pub const EARLY: usize = 1024;
/// How many such entries there are.
pub const EARLY_ENTRIES: usize = 64;
/// Bytes of one: a key, 0 if the entry is free, and how often.
pub const EARLY_BYTES: usize = 16;

/// Holds that ended early at one place for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EarlyEnd {
    /// The lock's number in its table.
    pub lock: LockId,
    /// Where it was acquired.
    pub label: Label,
    /// Why it ended.
    pub why: Cause,
    /// How often, over all executions.
    pub count: u64,
}

impl EarlyEnd {
    /// The key of an entry: bit 63, the lock's number in 23 bits, the label in 32, the reason in 8.
    #[must_use]
    pub const fn key(self) -> u64 {
        1 << 63 | (self.lock.0 as u64 & 0x7f_ffff) << 40 | (self.label.0 as u64) << 8 | self.why as u64
    }

    /// What an entry says. `None`: it is free, or of another version.
    #[must_use]
    pub fn from_entry(key: u64, count: u64) -> Option<Self> {
        let why = Cause::from_number(key & 0xff)?;
        let lock = u32::try_from(key >> 40 & 0x7f_ffff).ok()?;
        let label = u32::try_from(key >> 8 & 0xffff_ffff).ok()?;
        (key >> 63 == 1).then_some(Self { lock: LockId(lock), label: Label(label), why, count })
    }
}

/// A word of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Word {
    /// A `Phase`.
    Phase = 0,
    /// Executions begun, all kinds.
    Executions = 1,
    /// Steps performed, over all executions: stands still when the target hangs.
    Steps = 2,
    /// Process id of the forked child that runs the current execution; 0 when there is none.
    Child = 3,
    /// Bytes of text that were found.
    FoundBytes = 4,
    /// 1: fork, 2: restore, 3: exec, 4: none, under a debugger.
    Driver = 5,
    /// As in `Counts`.
    Schedules = 6,
    /// As in `Counts`.
    Failed = 7,
    /// As in `Counts`.
    Cut = 8,
    /// As in `Counts`.
    Abandoned = 9,
    /// As in `Counts`.
    Diverged = 10,
    /// How often the exploration began anew because more memory was found shared.
    Restarts = 11,
    /// Wall time of the exploration, in nanoseconds.
    Nanoseconds = 12,
    /// Bits: see `Note`.
    Notes = 13,
    /// Injected locks that were revoked, over all executions.
    Revocations = 14,
    /// Most threads of one execution.
    Threads = 15,
    /// Written by `atomfix`: the number of the execution whose child it killed because nothing moved.
    Killed = 16,
    /// Written by `atomfix`: not 0 when the exploration is to stop.
    Stop = 19,
    /// Written by `atomfix`: 1 when what it last ended was asleep in the kernel, 0 when it was running.
    Asleep = 20,
    /// 1 while the engine waits for what comes from outside the program, 0 otherwise.
    AwaitsOutside = 21,
    /// Written by `atomfix`: the descriptor of the file that the engine's memory lies in; 0 when there is none.
    Arena = 32,
    /// The address of what a fresh process is to do, in the engine's memory; 0 in the first process.
    Job = 33,
    /// What the program was seen to do that needs more scheduling points: bits.
    Habits = 34,
    /// Bytes of the engine's memory in use.
    EngineBytes = 18,
    /// About how many schedules there are in all; 0 when that cannot be told.
    Estimated = 22,
    /// The chance that the next schedule is of a class not yet seen, plus 1, as the bits of a float; 0 when that cannot be told.
    Unseen = 23,
    /// How many remarks were made since the driver was chosen.
    Remarks = 24,
    /// Written by `atomfix`: the descriptor of a socket by which the target says that a part is done, a byte, and is told that there is another
    /// one, a byte; 0 when it is to end.
    Line = 35,
}

/// What is said of a part: `atomfix` puts it back to zero before the target does another.
pub const OF_A_PART: [Word; 17] = [
    Word::Executions,
    Word::Steps,
    Word::Schedules,
    Word::Failed,
    Word::Cut,
    Word::Abandoned,
    Word::Diverged,
    Word::Restarts,
    Word::Nanoseconds,
    Word::Revocations,
    Word::Threads,
    Word::Killed,
    Word::Stop,
    Word::Habits,
    Word::Estimated,
    Word::Unseen,
    Word::Remarks,
];

impl Word {
    /// Its offset.
    #[must_use]
    pub const fn offset(self) -> usize {
        self as usize * 8
    }
}

/// How far the target has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The engine has not begun: before `main`, or the program is not one with a gate.
    Before = 0,
    /// It explores.
    Exploring = 1,
    /// It has ended in good order.
    Ended = 2,
    /// It has found itself to be wrong.
    Broken = 3,
    /// It waits for a part, the first one or another. `atomfix` sets `Exploring` then.
    Waiting = 4,
}

impl Phase {
    /// The phase with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Before, Self::Exploring, Self::Ended, Self::Broken, Self::Waiting].into_iter().find(|&phase| phase as u64 == number)
    }
}

/// Something that keeps a result from saying all. Each is a bit of `Word::Notes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Note {
    /// The program forks or starts programs; what they do is not explored.
    Forks = 0,
    /// A thread was created before `main` and runs outside of control.
    EarlyThread = 1,
    /// Signals may come from outside.
    Signals = 2,
    /// A thread asks to be cancelled at any instruction.
    Cancels = 3,
    /// Waits may time out, but not for ever in one place.
    BoundedTimeouts = 4,
    /// Injected locks were revoked.
    Revocations = 5,
    /// Threads were created beyond the most that one execution may have.
    TooManyThreads = 6,
    /// A lock with a priority protocol is treated as an ordinary one.
    PlainLocks = 7,
    /// Addresses are randomized, which could not be switched off: results may differ from run to run.
    RandomAddresses = 8,
    /// Threads waited for what comes from outside the program.
    Outside = 9,
    /// Threads were made by a system call of the program's own.
    RawThreads = 10,
    /// Locks or semaphores may be shared with other processes.
    SharedObjects = 11,
    /// Operations on futexes that are not modelled.
    OtherFutexes = 12,
    /// A thread that draws random numbers until one suits went on only when nobody else could.
    Luck = 13,
    /// The process ended in the middle of a step.
    SuddenEnd = 14,
    /// Signals are read from a descriptor.
    SignalDescriptors = 15,
    /// Signals are queued with values.
    QueuedSignals = 16,
    /// A library without hooks has threads meet over memory of its own.
    UnseenAtomics = 17,
    /// A thread that looks at a clock until it is late enough went on only when nobody else could.
    LateTime = 18,
    /// A thread could have come between the accesses that a step of another one stands for.
    Pieces = 19,
    /// A function without hooks is handed memory that threads share.
    Handed = 20,
    /// Inline assembly uses memory that no operand names.
    Assembly = 21,
    /// The process was sent a signal that several threads could take.
    SignalsForSeveral = 22,
    /// The program sets timers that send it signals.
    Alarms = 23,
    /// Several threads draw random numbers from one generator.
    Draws = 24,
    /// Memory is seen at one address and changed at another, or by calls for the file that it is.
    MemoryTwice = 25,
    /// What the kernel keeps of each thread is that of another one.
    OfOthers = 26,
    /// The kernel works for the program beside its threads.
    Helpers = 27,
    /// Executions were left out in which threads go round within a function of the library that takes several locks.
    SeveralLocks = 28,
    /// The program looks at itself by files in `/proc`.
    OwnFiles = 29,
    /// A thread whose wait had ended by itself was kept from having it do so again.
    HeldTimeouts = 30,
    /// An allocation failed for which the program alone might have found memory.
    HeapFull = 31,
}

/// All notes, with what they say to people.
pub const NOTES: &[(Note, &str)] = &[
    (Note::Forks, "the program forks or starts other programs: what they do is not explored"),
    (Note::EarlyThread, "a thread was created before main: it runs outside of control"),
    (Note::Signals, "the program handles signals: those of its threads are explored, not those from outside"),
    (Note::Cancels, "a thread asks to be cancelled at any instruction: it is only at the points where others are"),
    (
        Note::BoundedTimeouts,
        "timed waits: in one place a thread times out three times, and then only once between changes by other threads",
    ),
    (
        Note::HeldTimeouts,
        "timed waits: a thread comes to one again and again, and times out or wakes there only when others change something or cannot go on, so more may happen",
    ),
    (Note::HeapFull, "memory: an allocation failed, as a thread of an explored program has 4 GiB at most"),
    (Note::SeveralLocks, "std::lock and std::scoped_lock: executions in which threads get in each other's way there for ever are left out"),
    (Note::Luck, "random numbers: a thread that draws until one suits it goes on only when others change something or cannot go on"),
    (Note::Draws, "random numbers: threads draw them from one generator, and who draws first is not explored, so more may happen"),
    (
        Note::LateTime,
        "clocks: a thread that looks at one until it is late enough goes on only when others change something or cannot go on, so more may happen",
    ),
    (
        Note::Pieces,
        "copies: what one call or assignment reads or writes is one step, also where others use that memory meanwhile, so more may happen",
    ),
    (
        Note::Handed,
        "libraries: what a function does to what it is handed is one step, and what it reaches from there, or keeps, is not seen, so more may happen",
    ),
    (Note::Assembly, "inline assembly: the orders of accesses that no operand names are not explored, so more may happen"),
    (
        Note::SignalsForSeveral,
        "the program sends itself signals that may interrupt one of several threads: not all of these are surely tried",
    ),
    (
        Note::Alarms,
        "the program sets timers that send signals: an alarm goes off when nobody can go on, others never do, so more may happen",
    ),
    (
        Note::MemoryTwice,
        "the program has one memory at two addresses, reads and writes by calls a file that is mapped, or has the kernel reach for its memory: orders of those are not explored, so more may happen",
    ),
    (Note::OwnFiles, "the program looks at itself in `/proc`: what its threads change there is not seen, so more may happen"),
    (
        Note::OfOthers,
        "threads are told, or changed, what the kernel keeps for each of them (where it is to run, priority, rights): all have the same here, so more may happen",
    ),
    (
        Note::Helpers,
        "the kernel works for the program beside its threads (`io_uring`, `aio`): when that is done is not explored, so more may happen",
    ),
    (Note::SignalDescriptors, "the program reads signals from a descriptor: those of its own threads do not come there"),
    (Note::QueuedSignals, "the program queues signals: of several of one kind one comes, and without its value"),
    (Note::SuddenEnd, "a thread ended the process in the middle of a step: what others do right before that is not explored"),
    (Note::Revocations, "injected locks were revoked: the plan leaves a deadlock to the runtime"),
    (Note::TooManyThreads, "an execution created more threads than can be explored, and was cut there"),
    (Note::PlainLocks, "locks with a priority protocol are treated as ordinary ones: priorities are not modelled"),
    (Note::SharedObjects, "locks or semaphores may be shared with other processes: what those do with them is not explored"),
    (Note::OtherFutexes, "the program moves waiters between futexes, or has the kernel own them: those are not seen"),
    (
        Note::UnseenAtomics,
        "a library that is not instrumented has threads wait for each other by futexes: the orders of its atomic accesses are not explored, so more may happen",
    ),
    (Note::Outside, "the program waits for the world outside: when its answers come is not explored"),
    (Note::RawThreads, "the program makes threads by system calls of its own: they run outside of control"),
    (Note::RandomAddresses, "address randomization could not be switched off: executions may differ"),
];

/// Notes of what is out of sight, what threads do there, within a step, or when time, luck and the world outside suit them; and of what is not as
/// the program asks for: with any of them, what is covered is not all that may happen.
pub const OUT_OF_SIGHT: &[Note] = &[
    Note::EarlyThread,
    Note::RawThreads,
    Note::UnseenAtomics,
    Note::HeapFull,
    Note::HeldTimeouts,
    Note::LateTime,
    Note::Luck,
    Note::Draws,
    Note::Pieces,
    Note::Handed,
    Note::Assembly,
    Note::Outside,
    Note::Cancels,
    Note::OtherFutexes,
    Note::QueuedSignals,
    Note::SignalDescriptors,
    Note::SuddenEnd,
    Note::SignalsForSeveral,
    Note::Alarms,
    Note::MemoryTwice,
    Note::OwnFiles,
    Note::OfOthers,
    Note::Helpers,
];

impl Note {
    /// Its bit.
    #[must_use]
    pub const fn bit(self) -> u64 {
        1 << self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_early_ends_read_back() {
        for why in Cause::ALL {
            let end = EarlyEnd { lock: LockId(0x12_3456), label: Label(0xfedc_ba98), why, count: 7 };
            assert_eq!(EarlyEnd::from_entry(end.key(), 7), Some(end));
        }
        assert_eq!(EarlyEnd::from_entry(0, 7), None);
    }
}
