//! A fuzzer's bytes, taken from the front one decision at a time, and ROMs made of what is left.

use gameboy::{Compat, Model, Options};
use std::sync::Arc;

pub const BANK: usize = 0x4000;

/// Bytes to decide by; after the last one everything is 0.
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// `length` bytes: those that are left, again and again, so that a few decide what all of a ROM does.
    pub fn repeated(&self, length: usize) -> Vec<u8> {
        let pattern = if self.0.is_empty() { &[0][..] } else { self.0 };
        let mut bytes = pattern.repeat(length.div_ceil(pattern.len()));
        bytes.truncate(length);
        bytes
    }

    pub fn options(&mut self) -> Options {
        let choice = self.byte();
        let model = [Model::Auto, Model::Dmg, Model::Cgb, Model::Cgb][usize::from(choice & 3)];
        let compat = if choice & 4 == 0 { Compat::PyBoy } else { Compat::Hardware };
        let boot =
            (choice & 0x70 == 0x70).then(|| Arc::from(self.repeated(if choice & 2 == 0 { 0x100 } else { 0x900 })));
        Options { model, compat, sound: choice & 8 != 0, sample_rate: 48000, boot }
    }
}
