//! Where sites stand in the source, found out only when something is to be shown.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use model::ids::SiteKey;
use passes::capture::Capture;
use rayon::prelude::*;

/// The source positions of a program's sites.
pub(crate) struct Sources<'a> {
    capture: &'a Capture,
    positions: OnceCell<BTreeMap<SiteKey, String>>,
}

impl<'a> Sources<'a> {
    /// Nothing is read yet.
    pub(crate) fn of(capture: &'a Capture) -> Self {
        Self { capture, positions: OnceCell::new() }
    }

    /// The position of a site, where that is known. A unit that does not decode has no positions.
    pub(crate) fn position(&self, site: SiteKey) -> Option<&str> {
        self.positions.get_or_init(|| positions(self.capture)).get(&site).map(String::as_str)
    }

    /// A text with every site in it replaced by its position.
    pub(crate) fn resolve(&self, text: &str) -> String {
        let word = |word: &str| match word.parse::<SiteKey>() {
            Ok(site) => self.position(site).unwrap_or("?").to_owned(),
            Err(_) => word.to_owned(),
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }
}

fn positions(capture: &Capture) -> BTreeMap<SiteKey, String> {
    let modules = capture.units.par_iter().filter_map(|unit| passes::extract::extract(&unit.bitcode).ok()).collect::<Vec<_>>();
    let mut positions = BTreeMap::new();
    for node in modules.iter().flat_map(|module| &module.functions).flat_map(|function| &function.nodes) {
        if let (Some(site), false) = (node.site, node.source.0.is_empty()) {
            positions.entry(site).or_insert_with(|| node.source.to_string());
        }
    }
    positions
}
