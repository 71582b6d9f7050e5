//! Linked into the program under test: the record archive.
