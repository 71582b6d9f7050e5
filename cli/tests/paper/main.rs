//! The examples of seed 002 from C: compiled by `atomfix cc`, extracted from the program, placed with exact expectations.
//!
//! Lines are those of the paper, by `#line`. Pairs are given as the paper gives them; how runs lead to pairs is what the recorder's own tests
//! and the kernels check. An operation prints as `foo before 3: x acquire X`, on an edge as `foo 4->6: x release 2`, each place by the line of
//! the node or of what comes next, each label by the line of its acquisition.

mod case;

use case::Case;

/// The program's operations, and that the checker accepts them.
#[track_caller]
fn check(source: &str, pairs: &[&str], expected: &[&str]) {
    let case = Case::build(source);
    let inferred = case.infer(pairs);
    assert!(inferred.certificate.checked, "{:?}", inferred.certificate.wrong);
    assert_eq!(case.operations(&inferred.plan), expected, "refused: {:?}", inferred.plan.refused);
}

#[test]
fn figure_1_both_branches_are_locked_though_one_never_ran() {
    check(
        "int *P;
         int foo(int condition) {
           if (condition)
#line 1
             P = 0;
#line 2
           if (P)
#line 3
             return *P;
           return 0;
         }",
        &["foo 2 3 P X"],
        &[
            "foo before 1: P acquire X",
            "foo before 2: P acquire X",
            "foo 1->2: P release 1",
            "foo 2->end: P release 2",
            "foo 3->3: P release 2",
        ],
    );
}

const FIGURE_2: &str = "
#include <pthread.h>
int log_type;
pthread_mutex_t LOCK_log = PTHREAD_MUTEX_INITIALIZER;
int is_open(void) {
#line 150
  return log_type != 0;
}
void close_log(void) {
#line 1496
  log_type = 0;
}
void open_log(int type) {
#line 143
  log_type = type;
}
void new_file(void) {
#line 805
  if (!is_open())
    return;
#line 810
  LOCK;
#line 830
  int save = log_type;
#line 834
  is_open();
#line 867
  close_log();
#line 870
  open_log(save);
#line 880
  UNLOCK;
}
void mysql_insert(void) {
#line 311
  if (is_open())
#line 1922
    is_open();
}";

const FIGURE_2_PAIRS: [&str; 5] = [
    "new_file 805 830 log_type R via is_open 150 new_file 830",
    "new_file 830 834 log_type R via new_file 830 is_open 150",
    "new_file 834 867 log_type R via is_open 150 close_log 1496",
    "new_file 867 870 log_type X via close_log 1496 open_log 143",
    "mysql_insert 311 1922 log_type R via is_open 150 is_open 150",
];

#[test]
fn figure_2_a_read_region_upgraded_at_867_and_released_on_the_false_branch() {
    check(
        &FIGURE_2.replace("UNLOCK;", ";").replace("LOCK;", ";"),
        &FIGURE_2_PAIRS,
        &[
            "close_log before 1496: log_type acquire X",
            "close_log 1496->end: log_type release 1496",
            "is_open before 150: log_type acquire R",
            "is_open 150->end: log_type release 150",
            "mysql_insert before 311: log_type acquire R",
            "mysql_insert 311->end: log_type release 311",
            "mysql_insert 1922->end: log_type release 311",
            "new_file before 805: log_type acquire U",
            "new_file before 867: log_type acquire X",
            "new_file 805->end: log_type release 805",
            "new_file 870->end: log_type release 867",
            "open_log before 143: log_type acquire X",
            "open_log 143->end: log_type release 143",
        ],
    );
}

#[test]
fn figure_2_the_exclusive_lock_is_hoisted_before_the_programs_lock() {
    check(
        &FIGURE_2.replace("UNLOCK;", "pthread_mutex_unlock(&LOCK_log);").replace("LOCK;", "pthread_mutex_lock(&LOCK_log);"),
        &FIGURE_2_PAIRS[..4],
        &[
            "close_log before 1496: log_type acquire X",
            "close_log 1496->end: log_type release 1496",
            "is_open before 150: log_type acquire R",
            "is_open 150->end: log_type release 150",
            "new_file before 805: log_type acquire U",
            "new_file before 810: log_type acquire X",
            "new_file 805->end: log_type release 805",
            "new_file 870->880: log_type release 810",
            "open_log before 143: log_type acquire X",
            "open_log 143->end: log_type release 143",
        ],
    );
}

#[test]
fn figure_3_a_race_is_suppressed_by_keeping_two_accesses_together() {
    check(
        "int *p;
         int value;
         void one(void) {
#line 1
           p = &value;
#line 3
           int *q = p;
           *q = 1;
         }
         void other(void) {
#line 2
           p = 0;
         }",
        &["one 1 3 p X"],
        &["one before 1: p acquire X", "one 3->4: p release 1", "other before 2: p acquire X", "other 2->end: p release 2"],
    );
}

const FIGURE_7: &str = "
volatile int x;
void foo(int a, int b, int c) {
  if (a)
#line 2
    x;
  if (b) {
#line 7
    x;
    if (c) {
#line 9
      x;
      return;
    }
  }
#line 12
  x;
}";

#[test]
fn figure_7_degrades_and_leaves_two_releases_out() {
    // The releases of R(2,7) where X(2,12) stays, and of what 7 has acquired anew, are not there.
    check(
        FIGURE_7,
        &["foo 2 12 x X", "foo 2 7 x R", "foo 7 12 x R"],
        &[
            "foo before 2: x acquire X",
            "foo before 7: x acquire R",
            "foo before 9: x acquire R",
            "foo before 12: x acquire R",
            "foo 2->7: x degrade 2",
            "foo 7->9: x release 7",
            "foo 9->end: x release 9",
            "foo 12->end: x release 12",
        ],
    );
}

#[test]
fn figure_7_constraint_sets_at_every_access() {
    let case = Case::build(FIGURE_7);
    let inferred = case.infer(&["foo 2 12 x X", "foo 2 7 x R", "foo 7 12 x R"]);
    assert_eq!(case.constraints(&inferred, "foo", "x"), ["2: X(2,12) R(2,7)", "7: R(2,7) R(7,12)", "9:", "12: X(2,12) R(7,12)"]);
}

const FIGURE_8: &str = "
volatile int x, y;
void foo(int a, int b) {
  if (a)
#line 2
    x;
  if (b)
#line 6
    y;
#line 7
  x;
#line 8
  y;
}
void bar(void) {
#line 21
  y = 1;
#line 22
  x = 1;
#line 23
  x = 2;
#line 24
  y = 2;
}";

const FIGURE_8_PAIRS: [&str; 3] = ["foo 2 7 x X", "foo 6 8 y R", "bar 21 24 y X"];

#[test]
fn figure_8_an_acquisition_is_hoisted_and_released_where_it_was_not_needed() {
    check(
        FIGURE_8,
        &FIGURE_8_PAIRS,
        &[
            "bar before 21: y acquire X",
            "bar 24->end: y release 21",
            "foo before 2: y acquire R",
            "foo before 6: y acquire R",
            "foo before 8: y acquire R",
            "foo 2->7: y release 2",
            "foo 8->end: y release 8",
            "bar before 22: x acquire X",
            "bar before 23: x acquire X",
            "bar 22->23: x release 22",
            "bar 23->24: x release 23",
            "foo before 2: x acquire X",
            "foo before 7: x acquire R",
            "foo 7->8: x release 7",
        ],
    );
}

#[test]
fn figure_8_constraint_sets_of_part_b() {
    let case = Case::build(FIGURE_8);
    let inferred = case.infer(&FIGURE_8_PAIRS);
    assert_eq!(case.constraints(&inferred, "foo", "y"), ["2: R(2,6)", "6: R(2,6) R(6,8)", "7: R(6,8)", "8: R(6,8)"]);
}

/// `LOOP` stands before the wait.
const FIGURE_9: &str = "#include <pthread.h>
         pthread_mutex_t m; pthread_cond_t c; int ready, x;
         void waiter(void) {
#line 1
           x = 1;
           pthread_mutex_lock(&m);
           LOOP
#line 2
             pthread_cond_wait(&c, &m);
           pthread_mutex_unlock(&m);
#line 3
           x = 2;
         }
         void signaler(void) {
#line 4
           x = 3;
           pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);
         }";

#[test]
fn figure_9_no_lock_is_held_over_a_condition_wait() {
    // Where every way waits, the pair is refused; else it is kept on the others. The checker looks for waits by itself.
    let inferred = Case::build(&FIGURE_9.replace("LOOP", "")).infer(&["waiter 1 3 x X"]);
    assert!(inferred.plan.locks.is_empty() && inferred.certificate.checked);
    let why = "its region may wait for another thread or a peer: pthread_cond_wait";
    assert_eq!(inferred.plan.refused.iter().map(|refused| refused.why.as_str()).collect::<Vec<_>>(), [why]);
    let inferred = Case::build(&FIGURE_9.replace("LOOP", "while (!ready)")).infer(&["waiter 1 3 x X"]);
    assert!(inferred.plan.refused.is_empty() && inferred.certificate.checked);
    assert_eq!(inferred.plan.locks[0].pairs[0].except.as_deref(), Some("pthread_cond_wait"));
}

#[test]
fn figure_10_the_two_reads_of_the_next_node_are_kept_together() {
    check(
        "struct recycled { struct recycled *next; } *recycled_pools;
         struct recycled *casptr(struct recycled **where, struct recycled *with, struct recycled *old) {
#line 30
           return __sync_val_compare_and_swap(where, old, with);
         }
         void set_idle(struct recycled *node) {
           for (;;) {
#line 1
             node->next = recycled_pools;
#line 2
             struct recycled *old = node->next;
#line 3
             struct recycled *found = casptr(&recycled_pools, node, old);
#line 4
             if (found == node->next)
               break;
           }
         }",
        &["set_idle 2 4 recycled X"],
        &[
            "set_idle before 1: recycled.next acquire X",
            "set_idle before 2: recycled.next acquire X",
            "set_idle 1->2: recycled.next release 1",
            "set_idle 4->end: recycled.next release 2",
            "set_idle 4->1: recycled.next release 2",
        ],
    );
}

/// Not of the paper: what copies, clears or reads in a whole record accesses all fields of it.
#[test]
fn copies_fills_and_input_of_a_record_take_the_locks_of_all_its_fields() {
    check(
        "#include <string.h>
         #include <unistd.h>
         struct record { long first, second; } g, h;
         void user(void) {
#line 1
           long old = g.second;
#line 6
           g.second = old + 1;
         }
         void copy(void) {
#line 2
           g = h;
         }
         void clear(void) {
#line 3
           memset(&g, 0, sizeof g);
         }
         void input(int fd) {
#line 4
           read(fd, &g, sizeof g);
         }
         void beside(void) {
#line 5
           memset(&g.first, 0, sizeof g.first);
         }",
        &["user 1 6 g.second X"],
        &[
            "clear before 3: g.second acquire X",
            "clear 3->end: g.second release 3",
            "copy before 2: g.second acquire X",
            "copy 2->end: g.second release 2",
            "input before 4: g.second acquire X",
            "input 4->end: g.second release 4",
            "user before 1: g.second acquire X",
            "user 6->end: g.second release 1",
        ],
    );
}

/// What is found out about the order of the program's own locks.
#[track_caller]
fn check_orders(driver: &str, source: &str, expected: &[&str]) {
    let inferred = Case::build_with(driver, source).infer(&[]);
    let orders = inferred.findings.iter().filter_map(|line| line.split_once("as far as their classes tell: "));
    // Behind the names follows where they are taken.
    let orders: Vec<&str> = orders.filter_map(|(_, told)| told.split_once("; left as they are")).map(|(names, _)| names).collect();
    assert_eq!(orders, expected, "{:?}", inferred.findings);
}

const WRAPPED: &str = "
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    pthread_mutex_t a, b;
    static void safe_mutex_lock(pthread_mutex_t *m) {
      int error = pthread_mutex_lock(m);
      if (error != 0) {
        fprintf(stderr, \"locking: %d\\n\", error);
        exit(1);
      }
    }
    static void safe_mutex_unlock(pthread_mutex_t *m) {
      if (pthread_mutex_unlock(m) != 0)
        exit(1);
    }
    static void lock_again(pthread_mutex_t *m) { safe_mutex_lock(m); }
    void one(void) { safe_mutex_lock(&a); safe_mutex_lock(&b); safe_mutex_unlock(&b); safe_mutex_unlock(&a); }
    void other(void) { lock_again(FIRST); lock_again(SECOND); safe_mutex_unlock(SECOND); safe_mutex_unlock(FIRST); }";

#[test]
fn locks_that_are_taken_through_wrappers_are_told_apart() {
    let with = |first: &str, second: &str| WRAPPED.replace("FIRST", first).replace("SECOND", second);
    check_orders("cc", &with("&b", "&a"), &["a, b"]);
    check_orders("cc", &with("&a", "&b"), &[]);
}

#[test]
fn members_of_std_mutex_are_wrappers_too() {
    let with = |first: &str, second: &str| {
        format!(
            "#include <mutex>
             std::mutex a, b;
             void one() {{ a.lock(); b.lock(); b.unlock(); a.unlock(); }}
             void other() {{ {first}.lock(); {second}.lock(); {second}.unlock(); {first}.unlock(); }}"
        )
    };
    check_orders("c++", &with("b", "a"), &["a, b"]);
    check_orders("c++", &with("a", "b"), &[]);
}

#[test]
fn what_a_library_calls_back_is_called_where_the_library_is() {
    let with = |first: &str, second: &str| {
        format!(
            "#include <pthread.h>
             #include <stdlib.h>
             pthread_mutex_t a, b, c;
             pthread_once_t once = PTHREAD_ONCE_INIT;
             static int numbers[9];
             static int compare(const void *left, const void *right) {{
               pthread_mutex_lock(&b);
               pthread_mutex_unlock(&b);
               return *(const int *)left - *(const int *)right;
             }}
             static void prepare(void) {{ pthread_mutex_lock(&c); pthread_mutex_unlock(&c); }}
             void sorted(void) {{ pthread_mutex_lock(&a); qsort(numbers, 9, sizeof *numbers, compare); pthread_mutex_unlock(&a); }}
             void prepared(void) {{ pthread_mutex_lock(&b); pthread_once(&once, prepare); pthread_mutex_unlock(&b); }}
             void other(void) {{
               pthread_mutex_lock(&{first}); pthread_mutex_lock(&{second});
               pthread_mutex_unlock(&{second}); pthread_mutex_unlock(&{first});
             }}"
        )
    };
    check_orders("cc", &with("b", "a"), &["a, b"]);
    check_orders("cc", &with("c", "b"), &["b, c"]);
    check_orders("cc", &with("c", "a"), &["a, b, c"]);
    check_orders("cc", &with("a", "c"), &[]);
}

#[test]
fn so_is_what_std_call_once_calls() {
    let with = |first: &str, second: &str| {
        format!(
            "#include <mutex>
             std::mutex a, b;
             std::once_flag once;
             void prepare() {{ b.lock(); b.unlock(); }}
             void prepared() {{ a.lock(); std::call_once(once, prepare); a.unlock(); }}
             void other() {{ {first}.lock(); {second}.lock(); {second}.unlock(); {first}.unlock(); }}"
        )
    };
    check_orders("c++", &with("b", "a"), &["a, b"]);
    check_orders("c++", &with("a", "b"), &[]);
}

#[test]
fn a_region_may_lie_around_a_call_of_pthread_once_and_guards_what_that_calls() {
    check(
        "#include <pthread.h>
         int limit, made;
         pthread_once_t once = PTHREAD_ONCE_INIT;
#line 9
         static void make(void) { made = 1; limit = made; }
         int user(void) {
#line 1
           int before = limit;
#line 2
           pthread_once(&once, make);
#line 3
           return before + limit;
         }",
        &["user 1 3 limit R"],
        &[
            "make before 9: limit acquire X",
            "make 9->end: limit release 9",
            "user before 1: limit acquire U",
            "user 3->end: limit release 1",
        ],
    );
}
