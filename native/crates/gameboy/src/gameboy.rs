//! What a user of the crate holds: one console with a cartridge in it.

use std::sync::Arc;

use crate::cpu::{Bus, Cpu};
use crate::hardware::Hardware;
use crate::hooks::{HookAction, Hooks};
use crate::joypad::Button;
use crate::machine::{CARTRIDGE, Machine, VRAM, WRAM};
use crate::rom::{BANK, Rom};
use crate::run::Ran;
use crate::screen::PIXELS;
use crate::state::saved;
use crate::{Model, Options};

#[derive(Clone, Debug)]
pub struct GameBoy {
    pub(crate) cpu: Cpu,
    pub(crate) now: u64,
    pub(crate) machine: Machine,
    pub(crate) hooks: Hooks,
    /// The last run stopped at a hook; it goes on with the instruction there.
    pub(crate) resume: bool,
    /// Buttons to be let go of, and after how many frames.
    pub(crate) releases: [u32; 8],
}

impl GameBoy {
    pub fn new(rom: Arc<Rom>, options: &Options) -> Self {
        let is_color = options.model.is_color(&rom);
        let machine = Machine::new(rom, options, is_color);
        let mut gameboy =
            Self { cpu: Cpu::default(), now: 0, machine, hooks: Hooks::default(), resume: false, releases: [0; 8] };
        if is_color && !gameboy.machine.color_mode {
            gameboy.with_hardware(|_, bus| bus.color_old_game());
        }
        if options.boot.is_none() {
            gameboy.start_at_cartridge();
        }
        gameboy
    }

    /// Bytes that a console with this cartridge takes; samples of its sound and the devices of `Compat::Hardware` come on top.
    pub fn size(rom: &Rom, model: Model) -> usize {
        let colors = if model.is_color(rom) { size_of::<[u16; PIXELS]>() } else { 0 };
        size_of::<Self>() + CARTRIDGE + rom.ram_size + PIXELS + colors
    }

    /// What boot code leaves behind, as far as games rely on it.
    fn start_at_cartridge(&mut self) {
        let (color, checksum) = (self.machine.is_color, self.machine.rom.bytes[0x14D]);
        let started = self.with_hardware(|cpu, bus| {
            *cpu = Hardware::registers(color, checksum);
            bus.start_at_cartridge();
        });
        if started.is_some() {
            return;
        }
        let a = if self.machine.is_color { 0x11 } else { 0x01 };
        self.cpu = Cpu { a, f: 0xB0, c: 0x13, e: 0xD8, hl: 0x014D, sp: 0xFFFE, pc: 0x0100, ..Cpu::default() };
        self.write(0xFF47, 0xFC);
        self.write(0xFF40, 0x91);
        self.machine.requested = 1;
    }

    /// Run `frames` frames, and draw the last one if asked to. Returns how many ran: fewer if a hook stopped the run.
    pub fn tick(&mut self, frames: u32, render: bool) -> u32 {
        self.tick_sampled(frames, render, false)
    }

    /// The same, and make samples of the last frame's sound if asked to and `Options::sample_rate` says how many.
    pub fn tick_sampled(&mut self, frames: u32, render: bool, sound: bool) -> u32 {
        for frame in 0..frames {
            let drawing = render && frame + 1 == frames;
            if drawing != self.machine.screen.drawing {
                self.machine.screen.drawing = drawing;
                self.machine.map();
            }
            // After a hook, a frame goes on.
            if self.machine.sound.is_emulated() && !self.resume {
                let dot = self.machine.dots(self.now);
                self.machine.sound.begin_frame(dot, sound && frame + 1 == frames);
            }
            self.let_go();
            if self.run_frame() == Ran::Hook {
                return frame;
            }
            if self.machine.sound.is_emulated() {
                let dot = self.machine.dots(self.now);
                self.machine.sound.end_frame(dot);
            }
        }
        frames
    }

    fn let_go(&mut self) {
        for (left, button) in self.releases.iter_mut().zip(Button::ALL) {
            if *left > 0 {
                *left -= 1;
                if *left == 0 {
                    self.machine.joypad.release(button);
                }
            }
        }
    }

    pub fn press(&mut self, button: Button) {
        let before = self.machine.joypad.lines();
        let pressed = self.machine.joypad.press(button);
        // A console sees a button only while its row is chosen; the reference always.
        let seen = self.machine.hardware.is_none() || self.machine.joypad.lines() != before;
        if pressed && seen {
            self.machine.requested |= 0x10;
        }
    }

    pub fn release(&mut self, button: Button) {
        self.machine.joypad.release(button);
    }

    /// Press a button now, and let go of it after `frames` frames.
    pub fn button(&mut self, button: Button, frames: u32) {
        self.press(button);
        self.releases[button as usize] = frames.saturating_add(1);
    }

    /// A byte as the CPU would read it now; with `Compat::Hardware` as if nothing kept it from there.
    pub fn read(&mut self, address: u16) -> u8 {
        if let Some(byte) = self.with_hardware(|_, bus| bus.byte_behind_locks(address)) {
            return byte;
        }
        self.machine.read(self.now, 1, address)
    }

    /// Write a byte as the CPU would.
    pub fn write(&mut self, address: u16, value: u8) {
        if self.with_hardware(|_, bus| bus.put(address, value)).is_none() {
            self.machine.write(self.now, 1, address, value);
        }
    }

    /// A byte of a bank of ROM, video RAM, cartridge RAM or work RAM, whichever is selected; None where there is none.
    pub fn read_bank(&self, bank: usize, address: u16) -> Option<u8> {
        let machine = &self.machine;
        let offset = usize::from(address);
        match address {
            0x0000..0x8000 => machine.rom.bytes.get(bank * BANK + (offset & 0x3FFF)).copied(),
            0x8000..0xA000 if bank < 2 => Some(machine.ram[VRAM + bank * 0x2000 + (offset & 0x1FFF)]),
            0xA000..0xC000 => machine.ram.get(CARTRIDGE + bank * 0x2000 + (offset & 0x1FFF)).copied(),
            0xC000..0xE000 if bank < 8 => Some(machine.ram[WRAM + bank * 0x1000 + (offset & 0x0FFF)]),
            _ => None,
        }
    }

    /// What went out over the cable since this was last asked for: the last 256 bytes of it.
    pub fn sent(&mut self) -> Vec<u8> {
        self.machine.sent.take()
    }

    pub fn registers(&self) -> Cpu {
        self.cpu
    }

    pub fn set_registers(&mut self, cpu: Cpu) {
        self.cpu = Cpu { f: cpu.f & 0xF0, ..cpu };
        self.machine.idle.forget();
    }

    /// Cycles since the console was switched on.
    pub fn cycles(&self) -> u64 {
        self.now
    }

    /// The picture of the last frame drawn in shades 0 to 3; a Game Boy Color has none.
    pub fn screen_shades(&self) -> &[u8; PIXELS] {
        &self.machine.screen.shades
    }

    /// The picture in PyBoy's colors; `into` has 4 bytes for each pixel.
    pub fn write_rgba(&self, into: &mut [u8]) {
        self.machine.screen.rgba(into);
    }

    /// The sound of the last frame, left and right, if samples of it were made: with `Compat::PyBoy` the sum of the levels
    /// of the channels, 0 to 60, otherwise what the console's mixer makes of them, -120 to 120.
    pub fn samples(&self) -> &[[i8; 2]] {
        self.machine.sound.samples()
    }

    /// Set the cartridge's clock, which otherwise starts at 0 and counts emulated cycles.
    pub fn set_clock(&mut self, seconds: u64) {
        self.machine.cartridge.set_clock(self.now, seconds);
    }

    pub fn is_color(&self) -> bool {
        self.machine.is_color
    }

    /// Whether a console was made with the same options as this one, so that it can take its place.
    pub fn is_like(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.machine, &other.machine);
        ours.is_color == theirs.is_color
            && ours.compat == theirs.compat
            && ours.sound.is_emulated() == theirs.sound.is_emulated()
            && ours.sound.interval() == theirs.sound.interval()
            && ours.boot == theirs.boot
    }

    pub fn rom(&self) -> &Arc<Rom> {
        &self.machine.rom
    }

    /// Do something when the CPU comes to an address in a bank of ROM.
    pub fn hook(&mut self, bank: u16, address: u16, action: HookAction) {
        self.hooks.add(bank, address, action);
    }

    pub fn unhook(&mut self, bank: u16, address: u16) {
        self.hooks.remove(bank, address);
    }

    /// How often the CPU has come to a hook.
    pub fn hook_count(&self, bank: u16, address: u16) -> u64 {
        self.hooks.count(bank, address)
    }
}

saved!(GameBoy { cpu, now, machine, releases });
