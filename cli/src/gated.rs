//! Programs to explore: what the user names, and the gated builds made of it.
//!
//! A hardened program is explored together with its original, which is built from the same inputs without the plan.
//! Gated builds are kept in the project's `build` folder, named by a hash of all that went into them; beside each a list of the functions that
//! have no hooks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use capture::Capture;
use explorer::target::process::Program as Process;
use model::ids::{fnv1a, fnv1a_from};
use model::pass::Hooks;
use model::plan::Plan;
use model::program::{Gap, Uncovered};
use model::report::Build;
use model::wire;

use crate::captured::captured;
use crate::exit::Failure;
use crate::input;
use crate::project::{self, Project};
use crate::recorded::own_version;
use crate::runtime::Runtime;
use crate::variant::{self, Variant};

/// A program that the user named.
pub(crate) struct Subject {
    /// As the user named it.
    pub(crate) program: PathBuf,
    /// Where its things are kept: beside the original.
    pub(crate) project: Project,
    /// How it was built.
    pub(crate) capture: Capture,
    /// The plan in it, when it is a hardened one.
    pub(crate) plan: Option<Plan>,
}

/// A build with the gate in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gated {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What tells it from other builds of the program; the same for all versions of the gate.
    pub(crate) identity: String,
    /// Which build.
    pub(crate) build: Build,
    /// Functions that exploration does not see into.
    pub(crate) unseen: Vec<Uncovered>,
}

impl Subject {
    /// Opens a program that was built or hardened by atomfix.
    pub(crate) fn open(program: &Path) -> Result<Self, Failure> {
        let named = Project::open(program)?;
        let capture = captured(program)?;
        let (project, plan) = match &capture.record.hardened {
            None => (named, None),
            Some(hardened) => {
                let plan = project::parse_plan(&hardened.plan, &format!("{}: its plan", program.display()), &capture.build)?;
                (Project::of(&hardened.original), Some(plan))
            }
        };
        Ok(Self { program: program.to_owned(), project, capture, plan })
    }

    /// Which build the user named.
    pub(crate) fn named(&self) -> Build {
        if self.plan.is_some() { Build::Hardened } else { Build::Original }
    }

    /// The name of a build, for messages.
    pub(crate) fn name(&self, build: Build) -> &Path {
        if build == self.named() { &self.program } else { &self.project.program }
    }

    /// The identity of a build: of the inputs and the plan.
    pub(crate) fn identity(&self, build: Build) -> String {
        let plan = self.plan(build).map(project::plan_text).unwrap_or_default();
        format!("{:016x}", fnv1a_from(fnv1a(self.capture.build.as_bytes()), plan.as_bytes()))
    }

    fn plan(&self, build: Build) -> Option<&Plan> {
        self.plan.as_ref().filter(|_| build == Build::Hardened)
    }

    /// Builds it with the gate, unless that was done before.
    pub(crate) fn gated(&self, build: Build) -> Result<Gated, Failure> {
        let identity = self.identity(build);
        let made_from = format!("{identity} {} {}", Runtime::Gate.hash(), own_version());
        let path = self.project.subfolder("build")?.join(format!("gate-{:016x}", fnv1a(made_from.as_bytes())));
        let listing = path.with_extension("unseen");
        if !path.is_file() || !listing.is_file() {
            let link_args = ["-Wl,--export-dynamic", "-Wl,-z,now"].map(str::to_owned).to_vec();
            let variant = Variant { plan: self.plan(build), hooks: Some(Hooks::Gate), runtime: Runtime::Gate, hardened: None, link_args };
            let built = variant::build(&self.capture, variant, &path)?;
            let lines: String = built.refused.iter().map(|one| format!("{}\t{}\n", one.what, one.why)).collect();
            wire::write_atomically(&listing, lines.as_bytes()).map_err(|error| unlisted(&listing, &error))?;
        }
        let lines = std::fs::read_to_string(&listing).map_err(|error| unlisted(&listing, &error))?;
        let entry = |(what, why): (&str, &str)| Uncovered { what: what.to_owned(), why: why.to_owned(), gap: Gap::Function };
        let unseen = lines.lines().filter_map(|line| line.split_once('\t')).map(entry).collect();
        Ok(Gated { path, identity, build, unseen })
    }

    /// A gated build as a process to start.
    pub(crate) fn process(&self, gated: &Gated, arguments: &[OsString]) -> Process {
        Process { path: gated.path.clone(), name: self.name(gated.build).as_os_str().to_owned(), arguments: arguments.to_vec() }
    }
}

fn unlisted(listing: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("{}: {error}", listing.display()), input::help_to_write(error))
}
