//! The runtime archives, as bytes: for the command, which carries them with it, and for everybody who tests or measures what it links in.
//!
//! `build.rs` makes them. Not here: what they do.

/// Records accesses (`profile`).
pub static RECORD: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libatomfix_rt_record.a"));

/// Injected locks (`harden`).
pub static LOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libatomfix_rt_lock.a"));

/// The scheduling gate (`check`).
pub static GATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libatomfix_rt_gate.a"));
