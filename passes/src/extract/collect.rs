//! Collecting: each body's nodes, in program order, with handles to their instructions. This is the one numbering that
//! extraction, instrumentation and injection share; nothing is changed here.
//!
//! Node 0 is the entry block's. Site ordinals count the nodes that have a site.

use std::collections::{BTreeMap, HashMap};

pub(crate) use model::external::Length;
use model::external::formatted::Format;
use model::external::handed::Object;
use model::external::{self, External, Range, format, formatted};
use model::ids::{FunctionKey, NodeId, SiteKey};
use model::pair::Rw;

use super::key::Hasher;
use super::prepare::{Refusal, prepare};
use super::privacy::Privacy;
use super::vector::{self, Lanes};
use crate::llvm::{Block, Function, Instruction, Module, Opcode, Value};
use crate::{PassError, Skip};

/// A defined function with its nodes.
pub(crate) struct Body<'m> {
    pub(crate) function: Function<'m>,
    pub(crate) key: FunctionKey,
    /// Why it is left alone, if it is.
    pub(crate) refused: Option<Refusal>,
    /// Indexed by `NodeId`.
    pub(crate) points: Vec<Point<'m>>,
    /// Instructions that are no sites, by reason.
    pub(crate) skipped: BTreeMap<Skip, u64>,
}

/// A node.
pub(crate) struct Point<'m> {
    pub(crate) block: Block<'m>,
    pub(crate) act: Act<'m>,
    pub(crate) site: Option<SiteKey>,
    pub(crate) successors: Vec<NodeId>,
}

/// What a node does.
pub(crate) enum Act<'m> {
    Block,
    Access(Touch<'m>),
    Call(CallPoint<'m>),
    Return(Instruction<'m>),
    Stop(Instruction<'m>),
}

/// One access by one instruction.
#[derive(Clone, Copy)]
pub(crate) struct Touch<'m> {
    pub(crate) instruction: Instruction<'m>,
    pub(crate) address: Value<'m>,
    pub(crate) size: u32,
    pub(crate) rw: Rw,
    pub(crate) atomic: bool,
    /// What a compare-and-swap must find to write.
    pub(crate) expected: Option<Value<'m>>,
    /// The parts of it that a mask may leave out.
    pub(crate) lanes: Option<Lanes<'m>>,
}

/// A call or memory intrinsic.
pub(crate) struct CallPoint<'m> {
    pub(crate) instruction: Instruction<'m>,
    pub(crate) target: Target<'m>,
    /// What the table knows of an external callee.
    pub(crate) external: Option<&'static External>,
    /// The format that tells of the arguments behind it, of such a callee.
    pub(crate) format: Option<Format>,
    /// Ranges that it touches on the caller's behalf and that may be shared.
    pub(crate) ranges: Vec<RangePoint<'m>>,
}

/// Whom a call calls.
#[derive(Clone, Copy)]
pub(crate) enum Target<'m> {
    /// A function with a body in this module.
    Defined(Function<'m>),
    /// A function without.
    External(Value<'m>),
    Indirect,
    Assembly,
    /// A memory intrinsic, named without its types.
    Intrinsic(&'static str),
}

/// A range of memory that a call touches.
#[derive(Clone, Copy)]
pub(crate) struct RangePoint<'m> {
    /// Which argument of the call points to it.
    pub(crate) argument: u8,
    pub(crate) address: Value<'m>,
    pub(crate) rw: Rw,
    pub(crate) atomic: bool,
    pub(crate) length: Length,
    /// The argument that says how long it is at most, where the length is known only afterwards.
    pub(crate) limit: Option<u8>,
}

impl RangePoint<'_> {
    /// How many bytes it has at most, where constants tell.
    pub(crate) fn most(&self, call: Instruction<'_>) -> Option<u32> {
        let constant = |index| call.argument(index).and_then(Value::as_integer).and_then(|bytes| u32::try_from(bytes).ok());
        match self.length {
            Length::Bytes(bytes) | Length::StringWithin(bytes) => Some(bytes),
            Length::Argument(index) | Length::Printed(index) => constant(index),
            Length::Product(a, b) => constant(a)?.checked_mul(constant(b)?),
            Length::Result => self.limit.and_then(constant),
            Length::Wide(index) => constant(index)?.checked_mul(WIDE),
            Length::String
            | Length::StringAt(_)
            | Length::Joined(_)
            | Length::JoinedUpTo(..)
            | Length::StringUpTo(_)
            | Length::Number
            | Length::Block => None,
        }
    }
}

/// Bytes of a wide character.
pub(crate) const WIDE: u32 = 4;

/// Prepares a module and collects the nodes of all its bodies.
pub(crate) fn bodies(module: Module<'_>) -> Result<Vec<Body<'_>>, PassError> {
    let prepared = prepare(module)?;
    let mut hasher = Hasher::new(module.source_name());
    let mut privacy = Privacy::new(module);
    Ok(prepared
        .into_iter()
        .map(|prepared| {
            let key = hasher.key(prepared.function);
            let mut body =
                Body { function: prepared.function, key, refused: prepared.refused, points: Vec::new(), skipped: BTreeMap::new() };
            collect(&mut body, &mut privacy);
            body
        })
        .collect())
}

fn collect<'m>(body: &mut Body<'m>, privacy: &mut Privacy<'m>) {
    let mut first: HashMap<Block<'m>, NodeId> = HashMap::new();
    let mut sites = 0;
    privacy.enter(body.function);
    for block in body.function.blocks() {
        first.insert(block, NodeId::new(body.points.len()));
        push(body, block, Act::Block, None);
        for instruction in block.instructions() {
            let act = match act(instruction, privacy) {
                Ok(Some(act)) => act,
                Ok(None) => continue,
                Err(skip) => {
                    *body.skipped.entry(skip).or_default() += 1;
                    continue;
                }
            };
            let site = matches!(act, Act::Access(_) | Act::Call(_)).then(|| {
                sites += 1;
                SiteKey::of(body.key, sites - 1)
            });
            push(body, block, act, site);
        }
    }
    connect(body, &first);
}

fn push<'m>(body: &mut Body<'m>, block: Block<'m>, act: Act<'m>, site: Option<SiteKey>) {
    body.points.push(Point { block, act, site, successors: Vec::new() });
}

/// Within a block to the next node; from its last node to the blocks behind its terminator.
fn connect<'m>(body: &mut Body<'m>, first: &HashMap<Block<'m>, NodeId>) {
    for index in 0..body.points.len() {
        let block = body.points[index].block;
        let successors = match body.points.get(index + 1) {
            Some(next) if next.block == block => vec![NodeId::new(index + 1)],
            _ => {
                let mut successors: Vec<NodeId> = Vec::new();
                for target in block.terminator().map(Instruction::successors).unwrap_or_default() {
                    let node = first[&target];
                    if !successors.contains(&node) {
                        successors.push(node);
                    }
                }
                successors
            }
        };
        body.points[index].successors = successors;
    }
}

/// What an instruction is as a node: nothing, or nothing for a reason.
fn act<'m>(instruction: Instruction<'m>, privacy: &mut Privacy<'m>) -> Result<Option<Act<'m>>, Skip> {
    let value: Value<'m> = instruction.into();
    let (address, accessed, rw) = match instruction.opcode() {
        Opcode::LLVMLoad => (value.operand(0), Some(value), Rw::Read),
        Opcode::LLVMStore => (value.operand(1), value.operand(0), Rw::Write),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => (value.operand(0), value.operand(1), Rw::Update),
        Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => return call(instruction, privacy),
        Opcode::LLVMRet => return Ok(Some(Act::Return(instruction))),
        Opcode::LLVMResume | Opcode::LLVMUnreachable | Opcode::LLVMCleanupRet => return Ok(Some(Act::Stop(instruction))),
        _ => return Ok(None),
    };
    let (Some(address), Some(accessed)) = (address, accessed) else { return Ok(None) };
    if let Some(reason) = privacy.of(address) {
        return Err(reason);
    }
    let size = u32::try_from(privacy.module().store_size(accessed.ty())).map_err(|_| Skip::Unaddressable)?;
    let expected = Some(accessed).filter(|_| instruction.opcode() == Opcode::LLVMAtomicCmpXchg);
    Ok(Some(Act::Access(Touch { instruction, address, size, rw, atomic: instruction.is_atomic(), expected, lanes: None })))
}

fn call<'m>(instruction: Instruction<'m>, privacy: &mut Privacy<'m>) -> Result<Option<Act<'m>>, Skip> {
    let called = resolve(instruction.called());
    let (target, external) = match called.as_function() {
        Some(function) if function.is_intrinsic() && draws_numbers(&function.name()) => (Target::Assembly, None),
        Some(function) if function.is_intrinsic() => {
            let name = function.name();
            if let Some((address, size, rw, lanes)) = vector::touched(instruction, &name, privacy.module()) {
                return match privacy.of(address) {
                    Some(reason) => Err(reason),
                    None => {
                        Ok(Some(Act::Access(Touch { instruction, address, size, rw, atomic: false, expected: None, lanes: Some(lanes) })))
                    }
                };
            }
            let name = memory_intrinsic(&name).ok_or_else(|| vector::skipped(instruction, &name))?;
            (Target::Intrinsic(name), external::lookup(name.trim_start_matches("llvm.")))
        }
        Some(function) if function.is_defined() => (Target::Defined(function), None),
        Some(function) => (Target::External(called), external::lookup(&function.name())),
        None if called.assembly().is_some() => (Target::Assembly, None),
        None if is_symbol(called) => (Target::External(called), external::lookup(&called.name())),
        None => (Target::Indirect, None),
    };
    let format = external.and_then(|_| formatted::format(&called.name())).filter(|format| format.object == Object::Formatted);
    let mut reason = None;
    let mut ranges = Vec::new();
    for range in external.map(|external| touched(instruction, external, format)).into_iter().flatten() {
        let Some(address) = instruction.argument(range.argument) else { continue };
        match privacy.of(address) {
            None if fits(instruction, &range) => {
                // `read` and its like have the size of the buffer behind its address.
                let limit = (range.length == Length::Result).then_some(range.argument + 1);
                let Range { argument, rw, atomic, length } = range;
                ranges.push(RangePoint { argument, address, rw, atomic, length, limit });
            }
            None => {}
            Some(skip) => reason = Some(skip),
        }
    }
    if let (Target::Intrinsic(_), true, Some(reason)) = (target, ranges.is_empty(), reason) {
        return Err(reason);
    }
    Ok(Some(Act::Call(CallPoint { instruction, target, external, format, ranges })))
}

/// The ranges that a call of this function touches: what is read, then what is written.
fn touched(call: Instruction<'_>, external: &External, format: Option<Format>) -> Vec<Range> {
    let Some(format) = format else { return external.ranges.to_vec() };
    let first = format.argument + 1;
    let text = call.argument(format.argument).and_then(constant_text);
    let told = text.map(|text| format::arguments(&text, format.rw, first)).unwrap_or_default();
    let of_format = told.into_iter().filter_map(|told| {
        let (rw, length) = told.memory?;
        Some(Range { argument: first.saturating_add(told.index), rw, length, atomic: false })
    });
    let mut ranges: Vec<Range> = external.ranges.iter().copied().chain(of_format).collect();
    ranges.sort_by_key(|range| range.rw.writes());
    ranges
}

/// The bytes that this points to, where they never change.
pub(crate) fn constant_text(text: Value<'_>) -> Option<Vec<u8>> {
    text.initializer().filter(|_| text.is_constant_global()).map(|text| text.raw_data())
}

/// Whether an intrinsic of this name is an instruction for random numbers: it counts as assembly.
fn draws_numbers(name: &str) -> bool {
    name.starts_with("llvm.x86.rdrand") || name.starts_with("llvm.x86.rdseed")
}

/// Whether a call's arguments are such as the table says: programs may have functions of their own of these names.
fn fits(instruction: Instruction<'_>, range: &Range) -> bool {
    let integer = |index| instruction.argument(index).is_some_and(|argument| argument.ty().integer_bits().is_some());
    match range.length {
        Length::Bytes(_) | Length::String | Length::StringWithin(_) | Length::Number => true,
        Length::Block => instruction.argument(range.argument).is_some_and(|argument| argument.ty().is_plain_pointer()),
        Length::Argument(index) | Length::StringUpTo(index) | Length::Wide(index) => integer(index),
        Length::Product(a, b) => integer(a) && integer(b),
        Length::JoinedUpTo(index, most) => {
            integer(most) && instruction.argument(index).is_some_and(|argument| argument.ty().is_plain_pointer())
        }
        Length::StringAt(index) | Length::Joined(index) => {
            instruction.argument(index).is_some_and(|argument| argument.ty().is_plain_pointer())
        }
        Length::Result => Value::from(instruction).ty().integer_bits().is_some(),
        Length::Printed(index) => integer(index) && Value::from(instruction).ty().integer_bits().is_some(),
    }
}

fn is_symbol(value: Value<'_>) -> bool {
    use crate::llvm::ValueKind::{LLVMGlobalAliasValueKind, LLVMGlobalIFuncValueKind};
    matches!(value.kind(), LLVMGlobalAliasValueKind | LLVMGlobalIFuncValueKind)
}

/// Through aliases that nothing replaces at link time.
pub(crate) fn resolve(mut value: Value<'_>) -> Value<'_> {
    while let Some(aliasee) = value.aliasee()
        && !value.is_weak()
    {
        value = aliasee;
    }
    value
}

/// The name, without types, of an intrinsic that copies or sets memory.
fn memory_intrinsic(name: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 3] = [("llvm.memcpy.", "llvm.memcpy"), ("llvm.memmove.", "llvm.memmove"), ("llvm.memset.", "llvm.memset")];
    KNOWN.iter().find(|(prefix, _)| name.starts_with(prefix) && !name.contains(".element.")).map(|&(_, known)| known)
}
