//! A Game Boy and Game Boy Color: a library without I/O, exact against PyBoy 2.8.1 and many times faster.
//!
//! The CPU runs to the next cycle at which something can happen; LY, STAT, DIV and TIMA are computed when they are
//! read; HALT and loops that wait are passed over; lines are drawn only in frames that are asked for. The README
//! lists where PyBoy differs from a console, and what `Compat` makes of it.

#![forbid(unsafe_code)]

mod bus;
mod cartridge;
mod code;
mod color;
pub mod cpu;
mod dma;
mod draw;
mod fast;
mod gameboy;
mod hardware;
mod hooks;
mod idle;
mod io;
mod joypad;
mod lcd;
mod machine;
mod near;
mod rom;
mod run;
mod screen;
mod sent;
mod serial;
mod sound;
mod sprites;
mod state;
mod timer;

use std::sync::Arc;

pub use cpu::Cpu;
pub use gameboy::GameBoy;
pub use hooks::HookAction;
pub use joypad::Button;
pub use rom::{Mapper, Rom, RomError};
pub use screen::{HEIGHT, PIXELS, WIDTH};
pub use sound::HIGHEST_RATE;
pub use state::{StateError, saved_cycles};

/// Which console to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// The one the cartridge asks for.
    #[default]
    Auto,
    Dmg,
    Cgb,
}

impl Model {
    /// Whether that is a Game Boy Color, with this cartridge in it.
    pub fn is_color(self, rom: &Rom) -> bool {
        match self {
            Self::Auto => rom.is_color(),
            Self::Dmg => false,
            Self::Cgb => true,
        }
    }
}

/// Whom to agree with where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    #[default]
    PyBoy,
    Hardware,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub model: Model,
    pub compat: Compat,
    /// Whether the sound registers work; without, they read 0, as in PyBoy with `sound_emulated=False`.
    pub sound: bool,
    /// Samples a second that can be made of the sound, at most `HIGHEST_RATE`; 0 makes none.
    pub sample_rate: u32,
    /// Boot code, run from address 0; without it the CPU starts at 0100.
    pub boot: Option<Arc<[u8]>>,
}
