//! Runs instrumented programs, collects what they recorded, and merges passing runs into a profile.
