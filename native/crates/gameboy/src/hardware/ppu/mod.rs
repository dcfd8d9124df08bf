//! The picture processor, a dot at a time: lines, modes, locks, and the interrupts of STAT.
//!
//! Times in a line are those at which the CPU can see something, on a Game Boy; dot 0 is where LY moves on.

mod fetch;
mod line;
mod transfer;

use crate::machine::Machine;
use crate::screen::NOTHING;
use crate::state::saved;
use transfer::Transfer;

pub(super) const FRAME: u32 = 154 * 456;
const LINE: u16 = 456;
const LAST_LINE: u8 = 153;
const VISIBLE: u8 = 144;

const ON_HBLANK: u8 = 0x08;
const ON_VBLANK: u8 = 0x10;
const ON_SCAN: u8 = 0x20;
const ON_LINE: u8 = 0x40;
/// No line is compared with LYC.
const NONE: u8 = 0xFF;

/// Which accesses the picture processor keeps for itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Locks {
    pub video_reads: bool,
    pub video_writes: bool,
    pub oam_reads: bool,
    pub oam_writes: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ppu {
    color: bool,
    lcdc: u8,
    /// Bits 3 to 6 of STAT.
    enabled: u8,
    scy: u8,
    scx: u8,
    /// As the CPU reads it; in the last line it is 0 before the line ends.
    ly: u8,
    lyc: u8,
    pub bgp: u8,
    pub obp0: u8,
    pub obp1: u8,
    wy: u8,
    wx: u8,
    line: u8,
    dot: u16,
    /// As STAT shows it.
    mode: u8,
    /// The bit of STAT whose condition holds; a little apart from the mode.
    source: u8,
    /// The line that is compared with LYC, if any.
    compared: u8,
    coincidence: bool,
    /// All sources of STAT's interrupt, joined; its rising edge requests one.
    level: bool,
    pub locks: Locks,
    /// The line in which the LCD went on has no mode 2, and the frame is not shown.
    first_line: bool,
    first_frame: bool,
    /// A line of this frame was WY.
    window_reached: bool,
    /// The window's line that was drawn last.
    window_line: u8,
    /// Sprites of this line, by their number in OAM.
    sprites: [u8; 10],
    found: u8,
    transfer: Transfer,
}

impl Ppu {
    pub fn new(color: bool) -> Self {
        Self { color, obp0: 0xFF, obp1: 0xFF, compared: NONE, coincidence: true, ..Self::default() }
    }

    /// Whether loaded fields can belong together.
    pub fn is_consistent(&self) -> bool {
        let sprites = self.found <= 10 && self.sprites.iter().all(|number| *number < 40);
        self.line <= LAST_LINE
            && self.dot < LINE
            && self.mode < 4
            && sprites
            && (self.mode != 3 || self.transfer.is_consistent())
    }

    pub fn is_on(&self) -> bool {
        self.lcdc & 0x80 != 0
    }

    pub fn is_in_hblank(&self) -> bool {
        self.is_on() && self.source == ON_HBLANK
    }

    pub fn read(&self, address: u16) -> u8 {
        match address {
            0xFF40 => self.lcdc,
            0xFF41 => 0x80 | self.enabled | u8::from(self.coincidence) << 2 | self.mode,
            0xFF42 => self.scy,
            0xFF43 => self.scx,
            0xFF44 => self.ly,
            0xFF45 => self.lyc,
            0xFF47 => self.bgp,
            0xFF48 => self.obp0,
            0xFF49 => self.obp1,
            0xFF4A => self.wy,
            0xFF4B => self.wx,
            _ => 0xFF,
        }
    }

    pub fn write(&mut self, address: u16, value: u8, machine: &mut Machine) {
        match address {
            0xFF40 => self.write_lcdc(value, machine),
            0xFF41 => {
                // For a moment the older console behaves as if all sources were enabled.
                if !self.color && self.is_on() {
                    self.enabled = ON_HBLANK | ON_VBLANK | ON_SCAN | ON_LINE;
                    self.update(machine);
                }
                self.enabled = value & 0x78;
                self.update(machine);
            }
            0xFF42 => self.scy = value,
            0xFF43 => self.scx = value,
            0xFF45 => {
                self.lyc = value;
                if self.is_on() {
                    self.update(machine);
                }
            }
            0xFF47 => self.bgp = value,
            0xFF48 => self.obp0 = value,
            0xFF49 => self.obp1 = value,
            0xFF4A => self.wy = value,
            0xFF4B => self.wx = value,
            _ => {}
        }
    }

    fn write_lcdc(&mut self, value: u8, machine: &mut Machine) {
        let was_on = self.is_on();
        self.lcdc = value;
        if was_on == self.is_on() {
            return;
        }
        self.line = 0;
        self.ly = 0;
        self.mode = 0;
        self.source = 0;
        self.locks = Locks::default();
        if was_on {
            self.dot = 0;
            show_nothing(machine);
        } else {
            self.start_first_line();
            self.update(machine);
        }
    }

    /// Compare LY with LYC, join the sources, and request an interrupt where that goes up.
    fn update(&mut self, machine: &mut Machine) {
        if self.is_on() && self.compared != NONE {
            self.coincidence = self.compared == self.lyc;
        } else if self.is_on() {
            self.coincidence = false;
        }
        let level = self.enabled & self.source != 0 || self.coincidence && self.enabled & ON_LINE != 0;
        if level && !self.level {
            machine.requested |= 2;
        }
        self.level = level;
    }
}

/// While the LCD is off it shows nothing at all.
fn show_nothing(machine: &mut Machine) {
    machine.screen.blank = false;
    machine.screen.shades.fill(0);
    machine.screen.colors.fill(NOTHING);
}

saved!(Locks { video_reads, video_writes, oam_reads, oam_writes });
saved!(Ppu {
    lcdc,
    enabled,
    scy,
    scx,
    ly,
    lyc,
    bgp,
    obp0,
    obp1,
    wy,
    wx,
    line,
    dot,
    mode,
    source,
    compared,
    coincidence,
    level,
    locks,
    first_line,
    first_frame,
    window_reached,
    window_line,
    sprites,
    found,
    transfer
});
