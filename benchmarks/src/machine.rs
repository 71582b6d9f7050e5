//! The machine that numbers were taken on: no number is printed without it.

use std::fs;
use std::thread;

/// One line: processor, cores, memory, kernel, distribution.
#[must_use]
pub fn describe() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let value =
            |line: &str| line.strip_prefix(name).map(|rest| rest.trim_start_matches([' ', '\t', ':', '=']).trim_matches('"').to_owned());
        text.lines().find_map(value)
    };
    let unknown = || "unknown".to_owned();
    let processor = field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(unknown);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = field(&read("/proc/meminfo"), "MemTotal").and_then(|kib| kib.split(' ').next()?.parse::<u64>().ok()).unwrap_or(0);
    let kernel = read("/proc/sys/kernel/osrelease");
    let system = field(&read("/etc/os-release"), "PRETTY_NAME").unwrap_or_else(unknown);
    format!("{processor}, {cores} cores, {:.1} GiB, Linux {}, {system}", gib(memory), kernel.trim())
}

#[expect(clippy::cast_precision_loss, reason = "for people, one digit behind the point")]
fn gib(kib: u64) -> f64 {
    kib as f64 / f64::from(1 << 20)
}
