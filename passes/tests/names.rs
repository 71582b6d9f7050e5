//! What places are called, by debug information.

use std::process::Command;

use model::program::{Module, Program};

fn extracted(language: &str, source: &str) -> Module {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (input, bitcode) = (folder.path().join("t"), folder.path().join("t.bc"));
    std::fs::write(&input, source).expect("a source file");
    let flags = ["60", "clang-22", "-O1", "-Xclang", "-disable-llvm-passes", "-g", "-emit-llvm", "-c", "-x", language, "-o"];
    let clang = Command::new("timeout").args(flags).arg(&bitcode).arg(&input).status();
    assert!(clang.expect("clang-22 runs").success());
    passes::extract::extract(&std::fs::read(&bitcode).expect("bitcode")).expect("a module")
}

/// Each access as `place = name`, local names without their module.
fn check(language: &str, source: &str, expected: &[&str]) {
    let program = Program::link(vec![extracted(language, source)]);
    let accesses = program.functions.iter().flat_map(|function| &function.nodes).flat_map(model::program::Node::accesses);
    let mut said: Vec<String> = accesses.map(|access| format!("{} = {}", access.place, program.name_of(&access.place))).collect();
    said.sort();
    said.dedup();
    assert_eq!(said, expected, "{source}");
}

#[test]
fn fields_are_called_as_in_the_source() {
    check(
        "c",
        "struct node { int key; struct { int a, b; } in; struct node *next; }; int f(struct node *n) { return n->key + n->in.b + n->next->key; }",
        &["node::+0 = node.key", "node::+16 = node.next", "node::+8 = node.in.b"],
    );
    check(
        "c",
        "typedef struct { long size; char rest[]; } item; char f(item *i) { return i->rest[i->size]; }",
        &["item::+0 = item.size", "item::+8 = item.rest[]"],
    );
    check(
        "c",
        "struct s { int n; union { int a; long b; }; }; int f(struct s *p) { return p->a + p->n; }",
        &["s::+0 = s.n", "s::+8 = s.a"],
    );
    check("c", "struct s { int n; union { int a; long b; } u; }; int f(struct s *p) { return p->u.a; }", &["s::+8 = s.u"]);
    check("c", "struct s { int n; unsigned a : 3, b : 5; }; int f(struct s *p) { return p->b + p->n; }", &["s::+0 = s.n", "s::+4 = s.a.."]);
}

#[test]
fn fields_of_classes_have_their_scopes_and_bases() {
    check(
        "c++",
        "namespace ns { struct Base { long id; }; struct Queue : Base { int head; static int made; }; } int f(ns::Queue *q) { return q->head + q->id; }",
        &["ns::Base::+0 = ns::Base.id", "ns::Queue::+8 = ns::Queue.head"],
    );
    check(
        "c++",
        "namespace { struct Hidden { int a, b; }; } int f(void *p) { return static_cast<Hidden *>(p)->b; }",
        &["(anonymous namespace)::Hidden::+4 = (anonymous namespace)::Hidden.b"],
    );
}

#[test]
fn a_field_of_a_template_has_the_name_on_which_all_instances_agree() {
    let source = |field: &str| {
        format!(
            "template <class T> struct Box {{ T *at; T {field}; }}; template <> struct Box<long> {{ long *at; long size; }};\n\
             long f(Box<int> *p, Box<long> *q) {{ return (long)p->at + p->{field} + q->size; }}"
        )
    };
    check("c++", &source("size"), &["Box::+0 = Box.at", "Box::+8 = Box.size"]);
    check("c++", &source("many"), &["Box::+0 = Box.at", "Box::+8 = Box::+8"]);
}

#[test]
fn parts_of_globals_are_called_as_in_the_source() {
    check(
        "c",
        "struct { int on; struct { long in, out; } bytes; } stats; long f(void) { return stats.on + stats.bytes.out; }",
        &["stats = stats.on", "stats+16 = stats.bytes.out"],
    );
    check("c", "int table[4]; int f(int i) { return table[2] + table[i]; }", &["table+8 = table[2]", "table[] = table[]"]);
    check("c", "struct { int a, b; } t[4]; int f(int i) { return t[i].b; }", &["t[]+4 = t[].b"]);
    check("c", "int plain; int f(void) { return plain; }", &["plain = plain"]);
}

#[test]
fn a_name_that_two_modules_or_places_dispute_is_not_used() {
    let of = |fields: &str| extracted("c", &format!("struct s {{ int {fields}; }}; int f(struct s *p) {{ return p->x; }}"));
    let place = model::program::Place::Field { record: "s".to_owned(), offset: 4 };
    assert_eq!(Program::link(vec![of("a, x"), of("b, x")]).name_of(&place), "s.x");
    let other = extracted("c", "struct s { int x, y; }; int g(struct s *p) { return p->y; }");
    assert_eq!(Program::link(vec![of("a, x"), other]).name_of(&place), "s::+4");
    let moved = extracted("c", "struct s { int x, y; }; int g(struct s *p) { return p->x; }");
    assert_eq!(Program::link(vec![of("a, x"), moved]).name_of(&place), "s::+4");
}
