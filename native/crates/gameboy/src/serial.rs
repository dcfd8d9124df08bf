//! The serial port with nobody at the other end: eight bits of 1 come in.

use crate::state::saved;
use crate::timer::NEVER;

/// Cycles of a byte by the internal clock; a console takes four times as long.
const BYTE: u64 = 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial {
    pub control: u8,
    pub done: u64,
}

impl Serial {
    pub fn new() -> Self {
        Self { control: 0, done: NEVER }
    }

    /// Whether a transfer ended up to `now`, and an interrupt is requested.
    pub fn sync(&mut self, now: u64) -> bool {
        if self.done > now {
            return false;
        }
        self.done = NEVER;
        self.control &= 0x7F;
        true
    }

    pub fn write_control(&mut self, now: u64, value: u8) {
        self.control = value;
        self.done = if value & 0x81 == 0x81 { now + BYTE } else { NEVER };
    }
}

saved!(Serial { control, done });
