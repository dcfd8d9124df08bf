//! The LCD controller's clock: lines, modes, and the interrupts they raise. Drawing is in draw.rs.
//!
//! Nothing here runs along with the CPU. The controller remembers its next transition; whoever wants to see it first
//! takes the transitions that are due. Time is in dots, 4,194,304 a second at either speed of the CPU.

use crate::state::{Saved, saved};

pub(crate) const LINE: u64 = 456;
pub(crate) const FRAME: u64 = 154 * LINE;
const VISIBLE: u8 = 144;
const OAM_SCAN: u64 = 80;
/// Dots that mode 3 takes at least.
const SHORTEST_TRANSFER: u64 = 160;
/// LY moves on this many dots before the mode does; not on a Game Boy Color after its first frame.
const EARLY: u64 = 4;

pub(crate) const VBLANK: u8 = 1;
pub(crate) const STAT: u8 = 2;

const ON_HBLANK: u8 = 0x08;
const ON_VBLANK: u8 = 0x10;
const ON_SCAN: u8 = 0x20;
const ON_LINE: u8 = 0x40;

/// The transition that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Next {
    /// The LCD is off; every 70,224 dots a frame ends all the same.
    #[default]
    OffFrame,
    Transfer,
    HBlank,
    /// LY moves on while mode 0 lasts.
    Line,
    Scan,
    /// The interrupt of mode 2 that a Game Boy Color raises before line 144.
    EarlyScan,
    VBlank,
    VBlankLine,
    /// The frame in which the LCD went on is 8 dots short before this.
    Pad,
    Frame,
}

impl Next {
    const ALL: [Self; 10] = [
        Self::OffFrame,
        Self::Transfer,
        Self::HBlank,
        Self::Line,
        Self::Scan,
        Self::EarlyScan,
        Self::VBlank,
        Self::VBlankLine,
        Self::Pad,
        Self::Frame,
    ];
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lcd {
    pub lcdc: u8,
    /// The interrupts that are enabled, bits 3 to 6 of STAT.
    pub enabled: u8,
    pub scy: u8,
    pub scx: u8,
    pub ly: u8,
    pub lyc: u8,
    pub bgp: u8,
    pub obp0: u8,
    pub obp1: u8,
    pub wy: u8,
    pub wx: u8,
    pub mode: u8,
    pub coincidence: bool,
    /// The four sources of STAT interrupts, joined: only its rising edge requests one.
    line: bool,
    pub next: Next,
    /// The dot of the next transition.
    pub at: u64,
    /// The dot at which the frame began.
    pub frame: u64,
    /// The first frame after the LCD went on has its own timing.
    pub first: bool,
    pub color: bool,
    /// Written to LCDC, and waiting for the end of the instruction.
    pub starting: bool,
    /// LYC was written while the LCD was off; if so, the first look at STAT after it goes on shows mode 0.
    pub lyc_written: bool,
    hides_mode: bool,
}

impl Lcd {
    pub fn new(color: bool) -> Self {
        Self { at: FRAME, coincidence: true, color, obp0: 0xFF, obp1: 0xFF, ..Self::default() }
    }

    /// Whether loaded fields can belong together at `dot`.
    pub fn is_consistent(&self, dot: u64) -> bool {
        let (from, to) = (dot.saturating_sub(2 * FRAME), dot + 2 * FRAME);
        self.ly < 154 && self.mode < 4 && (from..to).contains(&self.frame) && (from..to).contains(&self.at)
    }

    pub fn is_on(&self) -> bool {
        self.lcdc & 0x80 != 0
    }

    pub fn read_stat(&mut self) -> u8 {
        let stat = self.stat();
        if std::mem::take(&mut self.hides_mode) { stat & !3 } else { stat }
    }

    fn stat(&self) -> u8 {
        0x80 | self.enabled | u8::from(self.coincidence) << 2 | self.mode
    }

    /// A new level of the joined sources; STAT if that requests an interrupt.
    pub fn level(&mut self) -> u8 {
        let by_mode = [ON_HBLANK, ON_VBLANK, ON_SCAN, 0][usize::from(self.mode)];
        let level = self.enabled & by_mode != 0 || self.coincidence && self.enabled & ON_LINE != 0;
        let rising = level && !self.line;
        self.line = level;
        if rising { STAT } else { 0 }
    }

    /// The interrupt of mode 2 that line 144 has although it has no mode 2.
    fn pulse(&self) -> u8 {
        if self.enabled & ON_SCAN != 0 && !self.line { STAT } else { 0 }
    }

    pub fn compare(&mut self) -> u8 {
        self.coincidence = self.ly == self.lyc;
        self.level()
    }

    /// A new mode in a line that begins with it. The reference looks at the mode before it compares the line, so that
    /// the level can fall in between and rise again.
    fn enter(&mut self, mode: u8) -> u8 {
        self.mode = mode;
        self.level() | self.compare()
    }

    /// The LCD goes on; it starts in a line 0 that shows mode 0 for a while.
    pub fn start(&mut self, dot: u64) {
        self.starting = false;
        self.hides_mode |= std::mem::take(&mut self.lyc_written);
        self.frame = dot;
        self.first = true;
        self.ly = 0;
        self.mode = 0;
        self.next = Next::Transfer;
        self.at = dot + OAM_SCAN - EARLY;
    }

    /// The LCD goes off.
    pub fn stop(&mut self, dot: u64) {
        self.ly = 0;
        self.mode = 0;
        self.next = Next::OffFrame;
        self.frame = dot;
        self.at = dot + FRAME;
        // Mode 0 that comes this way requests nothing.
        self.level();
    }

    /// Whether an access at `dot`, which is not far away, will be kept from video RAM: from 4 dots before mode 3.
    pub fn is_drawing_at(&self, dot: u64) -> bool {
        match self.next {
            Next::Transfer => self.at <= dot + 4,
            Next::HBlank => self.at > dot,
            _ => false,
        }
    }

    /// Dots of mode 3, without what sprites and scrolling add.
    fn transfer(&self) -> u64 {
        if self.color && !self.first { 170 } else { 172 }
    }

    /// Where line `ly` of this frame ends, in dots.
    fn line_end(&self) -> u64 {
        self.frame + LINE * u64::from(self.ly + 1) - if self.first { EARLY } else { 0 }
    }

    /// The dot at which LY changes next, as far as that is known.
    pub fn next_line(&self) -> u64 {
        match self.next {
            Next::Transfer | Next::HBlank if self.ly < VISIBLE - 1 => {
                self.line_end() - if self.color && !self.first { 0 } else { EARLY }
            }
            _ => self.at,
        }
    }

    /// The line up to which LY changes every 456 dots from `next_line` on.
    pub fn last_regular_line(&self) -> u8 {
        match self.next {
            Next::Transfer | Next::HBlank if !self.first => VISIBLE - 1,
            Next::VBlankLine => 153,
            _ => self.ly,
        }
    }

    /// Take the transition that is due. `penalty` gives what mode 3 lasts longer; the result is what to request in IF.
    pub fn take(&mut self, penalty: impl FnOnce(&Self) -> i64) -> u8 {
        let due = self.at;
        match self.next {
            Next::OffFrame => {
                self.frame = due;
                self.at = due + FRAME;
                0
            }
            Next::Transfer => {
                self.mode = 3;
                self.next = Next::HBlank;
                self.at = (due + self.transfer()).wrapping_add_signed(penalty(self));
                self.level()
            }
            Next::HBlank => {
                self.mode = 0;
                self.after_hblank(self.line_end());
                self.level()
            }
            Next::Line => {
                self.ly += 1;
                self.next = Next::Scan;
                self.at = due + EARLY;
                if self.first {
                    self.coincidence = false;
                    self.level()
                } else {
                    self.compare()
                }
            }
            Next::Scan => {
                if self.color && !self.first {
                    self.ly += 1;
                }
                self.next = Next::Transfer;
                self.at = due + OAM_SCAN;
                self.enter(2)
            }
            Next::EarlyScan => {
                self.next = Next::VBlank;
                self.at = due + EARLY;
                self.pulse()
            }
            Next::VBlank => {
                self.ly += 1;
                self.next = Next::VBlankLine;
                self.at = due + LINE;
                VBLANK | self.enter(1) | self.pulse()
            }
            Next::VBlankLine => {
                self.ly += 1;
                self.at = due + LINE;
                if self.ly == 153 {
                    self.next = if self.first { Next::Pad } else { Next::Frame };
                }
                self.compare()
            }
            Next::Pad => {
                self.next = Next::Frame;
                self.at = self.frame + FRAME;
                0
            }
            Next::Frame => {
                self.first = false;
                self.frame = due;
                self.ly = 0;
                self.next = Next::Transfer;
                self.at = due + OAM_SCAN;
                self.enter(2)
            }
        }
    }

    /// What follows mode 0 of a line that ends at `end`.
    fn after_hblank(&mut self, end: u64) {
        let last = self.ly == VISIBLE - 1;
        (self.next, self.at) = if last {
            let end = if self.first { end - EARLY } else { end };
            if self.color && self.enabled & ON_SCAN != 0 { (Next::EarlyScan, end - EARLY) } else { (Next::VBlank, end) }
        } else if self.color && !self.first {
            (Next::Scan, end)
        } else {
            (Next::Line, end - EARLY)
        };
    }

    /// The dot before which nothing happens that the CPU has to be stopped for.
    pub fn next_request(&self) -> u64 {
        if self.enabled & (ON_HBLANK | ON_SCAN) != 0 {
            return self.next_mode_request();
        }
        let next = match self.next {
            Next::OffFrame | Next::VBlank | Next::EarlyScan | Next::Pad | Next::Frame => return self.at,
            Next::Scan if self.enabled & ON_LINE != 0 => return self.at,
            Next::VBlankLine => self.frame + FRAME,
            _ => self.frame + LINE * u64::from(VISIBLE) - if self.first { 2 * EARLY } else { 0 },
        };
        if self.enabled & ON_LINE != 0 && self.lyc > self.ly {
            next.min(self.line_dot()).max(self.at)
        } else {
            next.max(self.at)
        }
    }

    /// The same while HBlanks or scans of OAM request interrupts.
    fn next_mode_request(&self) -> u64 {
        match (self.enabled, self.next) {
            _ if self.first => self.at,
            (ON_HBLANK, Next::Line) => self.at + EARLY + OAM_SCAN + SHORTEST_TRANSFER,
            (ON_HBLANK, Next::Scan) => self.at + OAM_SCAN + SHORTEST_TRANSFER,
            (ON_HBLANK, Next::Transfer) => self.at + SHORTEST_TRANSFER,
            (ON_HBLANK | ON_SCAN, Next::VBlankLine) => self.frame + FRAME,
            (ON_SCAN, Next::Transfer | Next::HBlank) if self.ly < VISIBLE - 1 => self.line_end(),
            (ON_SCAN, Next::Line) => self.at + EARLY,
            _ => self.at,
        }
    }

    /// The dot at which LY becomes LYC in this frame, or one shortly before.
    fn line_dot(&self) -> u64 {
        let early = if self.first { 2 * EARLY } else { EARLY };
        self.frame + LINE * u64::from(self.lyc) - early
    }

    /// Pass over whole lines up to `dot`, when nobody sees them and no interrupt can come from them.
    pub fn skip(&mut self, dot: u64) {
        if self.enabled & (ON_HBLANK | ON_SCAN) != 0 || self.at + LINE > dot {
            return;
        }
        let last = match self.next {
            Next::Transfer => VISIBLE - 1,
            Next::VBlankLine => 152,
            _ => return,
        };
        let lines = ((dot - self.at) / LINE).min(u64::from(last.saturating_sub(self.ly))) as u8;
        let meets = (self.ly + 1..=self.ly + lines).contains(&self.lyc);
        if lines == 0 || self.first && self.ly == 0 || meets && self.enabled & ON_LINE != 0 {
            return;
        }
        self.ly += lines;
        self.at += LINE * u64::from(lines);
        self.compare();
    }
}

impl Saved for Next {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn take(&mut self, from: &mut &[u8]) -> Option<()> {
        let mut number = 0u8;
        number.take(from)?;
        *self = *Self::ALL.get(usize::from(number))?;
        Some(())
    }
}

saved!(Lcd {
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
    mode,
    coincidence,
    line,
    next,
    at,
    frame,
    first,
    starting,
    lyc_written,
    hides_mode
});
