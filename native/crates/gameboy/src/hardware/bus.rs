//! The memory map as the CPU sees it, an M-cycle at a time.

use super::Hardware;
use crate::cartridge::Window;
use crate::cpu::Bus;
use crate::machine::{CARTRIDGE, Machine};

/// Cycles of an M-cycle.
pub(super) const M: u64 = 4;

/// Memory and devices for as long as the CPU runs.
pub(crate) struct HardwareBus<'a> {
    pub machine: &'a mut Machine,
    pub hardware: &'a mut Hardware,
    /// The cycle up to which the devices have come.
    pub clock: u64,
    /// Cycles that the CPU has to wait after this instruction.
    pub stall: u64,
}

impl HardwareBus<'_> {
    /// Let the devices come up to `cycle`.
    #[inline]
    pub fn advance(&mut self, cycle: u64) {
        while self.clock < cycle {
            self.clock += M;
            self.tick();
        }
    }

    /// One M-cycle of all devices.
    fn tick(&mut self) {
        self.tick_beside_copy();
        self.copy_to_oam();
    }

    /// An M-cycle in which a copy to OAM stands still: the CPU waits for the other speed.
    pub(super) fn tick_beside_copy(&mut self) {
        self.tick_picture();
        let before = self.hardware.timer.counter;
        if self.hardware.timer.tick() {
            self.machine.requested |= 4;
        }
        if self.hardware.serial.tick(before, self.hardware.timer.counter) {
            self.machine.requested |= 8;
        }
    }

    /// The picture's part of an M-cycle: half as many dots at the double speed.
    fn tick_picture(&mut self) {
        self.tick_dots(if self.machine.double { 2 } else { 4 });
    }

    /// So many dots of the picture. A CPU in HALT looks for interrupts in their middle.
    pub(super) fn tick_dots(&mut self, dots: u32) {
        let copying = self.hardware.oam_copy.is_running();
        let passed = self.hardware.ppu.skip(dots as u16);
        if passed {
            self.hardware.seen_in_halt = self.machine.requested;
        }
        for dot in 0..if passed { 0 } else { dots } {
            if dot == dots / 2 {
                self.hardware.seen_in_halt = self.machine.requested;
            }
            if self.hardware.ppu.dot(self.machine, copying) {
                self.copy_in_hblank();
            }
        }
        let moves = self.hardware.ppu.is_on();
        self.hardware.end_frame_after(dots, moves, self.machine);
    }

    /// A byte as the CPU finds it now.
    pub fn look(&mut self, address: u16) -> u8 {
        if let Some(byte) = self.hardware.oam_copy.conflict(address, self.machine.is_color) {
            return byte;
        }
        let ppu = &self.hardware.ppu;
        match address {
            0x8000..0xA000 if ppu.locks.video_reads => 0xFF,
            0xFE00..0xFF00 if ppu.locks.oam_reads || self.hardware.oam_copy.is_running() => 0xFF,
            _ => self.byte_behind_locks(address),
        }
    }

    /// A byte whatever the LCD or a copy does meanwhile.
    pub fn byte_behind_locks(&mut self, address: u16) -> u8 {
        let machine = &mut *self.machine;
        match address {
            0x0000..0x8000 => match machine.rom.bytes.get(machine.rom_place(address)) {
                Some(byte) => *byte,
                None => machine.boot_byte(address),
            },
            0x8000..0xA000 => machine.ram[machine.video_offset(address)],
            0xA000..0xC000 => machine.cartridge_byte(address),
            0xC000..0xFE00 => machine.ram[machine.work_offset(address)],
            0xFE00..0xFEA0 => machine.oam[usize::from(address & 0xFF)],
            0xFEA0..0xFF00 => 0,
            0xFF00..0xFF80 => self.read_register(address),
            _ => machine.high[usize::from(address & 0x7F)],
        }
    }

    pub fn put(&mut self, address: u16, value: u8) {
        if self.hardware.oam_copy.conflict(address, self.machine.is_color).is_some() {
            return;
        }
        let locks = self.hardware.ppu.locks;
        let machine = &mut *self.machine;
        match address {
            0x0000..0x8000 => {
                if machine.cartridge.write(&machine.rom, self.clock, address, value) {
                    machine.map();
                }
            }
            0x8000..0xA000 if locks.video_writes => {}
            0x8000..0xA000 => {
                let at = machine.video_offset(address);
                machine.ram[at] = value;
            }
            0xA000..0xC000 => self.put_cartridge(address, value),
            0xC000..0xFE00 => {
                let at = machine.work_offset(address);
                machine.ram[at] = value;
            }
            0xFE00..0xFEA0 if locks.oam_writes || self.hardware.oam_copy.is_running() => {}
            0xFE00..0xFEA0 => machine.oam[usize::from(address & 0xFF)] = value,
            0xFEA0..0xFF00 => {}
            0xFF00..0xFF80 => self.write_register(address, value),
            _ => machine.high[usize::from(address & 0x7F)] = value,
        }
    }

    fn put_cartridge(&mut self, address: u16, value: u8) {
        let machine = &mut *self.machine;
        match machine.cartridge.window(&machine.rom) {
            Window::Nothing => {}
            Window::Ram(offset) => {
                if let Some(byte) = machine.ram.get_mut(CARTRIDGE + offset + usize::from(address & 0x1FFF)) {
                    *byte = value;
                }
            }
            Window::HalfBytes => machine.ram[CARTRIDGE + usize::from(address & 0x1FF)] = value | 0xF0,
            Window::Clock(register) => machine.cartridge.write_clock(self.clock, register, value),
        }
    }
}

impl Bus for HardwareBus<'_> {
    fn fetch(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.advance(now + M * m);
        // PC was moved back by one instead of staying where it is; see `run`.
        let again = m == 0 && std::mem::take(&mut self.hardware.repeats);
        self.look(address.wrapping_add(u16::from(again)))
    }

    fn read(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.advance(now + M * m);
        self.look(address)
    }

    fn write(&mut self, now: u64, m: u64, address: u16, value: u8) {
        self.advance(now + M * m);
        self.put(address, value);
    }
}
