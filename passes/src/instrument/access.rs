//! Hooks around accesses and calls: one rule a kind of node.
//!
//! | node | record | gate |
//! |---|---|---|
//! | access | `begin`; access; `end` | `access`; access |
//! | access by lanes under a mask | the same, of all lanes | `range` of each lane, of no length where the mask leaves it out |
//! | compare-and-swap of at most 8 bytes | the same | `compare` with the value expected; access |
//! | memory intrinsic, call with ranges in the table | `range` before for what is read, after for what is written | `range` before; `read` for what is read before the last |
//! | call that gives a heap block back | `range` before | nothing: the gate has a heap of its own |
//! | call of a function outside the program | `handed` before, for each pointer of which the table says nothing; one through a pointer likewise |
//! | call of a function | `call` before, unless the callee is quiet | `call` before, unless it is defined in this module |
//! | inline assembly | nothing | `access` for each operand that is memory; `assembly` when it synchronizes without any, touches memory through a register, or draws random numbers |
//!
//! A coroutine that is about to suspend counts as a call of what keeps state: its frame says where it goes on, and no hook sees that.
//!
//! Memory that belongs to one thread when the whole module is looked at (`escape`) counts as none.

use std::collections::{BTreeSet, HashSet};

use model::abi;
use model::external::handed::ENTRY_OF_LIST;
use model::external::{self, Unseen};
use model::ids::SiteKey;
use model::pair::Rw;

use super::assembly::{self, Purpose};
use super::handed::{self, Named, Pointer};
use super::hooks::Declared;
use crate::extract::{Act, Body, CallPoint, Lanes, Length, RangePoint, Target, Touch, WIDE};
use crate::llvm::{Builder, Function, Instruction, Opcode, Signature, Value};
use crate::{Hooks, PassError};

/// What stands in the text of a number, blanks before it included.
const IN_NUMBERS: &str = "\t\n\u{b}\u{c}\r +-.0123456789ABCDEFINPTXYabcdefinptxy";

/// So many entries of a list are looked at: more is an error to the C library (`IOV_MAX`).
const MOST_ENTRIES: u64 = 1024;

/// A text that is scanned is no longer.
const MOST_TEXT: u64 = 1 << 16;

/// What needs no hooks.
pub(crate) struct Bare<'a, 'm> {
    /// Functions in which no hook runs.
    pub(crate) quiet: HashSet<Function<'m>>,
    /// Addresses of memory that belongs to one thread.
    pub(crate) private: HashSet<Value<'m>>,
    /// Functions of the program's other modules, which have hooks of their own.
    pub(crate) own: &'a BTreeSet<String>,
}

/// Where hooks go and what they are given.
struct Context<'a, 'm> {
    hooks: Hooks,
    bare: &'a Bare<'a, 'm>,
    frame: Option<Value<'m>>,
    builder: &'a Builder<'m>,
    declared: Declared<'m>,
}

/// Adds the hooks of a body's nodes.
pub(crate) fn instrument_nodes<'m>(
    body: &Body<'m>,
    hooks: Hooks,
    bare: &Bare<'_, 'm>,
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
        let handed = match self.hooks {
            Hooks::Gate => handed::pointers(call, self.bare.own, self.declared.module()),
            Hooks::Record | Hooks::RecordInline => Vec::new(),
        };
        let (guarded, plain): (Vec<_>, Vec<_>) = handed.iter().partition(|pointer| pointer.is_guarded());
        plain.iter().for_each(|pointer| self.handed(pointer, call, site));
        let ranges: Vec<&RangePoint<'m>> = call.ranges.iter().filter(|range| !self.bare.private.contains(&range.address)).collect();
        for (index, range) in ranges.iter().enumerate() {
            // What is read before another range is touched is kept as it is found, since others may come between.
            match u32::try_from(index) {
                Ok(number) if self.hooks == Hooks::Gate && range.rw == Rw::Read && (index + 1 < ranges.len() || !guarded.is_empty()) => {
                    self.kept(range, call, number, site);
                }
                _ => self.range(range, call, site)?,
            }
        }
        guarded.iter().for_each(|pointer| self.handed(pointer, call, site));
        Ok(())
    }

    fn handed(&self, pointer: &Pointer<'m>, call: &CallPoint<'m>, site: SiteKey) {
        self.builder.before(call.instruction);
        let module = self.declared.module();
        let callee = match &pointer.callee {
            None => module.zero(module.pointer()),
            Some(Named::Name(name)) => module.private_text(&format!("__atomfix_name_of_{name}"), name),
            Some(Named::At(address)) => *address,
        };
        let known = self.declared.u64(pointer.handing.to_abi());
        let what = pointer.count.filter(|count| count.ty().integer_bits().is_some()).map_or(known, |count| {
            let count = self.builder.smaller(self.builder.resize(count, module.integer(64)), self.declared.u64(MOST_ENTRIES));
            self.builder.add(known, self.builder.multiply(count, self.declared.u64(ENTRY_OF_LIST.into())))
        });
        let what =
            pointer.limit.map_or(what, |text| self.builder.add(what, self.builder.smaller(self.text(text), self.declared.u64(MOST_TEXT))));
        self.builder.call(self.declared.hook(&abi::GATE_HANDED), &[pointer.address, what, callee, self.declared.u64(site.0)]);
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
            Purpose::Touches => abi::ASSEMBLY_UNSEEN,
            Purpose::DrawsNumbers => abi::ASSEMBLY_NUMBERS,
            Purpose::Synchronizes | Purpose::Plain => return,
        };
        self.builder.call(self.declared.hook(&abi::GATE_ASSEMBLY), &[self.declared.u32(what), site]);
    }

    /// A range that the call reads, as it is at this point: the call is given what the hook returns instead of it.
    fn kept(&self, range: &RangePoint<'m>, call: &CallPoint<'m>, number: u32, site: SiteKey) {
        self.builder.before(call.instruction);
        let Some(length) = self.length_before(range, call) else { return };
        let arguments = [range.address, length, self.declared.u32(number), self.declared.u64(site.0)];
        let kept = self.builder.call(self.declared.hook(&abi::GATE_READ), &arguments);
        call.instruction.set_operand(range.argument.into(), kept);
    }

    fn range(&self, range: &RangePoint<'m>, point: &CallPoint<'m>, site: SiteKey) -> Result<(), PassError> {
        let call = point.instruction;
        let is_block = range.length == Length::Block;
        let (hook, after) = match self.hooks {
            Hooks::Record | Hooks::RecordInline => (&abi::RECORD_RANGE, range.rw.writes() && !is_block),
            Hooks::Gate if is_block => return Ok(()),
            Hooks::Gate => (&abi::GATE_RANGE, false),
        };
        self.builder.before(if after { behind(call)? } else { call });
        let length = if after { self.length_after(range.length, call) } else { self.length_before(range, point) };
        let Some(length) = length else { return Ok(()) };
        let kind = self.declared.u32(kind(range.rw, range.atomic));
        self.builder.call(self.declared.hook(hook), &[range.address, length, kind, self.declared.u64(site.0)]);
        Ok(())
    }

    /// A length that is known before the call, or the most that it may be; that of a text that is yet to be made where the format is not at hand
    /// counts as 1.
    fn length_before(&self, range: &RangePoint<'m>, point: &CallPoint<'m>) -> Option<Value<'m>> {
        let call = point.instruction;
        let printed = point.format.filter(|format| format.rw == Rw::Read);
        match (range.length, printed) {
            (Length::String, _) if range.rw == Rw::Read => Some(self.string_at(range.address)),
            (Length::String, Some(format)) => Some(self.printed(call, format.argument)),
            (Length::Printed(room), Some(format)) => {
                let room = self.builder.resize(call.argument(room)?, self.declared.module().integer(64));
                Some(self.builder.smaller(self.printed(call, format.argument), room))
            }
            (Length::Printed(room), None) => {
                // Some say that there is room for ever.
                const LONG: u64 = 1 << 16;
                Some(self.builder.smaller(self.computed(Length::Argument(room), call)?, self.declared.u64(LONG)))
            }
            (Length::Result, _) => self.computed(range.limit.map_or(Length::Bytes(1), Length::Argument), call),
            (Length::StringAt(index), _) => Some(self.text(call.argument(index)?)),
            (Length::Joined(index), _) => {
                let (there, more) = (self.text(range.address), self.text(call.argument(index)?));
                Some(self.builder.add(there, more))
            }
            (Length::JoinedUpTo(index, most), _) => {
                let more = self.text_up_to(call.argument(index)?, call.argument(most)?);
                Some(self.builder.add(self.text(range.address), more))
            }
            (Length::String, None) => Some(self.declared.u64(1)),
            (Length::StringUpTo(most), _) => Some(self.text_up_to(range.address, call.argument(most)?)),
            (Length::StringWithin(most), _) => Some(self.text_up_to(range.address, self.declared.u64(most.into()))),
            (Length::Number, _) => Some(self.number(range.address)),
            (other, _) => self.computed(other, call),
        }
    }

    /// The length of a string with its zero.
    fn text(&self, address: Value<'m>) -> Value<'m> {
        let module = self.declared.module();
        let strlen = Signature::declare(module, "strlen", module.integer(64), &[module.pointer()]);
        self.builder.add(self.builder.call(strlen, &[address]), self.declared.u64(1))
    }

    /// The same, but no more than a bound.
    fn text_up_to(&self, address: Value<'m>, most: Value<'m>) -> Value<'m> {
        let module = self.declared.module();
        let word = module.integer(64);
        let most = self.builder.resize(most, word);
        let strnlen = Signature::declare(module, "strnlen", word, &[module.pointer(), word]);
        let whole = self.builder.add(self.builder.call(strnlen, &[address, most]), self.declared.u64(1));
        self.builder.smaller(whole, most)
    }

    /// How much is looked at for the text of a number.
    fn number(&self, address: Value<'m>) -> Value<'m> {
        let module = self.declared.module();
        let strspn = Signature::declare(module, "strspn", module.integer(64), &[module.pointer(), module.pointer()]);
        let letters = module.private_text("__atomfix_in_numbers", IN_NUMBERS);
        self.builder.add(self.builder.call(strspn, &[address, letters]), self.declared.u64(1))
    }

    /// How long a text will be that is printed with this format, and its zero.
    fn printed(&self, call: Instruction<'m>, format: u8) -> Value<'m> {
        let module = self.declared.module();
        let (pointer, word) = (module.pointer(), module.integer(64));
        let snprintf = Signature::declare_variadic(module, "snprintf", module.integer(32), &[pointer, word, pointer]);
        let nowhere = [module.zero(pointer), self.declared.u64(0)];
        let arguments: Vec<Value<'m>> = nowhere.into_iter().chain(call.arguments().into_iter().skip(format.into())).collect();
        let text = self.builder.resize_signed(self.builder.call(snprintf, &arguments), word);
        let whole = self.builder.add(text, self.declared.u64(1));
        self.builder.select(self.builder.is_not_negative(text), whole, self.declared.u64(0))
    }

    /// A length that is known after the call.
    fn length_after(&self, length: Length, call: Instruction<'m>) -> Option<Value<'m>> {
        let result: Value<'m> = call.into();
        match length {
            Length::String | Length::StringAt(_) | Length::Joined(_) | Length::JoinedUpTo(..) => {
                Some(self.declared.u64(abi::LENGTH_STRING))
            }
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
            Length::Wide(index) => Some(self.builder.multiply(wide(index)?, self.declared.u64(WIDE.into()))),
            Length::String
            | Length::StringAt(_)
            | Length::Joined(_)
            | Length::JoinedUpTo(..)
            | Length::StringUpTo(_)
            | Length::StringWithin(_)
            | Length::Number
            | Length::Result
            | Length::Printed(_) => None,
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
