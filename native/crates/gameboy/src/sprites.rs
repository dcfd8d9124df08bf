//! Which sprites are on a line, and how much longer they make it.

use crate::lcd::Lcd;

const MOST: usize = 10;

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

/// Dots by which scrolling and sprites make mode 3 longer.
pub(crate) fn penalty(lcd: &Lcd, oam: &[u8; 0xA0]) -> u64 {
    let scroll = u64::from(lcd.scx & 7);
    if lcd.lcdc & 2 == 0 {
        return scroll;
    }
    let mut seen = [false; 33];
    let mut dots = 0;
    let mut line = OnLine::find(lcd, oam);
    line.numbers_mut().sort_by_key(|number| oam[usize::from(*number) * 4 + 1]);
    for &number in line.numbers() {
        let x = oam[usize::from(number) * 4 + 1];
        if x >= 168 {
            continue;
        }
        let place = usize::from(x) + usize::from(lcd.scx & 7);
        dots += 6;
        let tile = place >> 3;
        if !seen[tile] {
            seen[tile] = true;
            dots += 5u64.saturating_sub((place & 7) as u64);
        }
    }
    scroll + dots
}
