//! pbzip2 and memcached under the campaign: what pbzip2 packs must unpack to what it was, and memcached must serve a load without an
//! error and end when it is told to.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::journal::Journal;
use super::{Extent, LIMIT, Subject, Tally, examine};
use crate::child::Child;
use crate::real::{Environment, corpus, memcached, pbzip2};

/// pbzip2, packing and unpacking two megabytes in blocks of 100 kB.
pub fn packer(environment: &Environment, archive: &Path, folder: &Path, extent: &Extent, journal: &Journal<'_>) -> Result<Tally> {
    if let Some(tally) = journal.complete("pbzip2", extent) {
        return Ok(tally);
    }
    let original = pbzip2::build(environment)?;
    let data = corpus::file(&environment.work, 2)?;
    let wanted = fs::read(&data)?;
    let judge = |program: &Path, options: &str| -> Result<Option<String>> {
        let folder = tempfile::tempdir()?;
        let (packed, unpacked) = (folder.path().join("data.bz2"), folder.path().join("data"));
        let run = |arguments: &[&str], from: &Path, to: &Path| {
            Child::new(program, LIMIT).args(arguments).arg(from).stdout(to).env("ATOMFIX_OPTIONS", options).run()
        };
        for (arguments, from, to) in [(&["-p3", "-b1", "-k", "-c"][..], &data, &packed), (&["-p3", "-d", "-k", "-c"], &packed, &unpacked)] {
            let end = run(arguments, from, to)?;
            if !end.status.success() {
                return Ok(Some(if end.timed_out() { "hangs".to_owned() } else { format!("{}: {}", end.status, end.stderr.trim()) }));
            }
        }
        Ok((fs::read(&unpacked)? != wanted).then(|| "unpacks to something else".to_owned()))
    };
    examine(&Subject { name: "pbzip2".to_owned(), original, judge: &judge }, archive, folder, extent, journal)
}

/// memcached with four threads, under a short load.
pub fn server(environment: &Environment, archive: &Path, folder: &Path, extent: &Extent, journal: &Journal<'_>) -> Result<Tally> {
    if let Some(tally) = journal.complete("memcached", extent) {
        return Ok(tally);
    }
    let original = memcached::build(environment, &environment.work.join("memcached"))?;
    let judge = |program: &Path, options: &str| memcached::serve_once(program, options, LIMIT);
    examine(&Subject { name: "memcached".to_owned(), original, judge: &judge }, archive, folder, extent, journal)
}
