//! Whether the engine is in the middle of something, as its tables tell: a fiber may be left for good where it is not.

use core::cell::RefCell;

use super::fiber::Engine;

impl Engine {
    /// Whether no hook is in the middle of something: a fiber may be left for good here.
    pub(crate) fn is_at_rest(&self) -> bool {
        fn is_free<T>(cell: &RefCell<T>) -> bool {
            cell.try_borrow_mut().is_ok()
        }
        let tables =
            is_free(&self.fibers) && is_free(&self.timers) && is_free(&self.names) && is_free(&self.lenders) && is_free(&self.assembly);
        let state = is_free(&self.model)
            && is_free(&self.shadow)
            && self.outsiders.is_at_rest()
            && self.streams.is_at_rest()
            && self.own_variables.is_at_rest()
            && self.supplies.is_at_rest()
            && self.leftovers.is_at_rest()
            && is_free(&self.recorder)
            && is_free(&self.races)
            && is_free(&self.found_races)
            && self.lifetimes.is_at_rest();
        tables && state && self.with_current(|fiber| is_free(&fiber.circle) && is_free(&fiber.once) && is_free(&fiber.destructors))
    }
}
