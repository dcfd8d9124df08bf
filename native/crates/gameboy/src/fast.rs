//! The loop in which the CPU spends its time: code comes decoded from ROM, and data are in ROM or in RAM.
//!
//! Nothing in it calls anything, so that the compiler can keep the registers in registers. An instruction that needs
//! more (a device, a bank switched, code in RAM, HALT) is left to the bus, and the loop goes on behind it.

use crate::code::OPCODE;
use crate::cpu::{Cpu, execute, step};
use crate::machine::Machine;
use crate::near::{Left, Near, One, PC};
use crate::rom::{BANK, Rom};

const HALT: u32 = 0x76;
const UNKNOWN: u32 = u32::MAX;

/// Cycles after which the loop is left in any case: in a build for tests, what should be jumps are calls that nest, and
/// the stack has to hold them.
const LONGEST: u64 = 2048;

/// Instructions up to the horizon, at least one. Also returns when the last one began.
pub(crate) fn run(cpu: &mut Cpu, machine: &mut Machine, rom: &Rom, mut now: u64, mut last: u64) -> (u64, u64) {
    loop {
        let ran = run_near(cpu, machine, rom, now);
        if ran.began > now {
            last = ran.began;
        }
        now = ran.now;
        if ran.reached {
            if now >= machine.horizon {
                return (now, last);
            }
            last = now;
            continue;
        }
        (now, last) = match ran.opcode {
            HALT => {
                cpu.halted = true;
                cpu.pc = cpu.pc.wrapping_add(1);
                return (now + 4, last);
            }
            _ => run_far(cpu, machine, now, last),
        };
        if now >= machine.horizon {
            return (now, last.max(machine.idle.last_jump(now)));
        }
    }
}

/// One instruction through the bus, and more while they are in RAM or in a loop that waits.
#[inline(never)]
fn run_far(cpu: &mut Cpu, machine: &mut Machine, mut now: u64, mut last: u64) -> (u64, u64) {
    loop {
        let next = step(cpu, machine, now);
        if next >= machine.horizon {
            return (next, last);
        }
        (now, last) = (next, next);
        if cpu.pc < 0x8000 && !machine.idle.is_around(cpu.pc) {
            return (now, last);
        }
    }
}

struct Ran {
    now: u64,
    /// When the last instruction began that was come to.
    began: u64,
    /// Whether it was within reach, and executed.
    reached: bool,
    /// Otherwise what it is, as far as that is known.
    opcode: u32,
}

/// Instructions while they are within reach, up to the horizon or for a while.
fn run_near(cpu: &mut Cpu, machine: &mut Machine, rom: &Rom, start: u64) -> Ran {
    let Some(code) = rom.code.get(machine.rom_place(cpu.pc) / BANK) else {
        return Ran { now: start, began: start, reached: false, opcode: UNKNOWN };
    };
    let mut near = Near {
        code,
        limit: machine.horizon.saturating_sub(start).min(LONGEST) << PC,
        f: cpu.f,
        ime: cpu.ime,
        sp: cpu.sp,
        rom,
        machine,
        left: Left::default(),
    };
    near.go_on(u64::from(cpu.pc), cpu.a, cpu.bc(), cpu.de(), cpu.hl);
    let Left { at, began, a, bc, de, hl, reached } = near.left;
    *cpu = Cpu { a, f: near.f, hl, sp: near.sp, pc: at as u16, ime: near.ime, ..*cpu };
    cpu.set_bc(bc);
    cpu.set_de(de);
    let opcode = near.code[at as usize % BANK] & OPCODE;
    Ran { now: start + (at >> PC), began: start + (began >> PC), reached, opcode }
}

/// An instruction, and all that follow it. `at` is PC and, from bit `PC` on, the cycles since the loop began: one
/// addition moves both on. Code does not lead from one bank into the next here, so that PC never flows over.
type Operation = fn(near: &mut Near<'_>, at: u64, a: u8, bc: u16, de: u16, hl: u16);

fn operation<const OPCODE: u16>(near: &mut Near<'_>, at: u64, a: u8, bc: u16, de: u16, hl: u16) {
    let mut cpu = Cpu { a, f: near.f, hl, sp: near.sp, ime: near.ime, ..Cpu::default() };
    cpu.set_bc(bc);
    cpu.set_de(de);
    let mut one = One { near, at };
    if execute(&mut cpu, &mut one, OPCODE).is_none() {
        return leave(near, at, a, bc, de, hl);
    }
    let next = one.at;
    near.f = cpu.f;
    near.sp = cpu.sp;
    near.ime = cpu.ime;
    if next >= near.limit {
        near.left.began = at;
        return stop(near, next, cpu.a, cpu.bc(), cpu.de(), cpu.hl);
    }
    near.go_on(next, cpu.a, cpu.bc(), cpu.de(), cpu.hl)
}

/// The limit was reached.
#[cold]
#[inline(never)]
fn stop(near: &mut Near<'_>, at: u64, a: u8, bc: u16, de: u16, hl: u16) {
    near.left = Left { at, began: near.left.began, a, bc, de, hl, reached: true };
}

/// The instruction at `at` is out of reach.
#[cold]
#[inline(never)]
fn leave(near: &mut Near<'_>, at: u64, a: u8, bc: u16, de: u16, hl: u16) {
    near.left = Left { at, began: at, a, bc, de, hl, reached: false };
}

/// One for each opcode.
static OPERATIONS: [Operation; 0x200] = {
    macro_rules! sixteen {
        ($($row:literal)*) => {
            [$([
                operation::<{ $row << 4 }>, operation::<{ $row << 4 | 1 }>, operation::<{ $row << 4 | 2 }>,
                operation::<{ $row << 4 | 3 }>, operation::<{ $row << 4 | 4 }>, operation::<{ $row << 4 | 5 }>,
                operation::<{ $row << 4 | 6 }>, operation::<{ $row << 4 | 7 }>, operation::<{ $row << 4 | 8 }>,
                operation::<{ $row << 4 | 9 }>, operation::<{ $row << 4 | 10 }>, operation::<{ $row << 4 | 11 }>,
                operation::<{ $row << 4 | 12 }>, operation::<{ $row << 4 | 13 }>, operation::<{ $row << 4 | 14 }>,
                operation::<{ $row << 4 | 15 }>,
            ]),*]
        };
    }
    let rows: [[Operation; 16]; 32] =
        sixteen!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    let mut all: [Operation; 0x200] = [operation::<0>; 0x200];
    let mut at = 0;
    while at < all.len() {
        all[at] = rows[at / 16][at % 16];
        at += 1;
    }
    all
};

impl Near<'_> {
    /// The instruction at `at` is next. In a build for speed this is a jump and not a call.
    #[inline(always)]
    fn go_on(&mut self, at: u64, a: u8, bc: u16, de: u16, hl: u16) {
        let word = self.code[at as usize % BANK];
        OPERATIONS[(word & OPCODE) as usize](self, at, a, bc, de, hl)
    }
}
