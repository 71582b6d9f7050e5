//! The members of static archives, thin ones too.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::read::archive::ArchiveFile;

/// One member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Its name. Names may repeat in one archive.
    pub(super) name: String,
    /// What it holds.
    pub(super) content: Vec<u8>,
}

/// The members of an archive in their order; or what is wrong with it.
pub(super) fn read(path: &Path, archive: &[u8]) -> Result<Vec<Member>, String> {
    let file = ArchiveFile::parse(archive).map_err(|error| format!("not a sound archive: {error}"))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut members = Vec::new();
    for member in file.members() {
        let member = member.map_err(|error| format!("not a sound archive: {error}"))?;
        let content = if member.is_thin() {
            let path = folder.join(OsStr::from_bytes(member.name()));
            fs::read(&path).map_err(|error| format!("its member {}: {error}", path.display()))?
        } else {
            member.data(archive).map_err(|error| format!("not a sound archive: {error}"))?.to_vec()
        };
        members.push(Member { name: String::from_utf8_lossy(member.name()).into_owned(), content });
    }
    Ok(members)
}

/// BLAKE3 of a file, in hex. A thin archive's members belong to it.
pub(super) fn hash(path: &Path, content: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(content);
    if content.starts_with(b"!<thin>\n") {
        // Members that cannot be read are noticed when they are needed; without them the hash is another one.
        for member in read(path, content).unwrap_or_default() {
            hasher.update(&member.content);
        }
    }
    hasher.finalize().to_hex().to_string()
}
