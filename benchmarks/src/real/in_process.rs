//! Real programs as parts of small ones of ours (`clients/`): memcached's own objects with a `main` of ours, and liblzma.
//!
//! What is linked is what their own build systems make of unmodified sources, except that memcached's `main` is compiled once more
//! under another name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::session::{LIMIT, atomfix};
use super::{Environment, source};
use crate::child::Child;

/// Which state of a source package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patches {
    /// As Debian builds it.
    Applied,
    /// As its upstream released it; Debian's source package has both.
    LeftOut,
}

/// Makes memcached's objects in this folder.
pub fn memcached(environment: &Environment, folder: &Path) -> Result<()> {
    source::copy(&source::fetch(&environment.work, "memcached", "1.6.18")?, folder)?;
    let compiler = format!("CC={} cc", environment.atomfix.display());
    Child::new("./configure", LIMIT).within(folder).args([&compiler, "CFLAGS=-O2 -g", "--disable-coverage"]).run()?.succeeded()?;
    let make = Child::new("make", LIMIT).within(folder).args(["-j2", "memcached"]);
    make.args(["ACLOCAL=:", "AUTOCONF=:", "AUTOMAKE=:", "AUTOHEADER=:"]).run()?.succeeded()?;
    let compile = atomfix(environment, folder, "cc").args(["-DHAVE_CONFIG_H", "-I.", "-O2", "-g", "-Dmain=memcached_main"]);
    compile.args(["-c", "memcached.c", "-o", "server.o"]).run()?.succeeded()?;
    Ok(())
}

/// Links a client with memcached's objects, under the client's name.
pub fn with_memcached(environment: &Environment, folder: &Path, client: &str) -> Result<PathBuf> {
    let mut objects = vec!["server.o".to_owned()];
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("memcached-") && name.ends_with(".o") && name != "memcached-memcached.o" {
            objects.push(name);
        }
    }
    objects.sort();
    link(environment, folder, client, &["-DHAVE_CONFIG_H", "-I."], objects, &["-levent"])
}

/// Makes liblzma in this folder.
pub fn xz(environment: &Environment, folder: &Path, patches: Patches) -> Result<()> {
    let tree = match patches {
        Patches::Applied => source::fetch(&environment.work, "xz-utils", "5.4.1")?,
        Patches::LeftOut => source::fetch_upstream(&environment.work, "xz-utils", "5.4.1")?,
    };
    source::copy(&tree, folder)?;
    let compiler = format!("CC={} cc", environment.atomfix.display());
    let configure = Child::new("./configure", LIMIT).within(folder).args([&compiler, "CFLAGS=-O2 -g", "--disable-shared"]);
    let programs = ["--disable-nls", "--disable-doc", "--disable-xz", "--disable-xzdec", "--disable-lzmadec", "--disable-lzmainfo"];
    configure.args(programs).arg("--disable-scripts").run()?.succeeded()?;
    Child::new("make", LIMIT).within(folder).args(["-j2", "-C", "src/liblzma"]).run()?.succeeded()?;
    Ok(())
}

/// Links a client with liblzma, under the client's name.
pub fn with_xz(environment: &Environment, folder: &Path, client: &str) -> Result<PathBuf> {
    link(environment, folder, client, &["-Isrc/liblzma/api"], vec!["src/liblzma/.libs/liblzma.a".to_owned()], &[])
}

fn link(environment: &Environment, folder: &Path, client: &str, flags: &[&str], parts: Vec<String>, libraries: &[&str]) -> Result<PathBuf> {
    let file = format!("{client}.c");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(&file);
    fs::copy(&from, folder.join(&file)).with_context(|| from.display().to_string())?;
    let compile = atomfix(environment, folder, "cc").args(["-O2", "-g", "-pthread"]).args(flags).arg(&file);
    compile.args(parts).args(libraries).args(["-o", client]).run()?.succeeded()?;
    Ok(folder.join(client))
}
