//! One line of the picture, drawn as a whole when its HBlank begins.

use crate::machine::{Machine, VRAM};
use crate::screen::{NOTHING, OLD_BACKGROUND, OLD_SPRITES, WIDTH};
use crate::sprites::OnLine;

/// The last WX at which the window is on the screen.
const LAST_WX: u8 = 166;

/// What the background left at a pixel: the color's number, and whether it stays before sprites.
#[derive(Clone, Copy, Default)]
struct Under {
    number: u8,
    front: bool,
}

/// Of a background that is off; the reference hides sprites behind it that are to be behind the background.
const OFF: Under = Under { number: 1, front: false };

impl Machine {
    pub fn draw_line(&mut self) {
        self.screen.blank = false;
        let mut under = [Under::default(); WIDTH];
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

    fn draw_background(&mut self, under: &mut [Under; WIDTH], row: usize, window: bool) {
        let lcd = self.lcd;
        let window_from = if window { usize::from(lcd.wx).saturating_sub(7) } else { WIDTH };
        let y = lcd.ly.wrapping_add(lcd.scy);
        let map = if lcd.lcdc & 8 != 0 { 0x1C00 } else { 0x1800 };
        self.draw_tiles(under, row, 0..window_from, usize::from(lcd.scx), map, y);
        if window {
            let map = if lcd.lcdc & 0x40 != 0 { 0x1C00 } else { 0x1800 };
            let x = 256 + 7 - usize::from(lcd.wx);
            let y = self.screen.window_line.wrapping_add(1);
            self.screen.window_line = y;
            self.draw_tiles(under, row, window_from..WIDTH, x, map, y);
        }
    }

    /// Draw columns of one line of a tile map; `x` is the map's column at column 0 of the screen.
    fn draw_tiles(
        &mut self,
        under: &mut [Under; WIDTH],
        row: usize,
        columns: std::ops::Range<usize>,
        x: usize,
        map: usize,
        y: u8,
    ) {
        let lcd = self.lcd;
        let mut column = columns.start;
        while column < columns.end {
            let map_x = (x + column) & 0xFF;
            let entry = VRAM + map + usize::from(y >> 3) * 32 + (map_x >> 3);
            let tile = self.ram[entry];
            let attributes = if self.color_mode { self.ram[entry + 0x2000] } else { 0 };
            let line = if attributes & 0x40 != 0 { 7 - (y & 7) } else { y & 7 };
            let [low, high] = self.tile_line(background_tile(lcd.lcdc, tile), line, attributes);
            let front = attributes & 0x80 != 0;
            for pixel in map_x & 7..8 {
                if column == columns.end {
                    break;
                }
                let shift = if attributes & 0x20 != 0 { pixel } else { 7 - pixel };
                let number = low >> shift & 1 | (high >> shift & 1) << 1;
                under[column] = Under { number, front };
                let shade = lcd.bgp >> (2 * number) & 3;
                if self.color_mode {
                    self.screen.colors[row + column] = self.color.background.color(attributes, number);
                } else if self.is_color {
                    self.screen.colors[row + column] = OLD_BACKGROUND + u16::from(shade);
                } else {
                    self.screen.shades[row + column] = shade;
                }
                column += 1;
            }
        }
    }

    /// The two bytes of a line of a tile, from the bank that the attributes name.
    fn tile_line(&self, tile: usize, line: u8, attributes: u8) -> [u8; 2] {
        let bank = if self.color_mode { usize::from(attributes >> 3 & 1) * 0x2000 } else { 0 };
        let at = VRAM + bank + tile * 16 + usize::from(line) * 2;
        [self.ram[at], self.ram[at + 1]]
    }

    fn draw_sprites(&mut self, under: &[Under; WIDTH], row: usize) {
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
    fn hides_sprite(&self, under: Under, attributes: u8) -> bool {
        if under.number == 0 || self.color_mode && self.lcd.lcdc & 1 == 0 {
            return false;
        }
        attributes & 0x80 != 0 || under.front
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
fn background_tile(lcdc: u8, tile: u8) -> usize {
    if lcdc & 0x10 != 0 { usize::from(tile) } else { (256 + i32::from(tile as i8)) as usize }
}
