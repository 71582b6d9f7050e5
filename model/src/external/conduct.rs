//! How functions outside the program conduct themselves: whether they return soon, start threads, throw, end the process, or keep state
//! that no hook sees. The memory they touch, and how they synchronize and wait, is in the table of `external`.
//!
//! A function that is not known may do any of these, but for throwing and ending the process.

use super::{lookup, plain, row};

/// What is known of a function outside the table of `external`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Conduct {
    /// It returns soon.
    quick: bool,
    /// It starts no thread.
    single: bool,
    /// Its next result depends on nothing but memory that hooks see and what exploration models.
    plain: bool,
}

const UNKNOWN: Conduct = Conduct { quick: false, single: false, plain: false };
/// It allocates, formats, compares, converts, fails, tells the time, or says something of a descriptor.
const QUICK: Conduct = Conduct { quick: true, single: true, plain: true };
const SINGLE: Conduct = Conduct { single: true, ..UNKNOWN };
/// It hands on to the kernel, or tells what does not change.
const PLAIN: Conduct = Conduct { plain: true, ..UNKNOWN };
/// It draws random numbers.
const DRAWS: Conduct = Conduct { plain: false, ..QUICK };
const BOTH: Conduct = Conduct { quick: false, ..QUICK };

/// Sorted by name, so that it can be searched.
#[rustfmt::skip]
static CONDUCT: &[(&str, Conduct)] = &[
    ("_Exit", PLAIN), ("__assert_fail", QUICK), ("__ctype_b_loc", BOTH), ("__ctype_tolower_loc", BOTH), ("__ctype_toupper_loc", BOTH),
    ("__cxa_thread_atexit_impl", PLAIN), ("__errno_location", QUICK), ("__sched_yield", PLAIN), ("__sysv_signal", SINGLE),
    ("_exit", QUICK), ("abort", QUICK), ("abs", BOTH), ("access", SINGLE), ("alarm", PLAIN),
    ("aligned_alloc", QUICK), ("atan", PLAIN), ("atan2", PLAIN), ("atexit", BOTH), ("bind", SINGLE),
    ("bsearch", PLAIN), ("calloc", QUICK), ("cbrt", PLAIN), ("ceil", PLAIN), ("chdir", SINGLE), ("chmod", SINGLE), ("chown", SINGLE),
    ("clock", BOTH), ("clock_gettime", QUICK), ("close", SINGLE), ("closedir", SINGLE), ("cos", PLAIN), ("difftime", PLAIN),
    ("dup", SINGLE), ("dup2", SINGLE), ("epoll_create1", QUICK), ("epoll_ctl", QUICK), ("event_add", SINGLE), ("event_assign", SINGLE),
    ("event_base_get_method", SINGLE), ("event_base_new", SINGLE), ("event_base_new_with_config", SINGLE), ("event_base_set", SINGLE),
    ("event_config_avoid_method", SINGLE), ("event_config_free", SINGLE), ("event_config_new", SINGLE), ("event_config_set_flag", SINGLE),
    ("event_del", SINGLE), ("event_get_method", SINGLE), ("event_get_version", SINGLE), ("event_init", SINGLE), ("event_new", SINGLE),
    ("event_set", SINGLE), ("eventfd", QUICK), ("exit", QUICK), ("exp", PLAIN), ("fabs", PLAIN), ("fchmod", SINGLE), ("fchown", SINGLE),
    ("fcntl", SINGLE), ("fdopen", SINGLE), ("feof", SINGLE), ("ferror", SINGLE), ("ffs", PLAIN), ("fgetc", SINGLE), ("fileno", BOTH),
    ("floor", PLAIN), ("fmax", PLAIN), ("fmin", PLAIN), ("fmod", PLAIN), ("fopen", SINGLE), ("fopen64", SINGLE), ("fork", BOTH),
    ("fputc", QUICK), ("freeaddrinfo", SINGLE), ("frexp", PLAIN), ("fseek", SINGLE), ("fseeko", SINGLE), ("fstat", SINGLE),
    ("fstat64", SINGLE), ("fsync", SINGLE), ("ftell", SINGLE), ("ftello", SINGLE), ("ftruncate", SINGLE), ("get_nprocs", BOTH),
    ("get_nprocs_conf", PLAIN), ("getc", SINGLE), ("getchar", SINGLE), ("getcwd", SINGLE), ("getegid", BOTH), ("getentropy", SINGLE),
    ("getenv", QUICK), ("geteuid", BOTH), ("getgid", BOTH), ("getgrgid", SINGLE), ("getgrnam", SINGLE), ("gethostname", SINGLE),
    ("getopt", SINGLE), ("getopt_long", SINGLE), ("getpagesize", BOTH), ("getpeername", QUICK), ("getpid", QUICK), ("getppid", BOTH),
    ("getpwnam", SINGLE), ("getpwuid", SINGLE), ("getrandom", SINGLE), ("getrlimit", SINGLE), ("getrusage", SINGLE), ("getsockname", QUICK),
    ("getsockopt", QUICK), ("getsubopt", SINGLE), ("gettid", PLAIN), ("gettimeofday", QUICK), ("getuid", BOTH), ("gmtime", SINGLE),
    ("htonl", PLAIN), ("htons", PLAIN), ("hypot", PLAIN), ("inet_ntop", PLAIN), ("inet_pton", PLAIN), ("initgroups", SINGLE),
    ("isalnum", QUICK), ("isalpha", BOTH), ("isatty", BOTH), ("isdigit", BOTH), ("islower", PLAIN), ("isprint", PLAIN), ("ispunct", PLAIN),
    ("isspace", BOTH), ("isupper", BOTH), ("isxdigit", PLAIN), ("kill", BOTH), ("labs", BOTH), ("ldexp", PLAIN), ("listen", QUICK),
    ("llabs", PLAIN), ("localtime", SINGLE), ("log", PLAIN), ("log10", PLAIN), ("log2", PLAIN), ("lrint", PLAIN), ("lround", PLAIN),
    ("lseek", SINGLE), ("lseek64", SINGLE), ("lstat", SINGLE), ("lstat64", SINGLE), ("madvise", SINGLE), ("malloc", QUICK),
    ("malloc_usable_size", PLAIN), ("memalign", PLAIN), ("memccpy", PLAIN), ("mkdir", SINGLE), ("mkstemp", SINGLE), ("mlock", SINGLE),
    ("mlockall", SINGLE), ("mmap", SINGLE), ("mmap64", SINGLE), ("modf", PLAIN), ("mprotect", SINGLE), ("munmap", SINGLE),
    ("nearbyint", PLAIN), ("nice", BOTH), ("ntohl", PLAIN), ("ntohs", PLAIN), ("open", SINGLE), ("open64", SINGLE), ("opendir", SINGLE),
    ("perror", QUICK), ("pipe", SINGLE), ("pipe2", SINGLE), ("popen", PLAIN), ("posix_fadvise", SINGLE), ("posix_memalign", QUICK),
    ("posix_spawn", PLAIN), ("posix_spawnp", PLAIN), ("pow", PLAIN), ("prctl", SINGLE), ("pthread_attr_destroy", SINGLE),
    ("pthread_attr_getstacksize", SINGLE), ("pthread_attr_init", SINGLE), ("pthread_attr_setdetachstate", SINGLE),
    ("pthread_attr_setstacksize", SINGLE), ("pthread_condattr_destroy", SINGLE), ("pthread_condattr_init", SINGLE),
    ("pthread_condattr_setclock", SINGLE), ("pthread_getspecific", QUICK), ("pthread_key_create", SINGLE),
    ("pthread_mutexattr_destroy", SINGLE), ("pthread_mutexattr_init", SINGLE), ("pthread_mutexattr_settype", SINGLE),
    ("pthread_rwlockattr_init", SINGLE), ("pthread_self", QUICK), ("pthread_setname_np", SINGLE), ("pthread_setspecific", QUICK),
    ("pthread_sigmask", SINGLE), ("pthread_sigqueue", PLAIN), ("putc", BOTH), ("putchar", QUICK), ("pvalloc", PLAIN), ("qsort_r", PLAIN),
    ("raise", BOTH), ("rand", DRAWS), ("random", DRAWS), ("random_r", SINGLE), ("rawmemchr", PLAIN), ("readdir", SINGLE),
    ("readlink", SINGLE), ("realpath", SINGLE), ("remove", SINGLE), ("rename", SINGLE), ("rewind", SINGLE), ("rint", PLAIN),
    ("rmdir", SINGLE), ("round", PLAIN), ("sched_getaffinity", SINGLE), ("sched_yield", PLAIN), ("setbuf", BOTH), ("setegid", SINGLE),
    ("setenv", SINGLE), ("seteuid", SINGLE), ("setgid", SINGLE), ("setgroups", SINGLE), ("setitimer", PLAIN), ("setlinebuf", SINGLE),
    ("setlocale", SINGLE), ("setrlimit", SINGLE), ("setsid", SINGLE), ("setsockopt", QUICK), ("setuid", SINGLE), ("setvbuf", BOTH),
    ("shutdown", QUICK), ("sigaction", BOTH), ("sigaddset", BOTH), ("sigaltstack", SINGLE), ("sigdelset", BOTH), ("sigemptyset", BOTH),
    ("sigfillset", BOTH), ("signal", BOTH), ("sigprocmask", BOTH), ("sin", PLAIN), ("socket", SINGLE), ("sqrt", PLAIN), ("srand", DRAWS),
    ("srandom", SINGLE), ("stat", SINGLE), ("stat64", SINGLE), ("strcoll", PLAIN), ("strerror", QUICK), ("strerror_r", BOTH),
    ("strsignal", PLAIN), ("strtok", SINGLE), ("strtoumax", SINGLE), ("sysconf", BOTH), ("tan", PLAIN), ("time", QUICK), ("times", SINGLE),
    ("timespec_get", PLAIN), ("tolower", QUICK), ("toupper", QUICK), ("trunc", PLAIN), ("tzset", SINGLE), ("umask", BOTH),
    ("uname", SINGLE), ("ungetc", SINGLE), ("unlink", SINGLE), ("unsetenv", SINGLE), ("utime", SINGLE), ("utimes", SINGLE),
    ("valloc", PLAIN), ("vasprintf", PLAIN), ("vfork", PLAIN), ("vfprintf", QUICK), ("vprintf", QUICK), ("wcslen", PLAIN),
];

/// What is known of this function.
fn conduct(name: &str) -> Conduct {
    row(CONDUCT, name, |(known, _)| known).map_or(UNKNOWN, |(_, conduct)| *conduct)
}

/// Whether a function is known as one of the C library's.
pub(super) fn is_of_c(name: &str) -> bool {
    const OTHERS: &str = "event_";
    (conduct(name) != UNKNOWN || lookup(name).is_some()) && !name.starts_with(OTHERS) && !LOOPS.contains(&name)
}

/// Whether a function is one of C's for threads, by its name.
pub(super) fn is_of_threads(name: &str) -> bool {
    ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether an external function is known to return soon: by the tables here, as an intrinsic of the compiler, or as a part of the C++
/// library that is inlined, allocates, formats or throws, and reads no stream.
#[must_use]
pub fn is_quick(name: &str) -> bool {
    const READING: [&str; 2] = ["basic_istream", "getline"];
    const LIBRARY: [&str; 9] = ["llvm.", "_ZNSt", "_ZNKSt", "_ZSt", "_Zn", "_Zd", "__cxa_", "__clang_", "_Unwind_"];
    lookup(name).is_some()
        || conduct(name).quick
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
    const STREAMS: [&str; 3] = ["stream", "filebuf", "getline"];
    if NUMBERS.contains(&name) || name.contains("random_device") {
        return Unseen::Numbers;
    }
    let is_cpp = name.starts_with("_Z");
    let quiet = match lookup(name) {
        Some(known) => known.blocking.is_none() || !(LOOPS.contains(&name) || INPUT.contains(&plain(name))),
        None if is_cpp => is_quick(name) && !STREAMS.iter().any(|stream| name.contains(stream)),
        None => is_quick(name) || is_of_threads(name) || conduct(name).plain,
    };
    if quiet { Unseen::Nothing } else { Unseen::State }
}

/// Loops of libraries that call back.
const LOOPS: [&str; 6] = ["event_base_dispatch", "event_base_loop", "event_dispatch", "event_loop", "g_main_loop_run", "uv_run"];

/// Functions of the table that read what was read ahead.
const INPUT: [&str; 6] = ["fgets", "fread", "fscanf", "getdelim", "getline", "scanf"];

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
    // Of the C++ library: `std::thread`, `std::async` and what belongs to them.
    let of_threads = name.starts_with("_Z") && ["thread", "async", "future"].iter().any(|part| name.contains(part));
    !STARTERS.contains(&name) && !LOOPS.contains(&name) && !of_threads && (is_quick(name) || conduct(name).single)
}

/// Whether a function has the name of a library's, so that the libraries call it where a program defines one of its own: `malloc`, or
/// an operator of C++ that allocates.
#[must_use]
pub fn is_of_libraries(name: &str) -> bool {
    let listed = lookup(name).is_some() || conduct(name).single;
    listed || ["_Znw", "_Zna", "_Zdl", "_Zda"].iter().any(|operator| name.starts_with(operator))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(of: fn(Conduct) -> bool) -> impl Iterator<Item = &'static str> {
        CONDUCT.iter().filter(move |(_, conduct)| of(*conduct)).map(|(name, _)| *name)
    }

    #[test]
    fn the_table_is_sorted_and_leaves_out_what_the_other_one_has() {
        assert!(CONDUCT.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(known(|_| true).find(|name| lookup(name).is_some()), None);
    }

    #[test]
    fn functions_with_state_of_their_own_are_told_from_those_that_are_modeled_or_have_none() {
        assert!(known(|conduct| conduct.plain).all(|name| unseen(name) == Unseen::Nothing));
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
        assert!(known(|conduct| conduct.single).all(starts_no_thread));
        assert!(starts_no_thread("calloc") && starts_no_thread("pthread_mutex_init") && starts_no_thread("_ZNSt6vectorIiE"));
        for starter in ["pthread_create", "pthread_once", "thrd_create", "_ZNSt6thread15_M_start_threadE", "event_base_loop"] {
            assert!(!starts_no_thread(starter), "{starter}");
        }
    }

    #[test]
    fn quick_functions_are_sorted_and_long_ones_are_not_among_them() {
        assert!(known(|conduct| conduct.quick).all(is_quick));
        assert!(!is_quick("_ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE"));
        assert!(is_quick("memcpy") && is_quick("llvm.memcpy") && is_quick("_Znwm") && !is_quick("BZ2_bzBuffToBuffCompress"));
    }
}
