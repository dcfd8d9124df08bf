//! What the fast loop reaches: decoded code, ROM and RAM through their maps, and high RAM. Anything else is None.

use crate::bus::place;
use crate::code::{Code, OPERANDS};
use crate::cpu::{Access, Cpu};
use crate::machine::Machine;
use crate::rom::{BANK, Rom};

/// Bits of PC, below those of the time.
pub(crate) const PC: u32 = 16;
/// An M-cycle of time.
pub(crate) const M: u64 = 4 << PC;

/// What can be reached without a call, and the registers that are not handed from one instruction to the next.
///
/// In this order SP is at no multiple of four: there the compiler would load four bytes of which two were just stored,
/// and PUSH after PUSH would have to wait for memory.
#[repr(C)]
pub(crate) struct Near<'a> {
    /// The bank in which PC is.
    pub code: &'a Code,
    /// The time at which to stop, as in `at`; 0 once an interrupt waits that is allowed.
    pub limit: u64,
    pub f: u8,
    pub ime: bool,
    pub sp: u16,
    pub rom: &'a Rom,
    pub machine: &'a mut Machine,
    pub left: Left,
}

/// What the last instruction left behind.
#[derive(Default)]
pub(crate) struct Left {
    pub at: u64,
    /// When it began, as in `at`.
    pub began: u64,
    pub a: u8,
    pub bc: u16,
    pub de: u16,
    pub hl: u16,
    pub reached: bool,
}

/// One instruction on its way.
pub(crate) struct One<'n, 'a> {
    pub near: &'n mut Near<'a>,
    pub at: u64,
}

impl Access for One<'_, '_> {
    #[inline(always)]
    fn operand(&mut self, m: u16, _address: u16) -> u8 {
        (self.near.code[self.at as usize % BANK] >> (OPERANDS + 8 * u32::from(m) - 8)) as u8
    }

    #[inline(always)]
    fn read(&mut self, _m: u64, address: u16) -> Option<u8> {
        if let Some(byte) = self.near.machine.ram.get(place(&self.near.machine.read_map, address)) {
            return Some(*byte);
        }
        self.near.rom.bytes.get(self.near.machine.rom_place(address)).copied()
    }

    #[inline(always)]
    fn write(&mut self, _m: u64, address: u16, value: u8) -> Option<()> {
        *self.near.machine.ram.get_mut(place(&self.near.machine.write_map, address))? = value;
        Some(())
    }

    #[inline(always)]
    fn read_checked(&mut self, m: u64, address: u16) -> Option<u8> {
        if is_video(address) { None } else { self.read(m, address) }
    }

    #[inline(always)]
    fn write_checked(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        if is_video(address) { None } else { self.write(m, address, value) }
    }

    #[inline(always)]
    fn read_stack(&mut self, m: u64, address: u16) -> Option<u8> {
        if address >= 0xFF80 { self.read_high(m, address as u8) } else { self.read(m, address) }
    }

    #[inline(always)]
    fn write_stack(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        if address >= 0xFF80 { self.write_high(m, address as u8, value) } else { self.write(m, address, value) }
    }

    #[inline(always)]
    fn write_sp(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        self.write(m, address, value)
    }

    #[inline(always)]
    fn read_high(&mut self, _m: u64, register: u8) -> Option<u8> {
        (register >= 0x80).then(|| self.near.machine.high[usize::from(register & 0x7F)])
    }

    #[inline(always)]
    fn write_high(&mut self, _m: u64, register: u8, value: u8) -> Option<()> {
        if !(0x80..0xFF).contains(&register) {
            return None;
        }
        self.near.machine.high[usize::from(register & 0x7F)] = value;
        Some(())
    }

    #[inline(always)]
    fn bail(&mut self) -> Option<()> {
        None
    }

    #[inline(always)]
    fn interrupts_on(&mut self) -> Option<()> {
        if self.near.machine.requested & self.near.machine.high[0x7F] & 0x1F != 0 {
            self.near.machine.stop_soon();
            self.near.limit = 0;
        }
        Some(())
    }

    #[inline(always)]
    fn pc(&self, _cpu: &Cpu) -> u16 {
        self.at as u16
    }

    #[inline(always)]
    fn next(&mut self, _cpu: &mut Cpu, bytes: u16, m: u64) {
        self.at += m * M + u64::from(bytes);
    }

    #[inline(always)]
    fn branch(&mut self, cpu: &mut Cpu, offset: u8) {
        self.near.machine.idle.forget();
        self.next(cpu, 2, 3);
        self.at = self.at.wrapping_add_signed(i64::from(offset as i8));
    }

    #[inline(always)]
    fn jump(&mut self, cpu: &mut Cpu, target: u16) -> Option<()> {
        self.near.machine.idle.forget();
        self.go_to(cpu, target, 4)
    }

    #[inline(always)]
    fn go_to(&mut self, _cpu: &mut Cpu, target: u16, m: u64) -> Option<()> {
        self.near.code = self.near.rom.code.get(self.near.machine.rom_place(target) / BANK)?;
        self.at = self.at >> PC << PC | u64::from(target);
        self.at += m * M;
        Some(())
    }
}

/// What lies in `ram` and can be locked by the LCD.
#[inline(always)]
fn is_video(address: u16) -> bool {
    address >> 13 == 4
}
