//! Accesses of several bytes belong to every variable that lies in them.

mod support;

use model::ids::PointerId;
use model::pointer::Flow;
use support::{Case, infer_checked, operations, parse, place};

/// A pair on `field` in g, and a function f whose accesses are those of `nodes` and never ran.
fn case(field: &str, nodes: &str) -> Case {
    parse(&format!(
        "fn f
           {nodes}
           2: return
         fn g
           1: read {field} -> 2
           2: write {field} -> 3
           3: return
         unrun f 1
         pair g 1 2 X"
    ))
}

fn in_f(case: &Case) -> Vec<String> {
    operations(case, &infer_checked(case).plan).into_iter().filter(|line| line.starts_with("f ")).collect()
}

#[test]
fn a_range_takes_the_lock_of_a_field_behind_its_beginning() {
    for (field, nodes) in [
        ("x+8", "1: fill x 16 -> 2"),
        ("x+8", "1: wide x 12 -> 2"),
        ("x[]", "1: fill x 64 -> 2"),
        ("T.8", "1: fill T.0 16 -> 2"),
        ("T.8", "1: wide T.4 8 -> 2"),
    ] {
        let expected = [format!("f before 1: {} acquire X", place(field)), format!("f 1->2: {} release 1", place(field))];
        assert_eq!(in_f(&case(field, nodes)), expected, "{nodes}");
    }
}

#[test]
fn a_range_that_ends_before_a_field_takes_no_lock() {
    for (field, nodes) in
        [("x+8", "1: fill x 8 -> 2"), ("T.8", "1: wide T.0 8 -> 2"), ("x+8", "1: fill y 16 -> 2"), ("U.8", "1: fill T.0 16 -> 2")]
    {
        assert_eq!(in_f(&case(field, nodes)), Vec::<String>::new(), "{nodes}");
    }
}

#[test]
fn a_pair_of_a_range_and_a_field_in_it_is_a_pair_of_the_field() {
    let case = parse(
        "fn f
           1: fill x 16 -> 2
           2: read x+8 -> 3
           3: return
         fn g
           1: write x+8 -> 2
           2: return
         pair f 1 2 X",
    );
    assert_eq!(
        operations(&case, &infer_checked(&case).plan),
        ["f before 1: x+8 acquire X", "f 2->3: x+8 release 1", "g before 1: x+8 acquire X", "g 1->2: x+8 release 1"]
    );
}

#[test]
fn a_range_unites_none_of_the_fields_that_it_was_seen_with() {
    let case = parse(
        "fn f
           1: fill x 16 -> 2
           2: read x -> 3
           3: read x+8 -> 4
           4: read U.0 -> 5
           5: return
         together f 1 f 2
         together f 1 f 3
         together f 1 f 4
         pair f 2 2 X",
    );
    let inferred = infer_checked(&case);
    let of = |text: &str| inferred.variables(&place(text)).collect::<Vec<_>>();
    assert!(of("x") != of("x+8") && of("U.0") != of("x") && of("U.0") != of("x+8"));
}

#[test]
fn what_a_pointer_that_never_ran_covers_is_found_by_points_to_analysis() {
    // T.0 and T.8 are fields of what p points to.
    let pointing = |bytes: u32| {
        let mut case = parse(&format!(
            "fn f
               1: fill *p {bytes} -> 2
               2: return
             fn g
               1: read T.8 -> 2
               2: write T.8 -> 3
               3: read T.0 -> 4
               4: return
             unrun f 1
             pair g 1 2 X"
        ));
        let pointers = &mut case.program.functions[0].pointers;
        pointers.count = 2;
        pointers.flows.push(Flow::Step { to: PointerId(1), from: PointerId(0), bytes: 8 });
        pointers.behind = vec![(place("*p"), PointerId(0)), (place("T.0"), PointerId(0)), (place("T.8"), PointerId(1))];
        case
    };
    assert_eq!(in_f(&pointing(16)), ["f before 1: T::+8 and 1 more acquire X", "f 1->2: T::+8 and 1 more release 1"]);
    assert_eq!(in_f(&pointing(8)), Vec::<String>::new());
}
