//! The kernel and the processor: system calls without `errno`, zeroed memory that is never given back, the thread's word.
//!
//! Raw system calls, because the C library's would change `errno` and may be interposed. x86-64 Linux only.

use core::arch::{asm, global_asm};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// A system call; the kernel's own result.
///
/// # Safety
/// As for the call.
pub(crate) unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    #[expect(clippy::cast_possible_truncation, reason = "both have 64 bits here")]
    let number = number as isize;
    let result;
    // SAFETY: the caller vouches for the call; the clobbers are those of the system call ABI.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
             in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// Ends the process: a bug of the recorder.
#[cfg(all(not(test), panic = "abort"))]
pub(crate) fn abort() -> ! {
    // SAFETY: takes no pointers.
    unsafe { libc::abort() }
}

/// The first bytes of the program's memory at an address, at most 16, as a number.
pub(crate) fn peek(address: usize, length: usize) -> u128 {
    let mut bytes = [0; 16];
    for (n, byte) in bytes.iter_mut().enumerate().take(length) {
        let place = core::ptr::with_exposed_provenance::<u8>(address + n);
        // SAFETY: instrumentation passes memory that the program is about to store to, or has just stored to, so it is mapped.
        *byte = unsafe { place.read_volatile() };
    }
    u128::from_le_bytes(bytes)
}

/// Types of which zeroed memory is a value.
///
/// # Safety
/// All-zero bytes must be a valid value.
pub(crate) unsafe trait Zeroed: Sized {}

// SAFETY: an integer.
unsafe impl Zeroed for AtomicU32 {}
// SAFETY: an integer.
unsafe impl Zeroed for AtomicU64 {}
// SAFETY: null is its "absent".
unsafe impl<T> Zeroed for Once<T> {}

/// Zeroed pages that stay for ever, if there is memory.
pub(crate) fn pages(length: usize) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh anonymous mapping touches nothing that exists.
    let address = unsafe { call(libc::SYS_mmap, [0, length, bits(protection), bits(flags), usize::MAX, 0]) };
    if address <= 0 { None } else { NonNull::new(core::ptr::with_exposed_provenance_mut(address.cast_unsigned())) }
}

/// A zeroed array that stays for ever.
pub(crate) fn leak<T: Zeroed>(count: usize) -> Option<&'static [T]> {
    let start = pages(count.checked_mul(size_of::<T>())?)?.cast::<T>();
    // SAFETY: fresh, page-aligned, zeroed memory of this size, of which zeroes are a value, never unmapped.
    Some(unsafe { core::slice::from_raw_parts(start.as_ptr(), count) })
}

/// The content of a file, mapped for reading; `None` for one that is not there or empty.
pub(crate) fn file(path: &core::ffi::CStr) -> Option<&'static [u8]> {
    let flags = bits(libc::O_RDONLY | libc::O_CLOEXEC);
    // SAFETY: `path` is a C string.
    let file = unsafe { call(libc::SYS_open, [path.as_ptr().expose_provenance(), flags, 0, 0, 0, 0]) };
    let file = usize::try_from(file).ok()?;
    // SAFETY: our own descriptor.
    let length = unsafe { call(libc::SYS_lseek, [file, 0, bits(libc::SEEK_END), 0, 0, 0]) };
    let length = usize::try_from(length).ok().filter(|&length| length > 0);
    let mapped = length.map(|length| {
        let arguments = [0, length, bits(libc::PROT_READ), bits(libc::MAP_PRIVATE), file, 0];
        // SAFETY: a new mapping of our own descriptor.
        (unsafe { call(libc::SYS_mmap, arguments) }, length)
    });
    // SAFETY: our own descriptor; the mapping keeps the file.
    unsafe { call(libc::SYS_close, [file, 0, 0, 0, 0, 0]) };
    let (start, length) = mapped.filter(|(start, _)| *start > 0)?;
    let start = core::ptr::with_exposed_provenance::<u8>(start.cast_unsigned());
    // SAFETY: mapped for reading, that long, never unmapped; the file is not changed once it is written.
    Some(unsafe { core::slice::from_raw_parts(start, length) })
}

/// Zeroes an array that `leak` made.
pub(crate) fn zero<T: Zeroed>(array: &'static [T]) {
    let start = array.as_ptr().expose_provenance();
    // SAFETY: whole pages of a private anonymous mapping, which the kernel replaces by zeroed ones; zeroes are values of `T`.
    unsafe { call(libc::SYS_madvise, [start, size_of_val(array), bits(libc::MADV_DONTNEED), 0, 0, 0]) };
}

/// A flag argument as the kernel takes it.
pub(crate) fn bits(flags: libc::c_int) -> usize {
    flags.cast_unsigned() as usize
}

/// A reference that is set once; absent before.
#[derive(Debug)]
pub(crate) struct Once<T: 'static>(AtomicPtr<T>);

impl<T> Once<T> {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(core::ptr::null_mut()))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or made from a `&'static T` by `set`.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Whether it was absent, and is now this.
    pub(crate) fn set_if_absent(&self, value: &'static T) -> bool {
        let value = core::ptr::from_ref(value).cast_mut();
        self.0.compare_exchange(core::ptr::null_mut(), value, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn set(&self, value: Option<&'static T>) {
        self.0.store(value.map_or(core::ptr::null_mut(), |value| core::ptr::from_ref(value).cast_mut()), Ordering::Release);
    }
}

/// Nanoseconds that the processors have spent on this process.
pub(crate) fn processor_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let clock = bits(libc::CLOCK_PROCESS_CPUTIME_ID);
    // SAFETY: fills in a time that outlives the call.
    unsafe { call(libc::SYS_clock_gettime, [clock, (&raw mut time).expose_provenance(), 0, 0, 0, 0]) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Gives the processor to another thread.
pub(crate) fn yield_now() {
    // SAFETY: takes no pointers.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

/// Sleeps.
pub(crate) fn sleep(nanoseconds: u32) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: libc::c_long::from(nanoseconds) };
    // SAFETY: `time` outlives the call; no remainder is asked for.
    unsafe { call(libc::SYS_nanosleep, [(&raw const time).expose_provenance(), 0, 0, 0, 0, 0]) };
}

/// Random bytes, from the kernel.
pub(crate) fn random() -> [u64; 2] {
    let mut words = [0_u64; 2];
    // SAFETY: the buffer has 16 bytes.
    unsafe { call(libc::SYS_getrandom, [(&raw mut words).expose_provenance(), 16, 0, 0, 0, 0]) };
    words
}

/// Makes every thread of the process pass a full barrier. `false` where the kernel cannot.
pub(crate) fn barrier(command: Barrier) -> bool {
    // SAFETY: takes no pointers.
    unsafe { call(libc::SYS_membarrier, [command as usize, 0, 0, 0, 0, 0]) >= 0 }
}

/// The commands of `membarrier(2)` that we use.
#[derive(Clone, Copy)]
pub(crate) enum Barrier {
    /// `MEMBARRIER_CMD_PRIVATE_EXPEDITED`
    Now = 1 << 3,
    /// `MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED`
    Register = 1 << 4,
}

/// A lock for short work. Signal handlers never take one that the thread they interrupted holds: see `thread::Public::inside`.
#[derive(Debug)]
pub(crate) struct Spin(AtomicU32);

/// Taken as long as it lives.
pub(crate) struct Taken<'a>(&'a Spin);

// SAFETY: zero is "free".
unsafe impl Zeroed for Spin {}

impl Spin {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[inline]
    pub(crate) fn lock(&self) {
        if self.0.swap(1, Ordering::Acquire) != 0 {
            self.lock_slowly();
        }
    }

    #[cold]
    fn lock_slowly(&self) {
        loop {
            for _ in 0..64 {
                if self.0.load(Ordering::Relaxed) == 0 && self.0.swap(1, Ordering::Acquire) == 0 {
                    return;
                }
                core::hint::spin_loop();
            }
            yield_now();
        }
    }

    #[inline]
    pub(crate) fn unlock(&self) {
        self.0.store(0, Ordering::Release);
    }

    pub(crate) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn take(&self) -> Taken<'_> {
        self.lock();
        Taken(self)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

// Words of thread-local storage: the thread's `Local`, its entries in pauses, the site of its last call. `#[thread_local]` is not stable,
// and the C library's keys cost a call. Instrumented code uses the latter two, too.
global_asm!(
    ".macro atomfix_word name size",
    ".globl \\name",
    ".hidden \\name",
    ".type \\name,@object",
    ".size \\name,\\size",
    "\\name:",
    ".zero 8",
    ".endm",
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 8",
    "atomfix_word __atomfix_record_thread 8",
    "atomfix_word __atomfix_record_entries 2",
    "atomfix_word __atomfix_record_caller 8",
    ".popsection",
);

/// The thread's word; zero at its start.
#[inline]
pub(crate) fn thread_word() -> *mut u8 {
    let word;
    // SAFETY: reads the thread's own word through the thread pointer.
    unsafe {
        asm!("mov {0}, qword ptr [rip + __atomfix_record_thread@GOTTPOFF]", "mov {0}, qword ptr fs:[{0}]", out(reg) word,
             options(nostack, readonly, preserves_flags));
    }
    word
}

/// Sets the thread's word.
pub(crate) fn set_thread_word(word: *mut u8) {
    // SAFETY: writes the thread's own word through the thread pointer.
    unsafe {
        asm!("mov {0}, qword ptr [rip + __atomfix_record_thread@GOTTPOFF]", "mov qword ptr fs:[{0}], {1}", out(reg) _,
             in(reg) word, options(nostack, preserves_flags));
    }
}

/// The word in which instrumented code leaves the site of each call.
#[inline]
pub(crate) fn caller_word() -> u64 {
    let word;
    // SAFETY: reads the thread's own word through the thread pointer.
    unsafe {
        asm!("mov {0}, qword ptr [rip + __atomfix_record_caller@GOTTPOFF]", "mov {0}, qword ptr fs:[{0}]", out(reg) word,
             options(nostack, readonly, preserves_flags));
    }
    word
}

/// Sets it.
pub(crate) fn set_caller_word(word: u64) {
    // SAFETY: writes the thread's own word through the thread pointer.
    unsafe {
        asm!("mov {0}, qword ptr [rip + __atomfix_record_caller@GOTTPOFF]", "mov qword ptr fs:[{0}], {1}", out(reg) _,
             in(reg) word, options(nostack, preserves_flags));
    }
}

/// The thread's entries in pauses, modulo 65,536, as instrumented code counts them.
#[inline]
pub(crate) fn entries_word() -> u16 {
    let word: u16;
    // SAFETY: reads the thread's own word through the thread pointer.
    unsafe {
        asm!("mov {1}, qword ptr [rip + __atomfix_record_entries@GOTTPOFF]", "mov {0:x}, word ptr fs:[{1}]", out(reg) word, out(reg) _,
             options(nostack, readonly, preserves_flags));
    }
    word
}

/// Sets them.
pub(crate) fn set_entries_word(word: u16) {
    // SAFETY: writes the thread's own word through the thread pointer.
    unsafe {
        asm!("mov {0}, qword ptr [rip + __atomfix_record_entries@GOTTPOFF]", "mov word ptr fs:[{0}], {1:x}", out(reg) _,
             in(reg) word, options(nostack, preserves_flags));
    }
}
