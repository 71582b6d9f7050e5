//! What a call of a function outside the program hands to it, where the table of externals says nothing of it: which pointers, and what
//! may become of what they point to.
//!
//! Whether the callee is the program's own, in another module, is known by name where it is called so. Through a pointer anybody may be called:
//! the hook looks where that is.

use std::collections::BTreeSet;

use model::external::handed::{Callee, Handed, Handing, Object, handed, keeps_state, list, only_reads, stream};
use model::pair::Rw;

use super::signature::{Said, said};
use crate::extract::{CallPoint, Target};
use crate::llvm::{Module, Value, ValueKind, demangle};

/// A pointer that a call hands on.
pub(super) struct Pointer<'m> {
    pub(super) address: Value<'m>,
    pub(super) handing: Handing,
    /// How many entries it has, if it is a list.
    pub(super) count: Option<Value<'m>>,
    /// The callee's name, when nothing else is known of it, or its address.
    pub(super) callee: Option<Named<'m>>,
}

/// Who is called.
#[derive(Clone)]
pub(super) enum Named<'m> {
    Name(String),
    At(Value<'m>),
}

impl Pointer<'_> {
    /// Whether its object is guarded by the library itself.
    pub(super) fn is_guarded(&self) -> bool {
        self.handing.object == Object::Guarded
    }
}

/// The pointers that a call hands on, in the order in which to announce them: what is most likely to be in common comes last. `own`: functions
/// that the program defines in some module.
pub(super) fn pointers<'m>(call: &CallPoint<'m>, own: &BTreeSet<String>, module: Module<'m>) -> Vec<Pointer<'m>> {
    let (name, callee, how) = match call.target {
        Target::External(function) => {
            let name = function.name();
            let is_own = own.contains(&name);
            let how = if is_own { Handed::Nothing } else { handed(&name, function.as_function().is_some_and(|f| f.is_of_c())) };
            let callee = (how == Handed::Anything).then(|| Named::Name(name.clone()));
            (name, callee, how)
        }
        Target::Indirect => (String::new(), Some(Named::At(call.instruction.called())), Handed::Anything),
        Target::Defined(_) | Target::Assembly | Target::Intrinsic(_) => return Vec::new(),
    };
    if how == Handed::Nothing {
        return Vec::new();
    }
    let by = match callee {
        None => Callee::Known,
        Some(Named::Name(_)) => Callee::Unknown,
        Some(Named::At(_)) => Callee::Pointer,
    };
    let instruction = call.instruction;
    let arguments = instruction.arguments();
    // What a format tells of is in the table's ranges, and what it does not tell of is not looked at.
    let fixed = call.external.and_then(|external| external.format).map_or(arguments.len(), |format| usize::from(format.argument) + 1);
    let results = (0..).take_while(|index| (*index as usize) < arguments.len() && instruction.is_result(*index)).count();
    let said: Option<Vec<Said>> =
        demangle(&name).filter(|_| how == Handed::Pointed).and_then(|readable| said(&name, &readable, arguments.len() - results));
    let mut pointers: Vec<Pointer<'m>> = Vec::new();
    for (index, address) in arguments.into_iter().enumerate().take(fixed) {
        let is_in_table = call.external.is_some_and(|external| external.ranges.iter().any(|range| usize::from(range.argument) == index));
        if is_in_table || !address.ty().is_plain_pointer() || address.underlying_objects().into_iter().all(is_constant) {
            continue;
        }
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let said = said.as_ref().and_then(|said| said.get(index.checked_sub(results)?).copied());
        let is_guarded = stream(&name).is_some_and(|stream| usize::from(stream) == index);
        let Some(object) = said.map_or(Some(Object::Memory), |said| said.object) else { continue };
        let reads = instruction.only_reads(number) || only_reads(&name, index) || said.is_some_and(|said| said.only_reads);
        let argument = u8::try_from(index).unwrap_or(u8::MAX);
        let handing = match list(&name).filter(|(list, ..)| *list == argument) {
            Some((_, object, rw)) => Handing { bytes: 0, rw, object, callee: by, argument, certain: true },
            None => {
                let (bytes, is_whole) = bytes(address, instruction.dereferenceable(number), module);
                Handing {
                    bytes,
                    rw: if reads { Rw::Read } else { Rw::Update },
                    object: if is_guarded { Object::Guarded } else { object },
                    callee: by,
                    argument,
                    certain: is_whole && by == Callee::Known,
                }
            }
        };
        let count = u8::try_from(index + 1).ok().filter(|_| handing.object == Object::List).and_then(|next| instruction.argument(next));
        pointers.push(Pointer { address, handing, count, callee: callee.clone() });
    }
    if keeps_state(&name) && how == Handed::Pointed {
        let handing =
            Handing { bytes: 0, rw: Rw::Update, object: Object::State, callee: Callee::Unknown, argument: u8::MAX, certain: false };
        let callee = Some(Named::Name(name));
        pointers.push(Pointer { address: module.zero(module.pointer()), handing, count: None, callee });
    }
    // The object of a member function is the first argument, and the last to be announced.
    pointers.reverse();
    pointers.sort_by_key(|pointer| (pointer.is_guarded(), pointer.handing.rw.writes()));
    pointers
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
