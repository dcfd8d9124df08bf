//! The serial port with nobody at the other end: ones come in, a bit at a time, by a clock that hangs on DIV's counter.

use crate::state::saved;

/// The bit of the counter whose falling edges make the clock go up and down by turns: 8192 bits a second, or 32 times
/// as many on a Game Boy Color that asks for it.
const SLOW: u16 = 1 << 7;
const FAST: u16 = 1 << 2;
const FASTER: u8 = 2;
const BY_THIS_CONSOLE: u8 = 0x81;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Serial {
    pub data: u8,
    pub control: u8,
    high: bool,
    shifted: u8,
}

impl Serial {
    /// The counter went from `before` to `after`; whether a byte is through, and an interrupt requested.
    pub fn tick(&mut self, before: u16, after: u16) -> bool {
        if self.control & BY_THIS_CONSOLE != BY_THIS_CONSOLE {
            return false;
        }
        let bit = if self.control & FASTER != 0 { FAST } else { SLOW };
        if before & !after & bit == 0 {
            return false;
        }
        self.high = !self.high;
        if self.high {
            return false;
        }
        self.data = self.data << 1 | 1;
        self.shifted = self.shifted.wrapping_add(1) & 7;
        if self.shifted == 0 {
            self.control &= 0x7F;
        }
        self.shifted == 0
    }

    pub fn write_control(&mut self, value: u8, color: bool) {
        self.control = value & if color { 0x83 } else { 0x81 };
        self.shifted = 0;
        self.high = false;
    }

    pub fn read_control(&self, color: bool) -> u8 {
        self.control | if color { 0x7C } else { 0x7E }
    }
}

saved!(Serial { data, control, high, shifted });
