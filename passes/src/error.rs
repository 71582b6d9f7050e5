//! What can go wrong in a pass.

use model::ids::{FunctionKey, NodeId};

/// Why a pass gave no result.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
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
