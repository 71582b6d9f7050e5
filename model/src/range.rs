//! Accesses to several places at once: copies, fills, input into a record, loads and stores wider than a field.
//!
//! Such an access has one place, where it begins. `spread` adds the other places of the program that lie within its bytes, by name and
//! offset: fields of the same global, elements of arrays in it, fields of the same type of objects.
//!
//! Not handled: lengths that are computed; records within records that are also accessed as their own type; bare pointers, which
//! `inference::variable` looks at.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::program::{Access, NodeKind, Place, Program};

/// Fills in what every access of `program` covers.
pub fn spread(program: &mut Program) {
    let accesses = program.functions.iter().flat_map(|function| &function.nodes).flat_map(|node| node.accesses());
    let places: BTreeSet<Place> = accesses.map(|access| access.place.clone()).collect();
    for node in program.functions.iter_mut().flat_map(|function| &mut function.nodes) {
        match &mut node.kind {
            NodeKind::Access(access) => access.covers = covered(access, &places),
            NodeKind::Call(call) => {
                for access in &mut call.accesses {
                    access.covers = covered(access, &places);
                }
            }
            NodeKind::Block | NodeKind::Return | NodeKind::Stop => {}
        }
    }
}

/// The places, beside its own, in which an access has a part, sorted.
fn covered(access: &Access, places: &BTreeSet<Place>) -> Vec<Place> {
    let Some(bytes) = access.bytes.filter(|&bytes| bytes > 1).map(u64::from) else { return Vec::new() };
    let within = |from: Place, to: Place| places.range(from..to).filter(|place| **place != access.place).cloned();
    match &access.place {
        Place::Global { name, offset } => {
            let end = offset.saturating_add(bytes);
            let global = |offset| Place::Global { name: name.clone(), offset };
            let element = |offset| Place::GlobalElement { name: name.clone(), offset };
            within(global(*offset), global(end)).chain(within(element(*offset), element(end))).collect()
        }
        Place::GlobalElement { name, offset } => {
            let element = |offset| Place::GlobalElement { name: name.clone(), offset };
            within(element(*offset), element(offset.saturating_add(bytes))).collect()
        }
        Place::Field { record, offset } => {
            let field = |offset| Place::Field { record: record.clone(), offset };
            within(field(*offset), field(offset.saturating_add(bytes))).collect()
        }
        Place::Pointer { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;
    use crate::pair::Rw;

    fn covers(place: Place, bytes: Option<u32>) -> Vec<String> {
        let global = |name: &str, offset| Place::Global { name: name.to_string(), offset };
        let field = |record: &str, offset| Place::Field { record: record.to_string(), offset };
        let element = |offset| Place::GlobalElement { name: "g".to_string(), offset };
        let all = [global("g", 0), global("g", 4), global("g", 8), global("h", 4), element(8), element(16), field("r", 0), field("r", 8)];
        let access = Access { rw: Rw::Write, place, atomic: false, bytes, covers: Vec::new() };
        covered(&access, &BTreeSet::from(all)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_lies_within_the_bytes_is_covered_and_nothing_else() {
        let global = |offset| Place::Global { name: "g".to_string(), offset };
        assert_eq!(covers(global(0), Some(12)), ["g+4", "g+8", "g[]+8"]);
        assert_eq!(covers(global(4), Some(4)), Vec::<String>::new());
        assert_eq!(covers(global(2), Some(3)), ["g+4"]);
        assert_eq!(covers(Place::GlobalElement { name: "g".to_string(), offset: 8 }, Some(16)), ["g[]+16"]);
        assert_eq!(covers(Place::Field { record: "r".to_string(), offset: 0 }, Some(9)), ["r::+8"]);
        assert_eq!(covers(Place::Field { record: "r".to_string(), offset: 0 }, None), Vec::<String>::new());
    }
}
