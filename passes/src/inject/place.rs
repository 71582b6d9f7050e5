//! From the plan's places to instructions: each operation is inserted *before* one, so this finds which.
//!
//! Several places may come to stand before one instruction. They run in this order: cross-block edges (at the end of the
//! block that they leave or at the start of the one that they enter), before a block, edges within a block, before a node.

use model::ids::NodeId;
use model::plan::At;

use crate::PassError;
use crate::extract::{Act, Body};
use crate::llvm::Instruction;

/// The order of places that stand before one instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    EdgeBetweenBlocks,
    BeforeBlock,
    EdgeInBlock,
    BeforeNode,
}

/// Checks that a place exists.
pub(super) fn rank(body: &Body<'_>, at: At) -> Result<Rank, PassError> {
    let known = |node: NodeId| {
        body.points.get(node.index()).ok_or_else(|| PassError::UnknownNode {
            function: body.function.name(),
            key: body.key,
            node,
            nodes: body.points.len(),
        })
    };
    match at {
        At::Before(node) => Ok(if matches!(known(node)?.act, Act::Block) { Rank::BeforeBlock } else { Rank::BeforeNode }),
        At::Edge(from, to) => {
            let end = known(to)?;
            if !known(from)?.successors.contains(&to) {
                return Err(PassError::UnknownEdge { function: body.function.name(), key: body.key, from, to });
            }
            Ok(if matches!(end.act, Act::Block) { Rank::EdgeBetweenBlocks } else { Rank::EdgeInBlock })
        }
    }
}

/// The instruction before which a place stands. May split edges; moves nothing that other places stand before.
pub(super) fn anchor<'m>(body: &Body<'m>, at: At) -> Result<Instruction<'m>, PassError> {
    let point = |node: NodeId| &body.points[node.index()];
    let start = |node: NodeId| point(node).block.start();
    let found = match at {
        At::Before(node) => instruction(&point(node).act).or_else(|| start(node)),
        At::Edge(from, to) if matches!(point(to).act, Act::Block) => {
            return point(from).block.edge_to(point(to).block).ok_or_else(|| PassError::Unplaceable {
                function: body.function.name(),
                key: body.key,
                from,
                to,
            });
        }
        At::Edge(from, _) => instruction(&point(from).act).map_or_else(|| start(from), Instruction::next),
    };
    found.ok_or_else(|| PassError::Internal { what: format!("no instruction at '{at}' of {}", body.function.name()) })
}

fn instruction<'m>(act: &Act<'m>) -> Option<Instruction<'m>> {
    match act {
        Act::Block => None,
        Act::Access(touch) => Some(touch.instruction),
        Act::Call(call) => Some(call.instruction),
        Act::Return(at) | Act::Stop(at) => Some(*at),
    }
}
