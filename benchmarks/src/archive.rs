//! The lock archive that the tool links in, as a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Writes the archive into `folder`, which is made, and says where it is.
pub fn lock(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join("libatomfix_rt_lock.a");
    fs::write(&path, archives::LOCK.content).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
