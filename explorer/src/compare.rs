//! Two builds side by side: what each exploration covered, and which failures are gone, left, or new.
//!
//! Failures are the same when kind and location are: messages may carry values that differ from run to run.

use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use model::report::{CheckResult, FailureKind, Outcome};

/// What became of one class of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Only the first build shows it.
    Gone,
    /// Both do.
    Left,
    /// Only the second build shows it.
    New,
}

/// One class of failure in two builds: in how many executions each showed it, where it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// What it is.
    pub kind: FailureKind,
    /// Where.
    pub location: String,
    /// In the first build.
    pub before: Option<u64>,
    /// In the second.
    pub after: Option<u64>,
}

impl Class {
    /// What became of it.
    #[must_use]
    pub fn fate(&self) -> Fate {
        match (self.before, self.after) {
            (_, None) => Fate::Gone,
            (Some(_), Some(_)) => Fate::Left,
            (None, Some(_)) => Fate::New,
        }
    }
}

/// Every class of failure that either build shows.
#[must_use]
pub fn classes(before: &CheckResult, after: &CheckResult) -> Vec<Class> {
    let mut classes = BTreeMap::<(FailureKind, &str), (Option<u64>, Option<u64>)>::new();
    for failure in &before.failures {
        *classes.entry((failure.kind, &failure.location)).or_default().0.get_or_insert(0) += failure.count;
    }
    for failure in &after.failures {
        *classes.entry((failure.kind, &failure.location)).or_default().1.get_or_insert(0) += failure.count;
    }
    let class =
        |((kind, location), (before, after)): ((FailureKind, &str), _)| Class { kind, location: location.to_string(), before, after };
    classes.into_iter().map(class).collect()
}

/// Ways in which executions of one build ended without a failure, by what they printed, and those of the other did not. Exact when
/// both explorations were complete.
pub fn missing<'a>(in_one: &'a CheckResult, in_other: &'a CheckResult) -> impl Iterator<Item = &'a Outcome> {
    in_one.outcomes.iter().filter(|outcome| !in_other.outcomes.iter().any(|other| other.identity == outcome.identity))
}

/// The beginning of what was printed, on one line.
fn quoted(text: &str) -> String {
    if text.is_empty() { "no output".into() } else { format!("{:?}", text.trim_end()) }
}

/// So many outcomes are shown of each build; a program that prints which thread did what may have thousands.
const SHOWN: usize = 8;

/// What outcomes are called in the table, those that begin alike as one.
fn beginnings<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Vec<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for outcome in outcomes {
        let count = counts.entry(&outcome.text).or_insert(0);
        if *count == 0 {
            order.push(&outcome.text);
        }
        *count += 1;
    }
    let name = |text: &&str| match counts[text] {
        1 => format!("  {}", quoted(text)),
        count => format!("  {count} that begin {}", quoted(text)),
    };
    let mut names: Vec<String> = order.iter().take(SHOWN).map(name).collect();
    let more: u64 = order.iter().skip(SHOWN).map(|text| counts[text]).sum();
    names.extend((more > 0).then(|| format!("  and {more} more (--json has all)")));
    names
}

/// What to say of something that a build does not show: the first when all its schedules were explored, else the second.
fn absent(from: &CheckResult, words: [&'static str; 2]) -> &'static str {
    words[usize::from(!from.complete)]
}

/// The comparison as a table. What was not found in a part of a build's schedules is not said to be gone.
#[must_use]
pub fn table(before: &CheckResult, after: &CheckResult) -> String {
    let mut rows: Vec<[String; 4]> = Vec::new();
    let mut both = |name: &str, of: &dyn Fn(&CheckResult) -> String| rows.push([name.into(), of(before), of(after), String::new()]);
    both("", &|result| result.build.to_string());
    both("strategy", &|result| result.strategy.clone());
    both("schedules", &|result| result.schedules.to_string());
    both("covered", &|result| result.coverage.to_string());
    both("seconds", &|result| format!("{:.2}", result.seconds));
    both("failures", &|result| result.failures.len().to_string());
    let (lost, new) = (absent(after, ["gone", "not found"]), absent(before, ["NEW", "NEW, or not found before"]));
    for class in classes(before, after) {
        let fate = match class.fate() {
            Fate::Gone => lost,
            Fate::Left => "left",
            Fate::New => new,
        };
        let count = |count: Option<u64>| match count {
            None => "none".to_string(),
            // Seen in a pass that was given up, since it found more memory that threads share.
            Some(0) => "seen".to_string(),
            Some(1) => "in 1 schedule".to_string(),
            Some(count) => format!("in {count} schedules"),
        };
        rows.push([format!("  {} at {}", class.kind, class.location), count(class.before), count(class.after), fate.to_string()]);
    }
    if !before.outcomes.is_empty() || !after.outcomes.is_empty() {
        let count = |result: &CheckResult| result.outcomes.len().to_string();
        rows.push(["outcomes".into(), count(before), count(after), String::new()]);
        let mut side = |names: Vec<String>, kept: [&str; 2], fate: &str| {
            rows.extend(names.into_iter().map(|name| [name, kept[0].into(), kept[1].into(), fate.into()]));
        };
        side(beginnings(missing(before, after)), ["seen", "none"], absent(after, ["lost", "not found"]));
        side(beginnings(missing(after, before)), ["none", "seen"], new);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    let line = |[name, before, after, fate]: &[String; 4]| {
        let line = format!("{name:first$}  {before:second$}  {after:third$}  {fate}");
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::report::{Build, Coverage, Failure};

    fn result(build: Build, failures: &[(FailureKind, &str, u64)]) -> CheckResult {
        let failure = |&(kind, location, count): &(FailureKind, &str, u64)| Failure {
            kind,
            message: "some words".into(),
            location: location.into(),
            schedule: "1.schedule".into(),
            violations: Vec::new(),
            count,
            first: None,
        };
        CheckResult {
            program: "app".into(),
            build,
            strategy: "dfs".into(),
            schedules: 42,
            complete: true,
            coverage: Coverage::Preemptions(2),
            abandoned: 0,
            cut: 0,
            diverged: 0,
            failures: failures.iter().map(failure).collect(),
            estimate: None,
            outcomes: Vec::new(),
            reads_from: None,
            interleaved: Vec::new(),
            seconds: 0.5,
            schedules_per_second: 84.0,
            notes: Vec::new(),
        }
    }

    #[test]
    fn failures_are_told_apart_as_gone_left_and_new() {
        let before = result(Build::Original, &[(FailureKind::Assert, "app.c:31", 7), (FailureKind::Signal, "app.c:9", 1)]);
        let after = result(Build::Hardened, &[(FailureKind::Signal, "app.c:9", 2), (FailureKind::DeadlockLock, "app.c:3", 1)]);
        let expected = "\
                         original             hardened
strategy                 dfs                  dfs
schedules                42                   42
covered                  up to 2 preemptions  up to 2 preemptions
seconds                  0.50                 0.50
failures                 2                    2
  assert at app.c:31     in 7 schedules          none                 gone
  signal at app.c:9      in 1 schedule          in 2 schedules          left
  deadlock-lock at app.c:3  none              in 1 schedule          NEW
";
        let normalize = |text: &str| text.lines().map(|line| line.split_whitespace().map(String::from).collect()).collect::<Vec<Vec<_>>>();
        assert_eq!(normalize(&table(&before, &after)), normalize(expected));
    }

    #[test]
    fn nothing_is_said_to_be_gone_or_new_of_which_only_a_part_was_explored() {
        let failing = [(FailureKind::Assert, "app.c:31", 7)];
        let part = |failures: &[_]| CheckResult { complete: false, ..result(Build::Hardened, failures) };
        let fate = |before: &CheckResult, after: &CheckResult| table(before, after).lines().last().expect("a failure").to_string();
        assert!(fate(&result(Build::Original, &failing), &part(&[])).ends_with("  not found"));
        assert!(fate(&part(&[]), &result(Build::Hardened, &failing)).ends_with("  NEW, or not found before"));
        assert!(fate(&part(&failing), &result(Build::Hardened, &[])).ends_with("  gone"));
    }

    #[test]
    fn outcomes_that_begin_alike_are_one_line_and_of_many_only_some_are_shown() {
        let outcome = |(identity, text): (u64, String)| Outcome { identity, count: 1, text };
        let with = |outcomes: Vec<(u64, String)>| CheckResult {
            outcomes: outcomes.into_iter().map(outcome).collect(),
            ..result(Build::Original, &[])
        };
        let before = with((0..900).map(|n| (n, "begun".into())).chain([(900, "x".into())]).collect());
        let after = with((1000..1020).map(|n| (n, format!("{n}"))).collect());
        let table = table(&before, &after);
        let of = |fate: &str| table.lines().filter(|line| line.ends_with(fate)).map(|line| line.trim().to_string()).collect::<Vec<_>>();
        let columns = |line: &str| line.split("  ").map(str::trim).filter(|word| !word.is_empty()).map(String::from).collect::<Vec<_>>();
        let lost: Vec<_> = of("lost").iter().map(|line| columns(line)).collect();
        assert_eq!(lost, [["900 that begin \"begun\"", "seen", "none", "lost"], ["\"x\"", "seen", "none", "lost"]]);
        let new = of("NEW");
        assert_eq!(new.len(), SHOWN + 1);
        assert_eq!(columns(&new[SHOWN]), ["and 12 more (--json has all)", "none", "seen", "NEW"]);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let before = result(Build::Original, &[(FailureKind::DeadlockCondition, "some/long/path.c:1234", 7)]);
        let table = table(&before, &result(Build::Hardened, &[]));
        let column = |line: &str, word: &str| line.find(word).map(|at| line[..at].chars().count());
        let mut lines = table.lines();
        let heading = lines.next().expect("a heading");
        assert_eq!(column(heading, "hardened"), column(lines.last().expect("a failure"), "none"), "{table}");
    }
}
