//! The counter that ends a tone, and what writing its control register does to it.

use crate::state::saved;

#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    left: u16,
    full: u16,
    pub enabled: bool,
}

impl Length {
    pub fn new(full: u16) -> Self {
        Self { left: 0, full, enabled: false }
    }

    /// `value` is what was written; the counter runs from the other end.
    pub fn load(&mut self, value: u8) {
        self.left = self.full - (u16::from(value) & (self.full - 1));
    }

    /// Whether the tone ends.
    pub fn clock(&mut self) -> bool {
        if !self.enabled || self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.left == 0
    }

    /// A write to NRx4. `between` says that the sequencer's next step does not clock lengths; then one that is switched
    /// on is clocked at once. Whether the tone ends by that.
    pub fn control(&mut self, value: u8, between: bool) -> bool {
        let enable = value & 0x40 != 0;
        let extra = between && enable && !self.enabled;
        self.enabled = enable;
        let ended = extra && self.clock();
        if value & 0x80 != 0 && self.left == 0 {
            self.left = self.full;
            if between && enable {
                self.left -= 1;
            }
        }
        ended
    }

    /// Loaded counters are kept without power by the older console only.
    pub fn power_off(&mut self, keep: bool) {
        self.enabled = false;
        if !keep {
            self.left = 0;
        }
    }
}

saved!(Length { left, enabled });
