//! What users hand over: files to read, and numbers that mean something only above zero.
//!
//! A device is refused: some have no end, and reading them would take all memory.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

/// The whole content of a file, or of a pipe.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, not a file"));
    }
    fs::read(path)
}

/// What helps who cannot write a file into its folder.
pub(crate) const NAME_ANOTHER: &str = "name a file in a folder that exists and can be written";

/// What helps who cannot write a file.
pub(crate) fn help_to_write(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space, or name a file on another disk",
        _ => NAME_ANOTHER,
    }
}

/// Reads a number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|seconds| !seconds.is_zero()).ok_or_else(|| "not a number of seconds above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_that_can_pass_are_read() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["0", "-1", "nan", "inf", "1e300", "soon", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        assert!(read(Path::new("/dev/zero")).is_err());
        assert!(read(Path::new("/")).is_err());
    }
}
