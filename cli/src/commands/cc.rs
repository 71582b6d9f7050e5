//! `atomfix cc` and `atomfix c++`: clang, and what atomfix needs in its objects.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::exit::Failure;

/// Which driver to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// `clang`.
    C,
    /// `clang++`.
    Cxx,
}

/// For the help text only: everything goes to the compiler.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Arguments of the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The driver that a command line asks for (`atomfix cc ..`, `atomfix c++ ..`, or by the name `atomfix-cc`, `atomfix-c++`), with its arguments.
pub(crate) fn requested(mut command_line: impl Iterator<Item = OsString>) -> Option<(Language, Vec<OsString>)> {
    let program = command_line.next()?;
    let name = std::path::Path::new(&program).file_name()?.to_str()?.to_owned();
    let language = match name.as_str() {
        "atomfix-cc" => Language::C,
        "atomfix-c++" => Language::Cxx,
        _ => match command_line.next()?.to_str()? {
            "cc" => Language::C,
            "c++" => Language::Cxx,
            _ => return None,
        },
    };
    Some((language, command_line.collect()))
}

/// Runs the driver and returns its status.
pub(crate) fn run(_language: Language, _arguments: Vec<OsString>) -> anyhow::Result<ExitCode> {
    Err(Failure::usage("'cc' is not built into this atomfix yet", "").into())
}
