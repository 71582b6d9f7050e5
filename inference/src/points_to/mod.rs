//! Which memory pointers may point into, over all modules of the program: a unification-based points-to analysis (Steensgaard 1996),
//! sensitive to fields, through function pointers, callbacks and the entry functions of threads.
//!
//! Every value has one *cell*, a place in a class of memory; whatever two values may both point to, they have the same cell. So it
//! errs on the side of too few classes, takes no account of order or calling context, and is nearly linear. Property test: a small
//! interpreter of pointer programs (`tests/points_to.rs`).
//!
//! Not handled: pointers in variable arguments and inline assembly, pointers that libraries keep and give back (`library` has what they
//! do), and what steps out of one field of a record into the next.

mod classes;
mod library;
mod solve;

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, PointerId, SiteKey};
use model::program::{Place, Program};

use classes::{Cell, ObjectId};
use solve::solve;

/// The result of the analysis.
#[derive(Clone, Debug, Default)]
pub struct PointsTo {
    /// Classes of places that may be the same memory, at one offset of one class of objects; in order of their least place.
    classes: Vec<Class>,
    of_place: BTreeMap<Place, BTreeSet<usize>>,
    callees: BTreeMap<SiteKey, BTreeSet<String>>,
    called_back: BTreeMap<SiteKey, BTreeSet<String>>,
}

/// Places that may be the same memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// Every place that is reached through a pointer into it.
    pub places: BTreeSet<Place>,
    /// Whether the analysis had to take all fields of the memory as one.
    pub whole: bool,
    /// Globals that the memory may be part of.
    pub globals: BTreeSet<String>,
    /// Which class of objects it is in, by a number that means nothing else.
    pub object: u32,
    /// Where in these objects it lies, in bytes from a point that they have in common.
    pub offset: i64,
}

/// A class before it has a number: a cell in its one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(u32, i64);

impl PointsTo {
    /// Analyzes a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut solver = solve(program);
        let mut found: BTreeMap<(ObjectId, i64), BTreeSet<&Place>> = BTreeMap::new();
        for (f, function) in program.functions.iter().enumerate() {
            for (place, pointer) in &function.pointers.behind {
                let cell = solver.value(f, *pointer);
                let Cell { object, offset } = solver.classes.find(cell);
                found.entry((object, offset)).or_default().insert(place);
            }
        }
        let mut classes: Vec<Class> = Vec::new();
        for ((object, offset), places) in found {
            let cell = Cell { object, offset };
            let whole = solver.classes.is_whole(cell);
            let symbols = solver.classes.symbols(cell).to_vec();
            let functions = solver.functions(cell);
            let globals = symbols.iter().filter(|number| !functions.contains(number));
            let globals = globals.map(|&number| solver.names[number as usize].to_owned()).collect();
            classes.push(Class { places: places.into_iter().cloned().collect(), whole, globals, object: object.0, offset });
        }
        classes.sort();
        let mut of_place: BTreeMap<Place, BTreeSet<usize>> = BTreeMap::new();
        for (index, class) in classes.iter().enumerate() {
            for place in &class.places {
                of_place.entry(place.clone()).or_default().insert(index);
            }
        }
        let leaked = solver.leaked();
        let (through, back) = (core::mem::take(&mut solver.through), core::mem::take(&mut solver.back));
        let mut named = |cells: Vec<(SiteKey, Cell)>| -> BTreeMap<SiteKey, BTreeSet<String>> {
            let mut named: BTreeMap<SiteKey, BTreeSet<String>> = BTreeMap::new();
            for (site, cell) in cells {
                let mut numbers = solver.functions(cell);
                if !numbers.is_empty() {
                    numbers.extend(&leaked);
                    named.entry(site).or_default().extend(numbers.into_iter().map(|number| solver.names[number as usize].to_owned()));
                }
            }
            named
        };
        let (callees, called_back) = (named(through.into_iter().collect()), named(back));
        Self { classes, of_place, callees, called_back }
    }

    /// All classes that some access reaches through a pointer, in order.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The classes that a place may be in: one for a bare pointer, several for a field of a type.
    pub fn of_place(&self, place: &Place) -> impl Iterator<Item = &Class> {
        self.of_place.get(place).into_iter().flatten().map(|&index| &self.classes[index])
    }

    /// Functions of the program, by the names that calls use, that a call through a pointer may reach; `None` if the analysis does not know
    /// where the pointer comes from.
    #[must_use]
    pub fn callees(&self, site: SiteKey) -> Option<&BTreeSet<String>> {
        self.callees.get(&site)
    }

    /// Functions of the program that the library function called here may call before it returns.
    pub fn called_back(&self, site: SiteKey) -> impl Iterator<Item = &String> {
        self.called_back.get(&site).into_iter().flatten()
    }
}

/// Where each of some values points to, for tests of the analysis: equal addresses are one class.
#[must_use]
pub fn addresses(program: &Program, values: &[(FunctionId, PointerId)]) -> Vec<Address> {
    let mut solver = solve(program);
    let cells: Vec<Cell> = values.iter().map(|&(function, pointer)| solver.value(function.index(), pointer)).collect();
    cells
        .into_iter()
        .map(|cell| {
            let Cell { object, offset } = solver.classes.find(cell);
            Address(object.0, offset)
        })
        .collect()
}
