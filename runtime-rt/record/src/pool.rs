//! Zeroed blocks of one size, handed out and taken back. Memory is never given back to the kernel.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::sys::{self, Once, Spin, Zeroed};

/// Blocks of one kind to hand out.
#[derive(Debug)]
pub(crate) struct Pool<T: 'static> {
    lock: Spin,
    count: AtomicUsize,
    free: &'static [Once<T>],
}

impl<T: Zeroed> Pool<T> {
    pub(crate) fn new() -> Option<Self> {
        Some(Self { lock: Spin::new(), count: AtomicUsize::new(0), free: sys::leak(1 << 20)? })
    }

    /// A zeroed block.
    pub(crate) fn get(&self) -> Option<&'static T> {
        let _taken = self.lock.take();
        if self.count.load(Ordering::Relaxed) == 0 {
            for block in sys::leak::<T>(((1 << 16) / size_of::<T>()).max(16))? {
                self.push(block);
            }
        }
        let last = self.count.load(Ordering::Relaxed).checked_sub(1)?;
        self.count.store(last, Ordering::Relaxed);
        self.free[last].get()
    }

    fn push(&self, block: &'static T) {
        let count = self.count.load(Ordering::Relaxed);
        if let Some(place) = self.free.get(count) {
            place.set(Some(block));
            self.count.store(count + 1, Ordering::Relaxed);
        }
    }

    /// Takes a zeroed block back.
    pub(crate) fn put(&self, block: &'static T) {
        let _taken = self.lock.take();
        self.push(block);
    }

    /// In a forked child: another thread may have been taking a block.
    pub(crate) fn after_fork(&self) {
        self.lock.unlock();
    }
}
