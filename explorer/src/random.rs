//! The one source of chance: SplitMix64, seeded explicitly, the same numbers everywhere and for ever.

/// A generator of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// The number that comes next: made ahead, so that nobody waits for it.
    next: u64,
}

impl Random {
    /// The generator of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut random = Self { state: seed, next: 0 };
        random.next_u64();
        random
    }

    /// The next number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        core::mem::replace(&mut self.next, z ^ (z >> 31))
    }

    /// A number below `bound`, each as likely as the others up to 2^-32. 0 when `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        // The upper half of a 64-bit product is below `bound`.
        let product = (self.next_u64() >> 32) * u64::from(bound);
        u32::try_from(product >> 32).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // The first outputs for seed 1234567 of the reference implementation by Sebastiano Vigna.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_number_below_a_bound_comes_up() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 5];
        for _ in 0..5000 {
            seen[random.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 800), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
