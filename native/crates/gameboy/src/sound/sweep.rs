//! The tone of channel 1 that slides, and ends the channel where it would leave the scale.

use crate::state::saved;

/// The highest frequency there is.
pub(super) const HIGHEST: u16 = 0x7FF;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sweep {
    register: u8,
    /// The frequency it slides from.
    shadow: u16,
    timer: u8,
    enabled: bool,
    /// A frequency was computed downwards since the trigger: to turn it upwards now ends the channel.
    fell: bool,
}

/// What a step does to the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slide {
    Stays,
    To(u16),
    Ends,
    /// To a frequency after which the next one is beyond the scale.
    Last(u16),
}

impl Sweep {
    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        self.shadow <= HIGHEST
    }

    fn period(&self) -> u8 {
        match self.register >> 4 & 7 {
            0 => 8,
            period => period,
        }
    }

    fn shift(&self) -> u8 {
        self.register & 7
    }

    fn falls(&self) -> bool {
        self.register & 8 != 0
    }

    pub fn slides(&self) -> bool {
        self.register & 0x77 != 0
    }

    /// NR10 is written; whether that ends the channel.
    pub fn write(&mut self, value: u8) -> bool {
        self.register = value;
        self.fell && !self.falls()
    }

    /// Whether the channel ends at once.
    pub fn trigger(&mut self, frequency: u16) -> bool {
        self.shadow = frequency;
        self.timer = self.period();
        self.enabled = self.slides();
        self.fell = false;
        self.shift() != 0 && self.next() > HIGHEST
    }

    fn next(&mut self) -> u16 {
        let change = self.shadow >> self.shift();
        if self.falls() {
            self.fell = true;
            self.shadow - change
        } else {
            self.shadow + change
        }
    }

    pub fn clock(&mut self) -> Slide {
        self.timer = self.timer.saturating_sub(1);
        if self.timer != 0 {
            return Slide::Stays;
        }
        self.timer = self.period();
        if !self.enabled || self.register & 0x70 == 0 {
            return Slide::Stays;
        }
        let next = self.next();
        if next > HIGHEST {
            return Slide::Ends;
        }
        if self.shift() == 0 {
            return Slide::Stays;
        }
        self.shadow = next;
        if self.next() > HIGHEST { Slide::Last(next) } else { Slide::To(next) }
    }
}

saved!(Sweep { register, shadow, timer, enabled, fell });
