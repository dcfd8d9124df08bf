//! Loops that only wait: how many of their rounds can be passed over at once.
//!
//! A short loop that reads memory, compares and jumps back has no effect of its own. Once a whole round has left the
//! registers as they were, every further round will, until something it reads changes, and that is known beforehand.

use crate::cpu::Cpu;
use crate::machine::Machine;

const LONGEST: u16 = 24;
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
    Line,
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
        self.rom.bytes[self.rom_map[usize::from(at >> 14)] as usize + usize::from(at & 0x3FFF)]
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
        while at < end {
            let (opcode, next) = (code(at), code(at + 1));
            let (bytes, m, reads) = match opcode {
                0x00 | 0xA7 | 0xB7 | 0xA0..=0xA5 | 0xB0..=0xB5 | 0xB8..=0xBD | 0xBF | 0x78..=0x7D => (1, 1, None),
                0xE6 | 0xF6 | 0xFE => (2, 2, None),
                0xF0 => (2, 3, Some(0xFF00 | u16::from(next))),
                0xFA => (3, 4, Some(u16::from_le_bytes([next, code(at + 2)]))),
                0x7E | 0xA6 | 0xB6 | 0xBE => (1, 2, Some(cpu.hl)),
                0x0A => (1, 2, Some(cpu.bc())),
                0x1A => (1, 2, Some(cpu.de())),
                0xCB if (0x40..0x80).contains(&next) => {
                    (2, if next & 7 == 6 { 3 } else { 2 }, (next & 7 == 6).then_some(cpu.hl))
                }
                0x18 | 0x20 | 0x28 | 0x30 | 0x38 if at + 2 == end => (2, 3, None),
                0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA if at + 3 == end => (3, 4, None),
                _ => return WORK,
            };
            waits = match reads {
                None | Some(0x0000..0x8000 | 0xC000..0xE000 | 0xFF80.. | 0xFF00 | 0xFF0F) => waits,
                Some(0xFF44) if waits != Waits::Lcd => Waits::Line,
                Some(0xFF40..=0xFF45) => Waits::Lcd,
                Some(_) => return WORK,
            };
            at += bytes;
            cycles += 4 * m;
        }
        if at == end { (waits, cycles) } else { WORK }
    }
}
