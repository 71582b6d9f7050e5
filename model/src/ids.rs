//! Identities. Two kinds: *keys* are stable hashes that survive recompiling of unrelated code and are what files and
//! hooks carry; *ids* are dense `u32` indices into one table of one run of the tool and never leave it.
//!
//! Invariant: no sentinel values. Where an identity may be absent, the type is `Option<_>`.

use core::fmt;

/// Defines a dense index: a `u32` newtype that prints as its prefix and number (`n12`).
macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(pub u32);

        impl $name {
            /// The id of the entry at `index` of its table. Panics when a table has 2^32 entries or more.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table of fewer than 2^32 entries"))
            }

            /// The index into its table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

/// Defines a stable key: a 64-bit hash that prints as its prefix and 16 hexadecimal digits, and reads back.
macro_rules! stable_key {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{:016x}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl core::str::FromStr for $name {
            type Err = BadKey;

            fn from_str(text: &str) -> Result<Self, BadKey> {
                let digits = text.strip_prefix($prefix).filter(|d| d.len() == 16).ok_or(BadKey)?;
                u64::from_str_radix(digits, 16).map(Self).map_err(|_| BadKey)
            }
        }

        /// Text in formats for people (TOML, JSON), the bare integer in binary ones.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_u64(self.0) }
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = <alloc::string::String as serde::Deserialize>::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    u64::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

/// Text that is not a key: the wrong prefix, or not 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadKey;

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a key: expected a prefix and 16 hexadecimal digits")
    }
}

impl core::error::Error for BadKey {}

stable_key!(
    /// One instruction that matters. Hash of its function's key and its ordinal among the function's sites.
    SiteKey, "s"
);
stable_key!(
    /// One function body. Hash of the module's path (for local symbols), the linkage name and the body without its debug
    /// locations: a changed function gets a new key and so loses only its own profile.
    FunctionKey, "f"
);

dense_id!(
    /// A node of one function's control-flow graph.
    NodeId, "n"
);
dense_id!(
    /// A value of one function that may hold a pointer.
    PointerId, "p"
);
dense_id!(
    /// A function of one `Program`.
    FunctionId, "fn"
);
dense_id!(
    /// An abstract variable: what one injected lock protects.
    VariableId, "v"
);
dense_id!(
    /// An injected lock of one plan; also its index in the runtime's table of locks.
    LockId, "lock"
);
dense_id!(
    /// A label of one plan: the place of an acquisition, which is what `?release` and `?degrade` test (seed 002, section 7).
    Label, "l"
);
dense_id!(
    /// A thread of one explored execution, in order of creation; 0 is the initial thread.
    ThreadId, "t"
);
dense_id!(
    /// A synchronization object or shared location of one explored execution, in order of first use.
    ObjectId, "o"
);

/// The identity of one process's recording: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RunId(pub u128);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// 64-bit FNV-1a, the hash behind keys and the checksum of files: fixed for ever, since files carry its results.
/// Every step is a bijection of the state, so two inputs of one length that differ in one byte never collide.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_from(0xcbf2_9ce4_8422_2325, bytes)
}

/// Continues an FNV-1a hash with more bytes: `fnv1a_from(fnv1a(a), b) == fnv1a(ab)`.
#[must_use]
pub fn fnv1a_from(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

impl SiteKey {
    /// The key of the `ordinal`-th site of a function.
    #[must_use]
    pub fn of(function: FunctionKey, ordinal: u32) -> Self {
        Self(fnv1a_from(fnv1a(&function.0.to_le_bytes()), &ordinal.to_le_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn keys_read_back_what_they_print() {
        let key = SiteKey(0x1234_5678_9abc_def0);
        assert_eq!(key.to_string(), "s123456789abcdef0");
        assert_eq!("s123456789abcdef0".parse(), Ok(key));
        assert_eq!("f123456789abcdef0".parse::<SiteKey>(), Err(BadKey));
        assert_eq!("s1234".parse::<SiteKey>(), Err(BadKey));
    }

    #[test]
    fn fnv1a_has_its_published_values() {
        // Test vectors of the FNV reference (isthe.com/chongo/tech/comp/fnv).
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
