//! The harness behind every published number.
fn main() {}
