//! Which sprites are on a line, and how much longer they make it.

use crate::lcd::Lcd;

const MOST: usize = 10;
/// The first column at which a sprite is not on the screen any more.
const BEYOND: u8 = 168;

/// Sprites of one line, by their number in OAM, in OAM's order.
pub(crate) struct OnLine {
    numbers: [u8; MOST],
    count: usize,
}

impl OnLine {
    pub fn find(lcd: &Lcd, oam: &[u8; 0xA0]) -> Self {
        let height = if lcd.lcdc & 4 != 0 { 16 } else { 8 };
        let mut found = Self { numbers: [0; MOST], count: 0 };
        for (number, entry) in oam.chunks_exact(4).enumerate() {
            if (lcd.ly + 16).wrapping_sub(entry[0]) < height {
                found.numbers[found.count] = number as u8;
                found.count += 1;
                if found.count == MOST {
                    break;
                }
            }
        }
        found
    }

    pub fn numbers(&self) -> &[u8] {
        &self.numbers[..self.count]
    }

    pub fn numbers_mut(&mut self) -> &mut [u8] {
        &mut self.numbers[..self.count]
    }
}

/// Dots by which scrolling and sprites make mode 3 longer, or a little shorter, as measured on the reference.
pub(crate) fn penalty(lcd: &Lcd, oam: &[u8; 0xA0]) -> i64 {
    let scroll = if lcd.first || lcd.color { 0 } else { [0, 4, 4, 4, 4, 8, 8, 8][usize::from(lcd.scx & 7)] };
    if lcd.lcdc & 2 == 0 {
        return scroll;
    }
    let line = OnLine::find(lcd, oam);
    let column = |number: u8| oam[usize::from(number) * 4 + 1];
    let mut dots = 0;
    for (index, &number) in line.numbers().iter().enumerate() {
        let x = column(number);
        if x >= BEYOND {
            continue;
        }
        let again = line.numbers()[..index].iter().any(|&earlier| column(earlier) == x);
        dots += if again { 6 } else { 11 - i64::from(x.wrapping_add(lcd.scx) & 7).min(5) };
    }
    match (line.numbers().is_empty(), dots) {
        (true, _) => scroll,
        (false, 0) => scroll - 4,
        _ if lcd.color => ((dots - 7).max(0) + 3) & !3,
        _ => scroll + (dots - 7).max(0),
    }
}
