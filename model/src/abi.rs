//! The hooks: every function that instrumented or hardened code calls, with its C signature and the archive that defines it.
//!
//! `passes` declares exactly these, `runtime-rt` defines exactly these (tests on both sides walk the table).
//! All take and return plain integers and pointers, never unwind, keep `errno`, and may be called before `main`.
//!
//! | argument | meaning |
//! |---|---|
//! | `site` | a `SiteKey` |
//! | `kind` | bits 0-1: `Rw` (0 read, 1 write, 2 update); bit 8: atomic |
//! | `frame` | the address of an alloca that instrumentation adds: the identity of an activation |
//! | `lock` | the address of the lock's 64 bytes in `__atomfix_locks` |
//! | `mode` | 1 R, 2 U, 3 X |
//! | `label` | a `Label` of the plan |

/// A C type of a hook's argument or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// No result.
    Void,
    /// A pointer.
    Pointer,
    /// 32 bits.
    U32,
    /// 64 bits.
    U64,
}

/// Which archive defines a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Archive {
    /// `runtime-rt/record`: profiling.
    Record,
    /// `runtime-rt/lock`: production.
    Lock,
    /// `runtime-rt/gate`: exploration, original and hardened builds alike.
    Gate,
}

/// One hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Its symbol.
    pub name: &'static str,
    /// Its result.
    pub result: Type,
    /// Its arguments.
    pub arguments: &'static [Type],
    /// Who defines it.
    pub archives: &'static [Archive],
}

use Type::{Pointer, U32, U64, Void};

const fn hook(name: &'static str, result: Type, arguments: &'static [Type], archives: &'static [Archive]) -> Hook {
    Hook { name, result, arguments, archives }
}

/// `enter(frame, function_key)`: an activation begins.
pub const RECORD_ENTER: Hook = hook("__atomfix_record_enter", Void, &[Pointer, U64], &[Archive::Record]);
/// `leave(frame)`: it ends, by return or by unwinding.
pub const RECORD_LEAVE: Hook = hook("__atomfix_record_leave", Void, &[Pointer], &[Archive::Record]);
/// `call(frame, site)`: this activation is about to call at `site`.
pub const RECORD_CALL: Hook = hook("__atomfix_record_call", Void, &[Pointer, U64], &[Archive::Record]);
/// `begin(address, size, kind, site) -> token`: an access is about to happen; the address's stripe is held until `end`.
pub const RECORD_BEGIN: Hook = hook("__atomfix_record_begin", Pointer, &[Pointer, U32, U32, U64], &[Archive::Record]);
/// `end(token)`: it has happened.
pub const RECORD_END: Hook = hook("__atomfix_record_end", Void, &[Pointer], &[Archive::Record]);
/// `range(address, length, kind, site)`: a library call or memory intrinsic touches a range: called before it for ranges that are
/// read or given back, after it for ranges that are written. A length of 2^64-1 means up to and with the terminating zero, one of 2^64-2 all
/// of the heap block that begins there.
pub const RECORD_RANGE: Hook = hook("__atomfix_record_range", Void, &[Pointer, U64, U32, U64], &[Archive::Record]);

/// `access(address, size, kind, site)`: a scheduling point before an access.
pub const GATE_ACCESS: Hook = hook("__atomfix_gate_access", Void, &[Pointer, U32, U32, U64], &[Archive::Gate]);
/// `compare(address, size, expected, site)`: as `access`, before a compare-and-swap of at most 8 bytes that writes if it finds this value.
pub const GATE_COMPARE: Hook = hook("__atomfix_gate_compare", Void, &[Pointer, U32, U64, U64], &[Archive::Gate]);
/// `range(address, length, kind, site)`: as `RECORD_RANGE`, always before the call; of a length known only afterwards, the most that it may be.
pub const GATE_RANGE: Hook = hook("__atomfix_gate_range", Void, &[Pointer, U64, U32, U64], &[Archive::Gate]);
/// `read(address, length, number, site) -> address`: as `range`, of what a call reads before it touches something else: returns where this is found
/// as it was now. `number` tells the ranges of one call apart.
pub const GATE_READ: Hook = hook("__atomfix_gate_read", Pointer, &[Pointer, U64, U32, U64], &[Archive::Gate]);
/// `handed(address, what, callee, site)`: the thread is about to call a function outside the program and hands it this pointer: `what` is an
/// `external::handed::Handing`; `callee` the callee's name where nothing is known of it, its address where a pointer names it, the format that tells of
/// the memory where there is one, and null otherwise.
pub const GATE_HANDED: Hook = hook("__atomfix_gate_handed", Void, &[Pointer, U64, Pointer, U64], &[Archive::Gate]);
/// `call(site)`: the next modelled library call of this thread stands at `site`.
pub const GATE_CALL: Hook = hook("__atomfix_gate_call", Void, &[U64, U32], &[Archive::Gate]);
/// `assembly(what, site)`: the thread is about to run inline assembly at `site` that cannot be controlled: `ASSEMBLY_..`.
pub const GATE_ASSEMBLY: Hook = hook("__atomfix_gate_assembly", Void, &[U32, U64], &[Archive::Gate]);
/// `locks_begin(frame)`: an activation begins of a library's function that takes several locks by trying and backing off.
pub const GATE_LOCKS_BEGIN: Hook = hook("__atomfix_gate_locks_begin", Void, &[Pointer], &[Archive::Gate]);
/// `locks_end(frame)`: it ends.
pub const GATE_LOCKS_END: Hook = hook("__atomfix_gate_locks_end", Void, &[Pointer], &[Archive::Gate]);

/// `acquire(lock, mode, label, frame)`.
pub const LOCK_ACQUIRE: Hook = hook("__atomfix_acquire", Void, &[Pointer, U32, U32, Pointer], &[Archive::Lock, Archive::Gate]);
/// `release(lock, label, frame)`: only if this frame's hold comes from `label`.
pub const LOCK_RELEASE: Hook = hook("__atomfix_release", Void, &[Pointer, U32, Pointer], &[Archive::Lock, Archive::Gate]);
/// `degrade(lock, label, frame)`: to R, under the same condition.
pub const LOCK_DEGRADE: Hook = hook("__atomfix_degrade", Void, &[Pointer, U32, Pointer], &[Archive::Lock, Archive::Gate]);
/// `degrade_to_update(lock, label, frame)`: from X to U, under the same condition.
pub const LOCK_DEGRADE_TO_UPDATE: Hook =
    hook("__atomfix_degrade_to_update", Void, &[Pointer, U32, Pointer], &[Archive::Lock, Archive::Gate]);
/// `glance(lock) -> token`: before a load that is all there is to a region in R. 0: acquire the lock, load, and release it. Otherwise
/// the load alone does, if the 64 bits at `LOCK_LAST` of the lock are afterwards the complement of the token.
pub const LOCK_GLANCE: Hook = hook("__atomfix_glance", U64, &[Pointer], &[Archive::Lock]);
/// `unwind(frame)`: the frame is left by an exception: every hold of it ends.
pub const LOCK_UNWIND: Hook = hook("__atomfix_unwind", Void, &[Pointer], &[Archive::Lock, Archive::Gate]);
/// `give_up()`: the thread is about to call a function that the plan lists as one that may wait: every hold of it ends.
pub const LOCK_GIVE_UP: Hook = hook("__atomfix_give_up", Void, &[], &[Archive::Lock, Archive::Gate]);

/// Every hook.
pub const HOOKS: &[Hook] = &[
    RECORD_ENTER,
    RECORD_LEAVE,
    RECORD_CALL,
    RECORD_BEGIN,
    RECORD_END,
    RECORD_RANGE,
    GATE_ACCESS,
    GATE_COMPARE,
    GATE_RANGE,
    GATE_READ,
    GATE_HANDED,
    GATE_CALL,
    GATE_ASSEMBLY,
    GATE_LOCKS_BEGIN,
    GATE_LOCKS_END,
    LOCK_ACQUIRE,
    LOCK_RELEASE,
    LOCK_DEGRADE,
    LOCK_DEGRADE_TO_UPDATE,
    LOCK_GLANCE,
    LOCK_UNWIND,
    LOCK_GIVE_UP,
];

/// The bit of `kind` that marks an atomic instruction.
pub const KIND_ATOMIC: u32 = 1 << 8;
/// Assembly that reads and writes, in one step, memory that no operand names.
pub const ASSEMBLY_MEMORY: u32 = 0;
/// Assembly that draws random numbers.
pub const ASSEMBLY_NUMBERS: u32 = 1;
/// Assembly that reads or writes memory that no operand names.
pub const ASSEMBLY_UNSEEN: u32 = 2;
/// The range length that means "up to and with the terminating zero".
pub const LENGTH_STRING: u64 = u64::MAX;
/// The range length that means "all of the heap block that begins here, which is about to be given back".
pub const LENGTH_BLOCK: u64 = u64::MAX - 1;
/// Bytes that each injected lock has in the table, aligned to as many.
pub const LOCK_BYTES: usize = 64;
/// Where in a lock stands what changes with every exclusive tenure (`LOCK_GLANCE`), in bytes.
pub const LOCK_LAST: usize = 24;
/// The table of injected locks, which relinking a hardened build defines: `LOCK_BYTES` zeroed bytes each.
pub const LOCK_TABLE: &str = "__atomfix_locks";
/// Beside it: how many there are (`u32`).
pub const LOCK_COUNT: &str = "__atomfix_lock_count";
/// Beside it: an array of pointers to their names, zero-terminated, for statistics.
pub const LOCK_NAMES: &str = "__atomfix_lock_names";

/// Environment: where a recording process puts its recording (a folder), and how (`seed=..:delay=..:sets=..:wanted=..`).
pub const ENV_RECORD: &str = "ATOMFIX_RECORD";
/// What ends the path of a file that says the same to a program with no such environment: behind the program's own path.
pub const RECORD_BESIDE: &str = ".atomfix/swap.record";
/// Environment: the options of the production runtime, `key=value` joined by `:`.
pub const ENV_OPTIONS: &str = "ATOMFIX_OPTIONS";
/// Environment: the file descriptor of the page that exploration is controlled through.
pub const ENV_CHECK: &str = "ATOMFIX_CHECK";
