//! Orders that no passing run has shown, as `profiler` asks a recording process to bring them about: in `abi::ENV_RECORD`, each as the
//! decimal keys of its two sites with a hyphen between.

use core::fmt;

use crate::ids::SiteKey;

/// An order of two accesses to one memory by two threads, the second of which has accessed it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// What one thread is to do just before the other's second access.
    pub between: SiteKey,
    /// That access.
    pub second: SiteKey,
}

/// Orders that one process can be asked for.
pub const MOST_WANTED: usize = 8;

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.between.0, self.second.0)
    }
}

impl Wanted {
    /// What `Display` wrote.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (between, second) = core::str::from_utf8(text).ok()?.split_once('-')?;
        Some(Self { between: SiteKey(between.parse().ok()?), second: SiteKey(second.parse().ok()?) })
    }

    /// Whether a site is one of the two.
    #[must_use]
    pub fn is_at(&self, site: SiteKey) -> bool {
        self.between == site || self.second == site
    }
}
