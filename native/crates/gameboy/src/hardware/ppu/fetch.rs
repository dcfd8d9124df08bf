//! The fetcher of tiles: two dots each for a tile's number and its two bytes, then it waits until the queue is empty.

use super::Ppu;
use super::transfer::COMPLETE;
use crate::draw::background_tile;
use crate::machine::{Machine, VRAM};

impl Ppu {
    /// One dot of fetching.
    pub(super) fn fetch(&mut self, machine: &Machine) {
        match self.transfer.step {
            1 => self.fetch_number(machine),
            3 => self.transfer.tile_low = self.fetch_bits(machine)[0],
            COMPLETE => {
                self.transfer.tile_high = self.fetch_bits(machine)[1];
                if self.transfer.queued == 0 {
                    self.queue_tile();
                }
                return;
            }
            _ => {}
        }
        self.transfer.step += 1;
    }

    /// The line of the map that tiles are taken from.
    fn map_line(&self) -> u8 {
        if self.transfer.in_window { self.window_line } else { self.line.wrapping_add(self.scy) }
    }

    fn fetch_number(&mut self, machine: &Machine) {
        let chosen = if self.transfer.in_window { 0x40 } else { 0x08 };
        let map = if self.lcdc & chosen != 0 { 0x1C00 } else { 0x1800 };
        let first = if self.transfer.in_window { 0 } else { self.scx >> 3 };
        let column = usize::from(first.wrapping_add(self.transfer.column) & 31);
        let at = VRAM + map + usize::from(self.map_line() >> 3) * 32 + column;
        self.transfer.tile = machine.ram[at];
        self.transfer.tile_attributes = if machine.color_mode { machine.ram[at + 0x2000] } else { 0 };
    }

    fn fetch_bits(&self, machine: &Machine) -> [u8; 2] {
        let attributes = self.transfer.tile_attributes;
        let line = self.map_line() & 7;
        let line = if attributes & 0x40 != 0 { 7 - line } else { line };
        let bits = machine.tile_line(background_tile(self.lcdc, self.transfer.tile), line, attributes);
        if attributes & 0x20 != 0 { bits.map(u8::reverse_bits) } else { bits }
    }

    fn queue_tile(&mut self) {
        let transfer = &mut self.transfer;
        (transfer.low, transfer.high) = (transfer.tile_low, transfer.tile_high);
        transfer.attributes = transfer.tile_attributes;
        transfer.queued = 8;
        transfer.column = transfer.column.wrapping_add(1);
        transfer.step = 0;
    }
}
