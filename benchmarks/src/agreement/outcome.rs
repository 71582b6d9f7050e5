//! What an execution ends with, in the same words for a program as data and for one that was run.
//!
//! Of a deadlock only that it is one: where each thread stands, a compiled program does not say. Of a process that a thread ends only what is
//! in memory that threads share, as that is all that another thread could see.

use std::collections::BTreeSet;
use std::fmt::Write;

use explorer::fake::machine::Outcome;
use explorer::target::found::Found;
use model::report::{CheckResult, FailureKind};

/// Outcomes in words.
pub type Words = BTreeSet<String>;

/// As brute force says it.
#[must_use]
pub fn of_data(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ended(variables, registers, _) => {
            let mut text = variables.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            for (body, registers) in registers.iter().enumerate() {
                if let Some([r, s]) = registers {
                    // Writing to a string cannot fail.
                    let _ = write!(text, " | {body}: {r} {s}");
                }
            }
            text
        }
        Outcome::Exited(variables, ..) => {
            let variables = variables.iter().map(ToString::to_string).collect::<Vec<_>>();
            format!("exit {}", variables.join(" "))
        }
        Outcome::Failed(body, at) => format!("failed {body} {at}"),
        Outcome::Deadlock(_) => "deadlock".to_owned(),
    }
}

/// As the engine says it.
#[must_use]
pub fn of_run(found: &Found) -> Words {
    let failures = found.failures.iter().map(|failure| of_failure(failure.kind, &failure.message));
    failures.chain(found.outcomes.iter().map(|outcome| outcome.text.trim_end().to_owned())).collect()
}

/// As a report says it.
#[must_use]
pub fn of_report(result: &CheckResult) -> Words {
    let failures = result.failures.iter().map(|failure| of_failure(failure.kind, &failure.message));
    failures.chain(result.outcomes.iter().map(|outcome| outcome.text.trim_end().to_owned())).collect()
}

fn of_failure(kind: FailureKind, message: &str) -> String {
    let assertion = message.strip_prefix("Assertion `").and_then(|rest| rest.strip_suffix("' failed"));
    match kind {
        FailureKind::Assert => format!("failed {}", assertion.unwrap_or(message)),
        FailureKind::DeadlockLock
        | FailureKind::DeadlockSelf
        | FailureKind::DeadlockCondition
        | FailureKind::DeadlockJoin
        | FailureKind::LostWakeUp => "deadlock".to_owned(),
        _ => format!("{kind}: {message}"),
    }
}

/// Where two sets differ, in words; empty if nowhere.
#[must_use]
pub fn difference(expected: &Words, found: &Words) -> String {
    let missing: Vec<&String> = expected.difference(found).collect();
    let extra: Vec<&String> = found.difference(expected).collect();
    if missing.is_empty() && extra.is_empty() { String::new() } else { format!("missing {missing:?}, extra {extra:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_the_words_that_the_interpreter_prints() {
        let ended = Outcome::Ended(vec![1, -2], vec![Some([0, 3]), None, Some([4, 5])], Vec::new());
        assert_eq!(of_data(&ended), "1 -2 | 0: 0 3 | 2: 4 5");
        assert_eq!(of_data(&Outcome::Exited(vec![1, -2], vec![Some([0, 3])], Vec::new())), "exit 1 -2");
        assert_eq!(of_data(&Outcome::Failed(1, 3)), of_failure(FailureKind::Assert, "Assertion `1 3' failed"));
        assert_eq!(of_data(&Outcome::Deadlock(Vec::new())), of_failure(FailureKind::LostWakeUp, "a thread waits"));
        let words = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Words>();
        assert_eq!(difference(&words(&["a", "b"]), &words(&["b", "c"])), r#"missing ["a"], extra ["c"]"#);
        assert_eq!(difference(&words(&["a"]), &words(&["a"])), "");
    }
}
