//! Where the program's own code lies, and that of the libraries whose threads are known: the C library's, and C++'s.

use alloc::string::String;
use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The first is the program itself. Empty ones begin and end at 0.
static KNOWN: [Code; 16] = [const { Code { begin: AtomicU64::new(0), end: AtomicU64::new(0) } }; 16];

/// Memory that never changes, of all objects: their code, and what they are only to read.
static CONSTANT: [Code; 256] = [const { Code { begin: AtomicU64::new(0), end: AtomicU64::new(0) } }; 256];

struct Code {
    begin: AtomicU64,
    end: AtomicU64,
}

impl Code {
    fn contains(&self, address: u64) -> bool {
        (self.begin.load(Relaxed)..self.end.load(Relaxed)).contains(&address)
    }
}

/// Libraries that synchronize only by what is interposed, or for words that the program's own code looks at.
const LIBRARIES: [&[u8]; 11] = [
    b"libc.so",
    b"libm.so",
    b"libpthread.so",
    b"librt.so",
    b"libdl.so",
    b"libresolv.so",
    b"libstdc++.so",
    b"libc++.so",
    b"libc++abi.so",
    b"libgcc_s.so",
    b"ld-linux",
];

/// Before the program begins: looks where code is.
pub(crate) fn look() {
    let mut at = [0_usize; 2];
    // SAFETY: the callback keeps to its type, and is passed a place of this type.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut at).cast()) };
}

/// The first object is the program itself.
unsafe extern "C" fn look_at(object: *mut libc::dl_phdr_info, _: usize, at: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid object.
    let object = unsafe { &*object };
    // SAFETY: `look` passes the place, and does not look at it meanwhile.
    let [at, constants] = unsafe { &mut *at.cast::<[usize; 2]>() };
    // SAFETY: the dynamic linker says how many headers there are.
    let headers = unsafe { core::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)) };
    for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0) {
        if let Some(constant) = CONSTANT.get(*constants) {
            let begin = object.dlpi_addr.wrapping_add(header.p_vaddr);
            constant.begin.store(begin, Relaxed);
            constant.end.store(begin.saturating_add(header.p_memsz), Relaxed);
            *constants += 1;
        }
    }
    if *at > 0 && !is_known_library(object.dlpi_name) {
        return 0;
    }
    let code = headers.iter().find(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0);
    if let (Some(known), Some(code)) = (KNOWN.get(*at), code) {
        let begin = object.dlpi_addr.wrapping_add(code.p_vaddr);
        known.begin.store(begin, Relaxed);
        known.end.store(begin.saturating_add(code.p_memsz), Relaxed);
        *at += 1;
    }
    0
}

fn is_known_library(path: *const libc::c_char) -> bool {
    if path.is_null() {
        return false;
    }
    // SAFETY: the dynamic linker's names end with a zero.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    is_known(path.rsplit(|&byte| byte == b'/').next().unwrap_or(path))
}

/// Whether a library's file has the name of one of those.
pub(crate) fn is_known(name: &[u8]) -> bool {
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

/// Whether this is an address of the program's code.
#[inline]
pub(crate) fn is_code(word: u64) -> bool {
    KNOWN[0].contains(word)
}

/// Whether what is there never changes, or is no memory at all: small numbers are handed on as pointers.
pub(crate) fn is_constant(address: u64) -> bool {
    const FIRST: u64 = 1 << 16;
    address < FIRST || CONSTANT.iter().take_while(|object| object.end.load(Relaxed) != 0).any(|object| object.contains(address))
}

/// Where a stub of the linker's leads that jumps to what a table says; any other address itself.
pub(crate) fn behind_stub(address: u64) -> u64 {
    const LANDING: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const BOUNDED: u8 = 0xf2;
    let slot = |at: usize| {
        let code = [super::guarded::word(at)?.to_le_bytes(), super::guarded::word(at + 8)?.to_le_bytes()].concat();
        let landing = if code.starts_with(&LANDING) { LANDING.len() } else { 0 };
        let begin = landing + usize::from(code[landing] == BOUNDED);
        let &[0xff, 0x25, a, b, c, d] = &code[begin..begin + 6] else { return None };
        let distance = isize::try_from(i32::from_le_bytes([a, b, c, d])).ok()?;
        super::guarded::word(at.wrapping_add(begin + 6).wrapping_add_signed(distance))
    };
    let at = usize::try_from(address).ok().filter(|_| is_code(address));
    at.and_then(slot).unwrap_or(address)
}

/// The function at an address: its name, if its library shows it, and the library's file.
pub(crate) fn symbol(address: u64) -> (Option<String>, Option<String>) {
    let mut found: libc::Dl_info = libc::Dl_info {
        dli_fname: core::ptr::null(),
        dli_fbase: core::ptr::null_mut(),
        dli_sname: core::ptr::null(),
        dli_saddr: core::ptr::null_mut(),
    };
    let place: *const c_void = core::ptr::with_exposed_provenance(usize::try_from(address).unwrap_or(0));
    // SAFETY: looks an address up, whatever it is.
    if unsafe { libc::dladdr(place, &raw mut found) } == 0 {
        return (None, None);
    }
    let text = |text: *const libc::c_char| {
        // SAFETY: the dynamic linker's names end with a zero, and stay while the library is loaded.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().ok()).flatten()
    };
    let name = text(found.dli_sname).filter(|_| found.dli_saddr.addr() == place.addr());
    let file = text(found.dli_fname).and_then(|path| path.rsplit('/').next());
    (name.map(String::from), file.map(String::from))
}

/// Where the object or function of this name is, if any library has it.
pub(crate) fn address(name: &CStr) -> Option<u64> {
    // SAFETY: looks a name up.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then(|| found.expose_provenance() as u64)
}

/// Whether code there is a library's that may have threads meet in ways of its own.
pub(crate) fn is_foreign(address: u64) -> bool {
    !KNOWN.iter().any(|code| code.contains(address))
}
