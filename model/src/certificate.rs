//! The certificate: what the independent checker established about a plan.
//!
//! `inference::check` makes it; `harden` prints it and embeds its hash. A plan that no checker accepted has none.

use alloc::string::String;
use alloc::vec::Vec;

/// What is known of a plan's freedom from deadlock and of its coverage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// The order in which locks are taken, injected and program ones, by name.
    pub order: Vec<String>,
    /// Whether the checker verified the plan; until it does, `harden` says "deadlock freedom not yet checked".
    pub checked: bool,
    /// What it found wrong, or could not establish.
    pub findings: Vec<String>,
}
