//! Measures what strategies cost: nanoseconds a step and executions a second, on an engine that does almost nothing.
//!
//! Four threads make ten accesses each, to variables of their own and to one that all share. The row `none` is the engine
//! with the cheapest possible choice. `speed NAME` measures that row only. Then, for the reduction, the whole of two programs with many classes of schedules:
//! one writer and fourteen readers of one variable, and five threads that each read and then write it.
#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::time::{Duration, Instant};

use explorer::strategy::budget::Budget;
use explorer::strategy::config::{Config, Name};
use explorer::strategy::depth_first::{DepthFirst, Extent};
use explorer::strategy::dpor::Dpor;
use explorer::strategy::iterative::Preemptions;
use explorer::strategy::{Choice, Counts, Ending, Outcome, Pick, Point, Step, Strategy};
use explorer::threads::ThreadSet;
use model::event::{Event, EventKind, Range};
use model::ids::{SiteKey, ThreadId};
use model::pair::Rw;
use model::report::Coverage;

/// A program without synchronization: how many threads, and what each accesses in which order.
struct Program {
    threads: u32,
    access: fn(u32, u32) -> Option<(u64, Rw)>,
}

const MIXED: Program = Program {
    threads: 4,
    access: |thread, at| {
        let address = if at == 5 { 0 } else { u64::from(thread + 1) * 64 };
        (at < 10).then_some((address, if at.is_multiple_of(2) { Rw::Read } else { Rw::Write }))
    },
};

const READERS: Program =
    Program { threads: 15, access: |thread, at| (at < 1).then_some((0, if thread == 0 { Rw::Write } else { Rw::Read })) };

const INCREMENTS: Program = Program { threads: 5, access: |_, at| (at < 2).then_some((0, if at == 0 { Rw::Read } else { Rw::Write })) };

fn event(program: &Program, thread: u32, at: u32) -> Option<Event> {
    let (address, rw) = (program.access)(thread, at)?;
    let kind = EventKind::Access { rw, atomic: false };
    Some(Event { kind, range: Some(Range { address, length: 8 }), object: None, site: Some(SiteKey(u64::from(at))) })
}

/// One execution; its steps.
fn execute(program: &Program, strategy: &mut dyn Strategy) -> u64 {
    let mut at = [0; 16];
    let mut pending: Vec<Option<Event>> = (0..program.threads).map(|thread| event(program, thread, 0)).collect();
    let mut enabled: ThreadSet = (0..program.threads).map(ThreadId).collect();
    let mut current = None;
    let mut steps = 0;
    while !enabled.is_empty() {
        let Choice::Run(thread) = strategy.choose(&Point { current, enabled: &enabled, pending: &pending }) else {
            strategy.end(&Ending { outcome: Outcome::Abandoned, pending: &pending });
            return steps;
        };
        let performed = pending[thread.index()].expect("an enabled thread has a pending event");
        at[thread.index()] += 1;
        pending[thread.index()] = event(program, thread.0, at[thread.index()]);
        if pending[thread.index()].is_none() {
            enabled.remove(thread);
        }
        strategy.executed(&Step { thread, event: performed });
        current = Some(thread);
        steps += 1;
    }
    strategy.end(&Ending { outcome: Outcome::Passed, pending: &pending });
    steps
}

struct Cheapest(Counts);

impl Strategy for Cheapest {
    fn name(&self) -> &'static str {
        "none"
    }
    fn begin(&mut self) -> bool {
        true
    }
    fn choose(&mut self, point: &Point<'_>) -> Choice {
        point.enabled.first().map_or(Choice::Abandon, Choice::Run)
    }
    fn pick(&mut self, _: &Pick<'_>) -> u32 {
        0
    }
    fn executed(&mut self, _: &Step) {}
    fn end(&mut self, ending: &Ending<'_>) {
        self.0.add(ending.outcome);
    }
    fn counts(&self) -> Counts {
        self.0
    }
    fn coverage(&self) -> Coverage {
        Coverage::Sampled(self.0.schedules)
    }
}

fn main() {
    let named = |name: &str| {
        let config =
            Config { name: name.parse::<Name>().expect("a strategy"), preemptions: Preemptions::Unlimited, executions: None, seed: 1 };
        (name.to_string(), config.build())
    };
    let mut rows: Vec<(String, Box<dyn Strategy>)> = vec![("none".into(), Box::new(Cheapest(Counts::default())))];
    rows.push(("dfs, bound 3".into(), Box::new(DepthFirst::new(Extent::Preemptions(3)))));
    rows.extend(["sleep", "dpor", "random", "pct:3", "pos", "weighted", "portfolio"].map(named));
    let wanted = std::env::args().nth(1);
    rows.retain(|(name, _)| wanted.as_ref().is_none_or(|wanted| name.starts_with(wanted.as_str())));
    for (name, strategy) in rows {
        let mut strategy = Budget::new(strategy, 300_000);
        let (mut steps, mut executions) = (0, 0u32);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(200) && strategy.begin() {
            steps += execute(&MIXED, &mut strategy);
            executions += 1;
        }
        let seconds = start.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let nanoseconds = seconds * 1e9 / steps as f64;
        println!("{name:14} {nanoseconds:7.1} ns a step {:12.0} executions a second", f64::from(executions) / seconds);
    }
    for (name, program) in [("readers", &READERS), ("increments", &INCREMENTS)] {
        let mut dpor = Dpor::new();
        let start = Instant::now();
        while dpor.begin() {
            execute(program, &mut dpor);
        }
        println!("dpor, {name:12} {:8} executions in {:7.1} ms", dpor.counts().executions(), start.elapsed().as_secs_f64() * 1e3);
    }
}
