//! What a file of `rules` says of itself, for the passes' own tests and for those of the plugin. Not here: running its checks.

use std::collections::BTreeMap;

use model::ids::{FunctionKey, LockId};
use model::plan::{Lock, Operation, PLAN_SCHEMA, Plan};
use passes::extract::extract;

/// The rest of each line that begins with a word.
pub(crate) fn directives<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.trim_start_matches(['/', ';', ' ']).strip_prefix(word)).map(str::trim)
}

/// The plan that a file's `PLAN:` and `ENDINGS:` lines say.
pub(crate) fn plan(text: &str, bitcode: &[u8]) -> Plan {
    let module = extract(bitcode).expect("extracts");
    let mut locks: BTreeMap<u32, Vec<Operation>> = BTreeMap::new();
    for line in directives(text, "PLAN:") {
        let (head, action) = line.split_once(": ").expect("PLAN: lockN FUNCTION PLACE: ACTION");
        let mut words = head.splitn(3, ' ');
        let mut word = || words.next().expect("PLAN: lockN FUNCTION PLACE: ACTION");
        let lock: u32 = word().trim_start_matches("lock").parse().expect("a lock's number");
        let name = word();
        let function: FunctionKey = module.functions.iter().find(|function| function.name == name).expect("the function").key;
        let at = word().parse().expect("a place");
        let action = action.parse().expect("an action");
        locks.entry(lock).or_default().push(Operation { function, at, action, source: String::new() });
    }
    let lock = |(id, operations)| Lock { id: LockId(id), enabled: true, variable: format!("v{id}"), cost: 0, pairs: vec![], operations };
    let endings = directives(text, "ENDINGS:").flat_map(str::split_whitespace).map(str::to_owned).collect();
    Plan { schema: PLAN_SCHEMA, build: String::new(), endings, locks: locks.into_iter().map(lock).collect(), ..Plan::default() }
}
