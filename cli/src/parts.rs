//! Explorations in parts, on the side of the command line: `-j`, `--shard`, `--checkpoint` and `--merge`.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use explorer::parts::campaign::{Campaign, Shard, Subject as Explores, WHOLE};
use explorer::parts::file::{self, Unusable};
use explorer::parts::task::{Division, division};
use explorer::strategy::config::Name;
use explorer::target::pool::{self, Workers};
use explorer::target::setup::{End, Setup};
use explorer::target::watch::Explored;
use model::wire;

use crate::exit::Failure;
use crate::exploration::{self, Task};
use crate::gated::Gated;
use crate::input;
use crate::progress::Spinner;
use crate::runtime::Runtime;

/// How an exploration is divided.
pub(crate) struct Parts {
    /// How many processes explore at a time.
    pub(crate) workers: Workers,
    /// Which shard this is.
    pub(crate) shard: Shard,
    /// Where it is kept.
    pub(crate) checkpoint: Option<PathBuf>,
}

/// What came of all parts.
pub(crate) struct Joined {
    /// It.
    pub(crate) explored: Explored,
    /// Whether the checkpoint could be written to the last. An error here must not cost the user the result.
    pub(crate) saved: Result<(), Failure>,
}

/// Explores in parts.
pub(crate) fn run(task: &Task<'_>, parts: &Parts) -> anyhow::Result<Joined> {
    refuse_vague(task.setup, parts.shard)?;
    let explores = Explores {
        build: identity(task.gated),
        arguments: task.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        setup: task.setup.clone(),
    };
    let campaign = match &parts.checkpoint {
        Some(path) if path.exists() => {
            let campaign = read(path)?;
            file::check(&campaign, &explores, parts.shard).map_err(|error| unusable(path, &error))?;
            campaign
        }
        _ => Campaign::new(explores, parts.shard),
    };
    finish(task, campaign, parts)
}

/// Joins the files of all shards.
pub(crate) fn merge(paths: &[PathBuf], gated: &Gated) -> Result<Campaign, Failure> {
    let shards = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let other = shards.iter().position(|shard| shard.subject().build != identity(gated));
    if let Some(path) = other.and_then(|other| paths.get(other)) {
        return Err(unusable(path, &Unusable::OtherBuild));
    }
    file::merge(shards).map_err(|(at, error)| unusable(paths.get(at).map_or(Path::new("?"), PathBuf::as_path), &error))
}

/// Says so if shards that were joined leave something to do.
pub(crate) fn explored_besides(joined: &Campaign) -> Option<&'static str> {
    let anew = joined.counted().schedules == 0;
    let what = if anew {
        "the shards found different memory to be shared: all was explored anew with all of it"
    } else {
        "what the shards left to each other was explored too"
    };
    (!joined.is_over()).then_some(what)
}

/// Does what is left of a campaign; of a joined one, mostly nothing is but to make schedules simple.
pub(crate) fn finish(task: &Task<'_>, mut campaign: Campaign, parts: &Parts) -> anyhow::Result<Joined> {
    let name = task.subject.name(task.gated.build).display().to_string();
    let process = task.subject.process(task.gated, task.arguments);
    let mut spinner = Spinner::new(&name);
    let saved = RefCell::new(Ok(()));
    let mut save = |campaign: &Campaign| {
        let Some(path) = &parts.checkpoint else { return Ok(()) };
        let result = wire::write_atomically(path, &file::to_bytes(campaign));
        *saved.borrow_mut() = match &result {
            Ok(()) => Ok(()),
            Err(error) => Err(Failure::usage(format!("{}: cannot write: {error}", path.display()), input::help_to_write(error))),
        };
        result
    };
    let mut show = |progress| spinner.show(progress);
    let explored = pool::run(&process, &mut campaign, parts.workers, task.limits, &mut show, &mut save);
    spinner.clear();
    let saved = saved.into_inner();
    match (explored, saved) {
        (Ok(explored), saved) => Ok(Joined { explored: exploration::judge(&name, explored)?, saved }),
        (Err(_), Err(unsaved)) => Err(unsaved.into()),
        (Err(error), Ok(())) => Err(Failure::usage(format!("{name}: {error}"), "`atomfix doctor` checks what the machine allows").into()),
    }
}

/// What a shard could not know of the others.
fn refuse_vague(setup: &Setup, shard: Shard) -> Result<(), Failure> {
    let divided = division(setup.strategy.name);
    let why = match () {
        () if shard == WHOLE => return Ok(()),
        () if divided == Division::None => format!("{} is not divided", setup.strategy.name),
        () if setup.end == End::FirstFailure => "no shard knows of another one's failures".to_owned(),
        () if divided == Division::Subtrees && setup.strategy.executions.is_some() => {
            "no shard knows how many executions others have".to_owned()
        }
        () => return Ok(()),
    };
    Err(Failure::usage(
        format!("--shard: {why}"),
        "leave out --until-failure and --max-schedules, or choose portfolio, dfs, dpor or a sampler",
    ))
}

/// Whether a note is due that other processes have nothing to do.
pub(crate) fn is_whole(name: Name) -> bool {
    division(name) == Division::None
}

fn identity(gated: &Gated) -> String {
    format!("{} {}", gated.identity, Runtime::Gate.hash())
}

fn read(path: &Path) -> Result<Campaign, Failure> {
    let bytes =
        input::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display()), "`--checkpoint` writes such files"))?;
    file::from_bytes(&bytes).map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, error: &Unusable) -> Failure {
    let next = match error {
        Unusable::Unfinished => "give the same command again that made it, to go on with it".to_owned(),
        Unusable::MissingShard(shard) => format!("explore it with `--shard {}/{}` and name its file too", shard.index, shard.of),
        _ => "name another file, or remove it to begin anew".to_owned(),
    };
    Failure::usage(format!("{}: {error}", path.display()), next)
}

/// Reads `I/N`.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse::<u32>().ok()?, of.parse::<u32>().ok()?)));
    let (index, of) = numbers.ok_or("not of the form I/N")?;
    if of == 0 || of > 10_000 {
        return Err("there can be 1 to 10000 shards".to_owned());
    }
    if (1..=of).contains(&index) { Ok(Shard { index, of }) } else { Err(format!("there are shards 1 to {of}")) }
}
