//! The runtime archives, as bytes: for the command, which carries them with it, and for everybody who tests or measures what it links in.
//!
//! `build.rs` makes them. Not here: what they do.

/// An archive.
#[derive(Clone, Copy, Debug)]
pub struct Archive {
    /// Its bytes.
    pub content: &'static [u8],
    /// A hash of them.
    pub hash: &'static str,
}

/// Records accesses (`profile`).
pub const RECORD: Archive =
    Archive { content: include_bytes!(concat!(env!("OUT_DIR"), "/libatomfix_rt_record.a")), hash: env!("RECORD_HASH") };

/// Injected locks (`harden`).
pub const LOCK: Archive = Archive { content: include_bytes!(concat!(env!("OUT_DIR"), "/libatomfix_rt_lock.a")), hash: env!("LOCK_HASH") };

/// The scheduling gate (`check`).
pub const GATE: Archive = Archive { content: include_bytes!(concat!(env!("OUT_DIR"), "/libatomfix_rt_gate.a")), hash: env!("GATE_HASH") };
