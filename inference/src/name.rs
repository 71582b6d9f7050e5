//! What people call variables and places.

use std::collections::BTreeMap;

use model::ids::{FunctionId, NodeId, SiteKey};
use model::program::{Place, Program};

/// What a variable of these places is called: by the first of them, and how many more there are.
pub(crate) fn named<'a>(mut places: impl Iterator<Item = &'a Place>, name: &dyn Fn(&Place) -> String) -> String {
    let first = places.next().map(name).unwrap_or_default();
    match places.count() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// A bare pointer is called by where it is used first: by its function, where the source says no line (code that the compiler made).
pub(crate) fn source_name(program: &Program, sites: &BTreeMap<SiteKey, (FunctionId, NodeId)>, place: &Place) -> String {
    let Place::Pointer { site } = place else { return program.name_of(place) };
    let Some(&(function, node)) = sites.get(site) else { return place.to_string() };
    let body = program.function(function);
    match body.node(node).source.0.first().filter(|at| at.line > 0) {
        Some(at) => format!("*{}:{}:{}", at.file.rsplit('/').next().unwrap_or_default(), at.line, at.column),
        None => format!("*{}", body.name),
    }
}

/// A name that no other place has: two pointers may be used at one position of the source, as inlined code is.
pub(crate) fn told_apart(program: &Program, sites: &BTreeMap<SiteKey, (FunctionId, NodeId)>, place: &Place) -> String {
    let unique = place.to_string();
    match place {
        Place::Pointer { site } => match source_name(program, sites, place) {
            known if known != unique => format!("{known} ({site})"),
            _ => unique,
        },
        _ => unique,
    }
}
