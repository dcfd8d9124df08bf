//! Samples of what is played: when they are due, and how four channels become two sides.

use super::{LONGEST, Sound};
use crate::Compat;
use crate::state::Saved;

/// Dots in a second.
const SECOND: u32 = 1 << 22;
/// A sample at every dot.
pub const HIGHEST_RATE: u32 = SECOND;
const FRAME: u64 = 70_224;
const NR50: usize = 0x14;
const NR51: usize = 0x15;

#[derive(Clone, Debug)]
pub(super) struct Samples {
    /// Dots from one to the next.
    pub interval: f64,
    /// The dot at which the next one is due. The reference adds the interval each time, and so do we: what rounding
    /// makes of that decides some samples.
    next: f64,
    /// Whether the present frame is sampled.
    pub on: bool,
    /// The reference has room for a frame and one more, and drops the rest of a longer one.
    most: usize,
    pub made: Vec<[i8; 2]>,
}

impl Samples {
    /// With a rate of 0 none is ever due.
    pub fn new(rate: u32) -> Self {
        let rate = rate.min(HIGHEST_RATE);
        let most = (FRAME * u64::from(rate)).div_ceil(u64::from(SECOND)) as usize + 1;
        let interval = f64::from(SECOND) / f64::from(rate);
        Self { interval, next: interval, most, on: false, made: Vec::new() }
    }

    /// Whether a loaded time can belong to `dot`: samples are due one by one. Without a number it cannot.
    pub fn is_consistent(&self, dot: u64) -> bool {
        self.next > dot as f64 - LONGEST as f64
    }

    pub fn begin_frame(&mut self, dot: u64, on: bool) {
        self.made.clear();
        self.on = on && self.interval.is_finite();
        let now = dot as f64;
        // Not so after a state of a console that makes other samples.
        let follows = self.next > now - FRAME as f64 && self.next <= now + self.interval;
        if !follows {
            self.next = ((now / self.interval).floor() + 1.0) * self.interval;
        }
    }

    /// The dot that the next sample shows, if it is due by `dot`.
    pub fn due(&mut self, dot: u64) -> Option<u64> {
        if self.next > dot as f64 {
            return None;
        }
        let shown = self.next.ceil() as u64;
        self.next += self.interval;
        Some(shown)
    }
}

/// Only when the next one is due: what was made stays.
impl Saved for Samples {
    fn put(&self, out: &mut Vec<u8>) {
        self.interval.to_bits().put(out);
        self.next.to_bits().put(out);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        let (mut interval, mut next) = (0u64, 0u64);
        interval.take(from)?;
        next.take(from)?;
        let is_ours = interval == self.interval.to_bits();
        self.next = if is_ours { f64::from_bits(next) } else { f64::INFINITY };
        Some(())
    }
}

impl Sound {
    /// Make a sample of what plays at `dot`.
    pub(super) fn sample(&mut self, dot: u64) {
        if self.samples.made.len() == self.samples.most {
            return;
        }
        self.take_steps(dot);
        if self.power {
            self.first.sync(dot);
            self.second.sync(dot);
            self.wave.sync(dot);
            self.noise.sync(dot);
        }
        let sample = self.mix();
        self.samples.made.push(sample);
    }

    /// Left and right.
    fn mix(&self) -> [i8; 2] {
        let levels = [self.first.level(), self.second.level(), self.wave.level(), self.noise.level()];
        let sides = [self.registers[NR51] >> 4, self.registers[NR51] & 15];
        if self.compat == Compat::PyBoy {
            return sides.map(|heard| chosen(heard, levels.map(|level| level as i8)).sum());
        }
        let converters = u8::from(self.first.envelope.has_converter())
            | u8::from(self.second.envelope.has_converter()) << 1
            | u8::from(self.wave.converter) << 2
            | u8::from(self.noise.envelope.has_converter()) << 3;
        let volumes = [self.registers[NR50] >> 4 & 7, self.registers[NR50] & 7];
        [0, 1].map(|side| {
            let voltage: i16 = chosen(sides[side] & converters, levels.map(|level| 15 - 2 * i16::from(level))).sum();
            (voltage * i16::from(volumes[side] + 1) / 4) as i8
        })
    }
}

fn chosen<T>(bits: u8, of: [T; 4]) -> impl Iterator<Item = T> {
    of.into_iter().enumerate().filter(move |(channel, _)| bits >> channel & 1 != 0).map(|(_, value)| value)
}
