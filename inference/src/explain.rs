//! How a site came to its variables, step by step, for people. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use model::ids::{FunctionId, NodeId, SiteKey};
use model::program::{Place, Program};

use crate::points_to::{Class, PointsTo};
use crate::variable::Variables;

/// More members or observations than this are counted only.
const SHOWN: usize = 8;

/// Explains one site.
#[must_use]
pub fn explain(program: &Program, site: SiteKey, variables: &Variables, points_to: &PointsTo) -> String {
    let names = Names { program, sites: program.sites() };
    let Some(places) = variables.places_of(site) else {
        return format!("{site}: no access of this program has this key\n");
    };
    let mut text = format!("{} ({site})\n", names.site(site));
    for place in places {
        text.push_str(&format!(
            "  accesses {}: {}\n",
            names.place(place),
            if variables.is_block(place) { "all of a block that is given back" } else { meaning(place) }
        ));
        for class in points_to.of_place(place) {
            text.push_str(&pointing(&names, place, class));
        }
        if variables.ambiguous().contains(place) {
            text.push_str("    it never ran, and it may be too many variables: it stays by itself\n");
        }
        for id in variables.of_place(place) {
            let variable = variables.get(id);
            if variable.is_set() {
                text.push_str(&format!("  and is accessed together with the others of {id}: {variable}\n"));
                continue;
            }
            text.push_str(&format!("  so it belongs to {id}: {variable}\n"));
            text.push_str(&list("    whose places are also ", &names.others(place, &variable.places)));
            let reasons: BTreeSet<String> =
                variable.united_by.iter().map(|(a, b)| format!("{} and {}", names.site(*a), names.site(*b))).collect();
            let reasons: Vec<String> = reasons.into_iter().collect();
            text.push_str(&list("    since runs saw on one address ", &reasons));
        }
    }
    text
}

/// Says where things stand in the source.
struct Names<'a> {
    program: &'a Program,
    sites: BTreeMap<SiteKey, (FunctionId, NodeId)>,
}

impl Names<'_> {
    fn site(&self, site: SiteKey) -> String {
        self.sites
            .get(&site)
            .map_or_else(|| site.to_string(), |&(function, node)| self.program.function(function).node(node).source.to_string())
    }

    /// A bare pointer by where it is used first.
    fn place(&self, place: &Place) -> String {
        match place {
            Place::Pointer { site } if self.sites.contains_key(site) => format!("what the pointer at {} points to", self.site(*site)),
            _ => self.program.name_of(place),
        }
    }

    fn others(&self, place: &Place, all: &BTreeSet<Place>) -> Vec<String> {
        all.iter().filter(|other| *other != place).map(|other| self.place(other)).collect()
    }
}

fn meaning(place: &Place) -> &'static str {
    match place {
        Place::Global { .. } => "a fixed offset in a global",
        Place::GlobalElement { .. } => "an element of an array in a global",
        Place::Field { .. } => "a field of a type, in any object of it",
        Place::Pointer { .. } => "its function says nothing more of that memory",
    }
}

fn pointing(names: &Names<'_>, place: &Place, class: &Class) -> String {
    let globals: Vec<String> = class.globals.iter().cloned().collect();
    let fields = if class.whole { " (no fields told apart)" } else { "" };
    let mut text = list(&format!("    by points-to analysis{fields} it may be part of "), &globals);
    text.push_str(&list("    the same memory may also be reached as ", &names.others(place, &class.places)));
    text
}

/// One line with a list, or nothing for an empty one.
fn list(what: &str, items: &[String]) -> String {
    let Some(more) = items.len().checked_sub(1) else { return String::new() };
    let rest = more.saturating_sub(SHOWN - 1);
    let shown = items.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if rest == 0 { format!("{what}{shown}\n") } else { format!("{what}{shown} and {rest} more\n") }
}
