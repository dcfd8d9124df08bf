//! The console as documentation describes it, for `Compat::Hardware`: every device moves on with every M-cycle, and every
//! access is made in its own.
//!
//! Nothing here is shared with the fast loop of the default mode but memory, the cartridge, the joypad, the sound and the
//! screen. Sources: Pan Docs (gbdev.io), the findings that the mooneye and gbmicrotest suites document, and their results.

mod bus;
mod copies;
mod io;
mod ppu;
mod run;
mod serial;
mod start;
mod timer;

use crate::machine::Machine;
use crate::state::{Saved, saved};
use copies::{HdmaCopy, OamCopy};
use ppu::{FRAME, Ppu};
use serial::Serial;
use timer::Timer;

pub(crate) use bus::HardwareBus;

#[derive(Clone, Debug, Default)]
pub(crate) struct Hardware {
    timer: Timer,
    serial: Serial,
    ppu: Ppu,
    oam_copy: OamCopy,
    hdma: HdmaCopy,
    /// Dots since the last frame ended.
    frame_dots: u32,
    /// The interrupts that a CPU in HALT has seen: it looks in the middle of an M-cycle.
    seen_in_halt: u8,
    /// The opcode that comes next is fetched without moving PC on: the bug of HALT.
    repeats: bool,
    /// M-cycles left in which the CPU waits for the other speed.
    switching: u32,
}

impl Hardware {
    pub fn new(color: bool) -> Self {
        Self { ppu: Ppu::new(color), ..Self::default() }
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        self.ppu.is_consistent() && self.oam_copy.is_consistent() && self.frame_dots <= 2 * FRAME
    }

    /// So many dots have passed. A frame ends with the picture's, or after that time while the picture does not move.
    fn end_frame_after(&mut self, dots: u32, moves: bool, machine: &mut Machine) {
        self.frame_dots += dots;
        let longest = if moves { 2 * FRAME } else { FRAME };
        if self.frame_dots >= longest {
            machine.frame_done = true;
        }
        if machine.frame_done {
            self.frame_dots = 0;
        }
    }
}

saved!(Hardware { timer, serial, ppu, oam_copy, hdma, frame_dots, seen_in_halt, repeats, switching });

/// Consoles of the other mode have none, and a state belongs to one mode only.
impl Saved for Option<Box<Hardware>> {
    fn put(&self, out: &mut Vec<u8>) {
        if let Some(hardware) = self {
            hardware.put(out);
        }
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        self.as_mut().map_or(Some(()), |hardware| hardware.take(from))
    }
}
