//! What functions outside the program do with pointers that they are handed, where the table of `external` says nothing of it: memory that
//! is read or written is known by name for the C library and C++'s, and anything may happen to it in any other.
//!
//! Not told: memory that such a function finds through what it is handed (but the text of a `std::string`), and what it keeps for later.

use super::{conduct, lookup};
use crate::pair::Rw;

/// How much a function may do with what it is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// It looks at none of it, or what it does with it is known otherwise: locks, allocation, exceptions.
    Nothing,
    /// It reads and writes what its arguments point to, and nothing else of the program's.
    Pointed,
    /// It may do anything: nothing is known of it.
    Anything,
}

/// What a pointer is to that a function is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// Memory of the program.
    Memory = 0,
    /// An object that the library guards by a lock of its own: a stream of C, a directory.
    Guarded = 1,
    /// A stream of C++: its state is in its virtual base.
    Stream = 2,
    /// A `std::string`, which has its text elsewhere when that is long.
    Text = 3,
    /// An array of `struct iovec`, of which each names memory.
    List = 4,
    /// A `struct msghdr` with such an array.
    Message = 5,
}

/// Who is handed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function that does nothing else with it.
    Known = 0,
    /// One of which nothing is known; the hook is given its name.
    Unknown = 1,
    /// One that a pointer names; the hook is given its address.
    Pointer = 2,
}

/// One pointer that a function is handed, as a hook is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handing {
    /// Bytes from there to the end of the object; 0: not known.
    pub bytes: u32,
    /// What may be done to it; of lists, to what they name.
    pub rw: Rw,
    /// What it is.
    pub object: Object,
    /// By whom.
    pub callee: Callee,
}

impl Handing {
    /// As one argument of a hook.
    #[must_use]
    pub fn to_abi(self) -> u64 {
        u64::from(self.bytes) | (self.rw as u64) << 32 | (self.object as u64) << 36 | (self.callee as u64) << 40
    }

    /// The inverse.
    #[must_use]
    pub fn from_abi(word: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "its lower half")]
        let bytes = word as u32;
        let rw = [Rw::Read, Rw::Write].into_iter().find(|rw| *rw as u64 == word >> 32 & 15).unwrap_or(Rw::Update);
        let object = [Object::Guarded, Object::Stream, Object::Text, Object::List, Object::Message]
            .into_iter()
            .find(|object| *object as u64 == word >> 36 & 15)
            .unwrap_or(Object::Memory);
        let callee =
            [Callee::Unknown, Callee::Pointer].into_iter().find(|callee| *callee as u64 == word >> 40 & 15).unwrap_or(Callee::Known);
        Self { bytes, rw, object, callee }
    }
}

/// What an external function does with pointers that the table says nothing of. `is_of_c`: whether the compiler knows it as one of the C library's.
#[must_use]
pub fn handed(name: &str, is_of_c: bool) -> Handed {
    const COMPILERS: [&str; 8] = ["llvm.", "__atomfix", "__cxa_", "__clang_", "__gxx_", "__dynamic_cast", "_Unwind_", "_ZTW"];
    const OF_THREADS: [&str; 6] = ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_"];
    const THREADS_OF_CPP: [&str; 6] = ["thread", "mutex", "condition_variable", "call_once", "__future_base", "__atomic_futex"];
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let is_of_threads = starts(&OF_THREADS) && !name.contains("attr_");
    let is_modelled = lookup(name).is_some_and(|known| known.sync.is_some());
    if KEEPS.binary_search(&name).is_ok() || starts(&COMPILERS) || is_of_threads || is_modelled {
        return Handed::Nothing;
    }
    if is_standard_cpp(name) {
        let is_of_threads = THREADS_OF_CPP.iter().any(|part| name.contains(part));
        return if is_of_threads { Handed::Nothing } else { Handed::Pointed };
    }
    let is_known = is_of_c || starts(&OF_THREADS) || conduct::is_of_c(name) || stream(name).is_some() || list(name).is_some();
    if is_known || READS.binary_search_by(|(known, _)| known.cmp(&name)).is_ok() { Handed::Pointed } else { Handed::Anything }
}

/// Whether it is the name of a function of the C++ library, as far as those go that programs do not instantiate themselves.
fn is_standard_cpp(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("_Z") else { return false };
    let rest = rest.strip_prefix('N').unwrap_or(rest).trim_start_matches(['r', 'V', 'K']);
    // Abbreviations of the standard: `std`, `std::string`, `std::ostream` and their kin; and operators that allocate.
    let abbreviated = rest.strip_prefix('S').is_some_and(|rest| rest.starts_with(['t', 's', 'a', 'b', 'i', 'o', 'd']));
    abbreviated || ["nw", "na", "dl", "da"].iter().any(|operator| rest.starts_with(operator))
}

/// Which argument of a function of the C library is a stream or a directory.
#[must_use]
pub fn stream(name: &str) -> Option<u8> {
    STREAMS.binary_search_by(|(known, _)| known.cmp(&name)).ok().map(|index| STREAMS[index].1)
}

/// Which argument of a function of the C library is a list of memory, what kind of one, and what is done to what it names. How many an array of
/// `struct iovec` has is said by the argument behind it.
#[must_use]
pub fn list(name: &str) -> Option<(u8, Object, Rw)> {
    match name {
        "preadv" | "preadv2" | "readv" => Some((1, Object::List, Rw::Write)),
        "pwritev" | "pwritev2" | "vmsplice" | "writev" => Some((1, Object::List, Rw::Read)),
        "recvmsg" => Some((1, Object::Message, Rw::Write)),
        "sendmsg" => Some((1, Object::Message, Rw::Read)),
        _ => None,
    }
}

/// Whether a function of the C library only reads what this argument points to, as far as that is known here; the compiler knows more.
#[must_use]
pub fn only_reads(name: &str, argument: usize) -> bool {
    READS.binary_search_by(|(known, _)| known.cmp(&name)).is_ok_and(|index| READS[index].1.contains(&argument))
}

/// Functions that touch nothing that they are handed, or whose doings are announced otherwise. Sorted.
#[rustfmt::skip]
static KEEPS: &[&str] = &[
    "__assert_fail", "__assert_perror_fail", "__longjmp_chk", "__sigsetjmp", "_longjmp", "_setjmp", "at_quick_exit", "atexit",
    "call_once", "dladdr", "dlclose", "dlerror", "dlopen", "dlsym", "longjmp", "madvise", "malloc_usable_size", "mincore", "mlock",
    "mmap", "mmap64", "mprotect", "mremap", "msync", "munlock", "munmap", "on_exit", "setjmp", "siglongjmp", "signal", "sigsetjmp",
    "syscall",
];

/// Which argument is the stream or directory. Sorted.
#[rustfmt::skip]
static STREAMS: &[(&str, u8)] = &[
    ("_IO_getc", 0), ("_IO_putc", 1), ("__fgets_chk", 3), ("__fprintf_chk", 0), ("__fread_chk", 4), ("__isoc23_fscanf", 0),
    ("__isoc99_fscanf", 0), ("__overflow", 0), ("__uflow", 0), ("__vfprintf_chk", 0), ("clearerr", 0), ("closedir", 0), ("fclose", 0),
    ("feof", 0), ("ferror", 0), ("fflush", 0), ("fgetc", 0), ("fgets", 2), ("fgetwc", 0), ("fileno", 0), ("fprintf", 0), ("fputc", 1),
    ("fputs", 1), ("fputwc", 1), ("fread", 3), ("freopen", 2), ("fscanf", 0), ("fseek", 0), ("fseeko", 0), ("ftell", 0), ("ftello", 0),
    ("fwrite", 3), ("getc", 0), ("getdelim", 3), ("getline", 2), ("getw", 0), ("getwc", 0), ("pclose", 0), ("putc", 1), ("putw", 1),
    ("putwc", 1), ("readdir", 0), ("readdir64", 0), ("rewind", 0), ("rewinddir", 0), ("setbuf", 0), ("setbuffer", 0), ("setlinebuf", 0),
    ("setvbuf", 0), ("ungetc", 1), ("vfprintf", 0), ("vfscanf", 0),
];

/// Arguments of which the C library only reads what they point to, in functions that LLVM does not know so well. Sorted.
#[rustfmt::skip]
static READS: &[(&str, &[usize])] = &[
    ("a64l", &[0]), ("access", &[0]), ("acct", &[0]), ("adjtime", &[0]), ("asctime", &[0]), ("asctime_r", &[0]), ("bind", &[1]),
    ("bsearch", &[0, 1]), ("chdir", &[0]), ("chmod", &[0]), ("chown", &[0]), ("chroot", &[0]), ("clock_nanosleep", &[2]),
    ("clock_settime", &[1]), ("connect", &[1]), ("creat", &[0]), ("creat64", &[0]), ("crypt", &[0, 1]), ("ctime", &[0]),
    ("ctime_r", &[0]), ("epoll_ctl", &[3]), ("execv", &[0, 1]), ("execve", &[0, 1, 2]), ("execvp", &[0, 1]), ("execvpe", &[0, 1, 2]),
    ("faccessat", &[1]), ("fchmodat", &[1]), ("fchownat", &[1]), ("fdopen", &[1]), ("fnmatch", &[0, 1]), ("fopen", &[0, 1]),
    ("fopen64", &[0, 1]), ("fputws", &[0]), ("freopen", &[0, 1]), ("fstatat", &[1]), ("ftw", &[0]), ("futimens", &[1]),
    ("getaddrinfo", &[0, 1, 2]), ("getenv", &[0]), ("getgrnam", &[0]), ("getgrnam_r", &[0]), ("gethostbyaddr", &[0]),
    ("gethostbyname", &[0]), ("getnameinfo", &[0]), ("getopt", &[1, 2]), ("getopt_long", &[1, 2, 3]), ("getpwnam", &[0]),
    ("getpwnam_r", &[0]), ("getservbyname", &[0, 1]), ("getxattr", &[0, 1]), ("glob", &[0]), ("gmtime", &[0]), ("iconv_open", &[0, 1]),
    ("index", &[0]), ("inet_addr", &[0]), ("inet_aton", &[0]), ("inet_network", &[0]), ("inet_ntop", &[1]), ("inet_pton", &[1]),
    ("initgroups", &[0]), ("inotify_add_watch", &[1]), ("lchown", &[0]), ("link", &[0, 1]), ("linkat", &[1, 3]), ("localtime", &[0]),
    ("lstat", &[0]), ("lstat64", &[0]), ("lutimes", &[0, 1]), ("mbrtowc", &[1]), ("mbstowcs", &[1]), ("mkdir", &[0]), ("mkdirat", &[1]),
    ("mkfifo", &[0]), ("mkfifoat", &[1]), ("mknod", &[0]), ("mknodat", &[1]), ("mq_open", &[0]), ("mq_send", &[1]),
    ("mq_timedsend", &[1, 4]), ("msgsnd", &[1]), ("nanosleep", &[0]), ("newlocale", &[1]), ("nftw", &[0]), ("open", &[0]),
    ("open64", &[0]), ("openat", &[1]), ("openat64", &[1]), ("opendir", &[0]), ("openlog", &[0]), ("pathconf", &[0]), ("perror", &[0]),
    ("popen", &[0, 1]), ("posix_spawn", &[1, 2, 3, 4, 5]), ("posix_spawnp", &[1, 2, 3, 4, 5]), ("ppoll", &[2, 3]), ("prlimit", &[2]),
    ("pselect", &[4, 5]), ("psignal", &[1]), ("pthread_attr_getdetachstate", &[0]), ("pthread_attr_getstacksize", &[0]), ("putenv", &[0]),
    ("pwritev", &[1]), ("pwritev2", &[1]), ("rawmemchr", &[0]), ("readlink", &[0]), ("readlinkat", &[1]), ("realpath", &[0]),
    ("regcomp", &[1]), ("regexec", &[0, 1]), ("remove", &[0]), ("removexattr", &[0, 1]), ("rename", &[0, 1]), ("renameat", &[1, 3]),
    ("renameat2", &[1, 3]), ("rindex", &[0]), ("rmdir", &[0]), ("sched_setaffinity", &[2]), ("sched_setparam", &[1]),
    ("sched_setscheduler", &[2]), ("secure_getenv", &[0]), ("semop", &[1]), ("sendmsg", &[1]), ("sendto", &[1, 4]),
    ("setdomainname", &[0]), ("setenv", &[0, 1]), ("sethostname", &[0]), ("setitimer", &[1]), ("setlocale", &[1]), ("setrlimit", &[1]),
    ("setsockopt", &[3]), ("setxattr", &[0, 1, 2]), ("shm_open", &[0]), ("shm_unlink", &[0]), ("sigaction", &[1]), ("sigismember", &[0]),
    ("sigprocmask", &[1]), ("sigqueue", &[2]), ("sigsuspend", &[0]), ("sigtimedwait", &[0, 2]), ("sigwait", &[0]), ("sigwaitinfo", &[0]),
    ("stat", &[0]), ("stat64", &[0]), ("statfs", &[0]), ("statvfs", &[0]), ("statx", &[1]), ("stpncpy", &[1]), ("strcasestr", &[0, 1]),
    ("strchrnul", &[0]), ("strcoll", &[0, 1]), ("strptime", &[0, 1]), ("strtoimax", &[0]), ("strtok", &[1]), ("strtok_r", &[1]),
    ("strtoumax", &[0]), ("strverscmp", &[0, 1]), ("strxfrm", &[1]), ("swab", &[0]), ("symlink", &[0, 1]), ("symlinkat", &[0, 2]),
    ("syslog", &[1]), ("system", &[0]), ("tempnam", &[0, 1]), ("timer_create", &[1]), ("timer_settime", &[2]), ("timerfd_settime", &[2]),
    ("truncate", &[0]), ("truncate64", &[0]), ("unlink", &[0]), ("unlinkat", &[1]), ("unsetenv", &[0]), ("utime", &[0, 1]),
    ("utimensat", &[1, 2]), ("utimes", &[0, 1]), ("vsyslog", &[1]), ("wcscat", &[1]), ("wcschr", &[0]), ("wcscmp", &[0, 1]),
    ("wcscoll", &[0, 1]), ("wcscpy", &[1]), ("wcscspn", &[0, 1]), ("wcsdup", &[0]), ("wcslen", &[0]), ("wcsncat", &[1]),
    ("wcsncmp", &[0, 1]), ("wcsncpy", &[1]), ("wcspbrk", &[0, 1]), ("wcsrchr", &[0]), ("wcsspn", &[0, 1]), ("wcsstr", &[0, 1]),
    ("wcstod", &[0]), ("wcstol", &[0]), ("wcstombs", &[1]), ("wcstoul", &[0]), ("wmemchr", &[0]), ("writev", &[1]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(KEEPS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(STREAMS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(READS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn what_is_handed_survives_the_way_through_a_hook() {
        for object in [Object::Memory, Object::Guarded, Object::Stream, Object::Text, Object::List, Object::Message] {
            for callee in [Callee::Known, Callee::Unknown, Callee::Pointer] {
                for rw in [Rw::Read, Rw::Write, Rw::Update] {
                    let handing = Handing { bytes: 0xfedc_ba98, rw, object, callee };
                    assert_eq!(Handing::from_abi(handing.to_abi()), handing);
                }
            }
        }
    }

    #[test]
    fn functions_are_known_by_name() {
        for (names, expected) in [
            (
                &[
                    "pthread_mutex_lock",
                    "pthread_setspecific",
                    "pthread_create",
                    "sem_open",
                    "mtx_init",
                    "atexit",
                    "munmap",
                    "__cxa_throw",
                    "_ZNSt18condition_variableC1Ev",
                    "_ZNSt6thread6_StateD2Ev",
                    "__atomfix_acquire",
                ][..],
                Handed::Nothing,
            ),
            (
                &[
                    "stat",
                    "fgetc",
                    "fprintf",
                    "nanosleep",
                    "pthread_attr_init",
                    "pthread_getattr_np",
                    "poll",
                    "regexec",
                    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm",
                    "_ZNKSt7__cxx1112basic_stringIcE7compareEPKc",
                    "_ZNSolsEi",
                    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
                ],
                Handed::Pointed,
            ),
            (&["inflate", "sqlite3_step", "event_add", "event_base_loop", "_ZN4QtFun3fooEv", "_ZlsRSoRK3Own", "frob"], Handed::Anything),
        ] {
            for name in names {
                assert_eq!(handed(name, false), expected, "{name}");
            }
        }
        assert_eq!(handed("strlcpy", true), Handed::Pointed);
        assert_eq!((stream("fputs"), stream("puts")), (Some(1), None));
        assert!(only_reads("nanosleep", 0) && !only_reads("nanosleep", 1) && !only_reads("frob", 0));
    }
}
