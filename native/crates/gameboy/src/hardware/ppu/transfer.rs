//! Mode 3: pixels leave two queues, one for the background and one for sprites, while tiles are fetched into them.
//!
//! The line begins eight pixels left of the screen, so that sprites can come in from there. Eight pixels of nothing are
//! queued at first; the fine scroll lets some of them go by before counting begins.

use super::Ppu;
use crate::machine::Machine;
use crate::screen::WIDTH;
use crate::state::saved;

/// The first position, in which the fine scroll is waited for, and the one in which a line begins.
const WAITING: i16 = -16;
const BEGIN: i16 = -8;
const END: i16 = WIDTH as i16;
/// Dots before the first pixel moves; more of them in the line in which the LCD goes on.
const DELAY: u8 = 1;
const FIRST_DELAY: u8 = 3;
/// Dots of fetching a sprite, once the tile that is being fetched is there.
const SPRITE: u8 = 6;
/// The fetcher's step in which a tile is complete.
pub(super) const COMPLETE: u8 = 5;
const NOBODY: u8 = 0xFF;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transfer {
    delay: u8,
    /// The column of the pixel that comes next.
    x: i16,
    /// The background's queue: two bits of each pixel, the next one highest, and the attributes of all.
    pub low: u8,
    pub high: u8,
    pub attributes: u8,
    pub queued: u8,
    /// The fetcher: its step, the column of tiles, and what it found.
    pub step: u8,
    pub column: u8,
    pub tile: u8,
    pub tile_attributes: u8,
    pub tile_low: u8,
    pub tile_high: u8,
    /// The window has begun in this line.
    pub in_window: bool,
    /// Sprites of the line that have been fetched, a bit each; the one that is being fetched, and dots that it takes yet.
    fetched: u16,
    fetching: u8,
    sprite_dots: u8,
    /// The queue of sprites: color, attributes and number of each pixel.
    objects: [[u8; 3]; 8],
}

impl Transfer {
    pub fn new(first_line: bool) -> Self {
        let delay = if first_line { FIRST_DELAY } else { DELAY };
        Self { delay, x: WAITING, queued: 8, fetching: NOBODY, ..Self::default() }
    }

    /// Whether loaded fields can belong together while a line is drawn.
    pub fn is_consistent(&self) -> bool {
        let sprite = self.fetching == NOBODY || self.fetching < 10 && self.sprite_dots > 0;
        (WAITING..END).contains(&self.x) && self.step <= COMPLETE && self.queued <= 8 && sprite
    }
}

impl Ppu {
    /// One dot; whether the line is through.
    pub(super) fn transfer_dot(&mut self, machine: &mut Machine) -> bool {
        if self.transfer.delay > 0 {
            self.transfer.delay -= 1;
            return false;
        }
        if self.transfer.x < BEGIN && (self.transfer.x & 7) as u8 == self.scx & 7 {
            self.transfer.x = BEGIN;
        }
        if self.transfer.fetching == NOBODY {
            self.start_window();
            self.find_sprite(machine);
        }
        if self.transfer.fetching != NOBODY {
            self.fetch_sprite(machine);
            return false;
        }
        if self.transfer.queued > 0 {
            self.shift(machine);
        }
        self.fetch(machine);
        self.transfer.x == END
    }

    fn start_window(&mut self) {
        let transfer = &mut self.transfer;
        let here = i16::from(self.wx) - 7 == transfer.x && transfer.x > BEGIN;
        if self.lcdc & 0x20 != 0 && self.window_reached && here && !transfer.in_window {
            transfer.in_window = true;
            transfer.queued = 0;
            transfer.step = 0;
            transfer.column = 0;
            self.window_line = self.window_line.wrapping_add(1);
        }
    }

    /// The first sprite of the line that begins here and has not been fetched.
    fn find_sprite(&mut self, machine: &Machine) {
        let transfer = &mut self.transfer;
        if self.found == 0 || transfer.x < BEGIN || self.lcdc & 2 == 0 && !machine.is_color {
            return;
        }
        let sprites = self.sprites[..usize::from(self.found)].iter();
        let here = sprites.enumerate().find(|(index, number)| {
            let column = machine.oam[usize::from(**number) * 4 + 1];
            transfer.fetched >> index & 1 == 0 && i16::from(column) - 8 == transfer.x
        });
        if let Some((index, _)) = here {
            transfer.fetched |= 1 << index;
            transfer.fetching = index as u8;
            let at_edge = transfer.x == BEGIN;
            transfer.sprite_dots = SPRITE + if at_edge { self.scx & 7 } else { 0 };
        }
    }

    fn fetch_sprite(&mut self, machine: &mut Machine) {
        if self.transfer.step < COMPLETE || self.transfer.queued == 0 {
            self.fetch(machine);
            return;
        }
        self.transfer.sprite_dots -= 1;
        if self.transfer.sprite_dots == 0 {
            let number = self.sprites[usize::from(self.transfer.fetching)];
            self.transfer.fetching = NOBODY;
            self.queue_sprite(machine, number);
        }
    }

    fn queue_sprite(&mut self, machine: &Machine, number: u8) {
        let at = usize::from(number) * 4;
        let [y, _, tile, attributes] = [0, 1, 2, 3].map(|byte| machine.oam[at + byte]);
        let (height, tile) = if self.lcdc & 4 != 0 { (16, tile & 0xFE) } else { (8, tile) };
        let line = (self.line + 16).wrapping_sub(y) & (height - 1);
        let line = if attributes & 0x40 != 0 { height - 1 - line } else { line };
        let mut bits = machine.tile_line(usize::from(tile), line, attributes);
        if attributes & 0x20 != 0 {
            bits = bits.map(u8::reverse_bits);
        }
        let by_number = machine.color_mode && machine.color.priority & 1 == 0;
        for (pixel, queued) in self.transfer.objects.iter_mut().enumerate() {
            let color = bits[0] >> (7 - pixel) & 1 | (bits[1] >> (7 - pixel) & 1) << 1;
            if color != 0 && (queued[0] == 0 || by_number && number < queued[2]) {
                *queued = [color, attributes, number];
            }
        }
    }

    /// A pixel leaves the queues.
    fn shift(&mut self, machine: &mut Machine) {
        let transfer = &mut self.transfer;
        let under = transfer.low >> 7 | transfer.high >> 7 << 1;
        let attributes = transfer.attributes;
        transfer.low <<= 1;
        transfer.high <<= 1;
        transfer.queued -= 1;
        if transfer.x < BEGIN {
            transfer.x = if transfer.x == BEGIN - 1 { WAITING } else { transfer.x + 1 };
            return;
        }
        let object = transfer.objects[0];
        transfer.objects.copy_within(1.., 0);
        transfer.objects[7] = [0; 3];
        let x = transfer.x;
        transfer.x += 1;
        if x >= 0 && machine.screen.drawing && !self.first_frame {
            self.draw(machine, x as usize, under, attributes, object);
        }
    }

    fn draw(&self, machine: &mut Machine, x: usize, under: u8, under_attributes: u8, object: [u8; 3]) {
        let at = usize::from(self.line) * WIDTH + x;
        let [color, attributes, _] = object;
        let has_background = self.lcdc & 1 != 0;
        let under = if has_background || machine.color_mode { under } else { 0 };
        let front = (attributes | if machine.color_mode { under_attributes } else { 0 }) & 0x80 != 0;
        let behind = under != 0 && front && (has_background || !machine.color_mode);
        let shows_object = color != 0 && self.lcdc & 2 != 0 && !behind;
        machine.screen.blank = false;
        let palette = if attributes & 0x10 != 0 { self.obp1 } else { self.obp0 };
        let shade = if shows_object { palette >> (2 * color) & 3 } else { self.bgp >> (2 * under) & 3 };
        if !machine.is_color {
            machine.screen.shades[at] = shade;
            return;
        }
        machine.screen.colors[at] = match (machine.color_mode, shows_object) {
            (true, true) => machine.color.objects.color(attributes, color),
            (true, false) => machine.color.background.color(under_attributes, under),
            (false, true) => machine.color.objects.color(attributes >> 4 & 1, shade),
            (false, false) => machine.color.background.color(0, shade),
        };
    }
}

saved!(Transfer {
    delay,
    x,
    low,
    high,
    attributes,
    queued,
    step,
    column,
    tile,
    tile_attributes,
    tile_low,
    tile_high,
    in_window,
    fetched,
    fetching,
    sprite_dots,
    objects
});
