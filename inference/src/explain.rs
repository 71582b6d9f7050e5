//! How a site came to its variables, step by step, for people. Decides nothing.

use model::ids::SiteKey;
use model::program::Place;

use crate::points_to::{Class, PointsTo};
use crate::variable::Variables;

/// More members or observations than this are counted only.
const SHOWN: usize = 8;

/// Explains one site.
#[must_use]
pub fn explain(site: SiteKey, variables: &Variables, points_to: &PointsTo) -> String {
    let Some(places) = variables.places_of(site) else {
        return format!("{site}: no access of this program has this key\n");
    };
    let mut text = String::new();
    for place in places {
        text.push_str(&format!("{site} accesses {place}: {}\n", meaning(place)));
        for class in points_to.of_place(place) {
            text.push_str(&pointing(place, class));
        }
        if variables.ambiguous().contains(place) {
            text.push_str("  it never ran, and it may be too many variables: it stays by itself\n");
        }
        for id in variables.of_place(place) {
            let variable = variables.get(id);
            if variable.is_set() {
                text.push_str(&format!("  which is accessed together with the others of {id}: {variable}\n"));
                continue;
            }
            text.push_str(&format!("  so it belongs to {id}: {variable}\n"));
            let others: Vec<String> = variable.places.iter().filter(|other| *other != place).map(ToString::to_string).collect();
            text.push_str(&list("    whose places are also ", &others));
            let reasons: Vec<String> = variable.united_by.iter().map(|(a, b)| format!("{a} and {b}")).collect();
            text.push_str(&list("    since runs saw on one address ", &reasons));
        }
    }
    text
}

fn meaning(place: &Place) -> &'static str {
    match place {
        Place::Global { .. } => "a fixed offset in a global",
        Place::GlobalElement { .. } => "an element of an array in a global",
        Place::Field { .. } => "a field of a type, in any object of it",
        Place::Pointer { .. } => "memory behind a pointer, about which its function says nothing more",
    }
}

fn pointing(place: &Place, class: &Class) -> String {
    let mut text = String::new();
    let globals: Vec<String> = class.globals.iter().cloned().collect();
    let fields = if class.whole { ", whose fields cannot be told apart" } else { "" };
    text.push_str(&list(&format!("  its pointer may point into (points-to analysis{fields}) "), &globals));
    let others: Vec<String> = class.places.iter().filter(|other| *other != place).map(ToString::to_string).collect();
    text.push_str(&list("  the same memory is also reached as ", &others));
    text
}

/// One line with a list, or nothing for an empty one.
fn list(what: &str, items: &[String]) -> String {
    let Some(more) = items.len().checked_sub(1) else { return String::new() };
    let rest = more.saturating_sub(SHOWN - 1);
    let shown = items.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if rest == 0 { format!("{what}{shown}\n") } else { format!("{what}{shown} and {rest} more\n") }
}
