//! Hooks around accesses and calls: one rule a kind of node.
//!
//! | node | record | gate |
//! |---|---|---|
//! | access | `begin`; access; `end` | `access`; access |
//! | access by lanes under a mask | the same, of all lanes | `range` of each lane, of no length where the mask leaves it out |
//! | compare-and-swap of at most 8 bytes | the same | `compare` with the value expected; access |
//! | memory intrinsic, call with ranges in the table | `range` before for what is read, after for what is written | `range` before |
//! | call that gives a heap block back | `range` before | nothing: the gate has a heap of its own |
//! | call of a function | `call` before, unless the callee is quiet | `call` before, unless it is defined in this module |
//! | inline assembly | nothing | `access` for each operand that is memory; `assembly` when it synchronizes without any, or draws random numbers |
//!
//! A coroutine that is about to suspend counts as a call of what keeps state: its frame says where it goes on, and no hook sees that.
//!
//! Memory that belongs to one thread when the whole module is looked at (`escape`) counts as none.

use std::collections::HashSet;

use model::abi;
use model::external::{self, Unseen};
use model::ids::SiteKey;
use model::pair::Rw;

use super::assembly::{self, Purpose};
use super::hooks::Declared;
use crate::extract::{Act, Body, CallPoint, Lanes, Length, RangePoint, Target, Touch};
use crate::llvm::{Builder, Function, Instruction, Opcode, Value};
use crate::{Hooks, PassError};

/// What needs no hooks.
pub(crate) struct Bare<'m> {
    /// Functions in which no hook runs.
    pub(crate) quiet: HashSet<Function<'m>>,
    /// Addresses of memory that belongs to one thread.
    pub(crate) private: HashSet<Value<'m>>,
}

/// Where hooks go and what they are given.
struct Context<'a, 'm> {
    hooks: Hooks,
    bare: &'a Bare<'m>,
    frame: Option<Value<'m>>,
    builder: &'a Builder<'m>,
    declared: Declared<'m>,
}

/// Adds the hooks of a body's nodes.
pub(crate) fn instrument_nodes<'m>(
    body: &Body<'m>,
    hooks: Hooks,
    bare: &Bare<'m>,
    frame: Option<Value<'m>>,
    builder: &Builder<'m>,
    declared: Declared<'m>,
) -> Result<(), PassError> {
    let context = Context { hooks, bare, frame, builder, declared };
    for point in &body.points {
        match (&point.act, point.site) {
            (Act::Access(touch), Some(site)) if !bare.private.contains(&touch.address) => context.access(touch, site),
            (Act::Call(call), Some(site)) => context.call(call, site)?,
            _ => {}
        }
    }
    if hooks == Hooks::Gate && body.function.is_coroutine() {
        context.suspensions(body);
    }
    Ok(())
}

fn kind(rw: Rw, atomic: bool) -> u32 {
    rw as u32 | if atomic { abi::KIND_ATOMIC } else { 0 }
}

impl<'m> Context<'_, 'm> {
    fn access(&self, touch: &Touch<'m>, site: SiteKey) {
        let after = touch.instruction.next();
        if let (Hooks::Gate, Some(expected), 1..=8) = (self.hooks, touch.expected, touch.size) {
            self.builder.before(touch.instruction);
            let expected = self.builder.word(expected);
            let arguments = [touch.address, self.declared.u32(touch.size), expected, self.declared.u64(site.0)];
            self.builder.call(self.declared.hook(&abi::GATE_COMPARE), &arguments);
            return;
        }
        if let (Hooks::Gate, Some(lanes)) = (self.hooks, touch.lanes) {
            self.lanes(touch, lanes, site);
            return;
        }
        let hook = match self.hooks {
            Hooks::Record | Hooks::RecordInline => &abi::RECORD_BEGIN,
            Hooks::Gate => &abi::GATE_ACCESS,
        };
        self.builder.before(touch.instruction);
        let kind = self.declared.u32(kind(touch.rw, touch.atomic));
        let arguments = [touch.address, self.declared.u32(touch.size), kind, self.declared.u64(site.0)];
        let token = self.builder.call(self.declared.hook(hook), &arguments);
        if let (Hooks::Record | Hooks::RecordInline, Some(after)) = (self.hooks, after) {
            self.builder.before(after);
            self.builder.call(self.declared.hook(&abi::RECORD_END), &[token]);
        }
    }

    /// Each lane for itself: one that the mask leaves out may lie in memory that is not there.
    fn lanes(&self, touch: &Touch<'m>, lanes: Lanes<'m>, site: SiteKey) {
        self.builder.before(touch.instruction);
        let (kind, site) = (self.declared.u32(kind(touch.rw, false)), self.declared.u64(site.0));
        let (all, none) = (self.declared.u64(lanes.bytes.into()), self.declared.u64(0));
        for index in 0..lanes.count {
            let lane = self.builder.lane(lanes.mask, index);
            let length = match lane.ty().integer_bits() {
                Some(1) => self.builder.select(lane, all, none),
                Some(_) => self.builder.select(self.builder.is_not_negative(lane), none, all),
                None => all,
            };
            let address = self.builder.behind(touch.address, index * lanes.bytes);
            self.builder.call(self.declared.hook(&abi::GATE_RANGE), &[address, length, kind, site]);
        }
    }

    fn suspensions(&self, body: &Body<'m>) {
        let calls = body.function.instructions().filter(|instruction| instruction.opcode() == Opcode::LLVMCall);
        for save in calls.filter(|call| call.called().name() == "llvm.coro.save") {
            self.builder.before(save);
            let (site, unseen) = (self.declared.u64(body.key.0), self.declared.u32(Unseen::State as u32));
            self.builder.call(self.declared.hook(&abi::GATE_CALL), &[site, unseen]);
        }
    }

    fn call(&self, call: &CallPoint<'m>, site: SiteKey) -> Result<(), PassError> {
        let instruction = call.instruction;
        let number = self.declared.u64(site.0);
        self.builder.before(instruction);
        match (self.hooks, call.target) {
            (Hooks::Gate, Target::Assembly) => self.assembly(instruction, site),
            (_, Target::Assembly | Target::Intrinsic(_)) | (Hooks::Gate, Target::Defined(_)) => {}
            (Hooks::Record | Hooks::RecordInline, Target::Defined(callee)) if self.bare.quiet.contains(&callee) => {}
            (Hooks::Record | Hooks::RecordInline, _) => {
                let frame = self.frame.ok_or_else(|| PassError::Internal { what: "a recorded function without a frame".to_owned() })?;
                self.builder.call(self.declared.hook(&abi::RECORD_CALL), &[frame, number]);
            }
            (Hooks::Gate, _) => {
                let unseen = match call.target {
                    Target::External(callee) => external::unseen(&callee.name()),
                    _ => Unseen::Nothing,
                };
                self.builder.call(self.declared.hook(&abi::GATE_CALL), &[number, self.declared.u32(unseen as u32)]);
            }
        }
        for range in call.ranges.iter().filter(|range| !self.bare.private.contains(&range.address)) {
            self.range(range, instruction, site)?;
        }
        Ok(())
    }

    fn assembly(&self, call: Instruction<'m>, site: SiteKey) {
        let purpose = assembly::purpose(call);
        let site = self.declared.u64(site.0);
        let memory = assembly::memory(call, self.declared.module());
        let kind = self.declared.u32(kind(Rw::Update, purpose == Purpose::Synchronizes));
        for (address, size) in memory.iter().filter(|(address, _)| !self.bare.private.contains(address)) {
            self.builder.call(self.declared.hook(&abi::GATE_ACCESS), &[*address, self.declared.u32(*size), kind, site]);
        }
        let what = match purpose {
            Purpose::Synchronizes if memory.is_empty() => abi::ASSEMBLY_MEMORY,
            Purpose::DrawsNumbers => abi::ASSEMBLY_NUMBERS,
            Purpose::Synchronizes | Purpose::Plain => return,
        };
        self.builder.call(self.declared.hook(&abi::GATE_ASSEMBLY), &[self.declared.u32(what), site]);
    }

    fn range(&self, range: &RangePoint<'m>, call: Instruction<'m>, site: SiteKey) -> Result<(), PassError> {
        let is_block = range.length == Length::Block;
        let (hook, after) = match self.hooks {
            Hooks::Record | Hooks::RecordInline => (&abi::RECORD_RANGE, range.rw.writes() && !is_block),
            Hooks::Gate if is_block => return Ok(()),
            Hooks::Gate => (&abi::GATE_RANGE, false),
        };
        self.builder.before(if after { behind(call)? } else { call });
        let length = if after { self.length_after(range.length, call) } else { self.length_before(range, call) };
        let Some(length) = length else { return Ok(()) };
        let kind = self.declared.u32(kind(range.rw, range.atomic));
        self.builder.call(self.declared.hook(hook), &[range.address, length, kind, self.declared.u64(site.0)]);
        Ok(())
    }

    /// A length that is known before the call; what is known only afterwards counts as 1.
    fn length_before(&self, range: &RangePoint<'m>, call: Instruction<'m>) -> Option<Value<'m>> {
        match range.length {
            Length::String if range.rw == Rw::Read => Some(self.string_at(range.address)),
            Length::String | Length::StringAt(_) | Length::Result | Length::Printed(_) => Some(self.declared.u64(1)),
            other => self.computed(other, call),
        }
    }

    /// A length that is known after the call.
    fn length_after(&self, length: Length, call: Instruction<'m>) -> Option<Value<'m>> {
        let result: Value<'m> = call.into();
        match length {
            Length::String | Length::StringAt(_) => Some(self.declared.u64(abi::LENGTH_STRING)),
            Length::Result => {
                let wide = self.builder.resize_signed(result, self.declared.module().integer(64));
                let positive = self.builder.is_positive(wide);
                Some(self.builder.select(positive, wide, self.declared.u64(0)))
            }
            Length::Printed(room) => {
                let room = self.builder.resize(call.argument(room)?, self.declared.module().integer(64));
                let text = self.builder.resize_signed(result, self.declared.module().integer(64));
                let whole = self.builder.add(text, self.declared.u64(1));
                let stored = self.builder.smaller(whole, room);
                Some(self.builder.select(self.builder.is_not_negative(text), stored, self.declared.u64(0)))
            }
            other => self.computed(other, call),
        }
    }

    /// A string that may be null has no length.
    fn string_at(&self, address: Value<'m>) -> Value<'m> {
        let there = self.builder.is_not_null(address);
        self.builder.select(there, self.declared.u64(abi::LENGTH_STRING), self.declared.u64(0))
    }

    fn computed(&self, length: Length, call: Instruction<'m>) -> Option<Value<'m>> {
        let wide = |index| Some(self.builder.resize(call.argument(index)?, self.declared.module().integer(64)));
        match length {
            Length::Bytes(bytes) => Some(self.declared.u64(bytes.into())),
            Length::Argument(index) => wide(index),
            Length::Product(a, b) => Some(self.builder.multiply(wide(a)?, wide(b)?)),
            Length::Block => Some(self.declared.u64(abi::LENGTH_BLOCK)),
            Length::String | Length::StringAt(_) | Length::Result | Length::Printed(_) => None,
        }
    }
}

/// The instruction before which code stands that runs after a call has returned.
fn behind<'m>(call: Instruction<'m>) -> Result<Instruction<'m>, PassError> {
    match call.normal_destination() {
        None => call.next(),
        Some(normal) => call.block().edge_to(normal),
    }
    .ok_or_else(|| PassError::Internal { what: "a call with nothing behind it".to_owned() })
}
