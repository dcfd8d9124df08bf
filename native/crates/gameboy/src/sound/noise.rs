//! The channel of noise: a register of 15 bits that shifts, and feeds itself.
//!
//! On a Game Boy Color a counter goes on at the pace of NR43's lower bits, and the register shifts with one of its bits.
//! On the older console the reference counts down from one shift to the next.

use super::envelope::Envelope;
use super::length::Length;
use crate::machine::LATEST;
use crate::state::saved;

const ALL: u16 = 0x7FFF;
const SHORT: u8 = 8;
/// Dots by which a trigger delays the next step where the noise was playing already.
const DELAY_AGAIN: u64 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    pub on: bool,
    pub length: Length,
    pub envelope: Envelope,
    /// NR43.
    register: u8,
    bits: u16,
    /// Counts at the pace of NR43's lower bits; the register shifts when the bit that the upper ones name goes up.
    counter: u64,
    at: u64,
    color: bool,
}

impl Noise {
    pub fn new(color: bool) -> Self {
        Self {
            on: false,
            length: Length::new(64),
            envelope: Envelope::default(),
            register: 0,
            bits: ALL,
            counter: 0,
            at: 0,
            color,
        }
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        self.counter < LATEST && self.at < LATEST && self.envelope.is_consistent()
    }

    /// Dots between two steps of the counter; on the older console, between two shifts.
    fn period(&self) -> u64 {
        let step = match u64::from(self.register & 7) {
            0 => 4,
            divisor => 8 * divisor,
        };
        if self.color { step } else { (2 * step) << (self.register >> 4) }
    }

    /// How often the register has shifted when the counter has come to `counter`.
    fn shifts(&self, counter: u64) -> u64 {
        let bit = u32::from(self.register >> 4);
        (counter + (1 << bit)) >> (bit + 1)
    }

    /// Move on to `dot`.
    pub fn sync(&mut self, dot: u64) {
        if !self.on || self.at > dot {
            return;
        }
        let steps = (dot - self.at) / self.period() + 1;
        self.at += steps * self.period();
        if !self.color {
            self.shift(steps);
            return;
        }
        let before = self.shifts(self.counter);
        self.counter += steps;
        self.shift(self.shifts(self.counter) - before);
    }

    fn shift(&mut self, times: u64) {
        let short = self.register & SHORT != 0;
        // Both ways through its states are circles.
        let circle = if short { 127 } else { 32767 };
        let times = if times > 2 * circle { circle + times % circle } else { times };
        for _ in 0..times {
            let fed = (self.bits ^ self.bits >> 1) & 1;
            self.bits = self.bits >> 1 | fed << 14;
            if short {
                self.bits = self.bits & !0x40 | fed << 6;
            }
        }
    }

    pub fn write_envelope(&mut self, value: u8) {
        self.envelope.write(value, self.on, self.color);
        self.on &= self.envelope.has_converter();
    }

    pub fn write_pace(&mut self, value: u8, dot: u64) {
        let before = self.register;
        self.register = value;
        if !self.on || !self.color {
            return;
        }
        let bit = |register: u8| self.counter >> (register >> 4) & 1;
        if bit(before) < bit(value) {
            self.shift(1);
        }
        if (before ^ value) & 7 != 0 {
            self.at = dot + self.period();
        }
    }

    /// `clock` is how many dots the sound has been on.
    pub fn write_control(&mut self, value: u8, dot: u64, between: bool, clock: u64) {
        if self.length.control(value, between) {
            self.on = false;
        }
        if value & 0x80 != 0 {
            if !self.color {
                self.at = dot + self.period();
            } else if self.on {
                self.at += self.period() + DELAY_AGAIN;
            } else {
                self.counter = 0;
                self.at = dot + self.period() + self.delay(clock);
            }
            self.on = self.envelope.has_converter();
            self.envelope.trigger();
            self.bits = ALL;
        }
    }

    /// Dots by which a trigger delays the counter's first step: it keeps time with the sound's clock.
    fn delay(&self, clock: u64) -> u64 {
        match (self.register & 7, clock & 6) {
            (0, phase) => 8 + (phase & 2),
            (2.., 0) => 4,
            (_, phase) => 12 - phase,
        }
    }

    pub fn clock_length(&mut self, dot: u64) {
        if self.length.clock() {
            self.sync(dot);
            self.on = false;
        }
    }

    pub fn power_off(&mut self, keep_length: bool) {
        self.length.power_off(keep_length);
        *self = Self { length: self.length, ..Self::new(self.color) };
    }

    /// 0 to 15.
    pub fn level(&self) -> u8 {
        if self.on && self.bits & 1 == 0 { self.envelope.volume } else { 0 }
    }
}

saved!(Noise { on, length, envelope, register, bits, counter, at });
