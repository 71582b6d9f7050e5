//! Loops that count: they end after so many turns whatever other threads do, unlike those that wait for memory to change.
//!
//! Looked for are a comparison at the end of a block with a phi, or what is that phi and a constant more, on one side, and a bound that no
//! turn of the loop moves by itself on the other. The phi must move by constants in the one direction in which the comparison ends the loop.
//!
//! A bound in memory may be moved by others, so it must be loaded plainly: atomic and volatile loads are how one waits. Counters that overflow,
//! or step over a bound that is compared for equality, are taken for faults. Not handled: counters in memory, floating-point counters,
//! iterators whose comparison is a call, and lists.

use std::collections::{BTreeSet, HashMap, HashSet};

use model::ids::NodeId;
use model::program::Counted;

use super::collect::Body;
use crate::llvm::{Block, Instruction, Module, Opcode, Predicate, Value, ValueKind};

/// How far values are followed back.
const DEPTH: u32 = 12;

/// How many values are looked at to see how a phi moves.
const MOST: u32 = 200;

/// A counter: a phi that moves up or down.
struct Counter<'m> {
    phi: Instruction<'m>,
    /// The blocks from whose ends it moves.
    steps: Vec<Block<'m>>,
    direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// How a value comes from a phi.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Move {
    /// It is the phi.
    None,
    By(Direction),
}

/// All loops of a body that count.
pub(crate) fn counted<'m>(module: Module<'m>, body: &Body<'m>) -> Vec<Counted> {
    let (mut first, mut last): (HashMap<Block<'m>, NodeId>, HashMap<Block<'m>, NodeId>) = (HashMap::new(), HashMap::new());
    for (n, point) in body.points.iter().enumerate() {
        first.entry(point.block).or_insert(NodeId::new(n));
        last.insert(point.block, NodeId::new(n));
    }
    let mut found = BTreeSet::new();
    for block in body.function.blocks() {
        let Some((comparison, then, otherwise)) = condition(block) else { continue };
        for (side, bound, stays) in sides(comparison) {
            let Some(counter) = counter(module, side) else { continue };
            let inside = turn(&counter);
            if !is_steady(bound, &inside, DEPTH) {
                continue;
            }
            for (next, stays) in [(otherwise, stays), (then, stays.inverse())] {
                let out = landing(block, next);
                if ends(counter.direction, stays) && inside.contains(&block) && !inside.contains(&out) {
                    let mut steps: Vec<NodeId> = counter.steps.iter().map(|step| last[step]).collect();
                    steps.sort_unstable();
                    steps.dedup();
                    found.insert(Counted { header: first[&counter.phi.block()], steps, test: last[&block], out: first[&out] });
                }
            }
        }
    }
    found.into_iter().collect()
}

/// The comparison at the end of a block, with where it leads if it holds and if not.
fn condition(block: Block<'_>) -> Option<(Instruction<'_>, Block<'_>, Block<'_>)> {
    let end = block.terminator()?;
    let [then, otherwise] = end.successors()[..] else { return None };
    let condition = Value::from(end).operand(0)?.as_instruction()?;
    let compares = end.opcode() == Opcode::LLVMBr && condition.opcode() == Opcode::LLVMICmp;
    (compares && then != otherwise).then_some((condition, then, otherwise))
}

/// Where control goes at last from the end of one block to another that may only look at what it came with, as for `a && b`.
fn landing<'m>(mut from: Block<'m>, mut to: Block<'m>) -> Block<'m> {
    for _ in 0..DEPTH {
        let Some(next) = passed_on(from, to) else { break };
        (from, to) = (to, next);
    }
    to
}

/// Where a block of phis and a branch leads if control comes from another.
fn passed_on<'m>(from: Block<'m>, block: Block<'m>) -> Option<Block<'m>> {
    let end = block.terminator().filter(|end| end.opcode() == Opcode::LLVMBr)?;
    if block.instructions().any(|instruction| instruction != end && instruction.opcode() != Opcode::LLVMPHI) {
        return None;
    }
    let [then, otherwise] = end.successors()[..] else { return None };
    let phi = Value::from(end).operand(0)?.as_instruction().filter(|phi| phi.opcode() == Opcode::LLVMPHI && phi.block() == block)?;
    let index = phi.incoming_blocks().iter().position(|incoming| *incoming == from)?;
    let chosen = Value::from(phi).operand(u32::try_from(index).ok()?)?.as_integer()?;
    Some(if chosen == 0 { otherwise } else { then })
}

/// Each side of a comparison with the other, and how it compares to it.
fn sides(comparison: Instruction<'_>) -> Vec<(Value<'_>, Value<'_>, Predicate)> {
    let value = Value::from(comparison);
    let (Some(left), Some(right), Some(predicate)) = (value.operand(0), value.operand(1), comparison.predicate()) else {
        return Vec::new();
    };
    vec![(left, right, predicate), (right, left, predicate.swapped())]
}

/// Whether a counter that moves this way ends a loop that goes on as long as the comparison holds.
fn ends(direction: Direction, stays: Predicate) -> bool {
    match stays {
        Predicate::Less => direction == Direction::Up,
        Predicate::Greater => direction == Direction::Down,
        Predicate::Differs => true,
        Predicate::Equals => false,
    }
}

/// The counter that a compared value is made from.
fn counter<'m>(module: Module<'m>, compared: Value<'m>) -> Option<Counter<'m>> {
    let mut value = compared;
    for _ in 0..DEPTH {
        let instruction = value.as_instruction()?;
        if instruction.opcode() == Opcode::LLVMPHI {
            return moving(module, instruction);
        }
        value = source(module, value)?.0;
    }
    None
}

/// What a value is a constant more than, or the same in another width, and which way it is from there.
fn source<'m>(module: Module<'m>, value: Value<'m>) -> Option<(Value<'m>, Move)> {
    use Opcode as O;
    let sign = |constant: i64| match constant {
        0 => Move::None,
        1.. => Move::By(Direction::Up),
        _ => Move::By(Direction::Down),
    };
    let operand = |index| value.operand(index);
    match value.as_instruction()?.opcode() {
        O::LLVMZExt | O::LLVMSExt | O::LLVMTrunc | O::LLVMPtrToInt | O::LLVMFreeze => Some((operand(0)?, Move::None)),
        O::LLVMAdd => Some((operand(0)?, sign(operand(1)?.as_integer()?))),
        O::LLVMSub => Some((operand(0)?, sign(operand(1)?.as_integer()?.checked_neg()?))),
        O::LLVMGetElementPtr => value.step(module).filter(|step| !step.computed).map(|step| (step.base, sign(step.constant))),
        _ => None,
    }
}

/// A phi as a counter, if what comes back to it is always the phi itself and something more, or always something less.
fn moving<'m>(module: Module<'m>, phi: Instruction<'m>) -> Option<Counter<'m>> {
    let value = Value::from(phi);
    let mut left = MOST;
    let incoming: Vec<(Block<'m>, Option<Move>)> = phi
        .incoming_blocks()
        .into_iter()
        .enumerate()
        .map(|(index, block)| {
            let from = u32::try_from(index).ok().and_then(|index| value.operand(index));
            (block, from.and_then(|from| moved(module, from, value, &mut left)))
        })
        .collect();
    let directions: Vec<Direction> =
        incoming.iter().filter_map(|(_, moved)| if let Some(Move::By(direction)) = moved { Some(*direction) } else { None }).collect();
    let &direction = directions.first().filter(|first| directions.iter().all(|direction| direction == *first))?;
    // Where it comes back as it was, nothing moves.
    let steps = incoming.into_iter().filter(|(_, moved)| matches!(moved, Some(Move::By(_)))).map(|(block, _)| block).collect();
    Some(Counter { phi, steps, direction })
}

/// How a value comes from a phi, on all ways on which it may.
fn moved<'m>(module: Module<'m>, value: Value<'m>, phi: Value<'m>, left: &mut u32) -> Option<Move> {
    if value == phi {
        return Some(Move::None);
    }
    *left = left.checked_sub(1)?;
    let instruction = value.as_instruction()?;
    if instruction.opcode() == Opcode::LLVMPHI {
        let mut all = (0..value.operand_count()).map(|index| moved(module, value.operand(index)?, phi, left));
        let first = all.next()??;
        return all.all(|other| other == Some(first)).then_some(first);
    }
    let (from, here) = source(module, value)?;
    match (moved(module, from, phi, left)?, here) {
        (before, Move::None) => Some(before),
        (Move::None, here) => Some(here),
        (before, here) => (before == here).then_some(here),
    }
}

/// The blocks of one turn: those from which control comes back to the counter over its steps.
fn turn<'m>(counter: &Counter<'m>) -> HashSet<Block<'m>> {
    let header = counter.phi.block();
    let mut inside = HashSet::from([header]);
    let mut work = counter.steps.clone();
    while let Some(block) = work.pop() {
        if inside.insert(block) {
            work.extend(block.predecessors());
        }
    }
    inside
}

/// Whether a value stays what it is from turn to turn, unless somebody writes memory.
fn is_steady<'m>(value: Value<'m>, inside: &HashSet<Block<'m>>, depth: u32) -> bool {
    use Opcode as O;
    let Some(instruction) = value.as_instruction() else {
        return value.kind() != ValueKind::LLVMInlineAsmValueKind;
    };
    if !inside.contains(&instruction.block()) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    match instruction.opcode() {
        O::LLVMLoad if instruction.is_atomic() || instruction.is_volatile() => false,
        O::LLVMLoad
        | O::LLVMGetElementPtr
        | O::LLVMZExt
        | O::LLVMSExt
        | O::LLVMTrunc
        | O::LLVMPtrToInt
        | O::LLVMIntToPtr
        | O::LLVMAdd
        | O::LLVMSub
        | O::LLVMMul
        | O::LLVMUDiv
        | O::LLVMSDiv
        | O::LLVMShl
        | O::LLVMLShr
        | O::LLVMAShr
        | O::LLVMAnd
        | O::LLVMOr => {
            (0..value.operand_count()).all(|index| value.operand(index).is_some_and(|operand| is_steady(operand, inside, depth)))
        }
        _ => false,
    }
}
