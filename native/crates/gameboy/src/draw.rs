//! One line of the picture, drawn as a whole when its HBlank begins.

use std::ops::Range;

use crate::machine::{Machine, VRAM};
use crate::screen::{NOTHING, OLD_BACKGROUND, OLD_SPRITES, WIDTH};
use crate::sprites::OnLine;

/// The last WX at which the window is on the screen.
const LAST_WX: u8 = 166;

/// What the background left at a pixel: the color's number, and whether it stays before sprites.
type Under = [u8; WIDTH];
const FRONT: u8 = 0x80;

/// Of a background that is off; the reference hides sprites behind it that are to be behind the background.
const OFF: u8 = 1;

/// The bits of a byte in eight bytes, the highest first.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> (7 - bit)) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Where a line of tiles is drawn, and from.
struct Strip {
    columns: Range<usize>,
    /// The map's column at column 0 of the screen, and its line.
    x: usize,
    y: u8,
    map: usize,
}

impl Machine {
    pub fn draw_line(&mut self) {
        self.screen.blank = false;
        let mut under = [0; WIDTH];
        let lcd = self.lcd;
        let row = usize::from(lcd.ly) * WIDTH;
        let window = lcd.lcdc & 0x20 != 0 && self.screen.window_reached && lcd.wx <= LAST_WX;
        // The reference draws a line's background although it is off, if the window is on that line.
        if self.color_mode || lcd.lcdc & 1 != 0 || window {
            self.draw_background(&mut under, row, window);
        } else if self.is_color {
            under.fill(OFF);
            self.screen.colors[row..row + WIDTH].fill(OLD_BACKGROUND);
        } else {
            under.fill(OFF);
            self.screen.shades[row..row + WIDTH].fill(0);
        }
        if lcd.lcdc & 2 != 0 {
            self.draw_sprites(&under, row);
        }
    }

    /// The frame in which the LCD went on, or in which it is off, shows one color.
    pub fn draw_nothing(&mut self) {
        self.screen.blank = false;
        self.screen.shades.fill(self.lcd.bgp & 3);
        self.screen.colors.fill(NOTHING);
    }

    fn draw_background(&mut self, under: &mut Under, row: usize, window: bool) {
        let lcd = self.lcd;
        let window_from = if window { usize::from(lcd.wx).saturating_sub(7) } else { WIDTH };
        let y = lcd.ly.wrapping_add(lcd.scy);
        let map = if lcd.lcdc & 8 != 0 { 0x1C00 } else { 0x1800 };
        self.draw_tiles(under, row, &Strip { columns: 0..window_from, x: usize::from(lcd.scx), y, map });
        if window {
            let map = if lcd.lcdc & 0x40 != 0 { 0x1C00 } else { 0x1800 };
            let x = 256 + 7 - usize::from(lcd.wx);
            let y = self.screen.window_line.wrapping_add(1);
            self.screen.window_line = y;
            self.draw_tiles(under, row, &Strip { columns: window_from..WIDTH, x, y, map });
        }
        if !self.color_mode {
            let shades = [0, 2, 4, 6].map(|shift| lcd.bgp >> shift & 3);
            if self.is_color {
                for (color, number) in self.screen.colors[row..row + WIDTH].iter_mut().zip(under) {
                    *color = OLD_BACKGROUND + u16::from(shades[usize::from(*number & 3)]);
                }
            } else {
                for (shade, number) in self.screen.shades[row..row + WIDTH].iter_mut().zip(under) {
                    *shade = shades[usize::from(*number & 3)];
                }
            }
        }
    }

    /// Draw columns of one line of a tile map: the colors' numbers, and the colors themselves where tiles choose them.
    fn draw_tiles(&mut self, under: &mut Under, row: usize, strip: &Strip) {
        const ROOM: usize = WIDTH + 16;
        let (mut numbers, mut colors) = ([0; ROOM], [0; ROOM]);
        let (width, fine) = (strip.columns.len(), (strip.x + strip.columns.start) & 7);
        let first = (strip.x + strip.columns.start) >> 3;
        let map = VRAM + strip.map + usize::from(strip.y >> 3) * 32;
        for (index, eight) in numbers.chunks_exact_mut(8).enumerate().take((width + fine).div_ceil(8)) {
            let entry = map + ((first + index) & 31);
            let attributes = if self.color_mode { self.ram[entry + 0x2000] } else { 0 };
            let line = if attributes & 0x40 != 0 { 7 - (strip.y & 7) } else { strip.y & 7 };
            let mut bits = self.tile_line(background_tile(self.lcd.lcdc, self.ram[entry]), line, attributes);
            if attributes & 0x20 != 0 {
                bits = bits.map(u8::reverse_bits);
            }
            let [low, high] = bits.map(|byte| SPREAD[usize::from(byte)]);
            *eight.first_chunk_mut().expect("eight pixels") = (low | high << 1).to_le_bytes();
            if self.color_mode {
                let palette = [0, 1, 2, 3].map(|number| self.color.background.color(attributes, number));
                for (number, color) in eight.iter_mut().zip(&mut colors[8 * index..]) {
                    *color = palette[usize::from(*number)];
                    *number |= attributes & FRONT;
                }
            }
        }
        under[strip.columns.clone()].copy_from_slice(&numbers[fine..fine + width]);
        if self.color_mode {
            let row = &mut self.screen.colors[row..row + WIDTH];
            row[strip.columns.clone()].copy_from_slice(&colors[fine..fine + width]);
        }
    }

    /// The two bytes of a line of a tile, from the bank that the attributes name.
    pub fn tile_line(&self, tile: usize, line: u8, attributes: u8) -> [u8; 2] {
        let bank = if self.color_mode { usize::from(attributes >> 3 & 1) * 0x2000 } else { 0 };
        let at = VRAM + bank + tile * 16 + usize::from(line) * 2;
        [self.ram[at], self.ram[at + 1]]
    }

    fn draw_sprites(&mut self, under: &Under, row: usize) {
        let lcd = self.lcd;
        let mut line = OnLine::find(&lcd, &self.oam);
        // Of two sprites the first in this order is seen: by column, or by number.
        if !self.color_mode {
            let oam = &self.oam;
            line.numbers_mut().sort_by_key(|number| oam[usize::from(*number) * 4 + 1]);
        }
        for &number in line.numbers().iter().rev() {
            let at = usize::from(number) * 4;
            let [y, x, tile, attributes] = [self.oam[at], self.oam[at + 1], self.oam[at + 2], self.oam[at + 3]];
            let height = if lcd.lcdc & 4 != 0 { 16 } else { 8 };
            let tile = if height == 16 { tile & 0xFE } else { tile };
            let line = (lcd.ly + 16).wrapping_sub(y);
            let line = if attributes & 0x40 != 0 { height - 1 - line } else { line };
            let [low, high] = self.tile_line(usize::from(tile), line, attributes);
            for pixel in 0..8 {
                let column = usize::from(x) + pixel;
                if !(8..WIDTH + 8).contains(&column) {
                    continue;
                }
                let column = column - 8;
                let shift = if attributes & 0x20 != 0 { pixel } else { 7 - pixel };
                let number = low >> shift & 1 | (high >> shift & 1) << 1;
                if number != 0 && !self.hides_sprite(under[column], attributes) {
                    self.draw_sprite_pixel(row + column, number, attributes);
                }
            }
        }
    }

    /// Whether the background is seen before a sprite at a pixel.
    fn hides_sprite(&self, under: u8, attributes: u8) -> bool {
        if under & !FRONT == 0 || self.color_mode && self.lcd.lcdc & 1 == 0 {
            return false;
        }
        (attributes | under) & FRONT != 0
    }

    fn draw_sprite_pixel(&mut self, at: usize, number: u8, attributes: u8) {
        let palette = if attributes & 0x10 != 0 { self.lcd.obp1 } else { self.lcd.obp0 };
        let shade = palette >> (2 * number) & 3;
        if !self.is_color {
            self.screen.shades[at] = shade;
        } else if self.color_mode {
            self.screen.colors[at] = self.color.objects.color(attributes, number);
        } else {
            self.screen.colors[at] = OLD_SPRITES + u16::from(shade);
        }
    }
}

/// Tiles of the background are counted from 8000, or from 9000 in both directions.
pub(crate) fn background_tile(lcdc: u8, tile: u8) -> usize {
    if lcdc & 0x10 != 0 { usize::from(tile) } else { (256 + i32::from(tile as i8)) as usize }
}
