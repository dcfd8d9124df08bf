//! ROMs for tests: a header around a few bytes of code.

#![allow(dead_code)] // every test file uses some of it

use std::sync::Arc;

use gameboy::{GameBoy, Options, Rom};

/// 32 KiB with `code` at 0150, and an entry point that jumps there.
pub fn rom_of(code: &[u8]) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xC3, 0x50, 0x01]);
    rom[0x150..0x150 + code.len()].copy_from_slice(code);
    rom
}

/// A console that has run the code for a frame.
pub fn started(code: &[u8]) -> GameBoy {
    let mut gameboy = GameBoy::new(Arc::new(Rom::new(&rom_of(code)).unwrap()), &Options::default());
    gameboy.tick(2, false);
    gameboy
}

/// A small generator, so that random tests can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u8
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.byte()).collect()
    }
}
