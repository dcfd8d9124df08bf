//! What an agent sees of a console: its picture in one of several forms, or bytes of its RAM.

use gameboy::{GameBoy, HEIGHT, PIXELS, WIDTH};

/// The gray levels of the four shades, as PyBoy draws them.
const LEVELS: [u8; 4] = [0xFF, 0x99, 0x55, 0x00];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Three bytes per pixel.
    Rgb,
    /// One byte per pixel, 255 is white.
    Gray,
    /// The mean of two by two pixels, rounded down.
    Gray2x2,
    /// Four pixels per byte, the leftmost in the highest bits; 3 is white.
    Packed2Bit,
    /// No picture: the bytes at the batch's addresses.
    Ram,
}

impl Observation {
    /// By the names that descriptions of games use.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("rgb", Self::Rgb),
        ("gray", Self::Gray),
        ("gray_2x2", Self::Gray2x2),
        ("packed_2bit", Self::Packed2Bit),
        ("ram", Self::Ram),
    ];

    /// The shape of one, in a batch that reads `ram` bytes.
    pub fn shape(self, ram: usize) -> Vec<usize> {
        match self {
            Self::Rgb => vec![HEIGHT, WIDTH, 3],
            Self::Gray => vec![HEIGHT, WIDTH],
            Self::Gray2x2 => vec![HEIGHT / 2, WIDTH / 2],
            Self::Packed2Bit => vec![HEIGHT, WIDTH / 4],
            Self::Ram => vec![ram],
        }
    }

    /// Whether frames have to be drawn for it.
    pub fn is_picture(self) -> bool {
        self != Self::Ram
    }

    /// Write the picture of the last frame drawn; RAM is not written here.
    pub fn write(self, console: &GameBoy, into: &mut [u8]) {
        if self == Self::Ram {
            return;
        }
        if self == Self::Rgb {
            let mut rgba = vec![0; 4 * PIXELS];
            console.write_rgba(&mut rgba);
            for (pixel, all) in into.chunks_exact_mut(3).zip(rgba.chunks_exact(4)) {
                pixel.copy_from_slice(&all[..3]);
            }
            return;
        }
        let mut grays = [0; PIXELS];
        write_gray(console, &mut grays);
        match self {
            Self::Gray => into.copy_from_slice(&grays),
            Self::Gray2x2 => {
                for (row, pair) in into.chunks_exact_mut(WIDTH / 2).zip(grays.chunks_exact(2 * WIDTH)) {
                    let (upper, lower) = pair.split_at(WIDTH);
                    let squares = upper.chunks_exact(2).zip(lower.chunks_exact(2));
                    for (pixel, (above, below)) in row.iter_mut().zip(squares) {
                        let sum: u16 = above.iter().chain(below).map(|&gray| u16::from(gray)).sum();
                        *pixel = (sum / 4) as u8;
                    }
                }
            }
            _ => {
                for (byte, pixels) in into.iter_mut().zip(grays.chunks_exact(4)) {
                    *byte = pixels.iter().fold(0, |packed, gray| packed << 2 | gray >> 6);
                }
            }
        }
    }
}

/// One byte per pixel; of a color, its luminance.
fn write_gray(console: &GameBoy, into: &mut [u8; PIXELS]) {
    if !console.is_color() {
        for (pixel, shade) in into.iter_mut().zip(console.screen_shades()) {
            *pixel = LEVELS[usize::from(shade & 3)];
        }
        return;
    }
    let mut rgba = vec![0; 4 * PIXELS];
    console.write_rgba(&mut rgba);
    for (pixel, color) in into.iter_mut().zip(rgba.chunks_exact(4)) {
        let [red, green, blue] = [color[0], color[1], color[2]].map(u32::from);
        *pixel = ((299 * red + 587 * green + 114 * blue) / 1000) as u8; // ITU-R BT.601
    }
}
