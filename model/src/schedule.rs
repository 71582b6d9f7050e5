//! The text form of a schedule: which thread performs each step, keyed by stable sites, so that `replay` can follow it
//! after unrelated code was compiled anew, and can name the first event that differs.
//!
//! ```text
//! atomfix-schedule 1
//! program ./app
//! build 5d0c0f5e0b7a1c22
//! variant original
//! argument -n
//! argument 2
//! strategy dfs
//! failure assert
//! location app.c:31
//! message Assertion `x == 2' failed.
//! critical 4
//! steps 7
//! t0 create - -
//! t1 start - -
//! t1 read s00112233445566aa counter *2
//! t0 signal s00112233445566bb ready
//! pick 1
//! t1 atomic-update s00112233445566cc counter
//! t0 unlock - -
//! checksum 0123456789abcdef
//! ```
//!
//! A step is thread, kind, site and object (`-` where there is none), and `*n` when it comes n times in a row. A `pick`
//! belongs to the step before it. Text to the end of the line has `\`, line ends and carriage returns escaped, and so has an
//! object its spaces (`\_`). A line `habits NUMBER` after the strategy is there only where it is not 0. `failure`, `location` and `message` come together or not at all. The checksum is FNV-1a over
//! all bytes before its line; as no step of that hash loses anything, no single flipped bit goes unnoticed.
//!
//! Not here: following a schedule (`explorer::strategy::replay`), and whether it fits a build.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::event::KindCode;
use crate::ids::{SiteKey, ThreadId, fnv1a};
use crate::report::{Build, FailureKind};

/// The version of the form that is read and written.
pub const SCHEDULE_VERSION: u32 = 1;

/// A schedule of one execution of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The path of the program, as the user named it.
    pub program: String,
    /// The hash of its build.
    pub build: String,
    /// Which build that is.
    pub variant: Build,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The strategy that found it.
    pub strategy: String,
    /// What the program does for which the engine has scheduling points that other programs do without, as bits of a number of its own.
    pub habits: u64,
    /// What went wrong at its end, if anything.
    pub failure: Option<ScheduleFailure>,
    /// The steps, equal ones in a row joined. Built by [`Schedule::push`].
    pub runs: Vec<Run>,
}

/// What goes wrong at the end of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleFailure {
    /// What it is.
    pub kind: FailureKind,
    /// Where in the source, or `?`.
    pub location: String,
    /// In words.
    pub message: String,
    /// After how many steps it is certain, if that is known.
    pub critical: Option<u64>,
}

/// Equal steps in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The step.
    pub step: ScheduleStep,
    /// How often. invariant: at least 1, and 1 when the step has picks.
    pub count: u32,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleStep {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub kind: KindCode,
    /// Where in the code.
    pub site: Option<SiteKey>,
    /// To which object or variable, by name.
    pub object: Option<String>,
    /// Which options were taken in it.
    pub picks: Vec<u32>,
}

/// Why a text is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The line that shows it, from 1.
    pub line: u32,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The text does not begin as our schedules do.
    Foreign,
    /// It has a version that we do not read.
    Version(String),
    /// The text ends here; this was to follow.
    Truncated(&'static str),
    /// This was expected.
    Expected(&'static str),
    /// Something follows the checksum.
    Trailing,
    /// The checksum does not match.
    Checksum,
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.problem {
            Problem::Foreign => f.write_str("not a schedule of atomfix"),
            Problem::Version(found) => write!(f, "version {found} of the schedule's form, where this atomfix reads {SCHEDULE_VERSION}"),
            Problem::Truncated(what) => write!(f, "the schedule is truncated: {what} is missing"),
            Problem::Expected(what) => write!(f, "expected {what}"),
            Problem::Trailing => f.write_str("something follows the end of the schedule"),
            Problem::Checksum => f.write_str("the checksum does not match: the schedule is damaged or was edited"),
        }
    }
}

impl core::error::Error for ScheduleError {}

impl Schedule {
    /// Adds a step at the end.
    pub fn push(&mut self, step: ScheduleStep) {
        match self.runs.last_mut() {
            Some(run) if run.step == step && step.picks.is_empty() && run.count < u32::MAX => run.count += 1,
            _ => self.runs.push(Run { step, count: 1 }),
        }
    }

    /// Every step.
    pub fn steps(&self) -> impl Iterator<Item = &ScheduleStep> {
        self.runs.iter().flat_map(|run| (0..run.count).map(move |_| &run.step))
    }

    /// How many steps there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.count)).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = String::new();
        self.write_body(&mut body)?;
        writeln!(f, "{body}checksum {}", checksum(body.as_bytes()))
    }
}

impl Schedule {
    fn write_body(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "{MAGIC} {SCHEDULE_VERSION}")?;
        writeln!(out, "program {}", Line(&self.program))?;
        writeln!(out, "build {}", Line(&self.build))?;
        writeln!(out, "variant {}", self.variant)?;
        for argument in &self.arguments {
            writeln!(out, "argument {}", Line(argument))?;
        }
        writeln!(out, "strategy {}", Line(&self.strategy))?;
        if self.habits != 0 {
            writeln!(out, "habits {}", self.habits)?;
        }
        if let Some(failure) = &self.failure {
            writeln!(out, "failure {}", failure.kind)?;
            writeln!(out, "location {}", Line(&failure.location))?;
            writeln!(out, "message {}", Line(&failure.message))?;
            if let Some(critical) = failure.critical {
                writeln!(out, "critical {critical}")?;
            }
        }
        writeln!(out, "steps {}", self.len())?;
        for Run { step, count } in &self.runs {
            write!(out, "{} {} ", step.thread, step.kind)?;
            match step.site {
                Some(site) => write!(out, "{site}")?,
                None => out.push('-'),
            }
            match step.object.as_deref() {
                Some(object) => write!(out, " {}", Word(object))?,
                None => out.push_str(" -"),
            }
            if *count > 1 {
                write!(out, " *{count}")?;
            }
            out.push('\n');
            for pick in &step.picks {
                writeln!(out, "pick {pick}")?;
            }
        }
        Ok(())
    }
}

fn checksum(body: &[u8]) -> String {
    alloc::format!("{:016x}", fnv1a(body))
}

const MAGIC: &str = "atomfix-schedule";

/// Text up to the end of a line.
struct Line<'a>(&'a str);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '\n' => f.write_str("\\n"),
            '\r' => f.write_str("\\r"),
            c => f.write_char(c),
        })
    }
}

/// Text up to a space; never `-`, never empty, never like a count.
struct Word<'a>(&'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("\\e");
        }
        for (at, part) in self.0.split(' ').enumerate() {
            let mark = if at > 0 {
                "\\_"
            } else if part == "-" || part.starts_with('*') {
                "\\!"
            } else {
                ""
            };
            write!(f, "{mark}{}", Line(part))?;
        }
        Ok(())
    }
}

/// Undoes `Line` and `Word`.
fn unescape(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next()? {
            '\\' => plain.push('\\'),
            'n' => plain.push('\n'),
            'r' => plain.push('\r'),
            '_' => plain.push(' '),
            '!' | 'e' => {}
            _ => return None,
        }
    }
    Some(plain)
}

/// Reads the text form.
pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
    let mut lines = Lines::new(text);
    lines.header()?;
    let program = lines.text("program ", "'program PATH'")?;
    let build = lines.text("build ", "'build HASH'")?;
    let variant = lines.one("variant ", "'variant original' or 'variant hardened'", |word| match word {
        "original" => Some(Build::Original),
        "hardened" => Some(Build::Hardened),
        _ => None,
    })?;
    let mut arguments = Vec::new();
    while lines.next_starts("argument ") {
        arguments.push(lines.text("argument ", "'argument TEXT'")?);
    }
    let strategy = lines.text("strategy ", "'strategy NAME'")?;
    let habits = if lines.next_starts("habits ") { lines.one("habits ", "'habits NUMBER'", |word| word.parse().ok())? } else { 0 };
    let failure = if lines.next_starts("failure ") {
        Some(ScheduleFailure {
            kind: lines.one("failure ", "'failure KIND'", FailureKind::from_word)?,
            location: lines.text("location ", "'location PLACE'")?,
            message: lines.text("message ", "'message TEXT'")?,
            critical: if lines.next_starts("critical ") {
                Some(lines.one("critical ", "'critical NUMBER'", |word| word.parse().ok())?)
            } else {
                None
            },
        })
    } else {
        None
    };
    let count = lines.one("steps ", "'steps NUMBER'", |word| word.parse::<u64>().ok())?;
    let counted_at = lines.line;
    let mut schedule = Schedule { program, build, variant, arguments, strategy, habits, failure, runs: Vec::new() };
    while !lines.next_starts("checksum ") {
        if lines.next_starts("pick ") {
            let pick = lines.one("pick ", "'pick NUMBER'", |word| word.parse().ok())?;
            match schedule.runs.last_mut() {
                Some(run) if run.count == 1 => run.step.picks.push(pick),
                _ => return Err(lines.error(Problem::Expected("a single step before a 'pick'"))),
            }
        } else {
            let run = lines.one("", "a step 'THREAD KIND SITE OBJECT', a 'pick', or the 'checksum'", parse_run)?;
            schedule.runs.push(run);
        }
    }
    let body = lines.consumed;
    let claimed = lines.one("checksum ", "'checksum' and 16 hexadecimal digits", |word| (word.len() == 16).then_some(word))?;
    if claimed != checksum(&text.as_bytes()[..body]) {
        return Err(lines.error(Problem::Checksum));
    }
    if lines.consumed < text.len() {
        lines.line += 1;
        return Err(lines.error(Problem::Trailing));
    }
    if count != schedule.len() {
        return Err(ScheduleError { line: counted_at, problem: Problem::Expected("as many steps as this line says") });
    }
    Ok(schedule)
}

fn parse_run(line: &str) -> Option<Run> {
    let mut words = line.split(' ');
    let mut next = || words.next();
    let thread = next()?.strip_prefix('t')?.parse().ok().map(ThreadId)?;
    let kind = next()?.parse().ok()?;
    let site = match next()? {
        "-" => None,
        site => Some(site.parse().ok()?),
    };
    let object = match next()? {
        "-" => None,
        "" => return None,
        object => Some(unescape(object)?),
    };
    let count = match next() {
        None => 1,
        Some(count) => count.strip_prefix('*')?.parse().ok().filter(|&count| count > 1)?,
    };
    if next().is_some() {
        return None;
    }
    Some(Run { step: ScheduleStep { thread, kind, site, object, picks: Vec::new() }, count })
}

/// The lines of a text. A line without its line end is the mark of a truncated text.
struct Lines<'a> {
    text: &'a str,
    consumed: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, consumed: 0, line: 0 }
    }

    fn error(&self, problem: Problem) -> ScheduleError {
        ScheduleError { line: self.line.max(1), problem }
    }

    fn next_starts(&self, prefix: &str) -> bool {
        self.text[self.consumed..].starts_with(prefix)
    }

    fn header(&mut self) -> Result<(), ScheduleError> {
        if !self.text.starts_with(MAGIC) {
            let begun = !self.text.is_empty() && MAGIC.starts_with(self.text);
            return Err(self.error(if begun { Problem::Truncated("the version") } else { Problem::Foreign }));
        }
        let version = self.one(MAGIC, "a version", |rest| rest.strip_prefix(' ').map(ToString::to_string))?;
        if version == SCHEDULE_VERSION.to_string() { Ok(()) } else { Err(self.error(Problem::Version(version))) }
    }

    /// The next line, which begins with `prefix` and of which `read` understands the rest.
    fn one<T>(&mut self, prefix: &str, what: &'static str, read: impl Fn(&'a str) -> Option<T>) -> Result<T, ScheduleError> {
        self.line += 1;
        let rest = &self.text[self.consumed..];
        let Some((line, _)) = rest.split_once('\n') else {
            return Err(self.error(Problem::Truncated(what)));
        };
        let value = line.strip_prefix(prefix).and_then(read).ok_or_else(|| self.error(Problem::Expected(what)))?;
        self.consumed += line.len() + 1;
        Ok(value)
    }

    fn text(&mut self, prefix: &str, what: &'static str) -> Result<String, ScheduleError> {
        self.one(prefix, what, unescape)
    }
}

#[cfg(test)]
mod tests;
