//! Transformed programs behave as the original, and their hooks balance: run with stub hooks that check it.

use std::path::Path;

use model::ids::{Label, LockId};
use model::pair::Mode;
use model::plan::{Action, At, Lock, Operation, PLAN_SCHEMA, Plan};
use model::program::{Module, NodeKind};
use passes::{Hooks, Transform, extract::extract, inject::lock_table, transform};

use crate::support::{bitcode_of, run};

/// Exceptions through several frames, loops, early returns, recursion, switches, a computed goto, `setjmp`.
const PROGRAM: &str = r#"
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <csetjmp>

int counter; char text[64]; struct node { int value; node *next; } *list;
static jmp_buf point;

struct Guard { int *p; Guard(int *q) : p(q) { ++*p; } ~Guard() { --*p; } };

int depth(int n) {
  Guard g(&counter);
  if (n == 0) throw std::runtime_error("deep");
  if (n == 7) throw n;
  try { return depth(n - 1) + 1; }
  catch (int k) { return k * 100; }
}

int interpret(const char *code) {
  static void *const labels[] = {&&add, &&sub, &&end};
  int n = counter;
  goto *labels[(int)*code];
add: n += 3; goto *labels[(int)*++code];
sub: n -= 1; goto *labels[(int)*++code];
end: return n;
}

void push(int v) { list = new node{v, list}; }

int jumping(int n) {
  if (int back = setjmp(point)) return back;
  if (n > 2) longjmp(point, n);
  return 0;
}

int sum(std::vector<int> &v) {
  int s = 0;
  for (size_t i = 0; i < v.size(); i++) {
    switch (v[i] % 4) { case 0: continue; case 1: s += v[i]; break; case 2: s ^= v[i]; default: counter++; }
    if (s > 1000) return s;
  }
  return s;
}

int main(int argc, char **argv) {
  for (int n : {3, 9, 20}) {
    try { printf("%d\n", depth(n)); } catch (std::exception &e) { printf("caught %s\n", e.what()); }
  }
  std::vector<int> v;
  for (int i = 0; i < 100; i++) v.push_back(i * 7 % 31);
  std::map<std::string, int> m;
  for (int i = 0; i < 20; i++) m[std::to_string(i % 6)] += i;
  for (auto &e : m) { strcpy(text, e.first.c_str()); snprintf(text + 8, 20, "%s=%d", text, e.second); puts(text + 8); }
  for (int i = 0; i < 5; i++) push(i);
  for (node *n = list; n; n = n->next) counter += n->value;
  printf("%d %d %d %d\n", sum(v), counter, interpret("\0\0\1\0\2"), jumping(argc + 2));
  try { v.at(1000); } catch (const std::out_of_range &) { puts("range"); }
  return counter == 0;
}
"#;

/// Hooks that abort on anything out of order.
const STUBS: &str = r#"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long u64; typedef unsigned u32;
#define DIE(...) (fprintf(stderr, __VA_ARGS__), abort())
static struct { void *frame; u64 key; } frames[10000]; static int top;
static int open_accesses; static unsigned long events;
static struct { void *lock, *frame; u32 label; } holds[1000]; static int held;

void __atomfix_record_enter(void *f, u64 k) { events++; frames[top].frame = f; frames[top++].key = k; }

void __atomfix_record_leave(void *f) { if (!top || frames[top - 1].frame != f) DIE("leave of another frame\n"); top--; }
void __atomfix_record_call(void *f, u64 s) { (void)s; if (!top || frames[top - 1].frame != f) DIE("call in another frame\n"); }
void *__atomfix_record_begin(void *a, u32 size, u32 kind, u64 site) {
  (void)kind; (void)site; if (open_accesses++) DIE("nested access\n"); if (!a || !size) DIE("no address\n"); events++; return a; }
void __atomfix_record_end(void *t) { (void)t; if (--open_accesses) DIE("end without begin\n"); }
static volatile char sink;
void __atomfix_record_range(void *a, u64 n, u32 kind, u64 site) {
  (void)kind; (void)site; if (n == ~0ul) n = strlen(a) + 1; if (n == ~1ul) n = malloc_usable_size(a); for (u64 i = 0; i < n; i++) sink = ((volatile char *)a)[i]; events++; }
#define SLOW __attribute__((preserve_most))
unsigned __atomfix_record_window = 1; __thread unsigned short __atomfix_record_entries; __thread u64 __atomfix_record_caller;
SLOW void __atomfix_slow_enter(void *f, u64 k, void *met) { (void)met; __atomfix_record_enter(f, k); }
SLOW void __atomfix_slow_leave(void *f) { __atomfix_record_leave(f); }
SLOW void __atomfix_slow_call(void *f, u64 s, void *met) { (void)met; __atomfix_record_call(f, s); }
SLOW void *__atomfix_slow_begin(void *a, u32 size, u32 kind, u64 site, void *met) { (void)met; return __atomfix_record_begin(a, size, kind, site); }
SLOW void __atomfix_slow_end(void *t) { __atomfix_record_end(t); }
SLOW void __atomfix_slow_range(void *a, u64 n, u32 kind, u64 site, void *met) { (void)met; __atomfix_record_range(a, n, kind, site); }
void __atomfix_gate_access(void *a, u32 size, u32 kind, u64 site) { (void)kind; (void)site; if (!a || !size) DIE("no address\n"); events++; }
void __atomfix_gate_compare(void *a, u32 size, u64 expected, u64 site) {
  (void)expected; (void)site; if (!a || !size || size > 8) DIE("no address\n"); events++; }
void __atomfix_gate_range(void *a, u64 n, u32 kind, u64 site) {
  (void)kind; (void)site; if (n == ~0ul) n = strlen(a) + 1; if (n) sink = *(volatile char *)a; events++; }
void __atomfix_gate_handed(void *a, u64 what, void *callee, u64 site) {}
void *__atomfix_gate_read(void *a, u64 n, u32 number, u64 site) {
  // What is read is somewhere else.
  static char kept[4][4096]; if (number > 3) DIE("number\n"); __atomfix_gate_range(a, n, 0, site); if (n == ~0ul) n = strlen(a) + 1;
  if (!n || n >= sizeof kept[0]) return a;
  memset(kept[number], 0, sizeof kept[0]); return memcpy(kept[number], a, n); }
void __atomfix_gate_call(u64 site, u32 unseen) { (void)site; if (unseen > 2) DIE("unseen\n"); events++; }
void __atomfix_acquire(void *l, u32 mode, u32 label, void *f) {
  if (mode < 1 || mode > 3) DIE("mode\n"); events++;
  for (int i = 0; i < held; i++) if (holds[i].lock == l && holds[i].frame == f) { holds[i].label = label; return; }
  holds[held].lock = l; holds[held].frame = f; holds[held++].label = label; }
static void drop(int i) { holds[i] = holds[--held]; }
void __atomfix_release(void *l, u32 label, void *f) {
  for (int i = 0; i < held; i++) if (holds[i].lock == l && holds[i].frame == f && holds[i].label == label) { drop(i); return; } }
void __atomfix_degrade(void *l, u32 label, void *f) { (void)l; (void)label; (void)f; }
void __atomfix_degrade_to_update(void *l, u32 label, void *f) { (void)l; (void)label; (void)f; }
u64 __atomfix_glance(char *l) {
  u64 last = *(u64 *)(l + 24); static unsigned turn;
  for (int i = 0; i < held; i++) if (holds[i].lock == l) return 0;
  events++;
  return turn++ % 3 == 0 ? 0 : turn % 3 == 2 ? ~last : ~last - 1; }
void __atomfix_unwind(void *f) { for (int i = held; i-- > 0;) if (holds[i].frame == f) drop(i); }
__attribute__((destructor)) static void finish(void) {
  if (open_accesses) DIE("an access never ended\n"); if (held) DIE("%d locks held at the end\n", held);
  if (top) DIE("%d frames at the end\n", top); if (!events) DIE("no hook was called\n"); }
"#;

fn compile(folder: &Path, name: &str, bitcode: &[u8], level: &str) {
    std::fs::write(folder.join(format!("{name}.bc")), bitcode).expect("written");
    let (input, output) = (format!("{name}.bc"), format!("{name}.o"));
    run("clang-22", &[level, "-c", &input, "-o", &output, "-Wno-override-module"], folder, &[]);
}

/// What the program prints, with its exit status in front.
fn output(folder: &Path, objects: &[&str]) -> String {
    let mut arguments = objects.to_vec();
    arguments.extend(["-o", "program"]);
    run("clang++-22", &arguments, folder, &[]);
    let program = folder.join("program");
    let script = format!("{}; echo $?", program.display());
    String::from_utf8(run("sh", &["-c", &script], folder, &[])).expect("text")
}

/// Every function with a call that may throw or an access: taken before its first site, released before every end and, to
/// try edges, strengthened on every edge between blocks.
fn dense_plan(module: &Module) -> Plan {
    let mut operations = Vec::new();
    for function in module.functions.iter().filter(|function| function.refused.is_none()) {
        let mut add = |at, action| operations.push(Operation { function: function.key, at, action, source: String::new() });
        for (index, node) in function.nodes.iter().enumerate() {
            let id = model::ids::NodeId::new(index);
            match node.kind {
                NodeKind::Return => {
                    (0..3).for_each(|label| add(At::Before(id), Action::Release(Label(label))));
                }
                NodeKind::Access(_) => add(At::Before(id), Action::Acquire(Mode::X, Label(0))),
                NodeKind::Block | NodeKind::Call(_) | NodeKind::Stop => {}
            }
            for &next in &node.successors {
                let action = if matches!(function.node(next).kind, NodeKind::Block) {
                    Action::Acquire(Mode::U, Label(1))
                } else if matches!(function.node(next).kind, NodeKind::Return | NodeKind::Stop) {
                    continue;
                } else {
                    Action::Acquire(Mode::R, Label(2))
                };
                add(At::Edge(id, next), action);
            }
        }
    }
    let lock = Lock { id: LockId(0), enabled: true, variable: "everything".to_owned(), cost: 0, pairs: vec![], operations };
    Plan { schema: PLAN_SCHEMA, build: String::new(), locks: vec![lock], ..Plan::default() }
}

/// Every load alone, each under a lock of its own.
fn plan_of_single_reads(module: &Module) -> Plan {
    let mut operations = Vec::new();
    let mut label = 0;
    for function in module.functions.iter().filter(|function| function.refused.is_none()) {
        for (index, node) in function.nodes.iter().enumerate() {
            let id = model::ids::NodeId::new(index);
            if !matches!(node.kind, NodeKind::Access(_)) {
                continue;
            }
            let mut add = |at, action| operations.push(Operation { function: function.key, at, action, source: String::new() });
            add(At::Before(id), Action::Acquire(Mode::R, Label(label)));
            node.successors.iter().for_each(|&next| add(At::Edge(id, next), Action::Release(Label(label))));
            label += 1;
        }
    }
    let lock = Lock { id: LockId(1), enabled: true, variable: "everything".to_owned(), cost: 0, pairs: vec![], operations };
    Plan { schema: PLAN_SCHEMA, build: String::new(), locks: vec![lock], ..Plan::default() }
}

#[test]
fn a_program_with_exceptions_behaves_the_same_under_every_transformation() {
    for (front, back) in [("-O0", "-O0"), ("-O0", "-O3"), ("-O2", "-O3")] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        std::fs::write(folder.join("stubs.c"), STUBS).expect("written");
        run("clang-22", &["-O1", "-c", "stubs.c", "-o", "stubs.o"], folder, &[]);
        let original = bitcode_of(PROGRAM, "program.cpp", &[front]);
        compile(folder, "original", &original, back);
        let expected = output(folder, &["original.o"]);
        assert!(expected.contains("701\n712\n") && expected.contains("caught deep\n") && expected.ends_with("range\n0\n"), "{expected}");

        let module = extract(&original).expect("extracts");
        let (plan, single) = (dense_plan(&module), plan_of_single_reads(&module));
        compile(folder, "table", &lock_table(&single).expect("a table"), back);
        for (plan, hooks) in [
            (None, Some(Hooks::Record)),
            (None, Some(Hooks::RecordInline)),
            (None, Some(Hooks::Gate)),
            (Some(&plan), None),
            (Some(&plan), Some(Hooks::Gate)),
            (Some(&plan), Some(Hooks::Record)),
            (Some(&plan), Some(Hooks::RecordInline)),
            (Some(&single), None),
            (Some(&single), Some(Hooks::Gate)),
        ] {
            let done = transform(&original, &Transform { plan, hooks, own: &std::collections::BTreeSet::new() }).expect("transforms");
            compile(folder, "changed", &done.bitcode, back);
            let found = output(folder, &["changed.o", "stubs.o", "table.o"]);
            assert_eq!(found, expected, "{front} {back} {hooks:?} plan: {}", plan.is_some());
        }
    }
}
