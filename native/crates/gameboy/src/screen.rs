//! The picture: shades of a Game Boy, colors of a Game Boy Color, and both as RGBA.

use crate::state::saved;

pub const WIDTH: usize = 160;
pub const HEIGHT: usize = 144;
pub const PIXELS: usize = WIDTH * HEIGHT;

/// The gray levels of the four shades.
const GRAYS: [u8; 4] = [0xFF, 0x99, 0x55, 0x00];

/// Colors that no palette holds have numbers from here on: what a Game Boy Color shows while the LCD is off, which is
/// whiter than its own white, and the colors it gives to a game that knows none: four for the background, four for
/// sprites.
pub(crate) const NOTHING: u16 = 0x8000;
pub(crate) const OLD_BACKGROUND: u16 = 0x8001;
pub(crate) const OLD_SPRITES: u16 = 0x8005;
const FIXED: [[u8; 3]; 9] = [
    [0xFF; 3],
    [0xFF; 3],
    [0x7B, 0xFF, 0x31],
    [0x00, 0x63, 0xC5],
    [0x00; 3],
    [0xFF; 3],
    [0xFF, 0x84, 0x84],
    [0x94, 0x3A, 0x3A],
    [0x00; 3],
];

#[derive(Clone, Debug)]
pub(crate) struct Screen {
    /// Apart from the rest, so that a console is small and moving one costs nothing.
    pub shades: Box<[u8; PIXELS]>,
    /// 15-bit colors; empty on a Game Boy.
    pub colors: Box<[u16]>,
    /// Nothing has been drawn yet: every byte of the picture is 0.
    pub blank: bool,
    /// Whether this frame is to be seen.
    pub drawing: bool,
    /// The line of the window that was drawn last; frames that are not drawn leave it alone, so the first is off by one.
    pub window_line: u8,
    /// A line of this frame was WY; the window stays from there on.
    pub window_reached: bool,
}

impl Screen {
    pub fn new(color: bool) -> Self {
        let colors = vec![0x7FFF; if color { PIXELS } else { 0 }].into_boxed_slice();
        Self {
            shades: Box::new([0; PIXELS]),
            colors,
            blank: true,
            drawing: false,
            window_line: 0,
            window_reached: false,
        }
    }

    pub fn rgba(&self, into: &mut [u8]) {
        if self.blank {
            into.fill(0);
            return;
        }
        let pixels = into.chunks_exact_mut(4);
        if self.colors.is_empty() {
            for (pixel, shade) in pixels.zip(self.shades.as_slice()) {
                let gray = GRAYS[usize::from(shade & 3)];
                pixel.copy_from_slice(&[gray, gray, gray, 0xFF]);
            }
        } else {
            for (pixel, color) in pixels.zip(&self.colors) {
                let part = |shift: u32| ((color >> shift & 0x1F) << 3) as u8;
                let fixed = FIXED.get(usize::from(color.wrapping_sub(NOTHING)));
                let [red, green, blue] = fixed.copied().unwrap_or_else(|| [part(0), part(5), part(10)]);
                pixel.copy_from_slice(&[red, green, blue, 0xFF]);
            }
        }
    }
}

saved!(Screen { shades, colors, blank });
