//! Where pointers come from and go to, function by function: what a whole-program points-to analysis reads.
//!
//! `passes::extract` writes it, `inference::points_to` reads it. Order within a function does not matter: the analysis is insensitive to
//! flow. A value that may hold a pointer has a `PointerId` of its function; the parameters come first. Functions and
//! globals are named as `program::Callee::Direct` names them.
//!
//! Left out: pointers in variable arguments and in inline assembly, and integers that are pointers, unless a conversion shows it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::ids::{PointerId, SiteKey};
use crate::program::Place;

/// The pointers of one function, or of a module's initial data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pointers {
    /// How many values there are; `PointerId`s are below it.
    pub count: u32,
    /// How many of them are parameters, whatever their type: the first ones, in order.
    pub parameters: u32,
    /// What happens to them.
    pub flows: Vec<Flow>,
    /// Memory that is accessed, or lock objects that are used, through these.
    pub behind: Vec<(Place, PointerId)>,
}

/// One thing that happens to pointers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Flow {
    /// `to` is the address of a global or function.
    Symbol {
        /// The value.
        to: PointerId,
        /// Its name.
        name: String,
    },
    /// `to` is the address of memory that no other value is the origin of: a local variable.
    Fresh {
        /// The value.
        to: PointerId,
    },
    /// `to` may equal `from`: casts, phis, selects, steps from element to element of an array.
    Copy {
        /// The result.
        to: PointerId,
        /// One source.
        from: PointerId,
    },
    /// `to` is `bytes` behind `from`: the field of a record, the first one included. Elements of arrays count as one, the first.
    Step {
        /// The result.
        to: PointerId,
        /// Where it steps from.
        from: PointerId,
        /// How far; negative from a member to what contains it.
        bytes: i64,
    },
    /// `to` is read from where `from` points to.
    Load {
        /// The result.
        to: PointerId,
        /// The address.
        from: PointerId,
    },
    /// `value` is stored where `at` points to.
    Store {
        /// The address.
        at: PointerId,
        /// What is stored.
        value: PointerId,
    },
    /// Memory is copied from where `from` points to, to where `to` points to.
    CopyBytes {
        /// Address of the target.
        to: PointerId,
        /// Address of the source.
        from: PointerId,
    },
    /// The function returns this.
    Return {
        /// The value.
        value: PointerId,
    },
    /// A call.
    Call {
        /// The node that makes it, if it is one.
        site: Option<SiteKey>,
        /// Whom it calls.
        callee: Called,
        /// Its arguments; `None` for what is no pointer.
        arguments: Vec<Option<PointerId>>,
        /// What it returns, if that may be a pointer.
        result: Option<PointerId>,
    },
}

/// Whom a call calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Called {
    /// By name.
    Named(String),
    /// Through a pointer.
    Through(PointerId),
}
