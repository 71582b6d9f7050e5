//! `atomfix doctor` names what is missing and the command that mends it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sandbox::Sandbox;

#[test]
fn a_sound_toolchain_is_well() {
    let ran = Sandbox::new(&[]).run("atomfix", &["doctor"]).good();
    assert!(ran.stdout.contains("ok       clang-22: 22.") && ran.stdout.ends_with("all is well\n"), "{}", ran.stdout);
}

#[test]
fn a_missing_tool_is_named_with_the_command_that_mends_it() {
    let sandbox = Sandbox::new(&[]);
    let mut command = sandbox.command("atomfix");
    let ran = sandbox.finish(command.arg("doctor").env("ATOMFIX_LLVM_BIN", "/nonexistent"));
    assert_eq!(ran.code, Some(3));
    for part in ["MISSING  clang-22: clang-22 is not installed in /nonexistent", "MISSING  llvm-ar-22", "mend: unset ATOMFIX_LLVM_BIN"] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
}

#[test]
fn a_tool_of_another_version_is_wrong() {
    let sandbox = Sandbox::new(&[]);
    for tool in ["clang", "clang++", "ld.lld", "llvm-ar", "llvm-nm"] {
        sandbox.write(tool, "#!/bin/sh\necho clang version 14.0.6\n");
        fs::set_permissions(sandbox.path(tool), fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let mut command = sandbox.command("atomfix");
    let ran = sandbox.finish(command.arg("doctor").env("ATOMFIX_LLVM_BIN", sandbox.path("")));
    assert_eq!(ran.code, Some(3));
    assert!(ran.stdout.contains("clang is version 14.0.6, not 22"), "{}", ran.stdout);
}
