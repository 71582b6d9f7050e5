//! A schedule as a picture in text: a column a thread, a row a step, time goes down.
//!
//! ```text
//!  step  t0                t1
//!     1  create
//!     2                    start
//!     3                    read x (app.c:12)
//!     4  read x (app.c:12)
//!        failed: assert at app.c:31: Assertion `x == 2' failed.
//! ```
//!
//! Wide programs do not fit: with more than [`COLUMNS`] threads, threads share columns, and each step names its own.

use std::format;
use std::string::String;
use std::vec::Vec;

use model::event::KindCode;
use model::ids::{SiteKey, ThreadId};
use model::schedule::{Run, Schedule, ScheduleStep};

/// The most columns that are drawn.
pub const COLUMNS: usize = 4;

/// The widest text in a column, in characters.
const WIDEST: usize = 48;

/// What is known of the sites of a program.
pub trait Words {
    /// Where a site stands in the source.
    fn place(&self, site: SiteKey) -> Option<String>;
    /// What it accesses.
    fn name(&self, site: SiteKey) -> Option<String>;
    /// What people call what happens there, if not by its kind.
    fn verb(&self, site: SiteKey, kind: KindCode) -> Option<String>;
}

/// Draws a schedule.
#[must_use]
pub fn timeline(schedule: &Schedule, words: &impl Words) -> String {
    let mut threads: Vec<ThreadId> = schedule.runs.iter().map(|run| run.step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let crowded = threads.len() > COLUMNS;
    let column = |thread: ThreadId| threads.iter().position(|&t| t == thread).unwrap_or(0) % COLUMNS;
    let cells: Vec<(usize, u64, String)> = numbered(&schedule.runs)
        .map(|(number, run)| {
            let owner = if crowded { format!("{}: ", run.step.thread) } else { String::new() };
            (column(run.step.thread), number, clip(&(owner + &describe(run, words))))
        })
        .collect();
    let headings = if crowded { Vec::new() } else { threads.iter().map(|thread| format!("{thread}")).collect() };
    let mut widths = [0; COLUMNS];
    let texts = cells.iter().map(|(at, _, text)| (*at, text)).chain(headings.iter().enumerate());
    for (at, text) in texts {
        widths[at] = widths[at].max(text.chars().count() + 2);
    }
    let mut picture = String::new();
    let mut row = |number: &str, cells: &[(usize, &str)]| {
        let mut line = format!("{number:>5}  ");
        let mut filled = 0;
        for (at, text) in cells {
            let start: usize = widths[..*at].iter().sum();
            line.extend(core::iter::repeat_n(' ', start - filled));
            line.push_str(text);
            filled = start + text.chars().count();
        }
        picture.push_str(line.trim_end());
        picture.push('\n');
    };
    let headings: Vec<(usize, &str)> = headings.iter().map(String::as_str).enumerate().collect();
    row("step", &headings);
    for (at, number, text) in &cells {
        row(&format!("{number}"), &[(*at, text)]);
    }
    if let Some(failure) = &schedule.failure {
        row("", &[(0, &format!("failed: {} at {}: {}", failure.kind, failure.location, failure.message))]);
    }
    picture
}

/// Each run with the number of its first step, from 1.
fn numbered(runs: &[Run]) -> impl Iterator<Item = (u64, &Run)> {
    runs.iter().scan(1, |next, run| {
        let number = *next;
        *next += u64::from(run.count);
        Some((number, run))
    })
}

fn describe(run: &Run, words: &impl Words) -> String {
    let ScheduleStep { kind, site, object, picks, .. } = &run.step;
    let mut text = site.and_then(|site| words.verb(site, *kind)).unwrap_or_else(|| format!("{kind}"));
    // The number of an access says nothing to people.
    let known = site.and_then(|site| words.name(site));
    if let Some(object) = known.as_ref().or(object.as_ref().filter(|object| !object.starts_with('#'))) {
        text.push(' ');
        text.push_str(object);
    }
    if let Some(place) = site.and_then(|site| words.place(site)) {
        text.push_str(&format!(" ({place})"));
    }
    for pick in picks {
        text.push_str(&format!(" [choice {pick}]"));
    }
    if run.count > 1 {
        text.push_str(&format!(" ×{}", run.count));
    }
    text
}

fn clip(text: &str) -> String {
    if text.chars().count() <= WIDEST { text.into() } else { text.chars().take(WIDEST - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::report::{Build, FailureKind};
    use model::schedule::ScheduleFailure;

    fn schedule(steps: &[(u32, &str, Option<&str>)]) -> Schedule {
        let mut schedule = Schedule {
            program: "app".into(),
            build: "0".into(),
            variant: Build::Original,
            arguments: Vec::new(),
            strategy: "dfs".into(),
            habits: 0,
            failure: Some(ScheduleFailure {
                kind: FailureKind::Assert,
                location: "app.c:31".into(),
                message: "x == 2".into(),
                critical: None,
            }),
            runs: Vec::new(),
        };
        for (thread, kind, object) in steps {
            schedule.push(ScheduleStep {
                thread: ThreadId(*thread),
                kind: kind.parse().expect("a kind"),
                site: object.map(|_| SiteKey(7)),
                object: object.map(String::from),
                picks: Vec::new(),
            });
        }
        schedule
    }

    /// The same of every site.
    #[derive(Default)]
    struct Same {
        place: Option<&'static str>,
        name: Option<&'static str>,
        verb: Option<&'static str>,
    }

    impl Words for Same {
        fn place(&self, _: SiteKey) -> Option<String> {
            self.place.map(String::from)
        }

        fn name(&self, _: SiteKey) -> Option<String> {
            self.name.map(String::from)
        }

        fn verb(&self, _: SiteKey, _: KindCode) -> Option<String> {
            self.verb.map(String::from)
        }
    }

    #[test]
    fn two_threads_stand_side_by_side() {
        let schedule =
            schedule(&[(0, "create", None), (1, "start", None), (1, "read", Some("x")), (1, "read", Some("x")), (0, "write", Some("x"))]);
        let expected = "\
\x20step  t0                  t1
    1  create
    2                      start
    3                      read x (app.c:12) ×2
    5  write x (app.c:12)
       failed: assert at app.c:31: x == 2
";
        assert_eq!(timeline(&schedule, &Same { place: Some("app.c:12"), ..Same::default() }), expected);
    }

    #[test]
    fn accesses_are_named_by_what_they_access() {
        let draw = |words: Same| timeline(&schedule(&[(0, "write", Some("#17"))]), &words);
        let drawn = draw(Same { name: Some("counter"), ..Same::default() });
        assert!(drawn.contains("write counter\n"), "{drawn}");
        let drawn = draw(Same::default());
        assert!(drawn.contains("write\n"), "{drawn}");
        let drawn = draw(Same { verb: Some("free"), ..Same::default() });
        assert!(drawn.contains("free\n"), "{drawn}");
    }

    #[test]
    fn many_threads_share_columns_and_are_named() {
        let steps: Vec<(u32, &str, Option<&str>)> = (0..6).map(|thread| (thread, "yield", None)).collect();
        let drawn = timeline(&schedule(&steps), &Same::default());
        assert!(drawn.contains("t5: yield"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() < 80), "{drawn}");
    }
}
