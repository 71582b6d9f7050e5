//! Deadlock resolution: the paper's examples, its unsound rule, and what hoisting cannot help.

mod support;

use support::{constraint_sets, infer_checked, operations, parse};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let case = parse(text);
    let inferred = infer_checked(&case);
    assert_eq!(operations(&case, &inferred.plan), expected, "refused: {:?}", inferred.plan.refused);
}

/// Rebuilt from the prose: foo takes y at 6 with x, of 2, held; bar takes x twice with y held, so foo is the one to change.
const FIGURE_8: &str = "
    fn foo
      1: - -> 2 3
      2: read x -> 4
      3: - -> 4
      4: - -> 5 6
      5: - -> 7
      6: read y -> 7
      7: read x -> 8
      8: read y -> 9
      9: return
    fn bar
      1: write y -> 2
      2: write x -> 3
      3: write x -> 4
      4: write y -> 5
      5: return
    pair foo 2 7 X
    pair foo 6 8 R
    pair bar 1 4 X";

#[test]
fn figure_8_constraint_sets_after_hoisting() {
    let case = parse(FIGURE_8);
    let inferred = infer_checked(&case);
    let expected = ["0: N", "1: N", "2: R(2,6)", "3: N", "4: R(2,6) N", "5: N", "6: R(2,6) R(6,8)", "7: R(6,8) N", "8: R(6,8) N", "9: N"];
    assert_eq!(constraint_sets(&case, &inferred, "foo", "y"), expected);
}

#[test]
fn figure_8_operations_after_hoisting() {
    check(
        FIGURE_8,
        &[
            "foo before 2: y acquire R",
            "foo before 6: y acquire R",
            "foo before 8: y acquire R",
            "foo 4->5: y release 2",
            "foo 8->9: y release 8",
            "bar before 1: y acquire X",
            "bar 4->5: y release 1",
            "foo before 2: x acquire X",
            "foo before 7: x acquire R",
            "foo 7->8: x release 7",
            "bar before 2: x acquire X",
            "bar before 3: x acquire X",
            "bar 2->3: x release 2",
            "bar 3->4: x release 3",
        ],
    );
}

#[test]
fn figure_2_the_exclusive_lock_is_taken_before_log_lock() {
    check(
        "fn new_file
           805: call is_open -> 806
           806: - -> 810 900
           810: lock LOCK_log -> 830
           830: read log_type -> 834
           834: call is_open -> 867
           867: call close -> 870
           870: call open -> 880
           880: unlock LOCK_log -> 900
           900: return
         fn is_open
           150: read log_type -> 151
           151: return
         fn close
           1496: write log_type -> 1497
           1497: return
         fn open
           143: write log_type -> 144
           144: return
         pair new_file 805 830 R via @is_open 150 @new_file 830
         pair new_file 830 834 R via @new_file 830 @is_open 150
         pair new_file 834 867 R via @is_open 150 @close 1496
         pair new_file 867 870 X via @close 1496 @open 143",
        &[
            "new_file before 805: log_type acquire U",
            "new_file before 810: log_type acquire X",
            "new_file 806->900: log_type release 805",
            "new_file 870->880: log_type release 810",
            "is_open before 150: log_type acquire R",
            "is_open 150->151: log_type release 150",
            "close before 1496: log_type acquire X",
            "close 1496->1497: log_type release 1496",
            "open before 143: log_type acquire X",
            "open 143->144: log_type release 143",
        ],
    );
}

#[test]
fn read_under_read_is_not_dropped() {
    // T1 holds R(x) and wants R(y); T2 holds X(y) and wants X(x).
    let case = parse(
        "fn t1
           1: read x -> 2
           2: read y -> 3
           3: read y -> 4
           4: read x -> 5
           5: return
         fn t2
           1: write y -> 2
           2: write x -> 3
           3: write x -> 4
           4: write y -> 5
           5: return
         pair t1 1 4 R
         pair t1 2 3 R
         pair t2 1 4 X
         pair t2 2 3 X",
    );
    let inferred = infer_checked(&case);
    assert!(inferred.placements.constraints.values().flat_map(|c| &c.list).any(|c| c.origin == inference::constraint::Origin::Hoist));
    check_text(
        &case,
        &inferred,
        &[
            "t1 before 1: x acquire R",
            "t1 4->5: x release 1",
            "t2 before 1: x acquire X",
            "t2 3->4: x release 1",
            "t1 before 2: y acquire R",
            "t1 3->4: y release 2",
            "t2 before 1: y acquire X",
            "t2 4->5: y release 1",
        ],
    );
}

#[track_caller]
fn check_text(case: &support::Case, inferred: &inference::Inferred, expected: &[&str]) {
    assert_eq!(operations(case, &inferred.plan), expected, "refused: {:?}", inferred.plan.refused);
}

#[test]
fn two_critical_sections_of_one_lock_are_joined_by_a_lock_before_it() {
    // JDK's StringBuffer: length, then copy, each in the object's own lock; race-free, yet not atomic.
    check(
        "fn append
           1: call length -> 2
           2: call copy -> 3
           3: return
         fn length
           1: lock m -> 2
           2: read count -> 3
           3: unlock m -> 4
           4: return
         fn copy
           1: lock m -> 2
           2: read count -> 3
           3: unlock m -> 4
           4: return
         fn set
           1: lock m -> 2
           2: write count -> 3
           3: unlock m -> 4
           4: return
         pair append 1 2 X via @length 2 @copy 2
         held length 2 m
         held copy 2 m
         held set 2 m",
        &[
            "append before 1: count acquire X",
            "append 2->3: count release 1",
            "length before 1: count acquire R",
            "length 2->3: count release 1",
            "copy before 1: count acquire R",
            "copy 2->3: count release 1",
            "set before 1: count acquire X",
            "set 2->3: count release 1",
        ],
    );
}

#[test]
fn a_wait_between_the_locks_cannot_be_hoisted_over() {
    let case = parse(
        "fn take
           1: lock m -> 2
           2: - -> 3 4
           3: wait c m -> 2
           4: write x -> 5
           5: unlock m -> 6
           6: return
         fn twice
           1: read x -> 2
           2: lock m -> 3
           3: unlock m -> 4
           4: read x -> 5
           5: return
         pair twice 1 4 X",
    );
    let inferred = infer_checked(&case);
    assert!(inferred.plan.locks.is_empty());
    assert_eq!(inferred.plan.refused.len(), 1);
    let why = &inferred.plan.refused[0].why;
    assert!(why.ends_with("n3 in take would wait with x held: pthread_cond_wait"), "{why}");
}

#[test]
fn readers_that_only_meet_readers_wait_for_nobody() {
    // The paper's own example: k, R(x), R(y), k is a cycle of locks but not of waits.
    let case = parse(
        "fn t1
           1: lock k -> 2
           2: read x -> 3
           3: read x -> 4
           4: unlock k -> 5
           5: return
         fn t2
           1: read x -> 2
           2: read y -> 3
           3: read y -> 4
           4: read x -> 5
           5: return
         fn t3
           1: read y -> 2
           2: lock k -> 3
           3: unlock k -> 4
           4: read y -> 5
           5: return
         pair t1 2 3 R
         pair t2 1 4 R
         pair t2 2 3 R
         pair t3 1 4 R",
    );
    let inferred = infer_checked(&case);
    assert!(inferred.placements.constraints.values().flat_map(|c| &c.list).all(|c| c.origin == inference::constraint::Origin::Pair));
    assert_eq!(inferred.plan.locks.len(), 2);
}

#[test]
fn locks_behind_pointers_are_told_apart_by_what_the_pointers_may_be() {
    let orders = "
        fn f
          1: lock *p -> 2
          2: lock *q -> 3
          3: unlock *q -> 4
          4: unlock *p -> 5
          5: return
        fn g
          1: lock *q -> 2
          2: lock m -> 3
          3: unlock m -> 4
          4: unlock *q -> 5
          5: return
        same *q n
        ";
    let cycles = |text: &str| {
        let case = parse(text);
        infer_checked(&case).findings.iter().filter(|line| line.contains("more than one order")).count()
    };
    assert_eq!(cycles(&format!("{orders} same *p other")), 0);
    assert_eq!(cycles(&format!("{orders} same *p m")), 1);
}

#[test]
fn program_locks_in_more_than_one_order_are_told_with_where_each_is_taken() {
    let case = parse(
        "fn f
          1: lock a -> 2
          2: call h -> 3
          3: unlock a -> 4
          4: return
         fn h
          1: lock b -> 2
          2: unlock b -> 3
          3: return
         fn g
          1: lock b -> 2
          2: lock a -> 3
          3: unlock a -> 4
          4: unlock b -> 5
          5: return",
    );
    let findings = infer_checked(&case).findings;
    let told: Vec<&String> = findings.iter().filter(|line| line.contains("more than one order")).collect();
    assert_eq!(told.len(), 1, "{findings:?}");
    assert!(
        told[0]
            .ends_with("a, b; left as they are; a, held from f.c:1 (f), then b at f.c:2 (f); b, held from g.c:1 (g), then a at g.c:2 (g)"),
        "{told:?}"
    );
}

#[test]
fn locks_that_are_taken_at_once_have_no_order_between_them_and_are_held_together() {
    let case = parse(
        "fn f
          1: lock a b -> 2
          2: lock c -> 3
          3: unlock c -> 4
          4: unlock a b -> 5
          5: return
         fn g
          1: lock c -> 2
          2: lock b a -> 3
          3: unlock a -> 4
          4: unlock b -> 5
          5: unlock c -> 6
          6: return
         fn h
          1: lock b a -> 2
          2: unlock a b -> 3
          3: lock c -> 4
          4: unlock c -> 5
          5: return",
    );
    let findings = infer_checked(&case).findings;
    let told: Vec<&String> = findings.iter().filter(|line| line.contains("more than one order")).collect();
    assert_eq!(told.len(), 1, "{findings:?}");
    let expected = "3 of its own locks in more than one order, as far as their classes tell: a, b, c; left as they are; \
                    a, held from f.c:1 (f), then c at f.c:2 (f); b, held from f.c:1 (f), then c at f.c:2 (f); \
                    c, held from g.c:1 (g), then a at g.c:2 (g); c, held from g.c:1 (g), then b at g.c:2 (g)";
    assert!(told[0].ends_with(expected), "{told:?}");
}
