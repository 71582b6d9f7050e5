//! The activations of one thread, and the frontier: the two nodes, in the innermost activation common to two accesses,
//! that contain them (seed 002, Fig. 5; by activation instead of by context string, because two calls of one function from
//! a loop are two activations).
//!
//! A serial number is drawn at every entry, call, return and lock operation of the thread. An activation with a serial not
//! above that of an earlier access was alive then; if it still lives, both accesses lie in it. Its ring of calls says which
//! call contained the earlier access.
//!
//! Frames left by `longjmp` are dropped when the stack pointer is seen above them. Frame addresses are addresses of allocas,
//! so frames of inlined functions, which share one stack pointer, stay apart.
//! Not handled: a signal handler's frames count as called by whatever it interrupted; one on a stack of its own makes the
//! interrupted frames look dead, and what was accessed before is then without a common activation.

use core::num::NonZeroU64;

use model::ids::SiteKey;
use model::recording::Drop;

/// A point in the life of one thread. Fits `Serial::BITS`, so that it fits a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Serial(NonZeroU64);

impl Serial {
    /// Serials are below 2 to this power.
    pub(crate) const BITS: u32 = 34;
    const LAST: u64 = (1 << Self::BITS) - 1;

    /// The first serial is 1.
    #[inline]
    pub(crate) const fn new(number: u64) -> Self {
        match NonZeroU64::new(number) {
            Some(number) => Self(number),
            None => Self(NonZeroU64::MIN),
        }
    }

    #[inline]
    pub(crate) const fn number(self) -> u64 {
        self.0.get()
    }
}

/// The stack pointer of a hook's caller, or an address on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StackAddress(pub(crate) usize);

/// One call that an activation made.
#[derive(Clone, Copy, Debug)]
struct Call {
    site: SiteKey,
    at: Serial,
    /// When the first instrumented callee was entered beneath it, if one was.
    entered: Option<Serial>,
    /// When the last such returned; `None` while one is running.
    returned: Option<Serial>,
}

impl Call {
    const NONE: Self = Self { site: SiteKey(0), at: Serial(NonZeroU64::MIN), entered: None, returned: None };

    fn contains(&self, serial: Serial) -> bool {
        self.entered.is_some_and(|entered| entered <= serial) && self.returned.is_none_or(|returned| serial < returned)
    }
}

/// Calls that are remembered for each activation.
const RING: usize = 64;
/// Activations that are followed.
const DEPTH: usize = 1 << 13;

/// Innermost activations that are looked at one by one.
const NEAR: usize = 8;

/// One activation.
#[derive(Clone, Copy, Debug)]
struct Frame {
    address: StackAddress,
    /// The stack pointer at its last call, or at entry.
    stack: StackAddress,
    entered: Serial,
    /// Since when it runs itself, rather than a callee.
    running: Serial,
    /// How many calls it made; the last `RING` are in `calls`.
    made: u64,
    calls: [Call; RING],
}

impl Frame {
    /// The last remembered call that was made before or at this serial.
    fn last_call_at(&self, serial: Serial) -> Option<&Call> {
        let oldest = self.made.saturating_sub(RING as u64);
        let (mut low, mut high) = (oldest, self.made);
        // Mostly it is one of the latest: look 1, 2, 4, .. back before halving what is left.
        let mut back = 1;
        while high > oldest {
            let place = self.made.saturating_sub(back).max(oldest);
            if self.calls[slot(place)].at <= serial {
                low = place + 1;
                break;
            }
            (high, back) = (place, back * 2);
        }
        // invariant: calls below `low` were made at or before the serial, those from `high` on after it.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.calls[slot(middle)].at <= serial {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low > oldest).then(|| &self.calls[slot(low - 1)])
    }

    fn last(&mut self) -> Option<&mut Call> {
        self.made.checked_sub(1).map(|last| &mut self.calls[slot(last)])
    }
}

#[expect(clippy::cast_possible_truncation, reason = "taken modulo the ring's size first")]
fn slot(number: u64) -> usize {
    (number % RING as u64) as usize
}

/// The node of the common activation that contains an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The access itself.
    Access,
    /// This call.
    Call(SiteKey),
}

/// All activations of one thread, outermost first.
///
/// Lives in zeroed memory of its own, where the part that is never reached costs nothing.
#[derive(Debug)]
pub(crate) struct Frames {
    /// Serials drawn.
    serial: u64,
    depth: usize,
    /// Whether there are activations beyond `DEPTH`.
    beyond: bool,
    /// When each activation was entered, side by side: that is what is searched.
    entries: [Serial; DEPTH],
    frames: [Frame; DEPTH],
}

// SAFETY: integers, and `None` or integers in the options' zeroed discriminants; entries at or above `depth` are never read.
unsafe impl crate::sys::Zeroed for Frames {}

impl Frames {
    /// Whether accesses can be told apart by activation.
    pub(crate) fn followed(&self) -> bool {
        !self.beyond
    }

    /// Now.
    #[inline]
    pub(crate) fn now(&self) -> Serial {
        Serial::new(self.serial + 1)
    }

    /// Draws a serial.
    #[inline]
    pub(crate) fn tick(&mut self) -> Serial {
        self.serial += 1;
        self.now()
    }

    /// Begins anew when serials run out: earlier accesses are then without a common activation, or in the future.
    pub(crate) fn restart_if_exhausted(&mut self) -> bool {
        let exhausted = self.serial >= Serial::LAST - 16;
        if exhausted {
            self.serial = 0;
            self.depth = 0;
        }
        exhausted
    }

    #[inline]
    fn top(&mut self) -> Option<&mut Frame> {
        self.depth.checked_sub(1).map(|top| &mut self.frames[top])
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.beyond = false;
        let now = self.tick();
        if let Some(parent) = self.top() {
            parent.running = now;
            if let Some(call) = parent.last() {
                call.returned = Some(now);
            }
        }
    }

    /// Drops activations that the stack pointer has left behind.
    #[inline]
    pub(crate) fn unwind(&mut self, stack: StackAddress) {
        while self.top().is_some_and(|top| top.address < stack) {
            self.pop();
        }
    }

    /// An activation begins.
    pub(crate) fn enter(&mut self, address: StackAddress, stack: StackAddress) {
        self.unwind(stack);
        if self.top().is_some_and(|top| top.address == address) {
            self.pop();
        }
        if self.depth == DEPTH {
            self.beyond = true;
            return;
        }
        let now = self.tick();
        if let Some(call) = self.top().and_then(Frame::last) {
            call.entered.get_or_insert(now);
            call.returned = None;
        }
        self.entries[self.depth] = now;
        let frame = &mut self.frames[self.depth];
        (frame.address, frame.stack, frame.entered, frame.running, frame.made) = (address, stack, now, now, 0);
        self.depth += 1;
    }

    /// An activation ends. Those above it, if any, were left without notice.
    pub(crate) fn leave(&mut self, address: StackAddress, stack: StackAddress) {
        self.unwind(stack);
        let known = self.frames[..self.depth].iter().rev().take(64).position(|frame| frame.address == address);
        for _ in 0..known.map_or(0, |above| above + 1) {
            self.pop();
        }
    }

    /// The activation is about to call. One that is not known (it began before recording did) is entered.
    pub(crate) fn call(&mut self, address: StackAddress, stack: StackAddress, site: SiteKey) {
        self.unwind(stack);
        if self.top().is_none_or(|top| top.address != address) {
            let known = self.frames[..self.depth].iter().rev().take(64).position(|frame| frame.address == address);
            match known {
                Some(above) => (0..above).for_each(|_| self.pop()),
                None if self.beyond => return,
                None => self.enter(address, stack),
            }
        }
        let at = self.tick();
        if let Some(top) = self.top() {
            top.stack = stack;
            top.made += 1;
            if let Some(call) = top.last() {
                *call = Call { site, at, ..Call::NONE };
            }
        }
    }

    /// Forgets all activations, after a time in which they were not followed.
    pub(crate) fn resume(&mut self) -> Serial {
        self.depth = 0;
        self.beyond = false;
        self.tick()
    }

    /// The innermost activation's last call, and when that activation began.
    pub(crate) fn calling(&mut self) -> Option<(SiteKey, Serial)> {
        let top = self.top()?;
        let activation = top.entered;
        top.last().map(|call| (call.site, activation))
    }

    /// The frontier of an access at `first` and one that happens now.
    #[inline]
    pub(crate) fn frontier(&mut self, first: Serial) -> Result<(End, End), Drop> {
        match self.top() {
            Some(top) if top.running <= first => Ok((End::Access, End::Access)),
            _ => self.frontier_slowly(first),
        }
    }

    /// How many of the activations, outermost first, were entered at or before a serial.
    fn alive(&self, serial: Serial) -> usize {
        let entries = &self.entries[..self.depth];
        let near = entries.len().saturating_sub(NEAR);
        // Mostly all but a few.
        match entries[near..].iter().rposition(|&entered| entered <= serial) {
            Some(last) => near + last + 1,
            None => entries[..near].partition_point(|&entered| entered <= serial),
        }
    }

    /// Whether the innermost of the living activations that contains an access at `first` is the one that contains a `later` access.
    pub(crate) fn in_one(&self, first: Serial, later: Serial) -> bool {
        let alive = self.alive(first);
        alive > 0 && alive == self.alive(later)
    }

    fn frontier_slowly(&mut self, first: Serial) -> Result<(End, End), Drop> {
        let alive = self.alive(first);
        let innermost = alive.checked_sub(1).filter(|_| first <= self.now()).ok_or(Drop::NoCommonActivation)?;
        let frame = &self.frames[innermost];
        let oldest = frame.made.saturating_sub(RING as u64);
        let before = frame.last_call_at(first);
        let head = match before {
            Some(call) if call.contains(first) => End::Call(call.site),
            Some(_) => End::Access,
            // It may have made calls before those that are remembered.
            None if oldest > 0 => return Err(Drop::CallForgotten),
            None => End::Access,
        };
        if innermost + 1 == self.depth {
            return Ok((head, End::Access));
        }
        // Entered by no call of it that we saw: through code that is not instrumented.
        let running = frame.made.checked_sub(1).map(|last| &frame.calls[slot(last)]).filter(|call| call.entered.is_some());
        let running = running.ok_or(Drop::NoCommonActivation)?;
        if head == End::Call(running.site) && before.is_some_and(|call| call.at == running.at) {
            return Err(Drop::WithinOneCall);
        }
        Ok((head, End::Call(running.site)))
    }

    /// Whether an object at `address` on this thread's stack, touched at `then`, may still be the same object: whether the
    /// activation that the address belongs to has lived since.
    pub(crate) fn lived_since(&self, address: StackAddress, then: Serial) -> bool {
        let outside = self.frames[..self.depth].partition_point(|frame| frame.stack > address);
        // Below the last known stack pointer of the innermost activation: in an alloca of variable size that it made since.
        let owner = self.frames[..self.depth].get(outside).or(self.frames[..self.depth].last());
        owner.is_none_or(|owner| owner.entered <= then)
    }
}
