//! Results of `check`, with what they cover, and their JSON form.
//!
//! ```json
//! {"schema":1,"results":[{"program":"app","build":"original","strategy":"dfs","schedules":42,"complete":true,
//!   "coverage":"all sequentially consistent schedules","abandoned":3,
//!   "failures":[{"kind":"assert","message":"x == 2","location":"app.c:12","schedule":"app.atomfix/failures/1.schedule","count":7}],
//!   "seconds":0.5,"schedules_per_second":84.0}]}
//! ```
//!
//! A comparison has two results: the original's, then the hardened build's.
//! Not here: how results are shown to people (`cli`), and the schedules themselves (`schedule`).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The version of this form.
pub const REPORT_SCHEMA: u32 = 1;

/// What `check --json` writes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// `REPORT_SCHEMA`.
    pub schema: u32,
    /// One for each build explored.
    pub results: Vec<CheckResult>,
}

impl Report {
    /// A report of these results.
    #[must_use]
    pub fn new(results: Vec<CheckResult>) -> Self {
        Self { schema: REPORT_SCHEMA, results }
    }
}

/// The exploration of one build.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CheckResult {
    /// The program, as the user named it.
    pub program: String,
    /// Which build of it.
    pub build: Build,
    /// The strategy, as options name it.
    pub strategy: String,
    /// Executions that ran to an end of their own.
    pub schedules: u64,
    /// Whether every sequentially consistent schedule is covered, and nothing that threads do was out of sight.
    pub complete: bool,
    /// What is covered, of what was seen.
    pub coverage: Coverage,
    /// Executions that were abandoned because others cover them; not among `schedules`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub abandoned: u64,
    /// Executions that were cut at the step limit; among `schedules`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cut: u64,
    /// Executions that did not follow the prefix they were to repeat: the program is not deterministic.
    #[cfg_attr(feature = "serde", serde(default))]
    pub diverged: u64,
    /// What went wrong, each class of failure once.
    pub failures: Vec<Failure>,
    /// How much there is, as far as can be told; not of explorations in parts.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub estimate: Option<Estimate>,
    /// How executions that did not fail ended, when that was asked for.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub outcomes: Vec<Outcome>,
    /// How many classes of schedules differ in what reads read from, when that was asked for.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reads_from: Option<u64>,
    /// Pairs that the plan keeps and that some execution interleaved, when that was asked for, as sentences.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub interleaved: Vec<String>,
    /// Wall time.
    pub seconds: f64,
    /// Those schedules that were explored in these seconds, without what a checkpoint had, by the seconds.
    pub schedules_per_second: f64,
    /// Things that the reader must know to judge the result: what was not covered, which driver ran and why.
    #[cfg_attr(feature = "serde", serde(default))]
    pub notes: Vec<String>,
}

/// How much there is to explore.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Estimate {
    /// About so many schedules in all.
    Schedules(u64),
    /// The chance, from 0 to 1, that the next schedule is of a class that was not seen: schedules of one class differ only in the order of
    /// independent steps.
    Unseen(f64),
}

impl Estimate {
    /// About so many schedules, rounded.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what does not fit becomes the nearest number")]
    pub fn of_schedules(count: f64) -> Self {
        Self::Schedules((count + 0.5) as u64)
    }
}

/// A way in which executions ended that did not fail: what they printed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outcome {
    /// A hash of all that was printed.
    pub identity: u64,
    /// How many executions ended so.
    pub count: u64,
    /// The beginning of it.
    pub text: String,
}

/// A build of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Build {
    /// As the user built it.
    Original,
    /// With injected locks.
    Hardened,
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Original => "original",
            Self::Hardened => "hardened",
        })
    }
}

/// One class of failure: what went wrong where, with a schedule that leads there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Failure {
    /// What it is.
    pub kind: FailureKind,
    /// The program's own words, or ours: `Assertion 'x == 2' failed`, `SIGSEGV at address 0x0`.
    pub message: String,
    /// Where in the source, or `?`.
    pub location: String,
    /// The path of the schedule that replays it.
    pub schedule: String,
    /// Pairs of accesses that no passing run interleaved so, with what came between them in the schedule.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub violations: Vec<String>,
    /// In how many executions it was seen.
    #[cfg_attr(feature = "serde", serde(default))]
    pub count: u64,
    /// In which execution it was first seen, from 1: all that were begun count, those of passes that began anew and
    /// abandoned ones too. `None` in older reports.
    #[cfg_attr(feature = "serde", serde(default))]
    pub first: Option<u64>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum FailureKind {
    /// A failed assertion, `abort`, `std::terminate`.
    Assert,
    /// Died by a signal.
    Signal,
    /// Ended with a status other than 0.
    ExitStatus,
    /// Threads wait for locks in a cycle, or one for a lock that nobody is left to release.
    DeadlockLock,
    /// A thread waits for a lock that it holds itself.
    DeadlockSelf,
    /// Threads wait on a condition, semaphore or barrier that nobody is left to signal.
    DeadlockCondition,
    /// As before, and the signal came before the wait.
    LostWakeUp,
    /// Threads wait for the end of threads that wait.
    DeadlockJoin,
    /// Threads run for ever without progress.
    Livelock,
    /// Cut at the step limit.
    StepLimit,
    /// The output is not the expected one.
    OutputMismatch,
    /// Two threads access the same memory, one to write, and nothing orders them.
    DataRace,
    /// Memory is used that was given back to the heap.
    UseAfterFree,
    /// A block is given back that was given back already.
    DoubleFree,
    /// What is given back is no block of the heap.
    BadFree,
    /// A lock, condition, semaphore or barrier is used in a way that POSIX leaves undefined: after it was destroyed, say.
    Misuse,
}

/// All kinds, with the word that each has in the text and JSON forms.
pub const FAILURE_WORDS: &[(FailureKind, &str)] = &[
    (FailureKind::Assert, "assert"),
    (FailureKind::Signal, "signal"),
    (FailureKind::ExitStatus, "exit-status"),
    (FailureKind::DeadlockLock, "deadlock-lock"),
    (FailureKind::DeadlockSelf, "deadlock-self"),
    (FailureKind::DeadlockCondition, "deadlock-condition"),
    (FailureKind::LostWakeUp, "lost-wake-up"),
    (FailureKind::DeadlockJoin, "deadlock-join"),
    (FailureKind::Livelock, "livelock"),
    (FailureKind::StepLimit, "step-limit"),
    (FailureKind::OutputMismatch, "output-mismatch"),
    (FailureKind::DataRace, "data-race"),
    (FailureKind::UseAfterFree, "use-after-free"),
    (FailureKind::DoubleFree, "double-free"),
    (FailureKind::BadFree, "bad-free"),
    (FailureKind::Misuse, "misuse"),
];

impl FailureKind {
    /// The kind with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        FAILURE_WORDS.iter().find(|(_, w)| *w == word).map(|&(kind, _)| kind)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = FAILURE_WORDS.iter().find(|(kind, _)| kind == self).map_or("?", |&(_, word)| word);
        f.write_str(word)
    }
}

/// What a set of executions covers. In JSON it is the sentence that it prints as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every sequentially consistent schedule, up to the order of steps that commute.
    All,
    /// Every schedule with at most this many preemptions.
    Preemptions(u32),
    /// Every schedule with at most this many delays of the default one.
    Delays(u32),
    /// Every order of atomic blocks, which shows every failure of a program that accesses shared memory under locks, as it did.
    Blocks,
    /// This many schedules drawn at random.
    Sampled(u64),
    /// This many schedules of a systematic search that was not finished at any bound.
    Partial(u64),
}

impl Coverage {
    /// Whether nothing is left to explore.
    #[must_use]
    pub fn is_complete(self) -> bool {
        self == Self::All
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all sequentially consistent schedules"),
            Self::Preemptions(1) => f.write_str("up to 1 preemption"),
            Self::Preemptions(bound) => write!(f, "up to {bound} preemptions"),
            Self::Delays(1) => f.write_str("up to 1 delay"),
            Self::Delays(bound) => write!(f, "up to {bound} delays"),
            Self::Blocks => f.write_str("all orders of atomic blocks"),
            Self::Sampled(count) => write!(f, "sampled: {count}"),
            Self::Partial(count) => write!(f, "unfinished: {count}"),
        }
    }
}

/// A sentence that states no coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadCoverage;

impl fmt::Display for BadCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a statement of coverage")
    }
}

impl core::error::Error for BadCoverage {}

impl core::str::FromStr for Coverage {
    type Err = BadCoverage;

    fn from_str(text: &str) -> Result<Self, BadCoverage> {
        match text {
            "all sequentially consistent schedules" => return Ok(Self::All),
            "all orders of atomic blocks" => return Ok(Self::Blocks),
            "up to 1 preemption" => return Ok(Self::Preemptions(1)),
            "up to 1 delay" => return Ok(Self::Delays(1)),
            _ => {}
        }
        let number = |prefix: &str, suffix: &str| text.strip_prefix(prefix)?.strip_suffix(suffix)?.parse::<u64>().ok();
        let bound = |number: u64| u32::try_from(number).ok();
        number("up to ", " preemptions")
            .and_then(bound)
            .map(Self::Preemptions)
            .or_else(|| number("up to ", " delays").and_then(bound).map(Self::Delays))
            .or_else(|| number("sampled: ", "").map(Self::Sampled))
            .or_else(|| number("unfinished: ", "").map(Self::Partial))
            .ok_or(BadCoverage)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Coverage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Coverage {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn coverage_reads_back_from_its_sentence() {
        for coverage in [
            Coverage::All,
            Coverage::Preemptions(0),
            Coverage::Preemptions(1),
            Coverage::Preemptions(3),
            Coverage::Delays(1),
            Coverage::Delays(2),
            Coverage::Blocks,
            Coverage::Sampled(7),
            Coverage::Partial(0),
        ] {
            assert_eq!(coverage.to_string().parse(), Ok(coverage));
        }
        assert_eq!("up to some preemptions".parse::<Coverage>(), Err(BadCoverage));
    }

    #[test]
    fn every_kind_of_failure_has_a_word() {
        for (kind, word) in FAILURE_WORDS {
            assert_eq!(kind.to_string(), *word);
            assert_eq!(FailureKind::from_word(word), Some(*kind));
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn the_json_form_is_the_published_one() {
        let failure = Failure {
            kind: FailureKind::LostWakeUp,
            message: "t1 waits for ever".into(),
            location: "app.c:12".into(),
            schedule: "app.atomfix/failures/1.schedule".into(),
            violations: Vec::new(),
            count: 7,
            first: Some(3),
        };
        let report = Report::new(alloc::vec![CheckResult {
            program: "app".into(),
            build: Build::Original,
            strategy: "dfs".into(),
            schedules: 42,
            complete: false,
            coverage: Coverage::Preemptions(2),
            abandoned: 3,
            cut: 0,
            diverged: 0,
            failures: alloc::vec![failure],
            estimate: Some(Estimate::Schedules(90)),
            outcomes: Vec::new(),
            reads_from: None,
            interleaved: Vec::new(),
            seconds: 0.5,
            schedules_per_second: 84.0,
            notes: Vec::new(),
        }]);
        let text = serde_json::to_string(&report).expect("a report has a JSON form");
        let expected = concat!(
            r#"{"schema":1,"results":[{"program":"app","build":"original","strategy":"dfs","schedules":42,"complete":false,"#,
            r#""coverage":"up to 2 preemptions","abandoned":3,"cut":0,"diverged":0,"failures":[{"kind":"lost-wake-up","#,
            r#""message":"t1 waits for ever","location":"app.c:12","schedule":"app.atomfix/failures/1.schedule","count":7,"first":3}],"#,
            r#""estimate":{"schedules":90},"seconds":0.5,"schedules_per_second":84.0,"notes":[]}]}"#
        );
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Report>(&text).expect("it reads back"), report);
    }
}
