//! Loops that only wait: how many of their rounds can be passed over at once.
//!
//! A short loop that reads memory, compares and jumps back has no effect of its own. Once a whole round has left the
//! registers as they were, every further round will, until something it reads changes, and that is known beforehand.

use crate::cpu::{Bus, Cpu, step};
use crate::lcd::LINE;
use crate::machine::Machine;

/// Bytes of a loop that is looked at.
pub(crate) const LONGEST: u16 = 24;
/// Cycles of JR, which no jump beats.
const SHORTEST_JUMP: u64 = 12;

/// What the loop found last waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waits {
    #[default]
    Unknown,
    /// It does more than wait.
    Not,
    Memory,
    /// LY, and what memory holds.
    Line,
    /// LY and nothing else.
    LineOnly,
    Lcd,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idle {
    target: u16,
    waits: Waits,
    /// Cycles of one round.
    period: u64,
    /// The loop begins by loading A, so that a round leaves nothing of the one before it.
    starts_anew: bool,
    /// The cycle up to which rounds were passed over last.
    passed_to: u64,
    /// The registers at the last jump.
    cpu: Cpu,
}

impl Idle {
    /// When the last jump began, if rounds were passed over up to `now`.
    pub fn last_jump(&self, now: u64) -> u64 {
        if self.passed_to == now { now - SHORTEST_JUMP } else { 0 }
    }

    /// Something may have changed since the loop looked: it has to go round once more before it is known to wait.
    pub fn interrupt(&mut self) {
        self.cpu.pc = !self.target;
    }

    /// Whether `pc` is in a loop that is known to wait.
    pub fn is_around(&self, pc: u16) -> bool {
        pc.wrapping_sub(self.target) < LONGEST && !matches!(self.waits, Waits::Unknown | Waits::Not)
    }

    /// The code may have changed.
    pub fn forget(&mut self) {
        self.target = 0xFFFF;
    }
}

impl Machine {
    /// Cycles to pass over after a jump at `now` back to `target`.
    #[inline(always)]
    pub fn idle_cycles(&mut self, cpu: Cpu, now: u64, target: u16, length: u16) -> u64 {
        if self.idle.target == target && self.idle.waits == Waits::Not || length > LONGEST {
            return 0;
        }
        self.pass_over(cpu, now, target, length)
    }

    #[inline(never)]
    fn pass_over(&mut self, cpu: Cpu, now: u64, target: u16, length: u16) -> u64 {
        if self.idle.target != target {
            self.idle = Idle { target, waits: Waits::Unknown, period: 0, starts_anew: false, passed_to: 0, cpu };
            return 0;
        }
        if self.idle.cpu != cpu {
            let pointers = |cpu: &Cpu| (cpu.hl, cpu.bc(), cpu.de());
            if self.idle.waits == Waits::Unknown || pointers(&cpu) != pointers(&self.idle.cpu) {
                self.study(&cpu, target, length);
            }
            let alike = self.idle.starts_anew
                && Cpu { a: cpu.a, f: cpu.f, ..self.idle.cpu } == cpu
                && !matches!(self.idle.waits, Waits::Unknown | Waits::Not);
            self.idle.cpu = cpu;
            if !alike {
                return 0;
            }
        }
        if self.idle.waits == Waits::Unknown {
            self.study(&cpu, target, length);
        }
        let limit = match self.idle.waits {
            Waits::Unknown | Waits::Not => return 0,
            Waits::Memory => self.horizon,
            Waits::Line => self.horizon.min(self.cycle_of(self.lcd.next_line())),
            Waits::LineOnly => self.horizon.min(self.last_line_to_wait(cpu, length)),
            Waits::Lcd => self.horizon.min(self.cycle_of(self.lcd.at)),
        };
        let cycles = limit.saturating_sub(now) / self.idle.period * self.idle.period;
        if cycles > 0 {
            self.idle.passed_to = now + cycles;
        }
        cycles
    }

    fn study(&mut self, cpu: &Cpu, target: u16, length: u16) {
        (self.idle.waits, self.idle.period) = self.examine(cpu, target, length);
        self.idle.starts_anew = self.idle.waits != Waits::Not && matches!(self.rom_byte(target), 0xF0 | 0xFA);
    }

    fn rom_byte(&self, at: u16) -> u8 {
        self.rom.bytes[self.rom_place(at)]
    }

    /// Follow the loop's code: what it reads, if reading is all it does, and how long a round takes.
    fn examine(&self, cpu: &Cpu, target: u16, length: u16) -> (Waits, u64) {
        const WORK: (Waits, u64) = (Waits::Not, 0);
        if target >= 0x7F00 || self.booting || self.dma.is_active() {
            return WORK;
        }
        let code = |at: u16| self.rom_byte(at);
        let end = target + length;
        let (mut at, mut cycles, mut waits) = (target, 0, Waits::Memory);
        let mut only_line = true;
        while at < end {
            let Some((bytes, m, reads)) = shape(code(at), code(at + 1), end - at) else { return WORK };
            let reads = match reads {
                Reads::Nothing => None,
                Reads::High => Some(0xFF00 | u16::from(code(at + 1))),
                Reads::Absolute => Some(u16::from_le_bytes([code(at + 1), code(at + 2)])),
                Reads::Bc => Some(cpu.bc()),
                Reads::De => Some(cpu.de()),
                Reads::Hl => Some(cpu.hl),
            };
            only_line &= matches!(reads, None | Some(0xFF44));
            waits = match reads {
                None | Some(0x0000..0x8000 | 0xC000..0xE000 | 0xFF80.. | 0xFF00 | 0xFF0F) => waits,
                Some(0xFF44) if waits != Waits::Lcd => Waits::Line,
                Some(0xFF40..=0xFF45) => Waits::Lcd,
                Some(_) => return WORK,
            };
            at += bytes;
            cycles += 4 * m;
        }
        match waits {
            _ if at != end => WORK,
            Waits::Line if only_line => (Waits::LineOnly, cycles),
            _ => (waits, cycles),
        }
    }

    /// A cycle up to which a loop that only compares LY goes on: when the last line begins that it surely sees. It has
    /// to see one before the horizon, so that the registers are those of its last round.
    fn last_line_to_wait(&self, cpu: Cpu, length: u16) -> u64 {
        let first = self.lcd.next_line();
        let mut limit = self.cycle_of(first);
        if !self.idle.starts_anew {
            return limit;
        }
        let end = cpu.pc + length;
        for (line, dot) in (self.lcd.ly + 1..self.lcd.last_regular_line()).zip((first + LINE..).step_by(LINE as usize))
        {
            let next = self.cycle_of(dot);
            if next + 2 * self.idle.period >= self.horizon || !self.goes_on(cpu, end, line) {
                break;
            }
            limit = next;
        }
        limit
    }

    /// Whether a round of the loop at PC that sees `line` in LY is followed by another one.
    fn goes_on(&self, mut cpu: Cpu, end: u16, line: u8) -> bool {
        let target = cpu.pc;
        let mut round = Round { machine: self, line };
        loop {
            step(&mut cpu, &mut round, 0);
            if cpu.pc == target || cpu.pc >= end {
                return cpu.pc == target;
            }
        }
    }
}

/// A round of a loop that reads LY and nothing else, with a line that has yet to come.
struct Round<'a> {
    machine: &'a Machine,
    line: u8,
}

impl Bus for Round<'_> {
    fn fetch(&mut self, _now: u64, _m: u64, address: u16) -> u8 {
        self.machine.rom_byte(address)
    }

    fn read(&mut self, _now: u64, _m: u64, _address: u16) -> u8 {
        self.line
    }

    fn write(&mut self, _now: u64, _m: u64, _address: u16, _value: u8) {}
}

/// Where an instruction of a waiting loop looks.
enum Reads {
    Nothing,
    High,
    Absolute,
    Bc,
    De,
    Hl,
}

/// Bytes, M-cycles and reads of an instruction that a waiting loop can have `left` bytes before its end.
fn shape(opcode: u8, next: u8, left: u16) -> Option<(u16, u64, Reads)> {
    Some(match opcode {
        0x00 | 0xA7 | 0xB7 | 0xA0..=0xA5 | 0xB0..=0xB5 | 0xB8..=0xBD | 0xBF | 0x78..=0x7D => (1, 1, Reads::Nothing),
        0xE6 | 0xF6 | 0xFE => (2, 2, Reads::Nothing),
        0xF0 => (2, 3, Reads::High),
        0xFA => (3, 4, Reads::Absolute),
        0x7E | 0xA6 | 0xB6 | 0xBE => (1, 2, Reads::Hl),
        0x0A => (1, 2, Reads::Bc),
        0x1A => (1, 2, Reads::De),
        0xCB if (0x40..0x80).contains(&next) && next & 7 == 6 => (2, 3, Reads::Hl),
        0xCB if (0x40..0x80).contains(&next) => (2, 2, Reads::Nothing),
        0x18 | 0x20 | 0x28 | 0x30 | 0x38 if left == 2 => (2, 3, Reads::Nothing),
        0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA if left == 3 => (3, 4, Reads::Nothing),
        _ => return None,
    })
}

/// Whether a loop of this code does nothing but read, wherever that may be.
pub(crate) fn only_reads(code: &[u8]) -> bool {
    let mut at = 0;
    while at < code.len() {
        let next = code.get(at + 1).copied().unwrap_or(0);
        match shape(code[at], next, (code.len() - at) as u16) {
            Some((bytes, ..)) => at += usize::from(bytes),
            None => return false,
        }
    }
    at == code.len()
}
