//! What a real program's benchmark hands back, and how it is printed.

use std::fmt;
use std::time::Duration;

use super::latency::Latency;
use crate::measure::{Cost, ratio};
use crate::table::Table;

/// One program's outcome.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Its name and version.
    pub program: String,
    /// What was verified, and whether it held.
    pub verified: Vec<Verified>,
    /// What the plan holds.
    pub locks: usize,
    /// Pairs that they keep.
    pub pairs: usize,
    /// How long `harden`, inference included, took.
    pub hardened_in: Duration,
    /// Work done by both builds.
    pub measured: Vec<Measured>,
    /// How long single requests took, by build, in rounds in turn.
    pub latencies: Vec<(&'static str, Vec<Latency>)>,
}

/// Something that must hold for the hardened build.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What.
    pub what: String,
    /// Why it does not hold, if it does not.
    pub problem: Option<String>,
}

/// One piece of work, in several ways.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was done.
    pub work: String,
    /// How many runs the medians are of.
    pub rounds: usize,
    /// The original's median.
    pub original: Cost,
    /// The others', each with its name.
    pub others: Vec<(&'static str, Cost)>,
}

impl Outcome {
    /// Notes what was verified.
    pub fn verify(&mut self, what: impl Into<String>, problem: Option<String>) {
        self.verified.push(Verified { what: what.into(), problem });
    }

    fn write_latencies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.latencies.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(["one request", "p50 µs", "p99 µs"]);
        for (build, rounds) in &self.latencies {
            let median = |of: fn(&Latency) -> Duration| {
                let mut all: Vec<_> = rounds.iter().map(of).collect();
                all.sort_unstable();
                format!("{:.0}", all.get(all.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e6)
            };
            table.row([(*build).to_owned(), median(|latency| latency.half), median(|latency| latency.most)]);
        }
        for line in table.to_string().lines() {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }

    /// What did not hold.
    pub fn problems(&self) -> impl Iterator<Item = String> + '_ {
        self.verified
            .iter()
            .filter_map(|verified| verified.problem.as_ref().map(|problem| format!("{}: {}: {problem}", self.program, verified.what)))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.hardened_in.as_secs_f64();
        writeln!(f, "{}: {} locks keep {} pairs; inferred and hardened in {seconds:.1} s", self.program, self.locks, self.pairs)?;
        for verified in &self.verified {
            match &verified.problem {
                None => writeln!(f, "  ok      {}", verified.what)?,
                Some(problem) => writeln!(f, "  FAILED  {}: {problem}", verified.what)?,
            }
        }
        if self.measured.is_empty() {
            return Ok(());
        }
        let mut table = Table::new(["work", "build", "seconds", "ratio", "CPU s", "ratio", "MiB", "ratio"]);
        for measured in &self.measured {
            let base = measured.original;
            for (number, (build, cost)) in [("original", base)].iter().chain(&measured.others).enumerate() {
                let work = if number == 0 { format!("{} (median of {})", measured.work, measured.rounds) } else { String::new() };
                table.row([
                    work,
                    (*build).to_owned(),
                    format!("{:.3}", cost.wall.as_secs_f64()),
                    format!("{:.2}", ratio(cost.wall, base.wall)),
                    format!("{:.3}", cost.cpu.as_secs_f64()),
                    format!("{:.2}", ratio(cost.cpu, base.cpu)),
                    format!("{:.1}", mebibytes(cost.memory)),
                    format!("{:.2}", mebibytes(cost.memory) / mebibytes(base.memory)),
                ]);
            }
        }
        for line in table.to_string().lines() {
            writeln!(f, "  {line}")?;
        }
        self.write_latencies(f)
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people, one digit behind the point")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
