//! Traces of events as text, the expected pairs beside them: each rule of seed 002, Fig. 5, and the frontier by activation.
//!
//! A trace is a list of `THREAD EVENT ARGUMENTS`, separated by `;` or line ends. Variables and locks are names; `x.hi` is the upper
//! half of the word `x`. A pair prints as `head tail first second ATOMICITY seen/shared {locks}`.

use std::collections::{BTreeMap, BTreeSet};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use model::ids::{FunctionKey, SiteKey, fnv1a};
use model::pair::Rw;
use model::recording::{self, RecordedLock, Recording};

use crate::change::Effect;
use crate::frame::StackAddress;
use crate::hold::Holding;
use crate::mapping::{Identity, Mapping};
use crate::pace::Pace;
use crate::process::Local;
use crate::quarantine::End;
use crate::recorder::Recorder;
use crate::shadow::Address;
use crate::sys;
use crate::thread::Region;

/// A thread of a trace: its state, and the frames on its pretended stack.
struct Actor {
    local: &'static Local,
    number: usize,
    depth: usize,
    last_call: Option<SiteKey>,
}

const FRAME: usize = 0x100;
const DATA: usize = 0x1000_0000;

impl Actor {
    fn stack_top(&self) -> usize {
        0x7000_0000_0000 + self.number * 0x10_0000
    }

    /// The address of the innermost frame.
    fn frame(&self) -> StackAddress {
        StackAddress(self.stack_top() - self.depth * FRAME)
    }

    fn stack(&self) -> StackAddress {
        StackAddress(self.frame().0 - FRAME / 2)
    }
}

/// Names that a trace uses, by what they stand for.
#[derive(Default)]
struct Names {
    sites: BTreeMap<u64, String>,
    variables: Vec<String>,
}

impl Names {
    fn site(&mut self, name: &str) -> SiteKey {
        let key = fnv1a(name.as_bytes());
        self.sites.insert(key, name.to_string());
        SiteKey(key)
    }

    fn address(&mut self, name: &str) -> usize {
        let index = self.variables.iter().position(|known| known == name).unwrap_or_else(|| {
            self.variables.push(name.to_string());
            self.variables.len() - 1
        });
        // Each in a line and page group of its own.
        DATA + index * 0x2000
    }

    /// The bytes of a variable, a half of it, or a word in the innermost frame (`stack`).
    fn place(&mut self, name: &str, actor: &Actor) -> (Address, usize) {
        match name.rsplit_once('.') {
            Some((name, "lo")) => (Address(self.address(name)), 4),
            Some((name, "hi")) => (Address(self.address(name) + 4), 4),
            _ if name == "stack" => (Address(actor.frame().0 - 0x10), 8),
            _ => (Address(self.address(name)), 8),
        }
    }
}

fn pace() -> &'static Pace {
    &sys::leak::<Pace>(1).expect("memory")[0]
}

fn play(trace: &str) -> (Recording, Names) {
    let identity = Identity { run: [1, 2], seed: 3, slide: 0, process: 4 };
    let mapping = Mapping::anonymous(identity).expect("memory");
    let executable = Region { start: DATA, length: 0x10_0000 };
    let recorder = Recorder::new(mapping, executable, 0, pace(), None).expect("memory");
    let mut names = Names::default();
    let mut actors: BTreeMap<String, Actor> = BTreeMap::new();
    for event in trace.split([';', '\n']).map(str::trim).filter(|event| !event.is_empty()) {
        let words: Vec<&str> = event.split_whitespace().collect();
        let number = actors.len();
        let actor = actors.entry(words[0].to_string()).or_insert_with(|| {
            let local = &sys::leak::<Local>(1).expect("memory")[0];
            let thread_number = recorder.add_thread(&local.public).expect("a number");
            let actor = Actor { local, number, depth: 0, last_call: None };
            local.act(|thread| {
                thread.number = thread_number;
                thread.stack = Region { start: actor.stack_top() - 0x8_0000, length: 0x8_0000 };
            });
            actor
        });
        apply(&recorder, actor, &mut names, &words[1..]);
    }
    for actor in actors.values() {
        actor.local.act(|thread| recorder.flush(thread));
    }
    (recording::decode(mapping.bytes()).expect("sound").expect("begun"), names)
}

fn apply(recorder: &Recorder, actor: &mut Actor, names: &mut Names, words: &[&str]) {
    let public = &actor.local.public;
    let access = |names: &mut Names, actor: &Actor, variable: &str, site: &str, rw: Rw, effect: Effect| {
        let (place, key) = (names.place(variable, actor), names.site(site));
        actor.local.act(|thread| {
            if recorder.begin(thread, public, place, rw, key, actor.stack()).is_some() {
                recorder.end(thread, public, effect);
            }
        });
    };
    let range = |names: &mut Names, variable: &str, length: &str, site: &str, rw: Rw| {
        let place = (Address(names.address(variable)), length.parse().expect("a length"));
        let key = names.site(site);
        actor.local.act(|thread| recorder.range(thread, public, place, rw, key));
    };
    let take = |names: &mut Names, lock: &str, holding| {
        let lock = Address(names.address(lock));
        actor.local.act(|thread| recorder.acquire(thread, lock, holding, |_| 64));
    };
    match *words {
        ["enter"] => {
            actor.depth += 1;
            actor.local.act(|thread| recorder.enter(thread, actor.frame(), FunctionKey(1), actor.stack()));
        }
        ["leave"] => {
            actor.local.act(|thread| thread.frames.leave(actor.frame(), actor.stack()));
            actor.depth -= 1;
        }
        // The frame is gone without notice.
        ["vanish"] => actor.depth -= 1,
        ["call", site] => {
            let key = names.site(site);
            actor.last_call = Some(key);
            actor.local.act(|thread| recorder.call(thread, actor.frame(), key, actor.stack()));
        }
        ["read", variable, site] => access(names, actor, variable, site, Rw::Read, Effect::Changed),
        ["write", variable, site] => access(names, actor, variable, site, Rw::Write, Effect::Changed),
        // Of the value that stands there.
        ["rewrite", variable, site] => access(names, actor, variable, site, Rw::Write, Effect::Silent),
        ["update", variable, site] => access(names, actor, variable, site, Rw::Update, Effect::Changed),
        // A compare-and-swap that fails.
        ["try", variable, site] => access(names, actor, variable, site, Rw::Update, Effect::Silent),
        ["reads", variable, length, site] => range(names, variable, length, site, Rw::Read),
        ["writes", variable, length, site] => range(names, variable, length, site, Rw::Write),
        ["lock", lock] => take(names, lock, Holding::Exclusive),
        ["rdlock", lock] => take(names, lock, Holding::Shared),
        ["unlock", lock] => {
            let lock = Address(names.address(lock));
            actor.local.act(|thread| recorder.give_up(thread, lock));
        }
        ["make", lock] => {
            let lock = Address(names.address(lock));
            actor.local.act(|thread| recorder.make_lock(thread, lock));
        }
        ["post", object] => {
            let object = Address(names.address(object));
            actor.local.act(|thread| recorder.release(thread, object));
        }
        ["await", object] => {
            let object = Address(names.address(object));
            actor.local.act(|thread| recorder.wait(thread, object));
        }
        ["wait", lock] => {
            let lock = Address(names.address(lock));
            actor.local.act(|thread| recorder.renew(thread, lock));
        }
        ["allocate", variable] => {
            let start = Address(names.address(variable));
            let last_call = actor.last_call;
            actor.local.act(|thread| recorder.allocate(thread, last_call, start));
        }
        ["free", variable, length] => {
            let start = Address(names.address(variable));
            let block = (start, length.parse().expect("a length"));
            actor.local.act(|thread| recorder.free(thread, public, block, End::Freed, |_| ()));
        }
        // As `free` at a site of the program: first the site, then the block ends.
        ["free", variable, length, site] => {
            let (start, length) = (Address(names.address(variable)), length.parse().expect("a length"));
            let key = names.site(site);
            actor.local.act(|thread| {
                recorder.give_back(thread, public, start, |_| length, (Rw::Write, key));
                recorder.free(thread, public, (start, length), End::Freed, |_| ());
            });
        }
        _ => panic!("no such event: {words:?}"),
    }
}

fn lock_name(lock: RecordedLock, names: &Names) -> String {
    match lock {
        RecordedLock::Executable(address) => names.variables[(usize::try_from(address).expect("small") - DATA) / 0x2000].clone(),
        RecordedLock::Made(call) => format!("made({})", names.sites[&call.0]),
        RecordedLock::Heap(site, offset) => format!("heap({})+{offset}", names.sites[&site.0]),
        RecordedLock::Other(number) => format!("other{number}"),
    }
}

fn set_text(recording: &Recording, set: usize, names: &Names) -> String {
    let locks: BTreeSet<String> = recording.sets[set].iter().map(|&lock| lock_name(recording.locks[lock], names)).collect();
    if locks.is_empty() { String::new() } else { format!(" {{{}}}", locks.into_iter().collect::<Vec<_>>().join(" ")) }
}

fn pairs(trace: &str) -> Vec<String> {
    let (recording, names) = play(trace);
    let mut lines: Vec<String> = recording
        .pairs
        .iter()
        .map(|pair| {
            let [head, tail, first, second] = pair.sites.map(|site| &names.sites[&recording.sites[site].key.0]);
            let locks = set_text(&recording, pair.locks, &names);
            format!("{head} {tail} {first} {second} {} {}/{}{locks}", pair.atomicity, pair.seen, pair.shared)
        })
        .collect();
    lines.sort();
    lines
}

/// Plays a trace and compares its pairs.
#[track_caller]
fn check(trace: &str, expected: &[&str]) {
    assert_eq!(pairs(trace), expected, "{trace}");
}

/// Plays a trace and compares which sites met a concurrent access.
#[track_caller]
fn check_concurrent(trace: &str, expected: &[&str]) {
    let (recording, names) = play(trace);
    let concurrent = recording.sites.iter().filter(|site| site.concurrent).map(|site| names.sites[&site.key.0].as_str());
    assert_eq!(concurrent.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(), expected, "{trace}");
}

/// Plays a trace and compares what was dropped.
#[track_caller]
fn check_drops(trace: &str, expected: &[(recording::Drop, u64)]) {
    assert_eq!(play(trace).0.drops, expected, "{trace}");
}

#[test]
fn without_a_remote_access_a_pair_is_exclusive() {
    check("1 enter; 1 read x a; 1 write x b", &["a b a b EXCLUSIVE 1/0"]);
}

#[test]
fn a_remote_read_between_leaves_read_a_remote_write_none() {
    let between = |event| format!("1 enter; 2 enter; 1 read x a; 2 {event} x r; 1 write x b");
    check(&between("read"), &["a b a b READ 1/1"]);
    check(&between("write"), &["a b a b NONE 1/1"]);
    check(&between("update"), &["a b a b NONE 1/1"]);
}

#[test]
fn a_remote_store_of_the_value_that_is_there_leaves_everything_and_an_update_that_changes_nothing_read() {
    let between = |event| format!("1 enter; 2 enter; 1 read x a; 2 {event} x r; 1 write x b");
    check(&between("rewrite"), &["a b a b EXCLUSIVE 1/1"]);
    check(&between("try"), &["a b a b READ 1/1"]);
    check("1 enter; 2 enter; 1 write x a; 2 write x r; 1 rewrite x b", &["a b a b NONE 1/1"]);
}

#[test]
fn a_store_changes_all_words_that_it_lies_in() {
    check("1 enter; 2 enter; 1 read x.hi a; 1 read x.lo c; 2 write x r; 1 read x.hi b", &["a b a b NONE 1/1"]);
    check("1 enter; 2 enter; 1 read x a; 2 write x.lo r; 1 read x.hi b; 1 read x.lo c", &["a b a b EXCLUSIVE 1/0", "a c a c NONE 1/1"]);
}

#[test]
fn a_remote_write_outweighs_remote_reads_before_and_after_it() {
    check(
        "1 enter; 2 enter; 1 read x a; 2 read x r; 2 write x w; 2 read x r; 1 read x b",
        &["a b a b NONE 1/1", "r w r w EXCLUSIVE 1/1", "w r w r EXCLUSIVE 1/1"],
    );
}

#[test]
fn over_all_observations_the_weakest_wins() {
    let exclusive = "1 read x a; 1 read x b;";
    let read = "1 read x a; 2 read x r; 1 read x b;";
    for order in [format!("{exclusive}{read}"), format!("{read}{exclusive}")] {
        let pairs = pairs(&format!("1 enter; 2 enter; {order}"));
        assert!(pairs.iter().any(|pair| pair.starts_with("a b a b READ 2/")), "{pairs:?}");
    }
}

#[test]
fn memory_that_several_threads_only_read_counts_as_shared() {
    check("1 enter; 2 enter; 1 read p a; 1 read p b; 2 read p a; 2 read p b", &["a b a b EXCLUSIVE 2/1"]);
}

#[test]
fn a_remote_access_before_or_after_a_pair_does_not_touch_it() {
    check("1 enter; 2 enter; 2 write x w; 1 read x a; 1 write x b; 2 read x r", &["a b a b EXCLUSIVE 1/1", "w r w r NONE 1/1"]);
}

#[test]
fn an_access_and_a_call_are_the_ends_in_their_common_function() {
    check("1 enter; 1 read x a; 1 call f; 1 enter; 1 write x b; 1 leave", &["a f a b EXCLUSIVE 1/0"]);
    check("1 enter; 1 call f; 1 enter; 1 write x b; 1 leave; 1 read x a", &["f a b a EXCLUSIVE 1/0"]);
}

#[test]
fn two_calls_are_the_ends_of_accesses_in_two_callees() {
    check("1 enter; 1 call f; 1 enter; 1 read x a; 1 leave; 1 call g; 1 enter; 1 write x b; 1 leave", &["f g a b EXCLUSIVE 1/0"]);
}

#[test]
fn calls_between_the_two_do_not_matter() {
    check(
        "1 enter; 1 call f; 1 enter; 1 read x a; 1 leave; 1 call h; 1 enter; 1 call i; 1 leave; 1 call g; 1 enter; 1 write x b; 1 leave",
        &["f g a b EXCLUSIVE 1/0"],
    );
    check("1 enter; 1 call e; 1 read x a; 1 call f; 1 enter; 1 write x b; 1 leave", &["a f a b EXCLUSIVE 1/0"]);
}

#[test]
fn two_calls_of_one_function_from_a_loop_are_two_activations() {
    // Equal contexts: by context strings the pair would be (a, b) inside the callee.
    check("1 enter; 1 call f; 1 enter; 1 read x a; 1 leave; 1 call f; 1 enter; 1 write x b; 1 leave", &["f f a b EXCLUSIVE 1/0"]);
}

#[test]
fn an_access_in_a_loop_pairs_with_itself() {
    check("1 enter; 1 read x a; 1 read x a; 1 read x a", &["a a a a EXCLUSIVE 2/0"]);
}

#[test]
fn recursion_has_one_activation_for_each_level() {
    let trace =
        "1 enter; 1 read x a; 1 call r; 1 enter; 1 read x a; 1 call r; 1 enter; 1 write x b; 1 leave; 1 read x c; 1 leave; 1 read x c";
    check(trace, &["a r a a EXCLUSIVE 1/0", "a r a b EXCLUSIVE 1/0", "r c b c EXCLUSIVE 1/0", "r c c c EXCLUSIVE 1/0"]);
}

#[test]
fn both_ends_inside_one_execution_of_one_call_are_no_pair() {
    // A library function that calls back twice.
    let trace = "1 enter; 1 call qsort; 1 enter; 1 read x a; 1 leave; 1 enter; 1 read x a; 1 leave";
    check(trace, &[]);
    check_drops(trace, &[(recording::Drop::WithinOneCall, 1)]);
}

#[test]
fn without_a_common_activation_there_is_no_pair() {
    let trace = "1 enter; 1 read x a; 1 leave; 1 enter; 1 write x b";
    check(trace, &[]);
    check_drops(trace, &[(recording::Drop::NoCommonActivation, 1)]);
}

#[test]
fn a_call_too_far_back_is_counted() {
    let calls = "1 call g;".repeat(100);
    let trace = format!("1 enter; 1 call f; 1 enter; 1 read x a; 1 leave; {calls} 1 write x b");
    check(&trace, &[]);
    check_drops(&trace, &[(recording::Drop::CallForgotten, 1)]);
}

#[test]
fn frames_that_longjmp_left_are_gone_when_the_stack_is_seen_above_them() {
    check(
        "1 enter; 1 call f; 1 enter; 1 read x a; 1 call g; 1 enter; 1 vanish; 1 vanish; 1 write x b; 1 call h; 1 enter; 1 read x c; 1 leave",
        &["b h b c EXCLUSIVE 1/0", "f b a b EXCLUSIVE 1/0"],
    );
}

#[test]
fn only_a_lock_held_in_one_instance_is_common() {
    check("1 enter; 1 lock m; 1 read x a; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0 {m}"]);
    check("1 enter; 1 lock m; 1 read x a; 1 unlock m; 1 lock m; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0"]);
    check("1 enter; 1 lock m; 1 read x a; 1 wait m; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0"]);
    check("1 enter; 1 lock m; 1 read x a; 1 lock m; 1 unlock m; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0 {m}"]);
    check("1 enter; 1 lock m; 1 lock n; 1 read x a; 1 unlock n; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0 {m}"]);
    check("1 enter; 1 read x a; 1 lock m; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0"]);
}

#[test]
fn only_locks_common_to_all_observations_remain() {
    let both = "1 lock m; 1 lock n; 1 read x a; 1 write x b; 1 unlock n; 1 unlock m;";
    let one = "1 lock n; 1 read x a; 1 write x b; 1 unlock n";
    let pairs = pairs(&format!("1 enter; {both} {one}"));
    assert_eq!(pairs[0], "a b a b EXCLUSIVE 2/0 {n}");
}

#[test]
fn a_lock_held_for_reading_protects_reads_only() {
    check("1 enter; 1 rdlock m; 1 read x a; 1 read x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0 {m}"]);
    check("1 enter; 1 rdlock m; 1 read x a; 1 write x b; 1 unlock m", &["a b a b EXCLUSIVE 1/0"]);
}

#[test]
fn locks_in_heap_objects_are_named_by_where_they_were_allocated() {
    // Beyond the executable's data: the 200th variable.
    let elsewhere = (0..200).map(|n| format!("1 read v{n} v;")).collect::<String>();
    let trace = format!("1 enter; {elsewhere} 1 call new; 1 allocate o; 1 lock o; 1 read x a; 1 read x b; 1 unlock o");
    let (recording, names) = play(&trace);
    assert_eq!(recording.locks.iter().map(|&lock| lock_name(lock, &names)).collect::<Vec<_>>(), ["heap(new)+0"]);
}

#[test]
fn neighbors_in_one_word_stay_apart() {
    check("1 enter; 1 read x.lo a; 1 read x.hi b; 1 write x.lo c", &["a c a c EXCLUSIVE 1/0"]);
    check("1 enter; 2 enter; 1 read x.lo a; 2 write x.hi r; 1 write x.lo c", &["a c a c EXCLUSIVE 1/0"]);
    check("1 enter; 2 enter; 1 write x a; 2 write x.hi r; 1 read x.lo b; 1 read x.hi c", &["a b a b EXCLUSIVE 1/0", "a c a c NONE 1/1"]);
}

#[test]
fn a_freed_block_is_forgotten() {
    check("1 enter; 1 write x a; 1 free x 64; 1 write x b", &[]);
    check("1 enter; 2 enter; 1 write x a; 2 read x r; 1 free x 8192; 1 write x b; 2 read x s", &[]);
}

#[test]
fn memory_that_another_thread_has_freed_is_not_to_be_used() {
    let used = |trace: &str| {
        let (recording, names) = play(trace);
        recording.used_after_free.map(|site| names.sites[&recording.sites[site].key.0].clone())
    };
    let freed = "1 enter; 2 enter; 1 allocate x; 1 write x a; 2 read x b;";
    for (then, expected) in [
        ("1 free x 64; 2 read x.hi r; 2 write x s", Some("r")),
        ("1 free x 64; 2 writes x 8 r", Some("r")),
        // By whoever freed it, and what was never the block's.
        ("1 free x 64; 1 read x r", None),
        ("1 free x 4; 2 read x.hi r", None),
        ("2 read x r; 1 free x 64", None),
        // Freed twice: the C library has it back.
        ("1 free x 64; 1 free x 64; 2 read x r", None),
        ("1 free x 64; 1 allocate y; 2 read y r", None),
    ] {
        assert_eq!(used(&format!("{freed} {then}")).as_deref(), expected, "{then}");
    }
    assert_eq!(used("1 enter; 2 enter; 1 free x 64; 2 read x r"), None, "no block of the C library");
}

#[test]
fn whoever_gives_a_block_back_meets_those_who_used_it() {
    let used = "1 allocate x; 1 read x a; 2 read x r";
    check_met(&format!("{used}; 1 free x 64 f"), &["r f Unordered"]);
    check_met(&format!("{used}; 2 post s; 1 await s; 1 free x 64 f"), &[]);
    // A block has all its words, and those behind it are not its own.
    check_met("1 allocate x; 2 read x.hi r; 1 free x 64 f", &["r f Unordered"]);
    check_met("1 allocate x; 2 read y r; 1 free x 8192 f", &[]);
    // Not a block, or not one any longer.
    check_met("2 read x r; 1 free x 64 f", &[]);
    check_met("1 allocate x; 2 read x r; 1 free x 64 e; 1 free x 64 f", &["r e Unordered"]);
}

#[test]
fn who_has_counted_itself_off_does_not_meet_the_end() {
    let end = "1 free x 64 f";
    check_met(&format!("1 allocate x; 2 read x r; 2 update c d; 1 update c d; {end}"), &["d d Unordered"]);
    // Here the count was this thread's first, the other one went on afterwards, and there is no count at all.
    let met = ["d d Unordered", "r f Unordered"];
    check_met(&format!("1 allocate x; 2 read x r; 1 update c d; 2 update c d; {end}"), &met);
    check_met(&format!("1 allocate x; 2 enter; 2 update c d; 2 call k; 2 enter; 2 read x r; 1 update c d; {end}"), &met);
    check_met(&format!("1 allocate x; 2 read x r; 2 update c d; 1 update e d; {end}"), &["r f Unordered"]);
}

#[test]
fn a_block_that_is_given_back_makes_no_pair() {
    check("1 allocate x; 1 enter; 1 write x a; 1 free x 64 f", &[]);
    check("1 allocate x; 1 enter; 1 write x a; 2 read x r; 1 free x 64 f", &[]);
}

#[test]
fn a_site_that_gives_blocks_back_says_how_often_and_what_it_held_on_shared_ones() {
    let of_site = |trace: &str| {
        let (recording, names) = play(trace);
        let site = recording.sites.iter().find(|site| names.sites[&site.key.0] == "f").expect("it ran");
        (site.seen, site.shared, site.concurrent)
    };
    assert_eq!(of_site("1 allocate x; 1 write x a; 1 free x 64 f"), (1, 0, false));
    assert_eq!(of_site("1 allocate x; 1 write x a; 2 read x r; 1 free x 64 f"), (1, 1, true));
}

#[test]
fn another_object_at_one_stack_address_is_another_object() {
    let trace = "1 enter; 1 call f; 1 enter; 1 write stack a; 1 leave; 1 call g; 1 enter; 1 read stack b; 1 read stack c; 1 leave";
    check(trace, &["b c b c EXCLUSIVE 1/0"]);
    check("1 enter; 1 write stack a; 1 call f; 1 enter; 1 leave; 1 read stack b", &["a b a b EXCLUSIVE 1/0"]);
}

#[test]
fn what_one_library_call_reads_and_writes_is_no_pair() {
    check("1 enter; 1 reads x 16 move; 1 writes x 16 move; 1 read x a", &["move a move a EXCLUSIVE 1/0"]);
    // Two executions are one.
    check("1 enter; 1 writes x 16 set; 1 writes x 16 set", &["set set set set EXCLUSIVE 1/0"]);
}

#[test]
fn a_range_meets_each_access_in_it() {
    check("1 enter; 1 write x.lo a; 1 write x.hi b; 1 reads x 4096 copy", &["a copy a copy EXCLUSIVE 1/0", "b copy b copy EXCLUSIVE 1/0"]);
}

#[test]
fn sites_that_touch_the_same_memory_are_tied_together() {
    let (recording, names) = play("1 enter; 2 enter; 1 write x a; 2 read x b; 2 read y c; 1 leave; 1 enter; 1 read x d");
    let name = |site: usize| names.sites[&recording.sites[site].key.0].as_str();
    let mut edges: Vec<_> = recording.edges.iter().map(|&(a, b)| (name(a), name(b))).collect();
    edges.sort_unstable();
    assert_eq!(edges, [("a", "b"), ("a", "d"), ("b", "d")]);
}

#[test]
fn a_site_keeps_the_locks_held_each_time_on_shared_memory() {
    let (recording, names) = play(
        "1 enter; 2 enter; 1 write x a; 1 lock m; 1 lock n; 2 read x r; 1 write x a; 1 unlock n; 1 write x a; 1 unlock m; 2 write x w; 1 write y b",
    );
    let sites: BTreeMap<_, _> = recording
        .sites
        .iter()
        .map(|site| {
            let locks = site.locks.map(|set| set_text(&recording, set, &names));
            (names.sites[&site.key.0].as_str(), (site.seen, site.shared, locks))
        })
        .collect();
    assert_eq!(sites["a"], (3, 2, Some(" {m}".to_string())));
    assert_eq!(sites["w"], (1, 1, Some(String::new())));
    assert_eq!(sites["b"], (1, 0, None));
}

#[test]
fn many_fields_in_one_word_are_forgotten_one_by_one() {
    let trace = "1 enter; 1 reads x 1 a; 1 reads x 1 b; 1 reads x 2 c; 1 reads x 3 d; 1 reads x 4 e; 1 reads x 5 f";
    let (recording, _) = play(trace);
    assert!(recording.drops.iter().all(|(cause, _)| *cause == recording::Drop::WordFull));
    assert!(recording.pairs.len() >= 5, "each overlaps the one before");
}

#[test]
fn counts_survive_more_events_than_are_added_at_once() {
    let trace = format!("1 enter; {}", "1 read x a;".repeat(1000));
    check(&trace, &["a a a a EXCLUSIVE 999/0"]);
    assert_eq!(play(&trace).0.sites[0].seen, 1000);
}

#[test]
fn options_are_absent_when_zeroed() {
    let local = &sys::leak::<Local>(1).expect("memory")[0];
    local.act(|thread| {
        assert!(thread.pending.is_none() && thread.range.is_none());
        assert!(thread.pending_instance.is_none() && thread.pending_store.is_none());
        assert!(thread.entries().0.iter().all(|entry| entry.met.is_none()));
    });
}

#[test]
fn a_forked_child_keeps_the_numbers_of_sites_and_begins_counting_anew() {
    let mapping = Mapping::anonymous(Identity { run: [1, 2], seed: 3, slide: 0, process: 4 }).expect("memory");
    let recorder = Recorder::new(mapping, Region::default(), 0, pace(), None).expect("memory");
    let mut names = Names::default();
    let local = &sys::leak::<Local>(1).expect("memory")[0];
    recorder.add_thread(&local.public).expect("a number");
    let mut actor = Actor { local, number: 0, depth: 0, last_call: None };
    for event in ["enter", "read x a", "read x b"] {
        apply(&recorder, &mut actor, &mut names, &event.split(' ').collect::<Vec<_>>());
    }
    let folder = std::env::temp_dir().join(format!("atomfix-fork-{}", std::process::id()));
    let path = std::ffi::CString::new(folder.to_str().expect("a path")).expect("no zero");
    let identity = Identity { run: [5, 6], seed: 3, slide: 0, process: 7 };
    assert!(local.act(|thread| recorder.after_fork(thread, || mapping.replace(&path, identity))));
    apply(&recorder, &mut actor, &mut names, &["read", "x", "c"]);
    local.act(|thread| recorder.flush(thread));
    let recording = recording::decode(&std::fs::read(&folder).expect("the child's file")[..]).expect("sound").expect("begun");
    std::fs::remove_file(folder).expect("removed");
    assert_eq!(
        recording.sites.iter().map(|site| (site.key, site.seen)).collect::<Vec<_>>(),
        [(names.site("a"), 0), (names.site("b"), 0), (names.site("c"), 1)]
    );
    assert_eq!(recording.pairs.iter().map(|pair| pair.sites).collect::<Vec<_>>(), [[1, 2, 1, 2]]);
}

#[test]
fn accesses_without_order_between_them_are_concurrent() {
    check_concurrent("1 write x a; 2 read x b", &["a", "b"]);
    check_concurrent("1 read x a; 2 read x b", &["a", "b"]);
}

#[test]
fn memory_that_is_handed_over_is_not_concurrent() {
    check_concurrent("1 write x a; 1 post s; 2 await s; 2 write x b; 2 post t; 1 await t; 1 read x c", &[]);
    // Through a queue: the lock is not held at the accesses.
    check_concurrent("1 write x a; 1 lock q; 1 unlock q; 2 lock q; 2 unlock q; 2 write x b", &[]);
    // Through a third thread.
    check_concurrent("1 write x a; 1 post s; 2 await s; 2 post t; 3 await t; 3 write x b", &[]);
}

#[test]
fn what_comes_after_the_handing_over_is_concurrent() {
    check_concurrent("1 write x a; 1 post s; 1 write x b; 2 await s; 2 write x c", &["b", "c"]);
}

#[test]
fn a_lock_that_only_one_of_them_holds_makes_nothing_concurrent() {
    let shared = "1 read x a; 3 read x a; 1 read x a; 3 read x a; 1 post s; 3 post s";
    check_concurrent(&format!("{shared}; 2 await s; 2 lock l; 2 write x b; 2 unlock l"), &["a"]);
    // Also while the page was one thread's.
    check_concurrent("1 write x a; 1 post s; 2 await s; 2 lock l; 2 write x b; 2 unlock l", &[]);
    check_concurrent("1 lock k; 1 write x a; 1 unlock k; 1 post s; 2 await s; 2 lock l; 2 write x b; 2 unlock l", &[]);
}

#[test]
fn two_locks_of_one_class_are_not_one_lock() {
    let made = "1 enter; 1 call i; 1 make l; 1 call i; 1 make k";
    check_concurrent(
        &format!(
            "{made}; 1 lock l; 1 write x a; 1 lock q; 1 unlock q; 1 unlock l; 2 lock q; 2 unlock q; 2 lock k; 2 write x b; 2 unlock k"
        ),
        &[],
    );
}

#[test]
fn a_lock_held_at_an_access_orders_nothing() {
    check_concurrent("1 lock l; 1 write x a; 1 unlock l; 2 lock l; 2 write x b; 2 unlock l", &["a", "b"]);
}

/// Plays a trace and compares which sites met how.
#[track_caller]
fn check_met(trace: &str, expected: &[&str]) {
    let (recording, names) = play(trace);
    let name = |site: usize| names.sites[&recording.sites[site].key.0].as_str();
    let met: BTreeSet<String> = recording.meetings.iter().map(|&(a, b, how)| format!("{} {} {how:?}", name(a), name(b))).collect();
    assert_eq!(met.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{trace}");
}

#[test]
fn sites_meet_under_one_lock_or_in_no_order() {
    check_met("1 lock l; 1 write x a; 1 unlock l; 2 lock l; 2 read x b; 2 unlock l", &["a b UnderOneLock"]);
    check_met("1 lock l; 1 write x a; 1 unlock l; 2 read x b", &["a b Unordered"]);
    check_met("1 lock l; 1 write x a; 1 unlock l; 2 lock k; 2 write x a; 2 unlock k", &["a a Unordered"]);
    // Two reads, or one after the other.
    check_met("1 read x a; 2 read x b", &[]);
    check_met("1 write x a; 1 post s; 2 await s; 2 write x b", &[]);
}

#[test]
fn whoever_meets_the_last_access_meets_earlier_ones_too() {
    let trace = |last: &str, other: &str| -> String {
        (0..60)
            .map(|n| {
                format!("1 read x{n} a; 1 write x{n} b; {};{};", last.replace('*', &n.to_string()), other.replace('*', &n.to_string()))
            })
            .collect()
    };
    let met = ["a d Unordered", "b d Unordered", "c d Unordered"];
    check_met(&trace("1 read x* c", "2 write x* d"), &met);
    // The last access came first by chance, so nothing says that the others must.
    let met = ["a d Unordered", "b d Unordered", "c d UnderOneLock"];
    check_met(&trace("1 lock l; 1 read x* c; 1 unlock l", "2 lock l; 2 write x* d; 2 unlock l"), &met);
    // Handed over.
    check_met(&trace("1 read x* c; 1 post s*", "2 await s*; 2 write x* d"), &[]);
}

#[test]
fn what_is_not_locked_before_memory_is_shared_does_not_count() {
    let locked = |thread| format!("{thread} lock l; {thread} read x a; {thread} write x b; {thread} unlock l");
    let trace = format!("1 enter; 2 enter; 1 read x a; 1 write x b; {}; {}; {}", locked(1), locked(2), locked(1));
    assert!(pairs(&trace).iter().any(|pair| pair.starts_with("a b a b EXCLUSIVE 4/") && pair.ends_with("{l}")), "{:?}", pairs(&trace));
    let later = format!("{trace}; 1 read x a; 1 write x b");
    assert!(pairs(&later).iter().any(|pair| pair.starts_with("a b a b EXCLUSIVE 5/") && !pair.contains('{')), "{:?}", pairs(&later));
}

#[test]
fn locks_that_one_loop_makes_share_a_name() {
    let use_them = "1 lock k; 1 read x a; 1 unlock k; 1 lock m; 1 read x a; 1 read x b; 1 unlock m";
    let loops = format!("1 enter; 1 call i; 1 make k; 1 call i; 1 make m; {use_them}");
    assert!(pairs(&loops).iter().any(|pair| pair.starts_with("a b a b") && pair.ends_with("{made(i)}")), "{:?}", pairs(&loops));
}

#[test]
fn locks_that_a_helper_makes_keep_their_names() {
    let helper = |lock| format!("1 enter; 1 call i; 1 make {lock}; 1 leave");
    let apart = format!("1 enter; 1 call h; {}; 1 call h; {}; 1 lock m; 1 read x a; 1 read x b; 1 unlock m", helper("k"), helper("m"));
    assert!(pairs(&apart).iter().any(|pair| pair.starts_with("a b a b") && pair.ends_with("{m}")), "{:?}", pairs(&apart));
}

/// Plays a trace and compares how often the pair of a and b was seen, and how often with another thread near.
#[track_caller]
fn check_near(trace: &str, expected: (u64, u64)) {
    let (recording, names) = play(&format!("1 enter; 2 enter; {trace}"));
    let is = |pair: &&recording::RecordedPair| pair.sites.map(|site| names.sites[&recording.sites[site].key.0].as_str())[..2] == ["a", "b"];
    let pair = recording.pairs.iter().find(is).expect("the pair was seen");
    assert_eq!((pair.seen, pair.near), expected, "{trace}");
}

#[test]
fn a_pair_has_another_thread_near_if_that_was_there_before_or_between() {
    let pair = "1 read x a; 1 write x b;";
    check_near(pair, (1, 0));
    check_near(&format!("2 write x r; {pair}"), (1, 1));
    check_near(&format!("2 read x r; {pair}"), (1, 1));
    check_near("1 read x a; 2 read x r; 1 write x b", (1, 1));
    check_near(&format!("2 write x r; {pair} {pair} {pair}"), (3, 3));
    // What comes after a pair is near the next one only.
    check_near(&format!("{pair} 2 write x r"), (1, 0));
    check_near(&format!("{pair} 2 write x r; {pair}"), (2, 1));
    check_near(&format!("2 write y r; {pair}"), (1, 0));
    check_near("2 write x.hi r; 1 read x.lo a; 1 write x.lo b", (1, 0));
}

#[test]
fn nobody_is_near_who_handed_the_memory_over_unless_by_a_lock_that_both_hold() {
    check_near("2 write x r; 2 post s; 1 await s; 1 read x a; 1 write x b", (1, 0));
    check_near("2 lock l; 2 write x r; 2 unlock l; 1 lock l; 1 read x a; 1 write x b; 1 unlock l", (1, 1));
}
