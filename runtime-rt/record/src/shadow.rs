//! From addresses to cells: a two-level table of pages, who owns each, and the stripes.
//!
//! State of `Page::owner`:
//!
//! | value | meaning | who may touch its words |
//! |---|---|---|
//! | 0 | untouched | nobody |
//! | 1 + n | only thread n has touched it | thread n, while its `inflight` names the page |
//! | `CONVERTING` | another thread came; it waits until `inflight` of the owner is elsewhere | the converter |
//! | `SHARED` | several threads have touched it | whoever holds the line's stripe |
//!
//! The owner's path has no atomic read-modify-write: it stores `inflight`, then loads `owner`; the converter stores `owner`,
//! makes all threads pass a barrier (`membarrier`), then loads `inflight`. Where the kernel lacks that, pages start `SHARED`.
//! So the order of accesses to a word is the real one in both forms.
//!
//! Not handled: the part of an access beyond its first line is recorded in order, but not held until it has happened.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence};

use model::pair::Atomicity;

use crate::cell::{Mask, OwnedWord, Slot, SlotCell, Slots, ThreadNumber, owned_accesses, put};
use crate::held::{HeldSet, History};
use crate::pool::Pool;
use crate::starts::Starts;
use crate::sys::{self, Barrier, Once, Spin, Zeroed};

/// An address of the program's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address(pub(crate) usize);

impl Address {
    pub(crate) fn page(self) -> usize {
        self.0 / PAGE
    }

    fn word(self) -> usize {
        self.0 / 8 % WORDS
    }

    /// The bytes of this address's word that an access of this length covers, and how many those are.
    #[expect(clippy::cast_possible_truncation, reason = "shifted to a byte's width")]
    pub(crate) fn bytes(self, length: usize) -> (Mask, usize) {
        let first = self.0 % 8;
        let count = length.min(8 - first);
        (Mask((((1_u32 << count) - 1) << first) as u8), count)
    }
}

/// Bytes of a page; words of 8 bytes in it.
pub(crate) const PAGE: usize = 4096;
const WORDS: usize = PAGE / 8;
const CONVERTING: u32 = u32::MAX - 1;
const SHARED: u32 = u32::MAX;

/// The words of a page that one thread owns.
#[derive(Debug)]
pub(crate) struct OwnedBlock([OwnedWord; WORDS]);

/// Two slots for each word of a shared page.
#[derive(Debug)]
pub(crate) struct SharedBlock {
    low: [[AtomicU64; 2]; WORDS],
    high: [[AtomicU32; 2]; WORDS],
    /// Bytes that several threads have touched; used in a page's first block.
    touched: [AtomicU8; WORDS],
}

/// What is known of one page.
#[derive(Debug)]
pub(crate) struct Page {
    owner: AtomicU32,
    pub(crate) lock: Spin,
    owned: Once<OwnedBlock>,
    shared: [Once<SharedBlock>; 4],
    pub(crate) starts: Once<Starts>,
}

// SAFETY: atomic integers.
unsafe impl Zeroed for OwnedBlock {}
// SAFETY: atomic integers.
unsafe impl Zeroed for SharedBlock {}
// SAFETY: atomic integers and absent references.
unsafe impl Zeroed for Page {}

/// What others may see of a thread.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Public {
    /// The page whose words it may be touching; 0 for none.
    pub(crate) inflight: AtomicUsize,
    /// The stack pointer where it began the access that is happening; 0 for none.
    pub(crate) accessing: AtomicUsize,
    /// Whether it is in the recorder, or between the beginning and the end of an access. A signal handler that finds it set
    /// leaves the recorder alone: the interrupted code may hold a stripe.
    pub(crate) inside: AtomicU32,
    /// What it held when.
    history: History,
}

impl Public {
    /// Of a thread that is nowhere.
    pub(crate) const fn new() -> Self {
        Self { inflight: AtomicUsize::new(0), accessing: AtomicUsize::new(0), inside: AtomicU32::new(0), history: History::new() }
    }
}

// SAFETY: atomic integers.
unsafe impl Zeroed for Public {}

/// The shadow of all memory.
#[derive(Debug)]
pub(crate) struct Shadow {
    top: &'static [Once<Middle>],
    middles: Spin,
    pages: Pool<Page>,
    owned: Pool<OwnedBlock>,
    shared: Pool<SharedBlock>,
    pub(crate) starts: Pool<Starts>,
    stripes: &'static [Stripe],
    threads: &'static [Once<Public>],
    /// Pages that have blocks, and blocks beyond each one's first: these may be an eighth of those, and some more.
    touched: AtomicUsize,
    grown: AtomicUsize,
    /// Whether pages may be owned: whether all threads can be made to pass a barrier.
    ownership: bool,
}

const MIDDLE_BITS: u32 = 18;
const TOP: usize = 1 << (47 - 12 - MIDDLE_BITS);
/// Blocks beyond the first of pages that there may be in any case.
const GROWN_ALWAYS: usize = 1 << 9;
const STRIPES: usize = 1 << 12;

#[derive(Debug)]
struct Middle([Once<Page>; 1 << MIDDLE_BITS]);

// SAFETY: absent references.
unsafe impl Zeroed for Middle {}

/// A lock on a line, on a line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Stripe(Spin);

// SAFETY: a free lock.
unsafe impl Zeroed for Stripe {}

/// What a thread holds while it touches words of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    /// The page is its own: `inflight` is set.
    Owned(&'static OwnedBlock),
    /// The line's stripe.
    Stripe(&'static Page, StripeNumber),
}

/// Which stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StripeNumber(u16);

impl Shadow {
    pub(crate) fn new() -> Option<Self> {
        Some(Self {
            top: sys::leak(TOP)?,
            middles: Spin::new(),
            pages: Pool::new()?,
            owned: Pool::new()?,
            shared: Pool::new()?,
            starts: Pool::new()?,
            stripes: sys::leak(STRIPES)?,
            threads: sys::leak(ThreadNumber::COUNT)?,
            touched: AtomicUsize::new(0),
            grown: AtomicUsize::new(0),
            ownership: sys::barrier(Barrier::Register),
        })
    }

    /// Makes a thread known.
    pub(crate) fn add_thread(&self, number: ThreadNumber, public: &'static Public) {
        self.threads[usize::from(number.0)].set(Some(public));
    }

    /// What a thread held when.
    pub(crate) fn history(&self, number: ThreadNumber) -> Option<&'static History> {
        self.threads[usize::from(number.0)].get().map(|public| &public.history)
    }

    /// The page of an address, if anything is known of it.
    pub(crate) fn find(&self, address: Address) -> Option<&'static Page> {
        let page = address.page();
        self.top.get(page >> MIDDLE_BITS)?.get()?.0[page % (1 << MIDDLE_BITS)].get()
    }

    /// The page of an address; made if need be and memory allows.
    pub(crate) fn page(&self, address: Address) -> Option<&'static Page> {
        self.find(address).or_else(|| {
            let top = self.top.get(address.page() >> MIDDLE_BITS)?;
            let _taken = self.middles.take();
            if top.get().is_none() {
                top.set(Some(&sys::leak::<Middle>(1)?[0]));
            }
            let place = &top.get()?.0[address.page() % (1 << MIDDLE_BITS)];
            if place.get().is_none() {
                place.set(Some(self.pages.get()?));
            }
            place.get()
        })
    }

    fn stripe(address: Address) -> StripeNumber {
        #[expect(clippy::cast_possible_truncation, reason = "taken modulo the number of stripes first")]
        StripeNumber((address.0 / 64 % STRIPES) as u16)
    }

    /// Gains the right to touch the words of an address's line.
    #[inline]
    pub(crate) fn hold(&self, page: &'static Page, address: Address, me: ThreadNumber, public: &Public) -> Option<Held> {
        public.inflight.store(core::ptr::from_ref(page).addr(), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        if page.owner.load(Ordering::Acquire) == tag(me)
            && let Some(block) = page.owned.get()
        {
            return Some(Held::Owned(block));
        }
        public.inflight.store(0, Ordering::Release);
        if page.owner.load(Ordering::Acquire) == SHARED {
            let number = Self::stripe(address);
            self.stripes[usize::from(number.0)].0.lock();
            if page.owner.load(Ordering::Acquire) == SHARED {
                return Some(Held::Stripe(page, number));
            }
            self.stripes[usize::from(number.0)].0.unlock();
        }
        self.settle(page, me)?;
        self.hold(page, address, me, public)
    }

    /// Gives it up.
    #[inline]
    pub(crate) fn release(&self, held: Held, public: &Public) {
        match held {
            Held::Owned(_) => public.inflight.store(0, Ordering::Release),
            Held::Stripe(_, number) => self.stripes[usize::from(number.0)].0.unlock(),
        }
    }

    /// Gives it up, known by its parts.
    #[inline]
    pub(crate) fn release_pending(&self, stripe: Option<StripeNumber>, public: &Public) {
        public.inflight.store(0, Ordering::Release);
        if let Some(number) = stripe {
            self.stripes[usize::from(number.0)].0.unlock();
        }
    }

    /// Makes a page this thread's or everybody's.
    #[cold]
    fn settle(&self, page: &'static Page, me: ThreadNumber) -> Option<()> {
        let _taken = page.lock.take();
        self.touched.fetch_add(usize::from(page.owner.load(Ordering::Acquire) == 0), Ordering::Relaxed);
        match page.owner.load(Ordering::Acquire) {
            0 if self.ownership => {
                page.owned.set(Some(self.owned.get()?));
                page.owner.store(tag(me), Ordering::Release);
            }
            0 => {
                page.shared[0].set(Some(self.shared.get()?));
                page.owner.store(SHARED, Ordering::Release);
            }
            owner if owner != tag(me) && owner != SHARED => self.convert(page, owner)?,
            _ => {}
        }
        Some(())
    }

    /// From one thread's to everybody's. The caller holds the page's lock.
    fn convert(&self, page: &'static Page, owner: u32) -> Option<()> {
        let first = self.shared.get()?;
        self.stop_owner(page, owner);
        page.shared[0].set(Some(first));
        if let (Some(block), Some(thread)) = (page.owned.get(), number(owner)) {
            let history = self.history(thread);
            for (n, word) in block.0.iter().enumerate() {
                let mut slots = WordSlots { shadow: self, page, word: n };
                for (bytes, access) in owned_accesses(word) {
                    let locks = history.map_or(HeldSet::ANY, |history| history.at(access.at));
                    put(&mut slots, Slot { bytes, thread, access, locks, since: Atomicity::Exclusive });
                }
            }
            page.owned.set(None);
            block.clear();
            self.owned.put(block);
        }
        page.owner.store(SHARED, Ordering::Release);
        Some(())
    }

    /// Afterwards the owner no longer touches the page's words, and will notice that they are not its own.
    fn stop_owner(&self, page: &'static Page, owner: u32) {
        page.owner.store(CONVERTING, Ordering::SeqCst);
        let Some(public) = number(owner).and_then(|thread| self.threads[usize::from(thread.0)].get()) else { return };
        sys::barrier(Barrier::Now);
        // An owner that a signal handler has thrown out of its access says so at its next one; until then, time is the limit.
        for _ in 0..100_000 {
            if public.inflight.load(Ordering::Acquire) != core::ptr::from_ref(page).addr() {
                return;
            }
            sys::yield_now();
        }
    }

    /// A new object will stand here: nothing that was accessed before counts.
    pub(crate) fn forget(&self, start: Address, length: usize, me: ThreadNumber, public: &Public) {
        let end = start.0.saturating_add(length);
        let mut at = start.0;
        while at < end {
            let next = (at / PAGE + 1).saturating_mul(PAGE).min(end);
            if let Some(page) = self.find(Address(at)) {
                if next - at == PAGE {
                    self.reset(page, me);
                } else {
                    self.forget_words(page, Address(at), next - at, me, public);
                }
            } else if self.top.get((at / PAGE) >> MIDDLE_BITS).is_none_or(|middle| middle.get().is_none()) {
                // Nothing is known of this gigabyte.
                at = (((at / PAGE) >> MIDDLE_BITS) + 1).saturating_mul(PAGE << MIDDLE_BITS);
                continue;
            }
            at = next;
        }
    }

    fn forget_words(&self, page: &'static Page, start: Address, length: usize, me: ThreadNumber, public: &Public) {
        let end = start.0 + length;
        let mut at = start.0 / 8 * 8;
        while at < end && page.owner.load(Ordering::Relaxed) != 0 {
            let Some(held) = self.hold(page, Address(at), me, public) else { return };
            let line_end = (at / 64 + 1) * 64;
            while at < end.min(line_end) {
                self.clear_word(held, Address(at));
                at += 8;
            }
            self.release(held, public);
        }
    }

    /// Forgets the last accesses to a word.
    pub(crate) fn clear_word(&self, held: Held, address: Address) {
        match held {
            Held::Owned(block) => block.word(address).iter().for_each(|slot| slot.store(0, Ordering::Relaxed)),
            Held::Stripe(page, _) => {
                for block in page.shared.iter().map_while(Once::get) {
                    block.low[address.word()].iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
                    block.touched[address.word()].store(0, Ordering::Relaxed);
                }
            }
        }
    }

    /// Makes a page untouched.
    fn reset(&self, page: &'static Page, me: ThreadNumber) {
        let _taken = page.lock.take();
        let owner = page.owner.load(Ordering::Acquire);
        if owner != 0 && owner != SHARED && owner != tag(me) {
            self.stop_owner(page, owner);
        }
        page.owner.store(0, Ordering::Release);
        self.touched.fetch_sub(usize::from(owner != 0), Ordering::Relaxed);
        if let Some(block) = page.owned.get() {
            page.owned.set(None);
            block.clear();
            self.owned.put(block);
        }
        for (n, place) in page.shared.iter().enumerate() {
            if let Some(block) = place.get() {
                self.grown.fetch_sub(usize::from(n > 0), Ordering::Relaxed);
                place.set(None);
                block.clear();
                self.shared.put(block);
            }
        }
    }

    /// The slots of a word whose stripe is held.
    pub(crate) fn slots(&self, page: &'static Page, address: Address) -> WordSlots<'_> {
        WordSlots { shadow: self, page, word: address.word() }
    }

    /// In a forked child: what other threads held there is held by nobody.
    pub(crate) fn after_fork(&self, me: ThreadNumber) {
        self.middles.unlock();
        self.pages.after_fork();
        self.owned.after_fork();
        self.shared.after_fork();
        self.starts.after_fork();
        self.stripes.iter().for_each(|stripe| stripe.0.unlock());
        for (n, thread) in self.threads.iter().enumerate() {
            if n != usize::from(me.0) {
                thread.set(None);
            }
        }
        for page in self.top.iter().filter_map(Once::get).flat_map(|middle| middle.0.iter().filter_map(Once::get)) {
            page.lock.unlock();
            if page.owner.load(Ordering::Relaxed) == CONVERTING {
                page.owner.store(if page.shared[0].get().is_some() { SHARED } else { 0 }, Ordering::Relaxed);
            }
        }
    }
}

fn tag(thread: ThreadNumber) -> u32 {
    u32::from(thread.0) + 1
}

fn number(tag: u32) -> Option<ThreadNumber> {
    u16::try_from(tag.checked_sub(1)?).ok().map(ThreadNumber)
}

impl Page {
    /// Whether other threads than this one may have touched it.
    pub(crate) fn is_used_by_others(&self, me: ThreadNumber) -> bool {
        let owner = self.owner.load(Ordering::Acquire);
        owner != 0 && owner != tag(me)
    }
}

impl OwnedBlock {
    #[inline]
    pub(crate) fn word(&self, address: Address) -> &OwnedWord {
        &self.0[address.word()]
    }

    fn clear(&self) {
        self.0.iter().flatten().for_each(|slot| slot.store(0, Ordering::Relaxed));
    }
}

impl SharedBlock {
    fn clear(&self) {
        self.low.iter().flatten().for_each(|slot| slot.store(0, Ordering::Relaxed));
        self.touched.iter().for_each(|bytes| bytes.store(0, Ordering::Relaxed));
    }
}

static NOBODYS: (AtomicU64, AtomicU32) = (AtomicU64::new(0), AtomicU32::new(0));

/// The slots of one shared word, over its page's blocks.
pub(crate) struct WordSlots<'a> {
    shadow: &'a Shadow,
    page: &'static Page,
    word: usize,
}

impl Slots for WordSlots<'_> {
    fn count(&self) -> usize {
        2 * self.page.shared.iter().take_while(|block| block.get().is_some()).count()
    }

    fn slot(&self, number: usize) -> SlotCell<'_> {
        // Absent only when the program frees memory that another thread is using: then the slot is nobody's.
        match self.page.shared[number / 2].get() {
            Some(block) => SlotCell(&block.low[self.word][number % 2], &block.high[self.word][number % 2]),
            None => SlotCell(&NOBODYS.0, &NOBODYS.1),
        }
    }

    fn grow(&mut self) -> bool {
        let Some(place) = self.page.shared.iter().find(|block| block.get().is_none()) else { return false };
        let (grown, touched) = (self.shadow.grown.load(Ordering::Relaxed), self.shadow.touched.load(Ordering::Relaxed));
        let first = self.page.shared[0].get().is_none();
        if !first && grown >= GROWN_ALWAYS + touched / 8 {
            return false;
        }
        let Some(block) = self.shadow.shared.get() else { return false };
        self.shadow.grown.fetch_add(usize::from(!first), Ordering::Relaxed);
        if !place.set_if_absent(block) {
            // The holder of another line of the page was faster.
            self.shadow.grown.fetch_sub(usize::from(!first), Ordering::Relaxed);
            self.shadow.shared.put(block);
        }
        true
    }

    fn add_shared(&self, bytes: Mask) -> Mask {
        let Some(block) = self.page.shared[0].get() else { return Mask::NONE };
        // The stripe's holder alone writes it, and mostly there is nothing to add.
        let touched = &block.touched[self.word];
        let known = Mask(touched.load(Ordering::Relaxed));
        if known.or(bytes) != known {
            touched.store(known.or(bytes).0, Ordering::Relaxed);
        }
        known.or(bytes)
    }
}
