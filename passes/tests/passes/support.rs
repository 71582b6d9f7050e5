//! What the tests of this crate share: compiling with clang 22 the way `atomfix cc` makes bitcode, and other tools.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs a tool, with a time limit, and gives its output; panics with its words when it fails.
pub(crate) fn run(program: &str, arguments: &[&str], folder: &Path, input: &[u8]) -> Vec<u8> {
    let output = try_run(program, arguments, folder, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {}: {}\n{errors}", arguments.join(" "), output.status);
    output.stdout
}

/// Runs a tool, with a time limit.
pub(crate) fn try_run(program: &str, arguments: &[&str], folder: &Path, input: &[u8]) -> Output {
    let mut child = Command::new("timeout")
        .arg("60")
        .arg(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let mut pipe = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let output = child.wait_with_output().expect("the tool ends");
    // A tool that fails may close its input early; its status tells.
    let _ = writer.join();
    output
}

/// Compiles a C, C++ or textual IR file of `folder` to bitcode.
pub(crate) fn bitcode(folder: &Path, file: &str, flags: &[&str]) -> Vec<u8> {
    if Path::new(file).extension().is_some_and(|extension| extension == "ll") {
        return run("llvm-as-22", &[file, "-o", "-"], folder, &[]);
    }
    let compiler = if Path::new(file).extension().is_some_and(|extension| extension == "cpp") { "clang++-22" } else { "clang-22" };
    let mut arguments = vec!["-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-O0-optnone", "-gline-tables-only"];
    arguments.extend(flags);
    arguments.extend([file, "-o", "-"]);
    run(compiler, &arguments, folder, &[])
}

/// Compiles C or C++ text to bitcode.
pub(crate) fn bitcode_of(text: &str, name: &str, flags: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(name), text).expect("written");
    bitcode(folder.path(), name, flags)
}
