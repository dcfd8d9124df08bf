//! Copies without the CPU: to OAM, and to the video RAM of a Game Boy Color.

use crate::bus::When;
use crate::cpu::Bus;
use crate::machine::{Machine, VRAM};
use crate::state::saved;

const LENGTH: u64 = 0xA0;
/// Cycles from the write to the first byte.
const DELAY: u64 = 12;
/// Cycles that the CPU waits for a copy in an HBlank; for the others the reference does not wait at all.
const HBLANK_COPY: u64 = 206;

/// The copy to OAM: a byte every four cycles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dma {
    /// What FF46 reads.
    pub register: u8,
    active: bool,
    start: u64,
    copied: u64,
    /// OAM reads FF from here on.
    hides_from: u64,
}

impl Dma {
    pub fn is_active(&self) -> bool {
        self.active
    }

    pub fn hides_oam(&self, now: u64) -> bool {
        self.active && now >= self.hides_from
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self, now: u64) -> bool {
        self.copied <= LENGTH && self.start <= now + DELAY && self.hides_from <= now + DELAY
    }
}

/// The copy to video RAM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hdma {
    pub source: u16,
    pub target: u16,
    /// Blocks of 16 bytes left, minus 1.
    left: u8,
    waiting: bool,
    /// What FF55 reads when no copy is under way.
    ended: u8,
}

impl Default for Hdma {
    fn default() -> Self {
        Self { source: 0, target: 0, left: 0, waiting: false, ended: 0xFF }
    }
}

impl Hdma {
    /// Whether a block is copied in every HBlank.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    pub fn status(&self) -> u8 {
        if self.waiting { self.left } else { self.ended }
    }
}

impl Machine {
    pub fn start_dma(&mut self, now: u64, value: u8) {
        self.dma.register = value;
        // One that has not begun yet hides OAM all the same.
        if !self.dma.active || self.dma.hides_from <= now {
            self.dma.hides_from = now + DELAY;
        }
        self.dma.start = now + DELAY;
        self.dma.copied = 0;
        self.dma.active = true;
        // Lines are drawn, and their length found, with the sprites that have been copied when the reference looks.
        self.horizon = self.horizon.min(self.cycle_of(self.lcd.at));
        self.map();
    }

    /// Copy what is due up to `now`.
    pub fn sync_dma(&mut self, now: u64) {
        self.copy_due(now, false);
    }

    /// In the reference, what is due when an operand is fetched from elsewhere than ROM is kept from video RAM as that
    /// fetch would be.
    #[cold]
    pub fn copy_for_operand(&mut self, when: When) {
        if self.dma.register >> 5 == 4 {
            self.sync_dma(when.at - 4);
            let locked = self.lcd.is_drawing_at(self.dots(when.at));
            self.copy_due(when.at, locked);
        }
    }

    fn copy_due(&mut self, now: u64, locked: bool) {
        if now < self.dma.start {
            return;
        }
        let due = ((now - self.dma.start) / 4).min(LENGTH);
        let source = u16::from(self.dma.register) << 8;
        while self.dma.copied < due {
            let from = source + self.dma.copied as u16;
            let from = if from >= 0xE000 { from - 0x2000 } else { from };
            // Not by the CPU's way to video RAM, which looks at the LCD, which looks at this copy.
            self.oam[self.dma.copied as usize] = match from >> 13 {
                _ if locked => 0xFF,
                4 => self.ram[self.video_offset(from)],
                _ => self.read(now, 1, from),
            };
            self.dma.copied += 1;
        }
        if due == LENGTH {
            self.dma.active = false;
            self.map();
        }
    }

    /// FF55: start a copy, or stop the one that is under way.
    pub fn start_hdma(&mut self, now: u64, value: u8) {
        if self.hdma.waiting && value & 0x80 == 0 {
            self.hdma.waiting = false;
            self.hdma.ended = 0x80;
            return;
        }
        self.hdma.left = value & 0x7F;
        if value & 0x80 != 0 {
            self.hdma.waiting = true;
            return;
        }
        while self.copy_block(now) {}
    }

    pub fn copy_hdma_block(&mut self) {
        let now = self.cycle_of(self.lcd.at);
        // A block that is read from the LCD's registers would find this HBlank due again.
        self.hdma.waiting = false;
        self.hdma.waiting = self.copy_block(now);
        self.stall += HBLANK_COPY;
        self.stop_soon();
    }

    /// Copy 16 bytes; whether more are left.
    fn copy_block(&mut self, now: u64) -> bool {
        let bank = VRAM + 0x2000 * usize::from(self.color.vram_bank());
        for _ in 0..16 {
            let value = self.read(now, 1, self.hdma.source);
            self.ram[bank + usize::from(self.hdma.target & 0x1FFF)] = value;
            self.hdma.source = self.hdma.source.wrapping_add(1);
            self.hdma.target = self.hdma.target.wrapping_add(1);
        }
        let more = self.hdma.left != 0;
        self.hdma.ended = 0xFF;
        self.hdma.left = self.hdma.left.wrapping_sub(1) & 0x7F;
        more
    }
}

saved!(Dma { register, active, start, copied, hides_from });
saved!(Hdma { source, target, left, waiting, ended });
