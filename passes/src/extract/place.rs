//! Places: what memory a pointer points to, as far as one function's code tells.
//!
//! A pointer is followed back through GEPs to its base. In a global, constant indices count exactly, and the first
//! computed one makes it an element. Elsewhere the outermost named record on the way names the field, with all elements
//! of an array taken as one; failing that, struct-path TBAA does; failing that, it is a class of its own, named by the first
//! site of the function that used the same base (a copy whose both ends are such names the second by a hash of the site).
//!
//! Not here: pointers through memory, phis and parameters (whole-program points-to).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use model::ids::{FunctionKey, SiteKey};
use model::program::Place;

use super::collect::resolve;
use super::key::without_number;
use crate::llvm::{Instruction, Module, Step, Value, ValueKind, demangle};

/// Longer chains exist only in unreachable code, where a pointer may be its own base.
const LONGEST_CHAIN: usize = 64;

/// Finds the places of one module's accesses.
pub(crate) struct Places<'m> {
    module: Module<'m>,
    name: String,
    /// The first site that used a base at an offset (`None`: a computed one). Bases are values of one function, so functions
    /// do not meet here.
    firsts: RefCell<HashMap<(Value<'m>, Option<i64>), SiteKey>>,
    /// Names that are given.
    names: RefCell<HashSet<SiteKey>>,
}

impl<'m> Places<'m> {
    pub(crate) fn new(module: Module<'m>, name: String) -> Self {
        Self { module, name, firsts: RefCell::default(), names: RefCell::default() }
    }

    /// The place of an access through `address` at `site`; `access` is the load or store itself, if it is one.
    pub(crate) fn of(&self, address: Value<'m>, access: Option<Instruction<'m>>, site: SiteKey) -> Place {
        let (base, steps) = self.chain(address);
        if base.kind() == ValueKind::LLVMGlobalVariableValueKind
            && let Some(place) = self.in_global(base, &steps)
        {
            return place;
        }
        field(&steps).or_else(|| access.and_then(tbaa_field)).unwrap_or_else(|| self.pointer(base, &steps, site))
    }

    /// The place of a block that is given back at `site`: no other place's, since it is all of the object, not the field that it begins with.
    pub(crate) fn of_block(&self, site: SiteKey) -> Place {
        Place::Pointer { site: self.fresh(site) }
    }

    fn pointer(&self, base: Value<'m>, steps: &[Step<'m>], site: SiteKey) -> Place {
        // Constants (null, integers made pointers) are one value in all functions, so they are remembered for none.
        if !matches!(base.kind(), ValueKind::LLVMArgumentValueKind | ValueKind::LLVMInstructionValueKind) {
            return Place::Pointer { site: self.fresh(site) };
        }
        let offset = (!steps.iter().any(|step| step.computed)).then(|| steps.iter().map(|step| step.constant).sum());
        let name = *self.firsts.borrow_mut().entry((base, offset)).or_insert_with(|| self.fresh(site));
        Place::Pointer { site: name }
    }

    /// The site itself, or when that already names the other end of its copy, a hash of it.
    fn fresh(&self, site: SiteKey) -> SiteKey {
        let mut names = self.names.borrow_mut();
        let mut name = site;
        while !names.insert(name) {
            name = SiteKey::of(FunctionKey(name.0), 1);
        }
        name
    }

    /// A global's name as model text has it.
    pub(crate) fn symbol(&self, global: Value<'m>) -> String {
        let name = global.name();
        if global.is_local() { format!("{name}@{}", self.name) } else { name }
    }

    /// The base of a pointer and the steps from it, outermost first.
    fn chain(&self, address: Value<'m>) -> (Value<'m>, Vec<Step<'m>>) {
        let mut base = resolve(address);
        let mut steps = Vec::new();
        while steps.len() < LONGEST_CHAIN
            && let Some(step) = base.step(self.module)
        {
            base = resolve(step.base);
            steps.push(step);
        }
        steps.reverse();
        (base, steps)
    }

    fn in_global(&self, base: Value<'m>, steps: &[Step<'m>]) -> Option<Place> {
        let name = self.symbol(base);
        let offset = u64::try_from(steps.iter().map(|step| step.constant).sum::<i64>()).ok()?;
        Some(if steps.iter().any(|step| step.computed) { Place::GlobalElement { name, offset } } else { Place::Global { name, offset } })
    }
}

/// The field of the outermost record with a name that means something elsewhere.
fn field(steps: &[Step<'_>]) -> Option<Place> {
    let outermost = steps.iter().position(|step| step.record.as_deref().is_some_and(|name| record_name(name).is_some()))?;
    let record = record_name(steps[outermost].record.as_deref()?)?;
    let offset = u64::try_from(steps[outermost..].iter().map(|step| step.fields).sum::<i64>()).ok()?;
    Some(Place::Field { record, offset })
}

fn tbaa_field(access: Instruction<'_>) -> Option<Place> {
    let (name, offset) = access.tbaa_field()?;
    let record = match demangle(&name) {
        Some(readable) => readable.trim_start_matches("typeinfo name for ").to_owned(),
        None => name,
    };
    record_name(&record).map(|record| Place::Field { record, offset })
}

/// A record's name as the source has it: without LLVM's prefix and suffixes. Anonymous records have none, and those that the
/// compiler's headers only use to load and store anywhere (`__loadu_si128`) say nothing of the memory.
fn record_name(llvm: &str) -> Option<String> {
    let name = without_number(llvm).trim_end_matches(".base");
    let name = ["struct.", "class.", "union."].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let of_a_header = name.starts_with("__") && !name.contains("::");
    let says_something = name != "anon" && !name.ends_with("::anon") && !name.is_empty() && !of_a_header;
    says_something.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_named_as_in_the_source() {
        for (llvm, name) in [
            ("struct.item", Some("item")),
            ("struct.item.4", Some("item")),
            ("class.ns::Queue", Some("ns::Queue")),
            ("class.Shape.base", Some("Shape")),
            ("union.u", Some("u")),
            ("struct.anon", None),
            ("struct.__loadu_si128", None),
            ("struct.__gnu_cxx::__aligned_membuf", Some("__gnu_cxx::__aligned_membuf")),
            ("union.anon.7", None),
            ("struct.ns::anon", None),
        ] {
            assert_eq!(record_name(llvm).as_deref(), name, "{llvm}");
        }
    }
}
