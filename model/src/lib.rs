//! The vocabulary of atomfix, in the order in which data flows through the tool.
//!
//! A program is captured and *extracted* (`ids`, `site`, `external`, `pointer`, `program`), its passing runs are *profiled*
//! (`pair`, `correlation`, `wanted`, `recording`, `profile`), inference makes a *plan* with a *certificate* (`plan`, `certificate`), injection applies it, and
//! exploration reports on it (`event`, `schedule`, `report`). `cause` says why a lock was lost. `abi` names the runtime hooks that the passes call and the
//! archives define, `pass` what is asked of these; `wire` is the one way in which any file of ours is framed, checked and written.
//!
//! Without the `std` feature the crate is `no_std` + `alloc`, so that the runtime archives can speak it too.
//! It holds no analysis: types, their text and binary forms, and the laws they obey.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod ids;

pub mod external;
mod listing;
pub mod pointer;
pub mod program;
pub mod range;
pub mod site;

pub mod correlation;
pub mod pair;
pub mod profile;
pub mod recording;
pub mod wanted;

pub mod certificate;
pub mod plan;

pub mod event;
pub mod report;
pub mod schedule;

pub mod abi;
pub mod cause;
#[cfg(feature = "std")]
pub mod pass;
pub mod wire;
