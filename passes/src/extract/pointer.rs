//! Pointer flow: what the whole-program points-to analysis needs to know of each body and of the initial values of globals.
//!
//! Constant steps through records keep their offset, all elements of an array are the first; so a pointer that a loop moves on byte
//! by byte walks over elements too. Integers count where a conversion shows that they are pointers. Constant data without pointers is
//! left out: nobody writes it.
//!
//! Not handled: variable arguments, inline assembly, exceptions as objects.

use std::collections::{HashMap, HashSet};

use model::ids::{PointerId, SiteKey};
use model::pointer::{Called, Flow, Pointers};
use model::program::Place;

use super::collect::{Act, Body, resolve};
use super::place::Places;
use crate::llvm::{Function, Instruction, Module, Opcode, Type, Value, ValueKind};

/// Constants nest at most so deep that anyone cares.
const DEPTH: u32 = 24;

/// How far a pointer is followed to see whether a loop moves it.
const WALK: usize = 32;

/// The pointers of one body, in the making.
pub(crate) struct Flows<'a, 'm> {
    module: Module<'m>,
    places: &'a Places<'m>,
    known: HashMap<Value<'m>, Option<PointerId>>,
    /// Integers that are pointers for a time.
    integers: HashSet<Value<'m>>,
    pointers: Pointers,
}

impl<'a, 'm> Flows<'a, 'm> {
    fn new(module: Module<'m>, places: &'a Places<'m>) -> Self {
        Self { module, places, known: HashMap::new(), integers: HashSet::new(), pointers: Pointers::default() }
    }

    /// All flows of a body.
    pub(crate) fn of(body: &Body<'m>, module: Module<'m>, places: &'a Places<'m>) -> Self {
        let mut flows = Self::new(module, places);
        flows.parameters(body.function);
        flows.integers = integers(body.function);
        let sites = body.points.iter().filter_map(|point| match &point.act {
            Act::Call(call) => Some((call.instruction.into(), point.site?)),
            _ => None,
        });
        let sites: HashMap<Value<'m>, SiteKey> = sites.collect();
        for instruction in body.function.instructions() {
            flows.instruction(instruction, sites.get(&instruction.into()).copied());
        }
        flows
    }

    /// Notes that memory, or a lock object, is reached through a value.
    pub(crate) fn behind(&mut self, place: &Place, address: Value<'m>) {
        if let Some(pointer) = self.id(address) {
            self.pointers.behind.push((place.clone(), pointer));
        }
    }

    /// What was found, without repeats.
    pub(crate) fn finish(mut self) -> Pointers {
        self.pointers.flows.sort();
        self.pointers.flows.dedup();
        self.pointers.behind.sort();
        self.pointers.behind.dedup();
        self.pointers
    }

    fn parameters(&mut self, function: Function<'m>) {
        for parameter in function.parameters() {
            let id = self.fresh();
            self.known.insert(parameter, Some(id));
        }
        self.pointers.parameters = self.pointers.count;
    }

    fn fresh(&mut self) -> PointerId {
        self.pointers.count += 1;
        PointerId(self.pointers.count - 1)
    }

    fn push(&mut self, flow: Flow) {
        self.pointers.flows.push(flow);
    }

    fn carries(&self, value: Value<'m>) -> bool {
        value.ty().may_hold_pointers() || self.integers.contains(&value)
    }

    /// The id of a value; `None` for what points to nothing that is ever written.
    fn id(&mut self, value: Value<'m>) -> Option<PointerId> {
        let value = resolve(value);
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let id = match value.kind() {
            ValueKind::LLVMInstructionValueKind | ValueKind::LLVMArgumentValueKind => self.carries(value).then(|| self.fresh()),
            ValueKind::LLVMFunctionValueKind | ValueKind::LLVMGlobalAliasValueKind | ValueKind::LLVMGlobalIFuncValueKind => {
                Some(self.symbol(value))
            }
            ValueKind::LLVMGlobalVariableValueKind => {
                let inert = value.is_constant_global() && value.initializer().is_some_and(|constant| !holds_symbols(constant, DEPTH));
                (!inert).then(|| self.symbol(value))
            }
            ValueKind::LLVMConstantExprValueKind => {
                let to = self.fresh();
                self.known.insert(value, Some(to));
                self.derived(to, value);
                Some(to)
            }
            _ => None,
        };
        self.known.insert(value, id);
        id
    }

    fn symbol(&mut self, global: Value<'m>) -> PointerId {
        let to = self.fresh();
        let name = self.places.symbol(global);
        self.push(Flow::Symbol { to, name });
        to
    }

    fn copy(&mut self, to: PointerId, from: Option<Value<'m>>) {
        if let Some(from) = from.and_then(|from| self.id(from)) {
            self.push(Flow::Copy { to, from });
        }
    }

    /// A value that is computed from its operands: a step or a copy of each.
    fn derived(&mut self, to: PointerId, value: Value<'m>) {
        if let Some(step) = value.step(self.module) {
            let Some(from) = self.id(step.base) else { return };
            let element = if step.fields == 0 { step.computed } else { is_walk(value, self.module) };
            self.push(if element { Flow::Copy { to, from } } else { Flow::Step { to, from, bytes: step.fields } });
            return;
        }
        for index in 0..value.operand_count() {
            self.copy(to, value.operand(index));
        }
    }

    fn instruction(&mut self, instruction: Instruction<'m>, site: Option<SiteKey>) {
        let value: Value<'m> = instruction.into();
        let result = if self.carries(value) { self.id(value) } else { None };
        match instruction.opcode() {
            Opcode::LLVMAlloca => self.pointers.flows.extend(result.map(|to| Flow::Fresh { to })),
            Opcode::LLVMLoad => self.load(result, value.operand(0)),
            Opcode::LLVMStore => self.store(value.operand(1), value.operand(0)),
            Opcode::LLVMAtomicRMW => {
                self.load(result, value.operand(0));
                self.store(value.operand(0), value.operand(1));
            }
            Opcode::LLVMAtomicCmpXchg => {
                self.load(result, value.operand(0));
                self.store(value.operand(0), value.operand(2));
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => self.call(instruction, result, site),
            Opcode::LLVMRet => {
                if let Some(value) = value.operand(0).filter(|&value| self.carries(value)).and_then(|value| self.id(value)) {
                    self.push(Flow::Return { value });
                }
            }
            Opcode::LLVMVAArg | Opcode::LLVMLandingPad => {}
            _ => {
                if let Some(to) = result {
                    self.derived(to, value);
                }
            }
        }
    }

    fn load(&mut self, to: Option<PointerId>, at: Option<Value<'m>>) {
        if let (Some(to), Some(from)) = (to, at.and_then(|at| self.id(at))) {
            self.push(Flow::Load { to, from });
        }
    }

    fn store(&mut self, at: Option<Value<'m>>, value: Option<Value<'m>>) {
        let Some(value) = value.filter(|&value| self.carries(value)) else { return };
        if let (Some(value), Some(at)) = (self.id(value), at.and_then(|at| self.id(at))) {
            self.push(Flow::Store { at, value });
        }
    }

    fn call(&mut self, call: Instruction<'m>, result: Option<PointerId>, site: Option<SiteKey>) {
        let called = resolve(call.called());
        let arguments = call.arguments();
        let callee = match called.as_function() {
            Some(function) if function.is_intrinsic() => return self.intrinsic(&function.name(), &arguments, result),
            Some(_) => Called::Named(self.places.symbol(called)),
            None if called.assembly().is_some() => return,
            None => match self.id(called) {
                Some(pointer) if called.kind() != ValueKind::LLVMGlobalAliasValueKind => Called::Through(pointer),
                _ => Called::Named(self.places.symbol(called)),
            },
        };
        let arguments = arguments.into_iter().map(|value| if self.carries(value) { self.id(value) } else { None }).collect();
        self.push(Flow::Call { site, callee, arguments, result });
    }

    fn intrinsic(&mut self, name: &str, arguments: &[Value<'m>], result: Option<PointerId>) {
        let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        match (arguments, result) {
            (&[to, from, ..], _) if copies => {
                if let (Some(to), Some(from)) = (self.id(to), self.id(from)) {
                    self.push(Flow::CopyBytes { to, from });
                }
            }
            // Thread-local addresses, laundering, annotations: their first argument again.
            (&[from, ..], Some(to)) => self.copy(to, Some(from)),
            _ => {}
        }
    }

    fn initial(&mut self, at: Value<'m>, offset: i64, constant: Value<'m>, depth: u32) {
        match constant.kind() {
            _ if depth == 0 => {}
            ValueKind::LLVMConstantStructValueKind => {
                for index in 0..constant.operand_count() {
                    let field = offset.saturating_add(self.module.field_offset(constant.ty(), index));
                    if let Some(part) = constant.operand(index) {
                        self.initial(at, field, part, depth - 1);
                    }
                }
            }
            ValueKind::LLVMConstantArrayValueKind | ValueKind::LLVMConstantVectorValueKind => {
                for part in (0..constant.operand_count()).filter_map(|index| constant.operand(index)) {
                    self.initial(at, offset, part, depth - 1);
                }
            }
            _ => {
                let (Some(value), Some(base)) = (self.id(constant), self.id(at)) else { return };
                let at = if offset == 0 { base } else { self.fresh() };
                if offset != 0 {
                    self.push(Flow::Step { to: at, from: base, bytes: offset });
                }
                self.push(Flow::Store { at, value });
            }
        }
    }
}

/// What the initial values of a module's globals point to.
pub(crate) fn data<'m>(module: Module<'m>, places: &Places<'m>) -> Pointers {
    let mut flows = Flows::new(module, places);
    for global in module.globals() {
        if let Some(constant) = global.initializer().filter(|&constant| holds_symbols(constant, DEPTH)) {
            flows.initial(global, 0, constant, DEPTH);
        }
    }
    flows.finish()
}

/// A second name of a function, as one that passes its arguments on.
pub(crate) fn forward<'m>(target: Function<'m>, site: SiteKey, places: &Places<'m>) -> Pointers {
    let parameters = u32::try_from(target.parameters().len()).unwrap_or(0);
    let result = PointerId(parameters);
    let arguments = (0..parameters).map(|index| Some(PointerId(index))).collect();
    let callee = Called::Named(places.symbol(target.into()));
    let flows = vec![Flow::Return { value: result }, Flow::Call { site: Some(site), callee, arguments, result: Some(result) }];
    Pointers { count: parameters + 1, parameters, flows, behind: Vec::new() }
}

/// Whether a constant names a function or variable anywhere.
fn holds_symbols(constant: Value<'_>, depth: u32) -> bool {
    use ValueKind as K;
    match constant.kind() {
        K::LLVMFunctionValueKind | K::LLVMGlobalVariableValueKind | K::LLVMGlobalAliasValueKind | K::LLVMGlobalIFuncValueKind => true,
        K::LLVMConstantExprValueKind | K::LLVMConstantStructValueKind | K::LLVMConstantArrayValueKind | K::LLVMConstantVectorValueKind => {
            depth > 0
                && (0..constant.operand_count()).filter_map(|index| constant.operand(index)).any(|part| holds_symbols(part, depth - 1))
        }
        _ => false,
    }
}

/// Whether a byte step is one turn of a loop that moves a pointer: its base is a phi that the step's result comes back to.
fn is_walk<'m>(step: Value<'m>, module: Module<'m>) -> bool {
    let is_bytes = |value: Value<'m>| value.step(module).is_some_and(|step| step.record.is_none() && step.fields == step.constant);
    if !is_bytes(step) || step.as_instruction().is_none() {
        return false;
    }
    let mut work = vec![step];
    let mut seen = HashSet::new();
    let mut through_phi = false;
    while let Some(value) = work.pop() {
        let Some(instruction) = value.as_instruction() else { continue };
        if value == step && !seen.is_empty() {
            return through_phi;
        }
        if seen.len() > WALK || !seen.insert(value) {
            continue;
        }
        match instruction.opcode() {
            Opcode::LLVMPHI | Opcode::LLVMSelect => {
                through_phi = true;
                work.extend((0..value.operand_count()).filter_map(|index| value.operand(index)));
            }
            Opcode::LLVMGetElementPtr if is_bytes(value) => work.extend(value.operand(0)),
            _ => {}
        }
    }
    false
}

/// Integers that come from pointers, or that pointers are made from.
fn integers(function: Function<'_>) -> HashSet<Value<'_>> {
    let mut found = HashSet::new();
    let mut back = Vec::new();
    for instruction in function.instructions() {
        match instruction.opcode() {
            Opcode::LLVMPtrToInt => {
                found.insert(instruction.into());
            }
            Opcode::LLVMIntToPtr => back.extend(Value::from(instruction).operand(0)),
            _ => {}
        }
    }
    if found.is_empty() && back.is_empty() {
        return found;
    }
    let moves = |opcode| {
        use Opcode as O;
        matches!(opcode, O::LLVMPHI | O::LLVMSelect | O::LLVMFreeze | O::LLVMAdd | O::LLVMAnd | O::LLVMOr | O::LLVMXor | O::LLVMSub)
    };
    // Forward: what is computed from one pointer; the difference of two is a number. Phis need a second round.
    for _ in 0..2 {
        for instruction in function.instructions().filter(|instruction| moves(instruction.opcode())) {
            let value = Value::from(instruction);
            let from =
                (0..value.operand_count()).filter_map(|index| value.operand(index)).filter(|operand| found.contains(operand)).count();
            if value.ty().integer_bits() == Some(64) && from > 0 && !(instruction.opcode() == Opcode::LLVMSub && from > 1) {
                found.insert(value);
            }
        }
    }
    while let Some(value) = back.pop() {
        let wide = value.ty().integer_bits() == Some(64);
        if !wide || !matches!(value.kind(), ValueKind::LLVMInstructionValueKind | ValueKind::LLVMArgumentValueKind) || !found.insert(value)
        {
            continue;
        }
        if value.as_instruction().is_some_and(|instruction| moves(instruction.opcode())) {
            back.extend((0..value.operand_count()).filter_map(|index| value.operand(index)));
        }
    }
    found
}

impl Type<'_> {
    /// Whether a value of it may be, or contain, a pointer.
    fn may_hold_pointers(self) -> bool {
        self.is_plain_pointer() || self.is_aggregate()
    }
}
