//! The module that defines a plan's locks: the table, their number, and their names for statistics.

use model::abi::{LOCK_BYTES, LOCK_COUNT, LOCK_NAMES, LOCK_TABLE};
use model::plan::Plan;

use crate::PassError;
use crate::llvm::{Value, with_new_module};

/// Bitcode that defines `__atomfix_locks`, `__atomfix_lock_count` and `__atomfix_lock_names`. An empty plan has a table of
/// one slot and a count of zero, so that the runtime's references link.
pub fn lock_table(plan: &Plan) -> Result<Vec<u8>, PassError> {
    let count = plan.locks.iter().map(|lock| lock.id.0 + 1).max().unwrap_or(0);
    with_new_module("atomfix-locks", |module| {
        let bytes = module.array(module.integer(8), u64::from(count.max(1)) * LOCK_BYTES as u64);
        let table = module.global(LOCK_TABLE, bytes);
        module.define(table, module.zero(bytes));
        module.align(table, u32::try_from(LOCK_BYTES).map_err(|_| PassError::Internal { what: "locks of 4 GiB".to_owned() })?);

        let number = module.integer(32);
        module.define(module.global(LOCK_COUNT, number), module.constant(number, count.into()));

        let mut names: Vec<Value<'_>> = (0..count)
            .map(|id| {
                let name = plan.locks.iter().find(|lock| lock.id.0 == id).map_or("", |lock| lock.variable.as_str());
                let text = module.string(&name.replace('\0', "?"));
                let global = module.global(&format!("atomfix.lock.{id}"), text.ty());
                module.define(global, text);
                module.make_private_constant(global);
                global
            })
            .collect();
        names.push(module.zero(module.pointer()));
        let array = module.constant_array(module.pointer(), &names);
        module.define(module.global(LOCK_NAMES, array.ty()), array);
        module.verify()?;
        Ok(module.bitcode())
    })
}
