//! The points-to analysis against a small interpreter of pointer programs: whatever two values hold the same address in some run, in any
//! order of statements, must have one class, and whatever a call reaches must be among its callees. Then what it must keep apart.

use std::collections::{BTreeMap, BTreeSet};

use inference::points_to::{PointsTo, addresses};
use model::ids::{FunctionId, FunctionKey, PointerId, SiteKey};
use model::pointer::{Called, Flow, Pointers};
use model::program::{Function, Place, Program};
use proptest::prelude::*;

const FUNCTIONS: u32 = 3;
const PARAMETERS: u32 = 2;
const VALUES: u32 = 7;

/// A concrete address: an object and an offset in it. Functions and globals are objects too.
type Address = (u32, i64);

/// Runs a program, choosing statements at random.
struct Machine<'a> {
    program: &'a Program,
    objects: u32,
    symbols: BTreeMap<&'a str, u32>,
    memory: BTreeMap<Address, Address>,
    held: BTreeMap<Address, BTreeSet<(FunctionId, PointerId)>>,
    called: BTreeSet<(SiteKey, &'a str)>,
    choices: Vec<u8>,
}

impl<'a> Machine<'a> {
    fn new(program: &'a Program, choices: Vec<u8>) -> Self {
        let objects = 0;
        let (symbols, memory, held, called) = Default::default();
        Self { program, objects, symbols, memory, held, called, choices }
    }

    fn object(&mut self) -> u32 {
        self.objects += 1;
        self.objects
    }

    fn symbol(&mut self, name: &'a str) -> u32 {
        let next = self.objects + 1;
        let object = *self.symbols.entry(name).or_insert(next);
        self.objects = self.objects.max(object);
        object
    }

    fn function_at(&mut self, address: Address) -> Option<FunctionId> {
        let name = self.symbols.iter().find(|(_, object)| **object == address.0)?.0;
        (address.1 == 0).then(|| self.program.functions.iter().position(|f| f.name == **name).map(FunctionId::new)).flatten()
    }

    fn run(&mut self, f: FunctionId, arguments: &[Option<Address>], depth: u32) -> Option<Address> {
        let pointers = &self.program.function(f).pointers;
        let mut frame: Vec<Option<Address>> = vec![None; pointers.count as usize];
        let mut returned = None;
        for (index, argument) in arguments.iter().take(pointers.parameters as usize).enumerate() {
            self.set(f, &mut frame, PointerId::new(index), *argument);
        }
        for _ in 0..24 {
            let Some(choice) = self.choices.pop() else { break };
            let Some(flow) = pointers.flows.get(usize::from(choice) % pointers.flows.len().max(1)) else { break };
            self.step(f, flow, &mut frame, &mut returned, depth);
        }
        returned
    }

    fn set(&mut self, f: FunctionId, frame: &mut [Option<Address>], pointer: PointerId, address: Option<Address>) {
        if let Some(address) = address {
            frame[pointer.index()] = Some(address);
            self.held.entry(address).or_default().insert((f, pointer));
        }
    }

    fn step(&mut self, f: FunctionId, flow: &'a Flow, frame: &mut [Option<Address>], returned: &mut Option<Address>, depth: u32) {
        let of = |pointer: &PointerId| frame[pointer.index()];
        match flow {
            Flow::Symbol { to, name } => {
                let address = Some((self.symbol(name), 0));
                self.set(f, frame, *to, address);
            }
            Flow::Fresh { to } => {
                let address = Some((self.object(), 0));
                self.set(f, frame, *to, address);
            }
            Flow::Copy { to, from } => self.set(f, frame, *to, of(from)),
            Flow::Step { to, from, bytes } => self.set(f, frame, *to, of(from).map(|(object, offset)| (object, offset + bytes))),
            Flow::Load { to, from } => {
                let address = of(from).and_then(|at| self.memory.get(&at).copied());
                self.set(f, frame, *to, address);
            }
            Flow::Store { at, value } => {
                if let (Some(at), Some(value)) = (of(at), of(value)) {
                    self.memory.insert(at, value);
                }
            }
            Flow::CopyBytes { to, from } => {
                if let (Some(to), Some(from)) = (of(to), of(from)) {
                    let block: Vec<(Address, Address)> = self
                        .memory
                        .range(from..=(from.0, from.1 + 16))
                        .map(|(&(_, offset), &value)| ((to.0, to.1 + offset - from.1), value))
                        .collect();
                    self.memory.extend(block);
                }
            }
            Flow::Return { value } => *returned = of(value),
            Flow::Call { site, callee, arguments, result } => {
                let arguments: Vec<Option<Address>> = arguments.iter().map(|argument| argument.as_ref().and_then(&of)).collect();
                let (target, arguments) = match callee {
                    Called::Named(name) if name == "pthread_create" => (arguments[2], vec![arguments[3]]),
                    Called::Named(name) => (Some((self.symbol(name), 0)), arguments),
                    Called::Through(pointer) => (of(pointer), arguments),
                };
                let Some(callee_of) = target.and_then(|target| self.function_at(target)).filter(|_| depth > 0) else { return };
                if let (Some(site), Called::Through(_)) = (site, callee) {
                    self.called.insert((*site, &self.program.function(callee_of).name));
                }
                let value = self.run(callee_of, &arguments, depth - 1);
                if let Some(result) = result {
                    self.set(f, frame, *result, value);
                }
            }
        }
    }
}

fn value() -> impl Strategy<Value = PointerId> {
    (0..VALUES).prop_map(PointerId)
}

fn flow() -> impl Strategy<Value = Flow> {
    let two = || (value(), value());
    let name = || (0..FUNCTIONS + 2).prop_map(|n| if n < FUNCTIONS { format!("f{n}") } else { format!("g{n}") });
    let named = || (0..FUNCTIONS).prop_map(|n| format!("f{n}"));
    prop_oneof![
        3 => (value(), name()).prop_map(|(to, name)| Flow::Symbol { to, name }),
        2 => value().prop_map(|to| Flow::Fresh { to }),
        3 => two().prop_map(|(to, from)| Flow::Copy { to, from }),
        3 => (two(), prop_oneof![Just(8_i64), Just(16), Just(-8)]).prop_map(|((to, from), bytes)| Flow::Step { to, from, bytes }),
        4 => two().prop_map(|(to, from)| Flow::Load { to, from }),
        4 => two().prop_map(|(at, value)| Flow::Store { at, value }),
        1 => two().prop_map(|(to, from)| Flow::CopyBytes { to, from }),
        1 => value().prop_map(|value| Flow::Return { value }),
        2 => (named(), two(), value())
            .prop_map(|(name, (a, b), r)| call(None, Called::Named(name), vec![Some(a), Some(b)], Some(r))),
        2 => (value(), two(), value(), any::<u64>())
            .prop_map(|(f, (a, b), r, site)| call(Some(SiteKey(site)), Called::Through(f), vec![Some(a), Some(b)], Some(r))),
        1 => two().prop_map(|(f, a)| call(None, Called::Named("pthread_create".to_owned()), vec![None, None, Some(f), Some(a)], None)),
    ]
}

fn call(site: Option<SiteKey>, callee: Called, arguments: Vec<Option<PointerId>>, result: Option<PointerId>) -> Flow {
    Flow::Call { site, callee, arguments, result }
}

fn function(name: &str, flows: Vec<Flow>, behind: Vec<(Place, PointerId)>) -> Function {
    Function {
        key: FunctionKey(model::ids::fnv1a(name.as_bytes())),
        name: name.to_owned(),
        local: false,
        module: "t.c".to_owned(),
        signature: "void (ptr, ptr)".to_owned(),
        nodes: Vec::new(),
        counted: Vec::new(),
        pointers: Pointers { count: VALUES, parameters: PARAMETERS, flows, behind },
        refused: None,
    }
}

fn program() -> impl Strategy<Value = Program> {
    let bodies = prop::collection::vec(prop::collection::vec(flow(), 4..16), FUNCTIONS as usize);
    bodies.prop_map(|bodies| {
        let functions = bodies.into_iter().enumerate().map(|(f, flows)| function(&format!("f{f}"), flows, Vec::new())).collect();
        Program { functions, ..Program::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_that_alias_in_some_run_are_in_one_class(program in program(), choices in prop::collection::vec(any::<u8>(), 100..900)) {
        let mut machine = Machine::new(&program, choices);
        while !machine.choices.is_empty() {
            let first = machine.choices.len() % program.functions.len();
            machine.run(FunctionId::new(first), &[], 4);
        }
        for values in machine.held.values() {
            let values: Vec<_> = values.iter().copied().collect();
            let classes: BTreeSet<_> = addresses(&program, &values).into_iter().collect();
            prop_assert_eq!(classes.len(), 1, "{:?}", values);
        }
        let found = PointsTo::of(&program);
        for (site, name) in machine.called {
            prop_assert!(found.callees(site).is_some_and(|names| names.contains(name)), "{site} reaches {name}");
        }
    }
}

fn p(number: u32) -> PointerId {
    PointerId(number)
}

fn pointer(name: &str) -> Place {
    Place::Pointer { site: SiteKey(model::ids::fnv1a(name.as_bytes())) }
}

fn global(name: &str, offset: u64) -> Place {
    Place::Global { name: name.to_owned(), offset }
}

fn symbol(to: u32, name: &str) -> Flow {
    Flow::Symbol { to: p(to), name: name.to_owned() }
}

/// The places that share a class with each place, as text.
fn classes(functions: Vec<Function>) -> Vec<String> {
    let program = Program { functions, ..Program::default() };
    let text = |class: &inference::points_to::Class| class.places.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    PointsTo::of(&program).classes().iter().map(text).collect()
}

fn texts(expected: &[&[Place]]) -> Vec<String> {
    expected.iter().map(|places| places.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_argument_of_a_thread_reaches_the_parameter_of_its_entry() {
    let create = call(None, Called::Named("pthread_create".to_owned()), vec![None, None, Some(p(3)), Some(p(4))], None);
    let main = function("main", vec![symbol(3, "entry"), symbol(4, "counter"), create], vec![(global("counter", 0), p(4))]);
    let entry = function("entry", Vec::new(), vec![(pointer("q"), p(0))]);
    assert_eq!(classes(vec![main, entry]), texts(&[&[global("counter", 0), pointer("q")]]));
}

#[test]
fn fields_of_one_object_stay_apart() {
    let step = Flow::Step { to: p(3), from: p(2), bytes: 8 };
    let f = function("f", vec![symbol(2, "g"), step], vec![(global("g", 0), p(2)), (pointer("q"), p(3))]);
    assert_eq!(classes(vec![f]), texts(&[&[global("g", 0)], &[pointer("q")]]));
}

#[test]
fn from_a_member_to_what_contains_it_and_back_is_no_loss() {
    let steps = [Flow::Step { to: p(3), from: p(2), bytes: 8 }, Flow::Step { to: p(4), from: p(3), bytes: -8 }];
    let flows = [symbol(2, "g")].into_iter().chain(steps).collect();
    let f = function("f", flows, vec![(global("g", 0), p(2)), (global("g", 8), p(3)), (pointer("q"), p(4))]);
    assert_eq!(classes(vec![f]), texts(&[&[global("g", 0), pointer("q")], &[global("g", 8)]]));
}

#[test]
fn copying_memory_unites_what_it_points_to_and_not_the_memory() {
    let (load, copy) = (Flow::Load { to: p(4), from: p(2) }, Flow::CopyBytes { to: p(2), from: p(3) });
    let store = Flow::Store { at: p(3), value: p(5) };
    let behind = vec![(pointer("a"), p(2)), (pointer("b"), p(3)), (pointer("c"), p(4)), (global("x", 0), p(5))];
    let found = classes(vec![function("f", vec![load, store, copy, symbol(5, "x")], behind)]);
    assert_eq!(found, texts(&[&[global("x", 0), pointer("c")], &[pointer("a")], &[pointer("b")]]).into_iter().collect::<Vec<_>>());
}

#[test]
fn a_callback_gets_the_data_that_is_registered_with_it() {
    let register = call(None, Called::Named("on_event".to_owned()), vec![Some(p(3)), Some(p(4))], None);
    let main = function("main", vec![symbol(3, "handler"), symbol(4, "state"), register], vec![(global("state", 0), p(4))]);
    let handler = function("handler", Vec::new(), vec![(pointer("q"), p(1))]);
    assert_eq!(classes(vec![main, handler]), texts(&[&[global("state", 0), pointer("q")]]));
}

#[test]
fn a_call_through_a_table_reaches_what_is_in_it_and_nothing_else() {
    let through = call(Some(SiteKey(7)), Called::Through(p(4)), vec![], None);
    let f = function("f", vec![symbol(3, "table"), Flow::Load { to: p(4), from: p(3) }, through, symbol(5, "other")], Vec::new());
    let store = Flow::Store { at: p(0), value: p(1) };
    let data = vec![Pointers { count: 2, parameters: 0, flows: vec![symbol(0, "table"), symbol(1, "method"), store], behind: Vec::new() }];
    let functions = vec![f, function("method", Vec::new(), Vec::new()), function("other", Vec::new(), Vec::new())];
    let found = PointsTo::of(&Program { functions, data, ..Program::default() });
    assert_eq!(found.callees(SiteKey(7)), Some(&BTreeSet::from(["method".to_owned()])));
}
