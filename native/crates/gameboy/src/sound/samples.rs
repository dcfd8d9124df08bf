//! Samples of what is played: when they are due, and how four channels become two sides.

use super::Sound;
use crate::Compat;
use crate::state::Saved;

/// Dots in a second.
pub(crate) const SECOND: u32 = 1 << 22;
const FRAME: u64 = 70_224;
const NR50: usize = 0x14;
const NR51: usize = 0x15;

#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    /// Dots from one to the next; 0 where none are made.
    interval: f64,
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
    pub fn new(rate: u32) -> Self {
        if rate == 0 {
            return Self::default();
        }
        let rate = rate.min(SECOND);
        let most = (FRAME * u64::from(rate)).div_ceil(u64::from(SECOND)) as usize + 1;
        Self { interval: f64::from(SECOND) / f64::from(rate), most, ..Self::default() }
    }

    pub fn begin_frame(&mut self, dot: u64, on: bool) {
        self.made.clear();
        self.on = on && self.interval > 0.0;
        let now = dot as f64;
        // Not so at first, and after a state of a console that makes other samples, or none.
        let follows = self.next > now - FRAME as f64 && self.next <= now + self.interval;
        if !follows && self.interval > 0.0 {
            self.next = ((now / self.interval).floor() + 1.0) * self.interval;
        }
        self.pass(dot);
    }

    /// Forget those that are due by now.
    pub fn pass(&mut self, dot: u64) {
        while self.interval > 0.0 && self.next <= dot as f64 {
            self.next += self.interval;
        }
    }

    /// The dot that the next sample shows, if it is due by `dot`.
    fn due(&mut self, dot: u64) -> Option<u64> {
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
        self.next = if is_ours { f64::from_bits(next) } else { 0.0 };
        Some(())
    }
}

impl Sound {
    /// Make the samples that are due by `dot`.
    pub(super) fn sample(&mut self, dot: u64) {
        while let Some(shown) = self.samples.due(dot) {
            if self.samples.made.len() == self.samples.most {
                continue;
            }
            self.take_steps(shown);
            self.first.sync(shown);
            self.second.sync(shown);
            self.wave.sync(shown);
            self.noise.sync(shown);
            let sample = self.mix();
            self.samples.made.push(sample);
        }
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
