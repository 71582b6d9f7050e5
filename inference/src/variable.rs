//! Phase 1: from access sites, run or not, to variables.
//!
//! Each `Place` is a class of its own to begin with; what the profile saw on one address is united. So static facts may merge but
//! never split what was seen together, and a site that never ran falls to the class of its place: the write of seed 002, Figure 1.
//!
//! Not handled: a range access (memcpy, a wide store) belongs to the class of its own place only, though it may touch the fields
//! behind it; nothing unites two pointers that no run saw on one address.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::ids::{SiteKey, VariableId};
use model::profile::Evidence;
use model::program::{Place, Program};

/// All variables of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Indexed by `VariableId`, in order of their least place.
    classes: Vec<Variable>,
    places: BTreeMap<Place, VariableId>,
    sites: BTreeMap<SiteKey, Vec<Place>>,
}

/// One variable: what one lock would protect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The places that it unites. Never empty.
    pub places: BTreeSet<Place>,
    /// The observations that united them.
    pub united_by: Vec<(SiteKey, SiteKey)>,
}

impl Variable {
    /// Whether two direct accesses to it certainly touch the same memory, so that one of them is a *must* access.
    #[must_use]
    pub fn is_single_instance(&self) -> bool {
        self.places.len() == 1 && self.places.iter().all(Place::is_single_instance)
    }
}

/// Its most telling place, and how many more there are.
impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.places.first() {
            place.fmt(f)?;
        }
        match self.places.len() {
            0 | 1 => Ok(()),
            n => write!(f, " and {} more", n - 1),
        }
    }
}

impl Variables {
    /// Groups every access of `program` by its place and by what `evidence` saw together.
    #[must_use]
    pub fn of(program: &Program, evidence: &Evidence) -> Self {
        let sites = places_of_sites(program);
        let mut union = Union::default();
        for place in sites.values().flatten() {
            union.index(place);
        }
        let pairs = evidence.pairs.keys().map(|pair| (pair.first, pair.second));
        let edges: BTreeSet<(SiteKey, SiteKey)> = evidence.together.iter().copied().chain(pairs).collect();
        // Sites with one place first: they say which of a copy's two places another site shares.
        let places = |site: &SiteKey| sites.get(site).map_or(&[][..], Vec::as_slice);
        let (plain, copies): (Vec<_>, Vec<_>) =
            edges.into_iter().filter(|(a, b)| a != b).partition(|(a, b)| places(a).len() <= 1 && places(b).len() <= 1);
        let mut reasons = Vec::new();
        for (a, b) in plain.into_iter().chain(copies) {
            if union.join(places(&a), places(&b)) {
                reasons.push((a, b));
            }
        }
        Self::collect(sites, &union, &reasons)
    }

    fn collect(sites: BTreeMap<SiteKey, Vec<Place>>, union: &Union, reasons: &[(SiteKey, SiteKey)]) -> Self {
        let mut ids: BTreeMap<usize, VariableId> = BTreeMap::new();
        let mut classes: Vec<Variable> = Vec::new();
        let mut places = BTreeMap::new();
        for (place, &index) in &union.indices {
            let id = *ids.entry(union.root(index)).or_insert_with(|| {
                classes.push(Variable { places: BTreeSet::new(), united_by: Vec::new() });
                VariableId::new(classes.len() - 1)
            });
            classes[id.index()].places.insert(place.clone());
            places.insert(place.clone(), id);
        }
        for &(a, b) in reasons {
            if let Some(id) = sites.get(&a).and_then(|of_a| of_a.first()).and_then(|place| places.get(place)) {
                classes[id.index()].united_by.push((a, b));
            }
        }
        Self { classes, places, sites }
    }

    /// The variable of a place; `None` for one that the program does not access.
    #[must_use]
    pub fn of_place(&self, place: &Place) -> Option<VariableId> {
        self.places.get(place).copied()
    }

    /// The variables that a site accesses: two for a copy, none for a call into the program.
    #[must_use]
    pub fn of_site(&self, site: SiteKey) -> BTreeSet<VariableId> {
        self.sites.get(&site).into_iter().flatten().filter_map(|place| self.of_place(place)).collect()
    }

    /// The variable with this id.
    #[must_use]
    pub fn get(&self, id: VariableId) -> &Variable {
        &self.classes[id.index()]
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (VariableId, &Variable)> {
        self.classes.iter().enumerate().map(|(v, variable)| (VariableId::new(v), variable))
    }

    /// How a site came to its variables, for people.
    #[must_use]
    pub fn explain(&self, site: SiteKey) -> String {
        let Some(places) = self.sites.get(&site) else {
            return format!("{site}: no access of this program has this key\n");
        };
        let mut text = String::new();
        for place in places {
            text.push_str(&format!("{site} accesses {place}\n"));
            let Some(id) = self.of_place(place) else { continue };
            let variable = self.get(id);
            text.push_str(&format!("  which belongs to {id}: {variable}\n"));
            for other in variable.places.iter().filter(|other| *other != place) {
                text.push_str(&format!("  together with {other}\n"));
            }
            for (a, b) in &variable.united_by {
                text.push_str(&format!("  because runs saw {a} and {b} on one address\n"));
            }
        }
        text
    }
}

fn places_of_sites(program: &Program) -> BTreeMap<SiteKey, Vec<Place>> {
    let mut sites = BTreeMap::new();
    for node in program.functions.iter().flat_map(|function| &function.nodes) {
        if let Some(site) = node.site.filter(|_| !node.accesses().is_empty()) {
            let mut places: Vec<Place> = node.accesses().iter().map(|access| access.place.clone()).collect();
            places.sort();
            places.dedup();
            sites.insert(site, places);
        }
    }
    sites
}

/// Union-find over places.
#[derive(Default)]
struct Union {
    indices: BTreeMap<Place, usize>,
    parents: Vec<usize>,
}

impl Union {
    fn index(&mut self, place: &Place) -> usize {
        if let Some(&index) = self.indices.get(place) {
            return index;
        }
        let index = self.parents.len();
        self.parents.push(index);
        self.indices.insert(place.clone(), index);
        index
    }

    fn root(&self, mut index: usize) -> usize {
        while self.parents[index] != index {
            index = self.parents[index];
        }
        index
    }

    /// Unites what two sites touched on one address. A copy touches two places and only one of them was meant: where the two
    /// sites share a class already, that is the one; otherwise all are united. Whether anything changed.
    fn join(&mut self, a: &[Place], b: &[Place]) -> bool {
        let roots = |union: &mut Self, places: &[Place]| -> BTreeSet<usize> {
            places
                .iter()
                .map(|place| {
                    let index = union.index(place);
                    union.root(index)
                })
                .collect()
        };
        let (a, b) = (roots(self, a), roots(self, b));
        if a.is_empty() || b.is_empty() || !a.is_disjoint(&b) {
            return false;
        }
        let all: Vec<usize> = a.into_iter().chain(b).collect();
        let root = all.iter().copied().min().unwrap_or_default();
        for index in all {
            self.parents[index] = root;
        }
        true
    }
}
