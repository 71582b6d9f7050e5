//! What `atomfix` asks the engine for: text, one `key value` a line, then the schedule to replay, if any.
//!
//! ```text
//! strategy dfs
//! preemptions none
//! executions 1000
//! seed 0
//! steps 100000
//! driver auto
//! end first-failure
//! kept s00112233445566aa s00112233445566bb READ
//! shared 7ffff7d0+4
//! threads 16
//! part sleep 65536
//! t0 create - 1 - -
//! end
//! sequel nothing
//! replay
//! t0 create - -
//! t1 read s00112233445566aa #17
//! pick 1
//! ```

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use model::event::Range;
use model::ids::SiteKey;
use model::pair::Atomicity;

use super::found::{TakenStep, range_text, read_range, read_steps, write_steps};
use crate::strategy::config::{Config, Name};
use crate::strategy::iterative::Preemptions;
use crate::strategy::part::Part;
use crate::violation::Pairs;

/// Which driver starts executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// What the engine finds fit.
    Auto,
    /// A forked child for each.
    Fork,
    /// One process whose memory is put back.
    Restore,
    /// A fresh process for each.
    Exec,
}

/// The one execution of a debugger's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debug {
    /// Where it stops: after this many steps.
    pub stop: u64,
    /// What the program is known to do: as in `Word::Habits`.
    pub habits: u64,
    /// How many threads it is known to have.
    pub threads: u64,
}

/// All drivers, with their words.
pub const DRIVERS: &[(Driver, &str)] =
    &[(Driver::Auto, "auto"), (Driver::Fork, "fork"), (Driver::Restore, "restore"), (Driver::Exec, "exec")];

impl Driver {
    /// The driver with this word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        DRIVERS.iter().find(|(_, w)| *w == word).map(|&(driver, _)| driver)
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        DRIVERS.iter().find(|(driver, _)| *driver == self).map_or("?", |&(_, word)| word)
    }
}

/// After how many steps an execution is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MostSteps {
    /// So many.
    Number(u64),
    /// As many as the engine finds fit, from how many steps executions take that come to their end.
    AsMeasured,
}

impl MostSteps {
    const MEASURED: &str = "as-measured";

    fn read(text: &str) -> Option<Self> {
        if text == Self::MEASURED { Some(Self::AsMeasured) } else { text.parse().ok().map(Self::Number) }
    }
}

impl fmt::Display for MostSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(steps) => steps.fmt(f),
            Self::AsMeasured => f.write_str(Self::MEASURED),
        }
    }
}

/// When an exploration ends, other than by the strategy's own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// When the strategy wants no more.
    Strategy,
    /// At the first failure; an execution that is cut at the step limit is none.
    FirstFailure,
}

/// What is done with failures when the exploration is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequel {
    /// Their schedules are made simple.
    Simplify,
    /// Nothing.
    Nothing,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Who chooses; not used for a replay.
    pub strategy: Config,
    /// After how many steps an execution is cut.
    pub steps: MostSteps,
    /// How executions are started.
    pub driver: Driver,
    /// When it ends.
    pub end: End,
    /// Whether data races are looked for.
    pub races: bool,
    /// Whether waits on conditions may end without a cause.
    pub spurious: bool,
    /// Whether the ways in which executions end are told apart by what they print.
    pub outcomes: bool,
    /// Whether classes of executions are counted that differ in what reads read from.
    pub reads_from: bool,
    /// Pairs of which it is reported if an execution interleaves them; that is no failure.
    pub kept: Pairs,
    /// Memory that is known to be shared from the start.
    pub shared: Vec<Range>,
    /// What the program is known to do: as in `Word::Habits`.
    pub habits: u64,
    /// How many threads an execution is known to have, 0 if that is not known: all that they need is there from the start then.
    pub threads: u64,
    /// The part of a search to do in place of the strategy.
    pub part: Option<Part>,
    /// What is done with failures then. A replay whose schedule is to be made simple has the scheduling points that an exploration
    /// has.
    pub sequel: Sequel,
    /// Whether it is replayed in a debugger, and where it stops then.
    pub debug: Option<Debug>,
    /// A schedule to follow instead of exploring.
    pub replay: Option<Vec<TakenStep>>,
}

/// How many threads are parked from the start for executions of so many threads: as many as an exploration would have come to that did not know of
/// so many, and doubled them whenever there were too few.
#[must_use]
pub fn parked(threads: u64) -> u64 {
    const FIRST: u64 = 8;
    threads.saturating_sub(1).next_power_of_two().max(FIRST)
}

impl Setup {
    /// An exploration by this strategy, with nothing special about it.
    #[must_use]
    pub fn exploring(strategy: Config) -> Self {
        Self {
            strategy,
            steps: MostSteps::AsMeasured,
            driver: Driver::Auto,
            end: End::Strategy,
            races: false,
            outcomes: false,
            reads_from: false,
            spurious: false,
            kept: Pairs::new(),
            shared: Vec::new(),
            habits: 0,
            threads: 0,
            part: None,
            sequel: Sequel::Simplify,
            debug: None,
            replay: None,
        }
    }

    /// The text form.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let Config { name, preemptions, executions, seed } = self.strategy;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "strategy {name}");
        let _ = match preemptions {
            Preemptions::AtMost(bound) => writeln!(text, "preemptions {bound}"),
            Preemptions::Unlimited => writeln!(text, "preemptions none"),
        };
        if let Some(executions) = executions {
            let _ = writeln!(text, "executions {executions}");
        }
        let _ = writeln!(text, "seed {seed}\nsteps {}\ndriver {}", self.steps, self.driver.word());
        if self.end == End::FirstFailure {
            text.push_str("end first-failure\n");
        }
        if let Some(Debug { stop, habits, threads }) = self.debug {
            let _ = writeln!(text, "debug {stop} {habits} {threads}");
        }
        if self.habits != 0 {
            let _ = writeln!(text, "habits {}", self.habits);
        }
        let wishes = [(self.races, "races"), (self.outcomes, "outcomes"), (self.reads_from, "reads-from"), (self.spurious, "spurious")];
        for (asked, key) in wishes {
            if asked {
                let _ = writeln!(text, "{key} yes");
            }
        }
        for ((first, second), atomicity) in &self.kept {
            let _ = writeln!(text, "kept {first} {second} {atomicity}");
        }
        for range in &self.shared {
            let _ = writeln!(text, "shared {}", range_text(*range));
        }
        if self.threads > 0 {
            let _ = writeln!(text, "threads {}", self.threads);
        }
        if let Some(part) = &self.part {
            part.write(&mut text);
        }
        if self.sequel == Sequel::Nothing {
            text.push_str("sequel nothing\n");
        }
        if let Some(steps) = &self.replay {
            text.push_str("replay\n");
            write_steps(&mut text, steps);
        }
        text
    }

    /// Reads the text form; `None` when it is not one.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let strategy = Config { name: Name::DepthFirst, preemptions: Preemptions::Unlimited, executions: None, seed: 0 };
        let mut setup = Self::exploring(strategy);
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "strategy" => setup.strategy.name = value.parse().ok()?,
                "preemptions" if value == "none" => setup.strategy.preemptions = Preemptions::Unlimited,
                "preemptions" => setup.strategy.preemptions = Preemptions::AtMost(value.parse().ok()?),
                "executions" => setup.strategy.executions = Some(value.parse().ok()?),
                "seed" => setup.strategy.seed = value.parse().ok()?,
                "steps" => setup.steps = MostSteps::read(value)?,
                "driver" => setup.driver = Driver::from_word(value)?,
                "end" if value == "first-failure" => setup.end = End::FirstFailure,
                "debug" => {
                    let mut words = value.split(' ').map(|word| word.parse().ok());
                    let mut next = || words.next().flatten();
                    setup.debug = Some(Debug { stop: next()?, habits: next()?, threads: next()? });
                }
                "habits" => setup.habits = value.parse().ok()?,
                "races" => setup.races = value == "yes",
                "outcomes" => setup.outcomes = value == "yes",
                "reads-from" => setup.reads_from = value == "yes",
                "spurious" => setup.spurious = value == "yes",
                "kept" => {
                    let (pair, atomicity) = read_kept(value)?;
                    setup.kept.insert(pair, atomicity);
                }
                "shared" => setup.shared.push(read_range(value)?),
                "threads" => setup.threads = value.parse().ok()?,
                "part" => setup.part = Some(Part::read(value, &mut lines)?),
                "sequel" if value == "nothing" => setup.sequel = Sequel::Nothing,
                "replay" => setup.replay = Some(read_steps(&mut lines)?),
                _ => return None,
            }
        }
        Some(setup)
    }
}

fn read_kept(text: &str) -> Option<((SiteKey, SiteKey), Atomicity)> {
    let words: Vec<&str> = text.split(' ').collect();
    let [first, second, atomicity] = words[..] else { return None };
    let all = [Atomicity::None, Atomicity::Read, Atomicity::Exclusive];
    let atomicity = all.into_iter().find(|known| known.to_string() == atomicity)?;
    Some(((first.parse().ok()?, second.parse().ok()?), atomicity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::KindCode;
    use model::ids::ThreadId;

    #[test]
    fn a_setup_reads_back_what_it_writes() {
        let kind = KindCode::from_number(3).expect("a kind");
        let step = TakenStep { thread: ThreadId(1), kind, site: Some(SiteKey(7)), ordinal: Some(9), range: None, picks: [1, 0].to_vec() };
        let plain = TakenStep { thread: ThreadId(0), kind, site: None, ordinal: None, range: None, picks: Vec::new() };
        let part = Part::read("sleep 5", &mut "t0 - - 1 - -".lines()).expect("a part");
        let shared = [Range { address: 0x7fff_f000, length: 4 }].to_vec();
        for (preemptions, executions, end, shared, part, sequel, replay) in [
            (Preemptions::Unlimited, None, End::Strategy, Vec::new(), Some(part), Sequel::Nothing, None),
            (Preemptions::AtMost(2), Some(10), End::FirstFailure, shared, None, Sequel::Simplify, Some([step, plain].to_vec())),
        ] {
            let strategy = Config { name: Name::Random, preemptions, executions, seed: 7 };
            let setup = Setup {
                strategy,
                steps: executions.map_or(MostSteps::AsMeasured, |_| MostSteps::Number(5)),
                driver: Driver::Fork,
                end,
                races: executions.is_some(),
                outcomes: executions.is_none(),
                reads_from: executions.is_none(),
                spurious: executions.is_some(),
                debug: executions.map(|_| Debug { stop: 3, habits: 2, threads: 4 }),
                kept: Pairs::from([((SiteKey(1), SiteKey(2)), Atomicity::Read), ((SiteKey(1), SiteKey(3)), Atomicity::Exclusive)]),
                shared,
                habits: executions.map_or(0, |_| 3),
                threads: executions.map_or(0, |_| 16),
                part,
                sequel,
                replay,
            };
            assert_eq!(Setup::from_text(&setup.to_text()), Some(setup));
        }
    }

    #[test]
    fn other_text_is_refused() {
        let setup = ["strategy fast", "colour red", "steps many", "end soon", "kept s1 s2 SOME", "shared 1", "part x 1", "sequel soon"];
        for text in setup.into_iter().chain(["replay\nt0", "replay\npick 1"]) {
            assert_eq!(Setup::from_text(text), None, "{text}");
        }
    }
}
