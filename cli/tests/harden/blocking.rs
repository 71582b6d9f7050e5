//! Functions that the user says may wait.

use crate::sandbox::Sandbox;

#[test]
fn the_plan_lists_them_and_is_applied_again_with_them() {
    let sandbox = Sandbox::new();
    let said = sandbox.shell("exec \"$ATOMFIX\" infer ./app --blocking pthread_create");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let plan = sandbox.plan();
    assert!(plan.contains("blocking = [\"pthread_create\"]"), "{plan}");
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard --plan app.atomfix/plan.toml");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn a_name_that_nobody_calls_is_refused() {
    let sandbox = Sandbox::new();
    let said = sandbox.shell("exec \"$ATOMFIX\" harden ./app -o app.hard --blocking no_such_function");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("--blocking no_such_function: nothing") && said.err.contains("help: "), "{}", said.err);
    sandbox.check_untouched(&[]);
}
