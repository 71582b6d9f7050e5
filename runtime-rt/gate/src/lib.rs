//! Linked into the program under test: the gate archive.
