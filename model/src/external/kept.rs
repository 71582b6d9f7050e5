//! What functions of the C library keep from one call to the next, outside of any object that they are handed.
//!
//! Not told: what a function keeps of each thread (`strerror`), what the environment and the locale change in functions that are not
//! named here, and what variables lead to (the texts of `environ`).

use core::ffi::CStr;

use super::plain;
use crate::pair::Rw::{self, Read, Update};

/// One thing that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kept {
    /// The environment's variables.
    Environment = 0,
    /// The generator of `rand` and `random`.
    Random = 1,
    /// That of `drand48`.
    Random48 = 2,
    /// What the C library does as the user's language wants it.
    Locale = 3,
    /// Where `strtok` is.
    Tokens = 4,
    /// The times that `gmtime` and its kin answer with.
    Times = 5,
    /// Entries of the system's databases.
    Entries = 6,
    /// Texts of numbers and addresses.
    Texts = 7,
    /// The table of `hsearch`.
    Table = 8,
    /// How far conversions of characters are.
    Characters = 9,
    /// Where `getopt` is.
    Options = 10,
    /// What `crypt` works with.
    Cipher = 11,
    /// The sign that `lgamma` leaves.
    Sign = 12,
    /// The zone of local time.
    Zone = 13,
    /// Which libraries are loaded.
    Libraries = 14,
    /// What runs when the process ends or forks.
    Endings = 15,
    /// How the C library's heap stands: the gate has another one.
    Heap = 16,
    /// Where translations are.
    Messages = 17,
    /// How the system's log is written.
    Log = 18,
    /// Where the data segment ends.
    Break = 19,
    /// How threads are made, and what the C library knows of how they are to run.
    Threads = 20,
    /// How errors are told of.
    Errors = 21,
    /// What C++ calls when something has no way out.
    Handlers = 22,
    /// From where containers have their memory.
    Resource = 23,
    /// What streams of C++ have in common.
    Streams = 24,
}

use Kept::{
    Break, Characters, Cipher, Endings, Entries, Environment, Errors, Handlers, Heap, Libraries, Locale, Log, Messages, Options, Random,
    Random48, Resource, Sign, Streams, Table, Texts, Threads, Times, Tokens, Zone,
};

impl Kept {
    const ALL: [Self; 25] = [
        Environment,
        Random,
        Random48,
        Locale,
        Tokens,
        Times,
        Entries,
        Texts,
        Table,
        Characters,
        Options,
        Cipher,
        Sign,
        Zone,
        Libraries,
        Endings,
        Heap,
        Messages,
        Log,
        Break,
        Threads,
        Errors,
        Handlers,
        Resource,
        Streams,
    ];

    /// The inverse of `as u8`.
    #[must_use]
    pub fn from_abi(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kept| *kept as u8 == code)
    }

    /// Whether nothing else than functions that are named here shows what is kept. Otherwise the program finds it in memory.
    #[must_use]
    pub fn is_all_seen(self) -> bool {
        !matches!(self, Locale | Tokens | Times | Entries | Texts | Table | Options | Sign | Heap)
    }

    /// Whether calls tell of it that are not seen: it matters wherever other threads are.
    #[must_use]
    pub fn is_for_all(self, rw: Rw) -> bool {
        matches!((self, rw.writes()), (Locale, true) | (Heap, _))
    }

    /// Variables that show what is kept, and how long they are.
    #[must_use]
    pub fn variables(self) -> &'static [(&'static CStr, u32)] {
        match self {
            Environment => &[(c"environ", 8)],
            Options => &[(c"optind", 4), (c"optarg", 8), (c"optopt", 4), (c"opterr", 4)],
            Sign => &[(c"signgam", 4)],
            Zone => &[(c"timezone", 8), (c"daylight", 4), (c"tzname", 16)],
            Errors => &[(c"error_message_count", 4), (c"program_invocation_name", 8), (c"program_invocation_short_name", 8)],
            _ => &[],
        }
    }

    /// All that variables show.
    pub fn shown() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kept| !kept.variables().is_empty())
    }

    /// Whether it is a generator of random numbers.
    #[must_use]
    pub fn is_drawn(self) -> bool {
        matches!(self, Random | Random48)
    }
}

/// What a function of the libraries of C and C++ keeps, and whether a call changes that.
pub fn kept(name: &str) -> impl Iterator<Item = (Kept, Rw)> + use<'_> {
    let name = plain(name);
    let first = KEPT.partition_point(|(known, ..)| *known < name);
    KEPT[first..].iter().take_while(move |(known, ..)| *known == name).map(|(_, kept, rw)| (*kept, *rw))
}

/// Sorted by name; a function may keep several things.
#[rustfmt::skip]
static KEPT: &[(&str, Kept, Rw)] = &[
    ("_ZNSt3pmr20get_default_resourceEv", Resource, Read), ("_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE", Resource, Update),
    ("_ZNSt6locale6globalERKS_", Locale, Update), ("_ZNSt6localeC1Ev", Locale, Read), ("_ZNSt6localeC2Ev", Locale, Read),
    ("_ZNSt8ios_base15sync_with_stdioEb", Streams, Update), ("_ZNSt8ios_base6xallocEv", Streams, Update),
    ("_ZSt13get_terminatev", Handlers, Read), ("_ZSt13set_terminatePFvvE", Handlers, Update), ("_ZSt14get_unexpectedv", Handlers, Read),
    ("_ZSt14set_unexpectedPFvvE", Handlers, Update), ("_ZSt15get_new_handlerv", Handlers, Read),
    ("_ZSt15set_new_handlerPFvvE", Handlers, Update), ("__cxa_atexit", Endings, Update),
    ("asctime", Times, Update), ("at_quick_exit", Endings, Update), ("atexit", Endings, Update),
    ("bind_textdomain_codeset", Messages, Update), ("bindtextdomain", Messages, Update), ("brk", Break, Update),
    ("clearenv", Environment, Update), ("closelog", Log, Update), ("crypt", Cipher, Update), ("ctime", Zone, Update),
    ("ctime", Times, Update), ("ctime", Environment, Read), ("ctime_r", Environment, Read), ("ctime_r", Zone, Read),
    ("dcgettext", Messages, Read), ("dcngettext", Messages, Read), ("dgettext", Messages, Read), ("dl_iterate_phdr", Libraries, Read),
    ("dladdr", Libraries, Read), ("dladdr1", Libraries, Read), ("dlclose", Libraries, Update), ("dlinfo", Libraries, Read),
    ("dlmopen", Libraries, Update), ("dlopen", Libraries, Update), ("dlsym", Libraries, Read), ("dlvsym", Libraries, Read),
    ("dngettext", Messages, Read), ("drand48", Random48, Update), ("ecvt", Texts, Update), ("encrypt", Cipher, Update),
    ("endgrent", Entries, Update), ("endpwent", Entries, Update), ("err", Errors, Read), ("error", Errors, Update),
    ("error_at_line", Errors, Update), ("errx", Errors, Read), ("ether_ntoa", Texts, Update), ("fcvt", Texts, Update),
    ("getdate", Times, Update), ("getenv", Environment, Read), ("getgrent", Entries, Update), ("getgrgid", Entries, Update),
    ("getgrnam", Entries, Update), ("gethostbyaddr", Entries, Update), ("gethostbyname", Entries, Update),
    ("gethostent", Entries, Update), ("getlogin", Entries, Update), ("getmntent", Entries, Update), ("getnetbyname", Entries, Update),
    ("getopt", Options, Update), ("getopt_long", Options, Update), ("getopt_long_only", Options, Update), ("getpass", Texts, Update),
    ("getprotobyname", Entries, Update), ("getprotobynumber", Entries, Update), ("getpwent", Entries, Update),
    ("getpwnam", Entries, Update), ("getpwuid", Entries, Update), ("getservbyname", Entries, Update),
    ("getservbyport", Entries, Update), ("getservent", Entries, Update), ("getspnam", Entries, Update), ("gettext", Messages, Read),
    ("getutent", Entries, Update), ("gmtime", Times, Update), ("hcreate", Table, Update), ("hdestroy", Table, Update),
    ("hsearch", Table, Update), ("inet_ntoa", Texts, Update), ("initstate", Random, Update), ("l64a", Texts, Update),
    ("lcong48", Random48, Update), ("lgamma", Sign, Update), ("lgammaf", Sign, Update), ("lgammal", Sign, Update),
    ("localeconv", Locale, Read), ("localtime", Zone, Update), ("localtime", Times, Update), ("localtime", Environment, Read),
    ("localtime_r", Zone, Read), ("localtime_r", Environment, Read), ("lrand48", Random48, Update), ("mallinfo", Heap, Read),
    ("mallinfo2", Heap, Read), ("malloc_info", Heap, Read), ("malloc_stats", Heap, Read), ("mblen", Characters, Update),
    ("mbtowc", Characters, Update), ("mktime", Zone, Update), ("mktime", Environment, Read), ("mrand48", Random48, Update),
    ("ngettext", Messages, Read), ("nl_langinfo", Locale, Read), ("on_exit", Endings, Update), ("openlog", Log, Update),
    ("pthread_atfork", Endings, Update), ("pthread_getattr_default_np", Threads, Read), ("pthread_getconcurrency", Threads, Read),
    ("pthread_getschedparam", Threads, Read), ("pthread_setattr_default_np", Threads, Update),
    ("pthread_setconcurrency", Threads, Update), ("pthread_setschedparam", Threads, Update), ("pthread_setschedprio", Threads, Update),
    ("ptsname", Texts, Update), ("putenv", Environment, Update), ("qecvt", Texts, Update), ("qfcvt", Texts, Update),
    ("rand", Random, Update), ("random", Random, Update), ("sbrk", Break, Update), ("secure_getenv", Environment, Read),
    ("seed48", Random48, Update), ("setenv", Environment, Update), ("setgrent", Entries, Update), ("setkey", Cipher, Update),
    ("setlocale", Locale, Update), ("setlogmask", Log, Update), ("setpwent", Entries, Update), ("setstate", Random, Update),
    ("srand", Random, Update), ("srand48", Random48, Update), ("srandom", Random, Update), ("strftime", Zone, Read),
    ("strtok", Tokens, Update), ("syslog", Log, Read), ("textdomain", Messages, Update), ("timelocal", Zone, Update),
    ("timelocal", Environment, Read), ("tmpnam", Texts, Update), ("ttyname", Texts, Update), ("tzset", Zone, Update),
    ("tzset", Environment, Read), ("unsetenv", Environment, Update), ("vsyslog", Log, Read), ("vwarn", Errors, Read),
    ("vwarnx", Errors, Read), ("warn", Errors, Read), ("warnx", Errors, Read), ("wctomb", Characters, Update),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_thing_has_its_number() {
        assert!(KEPT.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        for thing in Kept::ALL {
            assert_eq!(Kept::from_abi(thing as u8), Some(thing));
            assert!(KEPT.iter().any(|(_, kept, _)| *kept == thing));
        }
    }

    #[test]
    fn functions_share_what_they_keep() {
        let kept = |name| kept(name).collect::<Vec<_>>();
        assert_eq!(kept("getenv"), [(Environment, Read)]);
        assert_eq!(kept("setenv"), [(Environment, Update)]);
        assert!(kept("ctime").contains(&kept("gmtime")[0]));
        assert_eq!(kept("localtime_r"), [(Zone, Read), (Environment, Read)]);
        assert_eq!(kept("gmtime_r"), []);
    }
}
