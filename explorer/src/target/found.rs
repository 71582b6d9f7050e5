//! What the engine reports: text, appended as it is found, so that what was found survives the death of the target.
//!
//! ```text
//! failure 0 assert t1 s00112233445566aa
//! location app.c:12
//! first 7
//! message Assertion `x == 2' failed
//! detail t0 waits for the end of t1
//! t0 create - -
//! t1 read s00112233445566aa #17 7ffff7d0+4
//! end
//! minimized 0
//! t0 create - -
//! end
//! critical 0 1
//! out 1
//! count 0 12
//! coverage all sequentially consistent schedules
//! remark driver fork: the program forks
//! divergence step 3: ...
//! shared 7ffff7d0+4
//! most-steps 20000
//! limited yes
//! reads-from 5
//! class 5d0c0f5e0b7a1c22 once
//! left
//! t0 create - 1 - -
//! end
//! asked 3
//! plan 0 t1 write 7ffff7d0+4 - -
//! end
//! ```
//!
//! A step is thread, kind, site, for accesses `#n`: the n-th access that its thread makes, whether others were
//! scheduling points or not; and the memory that it touches, address (hexadecimal) and length.
//! `interleaved FIRST REMOTE SECOND` names the sites of a pair that was to be kept, and of what came between.
//! `out 1`: some random ends of the schedule of failure 1 do not fail, as those of who goes round and may still get out.
//! `outcome HASH COUNT TEXT` is a way in which executions that did not fail ended, by what they printed. Text to the end of a line has `\` and line ends escaped.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use model::event::{KindCode, Range};
use model::ids::{SiteKey, ThreadId};
use model::report::{Coverage, FailureKind, Outcome};

use crate::strategy::dpor::Asked;
use crate::strategy::sketch::{Class, Seen};
use crate::strategy::subtree::Subtree;

/// How many random ends of a beginning all fail when its failure counts as certain.
pub const ENDS: u32 = 30;

/// A step that was taken, with what is needed to take it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenStep {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: KindCode,
    /// Where.
    pub site: Option<SiteKey>,
    /// For an access: which one of its thread's.
    pub ordinal: Option<u64>,
    /// The memory that it touches, as far as that is an address of this program image. Schedules do not keep it.
    pub range: Option<Range>,
    /// Options taken in it.
    pub picks: Vec<u32>,
}

/// A class of failures: what went wrong and where, with the first schedule that led there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFailure {
    /// What.
    pub kind: FailureKind,
    /// Whose step it was; `None` when it is nobody's, such as a deadlock.
    pub thread: Option<ThreadId>,
    /// The last site before it, or the one where threads are stuck.
    pub site: Option<SiteKey>,
    /// The source position, where the program itself names it.
    pub location: Option<String>,
    /// In words.
    pub message: String,
    /// More words, a line each.
    pub details: Vec<String>,
    /// How to get there.
    pub steps: Vec<TakenStep>,
    /// A shorter or simpler way, if one was found.
    pub minimized: Option<Vec<TakenStep>>,
    /// After how many steps of that schedule it is certain, as far as random ends can tell.
    pub critical: Option<u64>,
    /// Whether even after all of it random ends do not all fail.
    pub comes_out: bool,
    /// How many executions ended so.
    pub count: u64,
    /// Which execution was the first to end so, from 1, of all that were begun.
    pub first: u64,
}

/// A pair that was to be kept, and what came between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interleaved {
    /// The first access.
    pub first: SiteKey,
    /// The access of another thread.
    pub remote: SiteKey,
    /// The second access.
    pub second: SiteKey,
}

/// All that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By class, in the order of discovery.
    pub failures: Vec<FoundFailure>,
    /// What is covered; `None` when the exploration was interrupted.
    pub coverage: Option<Coverage>,
    /// How executions that did not fail ended, when that was asked for.
    pub outcomes: Vec<Outcome>,
    /// Pairs that were to be kept and that some execution interleaved, each once.
    pub interleaved: Vec<Interleaved>,
    /// What the engine has to say about itself.
    pub remarks: Vec<String>,
    /// All memory that was found shared, or was known to be.
    pub shared: Vec<Range>,
    /// After how many steps executions are cut, when that was measured or told.
    pub steps: Option<u64>,
    /// How many classes of executions differ in what reads read from, when that was asked for.
    pub reads_from: Option<u64>,
    /// Whether a bound has kept anything out.
    pub limited: bool,
    /// Of a block of samples: some of the classes of schedules that it has seen.
    pub classes: Vec<Class>,
    /// What a part of a search leaves to others.
    pub left: Vec<Subtree>,
    /// What a part of a search asks others for.
    pub asked: Vec<Asked>,
    /// Where an execution left the schedule it was to follow.
    pub divergence: Option<String>,
    /// That a message of the engine's own failure is there.
    pub broken: Option<String>,
    /// Why the engine cannot go on though it is not wrong.
    pub unable: Option<Unable>,
}

/// Why a program cannot be explored, or not any further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unable {
    /// What is in the way.
    pub why: String,
    /// What its user can do.
    pub help: String,
}

impl Unable {
    /// Writes it, as a line.
    pub fn write(&self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "unable {}", escape(&[&self.why[..], &self.help].join("\n")));
    }

    fn read(value: &str) -> Self {
        let said = unescape(value);
        let (why, help) = said.split_once('\n').unwrap_or((&said, ""));
        Self { why: why.into(), help: help.into() }
    }
}

/// Writes steps, a line each.
pub fn write_steps(text: &mut String, steps: &[TakenStep]) {
    for step in steps {
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {} ", step.thread, step.kind);
        let _ = match step.site {
            Some(site) => write!(text, "{site} "),
            None => write!(text, "- "),
        };
        let _ = match step.ordinal {
            Some(ordinal) => write!(text, "#{ordinal}"),
            None => write!(text, "-"),
        };
        let _ = match step.range {
            Some(range) => writeln!(text, " {}", range_text(range)),
            None => writeln!(text),
        };
        for pick in &step.picks {
            let _ = writeln!(text, "pick {pick}");
        }
    }
}

/// Reads steps up to `end` or the end of the text; `None` when a line is not one.
pub fn read_steps<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<Vec<TakenStep>> {
    let mut steps: Vec<TakenStep> = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["end"] => break,
            ["pick", option] => steps.last_mut()?.picks.push(option.parse().ok()?),
            [thread, kind, site, ordinal, ref range @ ..] if range.len() < 2 => steps.push(TakenStep {
                thread: read_thread(thread)?,
                kind: kind.parse().ok()?,
                site: if site == "-" { None } else { Some(site.parse().ok()?) },
                ordinal: if ordinal == "-" { None } else { Some(ordinal.strip_prefix('#')?.parse().ok()?) },
                range: match range.first() {
                    Some(range) => Some(read_range(range)?),
                    None => None,
                },
                picks: Vec::new(),
            }),
            _ => return None,
        }
    }
    Some(steps)
}

/// A range of memory as text.
#[must_use]
pub fn range_text(range: Range) -> String {
    alloc::format!("{:x}+{}", range.address, range.length)
}

/// After how many steps executions are cut, as text.
#[must_use]
pub fn most_steps_text(steps: u64) -> String {
    alloc::format!("most-steps {steps}\n")
}

/// A class of schedules as text.
#[must_use]
pub fn class_text(class: Class) -> String {
    let seen = if class.seen == Seen::Once { "once" } else { "again" };
    alloc::format!("class {:x} {seen}\n", class.key)
}

/// Reads a range of memory.
#[must_use]
pub fn read_range(text: &str) -> Option<Range> {
    let (address, length) = text.split_once('+')?;
    Some(Range { address: u64::from_str_radix(address, 16).ok()?, length: length.parse().ok()? })
}

fn read_thread(text: &str) -> Option<ThreadId> {
    text.strip_prefix('t')?.parse().ok().map(ThreadId)
}

/// Writes a failure that was just found, as number `index`.
#[must_use]
pub fn failure_text(index: usize, failure: &FoundFailure) -> String {
    let mut text = String::new();
    let thread = failure.thread.map_or_else(|| String::from("-"), |thread| thread.to_string());
    let site = failure.site.map_or_else(|| String::from("-"), |site| site.to_string());
    let _ = writeln!(text, "failure {index} {} {thread} {site}", failure.kind);
    if let Some(location) = &failure.location {
        let _ = writeln!(text, "location {}", escape(location));
    }
    let _ = writeln!(text, "first {}", failure.first);
    let _ = writeln!(text, "message {}", escape(&failure.message));
    for detail in &failure.details {
        let _ = writeln!(text, "detail {}", escape(detail));
    }
    text.push_str("steps\n");
    write_steps(&mut text, &failure.steps);
    text.push_str("end\n");
    text
}

/// Writes a better schedule for failure `index`.
#[must_use]
pub fn minimized_text(index: usize, steps: &[TakenStep]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "minimized {index}");
    write_steps(&mut text, steps);
    text.push_str("end\n");
    text
}

/// Escapes what would end a line.
#[must_use]
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

/// Undoes `escape`.
#[must_use]
pub fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => plain.push('\n'),
                Some('r') => plain.push('\r'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            other => plain.push(other),
        }
    }
    plain
}

impl Found {
    /// The text of all this.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, failure) in self.failures.iter().enumerate() {
            text.push_str(&failure_text(index, failure));
            if let Some(steps) = &failure.minimized {
                text.push_str(&minimized_text(index, steps));
            }
            if let Some(critical) = failure.critical {
                let _ = writeln!(text, "critical {index} {critical}");
            }
            if failure.comes_out {
                let _ = writeln!(text, "out {index}");
            }
            let _ = writeln!(text, "count {index} {}", failure.count);
        }
        for range in &self.shared {
            let _ = writeln!(text, "shared {}", range_text(*range));
        }
        if let Some(steps) = self.steps {
            text.push_str(&most_steps_text(steps));
        }
        if let Some(classes) = self.reads_from {
            let _ = writeln!(text, "reads-from {classes}");
        }
        if self.limited {
            text.push_str("limited yes\n");
        }
        for class in &self.classes {
            text.push_str(&class_text(*class));
        }
        for subtree in &self.left {
            text.push_str("left\n");
            subtree.write(&mut text);
            text.push_str("end\n");
        }
        for asked in &self.asked {
            asked.write(&mut text);
        }
        if let Some(coverage) = self.coverage {
            let _ = writeln!(text, "coverage {coverage}");
        }
        for Outcome { identity, count, text: shown } in &self.outcomes {
            let _ = writeln!(text, "outcome {identity:x} {count} {}", escape(shown));
        }
        for Interleaved { first, remote, second } in &self.interleaved {
            let _ = writeln!(text, "interleaved {first} {remote} {second}");
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "remark {}", escape(remark));
        }
        for (key, said) in [("divergence", &self.divergence), ("broken", &self.broken)] {
            if let Some(said) = said {
                let _ = writeln!(text, "{key} {}", escape(said));
            }
        }
        if let Some(unable) = &self.unable {
            unable.write(&mut text);
        }
        text
    }

    /// Reads the text; a line that is cut short, because the target died while writing it, ends it.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let mut found = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if found.read(line, &mut lines).is_none() {
                break;
            }
        }
        found
    }

    fn read<'a>(&mut self, line: &str, lines: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        match key {
            "failure" => {
                let words: Vec<&str> = value.split(' ').collect();
                let [_, kind, thread, site] = words[..] else { return None };
                self.failures.push(FoundFailure {
                    kind: FailureKind::from_word(kind)?,
                    thread: if thread == "-" { None } else { Some(read_thread(thread)?) },
                    site: if site == "-" { None } else { Some(site.parse().ok()?) },
                    location: None,
                    message: String::new(),
                    details: Vec::new(),
                    steps: Vec::new(),
                    minimized: None,
                    critical: None,
                    comes_out: false,
                    count: 1,
                    first: 1,
                });
            }
            "location" => self.failures.last_mut()?.location = Some(unescape(value)),
            "first" => self.failures.last_mut()?.first = value.parse().ok()?,
            "message" => self.failures.last_mut()?.message = unescape(value),
            "detail" => self.failures.last_mut()?.details.push(unescape(value)),
            "steps" => self.failures.last_mut()?.steps = read_steps(lines)?,
            "minimized" => {
                let index: usize = value.parse().ok()?;
                self.failures.get_mut(index)?.minimized = Some(read_steps(lines)?);
            }
            "critical" => {
                let (index, steps) = value.split_once(' ')?;
                self.failures.get_mut(index.parse::<usize>().ok()?)?.critical = Some(steps.parse().ok()?);
            }
            "out" => self.failures.get_mut(value.parse::<usize>().ok()?)?.comes_out = true,
            "count" => {
                let (index, count) = value.split_once(' ')?;
                self.failures.get_mut(index.parse::<usize>().ok()?)?.count = count.parse().ok()?;
            }
            "coverage" => self.coverage = Some(value.parse().ok()?),
            "outcome" => {
                let mut words = value.splitn(3, ' ');
                let identity = u64::from_str_radix(words.next()?, 16).ok()?;
                let count = words.next()?.parse().ok()?;
                self.outcomes.push(Outcome { identity, count, text: unescape(words.next()?) });
            }
            "interleaved" => {
                let words: Vec<&str> = value.split(' ').collect();
                let [first, remote, second] = words[..] else { return None };
                self.interleaved.push(Interleaved {
                    first: first.parse().ok()?,
                    remote: remote.parse().ok()?,
                    second: second.parse().ok()?,
                });
            }
            "remark" => self.remarks.push(unescape(value)),
            "shared" => self.shared.push(read_range(value)?),
            "class" => {
                let (key, seen) = value.split_once(' ')?;
                let seen = if seen == "once" { Seen::Once } else { Seen::Again };
                self.classes.push(Class { key: u64::from_str_radix(key, 16).ok()?, seen });
            }
            "most-steps" => self.steps = Some(value.parse().ok()?),
            "reads-from" => self.reads_from = Some(value.parse().ok()?),
            "limited" => self.limited = value == "yes",
            "left" => self.left.push(Subtree::read(lines)?),
            "asked" => self.asked.push(Asked::read(value, lines)?),
            "divergence" => self.divergence = Some(unescape(value)),
            "broken" => self.broken = Some(unescape(value)),
            "unable" => self.unable = Some(Unable::read(value)),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> FoundFailure {
        let kind = KindCode::from_number(5).expect("a kind");
        let step = |thread, ordinal| TakenStep {
            thread: ThreadId(thread),
            kind,
            site: None,
            ordinal: Some(ordinal),
            range: (ordinal > 1).then_some(Range { address: 0xabc, length: 4 }),
            picks: Vec::new(),
        };
        FoundFailure {
            kind: FailureKind::Assert,
            thread: Some(ThreadId(1)),
            site: Some(SiteKey(3)),
            location: Some("a b.c:3".into()),
            message: "one\\two\nthree".into(),
            details: ["x".to_string()].to_vec(),
            steps: [step(0, 1), step(1, 2)].to_vec(),
            minimized: None,
            critical: None,
            comes_out: false,
            count: 1,
            first: 7,
        }
    }

    #[test]
    fn what_was_found_reads_back() {
        let mut text = failure_text(0, &failure());
        assert_eq!(Found::from_text(&text).failures, [failure()]);
        text.push_str(&minimized_text(0, &failure().steps[..1]));
        text.push_str("critical 0 1\nout 0\ncount 0 5\ncoverage up to 2 preemptions\nremark hm\ninterleaved s0000000000000001 s0000000000000002 s0000000000000003\nshared ff+2\nmost-steps 20000\nlimited yes\nclass ff once\nleft\nt1 - - 2 - -\nend\nleft\nend\nasked 2\nplan 0 t1 read 10+4 - -\nend\n");
        let found = Found::from_text(&text);
        assert_eq!((found.failures[0].count, found.failures[0].critical, found.failures[0].comes_out), (5, Some(1), true));
        assert_eq!(found.failures[0].minimized.as_deref(), Some(&failure().steps[..1]));
        assert_eq!(found.coverage, Some(Coverage::Preemptions(2)));
        assert_eq!(found.remarks, ["hm"]);
        assert_eq!(Found::from_text(&found.to_text()), found);
        assert_eq!(found.classes, [Class { key: 255, seen: Seen::Once }]);
        assert_eq!((found.shared, found.limited), ([Range { address: 0xff, length: 2 }].to_vec(), true));
        let left = Subtree::read(&mut "t1 - - 2 - -".lines()).expect("a subtree");
        assert_eq!(found.left, [left, Subtree::default()]);
        assert_eq!(found.steps, Some(20_000));
        let asked = Asked::read("2", &mut "plan 0 t1 read 10+4 - -".lines());
        assert_eq!(found.asked, [asked.expect("a sequence")]);
    }

    #[test]
    fn text_that_is_cut_short_gives_what_came_before() {
        let text = failure_text(0, &failure());
        for length in 0..text.len() {
            assert!(Found::from_text(&text[..length]).failures.len() <= 1);
        }
    }
}
