//! `atomfix cc` and `atomfix c++`: clang, and what atomfix needs in its objects.
//!
//! Clang calls this program once more, by the name of a linker (`capture::linker`).

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use capture::Language;

use crate::exit::Failure;

/// For the help text only: everything goes to the compiler.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// What a command line asks for that is not parsed as ours.
pub(crate) enum Request {
    /// To be the compiler: `atomfix cc ..`, or by the name `atomfix-cc`.
    Compile(Language, Vec<OsString>),
    /// To be the linker of a compiler that we run, called by this name.
    Link(OsString, Vec<OsString>),
}

/// The request that a command line makes, if it is one for the compiler or the linker.
pub(crate) fn requested(mut command_line: impl Iterator<Item = OsString>) -> Option<Request> {
    let program = command_line.next()?;
    if capture::linker::is_requested(&program) {
        return Some(Request::Link(program, command_line.collect()));
    }
    let name = std::path::Path::new(&program).file_name()?.to_str()?.to_owned();
    let language = match name.as_str() {
        "atomfix-cc" => Language::C,
        "atomfix-c++" => Language::Cxx,
        _ => {
            let first = command_line.next()?;
            match first.to_str()? {
                "cc" => Language::C,
                "c++" => Language::Cxx,
                option => return option.starts_with('-').then(|| without_subcommand(first, command_line))?,
            }
        }
    };
    Some(Request::Compile(language, command_line.collect()))
}

/// CMake forgets the `cc` of `CC="atomfix cc"` when it compiles assembly.
fn without_subcommand(first: OsString, rest: impl Iterator<Item = OsString>) -> Option<Request> {
    let arguments: Vec<OsString> = std::iter::once(first).chain(rest).collect();
    arguments.iter().any(|argument| argument == "-c").then_some(Request::Compile(Language::C, arguments))
}

/// Runs the compiler or the linker and returns its status.
pub(crate) fn run(request: Request) -> anyhow::Result<ExitCode> {
    let status = match request {
        Request::Compile(language, arguments) => capture::driver::run(language, &arguments),
        Request::Link(program, arguments) => capture::linker::run(&program, &arguments),
    };
    Ok(code(status.map_err(Failure::from)?))
}

/// The status as a shell would say it.
fn code(status: ExitStatus) -> ExitCode {
    const SIGNALED: i32 = 128;
    let code = status.code().unwrap_or_else(|| SIGNALED + status.signal().unwrap_or_default());
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}
