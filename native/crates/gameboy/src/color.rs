//! What only a Game Boy Color has: banks of video and work RAM, and palettes of 15-bit colors.

use crate::state::saved;

/// A palette before anything is written to it, in the reference.
const FRESH: [u8; 8] = [0xE7, 0x1C, 0x19, 0x1E, 0x31, 0x7E, 0x7B, 0x21];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Color {
    /// As written to FF4F and FF70.
    vbk: u8,
    svbk: u8,
    /// FF4C, and FF4D, whose bit 0 asks for the other speed at the next STOP; it reads back as written.
    pub key0: u8,
    pub key1: u8,
    /// FF72 to FF75, which nobody uses.
    pub undocumented: [u8; 4],
    pub background: Palettes,
    pub objects: Palettes,
    /// FF6C: 1 gives sprites the priorities of the older console.
    pub priority: u8,
}

/// Eight palettes of four colors, and the register that says which byte is written next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palettes {
    pub bytes: [u8; 64],
    pub index: u8,
}

impl Default for Palettes {
    fn default() -> Self {
        let mut bytes = [0; 64];
        bytes.chunks_exact_mut(8).for_each(|palette| palette.copy_from_slice(&FRESH));
        Self { bytes, index: 0 }
    }
}

impl Default for Color {
    fn default() -> Self {
        Self {
            vbk: 0,
            svbk: 0,
            key0: 0,
            key1: 0,
            undocumented: [0; 4],
            background: Palettes::default(),
            objects: Palettes::default(),
            priority: 1,
        }
    }
}

impl Color {
    pub fn vram_bank(&self) -> u8 {
        self.vbk & 1
    }

    /// 1 to 7.
    pub fn wram_bank(&self) -> u8 {
        (self.svbk & 7).max(1)
    }

    pub fn vbk(&self) -> u8 {
        self.vbk
    }

    pub fn svbk(&self) -> u8 {
        self.svbk
    }

    pub fn select_vram(&mut self, value: u8) {
        self.vbk = value & 1;
    }

    pub fn select_wram(&mut self, value: u8) {
        self.svbk = value & 7;
    }
}

impl Palettes {
    pub fn data(&self) -> u8 {
        self.bytes[usize::from(self.index & 0x3F)]
    }

    pub fn write(&mut self, value: u8) {
        self.bytes[usize::from(self.index & 0x3F)] = value;
        if self.index & 0x80 != 0 {
            self.index = 0x80 | (self.index + 1) & 0x3F;
        }
    }

    pub fn write_unless(&mut self, locked: bool, value: u8) {
        if !locked {
            self.write(value);
        } else if self.index & 0x80 != 0 {
            self.index = 0x80 | (self.index + 1) & 0x3F;
        }
    }

    pub fn set(&mut self, palette: usize, colors: [u16; 4]) {
        let bytes = colors.map(u16::to_le_bytes);
        self.bytes[8 * palette..8 * palette + 8].copy_from_slice(bytes.as_flattened());
    }

    /// Color `number` of palette `palette`, 5 bits each of blue, green, red.
    pub fn color(&self, palette: u8, number: u8) -> u16 {
        let at = usize::from(palette & 7) * 8 + usize::from(number & 3) * 2;
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]) & 0x7FFF
    }
}

saved!(Palettes { bytes, index });
saved!(Color { vbk, svbk, key0, key1, undocumented, background, objects, priority });
