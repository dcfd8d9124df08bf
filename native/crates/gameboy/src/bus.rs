//! The memory map, and when the reference makes each access.
//!
//! ROM and RAM are found through a few offsets; an offset beyond the memory's end sends an access the long way. The
//! reference makes accesses one M-cycle earlier than a console, except for those of the stack.

use crate::cartridge::Window;
use crate::cpu::{Bus, Cpu};
use crate::lcd::Next;
use crate::machine::{CARTRIDGE, Machine, VRAM, WRAM};

/// When an access happens: the cycles at which its instruction began, at which the access is made, and at which the
/// LCD is looked at for it.
#[derive(Clone, Copy)]
pub(crate) struct When {
    pub start: u64,
    pub at: u64,
    pub lcd: u64,
}

impl When {
    #[inline(always)]
    fn data(start: u64, m: u64) -> Self {
        let at = start + 4 * m - 4;
        Self { start, at, lcd: at }
    }

    #[inline(always)]
    fn stack(start: u64, m: u64) -> Self {
        let at = start + 4 * m;
        Self { start, at, lcd: at }
    }
}

impl Machine {
    #[inline(always)]
    fn get(&mut self, address: u16, when: When) -> u8 {
        if let Some(byte) = self.ram.get(place(&self.read_map, address)) {
            return *byte;
        }
        if address >= 0xFF80 {
            return self.high[usize::from(address & 0x7F)];
        }
        if let Some(byte) = self.rom.bytes.get(self.rom_place(address)) {
            return *byte;
        }
        self.get_elsewhere(address, when.start, when.at, when.lcd)
    }

    #[inline(always)]
    fn put(&mut self, address: u16, value: u8, when: When) {
        if let Some(byte) = self.ram.get_mut(place(&self.write_map, address)) {
            *byte = value;
        } else if (0xFF80..0xFFFF).contains(&address) {
            self.high[usize::from(address & 0x7F)] = value;
        } else {
            self.put_elsewhere(address, value, when.start, when.at, when.lcd);
        }
    }

    /// Where the byte at `address` lies in the ROM; beyond its end where none does.
    #[inline(always)]
    pub fn rom_place(&self, address: u16) -> usize {
        self.rom_map[usize::from(address >> 14)].wrapping_add(u32::from(address)) as usize
    }

    /// Numbers and not a `When`: only those who come here have to put one together.
    #[inline(never)]
    fn get_elsewhere(&mut self, address: u16, start: u64, at: u64, lcd: u64) -> u8 {
        let when = When { start, at, lcd };
        match address {
            0x0000..0x8000 => self.boot_byte(address),
            0x8000..0xA000 => self.ram[self.video_offset(address)],
            0xA000..0xC000 => self.cartridge_byte(address),
            0xC000..0xFE00 => self.ram[self.work_offset(address)],
            0xFE00..0xFEA0 => {
                if self.dma.is_active() {
                    self.sync_dma(when.lcd);
                }
                if self.dma.hides_oam(when.lcd) { 0xFF } else { self.oam[usize::from(address & 0xFF)] }
            }
            0xFEA0..0xFF00 => 0,
            0xFF00..0xFF80 => self.read_io(address, when),
            _ => self.high[usize::from(address & 0x7F)],
        }
    }

    #[inline(never)]
    fn put_elsewhere(&mut self, address: u16, value: u8, start: u64, at: u64, lcd: u64) {
        let when = When { start, at, lcd };
        if self.dma.is_active() {
            self.sync_dma(when.at);
        }
        match address {
            0x0000..0x8000 => {
                // PyBoy's clock follows the wall's, or stands still; for it ours stands still.
                if self.cartridge.write(&self.rom, 0, address, value) {
                    self.map();
                }
            }
            0x8000..0xA000 => {
                if self.screen.drawing {
                    self.sync_lcd(when.at, when.start);
                }
                let at = self.video_offset(address);
                self.ram[at] = value;
            }
            0xA000..0xC000 => self.put_cartridge(address, value),
            0xC000..0xFE00 => {
                let at = self.work_offset(address);
                self.ram[at] = value;
            }
            0xFE00..0xFEA0 => {
                self.sync_lcd(when.at, when.start);
                if !self.dma.is_active() {
                    self.oam[usize::from(address & 0xFF)] = value;
                }
            }
            0xFEA0..0xFF00 => {}
            0xFF00..0xFF80 => self.write_io(address, value, when),
            0xFFFF => {
                self.high[0x7F] = value;
                self.stop_soon();
            }
            _ => self.high[usize::from(address & 0x7F)] = value,
        }
    }

    pub fn boot_byte(&self, address: u16) -> u8 {
        let at = usize::from(address);
        match &self.boot {
            Some(boot) if self.booting && !(0x100..0x200).contains(&at) && at < boot.len() => boot[at],
            _ => self.rom.bytes[self.cartridge.rom_offsets(&self.rom)[at >> 14] + (at & 0x3FFF)],
        }
    }

    pub fn video_offset(&self, address: u16) -> usize {
        VRAM + 0x2000 * usize::from(self.color.vram_bank()) + usize::from(address & 0x1FFF)
    }

    pub fn work_offset(&self, address: u16) -> usize {
        let bank = if address & 0x1000 == 0 { 0 } else { usize::from(self.color.wram_bank()) };
        WRAM + 0x1000 * bank + usize::from(address & 0x0FFF)
    }

    pub fn cartridge_byte(&self, address: u16) -> u8 {
        match self.cartridge.window(&self.rom) {
            Window::Nothing => 0xFF,
            Window::Ram(offset) => {
                self.ram.get(CARTRIDGE + offset + usize::from(address & 0x1FFF)).copied().unwrap_or(0xFF)
            }
            Window::HalfBytes => self.ram[CARTRIDGE + usize::from(address & 0x1FF)] | 0xF0,
            Window::Clock(register) => self.cartridge.read_clock(register),
        }
    }

    fn put_cartridge(&mut self, address: u16, value: u8) {
        match self.cartridge.window(&self.rom) {
            Window::Nothing => {}
            Window::Ram(offset) => {
                if let Some(byte) = self.ram.get_mut(CARTRIDGE + offset + usize::from(address & 0x1FFF)) {
                    *byte = value;
                }
            }
            Window::HalfBytes => self.ram[CARTRIDGE + usize::from(address & 0x1FF)] = value | 0xF0,
            // A clock that stands still, as the reference's does when it is locked, cannot be set by the game.
            Window::Clock(_) => {}
        }
    }

    /// Whether the reference's own rule keeps LD A,(DE), LD A,(HL) and LD (DE),A from `address`.
    #[inline(never)]
    fn locked_for_checked(&mut self, address: u16, writes: bool, when: When) -> bool {
        self.sync_lcd(when.lcd, when.start);
        if !self.lcd.is_on() {
            return false;
        }
        let soon = self.lcd.at.saturating_sub(self.dots(when.lcd)) <= 4;
        let (next, mode) = (self.lcd.next, self.lcd.mode);
        match (address < 0xA000, writes) {
            (true, true) => mode == 3,
            (true, false) => mode == 3 || mode == 2 && soon,
            (false, true) => mode == 3 || mode == 2 && !soon,
            (false, false) => mode >= 2 || next == Next::Scan && soon,
        }
    }
}

/// Where the byte at `address` lies in `ram`; beyond its end where it is not there.
#[inline(always)]
pub(crate) fn place(map: &[u32; 16], address: u16) -> usize {
    map[usize::from(address >> 12)].wrapping_add(u32::from(address)) as usize
}

/// Video RAM and OAM: what the LCD can lock.
#[inline(always)]
fn lockable(address: u16) -> bool {
    address >> 13 == 4 || address >> 8 == 0xFE && address < 0xFEA0
}

impl Bus for Machine {
    #[inline(always)]
    fn fetch(&mut self, now: u64, m: u64, address: u16) -> u8 {
        if let Some(byte) = self.rom.bytes.get(self.rom_place(address)) {
            return *byte;
        }
        if m > 0 && address >= 0x8000 && self.dma.is_active() {
            self.copy_for_operand(When::stack(now, m));
        }
        self.get(address, When::stack(now, m))
    }

    #[inline(always)]
    fn read(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.get(address, When::data(now, m))
    }

    #[inline(always)]
    fn write(&mut self, now: u64, m: u64, address: u16, value: u8) {
        self.put(address, value, When::data(now, m));
    }

    #[inline(always)]
    fn read_checked(&mut self, now: u64, m: u64, address: u16) -> u8 {
        let when = When { lcd: now + 4, ..When::data(now, m) };
        if lockable(address) && self.locked_for_checked(address, false, when) { 0xFF } else { self.get(address, when) }
    }

    #[inline(always)]
    fn write_checked(&mut self, now: u64, m: u64, address: u16, value: u8) {
        let when = When::data(now, m);
        if !(lockable(address) && self.locked_for_checked(address, true, When { lcd: now + 4, ..when })) {
            self.put(address, value, when);
        }
    }

    #[inline(always)]
    fn read_stack(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.get(address, When::stack(now, m))
    }

    #[inline(always)]
    fn write_stack(&mut self, now: u64, m: u64, address: u16, value: u8) {
        self.put(address, value, When::stack(now, m));
    }

    #[inline(always)]
    fn write_sp(&mut self, now: u64, _m: u64, address: u16, value: u8) {
        self.put(address, value, When::stack(now, 0));
    }

    #[inline(always)]
    fn bail(&mut self) {
        self.stop_soon();
    }

    #[inline(always)]
    fn interrupts_on(&mut self) {
        if self.requested & self.high[0x7F] & 0x1F != 0 {
            self.stop_soon();
        }
    }

    #[inline(always)]
    fn looped(&mut self, cpu: Cpu, now: u64, target: u16, length: u16) -> u64 {
        self.idle_cycles(cpu, now, target, length)
    }
}
