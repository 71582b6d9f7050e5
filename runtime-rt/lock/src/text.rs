//! Lines for people, put together in a fixed buffer and written in one call. No formatting machinery: strings and numbers. Not inlined:
//! it is rare, and every program carries it.

use core::ffi::c_int;

/// A line under construction. What does not fit is left out.
#[derive(Debug)]
pub struct Line {
    bytes: [u8; 512],
    used: usize,
}

impl Line {
    /// A line that says whose it is.
    #[inline(never)]
    #[must_use]
    pub fn new() -> Self {
        Self { bytes: [0; 512], used: 0 }.text(b"atomfix: ")
    }

    /// Adds a string.
    #[inline(never)]
    #[must_use]
    pub fn text(mut self, text: &[u8]) -> Self {
        let room = self.bytes.get_mut(self.used..).unwrap_or_default();
        let mut added = 0;
        // One byte is kept for the end of the line.
        for (place, byte) in room.iter_mut().zip(text).take(511_usize.saturating_sub(self.used)) {
            *place = *byte;
            added += 1;
        }
        self.used += added;
        self
    }

    /// Adds a number.
    #[inline(never)]
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        let mut digits = [0_u8; 20];
        let mut left = number;
        let mut from = digits.len();
        for (at, place) in digits.iter_mut().enumerate().rev() {
            *place = b'0' + u8::try_from(left % 10).unwrap_or(0);
            left /= 10;
            from = at;
            if left == 0 {
                break;
            }
        }
        self.text(digits.get(from..).unwrap_or_default())
    }

    /// Ends it and writes it. A failure to write has nobody to be told to.
    #[inline(never)]
    pub fn write(self, descriptor: c_int) {
        let Self { mut bytes, used } = self;
        if let Some(end) = bytes.get_mut(used) {
            *end = b'\n';
        }
        let arguments = [usize::try_from(descriptor).unwrap_or(2), bytes.as_ptr().addr(), used + 1, 0, 0, 0];
        // SAFETY: the kernel reads as many bytes of the live buffer as were put there.
        let _ = unsafe { crate::sys::call::call(libc::SYS_write, arguments) };
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn lines_hold_strings_and_numbers_and_stop_at_their_end() {
        let line = Line::new().text(b"a ").number(0).text(b" ").number(u64::MAX);
        assert_eq!(line.bytes.get(..line.used), Some(&b"atomfix: a 0 18446744073709551615"[..]));
        let full = Line::new().text(&[b'x'; 600]);
        assert_eq!(full.used, 511);
    }
}
