//! The registers at FF00 to FF7F. Bits that nobody is connected to read 1.

use super::HardwareBus;
use crate::sound::STEP;

impl HardwareBus<'_> {
    pub(super) fn read_register(&mut self, address: u16) -> u8 {
        let hardware = &*self.hardware;
        match address {
            0xFF00 => self.machine.joypad.lines(),
            0xFF01 => hardware.serial.data,
            0xFF02 => hardware.serial.read_control(self.machine.color_mode),
            0xFF04 => (hardware.timer.counter >> 8) as u8,
            0xFF05 => hardware.timer.tima,
            0xFF06 => hardware.timer.tma,
            0xFF07 => hardware.timer.tac | 0xF8,
            0xFF0F => self.machine.requested | 0xE0,
            0xFF10..0xFF40 => {
                let dot = self.machine.dots(self.clock);
                self.machine.sound.read(dot, address)
            }
            0xFF46 => hardware.oam_copy.register,
            0xFF40..=0xFF4B => hardware.ppu.read(address),
            _ if self.machine.is_color => self.read_color_register(address),
            _ => 0xFF,
        }
    }

    fn read_color_register(&mut self, address: u16) -> u8 {
        let dot = self.machine.dots(self.clock);
        let machine = &mut *self.machine;
        let color = &machine.color;
        match address {
            0xFF4F => color.vbk() | 0xFE,
            0xFF68 => color.background.index | 0x40,
            0xFF6A => color.objects.index | 0x40,
            0xFF72 | 0xFF73 => color.undocumented[usize::from(address - 0xFF72)],
            0xFF75 => color.undocumented[3] | 0x8F,
            0xFF76 | 0xFF77 => machine.sound.read_levels(dot, address),
            _ if !machine.color_mode => 0xFF,
            0xFF4D => u8::from(machine.double) << 7 | 0x7E | color.key1 & 1,
            0xFF55 => self.hardware.hdma.status(),
            0xFF56 => 0x3E,
            0xFF69 | 0xFF6B if self.hardware.ppu.locks.video_reads => 0xFF,
            0xFF69 => color.background.data(),
            0xFF6B => color.objects.data(),
            0xFF6C => color.priority | 0xFE,
            0xFF70 => color.svbk() | 0xF8,
            0xFF74 => color.undocumented[2],
            _ => 0xFF,
        }
    }

    pub(super) fn write_register(&mut self, address: u16, value: u8) {
        let hardware = &mut *self.hardware;
        match address {
            0xFF00 => self.select_buttons(value),
            0xFF01 => {
                hardware.serial.data = value;
                self.machine.sent.data = value;
            }
            0xFF02 => {
                hardware.serial.write_control(value, self.machine.color_mode);
                self.machine.sent.control(value);
            }
            0xFF04 => self.reset_div(),
            0xFF05 => hardware.timer.write_tima(value),
            0xFF06 => hardware.timer.write_tma(value),
            0xFF07 => hardware.timer.write_tac(value),
            0xFF0F => self.machine.requested = value & 0x1F,
            0xFF10..0xFF40 if self.machine.sound.is_emulated() => {
                let (dot, phase, double) = (self.machine.dots(self.clock), self.sound_phase(), self.machine.double);
                self.machine.sound.write(dot, address, value, phase, double);
            }
            0xFF46 => hardware.oam_copy.start(value),
            0xFF40..=0xFF4B => hardware.ppu.write(address, value, self.machine),
            0xFF50 if value & 1 != 0 && self.machine.booting => {
                self.machine.booting = false;
                self.machine.map();
            }
            _ if self.machine.is_color => self.write_color_register(address, value),
            _ => {}
        }
    }

    fn write_color_register(&mut self, address: u16, value: u8) {
        let locked = self.hardware.ppu.locks.video_writes;
        let hdma = &mut self.hardware.hdma;
        let machine = &mut *self.machine;
        let color = &mut machine.color;
        match address {
            0xFF4F => {
                color.select_vram(value);
                machine.map();
            }
            0xFF72 | 0xFF73 => color.undocumented[usize::from(address - 0xFF72)] = value,
            0xFF75 => color.undocumented[3] = value | 0x8F,
            0xFF68 => color.background.index = value & 0xBF,
            0xFF6A => color.objects.index = value & 0xBF,
            0xFF69 => color.background.write_unless(locked || !machine.color_mode && !machine.booting, value),
            0xFF6B => color.objects.write_unless(locked || !machine.color_mode && !machine.booting, value),
            0xFF4C if machine.booting => color.key0 = value & 4,
            0xFF6C if machine.booting => color.priority = value & 1,
            _ if !machine.color_mode => {}
            0xFF4D => color.key1 = value & 1,
            0xFF51 => hdma.source = hdma.source & 0x00F0 | u16::from(value) << 8,
            0xFF52 => hdma.source = hdma.source & 0xFF00 | u16::from(value & 0xF0),
            0xFF53 => hdma.target = hdma.target & 0x00F0 | u16::from(value & 0x1F) << 8,
            0xFF54 => hdma.target = hdma.target & 0xFF00 | u16::from(value & 0xF0),
            0xFF55 => self.write_hdma(value),
            0xFF70 => {
                color.select_wram(value);
                machine.map();
            }
            0xFF74 => color.undocumented[2] = value,
            _ => {}
        }
    }

    /// An interrupt comes with the first button of a row that is down when the row is chosen.
    fn select_buttons(&mut self, value: u8) {
        let before = self.machine.joypad.lines();
        self.machine.joypad.write(value);
        if before & !self.machine.joypad.lines() & 0x0F != 0 {
            self.machine.requested |= 0x10;
        }
    }

    /// How many dots ago the bit of DIV's counter fell that the sound's sequencer hangs on.
    fn sound_phase(&self) -> u64 {
        u64::from(self.hardware.timer.counter >> u32::from(self.machine.double)) % STEP
    }

    pub(super) fn reset_div(&mut self) {
        if self.machine.sound.is_emulated() {
            let (dot, phase) = (self.machine.dots(self.clock), self.sound_phase());
            self.machine.sound.reset_clock(dot, phase);
        }
        let before = self.hardware.timer.counter;
        self.hardware.timer.write_div();
        if self.hardware.serial.tick(before, 0) {
            self.machine.requested |= 8;
        }
    }
}
