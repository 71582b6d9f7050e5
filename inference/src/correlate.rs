//! Phase between admission and constraints: sets of variables that belong together (seed 002, section 5).
//!
//! Not done yet: profiles carry no counts of joint accesses, so each variable stands alone, and `findings` says so.

/// What a user must know about this phase.
#[must_use]
pub fn finding() -> String {
    "sets of correlated variables are not inferred yet: each variable is protected by itself".to_owned()
}
