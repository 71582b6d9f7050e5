//! Functions outside the program: who is called, by name or through a pointer, and what such a function may do with what it is handed.
//!
//! Not known: which of the functions of one library call which, so each is taken for itself.

use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use core::cell::RefCell;
use core::ffi::CStr;

use model::external;
use model::external::handed::{Callee, Handed, Handing, handed, only_reads};
use model::pair::Rw;

use super::explore::remark;
use super::fiber::Engine;
use crate::sys::text;

/// What is known of callees.
#[derive(Default)]
pub(crate) struct Outsiders {
    /// By its address, or that of its name: what a function does.
    by_address: RefCell<BTreeMap<u64, Outsider>>,
}

struct Outsider {
    /// In words.
    name: String,
    /// Its symbol, if its library shows it.
    symbol: Option<String>,
    handed: Handed,
    /// Whether the result names it.
    is_named: bool,
}

impl Outsider {
    fn new(name: String, handed: Handed) -> Self {
        Self { name, symbol: None, handed, is_named: false }
    }
}

impl Outsiders {
    /// Whether nobody is at work on it.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.by_address.try_borrow_mut().is_ok()
    }

    /// In the engine: says of a callee what it does, once.
    pub(super) fn name(&self, callee: u64, does: impl FnOnce(&str) -> String) {
        if let Some(outsider) = self.by_address.borrow_mut().get_mut(&callee).filter(|outsider| !outsider.is_named) {
            outsider.is_named = true;
            remark(&does(&outsider.name));
        }
    }
}

/// What a callee does with what it is handed.
pub(super) fn handed_by(engine: &Engine, handing: Handing, callee: u64) -> Handed {
    if handing.callee == Callee::Known {
        return Handed::Pointed;
    }
    if let Some(known) = engine.outsiders.by_address.borrow().get(&callee) {
        return known.handed;
    }
    let ran = engine.suspend();
    let found = if handing.callee == Callee::Unknown { named(text_at(callee)) } else { at(callee, None) };
    let handed = found.handed;
    engine.outsiders.by_address.borrow_mut().insert(callee, found);
    engine.go_on(ran);
    handed
}

/// Whether a function that a pointer names only reads what it is handed there.
pub(super) fn only_reads_at(engine: &Engine, handing: Handing, callee: u64) -> bool {
    let known = engine.outsiders.by_address.borrow();
    let Some(name) = known.get(&callee).and_then(|outsider| outsider.symbol.as_deref()) else { return false };
    let argument = handing.argument;
    let ranges = external::lookup(name).map_or(&[][..], |known| known.ranges);
    let is_read = ranges.iter().any(|range| range.argument == argument && range.rw == Rw::Read);
    is_read || only_reads(name, argument.into()) || (argument == 0 && name.starts_with("_ZNK"))
}

/// Who is at this address, and what it is called there if that is known: it may have several names.
fn at(address: u64, called: Option<&str>) -> Outsider {
    let target = text::behind_stub(address);
    if text::is_code(target) {
        return Outsider::new(String::from("the program"), Handed::Nothing);
    }
    let (symbol, file) = text::symbol(target);
    let name = called.map(String::from).or(symbol);
    // The C library may have loaded more of its own.
    let is_known = !text::is_foreign(target) || file.as_deref().is_some_and(|file| text::is_known(file.as_bytes()));
    let handed = match &name {
        _ if !is_known => Handed::Anything,
        // Of some, the C library has one for each processor, whose names it does not show.
        None => Handed::Pointed,
        Some(name) => handed(name, true),
    };
    let words = name.as_deref().map_or_else(|| String::from("a function"), |name| format!("`{name}`"));
    let words = format!("{words} of {}", file.as_deref().unwrap_or("nobody knows whom"));
    Outsider { symbol: name, ..Outsider::new(words, handed) }
}

/// Who has this name. Where that is in the program, it is code that was not compiled with hooks.
fn named(name: &str) -> Outsider {
    let address = CString::new(name).ok().and_then(|symbol| text::address(&symbol));
    let found = address.map(|address| at(address, Some(name))).filter(|found| found.handed != Handed::Nothing);
    found.unwrap_or_else(|| Outsider::new(format!("`{name}`"), Handed::Anything))
}

/// The constant text at an address.
pub(super) fn text_at(address: u64) -> &'static str {
    let text: *const core::ffi::c_char = core::ptr::with_exposed_provenance(usize::try_from(address).unwrap_or(0));
    // SAFETY: the passes hand a constant text that ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}
