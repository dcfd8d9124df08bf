//! The sound registers as the CPU sees them. No samples are made.

use crate::state::saved;

/// What reads as 1 in FF10 to FF2F, whatever was written.
const UNREADABLE: [u8; 32] = [
    0x80, 0x3F, 0x00, 0xFF, 0xBF, 0xFF, 0x3F, 0x00, 0xFF, 0xBF, 0x7F, 0xFF, 0x9F, 0xFF, 0xBF, 0xFF, //
    0xFF, 0x00, 0x00, 0xBF, 0x00, 0x00, 0x70, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
];
const NR52: usize = 0x16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sound {
    emulated: bool,
    registers: [u8; 0x20],
    wave: [u8; 16],
}

impl Sound {
    pub fn new(emulated: bool) -> Self {
        Self { emulated, registers: [0; 0x20], wave: [0xFF; 16] }
    }

    pub fn is_emulated(&self) -> bool {
        self.emulated
    }

    /// FF10 to FF3F.
    pub fn read(&self, address: u16) -> u8 {
        if !self.emulated {
            return 0;
        }
        let index = usize::from(address - 0xFF10);
        if index >= 0x20 { self.wave[index - 0x20] } else { self.registers[index] | UNREADABLE[index] }
    }

    pub fn write(&mut self, address: u16, value: u8) {
        let index = usize::from(address - 0xFF10);
        if index >= 0x20 {
            self.wave[index - 0x20] = value;
        } else if index == NR52 {
            self.registers[NR52] = value & 0x80;
            if value & 0x80 == 0 {
                self.registers = [0; 0x20];
            }
        } else if self.registers[NR52] & 0x80 != 0 {
            self.registers[index] = value;
        }
    }
}

saved!(Sound { registers, wave });
