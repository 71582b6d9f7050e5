//! The places that each site accesses, as numbers: sorted once, then looked up by bisection. Walking it in the order of sites is quick.

use model::ids::SiteKey;
use model::program::Program;

use crate::union::{PlaceId, Union};

/// For each site that accesses memory, its places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SiteTable {
    /// Sorted, each once.
    sites: Vec<SiteKey>,
    /// By place in `sites`: where its part of `places` ends.
    ends: Vec<usize>,
    /// Each site's in the order of places, each once.
    places: Vec<PlaceId>,
}

impl SiteTable {
    /// Collects the places of all accesses, which `union` numbers in the order of sites. Where two nodes have one site, the later one counts.
    pub(crate) fn of(program: &Program, union: &mut Union) -> Self {
        let nodes = program.functions.iter().flat_map(|function| &function.nodes);
        let mut found: Vec<_> =
            nodes.filter_map(|node| node.site.filter(|_| !node.accesses().is_empty()).map(|site| (site, node))).collect();
        // Stable, so that the last of equal ones is the one that came last.
        found.sort_by_key(|&(site, _)| site);
        let mut table = Self::default();
        for run in found.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(site, node)) = run.last() else { continue };
            let mut places: Vec<_> = node.accesses().iter().flat_map(|access| access.places()).collect();
            places.sort_unstable();
            places.dedup();
            table.places.extend(places.into_iter().map(|place| union.index(place)));
            table.sites.push(site);
            table.ends.push(table.places.len());
        }
        table
    }

    /// The places of a site; `None` for one that accesses nothing.
    pub(crate) fn of_site(&self, site: SiteKey) -> Option<&[PlaceId]> {
        let index = self.sites.binary_search(&site).ok()?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.places[start..self.ends[index]])
    }
}
