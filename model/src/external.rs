//! What code outside the program does, as far as we know it: one table, used by the recording and gating instrumentation,
//! by inference and by the runtime alike (memory touched, synchronization, blocking, allocation).
//!
//! An external function that is not in the table is assumed to touch nothing of the program's; a report names such calls.

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
    /// The call's result, when positive: what `read` stored.
    Result,
    /// What `snprintf` stored: its result and the zero, at most this argument, and nothing when the result is negative.
    Printed(u8),
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
}

/// What we know of one external function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    /// Its linkage name.
    pub name: &'static str,
    /// Memory it touches on behalf of its caller.
    pub ranges: &'static [Range],
    /// A synchronization operation, and which arguments point to its objects.
    pub sync: Option<(SyncOp, &'static [u8])>,
    /// Whether it may block.
    pub blocking: Option<Blocking>,
}

use crate::pair::Rw::{Read, Update, Write};
use Length::{Argument, Bytes, Printed, Product, Result as Returned, String as Text, StringAt};
use SyncOp as S;

const fn reads(argument: u8, length: Length) -> Range {
    Range { argument, rw: Read, length }
}

const fn writes(argument: u8, length: Length) -> Range {
    Range { argument, rw: Write, length }
}

const fn memory(name: &'static str, ranges: &'static [Range]) -> External {
    External { name, ranges, sync: None, blocking: None }
}

const fn io(name: &'static str, ranges: &'static [Range]) -> External {
    External { name, ranges, sync: None, blocking: Some(Blocking::Descriptor) }
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
pub static EXTERNALS: &[External] = &[
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
    peer("accept"),
    peer("accept4"),
    peer("aio_suspend"),
    memory("bcmp", &[reads(0, Argument(2)), reads(1, Argument(2))]),
    sync("call_once", S::Manage, &[0]),
    peer("clock_nanosleep"),
    peer("cnd_timedwait"),
    peer("cnd_wait"),
    peer("connect"),
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
    io("fputs", &[reads(0, Text)]),
    io("fread", &[writes(0, Product(1, 2))]),
    io("fwrite", &[reads(0, Product(1, 2))]),
    peer("g_main_loop_run"),
    peer("getaddrinfo"),
    peer("lockf"),
    memory("memchr", &[reads(0, Argument(2))]),
    memory("memcmp", &[reads(0, Argument(2)), reads(1, Argument(2))]),
    memory("memcpy", &[reads(1, Argument(2)), writes(0, Argument(2))]),
    memory("memmove", &[reads(1, Argument(2)), writes(0, Argument(2))]),
    memory("memset", &[writes(0, Argument(2))]),
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
    io("pwrite", &[reads(1, Argument(2))]),
    io("pwrite64", &[reads(1, Argument(2))]),
    memory("qsort", &[Range { argument: 0, rw: Update, length: Product(1, 2) }]),
    io("read", &[writes(1, Returned)]),
    peer("recv"),
    peer("recvfrom"),
    peer("recvmsg"),
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
    memory("stpcpy", &[reads(1, Text), writes(0, StringAt(1))]),
    memory("strcat", &[reads(1, Text), Range { argument: 0, rw: Update, length: Text }]),
    memory("strchr", &[reads(0, Text)]),
    memory("strcmp", &[reads(0, Text), reads(1, Text)]),
    memory("strcpy", &[reads(1, Text), writes(0, StringAt(1))]),
    memory("strdup", &[reads(0, Text)]),
    memory("strlen", &[reads(0, Text)]),
    memory("strncmp", &[reads(0, Bytes(1)), reads(1, Bytes(1))]),
    memory("strncpy", &[writes(0, Argument(2))]),
    memory("strrchr", &[reads(0, Text)]),
    memory("strtol", &[reads(0, Bytes(1))]),
    memory("strtoul", &[reads(0, Bytes(1))]),
    // Unless its arguments say what is wanted of the kernel (`raw_call_waits`).
    peer("syscall"),
    peer("system"),
    peer("thrd_join"),
    peer("thrd_sleep"),
    peer("usleep"),
    peer("uv_run"),
    memory("vsnprintf", &[writes(0, Printed(1))]),
    peer("wait"),
    peer("wait3"),
    peer("wait4"),
    peer("waitid"),
    peer("waitpid"),
    io("write", &[reads(1, Argument(2))]),
    io("writev", &[]),
];

impl External {
    /// The same operation, when it does not wait.
    const fn unblocked(self) -> Self {
        Self { blocking: None, ..self }
    }
}

/// Functions outside the table that are known to return soon: they allocate, format, compare, convert, fail, tell the time, or say something
/// of a descriptor.
#[rustfmt::skip]
static QUICK: &[&str] = &[
    "__assert_fail", "__errno_location", "_exit", "abort", "aligned_alloc", "atoi", "atol", "calloc", "clock_gettime", "epoll_create1",
    "epoll_ctl", "eventfd", "exit", "fprintf", "fputc", "free", "getenv", "getpeername", "getpid", "getsockname", "getsockopt",
    "gettimeofday", "isalnum", "listen", "localtime_r", "malloc", "memrchr", "perror", "posix_memalign", "printf", "pthread_getspecific",
    "pthread_self", "pthread_setspecific", "putchar", "puts", "rand", "random", "realloc", "setsockopt", "shutdown", "srand", "strcasecmp",
    "strerror", "strftime", "strncasecmp", "strndup", "strstr", "strtod", "strtoll", "strtoull", "time", "tolower", "toupper", "vfprintf",
    "vprintf",
];

/// Whether an external function is known to return soon: by the tables here, as an intrinsic of the compiler, or as a part of the C++
/// library that is inlined, allocates, formats or throws, and reads no stream.
#[must_use]
pub fn is_quick(name: &str) -> bool {
    const READING: [&str; 2] = ["basic_istream", "getline"];
    const LIBRARY: [&str; 9] = ["llvm.", "_ZNSt", "_ZNKSt", "_ZSt", "_Zn", "_Zd", "__cxa_", "__clang_", "_Unwind_"];
    lookup(name).is_some()
        || QUICK.binary_search(&name).is_ok()
        || (LIBRARY.iter().any(|prefix| name.starts_with(prefix)) && !READING.iter().any(|part| name.contains(part)))
}

/// Whether a raw system call may wait for another thread or a peer, on x86-64: this number, and for `futex` this operation where it is known.
/// Any other call that is not known to return at once may.
#[must_use]
pub fn raw_call_waits(number: i64, operation: Option<i64>) -> bool {
    const FUTEX: i64 = 202;
    /// getpid, sched_yield, gettid, tkill, tgkill, getcpu, getrandom, memfd_create, membarrier.
    const QUICK: [i64; 9] = [39, 24, 186, 200, 234, 309, 318, 319, 324];
    /// Wake, requeue, compare and requeue, wake and change, unlock, try to lock, wake some.
    const WAKING: [i64; 7] = [1, 3, 4, 5, 7, 8, 10];
    // The other bits say whether the word is shared between processes, and which clock counts.
    let operation = operation.map(|operation| operation & 0x7f);
    !(QUICK.contains(&number) || (number == FUTEX && operation.is_some_and(|operation| WAKING.contains(&operation))))
}

/// What may make an external function return something else when it is called again, though nothing that hooks see has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Unseen {
    /// Nothing does, or exploration models it: time, signals, files by descriptor.
    Nothing = 0,
    /// It draws random numbers.
    Numbers = 1,
    /// It keeps state of its own, as a stream that is read or a library that is not captured does.
    State = 2,
}

impl Unseen {
    /// The inverse of `as u32`.
    #[must_use]
    pub fn from_abi(code: u32) -> Option<Self> {
        [Self::Nothing, Self::Numbers, Self::State].into_iter().find(|unseen| *unseen as u32 == code)
    }
}

/// What an external function's next result may depend on besides memory that hooks see. What only writes a stream counts as `Nothing`: its
/// output does not come back.
#[must_use]
pub fn unseen(name: &str) -> Unseen {
    const NUMBERS: [&str; 16] = [
        "arc4random",
        "arc4random_uniform",
        "drand48",
        "drand48_r",
        "erand48",
        "jrand48",
        "lrand48",
        "lrand48_r",
        "mrand48",
        "nrand48",
        "rand",
        "rand_r",
        "random",
        "random_r",
        "rdrand",
        "srand",
    ];
    const OF_THREADS: [&str; 6] = ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_"];
    const STREAMS: [&str; 3] = ["stream", "filebuf", "getline"];
    if NUMBERS.contains(&name) || name.contains("random_device") {
        return Unseen::Numbers;
    }
    let is_cpp = name.starts_with("_Z");
    let quiet = match lookup(name) {
        Some(known) => known.blocking.is_none() || !(LOOPS.contains(&name) || INPUT.contains(&name)),
        None if is_cpp => is_quick(name) && !STREAMS.iter().any(|stream| name.contains(stream)),
        None => is_quick(name) || OF_THREADS.iter().any(|prefix| name.starts_with(prefix)) || CALLS.binary_search(&name).is_ok(),
    };
    if quiet { Unseen::Nothing } else { Unseen::State }
}

/// Loops of libraries that call back.
const LOOPS: [&str; 6] = ["event_base_dispatch", "event_base_loop", "event_dispatch", "event_loop", "g_main_loop_run", "uv_run"];

/// Functions of the table that read what was read ahead.
const INPUT: [&str; 2] = ["fgets", "fread"];

/// Functions outside the tables that hand on to the kernel, or tell what does not change.
#[rustfmt::skip]
static CALLS: &[&str] = &[
    "_Exit", "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__cxa_thread_atexit_impl", "__fprintf_chk", "__isoc99_sscanf",
    "__memcpy_chk", "__memmove_chk", "__memset_chk", "__printf_chk", "__sched_yield", "__snprintf_chk", "__sprintf_chk", "__strcat_chk",
    "__strcpy_chk", "__vfprintf_chk", "__vsnprintf_chk", "abs", "alarm", "asprintf", "atan", "atan2", "atexit", "atof", "atoll", "bsearch",
    "cbrt", "ceil", "clock", "cos", "difftime", "dprintf", "exp", "fabs", "ffs", "fileno", "floor", "fmax", "fmin", "fmod", "fork", "frexp",
    "get_nprocs", "get_nprocs_conf", "getegid", "geteuid", "getgid", "getpagesize", "getppid", "gettid", "getuid", "htonl", "htons", "hypot",
    "inet_ntop", "inet_pton", "isalpha", "isatty", "isdigit", "islower", "isprint", "ispunct", "isspace", "isupper", "isxdigit", "kill", "labs",
    "ldexp", "llabs", "log", "log10", "log2", "lrint", "lround", "malloc_usable_size", "memalign", "memccpy", "memmem", "mempcpy", "mktime",
    "modf", "nearbyint", "nice", "ntohl", "ntohs", "popen", "posix_spawn", "posix_spawnp", "pow", "putc", "pvalloc", "qsort_r", "raise",
    "rawmemchr", "reallocarray", "rint", "round", "sched_yield", "setbuf", "setitimer", "setvbuf", "sigaction", "sigaddset", "sigdelset",
    "sigemptyset", "sigfillset", "signal", "sigprocmask", "sin", "sqrt", "sscanf", "strcoll", "strcspn", "strerror_r", "strncat", "strnlen",
    "strpbrk", "strsignal", "strspn", "strtof", "strtold", "sysconf", "tan", "timespec_get", "trunc", "umask", "valloc", "vasprintf",
    "vfork", "wcslen",
];

/// Whether an external function ends the process: what follows it never runs.
#[must_use]
pub fn ends_the_process(name: &str) -> bool {
    const ENDING: [&str; 14] = [
        "_Exit",
        "__assert_fail",
        "__assert_perror_fail",
        "__fortify_fail",
        "__stack_chk_fail",
        "_exit",
        "abort",
        "err",
        "errx",
        "exit",
        "quick_exit",
        "verr",
        "verrx",
        "_ZSt9terminatev",
    ];
    ENDING.contains(&name)
}

/// Whether an external function may throw an exception of C++: as those of C++ may, by their names, and those that do nothing else.
#[must_use]
pub fn may_throw(name: &str) -> bool {
    const THROWING: [&str; 3] = ["__cxa_rethrow", "__cxa_throw", "_Unwind_"];
    !ends_the_process(name) && (name.starts_with("_Z") || THROWING.iter().any(|prefix| name.starts_with(prefix)))
}

/// Functions that start no thread, besides those of which the tables say more.
#[rustfmt::skip]
static SINGLE: &[&str] = &[
    "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__isoc23_sscanf", "__isoc23_strtol", "__isoc23_strtoll",
    "__isoc23_strtoul", "__isoc23_strtoull", "__isoc99_sscanf", "__sysv_signal", "abs", "access", "atexit", "atof", "atoll", "bind",
    "chdir", "chmod", "chown", "clock", "close", "closedir", "dup", "dup2", "event_add", "event_assign", "event_base_get_method",
    "event_base_new", "event_base_new_with_config", "event_base_set", "event_config_avoid_method", "event_config_free",
    "event_config_new", "event_config_set_flag", "event_del", "event_get_method", "event_get_version", "event_init", "event_new",
    "event_set", "fchmod", "fchown", "fcntl", "fdopen", "feof", "ferror", "fgetc", "fileno", "fopen", "fopen64", "fork", "freeaddrinfo",
    "fseek", "fseeko", "fstat", "fstat64", "fsync", "ftell", "ftello", "ftruncate", "get_nprocs", "getc", "getchar", "getcwd",
    "getegid", "getentropy", "geteuid", "getgid", "getgrgid", "getgrnam", "gethostname", "getline", "getopt", "getopt_long",
    "getpagesize", "getppid", "getpwnam", "getpwuid", "getrandom", "getrlimit", "getrusage", "getsubopt", "getuid", "gmtime",
    "gmtime_r", "initgroups", "isalpha", "isatty", "isdigit", "isspace", "isupper", "kill", "labs", "localtime", "lseek", "lseek64",
    "lstat", "lstat64", "madvise", "mkdir", "mkstemp", "mktime", "mlock", "mlockall", "mmap", "mmap64", "mprotect", "munmap", "nice",
    "open", "open64", "opendir", "pipe", "pipe2", "posix_fadvise", "prctl", "pthread_attr_destroy", "pthread_attr_getstacksize",
    "pthread_attr_init", "pthread_attr_setdetachstate", "pthread_attr_setstacksize", "pthread_condattr_destroy",
    "pthread_condattr_init", "pthread_condattr_setclock", "pthread_key_create", "pthread_mutexattr_destroy", "pthread_mutexattr_init",
    "pthread_mutexattr_settype", "pthread_rwlockattr_init", "pthread_setname_np", "pthread_sigmask", "putc", "raise", "random_r",
    "readdir", "readlink", "realpath", "remove", "rename", "rewind", "rmdir", "sched_getaffinity", "setbuf", "setegid", "setenv",
    "seteuid", "setgid", "setgroups", "setlinebuf", "setlocale", "setrlimit", "setsid", "setuid", "setvbuf", "sigaction", "sigaddset",
    "sigaltstack", "sigdelset", "sigemptyset", "sigfillset", "signal", "sigprocmask", "socket", "srandom", "sscanf", "stat", "stat64",
    "strcspn", "strerror_r", "strpbrk", "strsep", "strspn", "strtok", "strtok_r", "strtoumax", "sysconf", "times", "tzset", "umask",
    "uname", "ungetc", "unlink", "unsetenv", "utime", "utimes", "vsprintf",
];

/// Functions that make a function of the program run when a signal comes: on the thread that gets it, at any time from then on.
static HANDLER_SETTERS: &[&str] = &["__sysv_signal", "bsd_signal", "sigaction", "signal", "sigset"];

/// Whether a call of an external function makes one of the program's run at any time from then on, by a signal.
#[must_use]
pub fn sets_signal_handler(name: &str) -> bool {
    HANDLER_SETTERS.contains(&name)
}

/// Whether a call of an external function is known to start no thread, nor to run code of the program that might, other than what it is
/// handed and calls back before it returns, and handlers of signals.
#[must_use]
pub fn starts_no_thread(name: &str) -> bool {
    const STARTERS: [&str; 4] = ["call_once", "pthread_create", "pthread_once", "thrd_create"];
    // They call what the program registered.
    // Of the C++ library: `std::thread`, `std::async` and what belongs to them.
    let of_threads = name.starts_with("_Z") && ["thread", "async", "future"].iter().any(|part| name.contains(part));
    !STARTERS.contains(&name) && !LOOPS.contains(&name) && !of_threads && (is_quick(name) || SINGLE.binary_search(&name).is_ok())
}

/// Whether a function has the name of a library's, so that the libraries call it where a program defines one of its own: `malloc`, or
/// an operator of C++ that allocates.
#[must_use]
pub fn is_of_libraries(name: &str) -> bool {
    let listed = lookup(name).is_some() || QUICK.binary_search(&name).is_ok() || SINGLE.binary_search(&name).is_ok();
    listed || ["_Znw", "_Zna", "_Zdl", "_Zda"].iter().any(|operator| name.starts_with(operator))
}

/// What we know of the external function of this name.
#[must_use]
pub fn lookup(name: &str) -> Option<&'static External> {
    EXTERNALS.binary_search_by(|external| external.name.cmp(name)).ok().map(|index| &EXTERNALS[index])
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
    fn functions_with_state_of_their_own_are_told_from_those_that_are_modeled_or_have_none() {
        assert!(CALLS.is_sorted() && CALLS.iter().all(|name| unseen(name) == Unseen::Nothing));
        for name in
            ["memcpy", "pthread_yield", "sem_wait", "usleep", "clock_gettime", "printf", "_ZNSt6chrono3_V212steady_clock3nowEv", "_Znwm"]
        {
            assert_eq!(unseen(name), Unseen::Nothing, "{name}");
        }
        for name in ["rand", "_ZNSt13random_device9_M_getvalEv"] {
            assert_eq!(unseen(name), Unseen::Numbers, "{name}");
        }
        for name in ["fgetc", "fgets", "strtok", "inflate", "event_base_loop", "_ZSt7getlineIcE", "_ZNSi3getEv", "_ZNSt13basic_filebufIcE"]
        {
            assert_eq!(unseen(name), Unseen::State, "{name}");
        }
        for code in [Unseen::Nothing, Unseen::Numbers, Unseen::State] {
            assert_eq!(Unseen::from_abi(code as u32), Some(code));
        }
    }

    #[test]
    fn raw_calls_wait_unless_they_are_known_not_to() {
        assert!(raw_call_waits(202, Some(0x80)) && raw_call_waits(202, Some(9)) && raw_call_waits(202, None) && raw_call_waits(23, None));
        assert!(!raw_call_waits(202, Some(0x81)) && !raw_call_waits(186, None));
    }

    #[test]
    fn what_starts_threads_is_not_among_what_does_not() {
        assert!(SINGLE.is_sorted() && SINGLE.iter().all(|name| starts_no_thread(name)));
        assert!(starts_no_thread("calloc") && starts_no_thread("pthread_mutex_init") && starts_no_thread("_ZNSt6vectorIiE"));
        for starter in ["pthread_create", "pthread_once", "thrd_create", "_ZNSt6thread15_M_start_threadE", "event_base_loop"] {
            assert!(!starts_no_thread(starter), "{starter}");
        }
    }

    #[test]
    fn quick_functions_are_sorted_and_long_ones_are_not_among_them() {
        assert!(QUICK.is_sorted() && QUICK.iter().all(|name| is_quick(name)));
        assert!(!is_quick("_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE"));
        assert!(is_quick("memcpy") && is_quick("llvm.memcpy") && is_quick("_Znwm") && !is_quick("BZ2_bzBuffToBuffCompress"));
    }
}
