//! Random programs as data for the compiled interpreter (`benchmarks/agreement/interpreter.c`), and as C of their own.
//!
//! Not here: injected locks, which programs do not have, writes to all variables at once, `once`, and barriers for more than two.

use std::fmt::Write;
use std::ops::RangeInclusive;

use explorer::fake::program::{Op, Program, Value};

/// An operation by its number and operands, as the interpreter knows it, and as C.
struct Code {
    numbers: [i64; 5],
    text: String,
}

/// Operations with these numbers are on pipes.
const ON_PIPES: RangeInclusive<i64> = 30..=35;

/// `None` for what is not here. Whether waits go on after handlers is for all signals of a program.
fn code(op: Op, restart: bool) -> Option<Code> {
    let index = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
    let (numbers, text) = match op {
        Op::Read { variable: v, register: r, atomic: false } => ([0, index(v), index(r), 0, 0], format!("READ({v}, {r})")),
        Op::Read { variable: v, register: r, atomic: true } => ([1, index(v), index(r), 0, 0], format!("LOAD({v}, {r})")),
        Op::Write { variable: v, value: Value::Constant(value), atomic: false } => {
            ([2, index(v), value, 0, 0], format!("WRITE({v}, {value})"))
        }
        Op::Write { variable: v, value: Value::Constant(value), atomic: true } => {
            ([3, index(v), value, 0, 0], format!("STORE({v}, {value})"))
        }
        Op::Write { variable: v, value: Value::Register(r, plus), atomic: false } => {
            ([4, index(v), index(r), plus, 0], format!("WRITE({v}, REGISTER({r}) + {plus})"))
        }
        Op::Write { variable: v, value: Value::Register(r, plus), atomic: true } => {
            ([5, index(v), index(r), plus, 0], format!("STORE({v}, REGISTER({r}) + {plus})"))
        }
        Op::Add { variable: v, amount } => ([6, index(v), amount, 0, 0], format!("ADD({v}, {amount})")),
        Op::CompareAndSwap { variable: v, expected, value, register: r } => {
            ([7, index(v), expected, value, index(r)], format!("SWAP({v}, {expected}, {value}, {r})"))
        }
        Op::Lock(m) => ([8, index(m), 0, 0, 0], format!("LOCK({m})")),
        Op::TryLock { mutex: m, register: r } => ([9, index(m), index(r), 0, 0], format!("TRY({m}, {r})")),
        Op::ReadLock(_) => ([10, 0, 0, 0, 0], "LOCK_SHARED()".to_owned()),
        Op::Unlock(m) => ([11, index(m), 0, 0, 0], format!("UNLOCK({m})")),
        Op::Wait { timeout: None, .. } => ([12, 0, 0, 0, 0], "WAIT()".to_owned()),
        Op::Wait { timeout: Some(r), .. } => ([13, index(r), 0, 0, 0], format!("WAIT_TIMED({r})")),
        Op::Signal(_) => ([14, 0, 0, 0, 0], "SIGNAL()".to_owned()),
        Op::Broadcast(_) => ([15, 0, 0, 0, 0], "BROADCAST()".to_owned()),
        Op::Post(_) => ([16, 0, 0, 0, 0], "POST()".to_owned()),
        Op::Take(_) => ([17, 0, 0, 0, 0], "TAKE()".to_owned()),
        Op::Create(b) => ([18, index(b), 0, 0, 0], format!("CREATE({b})")),
        Op::Join(b) => ([19, index(b), 0, 0, 0], format!("JOIN({b})")),
        Op::Yield => ([20, 0, 0, 0, 0], "sched_yield()".to_owned()),
        Op::ExitProcess => ([21, 0, 0, 0, 0], "exit(0)".to_owned()),
        Op::Assert { register: r, value } => ([22, index(r), value, 0, 0], format!("if (REGISTER({r}) != {value}) failed(body, $at)")),
        Op::SkipUnless { count, register: r, value } => {
            ([23, index(count), index(r), value, 0], format!("if (REGISTER({r}) != {value}) goto after_$skip"))
        }
        Op::Meet { barrier: 0, register: r } => ([24, index(r), 0, 0, 0], format!("MEET({r})")),
        Op::FutexWait { variable: v, expected, register: r, timed } => {
            ([25, index(v), expected, i64::from(timed), index(r)], format!("FUTEX({v}, {expected}, {}, {r})", i64::from(timed)))
        }
        Op::FutexWake { variable: v, count, register: r } => {
            ([26, index(v), index(count), index(r), 0], format!("WAKE({v}, {count}, {r})"))
        }
        Op::TimedLock { mutex: m, register: r } => ([27, index(m), index(r), 0, 0], format!("LOCK_TIMED({m}, {r})")),
        Op::TimedTake { register: r, .. } => ([28, index(r), 0, 0, 0], format!("TAKE_TIMED({r})")),
        Op::TryTake { register: r, .. } => ([29, index(r), 0, 0, 0], format!("TRY_TAKE({r})")),
        Op::Put { pipe: p, value: Value::Constant(value) } => ([30, index(p), value, 0, 0], format!("PUT({p}, {value})")),
        Op::Put { pipe: p, value: Value::Register(r, plus) } => {
            ([31, index(p), index(r), plus, 0], format!("PUT({p}, REGISTER({r}) + {plus})"))
        }
        Op::Get { pipe: p, register: r } => ([32, index(p), index(r), 0, 0], format!("GET({p}, {r})")),
        Op::TryGet { pipe: p, register: r } => ([33, index(p), index(r), 0, 0], format!("TRY_GET({p}, {r})")),
        Op::Move { from, to, register: r } => ([34, index(from), index(to), index(r), 0], format!("MOVE({from}, {to}, {r})")),
        Op::Await { pipes: [p, q], register: r, timed } => {
            ([35, index(p), index(q), index(r), i64::from(timed)], format!("AWAIT({p}, {q}, {r}, {})", i64::from(timed)))
        }
        Op::Kill(b) => ([36, index(b), i64::from(restart), 0, 0], format!("KILL({b})")),
        Op::Block(blocks) => ([37, i64::from(blocks), 0, 0, 0], format!("MASK({})", i64::from(blocks))),
        Op::SigWait { register: r, timed } => ([38, index(r), i64::from(timed), 0, 0], format!("TAKE_SIGNAL({r}, {})", i64::from(timed))),
        Op::Cancel(b) => ([39, index(b), 0, 0, 0], format!("CANCEL({b})")),
        Op::Meet { .. } | Op::Enter { .. } | Op::Leave(_) => return None,
        Op::Acquire(..) | Op::Degrade(_) | Op::Release(_) | Op::Drop { .. } | Op::Fill { .. } => return None,
    };
    Some(Code { numbers, text })
}

/// The program as an argument for the interpreter; `None` when it does what is not here.
#[must_use]
pub fn data(program: &Program) -> Option<String> {
    let mut text = String::new();
    for body in &program.bodies {
        // Writing to a string cannot fail.
        let _ = write!(text, " {}", body.len());
        for op in body {
            for number in code(*op, program.restart)?.numbers {
                let _ = write!(text, " {number}");
            }
        }
    }
    Some(text.trim_start().to_owned())
}

/// The program as C, to be linked with `state.c`; `None` when it does what is not here.
#[must_use]
pub fn c(program: &Program) -> Option<String> {
    let mut text = String::from(
        "#include \"operations.h\"\npthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\npthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;\n\
         pthread_cond_t condition = PTHREAD_COND_INITIALIZER;\nsem_t semaphore;\npthread_barrier_t barrier;\nHANDLER\n",
    );
    let handles = program.has_interruptions();
    // As in the interpreter.
    let last = if handles { "  sched_yield();\n" } else { "" };
    for (number, body) in program.bodies.iter().enumerate() {
        let _ = writeln!(text, "static void body{number}(void) {{\n  enum {{ body = {number} }};");
        for (at, op) in body.iter().enumerate() {
            let skip = if let Op::SkipUnless { count, .. } = op { at + 1 + count } else { 0 };
            let statement = code(*op, program.restart)?.text.replace("$at", &at.to_string()).replace("$skip", &skip.to_string());
            let _ = writeln!(text, "after_{at}: __attribute__((unused));\n  {statement};");
        }
        // Skips may lead to the end or beyond it.
        let ends = (body.len()..body.len() + 3).map(|at| format!("after_{at}: __attribute__((unused));\n")).collect::<String>();
        let _ = writeln!(text, "{ends}{last}  ended(body);\n}}");
    }
    let _ = writeln!(text, "void *thread(void *body) {{\n  pthread_cleanup_push(cancelled, body);\n  switch ((long)body) {{");
    for number in 1..program.bodies.len() {
        let _ = writeln!(text, "  case {number}: body{number}(); break;");
    }
    let is_on_pipes = |op: &Op| code(*op, false).is_some_and(|code| ON_PIPES.contains(&code.numbers[0]));
    let pipes = if program.bodies.iter().flatten().any(is_on_pipes) { "  open_pipes();\n" } else { "" };
    let signals = if handles { format!("  HANDLE({});\n", i64::from(program.restart)) } else { String::new() };
    let _ = write!(
        text,
        "  }}\n  pthread_cleanup_pop(0);\n  return NULL;\n}}\nint main(void) {{\n  BEGIN();\n{pipes}{signals}  body0();\n  pthread_exit(NULL);\n}}\n"
    );
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use explorer::fake::program::parse;

    #[test]
    fn a_program_becomes_numbers_and_c() {
        let program = parse("main: create a, join a\na: trylock m r, skip 2 unless r == 1, add x 1, unlock m, assert r == 0");
        assert_eq!(
            data(&program).expect("no injected locks"),
            "2 18 1 0 0 0 19 1 0 0 0 5 9 0 0 0 0 23 2 0 1 0 6 0 1 0 0 11 0 0 0 0 22 0 0 0 0"
        );
        let text = c(&program).expect("no injected locks");
        for line in ["  TRY(0, 0);", "  if (REGISTER(0) != 1) goto after_4;", "  if (REGISTER(0) != 0) failed(body, 4);", "  CREATE(1);"] {
            assert!(text.lines().any(|other| other == line), "{line}: {text}");
        }
        assert_eq!(data(&parse("main: acquire k X, release k")), None);
    }
}
