//! Schedule exploration: strategies as data in, data out, and the drivers around them.
#![cfg_attr(not(feature = "host"), no_std)]
