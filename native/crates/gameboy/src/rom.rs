//! A cartridge's ROM: what its header says, checked before anything runs.

use std::fmt;
use std::ops::Range;

use crate::code::{Code, decode};
use crate::state::fingerprint;

/// Bytes of a bank of ROM.
pub const BANK: usize = 0x4000;
const LOGO: Range<usize> = 0x104..0x134;
const LARGEST: usize = 512 * BANK;

/// The chip that switches banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapper {
    None,
    Mbc1,
    Mbc2,
    Mbc3,
    Mbc5,
}

/// Why bytes are not a ROM that can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RomError {
    Truncated { length: usize },
    Oversized { length: usize, declared: usize },
    Uneven { length: usize },
    UnknownMapper(u8),
    UnknownSize(u8),
    UnknownRam(u8),
}

impl fmt::Display for RomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { length } => {
                write!(f, "This ROM has {length} bytes; a Game Boy ROM has at least {}.", 2 * BANK)
            }
            Self::Uneven { length } => {
                write!(
                    f,
                    "This ROM has {length} bytes, which is not a whole number of banks of {BANK}; it may be cut off."
                )
            }
            Self::Oversized { length, declared } => {
                write!(
                    f,
                    "This ROM has {length} bytes; its header says {declared}, and {LARGEST} is the most there is."
                )
            }
            Self::UnknownMapper(code) => write!(
                f,
                "The ROM's header names cartridge type {code:02X}; known are ROM only, MBC1, MBC2, MBC3 and MBC5, so this \
                 is not a Game Boy ROM or needs a chip that is not emulated."
            ),
            Self::UnknownSize(code) => {
                write!(
                    f,
                    "The ROM's header has the size code {code:02X}; known are 00 to 08, so this is not a Game Boy ROM."
                )
            }
            Self::UnknownRam(code) => {
                write!(
                    f,
                    "The ROM's header has the RAM size code {code:02X}; known are 00 to 05, so this is not a Game Boy ROM."
                )
            }
        }
    }
}

impl std::error::Error for RomError {}

/// A ROM whose header makes sense. Instances share one behind an `Arc`.
#[derive(Clone, Debug)]
pub struct Rom {
    /// A power of two of bytes, so that a bank number can be masked.
    pub(crate) bytes: Box<[u8]>,
    /// The instructions in each of its banks.
    pub(crate) code: Box<[Code]>,
    pub(crate) mapper: Mapper,
    pub(crate) ram_size: usize,
    pub(crate) has_clock: bool,
    pub(crate) color: bool,
    /// A collection of games, each of them with the logo: an MBC1 of 64 banks is wired in another way then.
    pub(crate) several: bool,
    /// What its states bear, to be told from those of other ROMs.
    pub(crate) mark: u64,
}

impl Rom {
    pub fn new(bytes: &[u8]) -> Result<Self, RomError> {
        let length = bytes.len();
        if length < 2 * BANK {
            return Err(RomError::Truncated { length });
        }
        let mapper = match bytes[0x147] {
            0x00 | 0x08 | 0x09 => Mapper::None,
            0x01..=0x03 => Mapper::Mbc1,
            0x05 | 0x06 => Mapper::Mbc2,
            0x0F..=0x13 => Mapper::Mbc3,
            0x19..=0x1E => Mapper::Mbc5,
            code => return Err(RomError::UnknownMapper(code)),
        };
        let declared = match bytes[0x148] {
            code @ 0..=8 => (2 * BANK) << code,
            code => return Err(RomError::UnknownSize(code)),
        };
        if length > LARGEST || length > declared {
            return Err(RomError::Oversized { length, declared });
        }
        if !length.is_multiple_of(BANK) {
            return Err(RomError::Uneven { length });
        }
        let ram_size = match (mapper, bytes[0x149]) {
            (Mapper::Mbc2, _) => 0x200,
            (_, 0) => 0,
            (_, 1 | 2) => 0x2000,
            (_, 3) => 0x8000,
            (_, 4) => 0x20000,
            (_, 5) => 0x10000,
            (_, code) => return Err(RomError::UnknownRam(code)),
        };
        let mut padded = vec![0xFF; length.next_power_of_two()];
        padded[..length].copy_from_slice(bytes);
        let has_clock = matches!(bytes[0x147], 0x0F | 0x10);
        let several = mapper == Mapper::Mbc1
            && length == 64 * BANK
            && bytes[LOGO] == bytes[16 * BANK + LOGO.start..16 * BANK + LOGO.end];
        let color = bytes[0x143] & 0x80 != 0;
        let code = decode(&padded);
        let mark = fingerprint(&padded);
        Ok(Self { mapper, ram_size, has_clock, color, several, mark, code, bytes: padded.into_boxed_slice() })
    }

    /// The letters of the title, as far as they are letters.
    pub fn title(&self) -> String {
        let letters = self.bytes[0x134..0x143].iter().take_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
        letters.map(|byte| char::from(*byte)).collect()
    }

    /// Whether the header asks for a Game Boy Color.
    pub fn is_color(&self) -> bool {
        self.color
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many there are, a power of two.
    pub fn banks(&self) -> usize {
        self.bytes.len() / BANK
    }
}
