//! What code outside the program does, as far as we know it: one table, used by the recording and gating instrumentation,
//! by inference and by the runtime alike (memory touched, synchronization, blocking). How it conducts itself otherwise (whether it
//! returns soon, starts threads, throws, keeps state of its own) is in `conduct`.
//!
//! Which functions take formats is in `formatted`, and what a format says in `format`.
//! What else functions do with pointers that they are handed is in `handed`; only exploration asks for that. To recording and inference, an external
//! function that is not in the table touches nothing of the program's.

mod conduct;
pub mod format;
pub mod formatted;
pub mod handed;
pub mod kept;

pub use conduct::{
    Unseen, ends_the_process, is_of_libraries, is_quick, may_throw, raw_call_waits, sets_signal_handler, starts_no_thread, unseen,
};

/// A synchronization operation by a library call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SyncOp {
    /// Takes a mutex, spin lock, or the write side of a reader-writer lock.
    Lock,
    /// Tries to; may fail.
    TryLock,
    /// Takes the read side of a reader-writer lock.
    ReadLock,
    /// Tries to; may fail.
    TryReadLock,
    /// Releases any of these.
    Unlock,
    /// Condition wait: gives up the mutex and takes it again.
    Wait,
    /// Wakes one waiter or all.
    Signal,
    /// Creates a thread.
    Create,
    /// Waits for a thread's end.
    Join,
    /// Barrier, semaphore, latch: waits for peers.
    Meet,
    /// Makes or destroys an object.
    Manage,
}

/// How a call may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Blocking {
    /// Waits for another thread or a peer: condition, join, barrier, semaphore, futex, sleep, poll, accept, connect.
    /// A region over it is refused.
    Peer,
    /// Input or output on a descriptor: harmless on a file; on a pipe, socket or terminal the runtime gives up its holds.
    Descriptor,
}

/// The length of a range of memory that a call touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This many bytes.
    Bytes(u32),
    /// The value of this argument.
    Argument(u8),
    /// The product of these two arguments.
    Product(u8, u8),
    /// Up to and with the terminating zero of the string itself.
    String,
    /// As many as the string at this argument has, with its zero: what `strcpy` writes.
    StringAt(u8),
    /// The same, behind the string that is there, which counts too: what `strcat` does.
    Joined(u8),
    /// The same, of no more than the value of the second of these arguments.
    JoinedUpTo(u8, u8),
    /// Up to and with the terminating zero, but no more than the value of this argument.
    StringUpTo(u8),
    /// The same, but no more than so many bytes.
    StringWithin(u32),
    /// What the text of a number may go on with, and one more.
    Number,
    /// So many wide characters as this argument says.
    Wide(u8),
    /// The call's result, when positive: what `read` stored.
    Result,
    /// What `snprintf` stored: its result and the zero, at most this argument, and nothing when the result is negative.
    Printed(u8),
    /// All of the heap block that begins there: what the call gives back.
    Block,
}

/// One range that a call reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Which argument points to it.
    pub argument: u8,
    /// Whether it is written.
    pub rw: crate::pair::Rw,
    /// How long it is.
    pub length: Length,
    /// Whether it is accessed as an atomic object is.
    pub atomic: bool,
}

/// What we know of one external function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    /// Its linkage name.
    pub name: &'static str,
    /// Memory it touches on behalf of its caller, in this order. A call may be given a copy of what it only reads but for the last range: what it returns or
    /// stores may point into that one alone.
    pub ranges: &'static [Range],
    /// A synchronization operation, and which arguments point to its objects.
    pub sync: Option<(SyncOp, &'static [u8])>,
    /// Whether it may block.
    pub blocking: Option<Blocking>,
}

use crate::pair::Rw::{Read, Update, Write};
use Length::{
    Argument, Block, Bytes, Joined, JoinedUpTo, Number, Printed, Product, Result as Returned, String as Text, StringAt, StringUpTo as UpTo,
    Wide,
};
use SyncOp as S;

const fn reads(argument: u8, length: Length) -> Range {
    Range { argument, rw: Read, length, atomic: false }
}

const fn writes(argument: u8, length: Length) -> Range {
    Range { argument, rw: Write, length, atomic: false }
}

const fn updates(argument: u8, length: Length) -> Range {
    Range { argument, rw: Update, length, atomic: false }
}

/// An atomic object that the compiler has no instruction for, of as many bytes as the first argument says. It stands behind the buffers
/// that come with it, as it is what others see.
const fn atomically(rw: crate::pair::Rw) -> Range {
    Range { argument: 1, rw, length: Argument(0), atomic: true }
}

const fn memory(name: &'static str, ranges: &'static [Range]) -> External {
    External { name, ranges, sync: None, blocking: None }
}

const fn io(name: &'static str, ranges: &'static [Range]) -> External {
    External { name, ranges, sync: None, blocking: Some(Blocking::Descriptor) }
}

const fn peer_with(name: &'static str, ranges: &'static [Range]) -> External {
    External { name, ranges, sync: None, blocking: Some(Blocking::Peer) }
}

const fn peer(name: &'static str) -> External {
    External { name, ranges: &[], sync: None, blocking: Some(Blocking::Peer) }
}

const fn sync(name: &'static str, op: SyncOp, objects: &'static [u8]) -> External {
    External { name, ranges: &[], sync: Some((op, objects)), blocking: None }
}

const fn waits(name: &'static str, op: SyncOp, objects: &'static [u8]) -> External {
    External { name, ranges: &[], sync: Some((op, objects)), blocking: Some(Blocking::Peer) }
}

/// The table, sorted by name so that it can be searched; a test keeps it so.
static EXTERNALS: &[External] = &[
    peer("_ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE"),
    waits("_ZNSt18condition_variable10notify_allEv", S::Signal, &[0]).unblocked(),
    waits("_ZNSt18condition_variable10notify_oneEv", S::Signal, &[0]).unblocked(),
    waits("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", S::Wait, &[0, 1]),
    // What `std::future` waits by.
    peer(
        "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
    ),
    peer(
        "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
    ),
    waits("_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE", S::Create, &[0]).unblocked(),
    waits("_ZNSt6thread4joinEv", S::Join, &[0]),
    waits("_ZNSt6thread6detachEv", S::Manage, &[0]).unblocked(),
    // The libraries of C++ link nodes of lists and trees outside of the program: these nodes stand for their neighbours, which change too.
    memory("_ZNSt8__detail15_List_node_base10_M_reverseEv", &[updates(0, Bytes(16))]),
    memory("_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_", &[updates(0, Bytes(16)), updates(1, Bytes(16)), updates(2, Bytes(16))]),
    memory("_ZNSt8__detail15_List_node_base4swapERS0_S1_", &[updates(0, Bytes(16)), updates(1, Bytes(16))]),
    memory("_ZNSt8__detail15_List_node_base7_M_hookEPS0_", &[writes(0, Bytes(16)), updates(1, Bytes(16))]),
    memory("_ZNSt8__detail15_List_node_base9_M_unhookEv", &[updates(0, Bytes(16))]),
    memory("_ZSt11_Hash_bytesPKvmm", &[reads(0, Argument(1))]),
    memory("_ZSt15_Fnv_hash_bytesPKvmm", &[reads(0, Argument(1))]),
    memory("_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base", &[reads(0, Bytes(32))]),
    memory("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base", &[reads(0, Bytes(32))]),
    memory("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base", &[reads(0, Bytes(32))]),
    memory("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base", &[reads(0, Bytes(32))]),
    memory("_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_", &[updates(0, Bytes(32)), updates(1, Bytes(32))]),
    memory(
        "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_",
        &[writes(1, Bytes(32)), updates(2, Bytes(32)), updates(3, Bytes(32))],
    ),
    memory("_ZdaPv", &[writes(0, Block)]),
    memory("_ZdaPvRKSt9nothrow_t", &[writes(0, Block)]),
    memory("_ZdaPvSt11align_val_t", &[writes(0, Block)]),
    memory("_ZdaPvm", &[writes(0, Block)]),
    memory("_ZdaPvmSt11align_val_t", &[writes(0, Block)]),
    memory("_ZdlPv", &[writes(0, Block)]),
    memory("_ZdlPvRKSt9nothrow_t", &[writes(0, Block)]),
    memory("_ZdlPvSt11align_val_t", &[writes(0, Block)]),
    memory("_ZdlPvm", &[writes(0, Block)]),
    memory("_ZdlPvmSt11align_val_t", &[writes(0, Block)]),
    // What compilers call for an atomic object of a size that the processor has no instruction for.
    memory("__atomic_compare_exchange", &[updates(2, Argument(0)), reads(3, Argument(0)), atomically(Update)]),
    memory("__atomic_exchange", &[reads(2, Argument(0)), writes(3, Argument(0)), atomically(Update)]),
    memory("__atomic_load", &[writes(2, Argument(0)), atomically(Read)]),
    memory("__atomic_store", &[reads(2, Argument(0)), atomically(Write)]),
    io("__fgets_chk", &[writes(0, Argument(2))]),
    io("__fread_chk", &[writes(0, Product(2, 3))]),
    peer("accept"),
    peer("accept4"),
    peer("aio_suspend"),
    memory("asprintf", &[writes(0, Bytes(8))]),
    memory("atof", &[reads(0, Number)]),
    memory("atoi", &[reads(0, Number)]),
    memory("atol", &[reads(0, Number)]),
    memory("atoll", &[reads(0, Number)]),
    memory("bcmp", &[reads(0, Argument(2)), reads(1, Argument(2))]),
    sync("call_once", S::Manage, &[0]),
    peer("clock_nanosleep"),
    peer("cnd_timedwait"),
    peer("cnd_wait"),
    peer("connect"),
    memory("dprintf", &[]),
    peer("epoll_pwait"),
    peer("epoll_pwait2"),
    peer("epoll_wait"),
    peer("event_base_dispatch"),
    peer("event_base_loop"),
    peer("event_dispatch"),
    peer("event_loop"),
    io("fclose", &[]),
    io("fflush", &[]),
    io("fgets", &[writes(0, Argument(1))]),
    peer("flock"),
    memory("fprintf", &[]),
    io("fputs", &[reads(0, Text)]),
    io("fread", &[writes(0, Product(1, 2))]),
    memory("free", &[writes(0, Block)]),
    io("fscanf", &[]),
    io("fwrite", &[reads(0, Product(1, 2))]),
    peer("g_main_loop_run"),
    peer("getaddrinfo"),
    io("getdelim", &[updates(0, Bytes(8)), updates(1, Bytes(8))]),
    io("getline", &[updates(0, Bytes(8)), updates(1, Bytes(8))]),
    memory("gmtime_r", &[reads(0, Bytes(8)), writes(1, Bytes(56))]),
    memory("localtime_r", &[reads(0, Bytes(8)), writes(1, Bytes(56))]),
    peer("lockf"),
    memory("memchr", &[reads(0, Argument(2))]),
    memory("memcmp", &[reads(0, Argument(2)), reads(1, Argument(2))]),
    memory("memcpy", &[reads(1, Argument(2)), writes(0, Argument(2))]),
    memory("memmem", &[reads(2, Argument(3)), reads(0, Argument(1))]),
    memory("memmove", &[reads(1, Argument(2)), writes(0, Argument(2))]),
    memory("mempcpy", &[reads(1, Argument(2)), writes(0, Argument(2))]),
    memory("memrchr", &[reads(0, Argument(2))]),
    memory("memset", &[writes(0, Argument(2))]),
    memory("mktime", &[updates(0, Bytes(56))]),
    peer("mq_receive"),
    peer("mq_timedreceive"),
    peer("msgrcv"),
    peer("nanosleep"),
    peer("pause"),
    peer("pclose"),
    peer("poll"),
    peer("ppoll"),
    io("pread", &[writes(1, Returned)]),
    io("pread64", &[writes(1, Returned)]),
    memory("printf", &[]),
    peer("pselect"),
    sync("pthread_barrier_destroy", S::Manage, &[0]),
    sync("pthread_barrier_init", S::Manage, &[0]),
    waits("pthread_barrier_wait", S::Meet, &[0]),
    sync("pthread_cond_broadcast", S::Signal, &[0]),
    sync("pthread_cond_destroy", S::Manage, &[0]),
    sync("pthread_cond_init", S::Manage, &[0]),
    sync("pthread_cond_signal", S::Signal, &[0]),
    waits("pthread_cond_timedwait", S::Wait, &[0, 1]),
    waits("pthread_cond_wait", S::Wait, &[0, 1]),
    sync("pthread_create", S::Create, &[0]),
    waits("pthread_join", S::Join, &[]),
    sync("pthread_mutex_destroy", S::Manage, &[0]),
    sync("pthread_mutex_init", S::Manage, &[0]),
    sync("pthread_mutex_lock", S::Lock, &[0]),
    sync("pthread_mutex_timedlock", S::TryLock, &[0]),
    sync("pthread_mutex_trylock", S::TryLock, &[0]),
    sync("pthread_mutex_unlock", S::Unlock, &[0]),
    // It may wait for another thread that runs the initializer. Inference knows what that one takes and waits for, and where one runs the
    // runtime gives up its holds; all other calls do not wait.
    sync("pthread_once", S::Manage, &[0]),
    sync("pthread_rwlock_destroy", S::Manage, &[0]),
    sync("pthread_rwlock_init", S::Manage, &[0]),
    sync("pthread_rwlock_rdlock", S::ReadLock, &[0]),
    sync("pthread_rwlock_tryrdlock", S::TryReadLock, &[0]),
    sync("pthread_rwlock_trywrlock", S::TryLock, &[0]),
    sync("pthread_rwlock_unlock", S::Unlock, &[0]),
    sync("pthread_rwlock_wrlock", S::Lock, &[0]),
    sync("pthread_spin_destroy", S::Manage, &[0]),
    sync("pthread_spin_init", S::Manage, &[0]),
    sync("pthread_spin_lock", S::Lock, &[0]),
    sync("pthread_spin_trylock", S::TryLock, &[0]),
    sync("pthread_spin_unlock", S::Unlock, &[0]),
    memory("puts", &[reads(0, Text)]),
    io("pwrite", &[reads(1, Argument(2))]),
    io("pwrite64", &[reads(1, Argument(2))]),
    memory("qsort", &[updates(0, Product(1, 2))]),
    memory("rand_r", &[updates(0, Bytes(4))]),
    io("read", &[writes(1, Returned)]),
    // It may give the block back, and what was in it is elsewhere then.
    memory("realloc", &[updates(0, Block)]),
    memory("reallocarray", &[updates(0, Block)]),
    peer_with("recv", &[writes(1, Returned)]),
    peer_with("recvfrom", &[writes(1, Returned)]),
    peer("recvmsg"),
    io("scanf", &[]),
    peer("select"),
    waits("sem_clockwait", S::Meet, &[0]),
    sync("sem_destroy", S::Manage, &[0]),
    sync("sem_init", S::Manage, &[0]),
    sync("sem_post", S::Signal, &[0]),
    waits("sem_timedwait", S::Meet, &[0]),
    sync("sem_trywait", S::Manage, &[0]),
    waits("sem_wait", S::Meet, &[0]),
    peer("semop"),
    peer("semtimedop"),
    io("send", &[reads(1, Argument(2))]),
    io("sendmsg", &[]),
    io("sendto", &[reads(1, Argument(2))]),
    peer("sigsuspend"),
    peer("sigtimedwait"),
    peer("sigwait"),
    peer("sigwaitinfo"),
    peer("sleep"),
    memory("snprintf", &[writes(0, Printed(1))]),
    memory("sprintf", &[writes(0, Text)]),
    memory("sscanf", &[reads(0, Text)]),
    memory("stpcpy", &[reads(1, Text), writes(0, StringAt(1))]),
    memory("strcasecmp", &[reads(0, Text), reads(1, Text)]),
    memory("strcat", &[reads(1, Text), updates(0, Joined(1))]),
    memory("strchr", &[reads(0, Text)]),
    memory("strcmp", &[reads(0, Text), reads(1, Text)]),
    memory("strcpy", &[reads(1, Text), writes(0, StringAt(1))]),
    memory("strcspn", &[reads(0, Text), reads(1, Text)]),
    memory("strdup", &[reads(0, Text)]),
    memory("strftime", &[reads(2, Text), reads(3, Bytes(56)), writes(0, Returned)]),
    memory("strlen", &[reads(0, Text)]),
    memory("strncasecmp", &[reads(0, UpTo(2)), reads(1, UpTo(2))]),
    memory("strncat", &[reads(1, UpTo(2)), updates(0, JoinedUpTo(1, 2))]),
    memory("strncmp", &[reads(0, UpTo(2)), reads(1, UpTo(2))]),
    memory("strncpy", &[reads(1, UpTo(2)), writes(0, Argument(2))]),
    memory("strndup", &[reads(0, UpTo(1))]),
    memory("strnlen", &[reads(0, UpTo(1))]),
    memory("strpbrk", &[reads(1, Text), reads(0, Text)]),
    memory("strrchr", &[reads(0, Text)]),
    // What they cut up is known to nobody but them.
    memory("strsep", &[updates(0, Bytes(8))]),
    memory("strspn", &[reads(0, Text), reads(1, Text)]),
    memory("strstr", &[reads(1, Text), reads(0, Text)]),
    memory("strtod", &[reads(0, Number)]),
    memory("strtof", &[reads(0, Number)]),
    memory("strtok_r", &[updates(2, Bytes(8))]),
    memory("strtol", &[reads(0, Number)]),
    memory("strtold", &[reads(0, Number)]),
    memory("strtoll", &[reads(0, Number)]),
    memory("strtoul", &[reads(0, Number)]),
    memory("strtoull", &[reads(0, Number)]),
    // Unless its arguments say what is wanted of the kernel (`raw_call_waits`).
    peer("syscall"),
    peer("system"),
    peer("thrd_join"),
    peer("thrd_sleep"),
    peer("usleep"),
    peer("uv_run"),
    memory("vsnprintf", &[writes(0, Printed(1))]),
    memory("vsprintf", &[writes(0, Text)]),
    peer("wait"),
    peer("wait3"),
    peer("wait4"),
    peer("waitid"),
    peer("waitpid"),
    memory("wmemcmp", &[reads(0, Wide(2)), reads(1, Wide(2))]),
    memory("wmemcpy", &[reads(1, Wide(2)), writes(0, Wide(2))]),
    memory("wmemmove", &[reads(1, Wide(2)), writes(0, Wide(2))]),
    memory("wmemset", &[writes(0, Wide(2))]),
    io("write", &[reads(1, Argument(2))]),
    io("writev", &[]),
];

impl External {
    /// The same operation, when it does not wait.
    const fn unblocked(self) -> Self {
        Self { blocking: None, ..self }
    }
}

/// What we know of the external function of this name.
#[must_use]
pub fn lookup(name: &str) -> Option<&'static External> {
    row(EXTERNALS, name, |external| external.name)
}

/// The function of which this is a variant, or itself. Headers call variants in its stead: those that scan as newer standards want it, and those that
/// check how long buffers are (`_FORTIFY_SOURCE`).
///
/// What tables say of a function they say of its variants too. One has a row of its own only where its arguments are others.
#[must_use]
pub fn plain(name: &str) -> &str {
    let scans = ["__isoc99_", "__isoc23_"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
    scans.or_else(|| name.strip_prefix("__")?.strip_suffix("_chk")).unwrap_or(name)
}

/// The row of a sorted table that tells of a function.
fn row<T>(table: &'static [T], name: &str, name_of: impl Fn(&T) -> &'static str) -> Option<&'static T> {
    let find = |name| table.binary_search_by(|row| name_of(row).cmp(name)).ok().map(|index| &table[index]);
    find(name).or_else(|| find(plain(name)))
}

/// Whether an external function of this name gives back a block of the heap, or may.
#[must_use]
pub fn gives_back(name: &str) -> bool {
    lookup(name).is_some_and(|known| known.ranges.iter().any(|range| range.length == Block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_name_is_found() {
        assert!(EXTERNALS.windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(EXTERNALS.iter().all(|external| lookup(external.name) == Some(external)));
        assert_eq!(lookup("no_such_function"), None);
    }

    #[test]
    fn variants_have_rows_only_where_they_say_something_else() {
        let is_said = |row: &External| {
            let of = lookup(plain(row.name)).filter(|of| of.name != row.name);
            of.is_some_and(|of| External { name: row.name, ..*of } == *row)
        };
        assert_eq!(EXTERNALS.iter().find(|row| is_said(row)), None);
        assert_eq!(
            ["__isoc23_strtol", "__strcpy_chk", "__stack_chk_fail", "read"].map(plain),
            ["strtol", "strcpy", "__stack_chk_fail", "read"]
        );
        assert_eq!((lookup("__read_chk"), lookup("__chk")), (lookup("read"), None));
    }
}
