//! The text form of a schedule: which thread performs each step, keyed by stable sites, so that `replay` can follow it.
