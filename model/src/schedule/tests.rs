//! The text form of schedules: published, read back, and refused when damaged.

use super::*;

fn example() -> Schedule {
    let mut schedule = Schedule {
        program: "./app with spaces".into(),
        build: "5d0c0f5e0b7a1c22".into(),
        variant: Build::Original,
        arguments: ["-n", "", "two\nlines \\"].map(String::from).to_vec(),
        strategy: "dfs".into(),
        habits: 0,
        failure: Some(ScheduleFailure {
            kind: FailureKind::Assert,
            location: "app.c:31".into(),
            message: "Assertion `x == 2' failed.".into(),
            critical: None,
        }),
        runs: Vec::new(),
    };
    let site = Some(SiteKey(0x0011_2233_4455_66aa));
    let step = |thread, kind: &str, site, object: Option<&str>, picks: &[u32]| ScheduleStep {
        thread: ThreadId(thread),
        kind: kind.parse().expect("a kind"),
        site,
        object: object.map(String::from),
        picks: picks.to_vec(),
    };
    for step in [
        step(0, "create", None, None, &[]),
        step(1, "read", site, Some("counter"), &[]),
        step(1, "read", site, Some("counter"), &[]),
        step(0, "signal", site, Some("a b"), &[1]),
        step(0, "signal", site, Some("a b"), &[1]),
        step(0, "lock", None, Some("-"), &[]),
        step(0, "unlock", None, Some("*2"), &[]),
        step(0, "unlock", None, Some(""), &[]),
    ] {
        schedule.push(step);
    }
    schedule
}

const GOLDEN: &str = "\
atomfix-schedule 1
program ./app with spaces
build 5d0c0f5e0b7a1c22
variant original
argument -n
argument 
argument two\\nlines \\\\
strategy dfs
failure assert
location app.c:31
message Assertion `x == 2' failed.
steps 8
t0 create - -
t1 read s00112233445566aa counter *2
t0 signal s00112233445566aa a\\_b
pick 1
t0 signal s00112233445566aa a\\_b
pick 1
t0 lock - \\!-
t0 unlock - \\!*2
t0 unlock - \\e
";

#[test]
fn the_text_form_is_the_published_one() {
    let text = example().to_string();
    let (body, checksum) = text.split_at(text.find("checksum").expect("a checksum"));
    assert_eq!(body, GOLDEN);
    assert_eq!(checksum.len(), "checksum 0123456789abcdef\n".len());
}

#[test]
fn a_schedule_reads_back_from_its_text() {
    assert_eq!(parse(&example().to_string()), Ok(example()));
    let plain = Schedule { failure: None, habits: 6, arguments: Vec::new(), runs: Vec::new(), ..example() };
    assert_eq!(parse(&plain.to_string()), Ok(plain));
}

#[test]
fn every_truncation_is_noticed_with_its_line() {
    let text = example().to_string();
    for length in 0..text.len() {
        let error = parse(&text[..length]).expect_err("a truncated schedule");
        let lines = text[..length].matches('\n').count();
        assert_eq!(error.line as usize, lines + 1, "{length}: {error}");
        assert!(matches!(error.problem, Problem::Truncated(_)) || length == 0, "{length}: {error}");
    }
}

#[test]
fn every_flipped_bit_is_noticed_with_a_line() {
    let text = example().to_string();
    for bit in 0..text.len() * 8 {
        let mut bytes = text.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // A text that is no longer UTF-8 is refused by whoever reads the file.
        if let Ok(damaged) = core::str::from_utf8(&bytes) {
            let error = parse(damaged).expect_err("a damaged schedule");
            assert!(error.line >= 1 && error.line as usize <= damaged.matches('\n').count() + 1, "bit {bit}: {error}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong_where() {
    let text = example().to_string();
    let check = |text: &str, expected: &str| assert_eq!(parse(text).expect_err(expected).to_string(), expected);
    check("#!/bin/sh\n", "line 1: not a schedule of atomfix");
    check("", "line 1: not a schedule of atomfix");
    check(&text.replacen("schedule 1", "schedule 9", 1), "line 1: version 9 of the schedule's form, where this atomfix reads 1");
    check(&text.replacen("t1 read", "t1 raed", 1), "line 14: expected a step 'THREAD KIND SITE OBJECT', a 'pick', or the 'checksum'");
    check(&text.replacen("-n", "-m", 1), "line 22: the checksum does not match: the schedule is damaged or was edited");
    check(&(text.clone() + "more\n"), "line 23: something follows the end of the schedule");
    check(&text.replacen("failure assert", "failure bad luck", 1), "line 9: expected 'failure KIND'");
}
