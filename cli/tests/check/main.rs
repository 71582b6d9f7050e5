//! `check` and `replay` as their user meets them: real programs, compiled, explored and replayed.
//!
//! `ui` explores the programs of `tests/ui`, sorted by outcome, and compares what is printed with golden files;
//! `litmus` counts schedules exactly; `primitives` looks at one way to wait for others each; `bad_input` asks for what cannot be done; `compare` hardens a program first.

mod bad_input;
mod compare;
mod litmus;
mod primitives;
mod sandbox;
mod ui;
