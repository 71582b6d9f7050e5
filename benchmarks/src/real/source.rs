//! Debian's source packages, by name, unpacked and otherwise untouched.
//!
//! Fetching needs `deb-src` entries. As root they are made from the machine's own `deb` entries, so the same mirror serves both;
//! otherwise the commands are named and nothing is done.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::child::Child;

const LIMIT: Duration = Duration::from_secs(600);
const ADDED: &str = "/etc/apt/sources.list.d/atomfix-benchmarks";

/// The unpacked source of a package, fetched into `work/src` unless it is there. The upstream version must be the one given.
pub fn fetch(work: &Path, package: &str, version: &str) -> Result<PathBuf> {
    let folder = work.join("src");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    if let Some(found) = unpacked(&folder, package, version)? {
        return Ok(found);
    }
    let description = download(&folder, package, version)?;
    Child::new("dpkg-source", LIMIT).within(&folder).arg("-x").arg(description).run()?.succeeded()?;
    unpacked(&folder, package, version)?.with_context(|| format!("{package} did not unpack into {}", folder.display()))
}

/// The same without Debian's patches: what upstream released.
pub fn fetch_upstream(work: &Path, package: &str, version: &str) -> Result<PathBuf> {
    let folder = work.join("src");
    let tree = folder.join(format!("upstream-{package}-{version}"));
    if !tree.is_dir() {
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let description = download(&folder, package, version)?;
        let unpack = Child::new("dpkg-source", LIMIT).within(&folder).args(["--skip-patches", "-x"]).arg(description).arg(&tree);
        unpack.run()?.succeeded()?;
    }
    Ok(tree)
}

/// The description of a source package, downloaded with all that it names.
fn download(folder: &Path, package: &str, version: &str) -> Result<PathBuf> {
    if !has_source_entries()? {
        add_source_entries()?;
        apt_get(folder, &["update"])?;
    }
    if let Err(error) = download_any(folder, package, version) {
        // The lists may be older than what the mirror has. Who may not renew them is told what failed.
        apt_get(folder, &["update"]).and_then(|()| download_any(folder, package, version)).map_err(|_| error)?;
    }
    let description = files_of(folder)?.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(&format!("{package}_")).is_some_and(|name| is_of(name, version)) && name.ends_with(".dsc")
    });
    let Some(description) = description else {
        bail!("{package}: this machine's Debian does not offer version {version} (Debian 12 does)");
    };
    Ok(description)
}

/// Downloads the newest revision, or else any other of this upstream version: a mirror may list one whose files it does not have.
fn download_any(folder: &Path, package: &str, version: &str) -> Result<()> {
    let others = revisions(package, version)?.into_iter().map(|revision| format!("{package}={revision}"));
    let mut failed = Ok(());
    for package in iter::once(package.to_owned()).chain(others) {
        match apt_get(folder, &["source", "--download-only", &package]) {
            Ok(()) => return Ok(()),
            Err(error) => failed = failed.and(Err(error)),
        }
    }
    failed
}

/// Runs `apt-get` in this folder, as who may write there.
fn apt_get(folder: &Path, arguments: &[&str]) -> Result<()> {
    Child::new("apt-get", LIMIT).within(folder).args(["-o", "APT::Sandbox::User=root"]).args(arguments).run()?.succeeded()?;
    Ok(())
}

/// The revisions of an upstream version that apt's lists have.
fn revisions(package: &str, version: &str) -> Result<Vec<String>> {
    let shown = Child::new("apt-cache", LIMIT).args(["showsrc", "--only-source", package]).run()?;
    Ok(of_version(&shown.stdout, version))
}

/// Of what `apt-cache showsrc` prints, the revisions of an upstream version.
fn of_version(shown: &str, version: &str) -> Vec<String> {
    let revisions = shown.lines().filter_map(|line| line.strip_prefix("Version: "));
    revisions.filter(|revision| is_of(revision, version)).map(str::to_owned).collect()
}

/// Whether what begins with the number of a revision begins with this upstream version, and not with a longer one.
fn is_of(revision: &str, version: &str) -> bool {
    revision.strip_prefix(version).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}

/// A fresh copy of a source tree, for one build; an earlier copy is removed. Times are kept, or make would rebuild configure scripts.
pub fn copy(source: &Path, target: &Path) -> Result<()> {
    if target.exists() {
        fs::remove_dir_all(target).with_context(|| target.display().to_string())?;
    }
    Child::new("cp", LIMIT).arg("-a").arg(source).arg(target).run()?.succeeded()?;
    Ok(())
}

fn unpacked(folder: &Path, package: &str, version: &str) -> Result<Option<PathBuf>> {
    let begin = format!("{package}-");
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir() && name.strip_prefix(&begin).is_some_and(|revision| is_of(revision, version))
    };
    Ok(files_of(folder)?.into_iter().find(is_its))
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn apt_entries() -> Result<Vec<(PathBuf, String)>> {
    let mut paths = vec![PathBuf::from("/etc/apt/sources.list")];
    paths.extend(files_of(Path::new("/etc/apt/sources.list.d")).unwrap_or_default());
    let wanted = |path: &PathBuf| path.is_file() && path.extension().is_some_and(|extension| extension == "list" || extension == "sources");
    paths.into_iter().filter(wanted).map(|path| Ok((path.clone(), fs::read_to_string(path)?))).collect()
}

fn has_source_entries() -> Result<bool> {
    let names_source = |line: &str| line.starts_with("deb-src") || (line.starts_with("Types:") && line.contains("deb-src"));
    Ok(apt_entries()?.iter().any(|(_, text)| text.lines().any(names_source)))
}

fn add_source_entries() -> Result<()> {
    let entries = apt_entries()?;
    for (path, text) in entries.iter().filter(|(_, text)| text.contains("debian")) {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let added = PathBuf::from(format!("{ADDED}.{extension}"));
        fs::write(&added, as_source_entries(text)).with_context(|| {
            format!("{}: cannot be written; as root, add deb-src entries to apt's sources and run `apt-get update`", added.display())
        })?;
    }
    Ok(())
}

/// Both forms of apt's sources, binary entries turned into source entries.
fn as_source_entries(text: &str) -> String {
    let line = |line: &str| match (line.strip_prefix("deb "), line.strip_prefix("Types:")) {
        (Some(rest), _) => format!("deb-src {rest}\n"),
        (_, Some(_)) => "Types: deb-src\n".to_owned(),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_those_of_the_upstream_version() {
        let shown =
            "Package: libzstd\nVersion: 1.5.4+dfsg2-5\nStandards-Version: 4.6.1\n\nVersion: 1.5.4+dfsg2-5+deb12u1\nVersion: 1.5.40-1\n";
        assert_eq!(of_version(shown, "1.5.4"), ["1.5.4+dfsg2-5", "1.5.4+dfsg2-5+deb12u1"]);
        assert_eq!(of_version(shown, "2"), Vec::<String>::new());
    }

    #[test]
    fn both_forms_of_entries_are_turned_into_source_entries() {
        assert_eq!(as_source_entries("deb http://mirror/debian bookworm main"), "deb-src http://mirror/debian bookworm main\n");
        assert_eq!(as_source_entries("Types: deb\nURIs: http://mirror/debian"), "Types: deb-src\nURIs: http://mirror/debian\n");
    }
}
