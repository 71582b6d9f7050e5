//! What functions of the C library keep from one call to the next, outside of any object that they are handed.
//!
//! Not told: what a function keeps of each thread (`strerror`), and what the environment and the locale change in functions that are not
//! named here.

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
}

use Kept::{Characters, Cipher, Entries, Environment, Locale, Options, Random, Random48, Sign, Table, Texts, Times, Tokens};

impl Kept {
    const ALL: [Self; 13] =
        [Environment, Random, Random48, Locale, Tokens, Times, Entries, Texts, Table, Characters, Options, Cipher, Sign];

    /// The inverse of `as u8`.
    #[must_use]
    pub fn from_abi(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kept| *kept as u8 == code)
    }

    /// Whether nothing else than functions that are named here shows what is kept. Otherwise the program finds it in memory.
    #[must_use]
    pub fn is_all_seen(self) -> bool {
        matches!(self, Environment | Random | Random48 | Characters | Cipher)
    }

    /// Whether it is a generator of random numbers.
    #[must_use]
    pub fn is_drawn(self) -> bool {
        matches!(self, Random | Random48)
    }
}

/// What a function of the C library keeps, and whether a call changes that.
#[must_use]
pub fn kept(name: &str) -> Option<(Kept, Rw)> {
    KEPT.binary_search_by(|(known, ..)| known.cmp(&name)).ok().map(|index| (KEPT[index].1, KEPT[index].2))
}

/// Sorted by name.
#[rustfmt::skip]
static KEPT: &[(&str, Kept, Rw)] = &[
    ("asctime", Times, Update), ("clearenv", Environment, Update), ("crypt", Cipher, Update), ("ctime", Times, Update),
    ("drand48", Random48, Update), ("ecvt", Texts, Update), ("encrypt", Cipher, Update), ("endgrent", Entries, Update),
    ("endpwent", Entries, Update), ("ether_ntoa", Texts, Update), ("fcvt", Texts, Update), ("getdate", Times, Update),
    ("getenv", Environment, Read), ("getgrent", Entries, Update), ("getgrgid", Entries, Update), ("getgrnam", Entries, Update),
    ("gethostbyaddr", Entries, Update), ("gethostbyname", Entries, Update), ("gethostent", Entries, Update), ("getlogin", Entries, Update),
    ("getmntent", Entries, Update), ("getnetbyname", Entries, Update), ("getopt", Options, Update), ("getopt_long", Options, Update),
    ("getopt_long_only", Options, Update), ("getpass", Texts, Update), ("getprotobyname", Entries, Update),
    ("getprotobynumber", Entries, Update), ("getpwent", Entries, Update), ("getpwnam", Entries, Update), ("getpwuid", Entries, Update),
    ("getservbyname", Entries, Update), ("getservbyport", Entries, Update), ("getservent", Entries, Update), ("getspnam", Entries, Update),
    ("getutent", Entries, Update), ("gmtime", Times, Update), ("hcreate", Table, Update), ("hdestroy", Table, Update),
    ("hsearch", Table, Update), ("inet_ntoa", Texts, Update), ("initstate", Random, Update), ("l64a", Texts, Update),
    ("lcong48", Random48, Update), ("lgamma", Sign, Update), ("lgammaf", Sign, Update), ("lgammal", Sign, Update),
    ("localeconv", Locale, Read), ("localtime", Times, Update), ("lrand48", Random48, Update), ("mblen", Characters, Update),
    ("mbtowc", Characters, Update), ("mrand48", Random48, Update), ("nl_langinfo", Locale, Read), ("ptsname", Texts, Update),
    ("putenv", Environment, Update), ("qecvt", Texts, Update), ("qfcvt", Texts, Update), ("rand", Random, Update),
    ("random", Random, Update), ("secure_getenv", Environment, Read), ("seed48", Random48, Update), ("setenv", Environment, Update),
    ("setgrent", Entries, Update), ("setkey", Cipher, Update), ("setlocale", Locale, Update), ("setpwent", Entries, Update),
    ("setstate", Random, Update), ("srand", Random, Update), ("srand48", Random48, Update), ("srandom", Random, Update),
    ("strtok", Tokens, Update), ("tmpnam", Texts, Update), ("ttyname", Texts, Update), ("unsetenv", Environment, Update),
    ("wctomb", Characters, Update),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_thing_has_its_number() {
        assert!(KEPT.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for thing in Kept::ALL {
            assert_eq!(Kept::from_abi(thing as u8), Some(thing));
            assert!(KEPT.iter().any(|(_, kept, _)| *kept == thing));
        }
    }

    #[test]
    fn functions_share_what_they_keep() {
        assert_eq!(kept("getenv"), Some((Environment, Read)));
        assert_eq!(kept("setenv"), Some((Environment, Update)));
        assert_eq!(kept("gmtime").map(|kept| kept.0), kept("ctime").map(|kept| kept.0));
        assert_eq!(kept("gmtime_r"), None);
    }
}
