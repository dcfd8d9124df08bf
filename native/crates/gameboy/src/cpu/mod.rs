//! The SM83: registers and one instruction at a time, over any bus.
//!
//! Every access carries the instruction's first cycle and its own M-cycle, so that a bus can put each where it belongs
//! without a clock in memory that every access would have to advance.

mod access;
mod alu;
mod bits;
mod execute;

pub(crate) use access::Access;
pub(crate) use execute::execute;
pub use execute::step;

use crate::state::saved;

/// What a CPU is connected to. `now` is the cycle at which the instruction began, `m` the access's M-cycle in it.
pub trait Bus {
    fn fetch(&mut self, now: u64, m: u64, address: u16) -> u8;
    fn read(&mut self, now: u64, m: u64, address: u16) -> u8;
    fn write(&mut self, now: u64, m: u64, address: u16, value: u8);

    /// The reads of LD A,(DE) and LD A,(HL), and the write of LD (DE),A: the reference treats them in its own way.
    fn read_checked(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.read(now, m, address)
    }
    fn write_checked(&mut self, now: u64, m: u64, address: u16, value: u8) {
        self.write(now, m, address, value);
    }
    /// The reads of RET, and the writes of PUSH, CALL and RST.
    fn read_stack(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.read(now, m, address)
    }
    fn write_stack(&mut self, now: u64, m: u64, address: u16, value: u8) {
        self.write(now, m, address, value);
    }
    /// The two writes of LD (nn),SP.
    fn write_sp(&mut self, now: u64, m: u64, address: u16, value: u8) {
        self.write(now, m, address, value);
    }

    /// The CPU's own state changed in a way that the bus's owner has to look at before the next instruction.
    fn bail(&mut self) {}
    /// RETI: as `bail`, if an interrupt waits.
    fn interrupts_on(&mut self) {}
    /// A backward jump of `length` bytes to `target` was taken.
    fn looped(&mut self, _cpu: Cpu, _now: u64, _target: u16, _length: u16) -> u64 {
        0
    }
}

/// In this order no two of B, C, D and E lie together: stored one by one and loaded at once, as the compiler likes to do,
/// they would have to wait for memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    pub a: u8,
    pub b: u8,
    /// Z N H C in the upper four bits; the others are always 0.
    pub f: u8,
    pub c: u8,
    pub ime: bool,
    pub d: u8,
    /// EI was executed and takes effect after the next instruction.
    pub ei: bool,
    pub e: u8,
    pub halted: bool,
    /// The HALT came right after EI.
    pub halted_after_ei: bool,
    /// STOP, or an opcode that does not exist: the CPU waits.
    pub stopped: bool,
    pub locked: bool,
    pub hl: u16,
    pub sp: u16,
    pub pc: u16,
}

pub const Z: u8 = 0x80;
pub const N: u8 = 0x40;
pub const H: u8 = 0x20;
pub const C: u8 = 0x10;

impl Cpu {
    #[inline(always)]
    pub fn bc(&self) -> u16 {
        u16::from(self.b) << 8 | u16::from(self.c)
    }

    #[inline(always)]
    pub fn de(&self) -> u16 {
        u16::from(self.d) << 8 | u16::from(self.e)
    }

    #[inline(always)]
    pub(crate) fn set_bc(&mut self, value: u16) {
        self.b = (value >> 8) as u8;
        self.c = value as u8;
    }

    #[inline(always)]
    pub(crate) fn set_de(&mut self, value: u16) {
        self.d = (value >> 8) as u8;
        self.e = value as u8;
    }

    #[inline(always)]
    fn set_af(&mut self, value: u16) {
        self.a = (value >> 8) as u8;
        self.f = value as u8 & 0xF0;
    }

    #[inline(always)]
    fn h(&self) -> u8 {
        (self.hl >> 8) as u8
    }

    #[inline(always)]
    fn l(&self) -> u8 {
        self.hl as u8
    }

    #[inline(always)]
    fn set_h(&mut self, value: u8) {
        self.hl = self.hl & 0x00FF | u16::from(value) << 8;
    }

    #[inline(always)]
    fn set_l(&mut self, value: u8) {
        self.hl = self.hl & 0xFF00 | u16::from(value);
    }
}

saved!(Cpu { a, f, b, c, d, e, hl, sp, pc, ime, ei, halted, halted_after_ei, stopped, locked });
