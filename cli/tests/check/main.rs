//! `check` and `replay` as their user meets them: real programs, compiled, explored and replayed.
//!
//! `ui` explores the programs of `tests/ui`, sorted by outcome, and compares what is printed with golden files;
//! `litmus` counts schedules exactly; `primitives` looks at one way to wait for others each; `bad_input` asks for what cannot be done; `libraries` links what has no hooks;
//! `compare` hardens a program first; `blocks` explores orders of atomic blocks; `races` looks for data races, and for names of
//! what went wrong; `ends` has steps that end the process.

mod bad_input;
mod blocks;
mod compare;
mod ends;
mod libraries;
mod litmus;
mod memory;
mod parts;
mod primitives;
mod races;
mod sandbox;
mod ui;
