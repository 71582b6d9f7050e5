//! Source chains from debug locations.

use inkwell::llvm_sys::debuginfo;
use model::site::{Position, Source};

use super::handles::{Function, Instruction};
use super::shim;

fn position(raw: &shim::Position) -> Position {
    Position {
        file: raw.file.to_text().unwrap_or_default(),
        line: raw.line,
        column: raw.column,
        function: raw.function.to_text().unwrap_or_default(),
    }
}

/// Where an instruction stands in the source: its own position, then the calls through which it was inlined. Without a
/// debug location, only the function is known.
pub(crate) fn source_of(instruction: Option<Instruction<'_>>, function: Function<'_>) -> Source {
    let mut location = instruction.map_or(std::ptr::null_mut(), |at| llvm!(debuginfo::LLVMInstructionGetDebugLoc(at.raw)));
    let mut chain = Vec::new();
    while !location.is_null() {
        let mut raw = shim::Position::default();
        location = llvm!(shim::atomfix_position(location, &raw mut raw));
        chain.push(position(&raw));
    }
    if chain.is_empty() {
        let mut raw = shim::Position::default();
        let known = llvm!(shim::atomfix_function_position(function.raw, &raw mut raw)) != 0;
        let name = function.name();
        chain.push(Position { function: raw.function.to_text().filter(|_| known).unwrap_or(name), ..Position::default() });
    }
    Source(chain)
}

impl Instruction<'_> {
    /// Whether it has a debug location.
    pub(crate) fn has_location(self) -> bool {
        !llvm!(debuginfo::LLVMInstructionGetDebugLoc(self.raw)).is_null()
    }

    /// Whether it has one that names a line.
    pub(crate) fn has_line(self) -> bool {
        let location = llvm!(debuginfo::LLVMInstructionGetDebugLoc(self.raw));
        !location.is_null() && llvm!(debuginfo::LLVMDILocationGetLine(location)) != 0
    }
}
