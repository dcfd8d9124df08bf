//! A bus as instructions see it: one that may not reach everything.
//!
//! The loop that runs most instructions reaches ROM and RAM only, and so needs no call that the compiler would have to
//! make room for. What it cannot reach is None, and the whole instruction is left to a bus that reaches everything.

use super::{Bus, Cpu};

pub(crate) trait Access {
    /// Byte `m` of the instruction at `address - m`.
    fn operand(&mut self, m: u16, address: u16) -> u8;
    fn read(&mut self, m: u64, address: u16) -> Option<u8>;
    fn write(&mut self, m: u64, address: u16, value: u8) -> Option<()>;
    fn read_checked(&mut self, m: u64, address: u16) -> Option<u8>;
    fn write_checked(&mut self, m: u64, address: u16, value: u8) -> Option<()>;
    fn read_stack(&mut self, m: u64, address: u16) -> Option<u8>;
    fn write_stack(&mut self, m: u64, address: u16, value: u8) -> Option<()>;
    fn write_sp(&mut self, m: u64, address: u16, value: u8) -> Option<()>;
    /// LDH: `register` is the lower byte of an address from FF00 on.
    fn read_high(&mut self, m: u64, register: u8) -> Option<u8>;
    fn write_high(&mut self, m: u64, register: u8, value: u8) -> Option<()>;
    fn bail(&mut self) -> Option<()>;
    fn interrupts_on(&mut self) -> Option<()>;

    /// The address of the instruction that is executed.
    fn pc(&self, cpu: &Cpu) -> u16;
    /// It had so many bytes and took so many M-cycles, and code goes on behind it.
    fn next(&mut self, cpu: &mut Cpu, bytes: u16, m: u64);
    /// JR was taken.
    fn branch(&mut self, cpu: &mut Cpu, offset: u8);
    /// JP was taken.
    fn jump(&mut self, cpu: &mut Cpu, target: u16) -> Option<()>;
    /// It took so many M-cycles, and code goes on at `target`.
    fn go_to(&mut self, cpu: &mut Cpu, target: u16, m: u64) -> Option<()>;
}

/// A bus that reaches everything.
pub(super) struct Whole<'a, B> {
    pub bus: &'a mut B,
    /// When the instruction began, and after it when the next one begins.
    pub now: u64,
}

impl<B: Bus> Whole<'_, B> {
    /// A jump to PC was taken that ended now, by an instruction that ends at `end`.
    #[inline(always)]
    fn jumped(&mut self, cpu: &Cpu, end: u16) {
        let length = end.wrapping_sub(cpu.pc);
        if (1..=0x80).contains(&length) {
            self.now += self.bus.looped(*cpu, self.now, cpu.pc, length);
        }
    }
}

impl<B: Bus> Access for Whole<'_, B> {
    #[inline(always)]
    fn operand(&mut self, m: u16, address: u16) -> u8 {
        self.bus.fetch(self.now, u64::from(m), address)
    }

    #[inline(always)]
    fn read(&mut self, m: u64, address: u16) -> Option<u8> {
        Some(self.bus.read(self.now, m, address))
    }

    #[inline(always)]
    fn write(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        self.bus.write(self.now, m, address, value);
        Some(())
    }

    #[inline(always)]
    fn read_checked(&mut self, m: u64, address: u16) -> Option<u8> {
        Some(self.bus.read_checked(self.now, m, address))
    }

    #[inline(always)]
    fn write_checked(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        self.bus.write_checked(self.now, m, address, value);
        Some(())
    }

    #[inline(always)]
    fn read_stack(&mut self, m: u64, address: u16) -> Option<u8> {
        Some(self.bus.read_stack(self.now, m, address))
    }

    #[inline(always)]
    fn write_stack(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        self.bus.write_stack(self.now, m, address, value);
        Some(())
    }

    #[inline(always)]
    fn write_sp(&mut self, m: u64, address: u16, value: u8) -> Option<()> {
        self.bus.write_sp(self.now, m, address, value);
        Some(())
    }

    #[inline(always)]
    fn read_high(&mut self, m: u64, register: u8) -> Option<u8> {
        Some(self.bus.read(self.now, m, 0xFF00 | u16::from(register)))
    }

    #[inline(always)]
    fn write_high(&mut self, m: u64, register: u8, value: u8) -> Option<()> {
        self.bus.write(self.now, m, 0xFF00 | u16::from(register), value);
        Some(())
    }

    #[inline(always)]
    fn bail(&mut self) -> Option<()> {
        self.bus.bail();
        Some(())
    }

    #[inline(always)]
    fn interrupts_on(&mut self) -> Option<()> {
        self.bus.interrupts_on();
        Some(())
    }

    #[inline(always)]
    fn pc(&self, cpu: &Cpu) -> u16 {
        cpu.pc
    }

    #[inline(always)]
    fn next(&mut self, cpu: &mut Cpu, bytes: u16, m: u64) {
        cpu.pc = cpu.pc.wrapping_add(bytes);
        self.now += 4 * m;
    }

    #[inline(always)]
    fn branch(&mut self, cpu: &mut Cpu, offset: u8) {
        self.next(cpu, 2, 3);
        let end = cpu.pc;
        cpu.pc = end.wrapping_add_signed(i16::from(offset as i8));
        self.jumped(cpu, end);
    }

    #[inline(always)]
    fn jump(&mut self, cpu: &mut Cpu, target: u16) -> Option<()> {
        self.next(cpu, 3, 4);
        let end = cpu.pc;
        cpu.pc = target;
        self.jumped(cpu, end);
        Some(())
    }

    #[inline(always)]
    fn go_to(&mut self, cpu: &mut Cpu, target: u16, m: u64) -> Option<()> {
        cpu.pc = target;
        self.now += 4 * m;
        Some(())
    }
}
