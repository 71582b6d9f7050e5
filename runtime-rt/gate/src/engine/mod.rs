//! The engine: fibers, executions and how they are started.
//!
//! From start to end: `start` takes over before `main`; `control` is the page shared with the `atomfix` process; `lenders`
//! are parked threads that lend their TLS blocks and stacks; `fiber` is a program thread on a lent stack, which asks by `request`, `rest` tells whether it may be left; `execution` runs
//! one execution, which may begin as the one before (`repeat`) and is kept by `recorder`, and `endings` ends its threads and its process; `explore` runs them all, with `scouts` beside searches, a part after the other (`line`), by a `driver`: forking (`fork`), restoring (`restore`) or starting the program anew (`exec`), with `debugger` where one stops; `dispatch`
//! gets the program's system calls, which `answers` answers itself (`thread_names` those about names) and `calls` makes at scheduling points (`seen` says which, `shapes` what they wait for; `supplies` tells who was left nothing, `unseen` names what no step tells of, by `memory_twice`, `own_files` and `own_state`, `leftovers` goes when an execution is over), `timers` what runs in virtual time, `clocks` what clocks say and who sleeps by them, `clock` the instructions that read the time, with `outside` for
//! what the world has to say; `failure` says what went wrong, `habits` keeps what needs more points, `kept` keeps what calls have read, `pieces` knows which steps are several accesses, `handed` what libraries are handed (`outsiders`: by whom, `formats`, `streams` and `variables`: what is special, `own_variables`: how long something is), `interrupts` lets threads be signalled and cancelled, `circle` finds
//! spin loops, `rounds` threads that go round together and `several` those of them that the library has to answer for, `orders` tells what data races are found by, `output` keeps what the program prints.
//! `arena` is the engine's memory, `heap` the program's, where `lifetime` finds what is used after it was freed, as `destroyed` does of locks and the like that were destroyed.

pub(crate) mod answers;
pub(crate) mod arena;
pub(crate) mod assembly;
pub(crate) mod calls;
pub(crate) mod child;
pub(crate) mod circle;
pub(crate) mod clock;
pub(crate) mod clocks;
pub(crate) mod control;
pub(crate) mod debugger;
pub(crate) mod destroyed;
pub(crate) mod dispatch;
pub(crate) mod driver;
pub(crate) mod early;
pub(crate) mod endings;
pub(crate) mod exec;
pub(crate) mod execution;
pub(crate) mod explore;
pub(crate) mod failure;
pub(crate) mod fiber;
pub(crate) mod fork;
mod formats;
pub(crate) mod habits;
pub(crate) mod handed;
pub(crate) mod handlers;
pub(crate) mod heap;
pub(crate) mod interrupts;
pub(crate) mod kept;
pub(crate) mod leftovers;
pub(crate) mod lenders;
pub(crate) mod lifetime;
mod limit;
mod line;
mod memory_twice;
mod orders;
pub(crate) mod output;
pub(crate) mod outside;
pub(crate) mod outsiders;
mod own_files;
mod own_state;
pub(crate) mod own_variables;
pub(crate) mod pieces;
pub(crate) mod recorder;
mod repeat;
mod request;
mod rest;
pub(crate) mod restore;
pub(crate) mod rounds;
pub(crate) mod scouts;
pub(crate) mod seen;
pub(crate) mod several;
pub(crate) mod shapes;
pub(crate) mod signals;
pub(crate) mod start;
pub(crate) mod streams;
pub(crate) mod supplies;
pub(crate) mod thread_names;
pub(crate) mod timers;
pub(crate) mod unseen;
pub(crate) mod variables;
