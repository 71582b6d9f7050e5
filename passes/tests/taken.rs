//! Which functions may be reached by indirect calls, and which run before `main`.

use std::process::Command;

use model::program::Module;

fn extracted(text: &str) -> Module {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, bitcode) = (folder.path().join("t.c"), folder.path().join("t.bc"));
    std::fs::write(&source, text).expect("a source file");
    let clang = Command::new("timeout").args(["60", "clang-22", "-O0", "-emit-llvm", "-c", "-o"]).arg(&bitcode).arg(&source).status();
    assert!(clang.expect("clang-22 runs").success());
    passes::extract::extract(&std::fs::read(&bitcode).expect("bitcode")).expect("a module")
}

fn stems(names: &[String]) -> Vec<&str> {
    names.iter().map(|name| name.split('@').next().unwrap_or_default()).collect()
}

#[test]
fn functions_used_otherwise_than_by_calls_are_taken() {
    let text = "void elsewhere(void); static void called(void) {} static void stored(void) {} static void passed(void (*f)(void)) { f(); }\n\
                void (*pointer)(void) = stored; void f(void) { called(); passed(elsewhere); }\n";
    let module = extracted(text);
    assert_eq!((stems(&module.taken), stems(&module.constructors)), (vec!["stored", "elsewhere"], vec![]));
}

#[test]
fn constructors_are_taken_only_if_used_otherwise_too() {
    let text = "__attribute__((constructor)) static void alone(void) {}\n\
                __attribute__((constructor)) void stored(void) {} void (*pointer)(void) = stored;\n\
                __attribute__((destructor)) void late(void) {}\n\
                static void listed(void) {} __attribute__((section(\".init_array\"), used)) static void (*const entry)(void) = listed;\n\
                static void chosen(void) {} static void (*choose(void))(void) { return chosen; }\n\
                void picked(void) __attribute__((ifunc(\"choose\")));\n";
    let module = extracted(text);
    let (mut taken, mut constructors) = (stems(&module.taken), stems(&module.constructors));
    taken.sort_unstable();
    constructors.sort_unstable();
    assert_eq!(taken, ["choose", "chosen", "late", "listed", "stored"]);
    assert_eq!(constructors, ["alone", "choose", "listed", "stored"]);
}
