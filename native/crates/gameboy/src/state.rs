//! Saved states: every field of a console as bytes, behind a header that says what they belong to.
//!
//! Within a process `clone` and `clone_from` are faster; these are for files.

use std::fmt;

use crate::idle::Idle;
use crate::{Cpu, GameBoy};

const MAGIC: &[u8; 4] = b"OCGB";
/// Raised whenever a field is added, removed or moved.
const VERSION: u32 = 5;

/// Why bytes are not a state that this console can load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    NotAState,
    OtherVersion(u32),
    OtherCartridge,
    OtherConsole,
    Truncated,
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAState => f.write_str("These bytes are not a saved state of a Game Boy."),
            Self::OtherVersion(version) => {
                write!(f, "This state has version {version}, and version {VERSION} is what can be loaded; save it anew.")
            }
            Self::OtherCartridge => f.write_str("This state was saved with another ROM; load it with that one."),
            Self::OtherConsole => f.write_str(
                "This state was saved by a console with other options; model, compat, sound and boot code have to agree.",
            ),
            Self::Truncated => f.write_str("This state is cut off or damaged; nothing of it was loaded."),
        }
    }
}

impl std::error::Error for StateError {}

/// Something that can be written to bytes and read back; `None` when the bytes do not hold it.
pub(crate) trait Saved {
    fn put(&self, out: &mut Vec<u8>);
    fn take(&mut self, from: &mut &[u8]) -> Option<()>;

    fn put_all(items: &[Self], out: &mut Vec<u8>)
    where
        Self: Sized,
    {
        items.iter().for_each(|item| item.put(out));
    }

    fn take_all(items: &mut [Self], from: &mut &[u8]) -> Option<()>
    where
        Self: Sized,
    {
        items.iter_mut().try_for_each(|item| item.take(from))
    }
}

/// The fields of a type that belong to a state, in their order.
macro_rules! saved {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::state::Saved for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::state::Saved::put(&self.$field, out);)*
            }

            fn take(&mut self, from: &mut &[u8]) -> Option<()> {
                $($crate::state::Saved::take(&mut self.$field, from)?;)*
                Some(())
            }
        }
    };
}
pub(crate) use saved;

macro_rules! saved_numbers {
    ($($type:ty),*) => {
        $(impl Saved for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(&mut self, from: &mut &[u8]) -> Option<()> {
                let (bytes, rest) = from.split_first_chunk()?;
                *self = Self::from_le_bytes(*bytes);
                *from = rest;
                Some(())
            }
        })*
    };
}
saved_numbers!(u16, i16, u32, u64);

/// Most of a state is memory, which is copied as it is.
impl Saved for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        let (byte, rest) = from.split_first()?;
        *self = *byte;
        *from = rest;
        Some(())
    }

    fn put_all(items: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(items);
    }

    fn take_all(items: &mut [Self], from: &mut &[u8]) -> Option<()> {
        let (bytes, rest) = from.split_at_checked(items.len())?;
        items.copy_from_slice(bytes);
        *from = rest;
        Some(())
    }
}

impl Saved for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        let mut byte = 0u8;
        byte.take(from)?;
        *self = match byte {
            0 => false,
            1 => true,
            _ => return None,
        };
        Some(())
    }
}

impl Saved for Option<u64> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.unwrap_or(0).put(out);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        let (mut is_some, mut value) = (false, 0u64);
        is_some.take(from)?;
        value.take(from)?;
        *self = is_some.then_some(value);
        Some(())
    }
}

impl<T: Saved> Saved for [T] {
    fn put(&self, out: &mut Vec<u8>) {
        T::put_all(self, out);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        T::take_all(self, from)
    }
}

impl<T: Saved, const N: usize> Saved for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_slice().put(out);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        self.as_mut_slice().take(from)
    }
}

impl<T: Saved + ?Sized> Saved for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_ref().put(out);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        self.as_mut().take(from)
    }
}

impl GameBoy {
    /// The whole state without hooks.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.machine.ram.len() + 3 * crate::PIXELS);
        out.extend_from_slice(MAGIC);
        VERSION.put(&mut out);
        self.machine.rom.mark.put(&mut out);
        self.options_mark().put(&mut out);
        Saved::put(self, &mut out);
        self.machine.screen.window_line.put(&mut out);
        self.machine.screen.window_reached.put(&mut out);
        out
    }

    /// Go back to a state as PyBoy does, which saves neither the line of the window nor whether a HALT came right after
    /// EI: these stay. On an error nothing changes.
    pub fn load(&mut self, from: &[u8]) -> Result<(), StateError> {
        let (line, reached) = (self.machine.screen.window_line, self.machine.screen.window_reached);
        let halted_after_ei = self.cpu.halted_after_ei;
        self.restore(from)?;
        self.cpu.halted_after_ei = halted_after_ei;
        self.machine.screen.window_line = line;
        self.machine.screen.window_reached = reached;
        Ok(())
    }

    /// Become exactly what was saved; on an error nothing changes.
    pub fn restore(&mut self, mut from: &[u8]) -> Result<(), StateError> {
        let from = &mut from;
        let (cartridge, options) = take_marks(from)?;
        if cartridge != self.machine.rom.mark {
            return Err(StateError::OtherCartridge);
        }
        if options != self.options_mark() {
            return Err(StateError::OtherConsole);
        }
        let mut loaded = self.clone();
        Saved::take(&mut loaded, from).ok_or(StateError::Truncated)?;
        loaded.machine.screen.window_line.take(from).ok_or(StateError::Truncated)?;
        loaded.machine.screen.window_reached.take(from).ok_or(StateError::Truncated)?;
        if !from.is_empty() || !loaded.machine.is_consistent(loaded.now) {
            return Err(StateError::Truncated);
        }
        loaded.machine.idle = Idle::default(); // rounds that were passed over at another time
        loaded.machine.map();
        if loaded.machine.hardware.is_none() {
            loaded.machine.timer.plan();
        }
        loaded.resume = false;
        *self = loaded;
        Ok(())
    }

    fn options_mark(&self) -> u64 {
        let machine = &self.machine;
        let options = [u8::from(machine.is_color), machine.compat as u8, u8::from(machine.sound.is_emulated())];
        fingerprint(&options) ^ machine.boot.as_ref().map_or(0, |boot| fingerprint(boot))
    }
}

/// After how many cycles a state was saved, as far as that can be told without its console.
pub fn saved_cycles(mut from: &[u8]) -> Result<u64, StateError> {
    let from = &mut from;
    take_marks(from)?;
    let (mut cpu, mut now) = (Cpu::default(), 0u64);
    cpu.take(from).ok_or(StateError::Truncated)?;
    now.take(from).ok_or(StateError::Truncated)?;
    Ok(now)
}

/// The marks of the cartridge and of the options in a state's header.
fn take_marks(from: &mut &[u8]) -> Result<(u64, u64), StateError> {
    let (mut magic, mut version, mut cartridge, mut options) = ([0u8; 4], 0u32, 0u64, 0u64);
    magic.take(from).ok_or(StateError::NotAState)?;
    if &magic != MAGIC {
        return Err(StateError::NotAState);
    }
    version.take(from).ok_or(StateError::Truncated)?;
    if version != VERSION {
        return Err(StateError::OtherVersion(version));
    }
    cartridge.take(from).ok_or(StateError::Truncated)?;
    options.take(from).ok_or(StateError::Truncated)?;
    Ok((cartridge, options))
}

/// FNV-1a over words of eight bytes: ROMs are large.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words.chain(rest.iter().map(|byte| u64::from(*byte))).fold(0xCBF2_9CE4_8422_2325, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        mixed ^ mixed >> 29
    })
}
