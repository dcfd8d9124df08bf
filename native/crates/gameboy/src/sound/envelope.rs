//! The volume that rises or falls by itself.

use crate::state::saved;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Envelope {
    register: u8,
    pub volume: u8,
    timer: u8,
    /// It has not come to an end of its range.
    runs: bool,
    /// It stood until NRx2 was written, and makes its first change before its time.
    hurries: bool,
}

const UPWARDS: u8 = 8;

impl Envelope {
    /// NRx2 is written. While the channel is `on`, a Game Boy Color's volume changes with it.
    pub fn write(&mut self, value: u8, on: bool, color: bool) {
        let before = std::mem::replace(&mut self.register, value);
        if !color {
            return;
        }
        if before & 7 == 0 && self.period() != 0 {
            self.timer = self.period();
            self.hurries = true;
        }
        if !on {
            return;
        }
        let stood = before & 7 == 0 && self.runs;
        let (was, is) = (before & UPWARDS != 0, value & UPWARDS != 0);
        let change = match (was, is) {
            (false, true) if stood => 15u8.wrapping_sub(self.volume),
            (false, true) => 14u8.wrapping_sub(self.volume),
            (true, true) if stood => self.volume.wrapping_add(1),
            (true, false) if stood && value & 7 != 0 => 15u8.wrapping_sub(self.volume),
            (true, false) => 16u8.wrapping_sub(self.volume),
            (false, false) if stood && value & 7 != 0 => self.volume.wrapping_sub(1),
            _ => self.volume,
        };
        self.volume = change & 15;
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        self.volume < 16
    }

    /// Without these bits the channel's converter is off.
    pub fn has_converter(&self) -> bool {
        self.register & 0xF8 != 0
    }

    pub fn trigger(&mut self) {
        self.volume = self.register >> 4;
        self.timer = self.period();
        self.runs = true;
        self.hurries = false;
    }

    /// Steps between two changes.
    fn period(&self) -> u8 {
        self.register & 7
    }

    /// A step of the sequencer that does not clock lengths; every fourth of them is the `last`, on which it counts.
    pub fn clock(&mut self, last: bool) {
        if self.period() == 0 {
            return;
        }
        if std::mem::take(&mut self.hurries) {
            self.change();
        }
        if last {
            self.timer = self.timer.saturating_sub(1);
            if self.timer == 0 {
                self.timer = self.period();
                self.change();
            }
        }
    }

    /// The older console's, which counts on one step in eight, and stands until the next trigger once its period was 0.
    pub fn count(&mut self) {
        if self.timer > 0 {
            self.timer -= 1;
            if self.timer == 0 {
                self.timer = self.period();
                self.change();
            }
        }
    }

    fn change(&mut self) {
        match (self.register & UPWARDS != 0, self.volume) {
            (true, 0..15) => self.volume += 1,
            (false, 1..) => self.volume -= 1,
            _ => self.runs = false,
        }
    }
}

saved!(Envelope { register, volume, timer, runs, hurries });
