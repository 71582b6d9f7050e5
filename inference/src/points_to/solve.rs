//! From flows to classes: one pass over all flows, each of which unites at once what it relates; then callbacks, until nothing new.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{PointerId, SiteKey};
use model::pointer::{Called, Flow, Pointers};
use model::program::Program;

use super::classes::{Cell, Classes};
use super::library::{Effect, effects};

/// Everything that the analysis needs to remember while it runs.
#[derive(Debug, Default)]
pub(super) struct Solver<'a> {
    pub(super) classes: Classes,
    /// By function, then for each module's data: where its values point to.
    values: Vec<Vec<Option<Cell>>>,
    /// Functions and globals by name, with their numbers.
    symbols: BTreeMap<&'a str, (Cell, u32)>,
    /// Their names, by number.
    pub(super) names: Vec<&'a str>,
    /// Bodies by the name that calls use.
    bodies: BTreeMap<String, Vec<usize>>,
    /// By function: what it returns.
    returned: Vec<Option<Cell>>,
    /// What calls through pointers call.
    pub(super) through: BTreeMap<SiteKey, Cell>,
    /// What library functions call back before they return.
    pub(super) back: Vec<(SiteKey, Cell)>,
    /// Arguments of functions of which nothing is known: one, with those behind it.
    handed: Vec<(Cell, Vec<Cell>)>,
    /// What `pthread_setspecific` keeps, whatever the key.
    kept: Option<Cell>,
}

/// Runs the analysis.
pub(super) fn solve(program: &Program) -> Solver<'_> {
    let mut solver = Solver::default();
    let own = program.functions.iter().map(|function| &function.pointers);
    let all: Vec<&Pointers> = own.chain(&program.data).collect();
    solver.values = all.iter().map(|pointers| vec![None; pointers.count as usize]).collect();
    solver.returned = vec![None; all.len()];
    for (f, function) in program.functions.iter().enumerate() {
        solver.bodies.entry(function.call_name()).or_default().push(f);
    }
    for (f, pointers) in all.iter().enumerate() {
        for flow in &pointers.flows {
            solver.flow(f, flow, program);
        }
    }
    solver.call_back();
    solver
}

impl<'a> Solver<'a> {
    /// Where a value points to.
    pub(super) fn value(&mut self, function: usize, pointer: PointerId) -> Cell {
        // Ids beyond the count are no ids of ours; they get a cell that nothing else has.
        match self.values[function].get(pointer.index()) {
            Some(&Some(known)) => known,
            Some(None) => {
                let new = self.classes.fresh();
                self.values[function][pointer.index()] = Some(new);
                new
            }
            None => self.classes.fresh(),
        }
    }

    fn symbol(&mut self, name: &'a str, program: &Program) -> Cell {
        if let Some(&(known, _)) = self.symbols.get(name) {
            return known;
        }
        let cell = self.classes.fresh();
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 symbols");
        self.names.push(name);
        self.symbols.insert(name, (cell, number));
        self.classes.mark(cell, number);
        for body in self.bodies.get(name).cloned().unwrap_or_default() {
            for index in 0..program.functions[body].pointers.parameters {
                let (outside, inside) = (self.classes.parameter(cell, index as usize), self.value(body, PointerId(index)));
                self.classes.unite(outside, inside);
            }
            let (outside, inside) = (self.classes.result(cell), self.result_of(body));
            self.classes.unite(outside, inside);
        }
        cell
    }

    fn result_of(&mut self, body: usize) -> Cell {
        if let Some(known) = self.returned[body] {
            return known;
        }
        let new = self.classes.fresh();
        self.returned[body] = Some(new);
        new
    }

    fn flow(&mut self, f: usize, flow: &'a Flow, program: &Program) {
        match flow {
            Flow::Symbol { to, name } => {
                let (to, cell) = (self.value(f, *to), self.symbol(name, program));
                self.classes.unite(to, cell);
            }
            Flow::Fresh { to } => {
                self.value(f, *to);
            }
            Flow::Copy { to, from } => {
                let (to, from) = (self.value(f, *to), self.value(f, *from));
                self.classes.unite(to, from);
            }
            Flow::Step { to, from, bytes } => {
                let (to, from) = (self.value(f, *to), self.value(f, *from));
                self.classes.unite(to, Cell { offset: from.offset.wrapping_add(*bytes), ..from });
            }
            Flow::Load { to, from } => {
                let (to, from) = (self.value(f, *to), self.value(f, *from));
                let held = self.classes.pointee(from);
                self.classes.unite(to, held);
            }
            Flow::Store { at, value } => {
                let (at, value) = (self.value(f, *at), self.value(f, *value));
                let held = self.classes.pointee(at);
                self.classes.unite(held, value);
            }
            Flow::CopyBytes { to, from } => {
                let (to, from) = (self.value(f, *to), self.value(f, *from));
                self.classes.unite_contents(to, from);
            }
            Flow::Return { value } => {
                let (result, value) = (self.result_of(f), self.value(f, *value));
                self.classes.unite(result, value);
            }
            Flow::Call { site, callee, arguments, result } => {
                let arguments: Vec<Option<Cell>> =
                    arguments.iter().map(|argument| argument.map(|argument| self.value(f, argument))).collect();
                let result = result.map(|result| self.value(f, result));
                match callee {
                    Called::Through(pointer) => {
                        let called = self.value(f, *pointer);
                        self.through.extend(site.map(|site| (site, called)));
                        self.call(called, &arguments, result);
                    }
                    Called::Named(name) if self.bodies.contains_key(name) => self.call_body(name, &arguments, result, program),
                    Called::Named(name) => self.call_library(*site, name, &arguments, result, program),
                }
            }
        }
    }

    /// A call of whatever lies in a cell.
    fn call(&mut self, called: Cell, arguments: &[Option<Cell>], result: Option<Cell>) {
        for (index, argument) in arguments.iter().enumerate() {
            if let Some(argument) = *argument {
                let parameter = self.classes.parameter(called, index);
                self.classes.unite(parameter, argument);
            }
        }
        if let Some(result) = result {
            let returned = self.classes.result(called);
            self.classes.unite(returned, result);
        }
    }

    /// A call by name: straight to the body, so that functions that are never pointed to stay out of the classes of those that are.
    fn call_body(&mut self, name: &str, arguments: &[Option<Cell>], result: Option<Cell>, program: &Program) {
        for body in self.bodies.get(name).cloned().unwrap_or_default() {
            let parameters = program.functions[body].pointers.parameters;
            for (index, argument) in (0..parameters).zip(arguments) {
                if let Some(argument) = *argument {
                    let parameter = self.value(body, PointerId(index));
                    self.classes.unite(parameter, argument);
                }
            }
            if let Some(result) = result {
                let returned = self.result_of(body);
                self.classes.unite(returned, result);
            }
        }
    }

    fn call_library(&mut self, site: Option<SiteKey>, name: &str, arguments: &[Option<Cell>], result: Option<Cell>, program: &Program) {
        let argument = |index: usize| arguments.get(index).copied().flatten();
        let Some(effects) = effects(name) else {
            let cells: Vec<Cell> = arguments.iter().flatten().copied().collect();
            self.handed.extend((0..cells.len()).map(|index| (cells[index], cells[index + 1..].to_vec())));
            return;
        };
        for effect in effects {
            match *effect {
                Effect::Returns(index) => {
                    if let (Some(result), Some(from)) = (result, argument(index)) {
                        self.classes.unite(result, from);
                    }
                }
                Effect::Copies { to, from } => {
                    if let (Some(to), Some(from)) = (argument(to), argument(from)) {
                        self.classes.unite_contents(to, from);
                    }
                }
                Effect::Calls { function, with } | Effect::Registers { function, with } => {
                    let with: Vec<Option<Cell>> = with.iter().map(|&index| argument(index)).collect();
                    if let Some(function) = argument(function) {
                        self.call(function, &with, None);
                        if matches!(effect, Effect::Calls { .. }) {
                            self.back.extend(site.map(|site| (site, function)));
                        }
                    }
                }
                Effect::CallsStored(global) => {
                    let holder = self.symbol(global, program);
                    let function = self.classes.pointee(holder);
                    self.back.extend(site.map(|site| (site, function)));
                }
                Effect::CallsMethodOf(index) => {
                    if let Some(pointer) = argument(index) {
                        let object = self.classes.pointee(pointer);
                        let table = self.classes.pointee(object);
                        let method = self.classes.pointee(table);
                        self.call(method, &[Some(object)], None);
                    }
                }
                Effect::Keeps => {
                    if let Some(value) = argument(1) {
                        let kept = self.kept();
                        self.classes.unite(kept, value);
                    }
                }
                Effect::Recalls => {
                    if let Some(result) = result {
                        let kept = self.kept();
                        self.classes.unite(kept, result);
                    }
                }
            }
        }
    }

    fn kept(&mut self) -> Cell {
        if let Some(kept) = self.kept {
            return kept;
        }
        let new = self.classes.fresh();
        self.kept = Some(new);
        new
    }

    /// Whether functions of the program lie in a cell, by their numbers.
    pub(super) fn functions(&mut self, cell: Cell) -> BTreeSet<u32> {
        let all = self.classes.symbols(cell).to_vec();
        all.into_iter().filter(|&number| self.bodies.contains_key(self.names[number as usize])).collect()
    }

    /// Functions that were handed to code of which nothing is known, which may give them to anybody.
    pub(super) fn leaked(&mut self) -> BTreeSet<u32> {
        let handed: Vec<Cell> = self.handed.iter().map(|(cell, _)| *cell).collect();
        handed.into_iter().flat_map(|cell| self.functions(cell)).collect()
    }

    /// Unknown functions call those that they are given with what they are given behind them.
    fn call_back(&mut self) {
        let handed = core::mem::take(&mut self.handed);
        let mut done = vec![0_usize; handed.len()];
        loop {
            let mut changed = false;
            for (index, (cell, data)) in handed.iter().enumerate() {
                let known = self.functions(*cell).len();
                if known == 0 || data.is_empty() || done[index] == known {
                    continue;
                }
                done[index] = known;
                changed = true;
                for parameter in 0..self.classes.parameters(*cell) {
                    let parameter = self.classes.parameter(*cell, parameter);
                    data.iter().for_each(|&cell| self.classes.unite(parameter, cell));
                }
            }
            if !changed {
                self.handed = handed;
                return;
            }
        }
    }
}
