//! Where a pointer of a function comes from, through steps and through the fields of objects that only this function, and those it hands them
//! to, know: local variables, and what parameters point to.
//!
//! A guard (`std::lock_guard`) keeps the address of its mutex in such an object between two calls. What a function stores in the objects
//! behind its parameters is a *filling*; so the content of a field is known where it has one filling in all, and no other store. A guard that is
//! moved fills another one with what it holds. That it then holds nothing is taken for granted: two guards of one lock would both give it up.
//!
//! Not handled: objects that are copied as bytes or swapped; objects whose address went elsewhere, since guards are not used so; flow within a function.

use std::collections::BTreeMap;

use model::ids::{PointerId, SiteKey};
use model::pointer::{Called, Flow};
use model::program::{Function, Program};

/// Calls of functions that fill objects are followed so deep.
const LEVELS: usize = 4;
/// Steps from a pointer to its root, at most.
const STEPS: usize = 64;
/// Functions with more nodes fill nothing.
const LONGEST: usize = 64;

/// Where a pointer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root<'a> {
    /// What the caller passes.
    Parameter(usize),
    /// A global or a function.
    Symbol(&'a str),
    /// A local variable, or a block of memory.
    Local(PointerId),
    /// It was read through a pointer.
    Loaded(PointerId),
}

/// A pointer as its root and how far behind that it is.
pub(crate) type Origin<'a> = (Root<'a>, i64);

/// A function stores, behind one of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Filling {
    object: usize,
    field: i64,
    /// What it stores and how far behind it, if that is known.
    value: Option<(Stored, i64)>,
}

/// What a function stores, as its callers see it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stored {
    /// What it is given.
    Parameter(usize),
    /// The address of a global.
    Symbol(String),
    /// What this field behind a parameter holds: a guard is moved.
    Field(usize, i64),
}

/// What a pointer equals, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value<'f> {
    /// Another pointer of the function.
    Pointer(PointerId),
    /// The address of a global, which a function that this one calls has stored.
    Symbol(&'f str),
}

/// What functions store behind their parameters, by name.
#[derive(Debug, Default)]
pub(crate) struct Fillings(BTreeMap<String, Vec<Filling>>);

/// What is stored in a field.
enum Content<'f> {
    Nothing,
    /// This value, and how far behind it.
    One(Value<'f>, i64),
    Several,
}

/// The pointers of one function by where they come from.
#[derive(Debug)]
pub(crate) struct Origins<'a> {
    function: &'a Function,
    /// The only flow that makes a value; `None` where there are several.
    sources: BTreeMap<PointerId, Option<&'a Flow>>,
}

/// The value that a flow makes.
fn target(flow: &Flow) -> Option<PointerId> {
    match flow {
        Flow::Symbol { to, .. } | Flow::Fresh { to } | Flow::Copy { to, .. } | Flow::Step { to, .. } | Flow::Load { to, .. } => Some(*to),
        Flow::Call { result, .. } => *result,
        Flow::Store { .. } | Flow::CopyBytes { .. } | Flow::Return { .. } => None,
    }
}

impl<'a> Origins<'a> {
    /// Sorts the flows of a function.
    pub(crate) fn of(function: &'a Function) -> Self {
        let mut sources: BTreeMap<PointerId, Option<&Flow>> = BTreeMap::new();
        for flow in &function.pointers.flows {
            if let Some(to) = target(flow) {
                sources.entry(to).and_modify(|known| *known = None).or_insert(Some(flow));
            }
        }
        Self { function, sources }
    }

    /// The one root of a pointer, where it is nothing but a step or several from there.
    pub(crate) fn of_pointer(&self, mut pointer: PointerId) -> Option<Origin<'a>> {
        let mut offset = 0_i64;
        for _ in 0..STEPS {
            if pointer.0 < self.function.pointers.parameters {
                return Some((Root::Parameter(pointer.index()), offset));
            }
            match self.sources.get(&pointer).copied().flatten()? {
                Flow::Symbol { name, .. } => return Some((Root::Symbol(name), offset)),
                Flow::Fresh { .. } => return Some((Root::Local(pointer), offset)),
                Flow::Load { from, .. } => return Some((Root::Loaded(*from), offset)),
                Flow::Copy { from, .. } => pointer = *from,
                Flow::Step { from, bytes, .. } => {
                    offset = offset.checked_add(*bytes)?;
                    pointer = *from;
                }
                Flow::Call { .. } | Flow::Store { .. } | Flow::CopyBytes { .. } | Flow::Return { .. } => return None,
            }
        }
        None
    }

    /// The value that a pointer equals, and how far behind that it is, through fields whose content is known.
    pub(crate) fn through<'f>(&self, pointer: PointerId, fillings: &'f Fillings) -> (Value<'f>, i64) {
        let (mut value, mut far) = (pointer, 0_i64);
        for _ in 0..LEVELS {
            let Some((Root::Loaded(from), offset)) = self.of_pointer(value) else { break };
            let Some((object @ (Root::Local(_) | Root::Parameter(_)), field)) = self.of_pointer(from) else { break };
            let Content::One(next, further) = self.content(object, field, fillings, LEVELS) else { break };
            far = far.wrapping_add(offset).wrapping_add(further);
            match next {
                Value::Pointer(next) => value = next,
                Value::Symbol(_) => return (next, far),
            }
        }
        (Value::Pointer(value), far)
    }

    /// The field behind a parameter that a value was read from, if nothing here stores to it.
    pub(crate) fn read_field(&self, from: PointerId, fillings: &Fillings) -> Option<(usize, i64)> {
        let (object, field) = self.of_pointer(from)?;
        let Root::Parameter(parameter) = object else { return None };
        matches!(self.content(object, field, fillings, LEVELS), Content::Nothing).then_some((parameter, field))
    }

    /// What stands in the field of an object that a pointer points to, if it is one value: that value, and how far behind it.
    pub(crate) fn field<'f>(&self, object: PointerId, field: i64, fillings: &'f Fillings) -> Option<(Value<'f>, i64)> {
        let (root, at) = self.of_pointer(object).filter(|(root, _)| matches!(root, Root::Local(_) | Root::Parameter(_)))?;
        match self.content(root, at.checked_add(field)?, fillings, LEVELS) {
            Content::One(Value::Pointer(value), further) => {
                let (value, far) = self.through(value, fillings);
                Some((value, far.wrapping_add(further)))
            }
            Content::One(symbol, further) => Some((symbol, further)),
            Content::Nothing | Content::Several => None,
        }
    }

    /// The calls that move what a field holds to a field of another object, where it is known to be.
    pub(crate) fn moves<'s>(&'s self, object: PointerId, field: i64, fillings: &'s Fillings) -> impl Iterator<Item = SiteKey> + 's {
        let holder = self.of_pointer(object).and_then(|(root, at)| Some((root, at.checked_add(field)?)));
        self.function.pointers.flows.iter().filter_map(move |flow| {
            let Flow::Call { site, callee: Called::Named(name), arguments, .. } = flow else { return None };
            let place = |index: usize, field: i64| {
                let (root, at) = self.of_pointer(arguments.get(index).copied().flatten()?)?;
                Some((root, at.checked_add(field)?)).filter(|(root, _)| matches!(root, Root::Local(_) | Root::Parameter(_)))
            };
            let is_moved_on = |filling: &Filling| {
                let Some((Stored::Field(from, at), 0)) = filling.value else { return false };
                let to = place(filling.object, filling.field).filter(|_| holder.is_some() && place(from, at) == holder);
                to.is_some_and(|(root, at)| matches!(self.content(root, at, fillings, LEVELS), Content::One(..)))
            };
            site.filter(|_| fillings.0.get(name).into_iter().flatten().any(is_moved_on))
        })
    }

    /// What this function stores in a field of an object of its own, or of its caller. What is moved there is followed through so many objects.
    fn content<'f>(&self, object: Root<'a>, field: i64, fillings: &'f Fillings, levels: usize) -> Content<'f> {
        let mut content = Content::Nothing;
        let mut add = |value: Option<(Value<'f>, i64)>| {
            content = match (&content, value) {
                (Content::Nothing, Some((value, offset))) => Content::One(value, offset),
                (Content::One(known, far), Some((value, offset))) if (*known, *far) == (value, offset) => Content::One(value, offset),
                _ => Content::Several,
            };
        };
        for flow in &self.function.pointers.flows {
            match flow {
                Flow::Store { at, value } if self.of_pointer(*at) == Some((object, field)) => add(Some((Value::Pointer(*value), 0))),
                Flow::CopyBytes { to, .. } if self.of_pointer(*to).is_some_and(|(root, _)| root == object) => add(None),
                Flow::Call { callee: Called::Named(name), arguments, .. } => {
                    for filling in fillings.0.get(name).into_iter().flatten() {
                        let argument = |index: usize| arguments.get(index).copied().flatten();
                        let place = argument(filling.object).and_then(|pointer| self.of_pointer(pointer));
                        if place.is_some_and(|(root, at)| root == object && at.checked_add(filling.field) == Some(field)) {
                            add(filling.value.as_ref().and_then(|(stored, offset)| match stored {
                                Stored::Parameter(index) => Some((Value::Pointer(argument(*index)?), *offset)),
                                Stored::Symbol(name) => Some((Value::Symbol(name), *offset)),
                                Stored::Field(index, at) => {
                                    let (root, from) = argument(*index).and_then(|pointer| self.of_pointer(pointer))?;
                                    let levels = levels.checked_sub(1)?;
                                    match self.content(root, from.checked_add(*at)?, fillings, levels) {
                                        Content::One(value, further) => Some((value, further.wrapping_add(*offset))),
                                        Content::Nothing | Content::Several => None,
                                    }
                                }
                            }));
                        }
                    }
                }
                _ => {}
            }
        }
        content
    }

    /// What this function stores behind its parameters.
    fn fillings(&self, known: &Fillings) -> Vec<Filling> {
        let parameter = |pointer: PointerId| match self.of_pointer(pointer) {
            Some((Root::Parameter(index), offset)) => Some((index, offset)),
            _ => None,
        };
        let stored = |pointer: PointerId| match self.of_pointer(pointer)? {
            (Root::Parameter(index), far) => Some((Stored::Parameter(index), far)),
            (Root::Symbol(name), far) => Some((Stored::Symbol(name.to_owned()), far)),
            (Root::Loaded(from), far) => parameter(from).map(|(index, field)| (Stored::Field(index, field), far)),
            (Root::Local(_), _) => None,
        };
        let held = |pointer: PointerId, field: i64| match self.of_pointer(pointer)? {
            (Root::Parameter(index), at) => Some((Stored::Field(index, at.checked_add(field)?), 0)),
            (root @ Root::Local(_), at) => match self.content(root, at.checked_add(field)?, known, LEVELS) {
                Content::One(Value::Pointer(value), further) => stored(value).map(|(of, far)| (of, far.wrapping_add(further))),
                Content::One(Value::Symbol(name), further) => Some((Stored::Symbol(name.to_owned()), further)),
                Content::Nothing | Content::Several => None,
            },
            (Root::Symbol(_) | Root::Loaded(_), _) => None,
        };
        let mut found = Vec::new();
        for flow in &self.function.pointers.flows {
            match flow {
                Flow::Store { at, value } => {
                    found.extend(parameter(*at).map(|(object, field)| Filling { object, field, value: stored(*value) }));
                }
                Flow::Call { callee: Called::Named(name), arguments, .. } => {
                    let argument = |index: usize| arguments.get(index).copied().flatten();
                    for filling in known.0.get(name).into_iter().flatten() {
                        let Some((object, at)) = argument(filling.object).and_then(parameter) else { continue };
                        let value = filling.value.as_ref().and_then(|(of, far)| match of {
                            Stored::Parameter(index) => {
                                argument(*index).and_then(stored).map(|(of, offset)| (of, offset.wrapping_add(*far)))
                            }
                            Stored::Symbol(_) => Some((of.clone(), *far)),
                            Stored::Field(index, at) => {
                                argument(*index).and_then(|object| held(object, *at)).map(|(of, more)| (of, more.wrapping_add(*far)))
                            }
                        });
                        found.push(Filling { object, field: at.wrapping_add(filling.field), value });
                    }
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Fillings {
    /// Those of all short functions.
    pub(crate) fn of(program: &Program) -> Self {
        let short: Vec<(String, Origins<'_>)> = program
            .functions
            .iter()
            .filter(|function| function.nodes.len() <= LONGEST && function.pointers.parameters > 0)
            .map(|function| (function.call_name(), Origins::of(function)))
            .collect();
        let mut all = Self::default();
        for _ in 0..LEVELS {
            let mut next: BTreeMap<String, Vec<Filling>> = BTreeMap::new();
            for (name, origins) in &short {
                let found = origins.fillings(&all);
                if !found.is_empty() {
                    let known = next.entry(name.clone()).or_default();
                    known.extend(found);
                    known.sort_unstable();
                    known.dedup();
                }
            }
            if next == all.0 {
                break;
            }
            all.0 = next;
        }
        all
    }
}
