//! A console as bytes: everything that decides its future, in a fixed order, for files and for other processes.
//!
//! Within one process a clone does the same and is faster. Every device lists its fields with `flat!`, which does not
//! compile when one is forgotten; what follows from the others is listed as left out.

use std::fmt;
use std::sync::Arc;

use crate::gameboy::GameBoy;

const MAGIC: [u8; 8] = *b"ovcgb\0\0\x01"; // the last byte is the version of the order
/// Where the checked bytes begin: after the magic, the length of all and their checksum.
const BODY: usize = 24;

/// Why bytes are not a state of this console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    NoState,
    Damaged,
    OtherRom,
    OtherModel,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoState => "These bytes are not a saved state of this version.",
            Self::Damaged => "This saved state is damaged or cut off.",
            Self::OtherRom => "This state was saved with another ROM.",
            Self::OtherModel => "This state was saved on another model of Game Boy, or with other options.",
        })
    }
}

impl std::error::Error for StateError {}

/// Something that is written as a fixed number of bytes, and read back in place.
pub(crate) trait Flat {
    fn save(&self, into: &mut Vec<u8>);
    fn load(&mut self, from: &mut &[u8]) -> Option<()>;
}

macro_rules! flat {
    ($name:ty { $($field:ident),* $(,)? } $(without { $($left:ident),* })?) => {
        impl $crate::state::Flat for $name {
            fn save(&self, into: &mut Vec<u8>) {
                let Self { $($field,)* $($($left: _,)*)? } = self;
                $($crate::state::Flat::save($field, into);)*
            }

            fn load(&mut self, from: &mut &[u8]) -> Option<()> {
                let Self { $($field,)* $($($left: _,)*)? } = self;
                $($crate::state::Flat::load($field, from)?;)*
                Some(())
            }
        }
    };
    (enum $name:ty { $($variant:ident),* $(,)? }) => {
        impl $crate::state::Flat for $name {
            fn save(&self, into: &mut Vec<u8>) {
                into.push(*self as u8);
            }

            fn load(&mut self, from: &mut &[u8]) -> Option<()> {
                let mut number = 0u8;
                $crate::state::Flat::load(&mut number, from)?;
                *self = [$(<$name>::$variant),*].into_iter().find(|known| *known as u8 == number)?;
                Some(())
            }
        }
    };
}
pub(crate) use flat;

macro_rules! flat_numbers {
    ($($number:ty),*) => {$(
        impl Flat for $number {
            fn save(&self, into: &mut Vec<u8>) {
                into.extend(self.to_le_bytes());
            }

            fn load(&mut self, from: &mut &[u8]) -> Option<()> {
                let (bytes, rest) = from.split_first_chunk()?;
                (*self, *from) = (Self::from_le_bytes(*bytes), rest);
                Some(())
            }
        }
    )*};
}
flat_numbers!(u16, u32, u64);

impl Flat for u8 {
    fn save(&self, into: &mut Vec<u8>) {
        into.push(*self);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        let (first, rest) = from.split_first()?;
        (*self, *from) = (*first, rest);
        Some(())
    }
}

impl Flat for bool {
    fn save(&self, into: &mut Vec<u8>) {
        into.push((*self).into());
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        let mut number = 0u8;
        number.load(from)?;
        *self = number != 0;
        Some(())
    }
}

impl Flat for Option<u64> {
    fn save(&self, into: &mut Vec<u8>) {
        self.is_some().save(into);
        self.unwrap_or_default().save(into);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        let (mut some, mut number) = (false, 0);
        some.load(from)?;
        number.load(from)?;
        *self = some.then_some(number);
        Some(())
    }
}

impl Flat for [u8] {
    fn save(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(self);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        let (bytes, rest) = from.split_at_checked(self.len())?;
        self.copy_from_slice(bytes);
        *from = rest;
        Some(())
    }
}

impl<const N: usize> Flat for [u8; N] {
    fn save(&self, into: &mut Vec<u8>) {
        self.as_slice().save(into);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        self.as_mut_slice().load(from)
    }
}

/// The frames after which buttons are let go of.
impl Flat for [u32; 8] {
    fn save(&self, into: &mut Vec<u8>) {
        self.iter().for_each(|number| number.save(into));
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        self.iter_mut().try_for_each(|number| number.load(from))
    }
}

impl Flat for Box<[u8]> {
    fn save(&self, into: &mut Vec<u8>) {
        (**self).save(into);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        (**self).load(from)
    }
}

impl Flat for Box<[u16]> {
    fn save(&self, into: &mut Vec<u8>) {
        self.iter().for_each(|number| number.save(into));
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        self.iter_mut().try_for_each(|number| number.load(from))
    }
}

/// Boot code that is still mapped, with its length; games have none.
impl Flat for Option<Arc<[u8]>> {
    fn save(&self, into: &mut Vec<u8>) {
        let bytes = self.as_deref().unwrap_or_default();
        (bytes.len() as u16).save(into);
        bytes.save(into);
    }

    fn load(&mut self, from: &mut &[u8]) -> Option<()> {
        let mut length = 0u16;
        length.load(from)?;
        let (bytes, rest) = from.split_at_checked(length.into())?;
        *self = (length > 0).then(|| bytes.into());
        *from = rest;
        Some(())
    }
}

impl GameBoy {
    /// Everything but the ROM and the hooks.
    pub fn save(&self) -> Vec<u8> {
        let mut content = Vec::with_capacity(self.machine.ram.len() + 0x8000);
        content.extend(MAGIC);
        content.extend([0; BODY - MAGIC.len()]);
        self.identity().save(&mut content);
        (self.machine.is_color).save(&mut content);
        (self.machine.compat as u8).save(&mut content);
        let Self { cpu, now, machine, hooks: _, resume, releases } = self;
        cpu.save(&mut content);
        now.save(&mut content);
        machine.save(&mut content);
        resume.save(&mut content);
        releases.save(&mut content);
        let (length, sum) = (content.len() as u64, checksum(&content[BODY..]));
        content[8..16].copy_from_slice(&length.to_le_bytes());
        content[16..BODY].copy_from_slice(&sum.to_le_bytes());
        content
    }

    /// Become what `save` gave, of a console with the same ROM and options; hooks stay as they are, and bytes after it
    /// are not looked at. On an error, nothing changes.
    pub fn load(&mut self, content: &[u8]) -> Result<(), StateError> {
        let (magic, rest) = content.split_first_chunk::<8>().ok_or(StateError::NoState)?;
        if *magic != MAGIC {
            return Err(StateError::NoState);
        }
        let mut from = rest;
        let (mut length, mut sum, mut identity, mut is_color, mut compat) = (0u64, 0u64, 0u64, false, 0u8);
        length.load(&mut from).ok_or(StateError::Damaged)?;
        sum.load(&mut from).ok_or(StateError::Damaged)?;
        let body = usize::try_from(length).ok().and_then(|length| length.checked_sub(BODY));
        from = body.and_then(|body| from.get(..body)).ok_or(StateError::Damaged)?;
        if sum != checksum(from) {
            return Err(StateError::Damaged);
        }
        identity.load(&mut from).ok_or(StateError::Damaged)?;
        if identity != self.identity() {
            return Err(StateError::OtherRom);
        }
        is_color.load(&mut from).ok_or(StateError::Damaged)?;
        compat.load(&mut from).ok_or(StateError::Damaged)?;
        if (is_color, compat) != (self.machine.is_color, self.machine.compat as u8) {
            return Err(StateError::OtherModel);
        }
        self.load_devices(&mut from).filter(|()| from.is_empty()).ok_or(StateError::Damaged)
    }

    /// The checksum has said that the bytes are those of `save`, so this fails only for another version's.
    fn load_devices(&mut self, from: &mut &[u8]) -> Option<()> {
        let Self { cpu, now, machine, hooks: _, resume, releases } = self;
        cpu.load(from)?;
        now.load(from)?;
        machine.load(from)?;
        machine.map();
        resume.load(from)?;
        releases.load(from)
    }

    /// A number that two different ROMs hardly share: their headers have checksums.
    fn identity(&self) -> u64 {
        let bytes = self.machine.rom.bytes();
        checksum(&bytes[0x134..0x150]) ^ bytes.len() as u64
    }
}

/// Multiply and add over words of eight bytes.
fn checksum(content: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, rest) = content.as_chunks::<8>();
    let mut sum = content.len() as u64;
    for word in words {
        sum = (sum ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(29);
    }
    for &byte in rest {
        sum = (sum ^ u64::from(byte)).wrapping_mul(FACTOR).rotate_left(29);
    }
    sum
}
