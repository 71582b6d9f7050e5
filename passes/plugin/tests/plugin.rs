//! The plugin in LLVM's own tools: `opt` must satisfy every check of `passes/tests/passes/rules`, and clang and lld must load it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "../../tests/passes/directives.rs"]
mod directives;
use directives::{directives, plan};

/// The plugin, which cargo builds before these tests, beside or above the folder that they are in.
fn plugin() -> PathBuf {
    let me = std::env::current_exe().expect("a path");
    let found = me.ancestors().skip(1).take(2).map(|folder| folder.join("libatomfix_passes.so")).find(|path| path.is_file());
    found.expect("libatomfix_passes.so beside the tests")
}

fn tool(name: &str, folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60").arg(name).args(arguments).current_dir(folder).envs(environment.iter().copied());
    command.output().expect("timeout is installed")
}

#[track_caller]
fn run(name: &str, folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) {
    let output = tool(name, folder, arguments, environment);
    assert!(output.status.success(), "{name} {}:\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
}

/// Compiles a file as `atomfix cc` makes bitcode.
fn compile(folder: &Path, file: &Path, text: &str, output: &Path) {
    let (file, output) = (file.to_str().expect("UTF-8"), output.to_str().expect("UTF-8"));
    match file.rsplit('.').next() {
        Some("ll") => run("llvm-as-22", folder, &[file, "-o", output], &[]),
        language => {
            let compiler = if language == Some("cpp") { "clang++-22" } else { "clang-22" };
            let mut arguments =
                vec!["-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-O0-optnone", "-gline-tables-only"];
            arguments.extend(directives(text, "COMPILE:").flat_map(str::split_whitespace));
            arguments.extend([file, "-o", output]);
            run(compiler, folder, &arguments, &[]);
        }
    }
}

#[test]
fn opt_satisfies_every_rule() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/passes/rules");
    let mut files: Vec<PathBuf> = fs::read_dir(&rules).expect("the rules").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let load = format!("-load-pass-plugin={}", plugin().display());
    let (mut failures, mut runs) = (Vec::new(), 0);
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        let module = folder.path().join("module.bc");
        compile(&rules, Path::new(file.file_name().expect("a name")), &text, &module);
        for line in directives(&text, "RUN:") {
            let (what, prefix) = line.split_once(' ').expect("RUN: WHAT PREFIX");
            let passes = match what {
                "record" => "atomfix-instrument",
                "gate" => "atomfix-instrument<gate>",
                "plan" => "atomfix-inject",
                // Listings are no passes, and a plan with hooks is one transformation.
                _ => continue,
            };
            runs += 1;
            if what == "plan" {
                let plan = plan(&text, &fs::read(&module).expect("bitcode"));
                fs::write(folder.path().join("module.bc.plan.toml"), toml::to_string(&plan).expect("a plan")).expect("written");
            }
            run("opt-22", folder.path(), &[&load, &format!("-passes={passes}"), "module.bc", "-S", "-o", "out.ll"], &[]);
            let name = file.to_str().expect("UTF-8");
            let input = format!("--input-file={}", folder.path().join("out.ll").display());
            let checked = tool("FileCheck-22", folder.path(), &[name, "--check-prefix", prefix, &input], &[]);
            if !checked.status.success() {
                failures.push(format!("{name}: {line}\n{}", String::from_utf8_lossy(&checked.stderr)));
            }
        }
    }
    assert!(runs > 15, "only {runs} runs were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn opt_says_what_it_cannot_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.ll"), "define void @f() {\n  ret void\n}\n").expect("written");
    let load = format!("-load-pass-plugin={}", plugin().display());
    for (passes, words) in [
        (
            "atomfix-inject",
            "a.ll.plan.toml: No such file or directory (os error 2); name the plan by the environment variable ATOMFIX_PLAN",
        ),
        ("atomfix-nothing", "there is no pass 'atomfix-nothing'"),
    ] {
        let output = tool("opt-22", folder.path(), &[&load, &format!("-passes={passes}"), "a.ll", "-S"], &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{passes}: {said}");
    }
}

#[test]
fn clang_and_lld_load_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    fs::write(folder.join("a.c"), "int x; int main(void) { return x++; }\n").expect("written");
    let plugin = plugin().display().to_string();
    let passes = [("ATOMFIX_PASSES", "atomfix-instrument<gate>")];
    let hooked = |file: &str| {
        let names = tool("llvm-nm-22", folder, &["--undefined-only", file], &[]);
        String::from_utf8_lossy(&names.stdout).contains("__atomfix_gate_access")
    };
    run("clang-22", folder, &["-O1", "-c", "a.c", "-o", "plain.o", &format!("-fpass-plugin={plugin}")], &[]);
    assert!(!hooked("plain.o"));
    run("clang-22", folder, &["-O1", "-c", "a.c", "-o", "hooked.o", &format!("-fpass-plugin={plugin}")], &passes);
    assert!(hooked("hooked.o"));
    run("clang-22", folder, &["-O1", "-fPIC", "-flto", "-c", "a.c", "-o", "lto.o"], &[]);
    let load = format!("--load-pass-plugin={plugin}");
    run("ld.lld-22", folder, &[&load, "-shared", "lto.o", "-o", "linked.so"], &passes);
    let names = tool("llvm-nm-22", folder, &["-D", "--undefined-only", "linked.so"], &[]);
    assert!(String::from_utf8_lossy(&names.stdout).contains("__atomfix_gate_access"));
}
