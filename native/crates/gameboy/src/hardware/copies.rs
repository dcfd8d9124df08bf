//! Copies without the CPU: to OAM, a byte in every M-cycle, and to the video RAM of a Game Boy Color.

use super::HardwareBus;
use crate::machine::VRAM;
use crate::state::saved;

const LENGTH: u8 = 0xA0;
/// M-cycles after the write in which nothing is copied yet.
const DELAY: u8 = 2;
/// CPU cycles of a block of 16 bytes, and of starting: twice as many at the double speed, as the copy keeps its pace.
const BLOCK: u64 = 32;
const START: u64 = 4;

/// FF46.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OamCopy {
    pub register: u8,
    /// M-cycles until what was written last begins; 0 if nothing waits.
    waits: u8,
    running: bool,
    source: u8,
    /// Bytes copied; after the last one OAM is not free yet for the rest of the M-cycle.
    copied: u8,
    /// The byte that is on the bus.
    byte: u8,
}

impl OamCopy {
    pub fn is_consistent(&self) -> bool {
        self.copied <= LENGTH && (!self.running || self.copied > 0) && self.waits <= DELAY
    }

    pub fn start(&mut self, value: u8) {
        self.register = value;
        self.waits = DELAY;
    }

    /// Whether OAM belongs to the copy.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// What the CPU finds at `address` instead of what is there, if the copy keeps that bus busy.
    pub fn conflict(&self, address: u16, color: bool) -> Option<u8> {
        let busy = self.running && bus_of(address, color) == bus_of(u16::from(self.source) << 8, color);
        (busy && address < 0xFE00).then_some(self.byte)
    }
}

/// Video RAM has a bus of its own; on a Game Boy Color work RAM as well.
fn bus_of(address: u16, color: bool) -> u8 {
    match address >> 13 {
        4 => 1,
        6 | 7 if color => 2,
        _ => 0,
    }
}

/// FF51 to FF55.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HdmaCopy {
    pub source: u16,
    pub target: u16,
    /// Blocks of 16 bytes left, minus 1.
    left: u8,
    /// A block is copied in every HBlank.
    waiting: bool,
}

impl HdmaCopy {
    /// FF55: bit 7 says that nothing is under way; then the rest is how much was left when it was stopped.
    pub fn status(&self) -> u8 {
        self.left & 0x7F | u8::from(!self.waiting) << 7
    }

    pub fn finished() -> Self {
        Self { left: 0x7F, ..Self::default() }
    }
}

impl HardwareBus<'_> {
    /// One M-cycle of the copy to OAM.
    pub(super) fn copy_to_oam(&mut self) {
        let copy = &mut self.hardware.oam_copy;
        if copy.copied == LENGTH {
            copy.running = false;
        }
        if copy.waits > 0 {
            copy.waits -= 1;
            if copy.waits == 0 {
                (copy.running, copy.source, copy.copied) = (true, copy.register, 0);
            }
        }
        if copy.running {
            let (page, at) = (copy.source, copy.copied);
            let byte = self.byte_for_copy(u16::from(page) << 8 | u16::from(at));
            self.machine.oam[usize::from(at)] = byte;
            let copy = &mut self.hardware.oam_copy;
            (copy.byte, copy.copied) = (byte, at + 1);
        }
    }

    /// Beyond work RAM its echo goes on.
    fn byte_for_copy(&mut self, from: u16) -> u8 {
        let from = if from >= 0xE000 { from - 0x2000 } else { from };
        self.byte_behind_locks(from)
    }

    pub(super) fn write_hdma(&mut self, value: u8) {
        let hdma = &mut self.hardware.hdma;
        if hdma.waiting && value & 0x80 == 0 {
            hdma.waiting = false;
            return;
        }
        hdma.left = value & 0x7F;
        hdma.waiting = value & 0x80 != 0;
        if hdma.waiting {
            if self.hardware.ppu.is_in_hblank() || !self.hardware.ppu.is_on() {
                self.copy_in_hblank();
            }
            return;
        }
        self.stall += START;
        while self.copy_block() {}
        self.hardware.hdma.left = 0x7F;
    }

    /// An HBlank began.
    pub(super) fn copy_in_hblank(&mut self) {
        if self.hardware.hdma.waiting {
            self.stall += START;
            self.hardware.hdma.waiting = self.copy_block();
        }
    }

    /// Copy 16 bytes; whether more are left.
    fn copy_block(&mut self) -> bool {
        let bank = VRAM + 0x2000 * usize::from(self.machine.color.vram_bank());
        for _ in 0..16 {
            let (source, target) = (self.hardware.hdma.source, self.hardware.hdma.target);
            // Video RAM cannot be read while it is written, and what is above work RAM is not on the bus.
            let value = if matches!(source, 0x8000..0xA000 | 0xE000..) { 0xFF } else { self.byte_behind_locks(source) };
            self.machine.ram[bank + usize::from(target & 0x1FFF)] = value;
            self.hardware.hdma.source = source.wrapping_add(1);
            self.hardware.hdma.target = target.wrapping_add(1);
        }
        self.stall += BLOCK << u32::from(self.machine.double);
        let hdma = &mut self.hardware.hdma;
        let more = hdma.left != 0;
        hdma.left = hdma.left.wrapping_sub(1) & 0x7F;
        more
    }
}

saved!(OamCopy { register, waits, running, source, copied, byte });
saved!(HdmaCopy { source, target, left, waiting });
