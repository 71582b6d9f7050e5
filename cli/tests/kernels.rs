//! The kernels of published bugs through the whole chain: each must come out as its `expect.toml` says.
//!
//! The same steps as `atomfix-bench kernels`, with few plain runs: pass rates are a benchmark's business.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use benchmarks::expect;
use benchmarks::kernel::{Settings, examine, problems};

fn check(name: &str) {
    let kernel = expect::kernel(&expect::programs().join(name)).expect("a well-formed kernel");
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Tests share the machine with each other, so the time limit is not this test's to judge.
    let settings = Settings { plain_runs: 5, limit: Duration::from_secs(300), ..Settings::default() };
    let examined = examine(Path::new(env!("CARGO_BIN_EXE_atomfix")), &kernel, folder.path(), &settings);
    let examined = examined.unwrap_or_else(|error| panic!("{name}: {error:#}"));
    let problems = problems(&kernel, &examined, &settings);
    assert!(problems.is_empty(), "{name}:\n  {}", problems.join("\n  "));
}

macro_rules! kernels {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn every_kernel_is_tested() {
            let tested = BTreeSet::from([$(stringify!($name).to_owned()),*]);
            let there: BTreeSet<String> = expect::kernels().expect("well-formed kernels").into_iter().map(|kernel| kernel.name).collect();
            assert_eq!(tested, there);
        }
    };
}

kernels! {
    auth_table,
    cache_size,
    cleared_on_input,
    crossed_locks,
    double_release,
    dropped_count,
    event_kind,
    flag_pair,
    flag_setters,
    frame_stamps,
    freed_behind_lock,
    freed_in_use,
    guarded_field,
    log_buffer,
    log_rotation,
    lost_update,
    message_id,
    packet_text,
    probe_cache,
    recycled_node,
    reset_pointer,
    resume_file,
    row_log,
    shown_query,
    stopping_driver,
    tagged_fields,
    thread_id,
    twin_counters,
    two_calls,
    two_stages,
}
