//! An exploration in a file, so that it can be gone on with, or joined with those of other shards. Framed by `model::wire`; the body
//! is text:
//!
//! ```text
//! build 5d0c0f5e0b7a1c22
//! argument -n
//! shard 2 4
//! strategy dfs
//! …                                   the rest of what was asked for, as in `target::setup`
//! parts
//! shared 7ffff7d0+4
//! blocks 3
//! end no
//! todo 0.3 - search split             then the part, as in `target::setup`
//! part sleep 65536
//! end
//! todo 7 1000 block 7
//! todo 1 1000 member pos 0            of a portfolio
//! trunk 0.1 49                        how many parts it has left; then the steps, as in `strategy::subtree`
//! end
//! done 0.1 counted
//! numbers 120 0 0 7 0 2400 127 0 3 0 0 1200000
//! early 8000000000000101 3
//! failure 0 assert t1 s00112233445566aa
//! …                                   the rest of what was found, as in `target::found`
//! done-end
//! ```
//!
//! A part that was being done when the file was written counts as one to be done.

use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::time::Duration;
use std::vec::Vec;

use model::wire::{self, Damage, Kind};
use thiserror::Error;

use super::campaign::{Campaign, Done, Ended, Shard, Subject, Todo, WHOLE, What};
use super::id::PartId;
use super::task::{Rest, Task};
use super::total::{class, nothing};
use crate::strategy::Counts;
use crate::strategy::dpor::Trunk;
use crate::strategy::part::Part;
use crate::target::found::{Found, escape, range_text, read_range, unescape};
use crate::target::page::EarlyEnd;
use crate::target::setup::Setup;
use crate::target::watch::Explored;

/// An exploration in parts.
pub const EXPLORATION: Kind = Kind { tag: *b"expl", version: 3 };

/// Why a file of an exploration is of no use here.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Unusable {
    /// Not a sound file.
    #[error("{0}")]
    Damaged(#[from] Damage),
    /// Sound, but it does not say what such a file says.
    #[error("line {line} of it is not what an exploration says")]
    Unreadable {
        /// Which line, from 1.
        line: usize,
    },
    /// Of another build of the program.
    #[error("it explores another build of the program, or was made by another atomfix")]
    OtherBuild,
    /// Of other arguments of the program.
    #[error("it explores the program with other arguments: {there}")]
    OtherArguments {
        /// Which.
        there: String,
    },
    /// Of other options.
    #[error("it explores with other options: {how}")]
    OtherOptions {
        /// What differs first.
        how: String,
    },
    /// Of another shard.
    #[error("it explores shard {}/{}", .0.index, .0.of)]
    OtherShard(Shard),
    /// Not done.
    #[error("it is not finished: parts are left to do")]
    Unfinished,
    /// One shard twice.
    #[error("it explores shard {}/{}, as another file does", .0.index, .0.of)]
    SameShard(Shard),
    /// A shard is not there.
    #[error("there is no file of shard {}/{}", .0.index, .0.of)]
    MissingShard(Shard),
}

/// The bytes of a file.
#[must_use]
pub fn to_bytes(campaign: &Campaign) -> Vec<u8> {
    wire::frame(EXPLORATION, to_text(campaign).as_bytes())
}

/// Reads a file.
pub fn from_bytes(bytes: &[u8]) -> Result<Campaign, Unusable> {
    let body = wire::unframe(EXPLORATION, bytes)?;
    let text = core::str::from_utf8(body).map_err(|_| Unusable::Unreadable { line: 1 })?;
    let mut reader = Reader { lines: text.lines(), line: 0 };
    reader.read().ok_or(Unusable::Unreadable { line: reader.line })
}

/// Whether a file's exploration is the one that is wanted.
pub fn check(there: &Campaign, subject: &Subject, shard: Shard) -> Result<(), Unusable> {
    same_subject(&there.subject, subject)?;
    if there.shard == shard { Ok(()) } else { Err(Unusable::OtherShard(there.shard)) }
}

/// Whether both are of the same build, arguments and options.
fn same_subject(there: &Subject, here: &Subject) -> Result<(), Unusable> {
    if there.build != here.build {
        return Err(Unusable::OtherBuild);
    }
    if there.arguments != here.arguments {
        let there = if there.arguments.is_empty() { "none".to_string() } else { there.arguments.join(" ") };
        return Err(Unusable::OtherArguments { there });
    }
    let (there, here) = (there.setup.to_text(), here.setup.to_text());
    match difference(&there, &here) {
        Some(how) => Err(Unusable::OtherOptions { how }),
        None => Ok(()),
    }
}

/// What is different first between two setups, which have a line for each option that is not left out.
fn difference(there: &str, here: &str) -> Option<String> {
    let only = |these: &str, those: &str| these.lines().find(|line| those.lines().all(|other| other != *line)).map(str::to_string);
    let option = |line: &str| line.split(' ').next().map(str::to_string);
    match (only(there, here), only(here, there)) {
        (None, None) => (there != here).then(|| "in another order".to_string()),
        (Some(there), Some(here)) if option(&there) == option(&here) => Some(format!("`{there}`, not `{here}`")),
        (Some(there), _) => Some(format!("`{there}`, which is not asked for here")),
        (None, Some(here)) => Some(format!("not `{here}`")),
    }
}

/// Joins the shards of an exploration; an error names the file by its number. Where they found different memory to be shared, all
/// is to be done again with all of it.
pub fn merge(mut shards: Vec<Campaign>) -> Result<Campaign, (usize, Unusable)> {
    let mut seen = BTreeSet::new();
    for (at, shard) in shards.iter().enumerate() {
        let first = &shards[0];
        same_subject(&shard.subject, &first.subject).map_err(|error| (at, error))?;
        if !seen.insert(shard.shard) {
            return Err((at, Unusable::SameShard(shard.shard)));
        }
        if shard.shard.of != first.shard.of {
            return Err((at, Unusable::OtherShard(shard.shard)));
        }
        if !shard.is_over() {
            return Err((at, Unusable::Unfinished));
        }
    }
    let mut joined = shards.remove(0);
    let missing = (1..=joined.shard.of).map(|index| Shard { index, ..joined.shard }).find(|shard| !seen.contains(shard));
    if let Some(missing) = missing {
        return Err((0, Unusable::MissingShard(missing)));
    }
    let mut grown = Vec::new();
    for shard in shards {
        joined.done.extend(shard.done);
        joined.trunks.extend(shard.trunks);
        joined.next_block = joined.next_block.max(shard.next_block);
        if shard.shared != joined.shared {
            grown.extend(shard.shared);
        }
    }
    joined.shard = WHOLE;
    if !grown.is_empty() {
        joined.restart_with(grown);
    }
    joined.settle_anew();
    Ok(joined)
}

fn to_text(campaign: &Campaign) -> String {
    let Subject { build, arguments, setup } = &campaign.subject;
    let mut text = format!("build {build}\n");
    for argument in arguments {
        text += &format!("argument {}\n", escape(argument));
    }
    text += &format!("shard {} {}\n", campaign.shard.index, campaign.shard.of);
    text += &setup.to_text();
    text += "parts\n";
    for range in &campaign.shared {
        text += &format!("shared {}\n", range_text(*range));
    }
    let end = match campaign.end {
        Ended::No => "no",
        Ended::Covered => "covered",
        Ended::Early => "early",
    };
    text += &format!("blocks {}\nend {end}\n", campaign.next_block);
    for (id, todo) in campaign.running.iter().chain(&campaign.waiting) {
        write_todo(&mut text, "todo", id, todo);
    }
    for (id, (trunk, parts)) in &campaign.trunks {
        text += &format!("trunk {id} {parts}\n");
        trunk.write(&mut text);
    }
    for (id, done) in &campaign.done {
        let what = match done.what {
            What::Counted => "counted",
            What::Unfinished => "unfinished",
            What::Void => "void",
        };
        text += &format!("done {id} {what}\n");
        write_explored(&mut text, &done.explored);
        text += "done-end\n";
        if let Some(task) = &done.task {
            write_todo(&mut text, "again", id, &Todo { task: task.clone(), executions: None });
        }
    }
    text
}

fn write_todo(text: &mut String, key: &str, id: &PartId, todo: &Todo) {
    let executions = todo.executions.map_or_else(|| "-".to_string(), |executions| executions.to_string());
    *text += &format!("{key} {id} {executions} ");
    match &todo.task {
        Task::Whole => *text += "whole\n",
        Task::Block(block) => *text += &format!("block {block}\n"),
        Task::Member { name, block } => *text += &format!("member {name} {block}\n"),
        Task::Search(part, rest) => {
            *text += if *rest == Rest::Split { "search split\n" } else { "search dropped\n" };
            part.write(text);
        }
    }
}

fn write_explored(text: &mut String, explored: &Explored) {
    let Explored { counts, steps, executions, restarts, threads, notes, revocations, time, .. } = explored;
    let Counts { schedules, failed, cut, abandoned, diverged } = counts;
    let nanoseconds = time.as_nanos();
    *text += &format!(
        "numbers {schedules} {failed} {cut} {abandoned} {diverged} {steps} {executions} {restarts} {threads} {notes} {revocations} \
         {nanoseconds}\n"
    );
    for end in &explored.early_ends {
        *text += &format!("early {:x} {}\n", end.key(), end.count);
    }
    *text += &explored.found.to_text();
}

struct Reader<'a> {
    lines: core::str::Lines<'a>,
    line: usize,
}

impl<'a> Iterator for Reader<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.line += 1;
        self.lines.next()
    }
}

impl<'a> Reader<'a> {
    fn read(&mut self) -> Option<Campaign> {
        let build = self.next()?.strip_prefix("build ")?.to_string();
        let mut arguments = Vec::new();
        let shard = loop {
            match self.next()?.split_once(' ')? {
                ("argument", argument) => arguments.push(unescape(argument)),
                ("shard", shard) => {
                    let (index, of) = shard.split_once(' ')?;
                    break Shard { index: index.parse().ok()?, of: of.parse().ok()? };
                }
                _ => return None,
            }
        };
        (1..=shard.of).contains(&shard.index).then_some(())?;
        let setup = self.by_ref().take_while(|line| *line != "parts").fold(String::new(), |text, line| text + line + "\n");
        let setup = Setup::from_text(&setup)?;
        let mut campaign = Campaign::new(Subject { build, arguments, setup }, shard);
        campaign.waiting.clear();
        while let Some(line) = self.next() {
            let (key, value) = line.split_once(' ')?;
            match key {
                "shared" => campaign.shared.push(read_range(value)?),
                "blocks" => campaign.next_block = value.parse().ok()?,
                "end" => {
                    campaign.end = [("no", Ended::No), ("covered", Ended::Covered), ("early", Ended::Early)]
                        .into_iter()
                        .find_map(|(word, end)| (word == value).then_some(end))?
                }
                "todo" => {
                    let (id, todo) = self.read_todo(value)?;
                    campaign.waiting.insert(id, todo);
                }
                "trunk" => {
                    let (id, parts) = value.split_once(' ')?;
                    campaign.trunks.insert(id.parse().ok()?, (Trunk::read(self)?, parts.parse().ok()?));
                }
                "again" => {
                    let (id, todo) = self.read_todo(value)?;
                    campaign.done.get_mut(&id)?.task = Some(todo.task);
                }
                "done" => {
                    let (id, done) = self.read_done(value)?;
                    for failure in done.explored.found.failures.iter().filter(|failure| !failure.steps.is_empty()) {
                        campaign.holders.entry(class(failure)).or_insert_with(|| id.clone());
                    }
                    campaign.insert_done(id, done);
                }
                _ => return None,
            }
        }
        campaign.settle();
        Some(campaign)
    }

    fn read_todo(&mut self, value: &str) -> Option<(PartId, Todo)> {
        let words: Vec<&str> = value.split(' ').collect();
        let [id, executions, ref task @ ..] = words[..] else { return None };
        let task = match task {
            ["whole"] => Task::Whole,
            ["block", block] => Task::Block(block.parse().ok()?),
            ["member", name, block] => Task::Member { name: name.parse().ok()?, block: block.parse().ok()? },
            ["search", rest] => {
                let rest = if *rest == "split" { Rest::Split } else { Rest::Dropped };
                let first = self.next()?.strip_prefix("part ")?;
                Task::Search(Part::read(first, self)?, rest)
            }
            _ => return None,
        };
        let executions = if executions == "-" { None } else { Some(executions.parse().ok()?) };
        Some((id.parse().ok()?, Todo { task, executions }))
    }

    fn read_done(&mut self, value: &str) -> Option<(PartId, Done)> {
        let (id, what) = value.split_once(' ')?;
        let what = match what {
            "counted" => What::Counted,
            "unfinished" => What::Unfinished,
            "void" => What::Void,
            _ => return None,
        };
        let mut explored = self.read_numbers()?;
        let mut found = String::new();
        loop {
            match self.next()? {
                "done-end" => break,
                line => match line.strip_prefix("early ") {
                    Some(early) => {
                        let (key, count) = early.split_once(' ')?;
                        explored.early_ends.push(EarlyEnd::from_entry(u64::from_str_radix(key, 16).ok()?, count.parse().ok()?)?);
                    }
                    None => found = found + line + "\n",
                },
            }
        }
        explored.found = Found::from_text(&found);
        Some((id.parse().ok()?, Done { explored, what, task: None }))
    }

    fn read_numbers(&mut self) -> Option<Explored> {
        let numbers = self.next()?.strip_prefix("numbers ")?;
        let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [schedules, failed, cut, abandoned, diverged, steps, executions, restarts, threads, notes, revocations, time] = numbers[..]
        else {
            return None;
        };
        Some(Explored {
            counts: Counts { schedules, failed, cut, abandoned, diverged },
            steps,
            executions,
            restarts,
            threads,
            notes,
            // Of use to a debugger only, which follows one schedule.
            habits: 0,
            revocations,
            time: Duration::from_nanos(time),
            ..nothing()
        })
    }
}
