//! The folder `APP.atomfix` beside a program: where everything that atomfix knows about it lies.
//!
//! | file | what it is |
//! |---|---|
//! | `profile` | `model::profile::Profile`, framed (`wire::PROFILE`), postcard |
//! | `plan.toml` | `model::plan::Plan` |
//! | `certificate.json`, `certificate.txt` | what the checker established about the plan (`certificate`) |
//! | `schedules/` | failing schedules that `check` found |
//! | `recordings/` | what runs are recording at this moment |
//! | `swap.journal`, `swap.lock`, `original` | a swap by `profile --swap` in effect: see `profiler::swap` |
//! | `build/` | instrumented builds, and the program's extract, named by what they were made from; safe to delete |
//!
//! Damaged, foreign or stale files are errors that name the file and the offset; nothing is ever ignored in silence.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::plan::{PLAN_SCHEMA, Plan};
use model::profile::Profile;
use model::program::Program;
use model::wire::{self, PROFILE};

use profiler::swap::Recovery;

use crate::exit::Failure;
use crate::wording::pasted;

/// A program and its folder.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The program, as the user named it.
    pub(crate) program: PathBuf,
    /// `PROGRAM.atomfix`.
    pub(crate) folder: PathBuf,
}

/// How much of a profile belongs to the program as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freshness {
    /// Sites of the profile that the program has.
    pub(crate) matching: usize,
    /// Sites of the profile.
    pub(crate) mentioned: usize,
}

impl Freshness {
    /// The one line that says so, when not everything matches.
    pub(crate) fn warning(self) -> Option<String> {
        (self.matching < self.mentioned).then(|| {
            let per_mille = self.matching * 1000 / self.mentioned.max(1);
            format!(
                "profile matches {}.{} % of its sites; the rest belongs to functions that changed since, and is left out",
                per_mille / 10,
                per_mille % 10
            )
        })
    }
}

impl Project {
    /// The project of a program that must exist. Nothing is created yet.
    ///
    /// A swap that a killed `profile --swap` left is undone first.
    pub(crate) fn open(program: &Path) -> Result<Self, Failure> {
        undo_swap(&Self::of(program))?;
        if !program.is_file() {
            let what = if program.exists() { "it is no program" } else { "there is no such program" };
            return Err(Failure::usage(format!("{}: {what}", program.display()), "name a program built with `atomfix cc`"));
        }
        Ok(Self::of(program))
    }

    /// The project of a program, whether or not it exists.
    pub(crate) fn of(program: &Path) -> Self {
        let mut folder = program.as_os_str().to_owned();
        folder.push(".atomfix");
        Self { program: program.to_owned(), folder: folder.into() }
    }

    /// The program, for messages.
    pub(crate) fn name(&self) -> std::path::Display<'_> {
        self.program.display()
    }

    pub(crate) fn profile_path(&self) -> PathBuf {
        self.folder.join("profile")
    }

    pub(crate) fn plan_path(&self) -> PathBuf {
        self.folder.join("plan.toml")
    }

    /// A folder inside the project's, made if need be.
    pub(crate) fn subfolder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(path)
    }

    /// The profile, if there is one.
    pub(crate) fn profile(&self) -> Result<Profile, Failure> {
        let path = self.profile_path();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let next = format!("run `atomfix profile {} -- ARGS` with arguments for which the program passes", pasted(&self.program));
                return Err(Failure::usage(format!("{}: there is no profile of this program", self.name()), next));
            }
            Err(error) => {
                let next = format!("make it readable, or move what is in its place and profile again: `ls -ld {}`", self.folder.display());
                return Err(Failure::usage(format!("{}: cannot read: {error}", path.display()), next));
            }
        };
        let again = format!("delete it and profile again: `rm {}`", path.display());
        let body = wire::unframe(PROFILE, &bytes).map_err(|damage| Failure::usage(format!("{}: {damage}", path.display()), &again))?;
        postcard::from_bytes(body).map_err(|error| Failure::usage(format!("{}: its body does not decode: {error}", path.display()), &again))
    }

    /// How much of a profile still belongs to the program; an error when it is a profile of something else.
    ///
    /// Sites survive the recompiling of unrelated code, so a profile of an older build counts for what has not changed since.
    pub(crate) fn freshness(&self, program: &Program, profile: &Profile) -> Result<Freshness, Failure> {
        let known = program.sites();
        let mentioned = profile.mentioned_sites();
        let matching = mentioned.iter().filter(|site| known.contains_key(site)).count();
        if matching * 2 < mentioned.len() {
            let what = format!(
                "{}: this is a profile of another build of {}: only {matching} of its {} sites are in this one",
                self.profile_path().display(),
                self.name(),
                mentioned.len()
            );
            return Err(Failure::usage(what, format!("delete it and profile again: `rm {}`", self.profile_path().display())));
        }
        Ok(Freshness { matching, mentioned: mentioned.len() })
    }

    /// Stores the profile, whole or not at all.
    pub(crate) fn store_profile(&self, profile: &Profile) -> Result<(), Failure> {
        let body = postcard::to_stdvec(profile).expect("a profile encodes");
        self.store(&self.profile_path(), &wire::frame(PROFILE, &body))
    }

    /// Stores the plan, for people to read and edit.
    pub(crate) fn store_plan(&self, plan: &Plan) -> Result<PathBuf, Failure> {
        let path = self.plan_path();
        self.store(&path, plan_text(plan).as_bytes())?;
        Ok(path)
    }

    /// Stores a text.
    pub(crate) fn store_text(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.folder.join(name);
        self.store(&path, text.as_bytes())?;
        Ok(path)
    }

    fn store(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        fs::create_dir_all(&self.folder).map_err(|error| cannot_write(&self.folder, &error))?;
        wire::write_atomically(path, bytes).map_err(|error| cannot_write(path, &error))
    }
}

/// The plan as TOML with a comment that says what it is.
pub(crate) fn plan_text(plan: &Plan) -> String {
    let body = toml::to_string(plan).expect("a plan has a TOML form");
    format!(
        "# The locks that `atomfix harden` injects. Set `enabled = false` to switch one off.\n\
         # Node numbers belong to the build named below; infer again after changing the source.\n{body}"
    )
}

/// Reads a plan that people may have edited, with its text.
pub(crate) fn read_plan(path: &Path, build: &str) -> Result<(Plan, String), Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display()), "`atomfix infer` writes a plan"))?;
    Ok((parse_plan(&text, &path.display().to_string(), build)?, text))
}

/// Reads a plan's text; `name` is for messages.
pub(crate) fn parse_plan(text: &str, name: &str, build: &str) -> Result<Plan, Failure> {
    let again = "undo the edit, or write the plan anew with `atomfix infer`";
    let plan: Plan =
        toml::from_str(text).map_err(|error| Failure::usage(format!("{name}: not a plan: {}", error.to_string().trim_end()), again))?;
    if plan.schema != PLAN_SCHEMA {
        return Err(Failure::usage(
            format!("{name}: schema {} is not known to this atomfix, which reads {PLAN_SCHEMA}", plan.schema),
            again,
        ));
    }
    if plan.build != build {
        return Err(Failure::usage(format!("{name}: this plan was made for another build"), "write it anew with `atomfix infer`"));
    }
    for (index, lock) in plan.locks.iter().enumerate() {
        if lock.id.index() != index {
            return Err(Failure::usage(format!("{name}: lock number {index} has the id {}", lock.id), again));
        }
    }
    Ok(plan)
}

fn undo_swap(project: &Project) -> Result<(), Failure> {
    match profiler::swap::recover(&project.program, &project.folder) {
        Ok(Recovery::Nothing) => {}
        Ok(Recovery::Undone) => eprintln!("atomfix: {}: put back in its place after a killed `profile --swap`", project.name()),
        Ok(Recovery::Replaced) => {
            eprintln!("atomfix: {}: built anew since a killed `profile --swap`; the new one stays", project.name());
        }
        Err(error) => return Err(Failure::usage(error.to_string(), "wait for the other command, or see whether the file is in order")),
    }
    Ok(())
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("{}: cannot write: {error}", path.display()), "make the folder writable, or free some space, and run this again")
}
