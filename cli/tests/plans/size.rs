//! What hardening adds to a program: at most 64 KiB of code, none of std's machinery, and few functions of libc.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol};

use super::{HEAD, compile, plan};

const BODY: &str = "static int a;
int main(void) {
  a++; //@ acquire X lock0 l0
  return a - 1;
}
";

/// What the archive may want of the C library: nothing that allocates, formats, or finds thread-local variables by a call.
const WANTED: [&str; 21] = [
    "__errno_location",
    "abort",
    "bcmp",
    "clock_gettime",
    "dlsym",
    "dlvsym",
    "fcntl",
    "fileno",
    "fstat",
    "getauxval",
    "memcpy",
    "memset",
    "__register_atfork",
    "pthread_key_create",
    "pthread_self",
    "pthread_setspecific",
    "sem_trywait",
    "stdin",
    "stdout",
    "strlen",
    "syscall",
];

/// Bytes of code; all symbols; those that the program takes from libraries.
fn facts(program: &Path) -> (u64, BTreeSet<String>, BTreeSet<String>) {
    let content = fs::read(program).expect("a program");
    let file = object::File::parse(&*content).expect("an executable");
    let name = |symbol: object::Symbol<'_, '_>| symbol.name().expect("a name").split('@').next().map(str::to_owned);
    let all = file.symbols().chain(file.dynamic_symbols()).filter_map(name).collect();
    let taken = file.dynamic_symbols().filter(ObjectSymbol::is_undefined).filter_map(name).collect();
    (file.section_by_name(".text").expect("code").size(), all, taken)
}

#[test]
fn a_hardened_program_has_at_most_64_kib_of_code_more_without_formatting_or_allocator() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = format!("{HEAD}{BODY}");
    let door = compile(folder.path(), &source, &[]);
    let hardened = folder.path().join("app.hard");
    door.harden(&plan(&door.program, door.build(), &source), &hardened).expect("it can be injected");
    let (before, _, taken_before) = facts(&folder.path().join("app"));
    let (after, names, taken) = facts(&hardened);
    let added = after - before;
    assert!(added > 4096, "the archive is linked in");
    assert!(added <= 64 * 1024, "{added} bytes");

    assert!(names.contains("__atomfix_acquire") && names.contains("pthread_cond_wait"));
    // Mangled paths: core's formatting, std, alloc.
    for unwanted in ["4core3fmt", "3std", "5alloc", "__rdl_"] {
        let found: Vec<&String> = names.iter().filter(|name| name.contains(unwanted)).collect();
        assert!(found.is_empty(), "{unwanted}: {found:?}");
    }
    let unwanted: Vec<&String> = taken.difference(&taken_before).filter(|name| !WANTED.contains(&name.as_str())).collect();
    assert!(unwanted.is_empty(), "{unwanted:?}");
}
