//! Where sites stand in the source and what they access, found out only when something is to be shown.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use capture::Capture;
use explorer::timeline::Words;
use model::event::KindCode;
use model::external;
use model::ids::SiteKey;
use model::pair::Rw;
use model::program::{Call, Callee, Node, NodeKind, Place, Program};

use crate::units;
use crate::wording::readable;

/// What the source says of a program's sites.
pub(crate) struct Sources<'a> {
    capture: &'a Capture,
    sites: OnceCell<BTreeMap<SiteKey, Site>>,
}

struct Site {
    /// Its position, where that is known.
    position: Option<String>,
    /// What it accesses, where that has a name.
    variable: Option<String>,
    /// The function that it gives a block of the heap back by, if it does.
    gives_back: Option<String>,
}

impl<'a> Sources<'a> {
    /// Nothing is read yet.
    pub(crate) fn of(capture: &'a Capture) -> Self {
        Self { capture, sites: OnceCell::new() }
    }

    fn site(&self, site: SiteKey) -> Option<&Site> {
        self.sites.get_or_init(|| sites(self.capture)).get(&site)
    }

    /// The position of a site, where that is known. A unit that does not decode has no positions.
    pub(crate) fn position(&self, site: SiteKey) -> Option<&str> {
        self.site(site)?.position.as_deref()
    }

    /// The variable or synchronization object that a site is about, where it has a name.
    pub(crate) fn variable(&self, site: SiteKey) -> Option<&str> {
        self.site(site)?.variable.as_deref()
    }

    /// What happens at a step, in a word: of the write that gives a block back, the function's name.
    pub(crate) fn verb(&self, site: Option<SiteKey>, kind: KindCode) -> String {
        let by = || self.site(site?)?.gives_back.as_deref();
        by().filter(|_| kind.access() == Some(Rw::Write)).map_or_else(|| kind.to_string(), str::to_owned)
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

impl Words for Sources<'_> {
    fn place(&self, site: SiteKey) -> Option<String> {
        self.position(site).map(str::to_owned)
    }

    fn name(&self, site: SiteKey) -> Option<String> {
        self.variable(site).map(str::to_owned)
    }

    fn verb(&self, site: SiteKey, kind: KindCode) -> Option<String> {
        Some(self.verb(Some(site), kind))
    }
}

fn sites(capture: &Capture) -> BTreeMap<SiteKey, Site> {
    let modules = units::extract(capture).unwrap_or_else(|failure| {
        eprintln!("atomfix: places are shown by their keys: {failure}");
        Vec::new()
    });
    let program = Program::link(modules.into_iter().flatten().collect());
    let mut sites = BTreeMap::new();
    for node in program.functions.iter().flat_map(|function| &function.nodes) {
        if let Some(site) = node.site {
            let position = (!node.source.0.is_empty()).then(|| node.source.to_string());
            sites.entry(site).or_insert_with(|| Site { position, variable: variable(&program, node), gives_back: gives_back(node) });
        }
    }
    sites
}

fn variable(program: &Program, node: &Node) -> Option<String> {
    let place = match &node.kind {
        NodeKind::Call(call) => call.sync.as_ref().and_then(|(_, places)| places.first()).or_else(|| Some(&call.accesses.first()?.place)),
        _ => node.accesses().first().map(|access| &access.place),
    };
    let name = place.filter(|place| !matches!(place, Place::Pointer { .. })).map(|place| readable(&program.name_of(place)))?;
    // The module of a local variable stands in the position beside it.
    Some(name.split('@').next().unwrap_or_default().to_owned())
}

/// The name of the function, an operator of C++ in short.
fn gives_back(node: &Node) -> Option<String> {
    let NodeKind::Call(Call { callee: Callee::Direct(name), .. }) = &node.kind else { return None };
    external::gives_back(name).then(|| if name.starts_with("_Z") { "delete".to_owned() } else { name.clone() })
}
