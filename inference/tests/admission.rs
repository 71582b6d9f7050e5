//! Which pairs get a lock, which do not, and why; and which accesses make one variable.

mod support;

use inference::{Config, infer};
use model::ids::NodeId;
use support::{Case, infer_checked, operations, parse, place};

/// Infers with the defaults; gives the lines of the plan's operations and the reasons for which pairs were refused.
#[track_caller]
fn outcome(case: &Case) -> (Vec<String>, Vec<String>) {
    let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    let refused = inferred.plan.refused.iter().map(|refused| refused.why.clone()).collect();
    (operations(case, &inferred.plan), refused)
}

#[track_caller]
fn check_refused(text: &str, why: &str) {
    let (operations, refused) = outcome(&parse(text));
    assert_eq!((operations, refused), (Vec::new(), vec![why.to_owned()]));
}

#[track_caller]
fn check_nothing(text: &str) {
    let (operations, refused) = outcome(&parse(text));
    assert_eq!((operations, refused), (Vec::new(), Vec::<String>::new()));
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let case = parse(text);
    let (operations, refused) = outcome(&case);
    assert_eq!(operations, expected, "refused: {refused:?}");
}

const TWO: &str = "
    fn f
      1: read x -> 2
      2: write x -> 3
      3: return
    ";

#[test]
fn an_interleaved_pair_is_not_kept() {
    check_nothing(&format!("{TWO} pair f 1 2 N"));
}

#[test]
fn a_pair_under_the_lock_of_all_accesses_is_guaranteed_already() {
    check_nothing(&format!("{TWO} pair f 1 2 X locks m\n held f 1 m\n held f 2 m k"));
}

#[test]
fn a_pair_in_two_critical_sections_is_not_guaranteed() {
    check(&format!("{TWO} pair f 1 2 X\n held f 1 m\n held f 2 m"), &["f before 1: x acquire X", "f 2->3: x release 1"]);
}

#[test]
fn a_lock_that_some_access_does_without_guarantees_nothing() {
    check(
        &format!("{TWO} pair f 1 2 X locks m\n held f 1 m\n held f 2 m\n fn g\n 1: write x -> 2\n 2: return"),
        &["f before 1: x acquire X", "f 2->3: x release 1", "g before 1: x acquire X", "g 1->2: x release 1"],
    );
    // What it reads there is what it would have read before.
    check_nothing(&format!("{TWO} pair f 1 2 X locks m\n held f 1 m\n held f 2 m\n fn g\n 1: read x -> 2\n 2: return"));
}

#[test]
fn a_read_before_the_first_write_of_a_pair_needs_no_lock() {
    let with_reader = |pair: &str| format!("fn f\n {pair}\n 3: return\n fn g\n 1: read x -> 2\n 2: return\n pair f 1 2 X");
    check(&with_reader("1: read x -> 2\n 2: write x -> 3"), &["f before 1: x acquire X", "f 2->3: x release 1"]);
    check(
        &with_reader("1: write x -> 2\n 2: read x -> 3"),
        &["f before 1: x acquire X", "f 2->3: x release 1", "g before 1: x acquire R", "g 1->2: x release 1"],
    );
}

#[test]
fn a_region_that_waits_for_a_peer_is_refused() {
    for (wait, name) in [("sleep", "sleep"), ("join", "pthread_join"), ("wait c m", "pthread_cond_wait")] {
        check_refused(
            &format!("fn f\n 1: read x -> 2\n 2: {wait} -> 3\n 3: write x -> 4\n 4: return\n pair f 1 3 X"),
            &format!("its region may wait for another thread or a peer: {name}"),
        );
    }
}

/// x is kept from 1 to 4; a way between them may wait at 3.
fn waiting_on_one_way(wait: &str) -> String {
    format!(
        "fn f
           1: read x -> 2
           2: - -> 3 4
           3: {wait} -> 4
           4: write x -> 5
           5: return
         fn g
           1: sleep -> 2
           2: return
         pair f 1 4 X"
    )
}

#[test]
fn a_region_ends_where_a_way_waits_and_goes_on_along_the_others() {
    for (wait, name) in [("wait c m", "pthread_cond_wait"), ("join", "pthread_join"), ("call g", "sleep in g")] {
        let text = waiting_on_one_way(wait);
        // The write is exclusive by itself where it was waited before.
        check(&text, &["f before 1: x acquire U", "f before 4: x acquire X", "f 2->3: x release 1", "f 4->5: x release 4"]);
        let case = parse(&text);
        let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
        assert_eq!(inferred.plan.locks[0].pairs[0].except.as_deref(), Some(name));
        assert!(inferred.certificate.to_string().contains(&format!("not on ways over {name}")));
    }
}

#[test]
fn a_loop_that_waits_ends_the_region_and_those_behind_it_begin_anew() {
    check(
        "fn f
           1: read x -> 2
           2: read y -> 3 4
           3: wait c m -> 2
           4: write x -> 5
           5: read x -> 6
           6: return
         pair f 1 4 X
         pair f 4 5 X",
        &["f before 1: x acquire U", "f before 4: x acquire X", "f 2->3: x release 1", "f 5->6: x release 4"],
    );
}

#[test]
fn the_checker_does_not_take_a_pair_for_kept_where_it_waits_unless_the_plan_says_so() {
    let case = parse(&waiting_on_one_way("wait c m"));
    let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
    let verdict = |plan: &model::plan::Plan| inference::check_plan(&case.program, &case.evidence, plan);
    assert!(verdict(&inferred.plan).checked);
    let mut silent = inferred.plan.clone();
    silent.locks[0].pairs[0].except = None;
    let said: Vec<String> = verdict(&silent).wrong.into_iter().map(|finding| finding.text).collect();
    assert!(said.iter().any(|text| text.contains("the pair n1, n4 is not covered")), "{said:?}");
    // Nor is the lock to be held over the wait in its place.
    let mut held = silent;
    let over = |operation: &model::plan::Operation| matches!(operation.at, model::plan::At::Edge(NodeId(2), NodeId(3)));
    held.locks[0].operations.retain(|operation| !over(operation));
    let said: Vec<String> = verdict(&held).wrong.into_iter().map(|finding| finding.text).collect();
    assert!(said.iter().any(|text| text.contains("held at n3, which may wait for another thread or a peer")), "{said:?}");
}

#[test]
fn a_call_that_waits_deep_down_is_refused_too() {
    check_refused(
        "fn f
           1: read x -> 2
           2: call g -> 3
           3: write x -> 4
           4: return
         fn g
           1: call h -> 2
           2: return
         fn h
           1: sleep -> 2
           2: return
         pair f 1 3 X",
        "its region may wait for another thread or a peer: sleep in h",
    );
}

#[test]
fn a_wait_on_the_way_to_the_end_of_the_process_is_none() {
    let with_error = |error: &str| {
        format!(
            "fn f
               1: read x -> 2
               2: call possess -> 3
               3: write x -> 4
               4: return
             fn possess
               1: - -> 2 3
               2: call fail -> 3
               3: return
             fn fail
               1: join -> 2
               {error}
             pair f 1 3 X"
        )
    };
    let kept = &["f before 1: x acquire U", "f before 3: x acquire X", "f 3->4: x release 3"];
    check(&with_error("2: call exit -> 3\n 3: stop"), kept);
    check(&with_error("2: - -> 2"), kept);
    check(&with_error("2: icall void(i32) -> 3\n 3: call exit -> 4\n 4: stop"), kept);
    let fails_by = "fn give_up\n 1: call abort -> 2\n 2: stop\n";
    check(&format!("{}\n{fails_by}", with_error("2: call give_up -> 3\n 3: return")), kept);
    let why = "its region may wait for another thread or a peer: pthread_join in fail";
    check_refused(&with_error("2: return"), why);
    check_refused(&with_error("2: - -> 3 4\n 3: call exit -> 4\n 4: return"), why);
    check_refused(&with_error("2: call __cxa_throw -> 3\n 3: stop"), why);
    check_refused(&with_error("2: call _ZN3log5writeEv -> 3\n 3: call exit -> 4\n 4: stop"), why);
    check_refused(&with_error("2: stop"), why);
}

#[test]
fn a_loop_that_waits_for_the_variable_is_not_held_around() {
    let why = "it would be held around a loop that only reads the variable, or only retries an atomic update, and may wait for it";
    let writer = "fn g\n 1: write x -> 2\n 2: return\n";
    check_refused(&format!("fn f\n 1: read x -> 1 2\n 2: return\n {writer} pair f 1 1 R"), why);
    check_refused(&format!("fn f\n 1: atomic x -> 1 2\n 2: return\n {writer} pair f 1 1 X"), why);
}

#[test]
fn a_loop_that_counts_is_held_around_and_left_released() {
    check(
        "fn f
           1: - -> 2 4
           2: read x -> 3
           3: write x -> 1
           4: return
         pair f 2 3 X
         pair f 3 2 X",
        &["f before 0: x acquire X", "f 1->4: x release 0"],
    );
}

#[test]
fn ends_in_different_functions_make_no_region() {
    let mut case = parse(&format!("{TWO} fn g\n 1: write x -> 2\n 2: return"));
    let pair = support::seen_pair(model::pair::Atomicity::Exclusive);
    let (head, tail) = (support::site("f", 2), support::site("g", 1));
    case.evidence.pairs.insert(model::profile::PairKey { head, tail, first: head, second: tail }, (pair, 1));
    assert_eq!(outcome(&case).1, ["its ends are not in one function"]);
}

#[test]
fn memory_of_one_thread_teaches_nothing() {
    let mut case = parse(&format!("{TWO} pair f 1 2 X private"));
    case.evidence.sites.values_mut().for_each(|site| site.shared = 0);
    assert_eq!(outcome(&case), (Vec::new(), Vec::new()));
}

#[test]
fn a_function_that_is_left_alone_gets_nothing() {
    let mut case = parse(&format!("{TWO} pair f 1 2 X"));
    case.program.functions[0].refused = Some("it calls setjmp".to_owned());
    assert_eq!(outcome(&case).1, ["its function is left alone: it calls setjmp"]);
}

#[test]
fn readers_of_reads_share_even_if_no_remote_read_was_seen() {
    check(
        "fn f
           1: read x -> 2
           2: read x -> 3
           3: return
         fn g
           1: write x -> 2
           2: read x -> 3
           3: return
         pair f 1 2 X",
        &["f before 1: x acquire R", "f 2->3: x release 1", "g before 1: x acquire X", "g 1->2: x release 1"],
    );
}

#[test]
fn what_nothing_writes_needs_no_lock() {
    check_nothing("fn f\n 1: read x -> 2\n 2: read x -> 3\n 3: return\n pair f 1 2 X");
}

#[test]
fn a_read_region_with_a_writing_end_starts_in_update_mode() {
    check(
        "fn f\n 1: read x -> 2\n 2: read y -> 3\n 3: write x -> 4\n 4: return\n pair f 1 3 R",
        &["f before 1: x acquire U", "f before 3: x acquire X", "f 3->4: x release 3"],
    );
    // Where the write follows at once, one operation does.
    check(&format!("{TWO} pair f 1 2 R"), &["f before 1: x acquire X", "f 2->3: x release 1"]);
}

#[test]
fn a_read_region_around_a_call_that_writes_starts_in_update_mode() {
    check(
        "fn f
           1: read x -> 2
           2: call g -> 3
           3: read x -> 4
           4: return
         fn g
           1: - -> 2 3
           2: write x -> 3
           3: return
         pair f 1 3 R",
        &["f before 1: x acquire U", "f 3->4: x release 1", "g before 2: x acquire X", "g 2->3: x release 2"],
    );
}

#[test]
fn a_pointer_joins_the_named_variables_that_it_was_seen_with_without_uniting_them() {
    let case = parse(
        "fn f
           1: write *p -> 2
           2: read a -> 3
           3: read b -> 4
           4: return
         together f 1 f 2
         together f 1 f 3",
    );
    let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
    let of = |text: &str| inferred.variables(&place(text)).collect::<Vec<_>>();
    assert_eq!((of("a").len(), of("b").len()), (1, 1));
    assert_ne!(of("a"), of("b"));
    assert_eq!(of("*p"), [of("a"), of("b")].concat());
}

#[test]
fn memory_that_a_program_uses_twice_does_not_unite_its_types() {
    let case = parse(
        "fn f
           1: write A.0 -> 2
           2: write B.8 -> 3
           3: write A.16 -> 4
           4: write g -> 5
           5: return
         together f 1 f 2
         together f 1 f 3
         together f 3 f 4",
    );
    let inferred = infer(&case.program, &case.evidence, "test", &Config::default());
    let of = |text: &str| inferred.variables(&place(text)).collect::<Vec<_>>();
    assert!(of("A.0") != of("B.8") && of("A.0") != of("A.16"));
    assert_eq!(of("A.16"), of("g"));
}

#[test]
fn a_region_that_calls_code_nobody_knows_is_refused() {
    let region = |callee| format!("fn f\n 1: read x -> 2\n 2: call {callee} -> 3\n 3: write x -> 4\n 4: return\n pair f 1 3 X");
    check_refused(&region("compress"), "its region calls compress, which was not captured and may take any time");
    check(&region("malloc"), &["f before 1: x acquire U", "f before 3: x acquire X", "f 3->4: x release 3"]);
}

#[test]
fn a_write_through_a_pointer_that_never_ran_counts_for_the_global_that_it_may_be() {
    let text = format!("{TWO} fn g\n 1: write *p -> 2\n 2: return\n pair f 1 2 X\n unrun g 1\n");
    let alone = ["f before 1: x acquire X", "f 2->3: x release 1"];
    check(&text, &alone);
    let both = ["f before 1: x and 1 more acquire X", "f 2->3: x and 1 more release 1"];
    let write = ["g before 1: x and 1 more acquire X", "g 1->2: x and 1 more release 1"];
    check(&format!("{text} same x *p"), &[both, write].concat());
    // What ran on shared memory, and not on x, is not taken for it.
    check(&format!("{TWO} fn g\n 1: write *p -> 2\n 2: return\n pair f 1 2 X\n same x *p"), &alone);
}

#[test]
fn a_pointer_that_may_be_too_many_variables_stays_by_itself() {
    let many = ["a", "b", "c", "d"];
    let reads: String = many.iter().zip(10..).map(|(name, at)| format!("{at}: read {name} -> {}\n", at + 1)).collect();
    let text = format!("{TWO} fn g\n 1: write *p -> 2\n 2: return\n fn h\n {reads} 14: return\n pair f 1 2 X\n unrun g 1\n");
    check(&format!("{text} same x *p {}", many.join(" ")), &["f before 1: x acquire X", "f 2->3: x release 1"]);
}

#[test]
fn all_elements_of_an_array_are_one_however_they_are_indexed() {
    let text = format!("{TWO} fn g\n 1: write x[] -> 2\n 2: return\n pair f 1 2 X\n unrun g 1\n same x x[]");
    let both = ["f before 1: x and 1 more acquire X", "f 2->3: x and 1 more release 1"];
    let write = ["g before 1: x and 1 more acquire X", "g 1->2: x and 1 more release 1"];
    check(&text, &[both, write].concat());
}

#[test]
fn input_takes_a_lock_for_a_global_but_not_for_some_object_of_many() {
    let program = |place: &str| {
        format!("fn f\n 1: read {place} -> 2\n 2: write {place} -> 3\n 3: return\n fn g\n 1: input {place} -> 2\n 2: return\n pair f 1 2 X")
    };
    let region = |name: &str| vec![format!("f before 1: {name} acquire X"), format!("f 2->3: {name} release 1")];
    let alone = |name: &str| vec![format!("g before 1: {name} acquire X"), format!("g 1->2: {name} release 1")];
    let check = |place: &str, expected: &[String]| check(&program(place), &expected.iter().map(String::as_str).collect::<Vec<_>>());
    check("x", &[region("x"), alone("x")].concat());
    check("T.8", &region("T::+8"));
}

#[test]
fn what_a_profile_says_of_sites_that_this_build_does_not_have_is_left_out_and_counted() {
    let text = "fn f\n 1: read x -> 2\n 2: write x -> 3\n 3: return\n pair f 1 2 X";
    let expected = operations(&parse(text), &infer_checked(&parse(text)).plan);
    let mut case = parse(text);
    let (known, gone) = (support::site("f", 1), support::site("no such function", 1));
    let evidence = case.evidence.pairs.values().next().expect("a pair").clone();
    for (head, tail) in [(known, gone), (gone, known), (gone, gone)] {
        case.evidence.pairs.insert(model::profile::PairKey { head, tail, first: head, second: tail }, evidence.clone());
    }
    let site = case.evidence.sites[&known].clone();
    case.evidence.sites.insert(gone, site);
    case.evidence.together.insert((known.min(gone), known.max(gone)));
    case.evidence.joint.insert((known, gone), model::correlation::Joint { seen: 9, apart: 0, aligned: 9 });
    let inferred = infer_checked(&case);
    assert_eq!(operations(&case, &inferred.plan), expected);
    assert!(inferred.findings.contains(&"3 observed pairs name sites that this build does not have".to_owned()), "{:?}", inferred.findings);
}

#[test]
fn a_region_around_a_call_of_its_own_function_is_released_by_each_activation() {
    let text = "fn f
           1: read x -> 2
           2: - -> 3 4
           3: call f -> 4
           4: write x -> 5
           5: return
         pair f 1 4 X";
    let case = parse(text);
    let plan = infer_checked(&case).plan;
    // The inner activation acquires what this thread holds already, under its own frame, and releases its own hold only.
    assert_eq!(operations(&case, &plan), ["f before 1: x acquire X", "f 4->5: x release 1"]);
}

#[test]
fn a_way_out_by_longjmp_in_a_region_is_not_held_over() {
    // 3 is a call that does not come back: behind it nothing follows.
    let text = "fn f
           1: read x -> 2
           2: - -> 3 5
           3: call longjmp -> 4
           4: stop
           5: write x -> 6
           6: return
         pair f 1 5 X";
    let case = parse(text);
    let plan = infer_checked(&case).plan;
    assert_eq!(operations(&case, &plan), ["f before 1: x acquire X", "f 2->3: x release 1", "f 5->6: x release 1"]);
}

#[test]
fn a_region_over_a_call_that_may_longjmp_leaves_its_hold_to_the_runtime() {
    // 2 may leave for good in g; the hook on longjmp drops what the frames that it leaves hold, so the region is kept as it is.
    let text = "fn f
           1: read x -> 2
           2: call g -> 3
           3: write x -> 4
           4: return
         fn g
           1: - -> 2 4
           2: call longjmp -> 3
           3: stop
           4: return
         pair f 1 3 X";
    let case = parse(text);
    assert_eq!(operations(&case, &infer_checked(&case).plan), ["f before 1: x acquire X", "f 3->4: x release 1"]);
}
