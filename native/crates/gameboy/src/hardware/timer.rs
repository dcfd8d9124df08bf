//! DIV and TIMA as the console counts them: one counter, and an edge detector on one of its bits.

use crate::state::saved;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    /// DIV is its upper byte.
    pub counter: u16,
    pub tima: u8,
    pub tma: u8,
    pub tac: u8,
    /// TIMA flowed over in this M-cycle; it reads 0, and a write to it now keeps TMA from being loaded.
    overflowed: bool,
    /// TMA is loaded in this M-cycle; writes to TIMA lose against it, those to TMA go through it.
    loading: bool,
}

impl Timer {
    /// One M-cycle; whether an interrupt is requested.
    pub fn tick(&mut self) -> bool {
        self.loading = std::mem::take(&mut self.overflowed);
        if self.loading {
            self.tima = self.tma;
        }
        let before = self.signal();
        self.counter = self.counter.wrapping_add(4);
        self.fall_from(before);
        self.loading
    }

    /// The bit that TIMA counts the falling edges of, while the timer runs.
    fn signal(&self) -> bool {
        let bit = [9, 3, 5, 7][usize::from(self.tac & 3)];
        self.tac & 4 != 0 && self.counter >> bit & 1 != 0
    }

    fn fall_from(&mut self, before: bool) {
        if before && !self.signal() {
            (self.tima, self.overflowed) = self.tima.overflowing_add(1);
        }
    }

    pub fn write_div(&mut self) {
        let before = self.signal();
        self.counter = 0;
        self.fall_from(before);
    }

    pub fn write_tima(&mut self, value: u8) {
        if !self.loading {
            self.tima = value;
            self.overflowed = false;
        }
    }

    pub fn write_tma(&mut self, value: u8) {
        self.tma = value;
        if self.loading {
            self.tima = value;
        }
    }

    pub fn write_tac(&mut self, value: u8) {
        let before = self.signal();
        self.tac = value & 7;
        self.fall_from(before);
    }
}

saved!(Timer { counter, tima, tma, tac, overflowed, loading });
