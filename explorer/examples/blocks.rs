//! Counts the orders of atomic blocks of the thesis's program of independent regions, all 42 published rows: `blocks`.
//!
//! Prints threads, regions, paths and seconds; stops where a count is not the published one.
#![expect(clippy::print_stdout, reason = "it is a program for people")]

use std::time::Instant;

use explorer::fake::explore::explore;
use explorer::fake::program::parse;
use explorer::strategy::exit_block::{ExitBlock, Variant};

#[path = "../tests/exit_block/rows.rs"]
mod rows;

fn main() {
    let begin = Instant::now();
    let mut total = 0;
    for (threads, regions) in rows::ROWS {
        let mut search = ExitBlock::new(Variant::ReadWrite);
        explore(&parse(&rows::independent(threads, regions)), &mut search);
        assert_eq!(search.paths(), rows::published(threads, regions), "{threads} threads, {regions} regions");
        total += search.paths();
        println!("{threads} {regions} {} {:.1}", search.paths(), begin.elapsed().as_secs_f64());
    }
    println!("{} rows, {total} paths, all as published", rows::ROWS.len());
}
