//! Names of parts: a part that another one leaves is named after it. In text, numbers between dots: `0.3.1`.

use core::fmt;
use core::str::FromStr;
use std::vec::Vec;

/// The name of a part. The order is that in which parts count as done, whenever they were: by generation, then by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartId(Vec<u32>);

impl PartId {
    /// One of the first parts.
    #[must_use]
    pub fn first(number: u32) -> Self {
        Self(std::vec![number])
    }

    /// A part that this one leaves.
    #[must_use]
    pub fn child(&self, number: u32) -> Self {
        Self(self.0.iter().copied().chain([number]).collect())
    }

    /// The part that left this one; `None` for one of the first.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (_, before) = self.0.split_last()?;
        (!before.is_empty()).then(|| Self(before.to_vec()))
    }

    /// How many parts it descends from, itself included.
    #[must_use]
    pub fn generation(&self) -> usize {
        self.0.len()
    }

    /// A number that deals parts of one generation out evenly, and is the same for all that descend from one of them.
    #[must_use]
    pub fn lot(&self, generation: usize) -> u32 {
        self.0.iter().take(generation).fold(0, |sum, &number| sum.wrapping_add(number))
    }
}

impl PartialOrd for PartId {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PartId {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl fmt::Display for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, number) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if at == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

/// A word that names no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPartId;

impl FromStr for PartId {
    type Err = BadPartId;

    fn from_str(text: &str) -> Result<Self, BadPartId> {
        text.split('.').map(|number| number.parse().map_err(|_| BadPartId)).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn names_read_back_and_are_ordered_by_generation() {
        let words = ["0", "2", "10", "0.7", "1.0", "0.0.1"];
        let ids: Vec<PartId> = words.iter().map(|word| word.parse().expect("an id")).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().map(ToString::to_string).collect::<Vec<_>>(), words);
        assert_eq!(PartId::first(0).child(7), ids[3]);
        assert_eq!((ids[3].parent(), ids[2].parent()), (Some(PartId::first(0)), None));
        for bad in ["", "x", "1.", "1..2"] {
            assert_eq!(bad.parse::<PartId>(), Err(BadPartId), "{bad}");
        }
    }
}
