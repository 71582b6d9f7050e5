//! Calls that never come back: what is taken on the way to the end of the process has no part in the order of injected locks held before.

mod support;

use model::plan::Plan;
use support::{Case, infer_checked, operations, parse, protected_places};

/// Infers; gives the acquisitions, sorted, and the plan.
#[track_caller]
fn acquisitions(text: &str) -> (Case, Vec<String>, Plan) {
    let case = parse(text);
    let plan = infer_checked(&case).plan;
    let mut found: Vec<String> =
        operations(&case, &plan).iter().filter_map(|line| line.split_once(" acquire").map(|(at, _)| at.to_owned())).collect();
    found.sort();
    (case, found, plan)
}

/// f holds x over a call that may fail; g takes x with y held. `fail` takes y, and then what `end` says happens.
fn failing(end: &str, lock: &str, unlock: &str) -> String {
    format!(
        "fn f
           1: write x -> 2
           2: call possess -> 3
           3: write x -> 4
           4: return
         fn possess
           1: {lock} -> 2
           2: - -> 3 4
           3: call fail -> 4
           4: {unlock} -> 5
           5: return
         fn fail
           1: write y -> 2
           2: {end} -> 3
           3: return
         fn g
           1: write y -> 2
           2: write x -> 3
           3: write y -> 4
           4: return
         pair f 1 3 X
         pair g 1 3 X"
    )
}

#[test]
fn what_is_taken_after_a_last_call_has_no_part_in_the_order() {
    let (case, found, plan) = acquisitions(&failing("call exit", "-", "-"));
    assert_eq!(found, ["f before 1: x", "fail before 1: y", "g before 1: y", "g before 2: x"]);
    assert_eq!(plan.endings, ["fail"]);
    // Without what is given up before the call there is a circle.
    let kept = Plan { endings: Vec::new(), ..plan };
    let wrong = inference::check::check(&case.program, &kept, &protected_places(&kept)).wrong;
    assert!(!wrong.is_empty() && wrong.iter().all(|finding| finding.text.contains("part of a circle")), "{wrong:?}");
}

#[test]
fn a_call_that_may_come_back_keeps_what_is_held() {
    for end in ["call printf", "call longjmp", "icall t"] {
        let (case, found, plan) = acquisitions(&failing(end, "-", "-"));
        // x is taken before y, as in f.
        assert_eq!(found, ["f before 1: x", "fail before 1: y", "g before 1: x", "g before 1: y"]);
        assert_eq!(plan.endings, [""; 0]);
        let listed = Plan { endings: vec!["fail".to_owned(), "nowhere".to_owned()], ..plan };
        let certificate = inference::check::check(&case.program, &listed, &protected_places(&listed));
        let wrong: Vec<&str> = certificate.wrong.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(
            wrong,
            ["fail is listed among the endings, but may come back", "nowhere is listed among the endings, but is not in the program"]
        );
    }
}

#[test]
fn a_lock_of_the_program_is_still_held_after_a_last_call() {
    // g takes m with y held, and fail takes y with m held, when nothing is left of a hold of y that was taken before m.
    let text = failing("call exit", "lock m", "unlock m")
        .replace("2: write x -> 3\n           3: write y", "2: call possess -> 3\n           3: write y");
    let (_, found, plan) = acquisitions(&text);
    assert_eq!((found, &plan.endings[..]), (vec!["f before 1: x".to_owned()], &["fail".to_owned()][..]));
    assert_eq!(plan.refused.len(), 1);
    assert!(plan.refused[0].variable == "y" && plan.refused[0].why.contains("hoisting cannot resolve"), "{:?}", plan.refused);
}

#[test]
fn functions_that_run_for_ever_end_nothing_but_what_is_held() {
    let text = failing("-", "-", "-").replace("2: - -> 3\n           3: return\n         fn g", "2: - -> 1\n         fn g");
    let (_, found, plan) = acquisitions(&text);
    assert_eq!(plan.endings, ["fail"]);
    assert_eq!(found, ["f before 1: x", "fail before 1: y", "g before 1: y", "g before 2: x"]);
}
