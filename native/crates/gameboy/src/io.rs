//! The registers at FF00 to FF7F.

use crate::bus::When;
use crate::machine::Machine;

impl Machine {
    pub fn read_io(&mut self, address: u16, when: When) -> u8 {
        match address {
            0xFF04..=0xFF07 => self.sync_timer(when.at),
            0xFF01..=0xFF02 => self.sync_serial(when.at),
            0xFF40..=0xFF4B => self.sync_lcd(when.lcd, when.start),
            _ => {}
        }
        match address {
            0xFF00 => self.joypad.shown(),
            0xFF01 => 0xFF,
            0xFF02 if self.color_mode => self.serial.control | 0x7C,
            0xFF02 => self.serial.control | 0x7E,
            0xFF04 => self.timer.div(when.at),
            0xFF05 => self.timer.tima(),
            0xFF06 => self.timer.tma,
            0xFF07 => self.timer.tac | 0xF8,
            0xFF0F => self.requested | 0xE0,
            0xFF10..=0xFF3F => self.sound.read(self.dots(when.at), address),
            0xFF40 => self.lcd.lcdc,
            0xFF41 => self.lcd.read_stat(),
            0xFF42 => self.lcd.scy,
            0xFF43 => self.lcd.scx,
            0xFF44 => self.lcd.ly,
            0xFF45 => self.lcd.lyc,
            0xFF46 => self.dma.register,
            0xFF47 => self.lcd.bgp,
            0xFF48 => self.lcd.obp0,
            0xFF49 => self.lcd.obp1,
            0xFF4A => self.lcd.wy,
            0xFF4B => self.lcd.wx,
            0xFF76 | 0xFF77 if self.is_color => self.sound.read_levels(self.dots(when.at), address),
            _ if self.is_color => self.read_color_io(address),
            _ => 0xFF,
        }
    }

    fn read_color_io(&self, address: u16) -> u8 {
        let color = &self.color;
        match address {
            0xFF4F => color.vbk() | 0xFE,
            0xFF68 => color.background.index | 0x40,
            0xFF6A => color.objects.index | 0x40,
            0xFF72 | 0xFF73 | 0xFF75 => color.undocumented[usize::from(address - 0xFF72)],
            _ if !self.color_mode => 0xFF,
            0xFF4C => color.key0 | 0xFB,
            0xFF4D => color.key1,
            0xFF55 => self.hdma.status(),
            0xFF69 => color.background.data(),
            0xFF6B => color.objects.data(),
            0xFF6C => color.priority | 0xFE,
            0xFF70 => color.svbk() | 0xF8,
            0xFF74 => color.undocumented[2],
            _ => 0xFF,
        }
    }

    pub fn write_io(&mut self, address: u16, value: u8, when: When) {
        if matches!(address, 0xFF02..=0xFF0F | 0xFF40 | 0xFF41 | 0xFF45 | 0xFF4D | 0xFF50 | 0xFF55) {
            self.stop_soon();
        }
        match address {
            0xFF00 => self.joypad.write(value),
            0xFF01 | 0xFF02 => {
                self.sync_serial(when.at);
                if address == 0xFF01 {
                    self.sent.data = value;
                } else {
                    self.sent.control(value);
                    self.serial.write_control(when.at, value);
                }
            }
            0xFF04..=0xFF07 => {
                self.sync_timer(when.at);
                match address {
                    0xFF04 => self.reset_div(when.at),
                    0xFF05 => {
                        // In the reference the interrupt comes all the same.
                        if self.timer.write_tima(when.at, value) {
                            self.requested |= 4;
                        }
                    }
                    0xFF06 => self.timer.write_tma(when.at, value),
                    _ => self.timer.write_tac(when.at, value & 7),
                }
            }
            0xFF0F => self.requested = value & 0x1F,
            0xFF10..=0xFF3F if self.sound.is_emulated() => {
                self.sound.write(self.dots(when.at), address, value, self.sound_phase(when.at), self.double);
            }
            0xFF10..=0xFF3F => {}
            0xFF40..=0xFF4B => {
                self.sync_lcd(when.lcd, when.start);
                self.write_lcd(address, value, when);
            }
            0xFF50 if value & 1 != 0 && self.booting => {
                self.booting = false;
                self.map();
            }
            _ if self.is_color => self.write_color_io(address, value, when),
            _ => {}
        }
    }

    /// How many dots ago the bit of DIV's counter fell that the sound's sequencer hangs on.
    fn sound_phase(&self, now: u64) -> u64 {
        (self.timer.counter(now) >> u32::from(self.double)) % crate::sound::STEP
    }

    /// DIV goes back to 0.
    pub fn reset_div(&mut self, now: u64) {
        if self.sound.is_emulated() {
            self.sound.reset_clock(self.dots(now), self.sound_phase(now));
        }
        self.timer.write_div(now);
    }

    fn write_lcd(&mut self, address: u16, value: u8, when: When) {
        let lcd = &mut self.lcd;
        match address {
            0xFF40 => self.write_lcdc(value, when.at),
            0xFF41 => {
                lcd.enabled = value & 0x78;
                self.requested |= if lcd.is_on() { lcd.compare() } else { lcd.level() };
            }
            0xFF42 => lcd.scy = value,
            0xFF43 => lcd.scx = value,
            0xFF44 => {}
            0xFF45 => {
                lcd.lyc = value;
                lcd.lyc_written |= !lcd.is_on();
                if lcd.is_on() {
                    self.requested |= lcd.compare();
                }
            }
            0xFF46 => self.start_dma(when.at, value),
            0xFF47 => lcd.bgp = value,
            0xFF48 => lcd.obp0 = value,
            0xFF49 => lcd.obp1 = value,
            0xFF4A => lcd.wy = value,
            _ => lcd.wx = value,
        }
    }

    fn write_lcdc(&mut self, value: u8, at: u64) {
        let (was_on, is_on) = (self.lcd.is_on(), value & 0x80 != 0);
        self.lcd.lcdc = value;
        if is_on && !was_on {
            self.lcd.starting = true;
        } else if was_on && !is_on {
            self.lcd.starting = false;
            self.lcd.stop(self.dots(at));
            self.frame_done = true;
            self.draw_nothing();
        }
    }

    fn write_color_io(&mut self, address: u16, value: u8, when: When) {
        match address {
            0xFF4C if self.booting => self.color.key0 = value & 4,
            0xFF4D => self.color.key1 = value,
            0xFF72..=0xFF74 => self.color.undocumented[usize::from(address - 0xFF72)] = value,
            0xFF75 => self.color.undocumented[3] = value | 0x8F,
            0xFF4F => {
                self.color.select_vram(value);
                self.map();
            }
            0xFF51 => self.hdma.source = self.hdma.source & 0x00F0 | u16::from(value) << 8,
            0xFF52 => self.hdma.source = self.hdma.source & 0xFF00 | u16::from(value & 0xF0),
            0xFF53 => self.hdma.target = self.hdma.target & 0x00F0 | u16::from(value & 0x1F) << 8,
            0xFF54 => self.hdma.target = self.hdma.target & 0xFF00 | u16::from(value & 0xF0),
            0xFF55 => {
                self.sync_lcd(when.lcd, when.start);
                self.start_hdma(when.at, value);
            }
            0xFF68 => self.color.background.index = value & 0xBF,
            0xFF6A => self.color.objects.index = value & 0xBF,
            0xFF69 | 0xFF6B => {
                self.sync_lcd(when.lcd, when.start);
                if address == 0xFF69 {
                    self.color.background.write(value);
                } else if self.color_mode {
                    self.color.objects.write(value);
                }
            }
            0xFF6C => self.color.priority = value & 1,
            0xFF70 => {
                self.color.select_wram(value);
                self.map();
            }
            _ => {}
        }
    }
}
