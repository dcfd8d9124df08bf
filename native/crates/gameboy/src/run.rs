//! The loop: the CPU runs to the horizon, then the devices are looked at, then interrupts.

use crate::cpu::{Bus, Cpu, step};
use crate::fast::run;
use crate::gameboy::GameBoy;
use crate::hooks::Hooks;
use crate::machine::Machine;
use crate::rom::BANK;

const DISPATCH: u64 = 20;
/// The reference never waits for less than this.
const SHORTEST_WAIT: u64 = 4;
const INTERRUPTS: u8 = 0x1F;

/// Why a run came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    Frame,
    Hook,
}

impl GameBoy {
    /// Run to the end of the frame, or to a hook that stops.
    pub(crate) fn run_frame(&mut self) -> Ran {
        if self.machine.hardware.is_some() {
            return self.run_hardware_frame();
        }
        let rom = self.machine.rom.clone();
        let machine = &mut self.machine;
        let mut cpu = self.cpu;
        let mut now = self.now;
        let mut ran = Ran::Frame;
        machine.frame_done = false;
        loop {
            let mut last = now;
            let served = serve(&mut cpu, machine, now);
            machine.horizon = machine.next_horizon();
            let waited = cpu.halted || cpu.locked;
            now += served.unwrap_or(0);
            if served.is_some() && now >= machine.horizon {
                // The handler's first instruction has to wait until the devices have been looked at.
            } else if waited {
                (now, last) = wait(machine, now);
            } else if cpu.ei {
                now = after_ei(&mut cpu, machine, now);
            } else if self.hooks.is_empty() {
                (now, last) = run(&mut cpu, machine, &rom, now, last);
            } else {
                let stopped;
                (now, last, stopped) = run_hooked(&mut cpu, machine, now, last, &mut self.hooks, &mut self.resume);
                if stopped {
                    ran = Ran::Hook;
                    break;
                }
            }
            // While it waits, PC stays at the HALT.
            if cpu.halted && !waited {
                cpu.pc = cpu.pc.wrapping_sub(1);
            }
            if cpu.stopped {
                stop(&mut cpu, machine, now);
            }
            machine.sync(now, last);
            machine.idle.interrupt();
            if machine.stall > 0 {
                let before = now;
                now += std::mem::take(&mut machine.stall);
                machine.sync(now, before);
            }
            if machine.frame_done {
                break;
            }
        }
        // A state is to hold no more than a frame that is not counted yet.
        if !machine.timer.is_due(now) {
            machine.sync_timer(now);
        }
        self.cpu = cpu;
        self.now = now;
        ran
    }
}

/// Instructions up to the horizon with a look at the hooks before each of them.
fn run_hooked(
    cpu: &mut Cpu,
    machine: &mut Machine,
    mut now: u64,
    mut last: u64,
    hooks: &mut Hooks,
    resume: &mut bool,
) -> (u64, u64, bool) {
    loop {
        let bank = if cpu.pc >= 0x8000 { 0 } else { machine.rom_place(cpu.pc) / BANK };
        if !std::mem::take(resume) && hooks.reach(bank as u16, cpu.pc) {
            *resume = true;
            return (now, last, true);
        }
        machine.idle.forget();
        let next = step(cpu, machine, now);
        if next >= machine.horizon {
            return (next, last.max(machine.idle.last_jump(next)), false);
        }
        now = next;
        last = next;
    }
}

/// Wake the CPU if an interrupt is pending, and call its handler if interrupts are on. The cycles of the call.
fn serve(cpu: &mut Cpu, machine: &mut Machine, now: u64) -> Option<u64> {
    let pending = machine.requested & machine.high[0x7F] & INTERRUPTS;
    if pending == 0 || cpu.locked {
        return None;
    }
    if std::mem::take(&mut cpu.halted) && !std::mem::take(&mut cpu.halted_after_ei) {
        cpu.pc = cpu.pc.wrapping_add(1);
    }
    if !cpu.ime {
        return None;
    }
    cpu.ime = false;
    let [high, low] = cpu.pc.to_be_bytes();
    cpu.sp = cpu.sp.wrapping_sub(1);
    machine.write_stack(now, 2, cpu.sp, high);
    // The push may have landed on IE; if that allows nothing any more, the handler is at 0000.
    let pending = machine.requested & machine.high[0x7F] & INTERRUPTS;
    let number = pending.trailing_zeros();
    let target = if pending == 0 { 0 } else { 0x40 + 8 * number as u16 };
    machine.requested &= !pending | pending.wrapping_sub(1);
    cpu.sp = cpu.sp.wrapping_sub(1);
    machine.write_stack(now, 3, cpu.sp, if pending == 0 { 0 } else { low });
    cpu.pc = target;
    Some(if pending == 0 { DISPATCH + 4 } else { DISPATCH })
}

/// The instruction after EI, and interrupts are on.
fn after_ei(cpu: &mut Cpu, machine: &mut Machine, now: u64) -> u64 {
    let look = machine.next_look();
    let mut next = step(cpu, machine, now);
    if std::mem::take(&mut cpu.ei) {
        cpu.ime = true;
        if cpu.halted {
            // The reference executes a HALT right after EI twice, unless it has to look at an interrupt or at the
            // devices in between; then the handler returns to the HALT.
            if machine.requested & machine.high[0x7F] & INTERRUPTS != 0 {
                cpu.halted = false;
                cpu.pc = cpu.pc.wrapping_sub(1);
            } else if next >= look {
                cpu.halted_after_ei = true;
            } else {
                next += SHORTEST_WAIT;
            }
        }
    }
    next
}

/// STOP: the other speed if that was asked for, otherwise nothing but the byte that follows it.
fn stop(cpu: &mut Cpu, machine: &mut Machine, now: u64) {
    cpu.stopped = false;
    cpu.pc = cpu.pc.wrapping_add(1);
    if machine.is_color && machine.color.key1 & 1 != 0 {
        let at = now - 4;
        machine.sync(at, at);
        machine.sync_timer(at);
        machine.switch_speed(at);
        machine.reset_div(at);
        machine.color.key1 ^= 0x81;
    }
}

/// Let time pass without the CPU. The reference steps from event to event and never by less than four cycles, which is
/// felt only where two of them lie closer together than that.
fn wait(machine: &mut Machine, now: u64) -> (u64, u64) {
    let look = machine.next_look();
    if look < now + 2 * SHORTEST_WAIT {
        return (look.max(now + SHORTEST_WAIT), now);
    }
    let other = machine.other_events();
    if other > machine.horizon || other == look {
        let next = machine.horizon.min(other);
        return (next, next - 1);
    }
    let before = other - SHORTEST_WAIT;
    machine.sync_lcd(before, before);
    let look = machine.cycle_of(machine.lcd.at);
    let next = look.min(other);
    (next, next - 1)
}
