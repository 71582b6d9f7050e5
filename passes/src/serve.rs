//! Answers the orders of other processes: all units of a program in parallel.
//!
//! Orders and answers are `model::pass`, in postcard's form. An order that cannot be read is a bug in atomfix, as both sides are of one build.

use std::collections::BTreeSet;

use model::pass::{Answer, Order, Work};
use model::plan::Plan;
use rayon::prelude::*;
use serde_bytes::{ByteBuf, Bytes};

use crate::llvm::defined;
use crate::{Hooks, PassError, Transform, extract, inject, transform};

/// The names of all functions that these units define.
fn own(units: &[&Bytes]) -> BTreeSet<String> {
    // One that cannot be read says so when it is transformed.
    units.par_iter().flat_map_iter(|unit| defined(unit).unwrap_or_default()).collect()
}

/// The answer to an order.
pub fn serve(order: &[u8]) -> Result<Vec<u8>, PassError> {
    let bug = |what: String| PassError::Internal { what };
    let Order { work, units } = postcard::from_bytes(order).map_err(|error| bug(format!("an order that cannot be read: {error}")))?;
    let answer = match work {
        Work::Extract => Answer::Extracted(units.par_iter().map(|unit| extract::extract(unit)).collect()),
        Work::Transform { plan, hooks } => {
            let plan: Option<Plan> =
                plan.map(|text| toml::from_str(&text)).transpose().map_err(|error| bug(format!("no plan: {error}")))?;
            let own = if hooks == Some(Hooks::Gate) { own(&units) } else { BTreeSet::new() };
            let what = Transform { plan: plan.as_ref(), hooks, own: &own };
            let table = plan.as_ref().map(|plan| inject::lock_table(plan).map(ByteBuf::from));
            Answer::Transformed(units.par_iter().map(|unit| transform(unit, &what)).collect(), table)
        }
    };
    postcard::to_stdvec(&answer).map_err(|error| bug(format!("an answer that cannot be written: {error}")))
}
