//! A channel of square waves.

use super::envelope::Envelope;
use super::length::Length;
use crate::state::saved;

const DUTIES: [u8; 4] = [0b1000_0000, 0b1000_0001, 0b1110_0001, 0b0111_1110];

#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    pub on: bool,
    pub length: Length,
    pub envelope: Envelope,
    pub frequency: u16,
    duty: u8,
    position: u8,
    /// The dot at which the position moves on.
    at: u64,
    /// What the position gave when it last moved; a tone that is triggered anew is silent until then.
    high: bool,
}

impl Pulse {
    pub fn new() -> Self {
        Self {
            on: false,
            length: Length::new(64),
            envelope: Envelope::default(),
            frequency: 0,
            duty: 0,
            position: 0,
            at: 0,
            high: false,
        }
    }

    fn period(&self) -> u64 {
        4 * (2048 - u64::from(self.frequency))
    }

    /// Move on to `dot`.
    pub fn sync(&mut self, dot: u64) {
        if self.on && self.at <= dot {
            let steps = (dot - self.at) / self.period() + 1;
            self.position = ((u64::from(self.position) + steps) & 7) as u8;
            self.at += steps * self.period();
            self.high = DUTIES[usize::from(self.duty)] >> self.position & 1 != 0;
        }
    }

    pub fn write_duty(&mut self, value: u8) {
        self.duty = value >> 6;
        self.length.load(value);
    }

    pub fn write_envelope(&mut self, value: u8) {
        self.envelope.write(value, self.on);
        self.on &= self.envelope.has_converter();
    }

    pub fn write_low(&mut self, value: u8) {
        self.frequency = self.frequency & 0x700 | u16::from(value);
    }

    /// NRx4; whether the channel was triggered.
    /// `double` says that the CPU runs at its double speed, `slides` that the tone does.
    pub fn write_control(&mut self, value: u8, dot: u64, between: bool, double: bool, slides: bool) -> bool {
        self.frequency = self.frequency & 0xFF | u16::from(value & 7) << 8;
        if self.length.control(value, between) {
            self.on = false;
        }
        if value & 0x80 == 0 {
            return false;
        }
        let delay = match (self.on, slides, double) {
            (false, _, false) | (true, true, false) => 8,
            (false, _, true) => 10,
            (true, true, true) => 6,
            (true, false, false) => 4,
            (true, false, true) => 2,
        };
        self.at = dot + self.period() + delay;
        self.high &= self.on;
        self.on = self.envelope.has_converter();
        self.envelope.trigger();
        true
    }

    pub fn clock_length(&mut self, dot: u64) {
        if self.length.clock() {
            self.sync(dot);
            self.on = false;
        }
    }

    pub fn power_off(&mut self, keep_length: bool) {
        self.length.power_off(keep_length);
        *self = Self { length: self.length, ..Self::new() };
    }

    /// 0 to 15.
    pub fn level(&self) -> u8 {
        if self.on && self.high { self.envelope.volume } else { 0 }
    }
}

saved!(Pulse { on, length, envelope, frequency, duty, position, at, high });
