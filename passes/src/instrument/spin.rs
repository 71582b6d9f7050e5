//! Spinning before a wait, which exploration does without: libstdc++ (11 to 14) looks sixteen times before its latches, barriers, semaphores
//! and atomics wait, and each look is a step that others can come between. One look does: the wait looks again, and what a later look
//! would have seen the first one sees where the thread comes to it later.
//!
//! Not here: what other libraries do before they wait.

use crate::llvm::{Module, Opcode, Value};

/// `std::__detail::__atomic_spin`, of whatever it looks at.
const SPIN: &str = "_ZNSt8__detail13__atomic_spinI";
/// How often it looks.
const LOOKS: i64 = 16;

/// Lets such loops look once.
pub(crate) fn look_once(module: Module<'_>) {
    for function in module.functions().filter(|function| function.name().starts_with(SPIN)) {
        for compared in function.instructions().filter(|instruction| instruction.opcode() == Opcode::LLVMICmp) {
            for index in 0..2 {
                if let Some(bound) = Value::from(compared).operand(index).filter(|operand| operand.as_integer() == Some(LOOKS)) {
                    compared.set_operand(index, module.constant(bound.ty(), 1));
                }
            }
        }
    }
}
