//! The loop: an instruction at a time, with interrupts looked at where its opcode is fetched.

use super::HardwareBus;
use super::bus::M;
use crate::cpu::{Bus, Cpu, step};
use crate::gameboy::GameBoy;
use crate::machine::Machine;
use crate::rom::BANK;
use crate::run::Ran;

const INTERRUPTS: u8 = 0x1F;
/// M-cycles, at the other speed, of the CPU's way to it: the 0x20000 cycles of Pan Docs' chart of STOP. Its text on FF4D
/// has a sixteenth of that, against the age suite, which was verified on consoles.
const SWITCH: u32 = 0x8000;
/// Dots that the picture is ahead by then, at the double speed and at the normal one, by the same suite.
const AHEAD_IN_DOUBLE: u32 = 1;
const AHEAD_IN_NORMAL: u32 = 4;

impl Machine {
    pub(super) fn pending(&self) -> u8 {
        self.requested & self.high[0x7F] & INTERRUPTS
    }
}

impl GameBoy {
    /// The hardware of a console of this mode, and what it is connected to.
    pub(crate) fn with_hardware<T>(&mut self, act: impl FnOnce(&mut Cpu, &mut HardwareBus<'_>) -> T) -> Option<T> {
        let mut hardware = self.machine.hardware.take()?;
        let mut bus = HardwareBus { machine: &mut self.machine, hardware: &mut hardware, clock: self.now, stall: 0 };
        let result = act(&mut self.cpu, &mut bus);
        self.now += bus.stall;
        self.machine.hardware = Some(hardware);
        Some(result)
    }

    /// Run to the end of the frame, or to a hook that stops.
    pub(crate) fn run_hardware_frame(&mut self) -> Ran {
        let begin = self.now;
        let mut now = begin;
        let mut hooks = std::mem::take(&mut self.hooks);
        let mut resume = self.resume;
        let ran = self.with_hardware(|cpu, bus| {
            bus.machine.frame_done = false;
            loop {
                if cpu.stopped {
                    now = bus.stop(cpu, now);
                } else {
                    bus.advance(now);
                }
                // Before a hook or the frame's end: those are not to change when anything happens.
                if bus.stall > 0 && !cpu.stopped {
                    now += std::mem::take(&mut bus.stall);
                    continue;
                }
                if bus.machine.frame_done {
                    return Ran::Frame;
                }
                if cpu.stopped || cpu.locked {
                    now += M;
                    continue;
                }
                let pending = bus.machine.pending();
                if cpu.halted && pending & bus.hardware.seen_in_halt == 0 {
                    now += M;
                    continue;
                }
                cpu.halted = false;
                if cpu.ime && pending != 0 {
                    now = dispatch(cpu, bus, now);
                    continue;
                }
                if !hooks.is_empty() {
                    let bank = if cpu.pc >= 0x8000 { 0 } else { bus.machine.rom_place(cpu.pc) / BANK };
                    if !std::mem::take(&mut resume) && hooks.reach(bank as u16, cpu.pc) {
                        resume = true;
                        return Ran::Hook;
                    }
                }
                now = instruction(cpu, bus, now);
            }
        });
        self.hooks = hooks;
        self.resume = resume;
        self.now += now - begin;
        ran.unwrap_or(Ran::Frame)
    }
}

/// One instruction, and what EI and HALT leave to be done after it.
fn instruction(cpu: &mut Cpu, bus: &mut HardwareBus<'_>, now: u64) -> u64 {
    let enables = cpu.ei;
    let next = step(cpu, bus, now);
    if enables && cpu.ei {
        cpu.ei = false;
        cpu.ime = true;
    }
    if cpu.halted && bus.machine.pending() != 0 {
        cpu.halted = false;
        // After EI the handler returns to the HALT; with interrupts off the CPU does not even stop, and forgets to
        // move PC on.
        cpu.pc = cpu.pc.wrapping_sub(1);
        bus.hardware.repeats = !cpu.ime;
    }
    next
}

/// Call a handler: the fetch that is thrown away, two idle M-cycles, two pushes. Which handler is decided between the
/// pushes: the first may have landed on IE.
fn dispatch(cpu: &mut Cpu, bus: &mut HardwareBus<'_>, now: u64) -> u64 {
    cpu.ime = false;
    // The bug of HALT moved PC back for a fetch that does not come now.
    if std::mem::take(&mut bus.hardware.repeats) {
        cpu.pc = cpu.pc.wrapping_add(1);
    }
    let [high, low] = cpu.pc.to_be_bytes();
    cpu.sp = cpu.sp.wrapping_sub(1);
    bus.write(now, 3, cpu.sp, high);
    let pending = bus.machine.pending();
    cpu.sp = cpu.sp.wrapping_sub(1);
    bus.write(now, 4, cpu.sp, low);
    bus.machine.requested &= !(pending & pending.wrapping_neg());
    cpu.pc = if pending == 0 { 0 } else { 0x40 + 8 * pending.trailing_zeros() as u16 };
    now + 5 * M
}

impl HardwareBus<'_> {
    /// STOP: the other speed if that was asked for; otherwise everything stands still until a button is pressed.
    fn stop(&mut self, cpu: &mut Cpu, now: u64) -> u64 {
        if self.hardware.switching > 0 {
            return self.switch(cpu, now);
        }
        let machine = &mut *self.machine;
        if machine.is_color && machine.color.key1 & 1 != 0 {
            self.advance(now);
            self.reset_div();
            // The byte behind STOP is still fetched at the speed that it leaves.
            let now = now + M;
            self.advance(now);
            self.hardware.switching = SWITCH;
            self.machine.switch_speed(now);
            self.machine.color.key1 = 0;
            self.tick_dots(if self.machine.double { AHEAD_IN_DOUBLE } else { AHEAD_IN_NORMAL });
            return now;
        }
        if machine.joypad.lines() & 0x0F != 0x0F {
            cpu.stopped = false;
            cpu.pc = cpu.pc.wrapping_add(1);
            return now;
        }
        let passed = (now - self.clock) >> u32::from(self.machine.double);
        self.clock = now;
        self.reset_div();
        self.hardware.end_frame_after(passed as u32, false, self.machine);
        now
    }

    /// While the speed changes the CPU is in HALT, which an interrupt ends early.
    fn switch(&mut self, cpu: &mut Cpu, now: u64) -> u64 {
        // A frame may have ended in this M-cycle, which is not to pass twice.
        if self.clock == now {
            return now;
        }
        self.clock = now;
        self.tick_beside_copy();
        self.hardware.switching -= 1;
        if self.machine.pending() & self.hardware.seen_in_halt != 0 {
            self.hardware.switching = 0;
        }
        if self.hardware.switching == 0 {
            cpu.stopped = false;
            cpu.pc = cpu.pc.wrapping_add(1);
        }
        now
    }
}
