//! From a program and the evidence of its passing runs to a plan. Pure: no LLVM, no files, no clock.
