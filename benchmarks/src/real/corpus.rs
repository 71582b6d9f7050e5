//! Input data: text like a server's log, the same on every machine, compressible as such text is.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

const WORDS: [&str; 32] = [
    "request", "session", "timeout", "connect", "accepted", "worker", "thread", "buffer", "flush", "index", "table", "lock", "released",
    "cache", "miss", "hit", "evicted", "client", "server", "status", "error", "retry", "queue", "packet", "read", "write", "bytes",
    "closed", "opened", "user", "query", "row",
];

/// A file of this many mebibytes in `work/data`, made unless it is there.
pub fn file(work: &Path, mebibytes: u64) -> Result<PathBuf> {
    let folder = work.join("data");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("log-{mebibytes}.txt"));
    let length = mebibytes << 20;
    if fs::metadata(&path).is_ok_and(|data| data.len() == length) {
        return Ok(path);
    }
    let mut out = BufWriter::new(fs::File::create(&path).with_context(|| path.display().to_string())?);
    let mut left = usize::try_from(length)?;
    let mut state = 0x9E37_79B9_7F4A_7C15;
    while left > 0 {
        let line = line(&mut state);
        let part = &line.as_bytes()[..line.len().min(left)];
        out.write_all(part)?;
        left -= part.len();
    }
    out.flush()?;
    Ok(path)
}

/// One line; words that come first in the list come often.
fn line(state: &mut u64) -> String {
    let mut line = format!("{:010} [{:04x}]", next(state) % 10_000_000_000, next(state) % 0x1_0000);
    for _ in 0..4 + next(state) % 9 {
        let (a, b) = (next(state) % 32, next(state) % 32);
        line.push(' ');
        line.push_str(WORDS[usize::try_from(a.min(b)).unwrap_or_default()]);
        if next(state).is_multiple_of(4) {
            line.push_str(&format!("={}", next(state) % 100_000));
        }
    }
    line.push('\n');
    line
}

/// Xorshift: reproducible, and good enough for text.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_has_its_length_and_is_the_same_each_time() {
        let (one, two) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let read = |folder: &Path| fs::read(file(folder, 1).expect("made")).expect("read");
        let data = read(one.path());
        assert_eq!(data.len(), 1 << 20);
        assert_eq!(data, read(two.path()));
    }
}
