//! Bank switching: which part of ROM and RAM the CPU sees, and the clock of an MBC3.

use crate::rom::{BANK, Mapper, Rom};
use crate::state::saved;

pub(crate) const RAM_BANK: usize = 0x2000;
/// Cycles of a second, at the normal speed of the CPU.
const SECOND: u64 = 4_194_304;

/// The registers of the chip. What they mean for addresses is `rom_bank`, `ram_window`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cartridge {
    pub ram_enabled: bool,
    /// Low and high bits of the number of the ROM bank.
    low: u16,
    high: u16,
    /// MBC1: whether `high` also chooses the RAM bank; MBC3 and MBC5: the RAM bank or clock register.
    mode: bool,
    ram: u8,
    clock: Clock,
}

/// The clock of an MBC3: it counts emulated cycles, never the wall clock, so that a run can be repeated.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// Seconds at cycle 0.
    base: u64,
    halted_at: Option<u64>,
    carry: bool,
    latched: [u8; 5],
    last_write: u8,
}

/// What lies at A000 to BFFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Nothing,
    Ram(usize),
    /// 512 half bytes, repeated.
    HalfBytes,
    Clock(u8),
}

impl Cartridge {
    pub fn new() -> Self {
        Self { low: 1, ..Self::default() }
    }

    /// Offsets in the ROM of what is seen at 0000 and at 4000.
    pub fn rom_offsets(&self, rom: &Rom) -> [usize; 2] {
        let mask = rom.banks() - 1;
        let (first, second) = match rom.mapper {
            Mapper::None => (0, 1),
            Mapper::Mbc1 if rom.several => {
                (if self.mode { self.high << 4 } else { 0 }, self.high << 4 | self.low & 0x0F)
            }
            Mapper::Mbc1 => (if self.mode { self.high << 5 } else { 0 }, self.high << 5 | self.low),
            Mapper::Mbc2 | Mapper::Mbc3 => (0, self.low),
            Mapper::Mbc5 => (0, self.high << 8 | self.low),
        };
        [(usize::from(first) & mask) * BANK, (usize::from(second) & mask) * BANK]
    }

    pub fn window(&self, rom: &Rom) -> Window {
        if rom.mapper == Mapper::None && rom.ram_size > 0 {
            return Window::Ram(0);
        }
        if !self.ram_enabled {
            return Window::Nothing;
        }
        let bank = match rom.mapper {
            Mapper::None => return Window::Nothing,
            Mapper::Mbc2 => return Window::HalfBytes,
            Mapper::Mbc1 => {
                if self.mode {
                    self.high as u8
                } else {
                    0
                }
            }
            Mapper::Mbc3 if (8..=0x0C).contains(&self.ram) && rom.has_clock => return Window::Clock(self.ram - 8),
            Mapper::Mbc3 | Mapper::Mbc5 => self.ram,
        };
        match rom.ram_size / RAM_BANK {
            0 => Window::Nothing,
            banks => Window::Ram(usize::from(bank) % banks * RAM_BANK),
        }
    }

    /// A write to ROM; whether what is mapped may have changed.
    pub fn write(&mut self, rom: &Rom, now: u64, address: u16, value: u8) -> bool {
        let enables = value & 0x0F == 0x0A;
        match (rom.mapper, address >> 12) {
            (Mapper::None, _) => return false,
            (Mapper::Mbc2, 0..=3) => {
                if address & 0x100 == 0 {
                    self.ram_enabled = enables;
                } else {
                    self.low = u16::from(value & 0x0F).max(1);
                }
            }
            (Mapper::Mbc2, _) => return false,
            (Mapper::Mbc5, 0 | 1) => self.ram_enabled = value == 0x0A,
            (_, 0 | 1) => self.ram_enabled = enables,
            (Mapper::Mbc1, 2 | 3) => self.low = u16::from(value & 0x1F).max(1),
            (Mapper::Mbc1, 4 | 5) => self.high = u16::from(value & 3),
            (Mapper::Mbc1, _) => self.mode = value & 1 != 0,
            (Mapper::Mbc3, 2 | 3) => self.low = u16::from(value & 0x7F).max(1),
            (Mapper::Mbc3, 4 | 5) => self.ram = value,
            (Mapper::Mbc3, _) => self.clock.latch(now, value),
            (Mapper::Mbc5, 2) => self.low = u16::from(value),
            (Mapper::Mbc5, 3) => self.high = u16::from(value & 1),
            (Mapper::Mbc5, 4 | 5) => self.ram = value & 0x0F,
            (Mapper::Mbc5, _) => return false,
        }
        true
    }

    pub fn read_clock(&self, register: u8) -> u8 {
        self.clock.latched[usize::from(register)]
    }

    pub fn write_clock(&mut self, now: u64, register: u8, value: u8) {
        self.clock.set(now, register, value);
    }

    /// Set the clock to a number of seconds since its day 0.
    pub fn set_clock(&mut self, now: u64, seconds: u64) {
        self.clock.start_at(now, seconds);
    }
}

impl Clock {
    fn seconds(&self, now: u64) -> u64 {
        self.base.wrapping_add(self.halted_at.unwrap_or(now) / SECOND)
    }

    fn start_at(&mut self, now: u64, seconds: u64) {
        self.base = seconds.wrapping_sub(self.halted_at.unwrap_or(now) / SECOND);
    }

    /// Seconds, minutes, hours, low bits of the day, and its highest bit with the flags for halt and overflow.
    fn registers(&self, now: u64) -> [u8; 5] {
        let seconds = self.seconds(now);
        let days = seconds / 86_400;
        let flags = u8::from(self.halted_at.is_some()) << 6 | u8::from(self.carry || days > 511) << 7;
        let [second, minute, hour] = [seconds % 60, seconds / 60 % 60, seconds / 3600 % 24].map(|part| part as u8);
        [second, minute, hour, days as u8, (days >> 8) as u8 & 1 | flags]
    }

    fn latch(&mut self, now: u64, value: u8) {
        if self.last_write == 0 && value == 1 {
            self.latched = self.registers(now);
            self.carry |= self.seconds(now) / 86_400 > 511;
        }
        self.last_write = value;
    }

    fn set(&mut self, now: u64, register: u8, value: u8) {
        let mut parts = self.registers(now).map(u64::from);
        let value = u64::from(value);
        match register {
            0 => parts[0] = value % 60,
            1 => parts[1] = value % 60,
            2 => parts[2] = value % 24,
            3 => parts[3] = value,
            _ => parts[4] = value,
        }
        if register == 4 {
            self.carry = value & 0x80 != 0;
            let halted = value & 0x40 != 0;
            if halted != self.halted_at.is_some() {
                let seconds = self.seconds(now);
                self.halted_at = halted.then_some(now);
                self.start_at(now, seconds);
            }
        }
        let days = parts[3] | (parts[4] & 1) << 8;
        self.start_at(now, parts[0] + 60 * parts[1] + 3600 * parts[2] + 86_400 * days);
    }
}

saved!(Cartridge { ram_enabled, low, high, mode, ram, clock });
saved!(Clock { base, halted_at, carry, latched, last_write });
