//! Comparing two ways of doing one thing: runs alternate, so that what disturbs the machine disturbs both; medians are compared.

use std::time::Duration;

use anyhow::Result;

/// What one run cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Wall time.
    pub wall: Duration,
    /// Processor time, which other work on the machine disturbs less.
    pub cpu: Duration,
    /// The largest resident set, in bytes.
    pub memory: u64,
}

/// Medians of several ways, in the order in which they were given, measured round by round.
pub fn alternate(rounds: usize, ways: &mut [&mut dyn FnMut() -> Result<Cost>]) -> Result<Vec<Cost>> {
    let mut seen = vec![Vec::with_capacity(rounds); ways.len()];
    for _ in 0..rounds {
        for (way, costs) in ways.iter_mut().zip(&mut seen) {
            costs.push(way()?);
        }
    }
    Ok(seen.iter().map(|costs| median(costs)).collect())
}

/// The median of each part on its own.
fn median(costs: &[Cost]) -> Cost {
    let middle = costs.len() / 2;
    let mut walls: Vec<_> = costs.iter().map(|cost| cost.wall).collect();
    let mut times: Vec<_> = costs.iter().map(|cost| cost.cpu).collect();
    let mut memories: Vec<_> = costs.iter().map(|cost| cost.memory).collect();
    walls.sort();
    times.sort();
    memories.sort();
    let of = |sorted: &[Duration]| sorted.get(middle).copied().unwrap_or_default();
    Cost { wall: of(&walls), cpu: of(&times), memory: memories.get(middle).copied().unwrap_or_default() }
}

/// How many times the base.
#[must_use]
pub fn ratio(value: Duration, base: Duration) -> f64 {
    value.as_secs_f64() / base.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_come_from_alternating_runs() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut waits = [3, 1, 2].into_iter();
        let mut first = || {
            order.borrow_mut().push('a');
            Ok(Cost { wall: Duration::from_secs(waits.next().unwrap_or(0)), cpu: Duration::ZERO, memory: 7 })
        };
        let mut second = || {
            order.borrow_mut().push('b');
            Ok(Cost { wall: Duration::from_secs(4), cpu: Duration::ZERO, memory: 9 })
        };
        let medians = alternate(3, &mut [&mut first, &mut second]).expect("measured");
        assert_eq!(medians.iter().map(|cost| (cost.wall.as_secs(), cost.memory)).collect::<Vec<_>>(), [(2, 7), (4, 9)]);
        assert_eq!(order.into_inner().iter().collect::<String>(), "ababab");
        assert!((ratio(Duration::from_secs(3), Duration::from_secs(2)) - 1.5).abs() < 1e-9);
    }
}
