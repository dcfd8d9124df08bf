//! What happens at which dot of a line.

use super::transfer::Transfer;
use super::{LAST_LINE, LINE, Locks, NONE, ON_HBLANK, ON_SCAN, ON_VBLANK, Ppu, VISIBLE, show_nothing};
use crate::machine::Machine;

/// STAT shows mode 0 for so many dots of a line before mode 2 or 1; then LYC is compared with the new line. A program sees
/// it after four; in HALT, which looks in the middle of an M-cycle, it makes a difference.
const LATE: u16 = 2;
/// The scan of OAM takes two dots for each of 40 sprites.
const SCAN: u16 = 80;
const TRANSFER: u16 = SCAN + 4;
/// Writes reach OAM once more between scan and transfer.
const GAP: u16 = TRANSFER - 4;
/// The dot at which the line begins in which the LCD goes on.
const FIRST: u16 = 4;
/// In the last line LY is 0 from here on; it is compared from `LAST_COMPARED` on.
const LAST_ZERO: u16 = 4;
const LAST_NONE: u16 = 6;
const LAST_COMPARED: u16 = 10;

impl Ppu {
    pub(super) fn start_first_line(&mut self) {
        self.dot = FIRST;
        self.compared = 0;
        self.first_line = true;
        self.first_frame = true;
        self.found = 0;
        self.window_line = NONE;
        self.window_reached = self.wy == 0;
    }

    /// Be somewhere in the vertical blank, as boot code leaves the console.
    pub fn start_in_vblank(&mut self, line: u8, dot: u16) {
        self.lcdc = 0x91;
        self.line = line;
        self.ly = if line == LAST_LINE { 0 } else { line };
        self.dot = dot;
        self.mode = 1;
        self.source = ON_VBLANK;
        self.compared = self.ly;
        self.coincidence = self.ly == self.lyc;
        self.window_line = NONE;
    }

    /// Pass over dots in which nothing happens; whether that could be done.
    pub fn skip(&mut self, dots: u16) -> bool {
        let quiet = if self.line < VISIBLE {
            self.source == ON_HBLANK && self.dot > TRANSFER
        } else {
            self.dot >= LAST_COMPARED
        };
        let can = quiet && self.dot + dots < LINE;
        if can {
            self.dot += dots;
        }
        can || !self.is_on()
    }

    /// One dot; whether an HBlank began. `copying` says that a copy keeps OAM busy.
    pub fn dot(&mut self, machine: &mut Machine, copying: bool) -> bool {
        if !self.is_on() {
            return false;
        }
        self.dot += 1;
        if self.dot == LINE {
            self.dot = 0;
            self.next_line(machine);
        }
        if self.line < VISIBLE {
            return self.visible(machine, copying);
        }
        if self.line == VISIBLE && self.dot == LATE {
            self.start_vblank(machine);
        } else if self.dot == LATE {
            self.compared = self.line;
            self.update(machine);
        }
        if self.line == LAST_LINE {
            self.last_line(machine);
        }
        false
    }

    fn next_line(&mut self, machine: &mut Machine) {
        self.first_line = false;
        self.line = if self.line == LAST_LINE { 0 } else { self.line + 1 };
        self.ly = self.line;
        if self.line == 0 {
            machine.frame_done = true;
            self.first_frame = false;
            self.window_line = NONE;
            self.window_reached = false;
            self.source = 0;
        } else {
            self.compared = NONE;
        }
        if self.line < VISIBLE {
            self.mode = 0;
            self.locks.oam_reads = true;
            self.found = 0;
            if self.line > 0 {
                self.source = ON_SCAN;
            }
        } else if self.line == VISIBLE {
            // The scan that does not come raises its interrupt all the same.
            self.mode = 0;
            self.source = ON_SCAN;
        }
        self.update(machine);
    }

    fn visible(&mut self, machine: &mut Machine, copying: bool) -> bool {
        if self.mode == 3 {
            if self.transfer_dot(machine) {
                self.mode = 0;
                self.locks = Locks::default();
            }
            return false;
        }
        if self.dot > TRANSFER && self.source == 0 {
            // A dot after the mode.
            self.source = ON_HBLANK;
            self.update(machine);
            return true;
        }
        if self.dot < TRANSFER && !self.first_line {
            self.scan(machine, copying);
        }
        if self.dot == TRANSFER {
            self.start_transfer(machine);
        }
        false
    }

    fn scan(&mut self, machine: &mut Machine, copying: bool) {
        if self.dot == LATE {
            self.mode = 2;
            self.source = ON_SCAN;
            self.compared = self.line;
            self.locks.oam_writes = true;
            self.window_reached |= self.wy == self.line;
            self.update(machine);
            self.source = 0;
            self.update(machine);
        }
        if (LATE..LATE + SCAN).contains(&self.dot) && self.dot.is_multiple_of(2) && self.found < 10 && !copying {
            let number = ((self.dot - LATE) / 2) as u8;
            let height = if self.lcdc & 4 != 0 { 16 } else { 8 };
            if (self.line + 16).wrapping_sub(machine.oam[usize::from(number) * 4]) < height {
                self.sprites[usize::from(self.found)] = number;
                self.found += 1;
            }
        }
        if self.dot == GAP {
            self.locks.video_reads = true;
            self.locks.oam_writes = false;
        }
    }

    fn start_transfer(&mut self, machine: &mut Machine) {
        self.mode = 3;
        self.source = 0;
        self.locks = Locks { video_reads: true, video_writes: true, oam_reads: true, oam_writes: true };
        self.transfer = Transfer::new(self.first_line);
        self.update(machine);
    }

    fn start_vblank(&mut self, machine: &mut Machine) {
        self.mode = 1;
        self.compared = self.line;
        machine.requested |= 1;
        self.source = ON_VBLANK;
        self.update(machine);
        if self.first_frame && machine.screen.drawing {
            show_nothing(machine);
        }
    }

    fn last_line(&mut self, machine: &mut Machine) {
        match self.dot {
            LAST_ZERO => self.ly = 0,
            LAST_NONE => self.compared = NONE,
            LAST_COMPARED => self.compared = 0,
            _ => return,
        }
        self.update(machine);
    }
}
