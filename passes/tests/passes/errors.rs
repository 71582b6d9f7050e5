//! Bad input: damaged bitcode, and plans that do not fit.

use model::ids::{FunctionKey, Label, LockId, NodeId};
use model::pair::Mode;
use model::plan::{Action, At, Lock, Operation, PLAN_SCHEMA, Plan};
use passes::{PassError, Transform, Transformed, extract::extract, inject::lock_table, transform};

use crate::support::{bitcode_of, run};

const PROGRAM: &str = "int x; int f(int n) { if (n) x = 1; return x; }\n\
    #include <setjmp.h>\njmp_buf b; int odd(void) { return setjmp(b) ? x : 0; }";

fn planned(function: FunctionKey, at: At, id: LockId) -> Plan {
    let operations = vec![Operation { function, at, action: Action::Acquire(Mode::X, Label(0)), source: String::new() }];
    let lock = Lock { id, enabled: true, variable: "x".to_owned(), cost: 0, pairs: vec![], operations };
    Plan { schema: PLAN_SCHEMA, build: String::new(), locks: vec![lock], ..Plan::default() }
}

fn apply(bitcode: &[u8], plan: &Plan) -> Result<Transformed, PassError> {
    transform(bitcode, &Transform { plan: Some(plan), hooks: None, own: &std::collections::BTreeSet::new() })
}

#[test]
fn plans_that_do_not_fit_are_told_apart() {
    let bitcode = bitcode_of(PROGRAM, "a.c", &[]);
    let module = extract(&bitcode).expect("extracts");
    let (f, odd) = (module.functions[0].key, module.functions[1].key);
    let fails = |function, at| apply(&bitcode, &planned(function, at, LockId(0))).expect_err("a bad plan");
    assert!(matches!(fails(f, At::Before(NodeId(99))), PassError::UnknownNode { node: NodeId(99), .. }));
    assert!(matches!(fails(f, At::Edge(NodeId(0), NodeId(99))), PassError::UnknownNode { .. }));
    assert!(matches!(fails(f, At::Edge(NodeId(1), NodeId(0))), PassError::UnknownEdge { from: NodeId(1), to: NodeId(0), .. }));
    assert!(matches!(fails(odd, At::Before(NodeId(0))), PassError::Refused { .. }));
    assert_eq!(
        fails(f, At::Before(NodeId(99))).to_string(),
        format!("the plan names n99 of f ({f}), which has {} nodes", module.functions[0].nodes.len())
    );
}

#[test]
fn functions_of_other_modules_are_ignored_and_disabled_locks_left_out() {
    let bitcode = bitcode_of(PROGRAM, "a.c", &[]);
    let f = extract(&bitcode).expect("extracts").functions[0].key;
    assert_eq!(apply(&bitcode, &planned(FunctionKey(1), At::Before(NodeId(0)), LockId(0))).expect("fits").operations, 0);
    let mut plan = planned(f, At::Before(NodeId(0)), LockId(0));
    assert_eq!(apply(&bitcode, &plan).expect("fits").operations, 1);
    plan.locks[0].enabled = false;
    assert_eq!(apply(&bitcode, &plan).expect("fits").operations, 0);
}

#[test]
fn damaged_bitcode_is_an_error() {
    let bitcode = bitcode_of("int x; int f(void) { return x; }", "a.c", &[]);
    assert!(matches!(extract(b""), Err(PassError::Unreadable { .. })));
    assert!(matches!(extract(b"not bitcode, but text"), Err(PassError::Unreadable { .. })));
    for length in (4..bitcode.len() / 2).step_by(97) {
        assert!(matches!(extract(&bitcode[..length]), Err(PassError::Unreadable { .. })), "the first {length} bytes");
    }
}

#[test]
fn the_table_defines_its_locks_and_never_nothing() {
    let text = |plan: &Plan| {
        let bitcode = lock_table(plan).expect("a table");
        String::from_utf8(run("llvm-dis-22", &["-", "-o", "-"], std::path::Path::new("."), &bitcode)).expect("text")
    };
    let empty = text(&Plan::default());
    for line in [
        "@__atomfix_locks = global [64 x i8] zeroinitializer, align 64",
        "@__atomfix_lock_count = global i32 0",
        "@__atomfix_lock_names = global [1 x ptr] zeroinitializer",
    ] {
        assert!(empty.contains(line), "{line}\n{empty}");
    }
    let two = text(&planned(FunctionKey(1), At::Before(NodeId(0)), LockId(1)));
    for line in [
        "@__atomfix_locks = global [128 x i8] zeroinitializer, align 64",
        "@__atomfix_lock_count = global i32 2",
        "@atomfix.lock.1 = private constant [2 x i8] c\"x\\00\"",
        "@__atomfix_lock_names = global [3 x ptr] [ptr @atomfix.lock.0, ptr @atomfix.lock.1, ptr null]",
    ] {
        assert!(two.contains(line), "{line}\n{two}");
    }
}
