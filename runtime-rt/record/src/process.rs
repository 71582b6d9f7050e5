//! One recording a process: it begins with the first event, starts anew in a forked child, and needs no end.
//!
//! A thread's word (`sys::thread_word`) points to its `Local`, or to `OFF` when it is not recorded; zero before its first event.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

use model::abi::{ENV_RECORD, RECORD_BESIDE};
use model::ids::SiteKey;
use model::wanted::Wanted;

use crate::change::Effect;
use crate::frame::StackAddress;
use crate::mapping::{Identity, Mapping};
use crate::pace::Pace;
use crate::perturb::{Delay, Perturbation};
use crate::recorder::Recorder;
use crate::shadow::{Address, Public};
use crate::sys::{self, Once, Spin, Zeroed};
use crate::thread::{Region, Thread};
use crate::wanted::Orders;
use crate::watch::Watch;

/// A thread's state, and what others may see of it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Local {
    pub(crate) public: Public,
    thread: UnsafeCell<Thread>,
}

// SAFETY: its parts are.
unsafe impl Zeroed for Local {}
// SAFETY: only the thread whose word points to it gets at the cell, through `inside`, which keeps it from doing so twice.
unsafe impl Sync for Local {}

/// Whose address is the word of a thread that is not recorded.
static OFF: Public = Public::new();

/// The process's windows and pauses.
pub(crate) static PACE: Pace = Pace::new();

/// The orders that the process is to bring about, if there are any.
pub(crate) static ORDERS: Once<Orders> = Once::new();

/// The process's recorder, once it has begun.
static RECORDER: Once<Recorder> = Once::new();
static BEGINNING: Spin = Spin::new();
/// 0 before the first event; 1 when recording; 2 when the process is not recorded.
static STATE: AtomicU32 = AtomicU32::new(0);
const RECORDING: u32 = 1;
const OFF_STATE: u32 = 2;

/// Where recordings go and how: what the environment says, or a file beside the program.
#[derive(Debug)]
struct Settings {
    folder: [u8; PATH],
    folder_length: usize,
    seed: u64,
    delay: bool,
    /// Whether the watch list beside the folder is to be watched.
    sets: bool,
    orders: Orders,
}

const PATH: usize = 4096;

/// The site of this thread's last call, pauses included; `None` before the first.
pub(crate) fn last_call() -> Option<SiteKey> {
    Some(sys::caller_word()).filter(|&site| site != 0).map(SiteKey)
}

/// The recorder and this thread's state, if it is recorded.
#[inline]
pub(crate) fn current() -> Option<(&'static Recorder, &'static Local)> {
    let word = sys::thread_word();
    if word.is_null() {
        return register();
    }
    if core::ptr::eq(word, (&raw const OFF).cast()) {
        return None;
    }
    // SAFETY: neither null nor `OFF`, so it is the `Local` that `register` made, which is never unmapped.
    let local = unsafe { &*word.cast::<Local>() };
    RECORDER.get().map(|recorder| (recorder, local))
}

/// Does something with the thread's state, unless the thread is inside already: then a signal handler interrupted the
/// recorder, and the event is counted and left out.
#[inline]
pub(crate) fn with<R>(act: impl FnOnce(&'static Recorder, &mut Thread, &'static Public) -> R) -> Option<R> {
    let (recorder, local) = current()?;
    local.enter(recorder)?;
    let result = local.act(|thread| act(recorder, thread, &local.public));
    local.leave();
    Some(result)
}

impl Local {
    /// As `enter`, for a hook that knows its caller's stack pointer: an access that began at or below it can no longer be
    /// happening, so a signal handler has thrown the thread out of it.
    #[inline]
    pub(crate) fn enter_at(&'static self, recorder: &Recorder, stack: StackAddress) -> Option<()> {
        if self.public.inside.load(Ordering::Relaxed) != 0 {
            self.abandon(recorder, stack);
        }
        self.enter(recorder)
    }

    #[cold]
    fn abandon(&'static self, recorder: &Recorder, stack: StackAddress) {
        let begun = self.public.accessing.load(Ordering::Relaxed);
        if begun != 0 && begun <= stack.0 {
            self.act(|thread| recorder.end(thread, &self.public, Effect::Changed));
            recorder.mapping.drop_count(model::recording::Drop::Unordered, 1);
            self.leave();
        }
    }

    /// Leaves the recorder.
    #[inline]
    pub(crate) fn leave(&self) {
        self.public.inside.store(0, Ordering::Release);
    }

    /// Enters the recorder; `None` when this thread is in it.
    #[inline]
    pub(crate) fn enter(&self, recorder: &Recorder) -> Option<()> {
        if self.public.inside.load(Ordering::Relaxed) != 0 {
            recorder.mapping.drop_count(model::recording::Drop::Interrupted, 1);
            return None;
        }
        self.public.inside.store(1, Ordering::Relaxed);
        core::sync::atomic::compiler_fence(Ordering::SeqCst);
        Some(())
    }

    /// What only the thread inside may do.
    #[inline]
    pub(crate) fn act<R>(&'static self, act: impl FnOnce(&mut Thread) -> R) -> R {
        // SAFETY: `inside` is set by this thread, so nothing else refers to the cell's content.
        act(unsafe { &mut *self.thread.get() })
    }
}

/// Perturbs the schedule at a synchronization operation.
pub(crate) fn perturb() {
    with(|_, thread, _| thread.perturbation.at_synchronization()).flatten().into_iter().for_each(Delay::wait);
}

/// Perturbs the schedule after a thread was created.
pub(crate) fn perturb_creation() {
    with(|_, thread, _| thread.perturbation.at_creation()).flatten().into_iter().for_each(Delay::wait);
}

/// As `with`, for a hook of recorded code, which knows its caller's stack pointer.
#[inline]
pub(crate) fn with_at(recorder: &'static Recorder, local: &'static Local, stack: StackAddress, act: impl FnOnce(&mut Thread)) {
    if local.enter_at(recorder, stack).is_some() {
        local.act(|thread| {
            thread.resume(recorder.pace.window());
            act(thread);
        });
        local.leave();
    }
}

/// Runs C library functions that may change `errno`, and puts it back.
fn keeping_errno<R>(act: impl FnOnce() -> R) -> R {
    // SAFETY: takes no pointers; the result is this thread's own.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: always readable.
    let saved = unsafe { place.read() };
    let result = act();
    // SAFETY: always writable.
    unsafe { place.write(saved) };
    result
}

#[cold]
fn register() -> Option<(&'static Recorder, &'static Local)> {
    keeping_errno(register_thread)
}

fn register_thread() -> Option<(&'static Recorder, &'static Local)> {
    // While this runs, events of this thread (allocations, above all) are not recorded.
    sys::set_thread_word((&raw const OFF).cast_mut().cast());
    let recorder = begin()?;
    let local = &sys::leak::<Local>(1)?[0];
    let number = recorder.add_thread(&local.public);
    let Some(number) = number else {
        recorder.mapping.drop_count(model::recording::Drop::TooManyThreads, 1);
        return None;
    };
    let settings = settings();
    local.act(|thread| {
        thread.number = number;
        thread.stack = stack();
        if let Some(settings) = settings.filter(|settings| settings.delay) {
            thread.perturbation = Perturbation::new(settings.seed.wrapping_add(u64::from(number.0) << 32));
        }
    });
    watch_thread_end();
    sys::set_thread_word(core::ptr::from_ref(local).cast_mut().cast());
    Some((recorder, local))
}

/// Begins the recording, with the first event of the process.
fn begin() -> Option<&'static Recorder> {
    let _taken = BEGINNING.take();
    if STATE.load(Ordering::Acquire) == 0 {
        let recorder = make();
        RECORDER.set(recorder);
        STATE.store(if recorder.is_some() { RECORDING } else { OFF_STATE }, Ordering::Release);
    }
    RECORDER.get()
}

fn make() -> Option<&'static Recorder> {
    let settings = settings()?;
    ORDERS.set(Some(&settings.orders).filter(|orders| !orders.is_empty()));
    let (executable, slide) = executable()?;
    let (path, identity) = new_recording(settings, slide);
    let mapping = Mapping::create(CStr::from_bytes_until_nul(&path).ok()?, identity)?;
    let recorder = Recorder::new(mapping, executable, slide, &PACE, watch(settings))?;
    let place = sys::pages(size_of::<Recorder>())?.cast::<Recorder>();
    // SAFETY: fresh pages of that size.
    unsafe { place.write(recorder) };
    watch_forks();
    // SAFETY: just written, never unmapped.
    Some(unsafe { place.as_ref() })
}

/// A path that no recording has, and what its header will say.
fn new_recording(settings: &Settings, slide: usize) -> ([u8; PATH + 64], Identity) {
    let run = sys::random();
    let mut path = [0; PATH + 64];
    let digits = run.iter().rev().flat_map(|word| (0..16).rev().map(move |n| b"0123456789abcdef"[(word >> (4 * n) & 15) as usize]));
    let name = settings.folder[..settings.folder_length].iter().copied().chain(*b"/").chain(digits).chain(*b".recording");
    path.iter_mut().zip(name).for_each(|(to, from)| *to = from);
    // SAFETY: takes no pointers.
    let process = unsafe { sys::call(libc::SYS_getpid, [0; 6]) }.cast_unsigned() as u64;
    (path, Identity { run, seed: settings.seed, slide: slide as u64, process })
}

/// The watch list, `FOLDER.sets`, if it is to be watched.
fn watch(settings: &Settings) -> Option<Watch> {
    let mut path = [0; PATH + 8];
    let name = settings.folder[..settings.folder_length].iter().copied().chain(*b".sets");
    path.iter_mut().zip(name).for_each(|(to, from)| *to = from);
    CStr::from_bytes_until_nul(&path).ok().filter(|_| settings.sets).and_then(sys::file).and_then(Watch::new)
}

/// Those of the process, as they were when it began: programs may change their environment, and fork.
static SETTINGS: Once<Settings> = Once::new();

fn settings() -> Option<&'static Settings> {
    if SETTINGS.get().is_none() {
        let place = sys::pages(size_of::<Settings>())?.cast::<Settings>();
        let settings = from_environment().or_else(from_beside)?;
        // SAFETY: fresh pages of that size.
        unsafe { place.write(settings) };
        // SAFETY: just written, never unmapped.
        SETTINGS.set_if_absent(unsafe { place.as_ref() });
    }
    SETTINGS.get()
}

/// The same in a file that waits beside the program's own while a test suite runs: some suites start programs with an empty environment.
fn from_beside() -> Option<Settings> {
    let mut path = [0_u8; PATH + 32];
    let (link, into) = (c"/proc/self/exe".as_ptr().expose_provenance(), path.as_mut_ptr().expose_provenance());
    // SAFETY: a C string, and a buffer of that length.
    let length = usize::try_from(unsafe { sys::call(libc::SYS_readlink, [link, into, PATH, 0, 0, 0]) }).ok()?;
    path[length..].iter_mut().zip(RECORD_BESIDE.bytes()).for_each(|(to, from)| *to = from);
    CStr::from_bytes_until_nul(&path).ok().and_then(sys::file).and_then(parse)
}

/// `folder:key=value:…`, from the environment.
fn from_environment() -> Option<Settings> {
    let mut name = [0_u8; 32];
    name.iter_mut().zip(ENV_RECORD.bytes()).for_each(|(to, from)| *to = from);
    // SAFETY: a C string.
    let value = unsafe { libc::getenv(name.as_ptr().cast::<c_char>()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: `getenv` gives a C string.
    parse(unsafe { CStr::from_ptr(value) }.to_bytes())
}

fn parse(text: &[u8]) -> Option<Settings> {
    let mut settings = Settings { folder: [0; PATH], folder_length: 0, seed: 0, delay: true, sets: false, orders: Orders::default() };
    let mut rest = text;
    while let Some(colon) = rest.iter().rposition(|&byte| byte == b':') {
        let number = |digits: &[u8]| core::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        let option = &rest[colon + 1..];
        if let Some(seed) = option.strip_prefix(b"seed=").and_then(number) {
            settings.seed = seed;
        } else if let Some(delay) = option.strip_prefix(b"delay=").and_then(number) {
            settings.delay = delay != 0;
        } else if let Some(sets) = option.strip_prefix(b"sets=").and_then(number) {
            settings.sets = sets != 0;
        } else if let Some(order) = option.strip_prefix(b"wanted=").and_then(Wanted::parse) {
            settings.orders.add(order);
        } else {
            break;
        }
        rest = &rest[..colon];
    }
    settings.folder.get_mut(..rest.len())?.copy_from_slice(rest);
    settings.folder_length = rest.len();
    (!rest.is_empty()).then_some(settings)
}

/// Where the executable's segments are, and how far it was moved: from its program headers.
fn executable() -> Option<(Region, usize)> {
    // SAFETY: takes no pointers.
    let headers = unsafe { libc::getauxval(libc::AT_PHDR) };
    // SAFETY: takes no pointers.
    let count = unsafe { libc::getauxval(libc::AT_PHNUM) };
    let start = core::ptr::with_exposed_provenance::<libc::Elf64_Phdr>(usize::try_from(headers).ok()?);
    if start.is_null() {
        return None;
    }
    // SAFETY: the kernel says that the program headers are there, that many; they are read-only.
    let headers = unsafe { core::slice::from_raw_parts(start, usize::try_from(count).ok()?) };
    let address = |number: u64| usize::try_from(number).unwrap_or(0);
    let own = headers.iter().find(|header| header.p_type == libc::PT_PHDR)?;
    let slide = start.addr().wrapping_sub(address(own.p_vaddr));
    let loads = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let first = loads.clone().map(|header| address(header.p_vaddr)).min()?;
    let last = loads.map(|header| address(header.p_vaddr + header.p_memsz)).max()?;
    Some((Region { start: first.wrapping_add(slide), length: last - first }, slide))
}

/// The stack of this thread.
fn stack() -> Region {
    let mut attributes = core::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: takes no pointers.
    let me = unsafe { libc::pthread_self() };
    // SAFETY: fills the attributes in when it returns 0.
    if unsafe { libc::pthread_getattr_np(me, attributes.as_mut_ptr()) } != 0 {
        return Region::default();
    }
    let mut start: *mut c_void = core::ptr::null_mut();
    let mut length = 0;
    // SAFETY: the attributes are initialized; both results outlive the call.
    let failed = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut length) } != 0;
    // SAFETY: the attributes are initialized, and not used afterwards.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if failed { Region::default() } else { Region { start: start.addr(), length } }
}

static KEY: AtomicU32 = AtomicU32::new(0);

/// Has `thread_ends` called when this thread ends.
fn watch_thread_end() {
    if KEY.load(Ordering::Acquire) == 0 {
        let _taken = BEGINNING.take();
        let mut key = 0;
        // SAFETY: the key outlives the call; the destructor is a function for ever.
        if KEY.load(Ordering::Acquire) == 0 && unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } == 0 {
            KEY.store(key + 1, Ordering::Release);
        }
    }
    rearm(1);
}

/// Destructors of other keys may run instrumented code after ours, so ours asks to be called again, twice.
fn rearm(round: usize) {
    if let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) {
        // SAFETY: the key exists; the value is not a pointer that anybody follows.
        unsafe { libc::pthread_setspecific(key, core::ptr::without_provenance(round)) };
    }
}

extern "C" fn thread_ends(round: *mut c_void) {
    if round.addr() < 3 {
        rearm(round.addr() + 1);
        return;
    }
    // SAFETY: takes no pointers.
    let own = unsafe { libc::pthread_self() };
    with(|recorder, thread, public| {
        recorder.release(thread, Address(usize::try_from(own).unwrap_or_default()));
        recorder.end_thread(thread, public);
    });
    sys::set_thread_word((&raw const OFF).cast_mut().cast());
}

unsafe extern "C" {
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        object: *mut c_void,
    ) -> libc::c_int;
}

fn watch_forks() {
    // SAFETY: the handler is a function for ever; no shared object owns it.
    unsafe { __register_atfork(None, None, Some(forked), core::ptr::null_mut()) };
}

/// In a forked child: a run of its own.
extern "C" fn forked() {
    let Some((recorder, local)) = current() else {
        // This thread is not recorded, and those that the child makes have no recording of their own.
        STATE.store(OFF_STATE, Ordering::Relaxed);
        RECORDER.set(None);
        return;
    };
    local.public.inside.store(1, Ordering::Relaxed);
    ORDERS.get().into_iter().for_each(Orders::after_fork);
    let begun = local.act(|thread| {
        (thread.pending, thread.pending_instance, thread.pending_store) = (None, None, None);
        recorder.after_fork(thread, || {
            let Some((settings, (_, slide))) = settings().zip(executable()) else { return false };
            let (path, identity) = new_recording(settings, slide);
            CStr::from_bytes_until_nul(&path).is_ok_and(|path| recorder.mapping.replace(path, identity))
        })
    });
    BEGINNING.unlock();
    if begun {
        local.public.inflight.store(0, Ordering::Relaxed);
        local.public.inside.store(0, Ordering::Release);
    } else {
        sys::set_thread_word((&raw const OFF).cast_mut().cast());
        STATE.store(OFF_STATE, Ordering::Relaxed);
        RECORDER.set(None);
    }
}

/// The process exits: what this thread counted is added up.
pub(crate) fn exiting() {
    with(|recorder, thread, _| recorder.flush(thread));
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn settings_end_a_path_that_may_hold_colons() {
        type Parsed<'a> = Option<(&'a str, u64, bool)>;
        let cases: [(&str, Parsed<'_>); 9] = [
            ("/tmp/x", Some(("/tmp/x", 0, true))),
            ("/tmp/x:seed=5", Some(("/tmp/x", 5, true))),
            ("/tmp/x:seed=5:sets=1", Some(("/tmp/x", 5, true))),
            ("/tmp/x:seed=5:wanted=1-2:wanted=3-4", Some(("/tmp/x", 5, true))),
            ("/tmp/x:wanted=1:seed=5", Some(("/tmp/x:wanted=1", 5, true))),
            ("/tmp/a:b:seed=5:delay=0", Some(("/tmp/a:b", 5, false))),
            ("/tmp/a:seed=x", Some(("/tmp/a:seed=x", 0, true))),
            ("", None),
            (":seed=1", None),
        ];
        for (text, expected) in cases {
            let parsed = parse(text.as_bytes());
            let parsed = parsed.as_ref().map(|found| (&found.folder[..found.folder_length], found.seed, found.delay));
            assert_eq!(parsed, expected.map(|(folder, seed, delay)| (folder.as_bytes(), seed, delay)), "{text}");
        }
    }

    #[test]
    fn settings_name_the_orders_to_bring_about_as_many_as_there_is_room_for() {
        let all: Vec<Wanted> = (0..10).map(|n| Wanted { between: SiteKey(u64::MAX - n), second: SiteKey(n) }).collect();
        let text = all.iter().fold("/tmp/x:seed=1".to_string(), |text, order| format!("{text}:wanted={order}"));
        let orders = parse(text.as_bytes()).expect("settings").orders;
        let known: Vec<bool> = all.iter().map(|order| orders.of(order.between).is_some() && orders.of(order.second).is_some()).collect();
        assert_eq!(known, [false, false, true, true, true, true, true, true, true, true], "from the end");
    }
}
