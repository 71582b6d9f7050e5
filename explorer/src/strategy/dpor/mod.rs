//! Optimal dynamic partial order reduction (Abdulla, Aronis, Jonsson, Sagonas, JACM 2017): one execution for each class of
//! schedules that differ only in the order of independent steps.
//!
//! After each execution the races in it are found: pairs of dependent steps that nothing else orders. For each, the steps
//! that do not come after the first one, then the second one, are a beginning that no explored execution has, unless a
//! sleeping thread or a planned beginning covers it. It is planned as a *wakeup sequence* at the point of the first step.
//!
//! A race is looked at when its second step is new, and again in later executions that begin with both, unless it is *settled*: what covers its
//! sequence begins with a step that comes no later than the second one, so that it covers whatever comes later. (The paper looks at all races of each
//! execution.) A plan whose last step turns out not to be enabled is left there, and the search goes on freely: all that begins with the
//! other steps counts as explored from then on. No class comes twice by that, as those who sleep stay asleep.
//!
//! In reading order: the steps of the current execution, with who comes before whom and who races (`history`, `race`), where steps meet (`keys`), what was
//! done there (`objects`), who holds which locks at any point (`holds`), what a step does in the other order (`reversal`), which system calls came too late (`late`), the planned beginnings (`wakeup`), what is kept of each point (`node`), the search (`search`), and
//! a search within a bound that shares the steps with it alone (`bounded`). What several searches do together: planned beginnings that are handed on
//! (`forest`), and where a search was divided, which takes in what its parts ask for (`trunk`).
//!
//! Exact, with no execution abandoned, for memory accesses, mutexes, reader-writer locks, injected locks, thread creation
//! and joins, and conditions. Semaphores and `once` are explored by all orders at the racing points instead, as is the last
//! point of an execution that ends while others could go on (a failed assertion, `exit`): some executions are abandoned
//! then, none is lost. Of system calls that wait, classes are explored once too, but who comes late to one may turn out to have to wait for the call
//! that it was to come before: that execution is abandoned. Only without a bound: cutting it off at a bound would lose outcomes within that bound.

mod bounded;
mod forest;
mod history;
mod holds;
mod keys;
mod late;
mod node;
mod objects;
mod race;
mod reversal;
mod search;
mod trunk;
mod wakeup;
mod waking;

pub use bounded::Bounded;
pub use forest::Forest;
pub(super) use forest::{Read, Written};
pub use search::Dpor;
pub use trunk::{Asked, Trunk};
