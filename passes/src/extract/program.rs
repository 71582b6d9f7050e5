//! The model of one module: what inference reads.

use std::collections::BTreeMap;

use model::external::{self, Blocking, External};
use model::ids::{FunctionKey, NodeId, SiteKey, fnv1a_from};
use model::program::{Access, Call, Callee, Function, Gap, Module as ProgramModule, Node, NodeKind, Place, Uncovered};

use super::collect::{Act, Body, CallPoint, Length, Point, RangePoint, Target, bodies, resolve};
use super::counted::counted;
use super::place::Places;
use super::pointer::{self, Flows};
use crate::PassError;
use crate::llvm::{Instruction, Module, Records, Value, source_of, with_module};

/// Reads bitcode into the model.
pub fn extract(bitcode: &[u8]) -> Result<ProgramModule, PassError> {
    with_module(bitcode, |module| {
        let name = module.source_name();
        let places = Places::new(module, name.clone());
        let bodies = bodies(module)?;
        let mut functions: Vec<Function> = bodies.iter().map(|body| function(body, module, &places, &name)).collect();
        functions.extend(aliases(module, &places, &bodies, &name));
        let uncovered = bodies
            .iter()
            .filter_map(|body| {
                body.refused.map(|refusal| Uncovered { what: body.function.name(), why: refusal.why.to_owned(), gap: Gap::Function })
            })
            .collect();
        let taken =
            module.functions().map(Value::from).filter(|function| function.is_taken()).map(|function| places.symbol(function)).collect();
        let constructors = module.constructors().into_iter().map(|function| places.symbol(resolve(function))).collect();
        let data = pointer::data(module, &places);
        let names = names(&functions, module);
        Ok(ProgramModule { name, functions, taken, constructors, data, names, uncovered })
    })
}

/// What the source calls the places of these functions, where that differs from the places' own text.
fn names(functions: &[Function], module: Module<'_>) -> BTreeMap<Place, String> {
    let records = Records::of(module);
    let in_global = |name: &str, offset, exactly: &dyn Fn(String) -> String| {
        let (linkage, module) = name.split_at(name.find('@').unwrap_or(name.len()));
        records.in_global(linkage, offset).map(|path| format!("{linkage}{}{module}", exactly(path)))
    };
    let name = |place: &Place| match place {
        Place::Field { record, offset } => records.field(record, *offset).map(|path| format!("{record}{path}")),
        Place::Global { name, offset } => in_global(name, *offset, &|path| path.replace("[]", "[0]")),
        Place::GlobalElement { name, offset } => in_global(name, *offset, &|path| path),
        Place::Pointer { .. } => None,
    };
    let nodes = functions.iter().flat_map(|function| &function.nodes);
    let objects = nodes.flat_map(|node| match &node.kind {
        NodeKind::Call(call) => call.sync.iter().flat_map(|(_, places)| places).collect(),
        _ => Vec::new(),
    });
    let accessed = functions.iter().flat_map(|function| &function.nodes).flat_map(Node::accesses).map(|access| &access.place);
    objects.chain(accessed).filter_map(|place| Some((place.clone(), name(place)?))).collect()
}

fn function<'m>(body: &Body<'m>, of: Module<'m>, places: &Places<'m>, module: &str) -> Function {
    let symbol: Value<'_> = body.function.into();
    let mut flows = Flows::of(body, of, places);
    Function {
        key: body.key,
        name: body.function.name(),
        local: symbol.is_local(),
        module: module.to_owned(),
        signature: body.function.function_type().print(),
        nodes: body.points.iter().map(|point| node(body, point, places, &mut flows)).collect(),
        pointers: flows.finish(),
        counted: counted(of, body),
        refused: body.refused.map(|refusal| refusal.why.to_owned()),
    }
}

fn node<'m>(body: &Body<'m>, point: &Point<'m>, places: &Places<'m>, flows: &mut Flows<'_, 'm>) -> Node {
    let (kind, at) = match &point.act {
        Act::Block => (NodeKind::Block, point.block.instructions().find(|instruction| instruction.has_line())),
        Act::Access(touch) => {
            let site = site_of(point);
            let place = places.of(touch.address, Some(touch.instruction), site);
            flows.behind(&place, touch.address);
            let access = Access { rw: touch.rw, place, atomic: touch.atomic, bytes: Some(touch.size), covers: Vec::new() };
            (NodeKind::Access(access), Some(touch.instruction))
        }
        Act::Call(call) => (NodeKind::Call(self::call(call, site_of(point), places, flows)), Some(call.instruction)),
        Act::Return(at) => (NodeKind::Return, Some(*at)),
        Act::Stop(at) => (NodeKind::Stop, Some(*at)),
    };
    Node { kind, site: point.site, source: source_of(at, body.function), successors: point.successors.clone() }
}

fn site_of(point: &Point<'_>) -> SiteKey {
    point.site.expect("accesses and calls are sites")
}

fn call<'m>(call: &CallPoint<'m>, site: SiteKey, places: &Places<'m>, flows: &mut Flows<'_, 'm>) -> Call {
    let callee = match call.target {
        Target::Defined(function) => Callee::Direct(places.symbol(function.into())),
        Target::External(symbol) => Callee::Direct(places.symbol(symbol)),
        Target::Intrinsic(name) => Callee::Direct(name.to_owned()),
        Target::Indirect => Callee::Indirect(call.instruction.called_type().print()),
        Target::Assembly => Callee::Assembly,
    };
    let mut behind = |place: Place, address| {
        flows.behind(&place, address);
        place
    };
    let access = |range: &RangePoint<'m>| {
        let bytes = range.most(call.instruction);
        let place = if range.length == Length::Block { places.of_block(site) } else { places.of(range.address, None, site) };
        Access { rw: range.rw, place: behind(place, range.address), atomic: range.atomic, bytes, covers: Vec::new() }
    };
    let accesses = call.ranges.iter().map(access).collect();
    let sync = call.external.and_then(|external| {
        let mut place = |address| behind(places.of(address, None, site), address);
        sync(external, call.instruction, &mut place)
    });
    let blocking = call.external.and_then(|external| blocking(external, call.instruction));
    Call { callee, accesses, sync, blocking, calls_back: Vec::new() }
}

/// How a call may block, as far as its arguments tell.
fn blocking(external: &External, instruction: Instruction<'_>) -> Option<Blocking> {
    let number = |index| instruction.argument(index).and_then(Value::as_integer);
    match number(0) {
        Some(call) if external.name == "syscall" && !external::raw_call_waits(call, number(2)) => None,
        _ => external.blocking,
    }
}

fn sync<'m>(
    external: &External,
    instruction: Instruction<'m>,
    place: &mut impl FnMut(Value<'m>) -> Place,
) -> Option<(external::SyncOp, Vec<Place>)> {
    let (op, objects) = external.sync?;
    let objects = objects.iter().filter_map(|&index| instruction.argument(index)).map(place).collect();
    Some((op, objects))
}

/// Second names of functions (C++ constructors have such), as functions that only call the first: calls from other modules
/// name them. No lock may be placed in them, since they have no code.
fn aliases<'m>(module: Module<'m>, places: &Places<'m>, bodies: &[Body<'m>], name: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    for alias in module.aliases() {
        let Some(target) = alias.aliasee().map(resolve).and_then(Value::as_function) else { continue };
        let Some(body) = bodies.iter().find(|body| body.function == target) else { continue };
        let key = FunctionKey(fnv1a_from(body.key.0, alias.name().as_bytes()));
        let source = source_of(None, target);
        let plain = |kind, successors| Node { kind, site: None, source: source.clone(), successors };
        let callee = Callee::Direct(places.symbol(target.into()));
        let call = Call { callee, accesses: Vec::new(), sync: None, blocking: None, calls_back: Vec::new() };
        let site = SiteKey::of(key, 0);
        functions.push(Function {
            key,
            name: alias.name(),
            local: alias.is_local(),
            module: name.to_owned(),
            signature: target.function_type().print(),
            nodes: vec![
                plain(NodeKind::Block, vec![NodeId(1)]),
                Node { site: Some(site), ..plain(NodeKind::Call(call), vec![NodeId(2)]) },
                plain(NodeKind::Return, Vec::new()),
            ],
            pointers: pointer::forward(target, site, places),
            counted: Vec::new(),
            refused: Some("it is a second name of a function".to_owned()),
        });
    }
    functions
}
