//! The thesis's program of independent regions, and its published path counts (tables 4.1 and 4.2, `javasafe`).

/// Threads, and regions of each.
#[rustfmt::skip]
pub(crate) const ROWS: [(usize, usize); 42] = [
    (2, 1), (2, 2), (2, 3), (2, 100), (2, 250), (2, 500), (2, 1000), (3, 1), (3, 2), (3, 3), (3, 50), (3, 100), (4, 1), (4, 2), (4, 3),
    (4, 10), (4, 20), (5, 1), (5, 2), (6, 10), (7, 5), (8, 3), (5, 3), (5, 4), (5, 5), (5, 10), (6, 1), (6, 2), (6, 3), (6, 5), (7, 1),
    (7, 2), (7, 3), (8, 1), (8, 2), (8, 4), (9, 1), (9, 2), (10, 1), (10, 2), (11, 1), (12, 1),
];

/// K threads that take N locks, one after the other, and share no data.
pub(crate) fn independent(threads: usize, regions: usize) -> String {
    let create: Vec<String> = (0..threads).map(|at| format!("create t{at}")).collect();
    let body: Vec<String> = (0..regions).map(|at| format!("lock m{at}, unlock m{at}")).collect();
    let bodies: String = (0..threads).map(|at| format!("t{at}: {}\n", body.join(", "))).collect();
    format!("main: {}\n{bodies}", create.join(", "))
}

/// `((n+2)^k - 1) / (n+1)`, which all published rows satisfy.
pub(crate) fn published(threads: usize, regions: usize) -> u64 {
    (0..threads).map(|power| (0..power).map(|_| regions as u64 + 2).product::<u64>()).sum()
}
