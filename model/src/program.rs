//! A program as inference sees it: functions, their control-flow graphs, and what each node does to shared state.
//!
//! `passes::extract` makes it from bitcode (one `Module` per unit; `Program::link` joins them), `inference` reads it.
//! A *node* is what seed 002 calls a label. Each basic block begins with one `Block` node, followed by one node for each
//! instruction that matters, and ends in a `Return` or `Stop` node or in edges to the `Block` nodes of its successors. So
//! every place that injection can name, "before a node" or "on an edge", is a place in the bitcode, and node numbers are
//! the same in every extraction of the same function body.
//!
//! Left out: accesses to memory that provably belongs to one thread (an alloca that is not captured), and everything
//! that calls to code outside the program do, save what the table in `external` says.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use crate::external::{self, Blocking, SyncOp};
use crate::ids::{FunctionId, FunctionKey, NodeId, SiteKey};
use crate::pair::Rw;
use crate::pointer::Pointers;
use crate::range::spread;
use crate::site::Source;

/// All functions of the program whose bitcode was captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Program {
    /// In order of (name, key), so that the order of modules on the link line does not show.
    pub functions: Vec<Function>,
    /// Functions that are used otherwise than by calling them, by the name that `Callee::Direct` uses: what indirect calls may reach.
    pub taken: BTreeSet<String>,
    /// Functions that run before `main`, by the same name: constructors, and those that resolve ifuncs.
    pub constructors: BTreeSet<String>,
    /// What the initial values of globals point to, one entry for each module that has such.
    pub data: Vec<Pointers>,
    /// What the source calls places, where debug information says it and it is not what `Place` displays; no two places share a name.
    pub names: BTreeMap<Place, String>,
    /// What could not be covered, for the report.
    pub uncovered: Vec<Uncovered>,
}

/// What one unit of bitcode contributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Module {
    /// Its source path, as the compiler was given it.
    pub name: String,
    /// Functions defined in it, in its order.
    pub functions: Vec<Function>,
    /// Functions, defined here or elsewhere, that it uses otherwise than by calling them.
    pub taken: Vec<String>,
    /// Functions, defined here or elsewhere, that it makes run before `main`.
    pub constructors: Vec<String>,
    /// What the initial values of its globals point to.
    pub data: Pointers,
    /// What the source calls the places that its functions name.
    pub names: BTreeMap<Place, String>,
    /// What could not be covered in it.
    pub uncovered: Vec<Uncovered>,
}

/// Something that atomfix leaves alone, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Uncovered {
    /// A function, an object file, a library.
    pub what: String,
    /// One lower-case fragment.
    pub why: String,
    /// What kind of thing it is.
    pub gap: Gap,
}

/// What kind of thing is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Gap {
    /// A function, of which all is known but which is not changed.
    Function,
    /// Code of the program of which nothing is known.
    Code,
    /// A shared library: it runs what it is given, when it is called.
    Library,
}

/// One function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Function {
    /// Its stable identity.
    pub key: FunctionKey,
    /// Its linkage name.
    pub name: String,
    /// Whether the name is local to its module, so that equal names elsewhere are other functions.
    pub local: bool,
    /// The module it was first seen in.
    pub module: String,
    /// Its type in the text form that `Callee::Indirect` uses: which indirect calls may reach it.
    pub signature: String,
    /// Indexed by `NodeId`; node 0 is the entry block's.
    pub nodes: Vec<Node>,
    /// Where its pointers come from and go to.
    pub pointers: Pointers,
    /// Its loops that count, sorted.
    pub counted: Vec<Counted>,
    /// Why no lock may be placed in it (callbr, naked, ifunc resolver, coroutine, setjmp), if so.
    pub refused: Option<String>,
}

/// A loop that counts: a counter moves by a constant, always in one direction, each time when control goes over an edge from one of `steps` to
/// `header`; and where control leaves `test`, it goes to `out`, by way of nodes that do nothing, once the counter has come to its bound. So control cannot pass both
/// for ever without going there, if it comes to `header` from `steps` only, whatever memory holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counted {
    /// The first node of each turn.
    pub header: NodeId,
    /// The last nodes of turns.
    pub steps: Vec<NodeId>,
    /// Where the counter is compared.
    pub test: NodeId,
    /// Where control goes when it has come to the bound.
    pub out: NodeId,
}

/// A node of the control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node {
    /// What it does.
    pub kind: NodeKind,
    /// Its stable identity; `None` for `Block`, `Return` and `Stop` nodes.
    pub site: Option<SiteKey>,
    /// Where it stands in the source.
    pub source: Source,
    /// Control-flow successors, in the terminator's order, without repeats. An unwind edge is an edge like others.
    pub successors: Vec<NodeId>,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum NodeKind {
    /// The start of a basic block.
    Block,
    /// A load, store, atomic or memory intrinsic on memory that may be shared.
    Access(Access),
    /// A call.
    Call(Call),
    /// Leaves the function by return.
    Return,
    /// Leaves it otherwise: `resume`, or nothing follows (`unreachable`).
    Stop,
}

/// An access to memory that may be shared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Access {
    /// What it does.
    pub rw: Rw,
    /// To which memory.
    pub place: Place,
    /// Whether it is an atomic instruction (C11 or compiler builtin).
    pub atomic: bool,
    /// How many bytes it touches at most; `None` if the code does not say.
    pub bytes: Option<u32>,
    /// Other places of the program that lie within these bytes; `Program::link` fills it in (`range`).
    pub covers: Vec<Place>,
}

impl Access {
    /// Its place, and those that it covers besides.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        core::iter::once(&self.place).chain(&self.covers)
    }
}

/// Memory as far as one function's code tells: what accesses are grouped into variables by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Place {
    /// A fixed offset in a global. There is one instance of it: an access to it is a *must* access.
    Global {
        /// The global's linkage name; with `@` and the module's path behind it when the name is local.
        name: String,
        /// In bytes.
        offset: u64,
    },
    /// Some element of an array in a global: an index is computed. Fields of an array of structures are told apart by their
    /// offset in the first element.
    GlobalElement {
        /// As above.
        name: String,
        /// Offset in the global with all computed indices taken as 0, in bytes.
        offset: u64,
    },
    /// A field of an object of a named type, reached through a pointer (typed GEP or struct-path TBAA).
    Field {
        /// The type's name, without LLVM's numeric suffix.
        record: String,
        /// In bytes.
        offset: u64,
    },
    /// Reached through a pointer about which the code says nothing more.
    Pointer {
        /// The first site of the function that used the same pointer at the same offset (for the second pointer of one site,
        /// a hash of it): a class of its own, until evidence merges it with others.
        site: SiteKey,
    },
}

impl Place {
    /// Whether there is exactly one instance, so that two accesses to it certainly touch the same memory.
    #[must_use]
    pub fn is_single_instance(&self) -> bool {
        matches!(self, Self::Global { .. })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global { name, offset: 0 } => write!(f, "{name}"),
            Self::Global { name, offset } => write!(f, "{name}+{offset}"),
            Self::GlobalElement { name, offset: 0 } => write!(f, "{name}[]"),
            Self::GlobalElement { name, offset } => write!(f, "{name}[]+{offset}"),
            Self::Field { record, offset } => write!(f, "{record}::+{offset}"),
            Self::Pointer { site } => write!(f, "*{site}"),
        }
    }
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// Whom it calls.
    pub callee: Callee,
    /// What an external callee touches, by the table in `external`.
    pub accesses: Vec<Access>,
    /// A synchronization operation, and the places of its objects (the mutex of a lock; condition, then mutex, of a wait).
    pub sync: Option<(SyncOp, Vec<Place>)>,
    /// Whether and how an external callee may block.
    pub blocking: Option<Blocking>,
    /// Functions of the program that an external callee calls, any number of times, before it returns (the comparison of `qsort`), named
    /// as `Callee::Direct` names them. Points-to analysis finds them; a program that was just extracted has none.
    pub calls_back: Vec<String>,
}

/// Whom a call calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Callee {
    /// A linkage name; with `@` and the module's path behind it when the name is local.
    Direct(String),
    /// Through a pointer; its type (`i32 (ptr, i64)`) narrows the candidates to functions of that type whose address is taken.
    Indirect(String),
    /// Through a pointer that holds one of these functions, named as above: an indirect call of which points-to analysis knows more.
    OneOf(Vec<String>),
    /// Inline assembly.
    Assembly,
}

impl Call {
    /// Whether it may give back a block of the heap. Its access is then to all of the block: the end of an object, as a write that nobody may use
    /// afterwards.
    #[must_use]
    pub fn gives_back(&self) -> bool {
        !self.accesses.is_empty() && matches!(&self.callee, Callee::Direct(name) if external::gives_back(name))
    }
}

impl Program {
    /// Joins modules. Functions with equal keys (inline functions that several objects carry) count once.
    #[must_use]
    pub fn link(modules: Vec<Module>) -> Self {
        let mut functions = BTreeMap::new();
        let mut uncovered = Vec::new();
        let (mut taken, mut constructors) = (BTreeSet::new(), BTreeSet::new());
        let mut data = Vec::new();
        let mut names: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
        for module in modules {
            for (place, name) in module.names {
                names.entry(place).or_default().insert(name);
            }
            if !module.data.flows.is_empty() {
                data.push(module.data);
            }
            uncovered.extend(module.uncovered);
            taken.extend(module.taken);
            constructors.extend(module.constructors);
            for function in module.functions {
                functions.entry((function.name.clone(), function.key)).or_insert(function);
            }
        }
        uncovered.sort();
        uncovered.dedup();
        let functions = functions.into_values().collect();
        let mut program = Self { functions, taken, constructors, data, names: telling(names), uncovered };
        spread(&mut program);
        program
    }

    /// Takes calls of these functions, by linkage name, for ones that may wait for another thread or a peer. Returns the names that nobody
    /// calls.
    pub fn mark_blocking<'n>(&mut self, names: &'n [String]) -> Vec<&'n str> {
        let mut called = BTreeSet::new();
        let nodes = self.functions.iter_mut().flat_map(|function| &mut function.nodes);
        for call in nodes.filter_map(|node| if let NodeKind::Call(call) = &mut node.kind { Some(call) } else { None }) {
            let Callee::Direct(callee) = &call.callee else { continue };
            if let Some(name) = names.iter().find(|name| *name == callee) {
                called.insert(name.as_str());
                call.blocking = Some(Blocking::Peer);
            }
        }
        names.iter().map(String::as_str).filter(|name| !called.contains(name)).collect()
    }

    /// What people call a place.
    #[must_use]
    pub fn name_of(&self, place: &Place) -> String {
        self.names.get(place).cloned().unwrap_or_else(|| place.to_string())
    }

    /// Where each site stands.
    #[must_use]
    pub fn sites(&self) -> BTreeMap<SiteKey, (FunctionId, NodeId)> {
        let mut sites = BTreeMap::new();
        for (f, function) in self.functions.iter().enumerate() {
            for (n, node) in function.nodes.iter().enumerate() {
                if let Some(site) = node.site {
                    sites.insert(site, (FunctionId::new(f), NodeId::new(n)));
                }
            }
        }
        sites
    }

    /// The function with this id.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }
}

/// The names that all modules agree on and that no other place has.
fn telling(names: BTreeMap<Place, BTreeSet<String>>) -> BTreeMap<Place, String> {
    let agreed = names.into_iter().filter(|(_, names)| names.len() == 1);
    let named: BTreeMap<Place, String> =
        agreed.flat_map(|(place, names)| names.into_iter().map(move |name| (place.clone(), name))).collect();
    let mut uses: BTreeMap<&String, usize> = BTreeMap::new();
    for name in named.values() {
        *uses.entry(name).or_default() += 1;
    }
    let shared: BTreeSet<String> = uses.into_iter().filter(|&(_, uses)| uses > 1).map(|(name, _)| name.clone()).collect();
    named.into_iter().filter(|(_, name)| !shared.contains(name)).collect()
}

impl Function {
    /// The node with this id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Where a node of it stands, as people read it: `file:line (function)`.
    #[must_use]
    pub fn place_of(&self, node: NodeId) -> String {
        match self.node(node).source.0.first().filter(|position| !position.file.is_empty()) {
            Some(position) => alloc::format!("{}:{} ({})", position.file, position.line, self.name),
            None => alloc::format!("{node} ({})", self.name),
        }
    }

    /// The name by which direct calls name it: with its module behind it when local.
    #[must_use]
    pub fn call_name(&self) -> String {
        if self.local { alloc::format!("{}@{}", self.name, self.module) } else { self.name.clone() }
    }
}

impl Node {
    /// Every access that the node itself makes: one for an access node, those of the external table for a call.
    #[must_use]
    pub fn accesses(&self) -> &[Access] {
        match &self.kind {
            NodeKind::Access(access) => core::slice::from_ref(access),
            NodeKind::Call(call) => &call.accesses,
            NodeKind::Block | NodeKind::Return | NodeKind::Stop => &[],
        }
    }
}
