//! Linked into the program under test: the lock archive.
