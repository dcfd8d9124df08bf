//! The channel that plays 32 samples from memory.

use super::length::Length;
use super::sweep::HIGHEST;
use crate::machine::LATEST;
use crate::state::saved;

/// Dots by which a trigger delays the first step.
const DELAY: u64 = 5;
/// Dots before a step at which it reads its next byte.
const READING: u64 = 1;
/// By how much a sample is shifted when NR32 silences it, which is not so before the power was ever off.
const SILENT: u8 = 4;
/// Dots for which the older console's CPU reaches a byte that begins to play.
const MOMENT: u64 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Wave {
    pub on: bool,
    pub length: Length,
    pub memory: [u8; 16],
    pub converter: bool,
    /// How far samples are shifted, as NR32 says.
    shift: u8,
    frequency: u16,
    position: u8,
    at: u64,
    /// The dot at which it moved last.
    stepped: u64,
    /// The position that is heard; after a trigger that is the last one from before.
    heard: u8,
    /// Triggered anew, it is silent until its position first moves.
    silent: bool,
}

impl Wave {
    pub fn new() -> Self {
        Self {
            on: false,
            length: Length::new(256),
            memory: [0xFF; 16],
            converter: false,
            shift: 0,
            frequency: 0,
            position: 0,
            at: 0,
            stepped: 0,
            heard: 0,
            silent: false,
        }
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        let known = self.position < 32 && self.heard < 32 && self.shift <= SILENT && self.frequency <= HIGHEST;
        known && self.at < LATEST && self.stepped < LATEST
    }

    fn period(&self) -> u64 {
        2 * (2048 - u64::from(self.frequency))
    }

    /// Move on to `dot`.
    pub fn sync(&mut self, dot: u64) {
        if self.on && self.at <= dot {
            let steps = (dot - self.at) / self.period() + 1;
            self.position = ((u64::from(self.position) + steps) & 31) as u8;
            self.at += steps * self.period();
            self.stepped = self.at - self.period();
            self.heard = self.position;
            self.silent = false;
        }
    }

    /// The moment in which the position moved is over.
    pub fn settle(&mut self) {
        self.stepped = 0;
    }

    pub fn write_converter(&mut self, value: u8) {
        self.converter = value & 0x80 != 0;
        self.on &= self.converter;
    }

    pub fn write_volume(&mut self, value: u8) {
        self.shift = [SILENT, 0, 1, 2][usize::from(value >> 5 & 3)];
    }

    pub fn write_low(&mut self, value: u8) {
        self.frequency = self.frequency & 0x700 | u16::from(value);
    }

    pub fn write_control(&mut self, value: u8, dot: u64, between: bool, color: bool) {
        self.frequency = self.frequency & 0xFF | u16::from(value & 7) << 8;
        if self.length.control(value, between) {
            self.on = false;
        }
        if value & 0x80 != 0 {
            if self.on && !color && self.at == dot + READING {
                self.corrupt();
            }
            // The older console plays its first sample at once.
            self.silent = color && (self.silent || !self.on);
            self.heard = if color { self.position } else { 0 };
            self.on = self.converter;
            self.position = 0;
            self.at = dot + self.period() + DELAY;
        }
    }

    /// Triggered while it reads a byte, the older console writes that to the first one, or from the fifth on the four
    /// that the byte belongs to.
    fn corrupt(&mut self) {
        let read = usize::from(((self.position + 1) & 31) >> 1);
        if read < 4 {
            self.memory[0] = self.memory[read];
        } else {
            self.memory.copy_within(read & !3..(read & !3) + 4, 0);
        }
    }

    pub fn clock_length(&mut self, dot: u64) {
        if self.length.clock() {
            self.sync(dot);
            self.on = false;
        }
    }

    pub fn read(&self, index: usize, dot: u64, color: bool) -> u8 {
        self.reach(index, dot, color).map_or(0xFF, |index| self.memory[index])
    }

    pub fn write(&mut self, index: usize, value: u8, dot: u64, color: bool) {
        if let Some(index) = self.reach(index, dot, color) {
            self.memory[index] = value;
        }
    }

    /// Which byte the CPU reaches: while it plays that is the one that plays, and the older console reaches that only in
    /// the moment at which the position moves.
    fn reach(&self, index: usize, dot: u64, color: bool) -> Option<usize> {
        if !self.on {
            return Some(index);
        }
        (color || dot < self.stepped + MOMENT).then_some(usize::from(self.position >> 1))
    }

    pub fn power_off(&mut self, keep_length: bool) {
        self.length.power_off(keep_length);
        *self = Self { length: self.length, memory: self.memory, shift: SILENT, ..Self::new() };
    }

    /// 0 to 15.
    pub fn level(&self) -> u8 {
        let byte = self.memory[usize::from(self.heard >> 1)];
        let sample = if self.heard & 1 == 0 { byte >> 4 } else { byte & 15 };
        if self.on && !self.silent { sample >> self.shift } else { 0 }
    }
}

saved!(Wave { on, length, memory, converter, shift, frequency, position, at, stepped, heard, silent });
