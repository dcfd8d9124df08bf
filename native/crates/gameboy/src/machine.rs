//! Everything in the console but the CPU: memory and devices, flat, so that a copy of it is a copy of memory.

use std::sync::Arc;

use crate::cartridge::{Cartridge, Window};
use crate::color::Color;
use crate::dma::{Dma, Hdma};
use crate::hardware::Hardware;
use crate::idle::Idle;
use crate::joypad::Joypad;
use crate::lcd::{Lcd, Next};
use crate::rom::Rom;
use crate::screen::Screen;
use crate::sent::Sent;
use crate::serial::Serial;
use crate::sound::Sound;
use crate::state::saved;
use crate::timer::Timer;
use crate::{Compat, Options};

pub(crate) const VRAM: usize = 0;
pub(crate) const WRAM: usize = 0x4000;
pub(crate) const CARTRIDGE: usize = 0xC000;
/// More cycles than any console will run.
pub(crate) const LATEST: u64 = 1 << 60;
/// Beyond any memory, whatever address is added to it: the access has to take the long way.
const ELSEWHERE: u32 = 1 << 30;

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// The CPU runs until it passes this cycle.
    pub horizon: u64,
    /// What to add to an address to find its byte in the ROM, for each 16 KiB.
    pub rom_map: [u32; 4],
    /// The same for `ram` and each 4 KiB, for reads and for writes.
    pub read_map: [u32; 16],
    pub write_map: [u32; 16],
    /// High RAM; the last byte is IE.
    pub high: [u8; 0x80],
    pub requested: u8,
    pub idle: Idle,
    pub rom: Arc<Rom>,
    /// Two banks of video RAM, eight of work RAM, then the cartridge's.
    pub ram: Box<[u8]>,
    pub boot: Option<Arc<[u8]>>,
    /// The boot code hides the cartridge's first bytes.
    pub booting: bool,
    pub cartridge: Cartridge,
    pub timer: Timer,
    pub serial: Serial,
    pub sent: Sent,
    pub joypad: Joypad,
    pub sound: Sound,
    pub lcd: Lcd,
    pub dma: Dma,
    pub hdma: Hdma,
    pub color: Color,
    pub oam: [u8; 0xA0],
    pub screen: Screen,
    pub compat: Compat,
    /// The devices of `Compat::Hardware`, which moves all of them with every M-cycle.
    pub hardware: Option<Box<Hardware>>,
    /// Whether the console is a Game Boy Color, and whether the game uses it.
    pub is_color: bool,
    pub color_mode: bool,
    pub double: bool,
    pub frame_done: bool,
    /// A transition of the LCD is being taken: what it reads must not take another one.
    in_transition: bool,
    /// Cycles that the CPU has to wait for, taken at the next boundary.
    pub stall: u64,
    /// The dot at cycle `dot_from`.
    dot_base: u64,
    dot_from: u64,
}

/// What to add to addresses from `first` on, if the byte at `first` lies at `place`.
fn seen_at(first: u32, place: Option<usize>) -> u32 {
    place.map_or(ELSEWHERE, |place| (place as u32).wrapping_sub(first))
}

impl Machine {
    pub fn new(rom: Arc<Rom>, options: &Options, is_color: bool) -> Self {
        let ram = vec![0; CARTRIDGE + rom.ram_size].into_boxed_slice();
        let mut machine = Self {
            horizon: 0,
            rom_map: [ELSEWHERE; 4],
            read_map: [ELSEWHERE; 16],
            write_map: [ELSEWHERE; 16],
            high: [0; 0x80],
            requested: 0,
            idle: Idle::default(),
            ram,
            boot: options.boot.clone(),
            booting: options.boot.is_some(),
            cartridge: Cartridge::new(),
            timer: Timer::new(),
            serial: Serial::new(),
            sent: Sent::new(),
            joypad: Joypad::new(),
            sound: Sound::new(options, is_color),
            lcd: Lcd::new(is_color),
            dma: Dma::default(),
            hdma: Hdma::default(),
            color: Color::default(),
            oam: [0; 0xA0],
            screen: Screen::new(is_color),
            compat: options.compat,
            hardware: (options.compat == Compat::Hardware).then(|| Box::new(Hardware::new(is_color))),
            is_color,
            color_mode: is_color && rom.color,
            double: false,
            frame_done: false,
            in_transition: false,
            stall: 0,
            dot_base: 0,
            dot_from: 0,
            rom,
        };
        machine.map();
        machine
    }

    /// Recompute what is seen where, after anything that decides it has changed.
    pub fn map(&mut self) {
        self.idle.forget();
        let [low, high] = self.cartridge.rom_offsets(&self.rom);
        let low = if self.booting { None } else { Some(low) };
        self.rom_map = [seen_at(0x0000, low), seen_at(0x4000, Some(high)), ELSEWHERE, ELSEWHERE];
        let switched = WRAM + 0x1000 * usize::from(self.color.wram_bank());
        let cartridge = match self.cartridge.window(&self.rom) {
            Window::Ram(offset) if self.rom.ram_size >= 0x2000 => Some(CARTRIDGE + offset),
            _ => None,
        };
        let video = VRAM + 0x2000 * usize::from(self.color.vram_bank());
        self.read_map[0x8..0xA].fill(seen_at(0x8000, Some(video)));
        self.read_map[0xA..0xC].fill(seen_at(0xA000, cartridge));
        self.read_map[0xC] = seen_at(0xC000, Some(WRAM));
        self.read_map[0xD] = seen_at(0xD000, Some(switched));
        self.read_map[0xE] = seen_at(0xE000, Some(WRAM));
        self.write_map = self.read_map;
        if self.screen.drawing {
            self.write_map[0x8..0xA].fill(ELSEWHERE);
        }
        if self.dma.is_active() {
            self.write_map.fill(ELSEWHERE);
        }
    }

    /// Whether loaded fields can belong together: none of the clocks may run backwards.
    pub fn is_consistent(&self, now: u64) -> bool {
        if now >= LATEST || self.dot_from > now || self.dot_base >= LATEST {
            return false;
        }
        let dot = self.dots(now);
        let devices = match &self.hardware {
            Some(hardware) => hardware.is_consistent(),
            None => self.timer.is_consistent(now) && self.lcd.is_consistent(dot) && self.dma.is_consistent(now),
        };
        devices && self.sound.is_consistent(dot)
    }

    #[inline]
    pub fn dots(&self, now: u64) -> u64 {
        self.dot_base + ((now - self.dot_from) >> u32::from(self.double))
    }

    /// The cycle at which `dot` is reached.
    #[inline]
    pub fn cycle_of(&self, dot: u64) -> u64 {
        self.dot_from + (dot.saturating_sub(self.dot_base) << u32::from(self.double))
    }

    pub fn switch_speed(&mut self, now: u64) {
        self.dot_base = self.dots(now);
        self.dot_from = now;
        self.double = !self.double;
    }

    /// The CPU is to stop after this instruction.
    #[inline]
    pub fn stop_soon(&mut self) {
        self.horizon = 0;
    }

    /// Take the LCD transitions as the reference does: all up to `last`, when it looked before, and one more up to `now`.
    #[inline]
    pub fn sync_lcd(&mut self, now: u64, last: u64) {
        let (now, last) = (self.dots(now), self.dots(last));
        if self.lcd.at > now || self.in_transition {
            return;
        }
        while self.lcd.at <= last {
            if !self.screen.drawing && !self.hdma.is_waiting() {
                self.lcd.skip(last);
            }
            self.take_transition();
        }
        let early = self.lcd.next == Next::EarlyScan;
        if self.lcd.at <= now {
            self.take_transition();
        }
        // That one is no transition in the reference.
        if early && self.lcd.at <= now {
            self.take_transition();
        }
    }

    fn take_transition(&mut self) {
        let next = self.lcd.next;
        self.in_transition = true;
        match next {
            Next::Transfer if self.dma.is_active() => {
                let now = self.cycle_of(self.lcd.at);
                self.sync_dma(now);
            }
            Next::HBlank => {
                if self.dma.is_active() {
                    let now = self.cycle_of(self.lcd.at);
                    self.sync_dma(now);
                }
                if self.screen.drawing && !self.lcd.first {
                    self.draw_line();
                }
                if self.hdma.is_waiting() {
                    self.copy_hdma_block();
                }
            }
            Next::Frame | Next::OffFrame => {
                self.frame_done = true;
                if self.screen.drawing && next == Next::OffFrame {
                    self.draw_nothing();
                }
            }
            Next::VBlank if self.screen.drawing => {
                self.screen.window_line = 0xFF;
                if self.lcd.first {
                    self.draw_nothing();
                }
            }
            _ => {}
        }
        self.in_transition = false;
        let oam = &self.oam;
        self.requested |= self.lcd.take(|lcd| crate::sprites::penalty(lcd, oam));
        match next {
            Next::Frame => self.screen.window_reached = self.lcd.wy == 0,
            Next::Scan => self.screen.window_reached |= self.lcd.wy == self.lcd.ly,
            _ => {}
        }
    }

    pub fn sync_timer(&mut self, now: u64) {
        if self.timer.sync(now) {
            self.requested |= 4;
        }
    }

    pub fn sync_serial(&mut self, now: u64) {
        if self.serial.sync(now) {
            self.requested |= 8;
        }
    }

    /// Look at every device; `last` is when the reference did so before.
    pub fn sync(&mut self, now: u64, last: u64) {
        if self.sound.is_watched() {
            let dot = self.dots(now);
            self.sound.sync(dot);
        }
        if self.timer.is_due(now) {
            self.sync_timer(now);
        }
        self.sync_serial(now);
        if self.dma.is_active() {
            self.sync_dma(now);
        }
        if self.lcd.starting {
            self.lcd.start(self.dots(now));
            self.requested |= self.lcd.compare();
            self.frame_done = true;
        }
        self.sync_lcd(now, last);
    }

    /// The next cycle at which something can happen that the CPU has to be stopped for.
    pub fn next_horizon(&self) -> u64 {
        if self.sound.is_watched() {
            return self.next_look();
        }
        let lcd = if self.hdma.is_waiting() || self.dma.is_active() { self.lcd.at } else { self.lcd.next_request() };
        self.timer.next_request().min(self.serial.done).min(self.cycle_of(lcd))
    }

    /// The next cycle at which the reference looks, whether or not anything comes of it.
    pub fn next_look(&self) -> u64 {
        self.other_events().min(self.cycle_of(self.lcd.at))
    }

    /// Of timer and serial port.
    pub fn other_events(&self) -> u64 {
        self.timer.next_event().min(self.serial.done)
    }
}

saved!(Machine {
    high,
    requested,
    ram,
    booting,
    cartridge,
    timer,
    serial,
    joypad,
    sound,
    lcd,
    dma,
    hdma,
    color,
    oam,
    screen,
    double,
    dot_base,
    dot_from,
    hardware
});
