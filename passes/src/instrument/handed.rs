//! What a call of a function outside the program hands to it, where the table of externals says nothing of it: which pointers, and what
//! may become of what they point to.
//!
//! Whether the callee is the program's own, in another module, is known by name where it is called so. Through a pointer anybody may be called:
//! the hook looks where that is.

use std::collections::BTreeSet;

use model::external::format::is_plain;
use model::external::formatted::{Format, format, scanned};
use model::external::handed::{
    Callee, Handed, Handing, Object, behind, handed, is_given, list, only_reads, raw_call_touches, standard, stream,
};
use model::external::kept::kept;
use model::pair::Rw;

use super::signature::{Said, said};
use crate::extract::{CallPoint, Target, constant_text};
use crate::llvm::{Instruction, Module, Value, ValueKind, demangle};

/// A pointer that a call hands on.
pub(super) struct Pointer<'m> {
    pub(super) address: Value<'m>,
    pub(super) handing: Handing,
    /// How many entries it has, if it is a list.
    pub(super) count: Option<Value<'m>>,
    /// A text that is as long as what is told of can be.
    pub(super) limit: Option<Value<'m>>,
    /// The callee's name, when nothing else is known of it, or its address; or the format that tells of the memory.
    pub(super) callee: Option<Named<'m>>,
}

/// Who is called, or which format there is.
#[derive(Clone)]
pub(super) enum Named<'m> {
    Name(String),
    At(Value<'m>),
}

impl<'m> Pointer<'m> {
    /// One of which all is known, or will be when the call is made.
    fn told(address: Value<'m>, object: Object, argument: u8, rw: Rw, format: Value<'m>) -> Self {
        let handing = Handing { bytes: 0, rw, object, callee: Callee::Known, argument, certain: true };
        Self { address, handing, count: None, limit: None, callee: Some(Named::At(format)) }
    }

    /// Whether its object is guarded by the library itself.
    pub(super) fn is_guarded(&self) -> bool {
        matches!(self.handing.object, Object::Guarded | Object::Input | Object::Output)
    }
}

/// The pointers that a call hands on, in the order in which to announce them: what is most likely to be in common comes last. `own`: functions
/// that the program defines in some module.
pub(super) fn pointers<'m>(call: &CallPoint<'m>, own: &BTreeSet<String>, module: Module<'m>) -> Vec<Pointer<'m>> {
    let (name, callee, how) = match call.target {
        Target::External(function) => {
            let name = function.name();
            if own.contains(&name) || (name == RAW_CALL && !raw_call(call.instruction)) {
                return Vec::new();
            }
            let how = handed(&name, function.as_function().is_some_and(|f| f.is_of_c()));
            let callee = (how == Handed::Anything).then(|| Named::Name(name.clone()));
            (name, callee, how)
        }
        Target::Indirect => (String::new(), Some(Named::At(call.instruction.called())), Handed::Anything),
        Target::Defined(_) | Target::Assembly | Target::Intrinsic(_) => return Vec::new(),
    };
    let known = Known::new(&name, how, call);
    if how == Handed::Nothing {
        return known.beside(module).collect();
    }
    let is_handed = |(index, address): &(usize, Value<'m>)| {
        let is_in_table = call.external.is_some_and(|external| external.ranges.iter().any(|range| usize::from(range.argument) == *index));
        !is_in_table && address.ty().is_plain_pointer() && !address.underlying_objects().into_iter().all(is_constant)
    };
    let handed = call.instruction.arguments().into_iter().enumerate().filter(is_handed);
    let mut pointers: Vec<Pointer<'m>> =
        handed.filter_map(|(index, address)| known.pointer(index, address, callee.as_ref(), module)).collect();
    // The object of a member function is the first argument, and the last to be announced.
    pointers.reverse();
    pointers.extend(known.beside(module));
    pointers.sort_by_key(|pointer| (pointer.is_guarded(), pointer.handing.rw.writes()));
    pointers
}

/// What a callee's name says of the arguments of a call.
struct Known<'n, 'm> {
    name: &'n str,
    call: Instruction<'m>,
    /// How many arguments are places for the result.
    results: usize,
    said: Option<Vec<Said>>,
    stream: Option<u8>,
    list: Option<(u8, Object, Rw)>,
    format: Option<Format>,
    /// Whether the table's ranges hold what the format tells.
    is_constant: bool,
}

impl<'n, 'm> Known<'n, 'm> {
    fn new(name: &'n str, how: Handed, call: &CallPoint<'m>) -> Self {
        let instruction = call.instruction;
        let count = instruction.arguments().len();
        let results = (0..).take_while(|index| (*index as usize) < count && instruction.is_result(*index)).count();
        let readable = demangle(name).filter(|_| how == Handed::Pointed);
        let text = call.format.and_then(|format| instruction.argument(format.argument));
        Self {
            name,
            call: instruction,
            results,
            said: readable.and_then(|readable| said(name, &readable, count - results)),
            stream: stream(name),
            list: list(name),
            format: format(name),
            is_constant: text.and_then(constant_text).zip(call.format).is_some_and(|(text, format)| is_plain(&text, format.rw)),
        }
    }

    /// What is handed by this argument, if that is any memory of which the table does not tell.
    fn pointer(&self, index: usize, address: Value<'m>, callee: Option<&Named<'m>>, module: Module<'m>) -> Option<Pointer<'m>> {
        let argument = u8::try_from(index).ok()?;
        if let Some(format) = self.format.filter(|format| argument > format.argument) {
            let text = self.call.argument(format.argument).filter(|_| !self.is_constant)?;
            let behind = argument - format.argument - 1;
            let limit = scanned(self.name).and_then(|from| self.call.argument(from));
            return Some(Pointer { limit, ..Pointer::told(address, format.object, behind, format.rw, text) });
        }
        let callee = callee.cloned();
        let by = match callee {
            None => Callee::Known,
            Some(Named::Name(_)) => Callee::Unknown,
            Some(Named::At(_)) => Callee::Pointer,
        };
        if let Some((_, object, rw)) = self.list.filter(|(list, ..)| *list == argument) {
            let count = argument
                .checked_add(1)
                .filter(|_| object == Object::List || self.name.ends_with("mmsg"))
                .and_then(|next| self.call.argument(next));
            return Some(Pointer {
                address,
                handing: Handing { bytes: 0, rw, object, callee: by, argument, certain: true },
                count,
                limit: None,
                callee,
            });
        }
        let said = self.said.as_ref().and_then(|said| said.get(index.checked_sub(self.results)?).copied());
        let object = match said {
            _ if self.stream == Some(argument) => Object::Guarded,
            _ if is_given(self.name, argument) => Object::Given,
            said => said.map_or(Some(Object::Memory), |said| said.object)?,
        };
        let reads = self.call.only_reads(argument.into()) || only_reads(self.name, index) || said.is_some_and(|said| said.only_reads);
        let rw = if reads { Rw::Read } else { Rw::Update };
        let (bytes, is_whole) = bytes(address, self.call.dereferenceable(argument.into()), module);
        // What a system call does to its memory, its number would tell.
        let certain = is_whole && by == Callee::Known && self.name != RAW_CALL;
        Some(Pointer { address, handing: Handing { bytes, rw, object, callee: by, argument, certain }, count: None, limit: None, callee })
    }

    /// What the callee finds without being handed it: a standard stream, and what it keeps.
    fn beside(&self, module: Module<'m>) -> impl Iterator<Item = Pointer<'m>> {
        let nowhere = module.zero(module.pointer());
        let stream = standard(self.name).map(|object| Pointer::told(nowhere, object, u8::MAX, Rw::Update, nowhere));
        let kept = kept(self.name).map(move |(kept, rw)| {
            let handing = Handing { bytes: 0, rw, object: Object::Kept, callee: Callee::Unknown, argument: kept as u8, certain: false };
            Pointer { address: nowhere, handing, count: None, limit: None, callee: Some(Named::Name(self.name.to_owned())) }
        });
        let behind = behind(self.name).iter().filter_map(|&(argument, object, rw)| {
            let handing = Handing { bytes: 0, rw, object, callee: Callee::Known, argument, certain: false };
            let address = self.call.argument(argument).filter(|address| address.ty().is_plain_pointer())?;
            Some(Pointer { address, handing, count: None, limit: None, callee: None })
        });
        stream.into_iter().chain(behind).chain(kept)
    }
}

/// The function that makes any system call.
const RAW_CALL: &str = "syscall";

/// Whether such a call touches what it is handed.
fn raw_call(call: Instruction<'_>) -> bool {
    call.argument(0).and_then(Value::as_integer).is_none_or(raw_call_touches)
}

/// What the front end says, or else all of the variable from there on; and whether that is an object of its own.
fn bytes(address: Value<'_>, dereferenceable: u64, module: Module<'_>) -> (u32, bool) {
    let known = if dereferenceable > 0 { dereferenceable } else { address.rest_of_object(module) };
    let is_whole = dereferenceable > 0 || (known > 0 && address.underlying_objects() == [address]);
    (u32::try_from(known).unwrap_or(u32::MAX), is_whole)
}

/// Whether it is nothing that threads could tell each other by.
fn is_constant(object: Value<'_>) -> bool {
    use ValueKind::{LLVMConstantPointerNullValueKind, LLVMFunctionValueKind, LLVMPoisonValueKind, LLVMUndefValueValueKind};
    object.is_constant_global()
        || matches!(object.kind(), LLVMConstantPointerNullValueKind | LLVMFunctionValueKind | LLVMPoisonValueKind | LLVMUndefValueValueKind)
}
