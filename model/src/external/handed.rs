//! What functions outside the program do with pointers that they are handed, where the table of `external` says nothing of it: memory that
//! is read or written is known by name for the C library and C++'s, and anything may happen to it in any other.
//!
//! Not told: memory that such a function finds through what it is handed (but the text of a `std::string`), and what it keeps for later.

use super::{conduct, formatted, lookup, plain, row};
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
    /// A `struct msghdr` with such an array, or as many of `struct mmsghdr` as it has entries.
    Message = 5,
    /// What a function keeps from one call to the next, wherever that is: the handing's argument is a [`Kept`](super::kept::Kept).
    Kept = 6,
    /// What a format tells of an argument: the handing's is how far behind the format it stands, and the hook is given the format.
    Formatted = 7,
    /// A `va_list`, of whose arguments a format tells that the hook is given.
    Arguments = 8,
    /// The process's standard input, as the C library has it.
    Input = 9,
    /// Its standard output.
    Output = 10,
    /// As `Formatted`, by a wide format.
    FormattedWide = 11,
    /// As `Arguments`, by a wide format.
    ArgumentsWide = 12,
    /// What stands behind the address that is there: a text.
    TextBehind = 13,
    /// The same, of anything.
    Behind = 14,
    /// An object that holds the address of what it works on, and that.
    Holder = 15,
    /// Memory that a stream is given, and comes back to whenever it is used.
    Given = 16,
}

impl Object {
    const ALL: [Self; 17] = [
        Self::Memory,
        Self::Guarded,
        Self::Stream,
        Self::Text,
        Self::List,
        Self::Message,
        Self::Kept,
        Self::Formatted,
        Self::Arguments,
        Self::Input,
        Self::Output,
        Self::FormattedWide,
        Self::ArgumentsWide,
        Self::TextBehind,
        Self::Behind,
        Self::Holder,
        Self::Given,
    ];
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

/// Bytes of a `struct iovec`, an entry of a list.
pub const ENTRY_OF_LIST: u32 = 16;

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
    /// Which argument it is.
    pub argument: u8,
    /// Whether all of this is known, and not assumed to be on the safe side: no data race comes of what is not.
    pub certain: bool,
}

impl Handing {
    /// As one argument of a hook.
    #[must_use]
    pub fn to_abi(self) -> u64 {
        u64::from(self.bytes)
            | (self.rw as u64) << 32
            | (self.object as u64) << 34
            | (self.callee as u64) << 40
            | u64::from(self.argument) << 44
            | u64::from(self.certain) << 52
    }

    /// The inverse.
    #[must_use]
    pub fn from_abi(word: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "its lower half")]
        let bytes = word as u32;
        let rw = [Rw::Read, Rw::Write].into_iter().find(|rw| *rw as u64 == word >> 32 & 3).unwrap_or(Rw::Update);
        let object = Object::ALL.into_iter().find(|object| *object as u64 == word >> 34 & 63).unwrap_or(Object::Memory);
        let callee =
            [Callee::Unknown, Callee::Pointer].into_iter().find(|callee| *callee as u64 == word >> 40 & 15).unwrap_or(Callee::Known);
        let [.., argument] = (word >> 44 & 0xff).to_be_bytes();
        Self { bytes, rw, object, callee, argument, certain: word >> 52 & 1 == 1 }
    }
}

/// What an external function does with pointers that the table says nothing of. `is_of_c`: whether the compiler knows it as one of the C library's.
#[must_use]
pub fn handed(name: &str, is_of_c: bool) -> Handed {
    const COMPILERS: [&str; 8] = ["llvm.", "__atomfix", "__cxa_", "__clang_", "__gxx_", "__dynamic_cast", "_Unwind_", "_ZTW"];
    const THREADS_OF_CPP: [&str; 6] = ["thread", "mutex", "condition_variable", "call_once", "__future_base", "__atomic_futex"];
    let is_of_threads = conduct::is_of_threads(name) && !name.contains("attr_") && row(TELLS_OF_THREADS, name, |known| known).is_none();
    let is_modelled = lookup(name).is_some_and(|known| known.sync.is_some());
    if row(KEEPS, name, |known| known).is_some() || COMPILERS.iter().any(|prefix| name.starts_with(prefix)) || is_of_threads || is_modelled
    {
        return Handed::Nothing;
    }
    if row(REACHES, name.trim_start_matches("__"), |known| known).is_some() {
        return Handed::Anything;
    }
    if is_standard_cpp(name) {
        let is_of_threads = THREADS_OF_CPP.iter().any(|part| name.contains(part));
        return if is_of_threads { Handed::Nothing } else { Handed::Pointed };
    }
    let is_listed = stream(name).is_some() || list(name).is_some() || formatted::format(name).is_some();
    let is_known = is_of_c || conduct::is_of_threads(name) || conduct::is_of_c(name) || is_listed;
    if is_known || row(READS, name, |(known, _)| known).is_some() { Handed::Pointed } else { Handed::Anything }
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
    row(STREAMS, name, |(known, _)| known).map(|(_, argument)| *argument)
}

/// Whether a function of the C library gives a stream this argument, to come back to it: a buffer, or where to say where its text is.
#[must_use]
pub fn is_given(name: &str, argument: u8) -> bool {
    match name {
        "fmemopen" => argument == 0,
        "open_memstream" | "open_wmemstream" => argument <= 1,
        "setbuf" | "setbuffer" | "setvbuf" => argument == 1,
        _ => false,
    }
}

/// Which argument of a function of the C library is a list of memory, what kind of one, and what is done to what it names. How many an array of
/// `struct iovec` has is said by the argument behind it.
#[must_use]
pub fn list(name: &str) -> Option<(u8, Object, Rw)> {
    match name {
        "preadv" | "preadv2" | "readv" => Some((1, Object::List, Rw::Write)),
        "pwritev" | "pwritev2" | "vmsplice" | "writev" => Some((1, Object::List, Rw::Read)),
        "recvmmsg" | "recvmsg" => Some((1, Object::Message, Rw::Write)),
        "sendmmsg" | "sendmsg" => Some((1, Object::Message, Rw::Read)),
        _ => None,
    }
}

/// Which standard stream a function of the C library uses that is not handed one.
#[must_use]
pub fn standard(name: &str) -> Option<Object> {
    let plain = plain(name);
    match plain.strip_suffix("_unlocked").unwrap_or(plain) {
        "getchar" | "gets" | "getwchar" | "scanf" | "vscanf" | "vwscanf" | "wscanf" => Some(Object::Input),
        "printf" | "putchar" | "puts" | "putwchar" | "vprintf" | "vwprintf" | "wprintf" => Some(Object::Output),
        _ => None,
    }
}

/// Which arguments of a function are the addresses of an address behind which it works.
#[must_use]
pub fn behind(name: &str) -> &'static [(u8, Object, Rw)] {
    match plain(name) {
        "getsubopt" | "strsep" => &[(0, Object::TextBehind, Rw::Update)],
        "__strtok_r" | "strtok_r" => &[(2, Object::TextBehind, Rw::Update)],
        "wcstok" => &[(2, Object::Behind, Rw::Update)],
        "getdelim" | "getline" => &[(0, Object::Behind, Rw::Write)],
        "mbsnrtowcs" | "mbsrtowcs" => &[(1, Object::TextBehind, Rw::Read)],
        "wcsnrtombs" | "wcsrtombs" => &[(1, Object::Behind, Rw::Read)],
        "iconv" => &[(1, Object::Behind, Rw::Read), (3, Object::Behind, Rw::Write)],
        _ => &[],
    }
}

/// Whether a function of the C library only reads what this argument points to, as far as that is known here; the compiler knows more.
#[must_use]
pub fn only_reads(name: &str, argument: usize) -> bool {
    let is_format = formatted::format(name).is_some_and(|format| usize::from(format.argument) == argument);
    is_format || row(READS, name, |(known, _)| known).is_some_and(|(_, arguments)| arguments.contains(&argument))
}

/// Functions that touch nothing that they are handed, or whose doings are announced otherwise. Sorted.
#[rustfmt::skip]
static KEEPS: &[&str] = &[
    "__assert_fail", "__assert_perror_fail", "__sigsetjmp", "_longjmp", "_setjmp", "at_quick_exit", "atexit",
    "call_once", "dladdr", "dlclose", "dlerror", "dlopen", "dlsym", "flockfile", "ftrylockfile", "funlockfile", "longjmp", "madvise",
    "malloc_usable_size", "mincore", "mlock", "mmap", "mmap64", "mprotect", "mremap", "msync", "munlock", "munmap", "on_exit", "setjmp",
    "siglongjmp", "signal", "sigsetjmp",
];

/// Functions of threads that are handed memory which is no lock. Sorted.
#[rustfmt::skip]
static TELLS_OF_THREADS: &[&str] = &[
    "pthread_getaffinity_np", "pthread_getcpuclockid", "pthread_getname_np", "pthread_getschedparam", "pthread_key_create",
    "pthread_mutex_getprioceiling", "pthread_mutex_setprioceiling", "pthread_setaffinity_np", "pthread_setcancelstate",
    "pthread_setcanceltype", "pthread_setname_np", "pthread_setschedparam", "pthread_sigmask", "sem_getvalue", "thrd_sleep", "tss_create",
];

/// System calls whose memory is announced otherwise, or is what they are about: of memory itself (`mmap`, `mprotect`, `munmap`, `brk`, `mremap`,
/// `msync`, `mincore`, `madvise`, `mlock`, `munlock`), and of futexes.
const KEEP: [i64; 13] = [9, 10, 11, 12, 25, 26, 27, 28, 149, 150, 202, 325, 454];

/// Whether a system call of this number, made by `syscall`, touches what it is handed.
#[must_use]
pub fn raw_call_touches(number: i64) -> bool {
    !KEEP.contains(&number)
}

/// Functions of the C library that find more memory of the program's than they are handed, or come back to it later, without the two underscores
/// that may stand before their names. Sorted.
static REACHES: &[&str] = &["hsearch_r", "tdelete", "tfind", "tsearch", "twalk", "twalk_r"];

/// Which argument is the stream or directory. Sorted.
#[rustfmt::skip]
static STREAMS: &[(&str, u8)] = &[
    ("_IO_getc", 0), ("_IO_putc", 1), ("__fgets_chk", 3), ("__fread_chk", 4),
    ("__overflow", 0), ("__uflow", 0), ("clearerr", 0), ("closedir", 0), ("fclose", 0),
    ("feof", 0), ("ferror", 0), ("fflush", 0), ("fgetc", 0), ("fgets", 2), ("fgetwc", 0), ("fileno", 0), ("fprintf", 0), ("fputc", 1),
    ("fputs", 1), ("fputwc", 1), ("fread", 3), ("freopen", 2), ("fscanf", 0), ("fseek", 0), ("fseeko", 0), ("ftell", 0), ("ftello", 0),
    ("fwrite", 3), ("getc", 0), ("getdelim", 3), ("getline", 2), ("getw", 0), ("getwc", 0), ("pclose", 0), ("putc", 1), ("putw", 1),
    ("putwc", 1), ("readdir", 0), ("readdir64", 0), ("rewind", 0), ("rewinddir", 0), ("setbuf", 0), ("setbuffer", 0), ("setlinebuf", 0),
    ("setvbuf", 0), ("ungetc", 1), ("vfprintf", 0), ("vfscanf", 0),
];

/// Arguments of which the C library only reads what they point to, in functions that LLVM does not know so well. Sorted.
#[rustfmt::skip]
static READS: &[(&str, &[usize])] = &[
    ("a64l", &[0]), ("access", &[0]), ("acct", &[0]), ("addmntent", &[1]), ("adjtime", &[0]), ("aio_error", &[0]), ("aio_error64", &[0]),
    ("aio_init", &[0]), ("aio_suspend64", &[2]), ("argz_add", &[2]), ("argz_add_sep", &[2]), ("argz_append", &[2]), ("argz_count", &[0]),
    ("argz_create_sep", &[0]), ("argz_extract", &[0]), ("argz_insert", &[3]), ("argz_next", &[0, 2]), ("argz_replace", &[2, 3]),
    ("asctime", &[0]), ("asctime_r", &[0]), ("basename", &[0]), ("bcopy", &[0]), ("bind", &[1]), ("bind_textdomain_codeset", &[0, 1]),
    ("bindtextdomain", &[0, 1]), ("bsearch", &[0, 1]), ("canonicalize", &[1]), ("canonicalize_file_name", &[0]), ("canonicalizef", &[1]),
    ("canonicalizef32", &[1]), ("canonicalizef32x", &[1]), ("canonicalizef64", &[1]), ("canonicalizef64x", &[1]), ("canonicalizel", &[1]),
    ("catgets", &[3]), ("catopen", &[0]), ("cfgetispeed", &[0]), ("cfgetospeed", &[0]), ("chdir", &[0]), ("chmod", &[0]), ("chown", &[0]),
    ("chroot", &[0]), ("clock_nanosleep", &[2]), ("clock_settime", &[1]), ("connect", &[1]), ("creat", &[0]), ("creat64", &[0]),
    ("crypt", &[0, 1]), ("crypt_checksalt", &[0]), ("crypt_gensalt", &[0, 2]), ("crypt_gensalt_r", &[0, 2]),
    ("crypt_gensalt_ra", &[0, 2]), ("crypt_gensalt_rn", &[0, 2]), ("crypt_r", &[0, 1]), ("crypt_ra", &[0, 1]), ("crypt_rn", &[0, 1]),
    ("ctime", &[0]), ("ctime_r", &[0]), ("dcgettext", &[0, 1]), ("dcngettext", &[0, 1, 2]), ("dgettext", &[0, 1]), ("dladdr", &[0]),
    ("dladdr1", &[0]), ("dlmopen", &[1]), ("dlopen", &[0]), ("dlsym", &[1]), ("dlvsym", &[1, 2]), ("dn_comp", &[0]),
    ("dn_expand", &[0, 1, 2]), ("dn_skipname", &[0, 1]), ("dngettext", &[0, 1, 2]), ("duplocale", &[0]), ("eaccess", &[0]),
    ("envz_add", &[2, 3]), ("envz_entry", &[0, 2]), ("envz_get", &[0, 2]), ("envz_merge", &[2]), ("envz_remove", &[2]),
    ("epoll_ctl", &[3]), ("error_at_line", &[2]), ("ether_aton", &[0]), ("ether_aton_r", &[0]),
    ("ether_hostton", &[0]), ("ether_line", &[0]), ("ether_ntoa", &[0]), ("ether_ntoa_r", &[0]), ("ether_ntohost", &[1]),
    ("euidaccess", &[0]), ("execl", &[0, 1]), ("execle", &[0, 1]), ("execlp", &[0, 1]), ("execv", &[0, 1]), ("execve", &[0, 1, 2]),
    ("execveat", &[1]), ("execvp", &[0, 1]), ("execvpe", &[0, 1, 2]), ("faccessat", &[1]), ("fchmodat", &[1]), ("fchownat", &[1]),
    ("fdopen", &[1]), ("fgetxattr", &[1]), ("fmemopen", &[2]), ("fnmatch", &[0, 1]), ("fopen", &[0, 1]), ("fopen64", &[0, 1]),
    ("fopencookie", &[1]), ("forkpty", &[2, 3]), ("fputs_unlocked", &[0]), ("fputws", &[0]), ("fputws_unlocked", &[0]),
    ("freelocale", &[0]), ("fremovexattr", &[1]), ("freopen", &[0, 1]), ("freopen64", &[0, 1]), ("fsconfig", &[2, 3]), ("fsetpos", &[1]),
    ("fsetpos64", &[1]), ("fsetxattr", &[1, 2]), ("fsopen", &[0]), ("fspick", &[1]), ("fstatat", &[1]), ("fstatat64", &[1]),
    ("ftok", &[0]), ("ftw", &[0]), ("ftw64", &[0]), ("futimens", &[1]), ("futimes", &[1]), ("futimesat", &[1, 2]),
    ("fwrite_unlocked", &[0]), ("gai_suspend", &[2]), ("getaddrinfo", &[0, 1, 2]), ("getaliasbyname", &[0]),
    ("getaliasbyname_r", &[0]), ("getdate", &[0]), ("getdate_r", &[0]), ("getenv", &[0]), ("getfsfile", &[0]), ("getfsspec", &[0]),
    ("getgrnam", &[0]), ("getgrnam_r", &[0]), ("getgrouplist", &[0]), ("gethostbyaddr", &[0]), ("gethostbyaddr_r", &[0]),
    ("gethostbyname", &[0]), ("gethostbyname2", &[0]), ("gethostbyname2_r", &[0]), ("gethostbyname_r", &[0]), ("getnameinfo", &[0]),
    ("getnetbyname", &[0]), ("getnetbyname_r", &[0]), ("getopt", &[1, 2]), ("getopt_long", &[1, 2, 3]), ("getopt_long_only", &[2, 3]),
    ("getpass", &[0]), ("getpayload", &[0]), ("getpayloadf", &[0]), ("getpayloadf32", &[0]), ("getpayloadf32x", &[0]),
    ("getpayloadf64", &[0]), ("getpayloadf64x", &[0]), ("getpayloadl", &[0]), ("getprotobyname", &[0]), ("getprotobyname_r", &[0]),
    ("getpwnam", &[0]), ("getpwnam_r", &[0]), ("getrpcbyname", &[0]), ("getrpcbyname_r", &[0]), ("getservbyname", &[0, 1]),
    ("getservbyname_r", &[0, 1]), ("getservbyport", &[1]), ("getservbyport_r", &[1]), ("getsourcefilter", &[2]), ("getspnam", &[0]),
    ("getspnam_r", &[0]), ("gettext", &[0]), ("getutid", &[0]), ("getutid_r", &[0]), ("getutline", &[0]), ("getutline_r", &[0]),
    ("getutmp", &[0]), ("getutmpx", &[0]), ("getutxid", &[0]), ("getutxline", &[0]), ("getxattr", &[0, 1]), ("glob", &[0]),
    ("glob64", &[0]), ("glob_pattern_p", &[0]), ("gmtime", &[0]), ("hasmntopt", &[0, 1]), ("herror", &[0]), ("iconv_open", &[0, 1]),
    ("if_nametoindex", &[0]), ("index", &[0]), ("inet6_option_append", &[1]), ("inet6_option_find", &[0]), ("inet6_option_next", &[0]),
    ("inet6_rth_add", &[1]), ("inet6_rth_getaddr", &[0]), ("inet6_rth_reverse", &[0]), ("inet6_rth_segments", &[0]), ("inet_addr", &[0]),
    ("inet_aton", &[0]), ("inet_net_ntop", &[1]), ("inet_net_pton", &[1]), ("inet_network", &[0]), ("inet_nsap_addr", &[0]),
    ("inet_nsap_ntoa", &[1]), ("inet_ntop", &[1]), ("inet_pton", &[1]), ("initgroups", &[0]), ("innetgr", &[0, 1, 2, 3]),
    ("inotify_add_watch", &[1]), ("iruserok", &[2, 3]), ("iruserok_af", &[0, 2, 3]), ("isalnum_l", &[1]), ("isalpha_l", &[1]),
    ("isblank_l", &[1]), ("iscntrl_l", &[1]), ("isdigit_l", &[1]), ("isgraph_l", &[1]), ("islower_l", &[1]), ("isprint_l", &[1]),
    ("ispunct_l", &[1]), ("isspace_l", &[1]), ("isupper_l", &[1]), ("iswalnum_l", &[1]), ("iswalpha_l", &[1]), ("iswblank_l", &[1]),
    ("iswcntrl_l", &[1]), ("iswctype_l", &[2]), ("iswdigit_l", &[1]), ("iswgraph_l", &[1]), ("iswlower_l", &[1]), ("iswprint_l", &[1]),
    ("iswpunct_l", &[1]), ("iswspace_l", &[1]), ("iswupper_l", &[1]), ("iswxdigit_l", &[1]), ("isxdigit_l", &[1]), ("lchmod", &[0]),
    ("lchown", &[0]), ("lfind", &[0, 1]), ("lgetxattr", &[0, 1]), ("link", &[0, 1]), ("linkat", &[1, 3]), ("listxattr", &[0]),
    ("llistxattr", &[0]), ("localtime", &[0]), ("login", &[0]), ("logout", &[0]), ("logwtmp", &[0, 1, 2]), ("lremovexattr", &[0, 1]),
    ("lsearch", &[0]), ("lsetxattr", &[0, 1, 2]), ("lstat", &[0]), ("lstat64", &[0]), ("lutimes", &[0, 1]), ("mblen", &[0]),
    ("mbrlen", &[0]), ("mbrtoc16", &[1]), ("mbrtoc32", &[1]), ("mbrtoc8", &[1]), ("mbrtowc", &[1]), ("mbsinit", &[0]), ("mbstowcs", &[1]),
    ("mbtowc", &[1]), ("mkdir", &[0]), ("mkdirat", &[1]), ("mkfifo", &[0]), ("mkfifoat", &[1]), ("mknod", &[0]), ("mknodat", &[1]),
    ("mount", &[0, 1, 2, 4]), ("mount_setattr", &[1]), ("move_mount", &[1, 3]), ("mq_notify", &[1]), ("mq_open", &[0]), ("mq_send", &[1]),
    ("mq_setattr", &[1]), ("mq_timedsend", &[1, 4]), ("mq_unlink", &[0]), ("msgsnd", &[1]), ("name_to_handle_at", &[1]), ("nan", &[0]),
    ("nanf", &[0]), ("nanf32", &[0]), ("nanf32x", &[0]), ("nanf64", &[0]), ("nanf64x", &[0]), ("nanl", &[0]), ("nanosleep", &[0]),
    ("newlocale", &[1]), ("nftw", &[0]), ("nftw64", &[0]), ("ngettext", &[0, 1]), ("nl_langinfo_l", &[1]), ("ns_datetosecs", &[0]),
    ("ns_get16", &[0]), ("ns_get32", &[0]), ("ns_initparse", &[0]), ("ns_makecanon", &[0]), ("ns_name_compress", &[0]),
    ("ns_name_ntol", &[0]), ("ns_name_ntop", &[0]), ("ns_name_pack", &[0]), ("ns_name_pton", &[0]), ("ns_name_rollback", &[0]),
    ("ns_name_skip", &[1]), ("ns_name_uncompress", &[0, 1, 2]), ("ns_name_unpack", &[0, 1, 2]), ("ns_parse_ttl", &[0]),
    ("ns_samedomain", &[0, 1]), ("ns_samename", &[0, 1]), ("ns_skiprr", &[0, 1]), ("ns_sprintrr", &[0, 1, 2, 3]),
    ("ns_sprintrrf", &[0, 2, 6, 8, 9]), ("ns_subdomain", &[0, 1]), ("open", &[0]),
    ("open64", &[0]), ("open_tree", &[1]), ("openat", &[1]), ("openat64", &[1]), ("opendir", &[0]), ("openlog", &[0]),
    ("openpty", &[3, 4]), ("parse_printf_format", &[0]), ("pathconf", &[0]), ("perror", &[0]), ("popen", &[0, 1]),
    ("posix_spawn", &[1, 2, 3, 4, 5]), ("posix_spawn_file_actions_addchdir_np", &[1]), ("posix_spawn_file_actions_addopen", &[2]),
    ("posix_spawnattr_getflags", &[0]), ("posix_spawnattr_getpgroup", &[0]), ("posix_spawnattr_getschedparam", &[0]),
    ("posix_spawnattr_getschedpolicy", &[0]), ("posix_spawnattr_getsigdefault", &[0]), ("posix_spawnattr_getsigmask", &[0]),
    ("posix_spawnattr_setschedparam", &[1]), ("posix_spawnattr_setsigdefault", &[1]), ("posix_spawnattr_setsigmask", &[1]),
    ("posix_spawnp", &[1, 2, 3, 4, 5]), ("ppoll", &[2, 3]), ("preadv", &[1]), ("preadv2", &[1]), ("preadv64", &[1]), ("preadv64v2", &[1]),
    ("printf_size", &[1]), ("printf_size_info", &[0]), ("prlimit", &[2]), ("prlimit64", &[2]), ("process_vm_readv", &[1, 3]),
    ("process_vm_writev", &[1, 3]), ("pselect", &[4, 5]), ("psiginfo", &[0, 1]), ("psignal", &[1]), ("pthread_attr_getdetachstate", &[0]),
    ("pthread_attr_getstacksize", &[0]), ("pthread_setaffinity_np", &[2]), ("pthread_setname_np", &[1]),
    ("pthread_setschedparam", &[2]), ("pthread_sigmask", &[1]), ("putenv", &[0]), ("putgrent", &[0]), ("putpwent", &[0]), ("putspent", &[0]),
    ("pututline", &[0]), ("pututxline", &[0]), ("pwritev", &[1]), ("pwritev2", &[1]), ("pwritev64", &[1]), ("pwritev64v2", &[1]),
    ("rawmemchr", &[0]), ("rcmd", &[2, 3, 4]), ("rcmd_af", &[2, 3, 4]), ("re_compile_pattern", &[0]), ("re_match", &[1]),
    ("re_match_2", &[1, 3]), ("re_search", &[1]), ("re_search_2", &[1, 3]), ("readlink", &[0]), ("readlinkat", &[1]), ("readv", &[1]),
    ("realpath", &[0]), ("regcomp", &[1]), ("regerror", &[1]), ("regexec", &[0, 1]), ("register_printf_modifier", &[0]), ("remove", &[0]),
    ("removexattr", &[0, 1]), ("rename", &[0, 1]), ("renameat", &[1, 3]), ("renameat2", &[1, 3]), ("res_dnok", &[0]), ("res_hnok", &[0]),
    ("res_mailok", &[0]), ("res_mkquery", &[1, 4, 6]), ("res_nmkquery", &[2, 5, 7]), ("res_nquery", &[1]), ("res_nquerydomain", &[1, 2]),
    ("res_nsearch", &[1]), ("res_nsend", &[1]), ("res_ownok", &[0]), ("res_query", &[0]), ("res_querydomain", &[0, 1]),
    ("res_search", &[0]), ("res_send", &[0]), ("revoke", &[0]), ("rexec", &[2, 3, 4]), ("rexec_af", &[2, 3, 4]), ("rindex", &[0]),
    ("rmdir", &[0]), ("rpmatch", &[0]), ("ruserok", &[0, 2, 3]), ("ruserok_af", &[0, 2, 3]), ("scandir", &[0]), ("scandir64", &[0]),
    ("scandirat", &[1]), ("scandirat64", &[1]), ("sched_setaffinity", &[2]), ("sched_setparam", &[1]), ("sched_setscheduler", &[2]),
    ("secure_getenv", &[0]), ("sem_getvalue", &[0]), ("semop", &[1]), ("sendmsg", &[1]), ("sendto", &[1, 4]), ("setdomainname", &[0]), ("setenv", &[0, 1]),
    ("sethostname", &[0]), ("setipv4sourcefilter", &[5]), ("setitimer", &[1]), ("setlocale", &[1]), ("setlogin", &[0]),
    ("setmntent", &[0, 1]), ("setnetgrent", &[0]), ("setrlimit", &[1]), ("setrlimit64", &[1]), ("setsockopt", &[3]),
    ("setsourcefilter", &[2, 6]), ("settimeofday", &[0, 1]), ("setxattr", &[0, 1, 2]), ("sgetspent", &[0]), ("sgetspent_r", &[0]),
    ("shm_open", &[0]), ("shm_unlink", &[0]), ("shmat", &[1]), ("shmdt", &[0]), ("sigaction", &[1]), ("sigandset", &[1, 2]),
    ("sigisemptyset", &[0]), ("sigismember", &[0]), ("sigorset", &[1, 2]), ("sigprocmask", &[1]), ("sigqueue", &[2]),
    ("sigsuspend", &[0]), ("sigtimedwait", &[0, 2]), ("sigwait", &[0]), ("sigwaitinfo", &[0]), ("stat", &[0]), ("stat64", &[0]),
    ("statfs", &[0]), ("statfs64", &[0]), ("statvfs", &[0]), ("statvfs64", &[0]), ("statx", &[1]), ("stpncpy", &[1]),
    ("strcasestr", &[0, 1]), ("strchrnul", &[0]), ("strcoll", &[0, 1]), ("strptime", &[0, 1]), ("strtoimax", &[0]), ("strtok", &[1]),
    ("strtok_r", &[1]), ("strtoumax", &[0]), ("strverscmp", &[0, 1]), ("strxfrm", &[1]), ("swab", &[0]), ("swapoff", &[0]),
    ("swapon", &[0]), ("swscanf", &[0]), ("symlink", &[0, 1]), ("symlinkat", &[0, 2]),
    ("system", &[0]), ("tcsetattr", &[2]), ("tempnam", &[0, 1]), ("textdomain", &[0]), ("thrd_sleep", &[0]), ("timer_create", &[1]), ("timer_settime", &[2]),
    ("timerfd_settime", &[2]), ("tolower_l", &[1]), ("totalorder", &[0, 1]), ("totalorderf", &[0, 1]), ("totalorderf32", &[0, 1]),
    ("totalorderf32x", &[0, 1]), ("totalorderf64", &[0, 1]), ("totalorderf64x", &[0, 1]), ("totalorderl", &[0, 1]),
    ("totalordermag", &[0, 1]), ("totalordermagf", &[0, 1]), ("totalordermagf32", &[0, 1]), ("totalordermagf32x", &[0, 1]),
    ("totalordermagf64", &[0, 1]), ("totalordermagf64x", &[0, 1]), ("totalordermagl", &[0, 1]), ("toupper_l", &[1]), ("towctrans", &[1]),
    ("towctrans_l", &[1, 2]), ("towlower_l", &[1]), ("towupper_l", &[1]), ("truncate", &[0]), ("truncate64", &[0]), ("twalk", &[0]),
    ("twalk_r", &[0]), ("umount", &[0]), ("umount2", &[0]), ("unlink", &[0]), ("unlinkat", &[1]), ("unsetenv", &[0]),
    ("updwtmp", &[0, 1]), ("updwtmpx", &[0, 1]), ("uselocale", &[0]), ("utime", &[0, 1]), ("utimensat", &[1, 2]), ("utimes", &[0, 1]),
    ("utmpname", &[0]), ("utmpxname", &[0]),
    ("vmsplice", &[1]), ("vsscanf", &[0]), ("vswscanf", &[0]),
    ("wcpcpy", &[1]),
    ("wcpncpy", &[1]), ("wcscasecmp", &[0, 1]), ("wcscasecmp_l", &[0, 1, 2]), ("wcscat", &[1]), ("wcschr", &[0]), ("wcschrnul", &[0]),
    ("wcscmp", &[0, 1]), ("wcscoll", &[0, 1]), ("wcscoll_l", &[0, 1, 2]), ("wcscpy", &[1]), ("wcscspn", &[0, 1]), ("wcsdup", &[0]),
    ("wcsftime", &[2, 3]), ("wcsftime_l", &[2, 3, 4]), ("wcslen", &[0]), ("wcsncasecmp", &[0, 1]), ("wcsncasecmp_l", &[0, 1, 3]),
    ("wcsncat", &[1]), ("wcsncmp", &[0, 1]), ("wcsncpy", &[1]), ("wcsnlen", &[0]), ("wcspbrk", &[0, 1]), ("wcsrchr", &[0]),
    ("wcsspn", &[0, 1]), ("wcsstr", &[0, 1]), ("wcstod", &[0]), ("wcstod_l", &[0, 2]), ("wcstof", &[0]), ("wcstof32", &[0]),
    ("wcstof32_l", &[0, 2]), ("wcstof32x", &[0]), ("wcstof32x_l", &[0, 2]), ("wcstof64", &[0]), ("wcstof64_l", &[0, 2]),
    ("wcstof64x", &[0]), ("wcstof64x_l", &[0, 2]), ("wcstof_l", &[0, 2]), ("wcstoimax", &[0]), ("wcstok", &[1]), ("wcstol", &[0]),
    ("wcstol_l", &[0, 3]), ("wcstold", &[0]), ("wcstold_l", &[0, 2]), ("wcstoll", &[0]), ("wcstoll_l", &[0, 3]), ("wcstombs", &[1]),
    ("wcstoq", &[0]), ("wcstoul", &[0]), ("wcstoul_l", &[0, 3]), ("wcstoull", &[0]), ("wcstoull_l", &[0, 3]), ("wcstoumax", &[0]),
    ("wcstouq", &[0]), ("wcswcs", &[0, 1]), ("wcswidth", &[0]), ("wcsxfrm", &[1]), ("wcsxfrm_l", &[1, 3]), ("wctrans", &[0]),
    ("wctrans_l", &[0, 1]), ("wctype", &[0]), ("wctype_l", &[0, 1]), ("wmemchr", &[0]), ("wmempcpy", &[1]), ("wordexp", &[0]),
    ("writev", &[1]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(TELLS_OF_THREADS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(REACHES.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(KEEPS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(STREAMS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(READS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn what_is_handed_survives_the_way_through_a_hook() {
        for object in Object::ALL {
            for callee in [Callee::Known, Callee::Unknown, Callee::Pointer] {
                for rw in [Rw::Read, Rw::Write, Rw::Update] {
                    let handing = Handing { bytes: 0xfedc_ba98, rw, object, callee, argument: 5, certain: rw == Rw::Read };
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
        assert_eq!((handed("strlcpy", true), handed("__twalk", true)), (Handed::Pointed, Handed::Anything));
        assert_eq!((standard("scanf"), standard("vprintf"), standard("fputs")), (Some(Object::Input), Some(Object::Output), None));
        assert_eq!((stream("fputs"), stream("puts")), (Some(1), None));
        assert!(only_reads("nanosleep", 0) && !only_reads("nanosleep", 1) && !only_reads("frob", 0));
    }
}
