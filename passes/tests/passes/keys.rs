//! Identities: what changes a key and what does not, and that node numbers do not depend on what is done to a module.

use std::collections::BTreeSet;

use model::ids::{FunctionKey, SiteKey};
use passes::extract::extract;

use crate::support::bitcode_of;

fn keys(text: &str, name: &str, flags: &[&str]) -> Vec<(String, FunctionKey)> {
    extract(&bitcode_of(text, name, flags)).expect("extracts").functions.into_iter().map(|function| (function.name, function.key)).collect()
}

fn key(text: &str, name: &str, function: &str) -> FunctionKey {
    keys(text, name, &[]).into_iter().find(|(found, _)| found == function).expect("the function").1
}

const BASE: &str = "int x; int f(int n) { x += n; return x; }";

#[test]
fn a_key_survives_what_does_not_change_the_body() {
    let base = key(BASE, "a.c", "f");
    let moved = "int other(void) { return 7; }\n\n\nint x;\n// here\nint f(int number) {\n  x += number;\n  return x;\n}";
    assert_eq!(key(moved, "a.c", "f"), base, "lines, names of locals, other functions");
    assert_eq!(key(BASE, "b.c", "f"), base, "the file of a global function");
    assert_eq!(keys(BASE, "a.c", &["-g"])[0].1, base, "debug information");
}

#[test]
fn a_key_changes_with_the_body() {
    let base = key(BASE, "a.c", "f");
    let others = [
        "int x; int f(int n) { x -= n; return x; }",
        "int x; int f(int n) { x += n; return n; }",
        "int x, y; int f(int n) { y += n; return y; }",
        "int x; int f(int n) { x += n; if (n) return x; return 0; }",
        "long x; int f(int n) { x += n; return x; }",
        "_Atomic int x; int f(int n) { x += n; return x; }",
        "int x; int f(int n) { x += 2; return x; }",
    ];
    let found: BTreeSet<FunctionKey> = others.iter().map(|text| key(text, "a.c", "f")).chain([base]).collect();
    assert_eq!(found.len(), others.len() + 1);
}

#[test]
fn string_literals_count_by_content_not_by_number() {
    let one = "int puts(const char *); void f(void) { puts(\"hello\"); }";
    let two = "int puts(const char *); void g(void) { puts(\"first\"); } void f(void) { puts(\"hello\"); }";
    let other = "int puts(const char *); void f(void) { puts(\"hallo\"); }";
    assert_eq!(key(one, "a.c", "f"), key(two, "a.c", "f"));
    assert_ne!(key(one, "a.c", "f"), key(other, "a.c", "f"));
}

#[test]
fn local_functions_of_two_files_differ_and_inline_ones_do_not() {
    let local = "static int f(int n) { return n; } int g(void) { return f(1); }";
    assert_ne!(key(local, "a.c", "f"), key(local, "b.c", "f"));
    let inline = "inline int f(int *p) { return *p; } ";
    let (one, two) =
        (format!("{inline} int g(int *p) {{ return f(p); }}"), format!("int other; {inline} int h(int *p) {{ return f(p) + other; }}"));
    assert_eq!(key(&one, "a.cpp", "_Z1fPi"), key(&two, "b.cpp", "_Z1fPi"));
}

#[test]
fn extraction_is_the_same_every_time_and_sites_are_unique() {
    let bitcode = bitcode_of("#include <vector>\nint f(std::vector<int> &v) { v.push_back(1); return v[0]; }", "a.cpp", &["-O2"]);
    let once = extract(&bitcode).expect("extracts");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(once, extract(&bitcode).expect("extracts"), "on a thread of its own"));
        }
    });
    let sites: Vec<SiteKey> = once.functions.iter().flat_map(|function| function.nodes.iter().filter_map(|node| node.site)).collect();
    assert_eq!(sites.iter().collect::<BTreeSet<_>>().len(), sites.len());
    assert!(sites.len() > 50);
}
