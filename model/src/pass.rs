//! What is asked of the passes, and what they answer: from one process to another, as LLVM is loaded into one that does nothing else.
//!
//! Sizes are those of whole programs; a unit is the bitcode of one compiler call.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_bytes::{ByteBuf, Bytes};

use crate::ids::{FunctionKey, NodeId};
use crate::program::Module;

/// Which hooks to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hooks {
    /// Those of `runtime-rt/record`.
    Record,
    /// The same, with the short way through each in its place: to be compiled with `runtime-rt/record` only.
    RecordInline,
    /// Those of `runtime-rt/gate`.
    Gate,
}

/// Why an instruction that touches memory or calls is no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Skip {
    /// A local whose address stays in the function.
    Stack,
    /// A thread-local variable whose address its thread keeps to itself.
    ThreadLocal,
    /// Memory that never changes.
    Constant,
    /// A slot of a virtual table.
    VirtualTable,
    /// Relative to a segment register, or of a size that is not known.
    Unaddressable,
    /// An intrinsic that is none of the memory ones.
    Intrinsic,
    /// A vector or target intrinsic that touches memory, of which no lanes are known.
    VectorMemory,
}

/// A transformed unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transformed {
    /// The bitcode.
    #[serde(with = "serde_bytes")]
    pub bitcode: Vec<u8>,
    /// Sites in functions that were not left alone.
    pub sites: u64,
    /// Instructions that are no sites, by reason.
    pub skipped: BTreeMap<Skip, u64>,
    /// Functions into which nothing was inserted, or not all that belongs there, and why.
    pub refused: Vec<(String, String)>,
    /// Operations of the plan that were inserted.
    pub operations: u64,
}

/// What the passes are to do with units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// To say what is in them.
    Extract,
    /// To change them.
    Transform {
        /// The locks to inject: a plan's text, as files hold it.
        plan: Option<String>,
        /// The hooks to add.
        hooks: Option<Hooks>,
    },
}

/// Work, and the units to do it with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order<'a> {
    /// What to do.
    pub work: Work,
    /// With which bitcode.
    #[serde(borrow)]
    pub units: Vec<&'a Bytes>,
}

/// What came of an order, unit by unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// What is in them.
    Extracted(Vec<Result<Module, PassError>>),
    /// What became of them; and the bitcode that defines the locks of the plan, if there is one.
    Transformed(Vec<Result<Transformed, PassError>>, Option<Result<ByteBuf, PassError>>),
}

/// Why a pass gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum PassError {
    /// The bytes are not bitcode that LLVM 22 reads.
    #[error("the bitcode cannot be read: {message}")]
    Unreadable {
        /// LLVM's words.
        message: String,
    },
    /// The plan names a node that the function does not have.
    #[error("the plan names {node} of {function} ({key}), which has {nodes} nodes")]
    UnknownNode {
        /// The function's linkage name.
        function: String,
        /// Its key.
        key: FunctionKey,
        /// The node.
        node: NodeId,
        /// How many it has.
        nodes: usize,
    },
    /// The plan names an edge that the function does not have.
    #[error("the plan names the edge from {from} to {to} of {function} ({key}), which has none there")]
    UnknownEdge {
        /// The function's linkage name.
        function: String,
        /// Its key.
        key: FunctionKey,
        /// Where the edge begins.
        from: NodeId,
        /// Where it ends.
        to: NodeId,
    },
    /// The plan wants code on an edge that cannot be split.
    #[error("no code can be placed on the edge from {from} to {to} of {function} ({key})")]
    Unplaceable {
        /// The function's linkage name.
        function: String,
        /// Its key.
        key: FunctionKey,
        /// Where the edge begins.
        from: NodeId,
        /// Where it ends.
        to: NodeId,
    },
    /// The plan wants locks in a function in which none may be placed.
    #[error("the plan wants locks in {function} ({key}), which must be left alone: {why}")]
    Refused {
        /// The function's linkage name.
        function: String,
        /// Its key.
        key: FunctionKey,
        /// What is odd about it.
        why: String,
    },
    /// The result is not valid bitcode: a bug in atomfix.
    #[error("atomfix made invalid code of {function} (this is a bug in atomfix): {message}")]
    Invalid {
        /// The function's linkage name.
        function: String,
        /// LLVM's words.
        message: String,
    },
    /// Something that cannot happen did: a bug in atomfix.
    #[error("{what} (this is a bug in atomfix)")]
    Internal {
        /// What happened.
        what: String,
    },
}
