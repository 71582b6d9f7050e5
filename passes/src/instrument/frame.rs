//! Activations: an alloca whose address is the frame's identity, and code on every way out of a function.

use model::abi;
use model::ids::FunctionKey;

use super::hooks::Declared;
use crate::PassError;
use crate::llvm::{Block, Builder, Function, Opcode, Value};

/// Adds the frame alloca at the start of a function.
pub(crate) fn add_frame<'m>(function: Function<'m>, builder: &Builder<'m>, declared: Declared<'m>) -> Result<Value<'m>, PassError> {
    builder.before(function.instructions().next().ok_or_else(|| without_code(function))?);
    Ok(builder.alloca(declared.module().integer(64)))
}

/// Says that an activation begins. Comes before anything else is inserted.
pub(crate) fn enter<'m>(
    function: Function<'m>,
    key: FunctionKey,
    frame: Value<'m>,
    builder: &Builder<'m>,
    declared: Declared<'m>,
) -> Result<(), PassError> {
    builder.before(function.blocks().next().and_then(Block::start).ok_or_else(|| without_code(function))?);
    builder.call(declared.hook(&abi::RECORD_ENTER), &[frame, declared.u64(key.0)]);
    Ok(())
}

/// Says that an activation begins which takes several locks at once. As `enter`.
pub(crate) fn begin_locks<'m>(
    function: Function<'m>,
    frame: Value<'m>,
    builder: &Builder<'m>,
    declared: Declared<'m>,
) -> Result<(), PassError> {
    builder.before(function.blocks().next().and_then(Block::start).ok_or_else(|| without_code(function))?);
    builder.call(declared.hook(&abi::GATE_LOCKS_BEGIN), &[frame]);
    Ok(())
}

/// What to do on the ways out of a function.
#[derive(Clone, Copy)]
pub(crate) struct WaysOut {
    /// End the activation (`RECORD_LEAVE`), by return or by exception.
    pub(crate) leave: bool,
    /// End its holds (`LOCK_UNWIND`) when it is left by exception: returns release by the plan's operations.
    pub(crate) unwind: bool,
    /// Say that it takes several locks no longer (`GATE_LOCKS_END`), by return or by exception.
    pub(crate) locks: bool,
}

/// Covers the ways out. Comes last: it turns calls into invokes.
pub(crate) fn cover_ways_out<'m>(function: Function<'m>, what: WaysOut, frame: Value<'m>, builder: &Builder<'m>, declared: Declared<'m>) {
    for end in function.ways_out() {
        builder.before(end);
        if what.unwind && end.opcode() == Opcode::LLVMResume {
            builder.call(declared.hook(&abi::LOCK_UNWIND), &[frame]);
        }
        if what.leave {
            builder.call(declared.hook(&abi::RECORD_LEAVE), &[frame]);
        }
        if what.locks {
            builder.call(declared.hook(&abi::GATE_LOCKS_END), &[frame]);
        }
    }
}

fn without_code(function: Function<'_>) -> PassError {
    PassError::Internal { what: format!("{} has no code", function.name()) }
}
