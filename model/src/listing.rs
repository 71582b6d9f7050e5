//! The text form of an extracted module or program: one line a node, for people and for golden tests. Written, never read.
//!
//! ```text
//! module counter.c
//! function add f0123456789abcdef
//!   n0 block -> n1 ; counter.c:3
//!   n1 read counter -> n2 ; counter.c:4:3
//!   n2 call pthread_mutex_lock lock(m) -> n3 ; counter.c:5:3
//!   n3 return ; counter.c:6:1
//!   counts from n9 to n4, until n6 -> n10
//! ```

use core::fmt;

use crate::pair::Rw;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::program::{Access, Call, Callee, Counted, Function, Module, Node, NodeKind, Program};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "module {}", self.name)?;
        self.functions.iter().try_for_each(|function| function.fmt(f))?;
        self.uncovered.iter().try_for_each(|item| writeln!(f, "uncovered {}: {}", item.what, item.why))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.functions.iter().try_for_each(|function| function.fmt(f))?;
        self.uncovered.iter().try_for_each(|item| writeln!(f, "uncovered {}: {}", item.what, item.why))
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {} {}", self.call_name(), self.key)?;
        if let Some(why) = &self.refused {
            write!(f, " refused: {why}")?;
        }
        writeln!(f)?;
        self.nodes.iter().enumerate().try_for_each(|(index, node)| writeln!(f, "  n{index} {node}"))?;
        self.counted.iter().try_for_each(|counted| writeln!(f, "  {counted}"))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            NodeKind::Block => f.write_str("block")?,
            NodeKind::Access(access) => access.fmt(f)?,
            NodeKind::Call(call) => call.fmt(f)?,
            NodeKind::Return => f.write_str("return")?,
            NodeKind::Stop => f.write_str("stop")?,
        }
        for (index, successor) in self.successors.iter().enumerate() {
            write!(f, "{}{successor}", if index == 0 { " -> " } else { ", " })?;
        }
        write!(f, " ; {}", self.source)
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        write!(f, "counts from {} to {}, until {} -> {}", steps.join(", "), self.header, self.test, self.out)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.rw {
            Rw::Read => "read",
            Rw::Write => "write",
            Rw::Update => "update",
        };
        write!(f, "{}{what} {}", if self.atomic { "atomic " } else { "" }, self.place)?;
        self.covers.iter().enumerate().try_for_each(|(n, place)| write!(f, "{}{place}", if n == 0 { " covering " } else { ", " }))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.callee {
            Callee::Direct(name) => write!(f, "call {name}")?,
            Callee::Indirect(ty) => write!(f, "call through {ty}")?,
            Callee::OneOf(names) => write!(f, "call one of {}", names.join(", "))?,
            Callee::Assembly => f.write_str("assembly")?,
        }
        for access in &self.accesses {
            write!(f, " [{access}]")?;
        }
        if let Some((op, objects)) = &self.sync {
            write!(f, " {op:?}(")?;
            for (index, object) in objects.iter().enumerate() {
                write!(f, "{}{object}", if index == 0 { "" } else { ", " })?;
            }
            f.write_str(")")?;
        }
        if let Some(blocking) = self.blocking {
            write!(f, " blocks on {blocking:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::{Blocking, SyncOp};
    use crate::ids::{FunctionKey, NodeId};
    use crate::program::Place;
    use crate::site::Source;
    use alloc::vec;

    #[test]
    fn a_function_is_one_line_a_node() {
        let place = |name: &str| Place::Global { name: name.to_string(), offset: 0 };
        let wait = Call {
            callee: Callee::Direct("pthread_cond_wait".to_string()),
            accesses: vec![],
            sync: Some((SyncOp::Wait, vec![place("c"), place("m")])),
            blocking: Some(Blocking::Peer),
            calls_back: Vec::new(),
        };
        let node = |kind, successors| Node { kind, site: None, source: Source::default(), successors };
        let function = Function {
            key: FunctionKey(1),
            name: "f".to_string(),
            local: true,
            module: "a.c".to_string(),
            signature: "void ()".to_string(),
            nodes: vec![
                node(NodeKind::Block, vec![NodeId(1)]),
                node(
                    NodeKind::Access(Access { rw: Rw::Update, place: place("x"), atomic: true, bytes: Some(4), covers: Vec::new() }),
                    vec![NodeId(2)],
                ),
                node(NodeKind::Call(wait), vec![NodeId(0), NodeId(3)]),
                node(NodeKind::Return, vec![]),
            ],
            pointers: crate::pointer::Pointers::default(),
            counted: Vec::new(),
            refused: None,
        };
        let expected = "function f@a.c f0000000000000001\n  n0 block -> n1 ; ?\n  n1 atomic update x -> n2 ; ?\n  \
                        n2 call pthread_cond_wait Wait(c, m) blocks on Peer -> n0, n3 ; ?\n  n3 return ; ?\n";
        assert_eq!(function.to_string(), expected);
    }
}
