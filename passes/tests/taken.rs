//! Which functions may be reached by indirect calls.

use std::process::Command;

#[test]
fn functions_used_otherwise_than_by_calls_are_taken() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, bitcode) = (folder.path().join("t.c"), folder.path().join("t.bc"));
    let text = "void elsewhere(void); static void called(void) {} static void stored(void) {} static void passed(void (*f)(void)) { f(); }\n\
                void (*pointer)(void) = stored; void f(void) { called(); passed(elsewhere); }\n";
    std::fs::write(&source, text).expect("a source file");
    let clang = Command::new("timeout").args(["60", "clang-22", "-O0", "-emit-llvm", "-c", "-o"]).arg(&bitcode).arg(&source).status();
    assert!(clang.expect("clang-22 runs").success());
    let module = passes::extract::extract(&std::fs::read(&bitcode).expect("bitcode")).expect("a module");
    let stems: Vec<&str> = module.taken.iter().map(|name| name.split('@').next().unwrap_or_default()).collect();
    assert_eq!(stems, ["stored", "elsewhere"]);
}
