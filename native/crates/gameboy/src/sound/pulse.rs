//! A channel of square waves.
//!
//! A Game Boy Color's stands still while it is silent, and shows what its position gave when it last moved. The older
//! console's runs on, silent or not, and shows its position at once.

use super::envelope::Envelope;
use super::length::Length;
use super::sweep::HIGHEST;
use crate::machine::LATEST;
use crate::state::saved;

/// Dots between two moves of the highest tone.
const SHORTEST: u64 = 4;
const DUTIES: [u8; 4] = [0b1000_0000, 0b1000_0001, 0b1110_0001, 0b0111_1110];

#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    pub on: bool,
    pub length: Length,
    pub envelope: Envelope,
    pub frequency: u16,
    duty: u8,
    position: u8,
    /// The dot at which the position moves on; without power, how many dots are left.
    at: u64,
    /// Whether it is the older console's.
    runs_on: bool,
    /// The frequency has never been written: then the reference moves as fast as it can.
    untold: bool,
    /// What the position gave when it last moved; a tone that is triggered anew is silent until then.
    high: bool,
}

impl Pulse {
    pub fn new(runs_on: bool) -> Self {
        Self {
            on: false,
            length: Length::new(64),
            envelope: Envelope::default(),
            frequency: 0,
            duty: 0,
            position: 0,
            at: 0,
            runs_on,
            untold: runs_on,
            high: false,
        }
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        let known = usize::from(self.duty) < DUTIES.len() && self.position < 8 && self.frequency <= HIGHEST;
        known && self.at < LATEST && self.envelope.is_consistent()
    }

    fn period(&self) -> u64 {
        if self.untold { SHORTEST } else { SHORTEST * (2048 - u64::from(self.frequency)) }
    }

    /// The frequency is written, or slides.
    pub fn set_frequency(&mut self, frequency: u16) {
        self.frequency = frequency;
        self.untold = false;
    }

    /// Time goes on from where it stood without power.
    pub fn power_on(&mut self, dot: u64) {
        self.at += dot;
    }

    /// Move on to `dot`.
    pub fn sync(&mut self, dot: u64) {
        if (self.on || self.runs_on) && self.at <= dot {
            let steps = (dot - self.at) / self.period() + 1;
            self.position = ((u64::from(self.position) + steps) & 7) as u8;
            self.at += steps * self.period();
            self.high = self.is_high();
        }
    }

    fn is_high(&self) -> bool {
        DUTIES[usize::from(self.duty)] >> self.position & 1 != 0
    }

    pub fn write_duty(&mut self, value: u8) {
        self.duty = value >> 6;
        self.length.load(value);
    }

    pub fn write_envelope(&mut self, value: u8) {
        self.envelope.write(value, self.on, !self.runs_on);
        self.on &= self.envelope.has_converter();
    }

    pub fn write_low(&mut self, value: u8) {
        self.set_frequency(self.frequency & 0x700 | u16::from(value));
    }

    /// NRx4; whether the channel was triggered. `delays` are the dots by which a trigger delays the first move of a silent
    /// channel and of one that plays.
    pub fn write_control(&mut self, value: u8, dot: u64, between: bool, delays: (u64, u64)) -> bool {
        self.set_frequency(self.frequency & 0xFF | u16::from(value & 7) << 8);
        if self.length.control(value, between) {
            self.on = false;
        }
        if value & 0x80 == 0 {
            return false;
        }
        self.at = dot + self.period() + if self.on { delays.1 } else { delays.0 };
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

    pub fn power_off(&mut self, dot: u64, keep_length: bool) {
        self.sync(dot);
        self.length.power_off(keep_length);
        let silent = Self { length: self.length, untold: false, ..Self::new(self.runs_on) };
        *self = if self.runs_on {
            Self { position: self.position, at: self.at.saturating_sub(dot), ..silent }
        } else {
            silent
        };
    }

    /// 0 to 15.
    pub fn level(&self) -> u8 {
        let high = if self.runs_on { self.is_high() } else { self.high };
        if self.on && high { self.envelope.volume } else { 0 }
    }
}

saved!(Pulse { on, length, envelope, frequency, duty, position, at, untold, high });
