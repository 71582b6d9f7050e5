//! Where the program's own variables begin and end, as the symbol table of its file says it (System V ABI, 4.19).
//!
//! It is read when it is first asked for. Not handled: variables of libraries, and of programs that were stripped.

use alloc::vec::Vec;
use core::cell::RefCell;

use super::fiber::Engine;
use crate::sys::call;

/// What is known of them.
#[derive(Default)]
pub(crate) struct OwnVariables(RefCell<Option<Vec<Extent>>>);

/// The first byte of a variable, and one behind its last.
type Extent = (u64, u64);

impl OwnVariables {
    /// Whether nobody is at work on it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.0.try_borrow_mut().is_ok()
    }
}

/// In a fiber: how many bytes there are from here to the end of the variable.
pub(super) fn rest_of(engine: &Engine, address: u64) -> Option<u32> {
    let ran = engine.suspend();
    let rest = find(engine.own_variables.0.borrow_mut().get_or_insert_with(|| look().unwrap_or_default()), address);
    engine.go_on(ran);
    rest
}

fn find(variables: &[Extent], address: u64) -> Option<u32> {
    let behind = variables.partition_point(|(begin, _)| *begin <= address);
    let (_, end) = *variables.get(behind.checked_sub(1)?)?;
    (address < end).then(|| u32::try_from(end - address).unwrap_or(u32::MAX))
}

/// All of them, in ascending order.
fn look() -> Option<Vec<Extent>> {
    let file = call::open(c"/proc/self/exe").ok()?;
    let found = read(file);
    call::close(file);
    let (header, symbols) = found?;
    let bias = match number(&header, 16, 2) {
        EXECUTABLE => 0,
        // SAFETY: asks for what the kernel told the process.
        _ => unsafe { libc::getauxval(libc::AT_PHDR) }.wrapping_sub(number(&header, 32, 8)),
    };
    let extent = |symbol: &[u8]| {
        let (begin, length) = (bias.wrapping_add(number(symbol, 8, 8)), number(symbol, 16, 8));
        (symbol[4] & 15 == OBJECT && length > 0).then(|| (begin, begin.saturating_add(length)))
    };
    let mut all: Vec<Extent> = symbols.chunks_exact(SYMBOL).filter_map(extent).collect();
    all.sort_unstable();
    Some(all)
}

const EXECUTABLE: u64 = 2;
const OBJECT: u8 = 1;
const SYMBOL: usize = 24;
const HEADER: usize = 64;
const SECTION: usize = 64;

/// The file's header and its table of symbols.
fn read(file: i32) -> Option<(Vec<u8>, Vec<u8>)> {
    const SYMBOLS: u64 = 2;
    let header = part(file, 0, HEADER)?;
    let sections = part(file, number(&header, 40, 8), SECTION * usize::try_from(number(&header, 60, 2)).ok()?)?;
    let table = sections.chunks_exact(SECTION).find(|section| number(section, 4, 4) == SYMBOLS)?;
    let symbols = part(file, number(table, 24, 8), usize::try_from(number(table, 32, 8)).ok()?)?;
    Some((header, symbols))
}

/// So many bytes of a file.
fn part(file: i32, offset: u64, length: usize) -> Option<Vec<u8>> {
    const MOST: usize = 1 << 28;
    let mut bytes = alloc::vec![0; length.min(MOST)];
    let mut done = 0;
    while done < bytes.len() {
        match call::read_at(file, &mut bytes[done..], usize::try_from(offset).ok()? + done) {
            Ok(more @ 1..) => done += more,
            _ => return None,
        }
    }
    Some(bytes)
}

/// A number of so many bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    static OWN: [u64; 33] = [7; 33];

    #[test]
    fn variables_of_this_program_are_found() {
        let variables = look().expect("a symbol table");
        let address = OWN.as_ptr().expose_provenance() as u64;
        assert_eq!((find(&variables, address), find(&variables, address + 260), find(&variables, 0)), (Some(264), Some(4), None));
    }
}
