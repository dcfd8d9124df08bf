//! One instruction of the CPU on 64 KiB of RAM, with every access: for the single-instruction test vectors.

use gameboy::cpu::{Bus, Cpu, step};
use pyo3::prelude::*;

type Access = (u64, char, u16, u8);

struct Flat {
    memory: Box<[u8; 0x10000]>,
    accesses: Vec<Access>,
}

impl Bus for Flat {
    fn fetch(&mut self, now: u64, m: u64, address: u16) -> u8 {
        self.read(now, m, address)
    }

    fn read(&mut self, _now: u64, m: u64, address: u16) -> u8 {
        let value = self.memory[usize::from(address)];
        self.accesses.push((m, 'r', address, value));
        value
    }

    fn write(&mut self, _now: u64, m: u64, address: u16, value: u8) {
        self.memory[usize::from(address)] = value;
        self.accesses.push((m, 'w', address, value));
    }
}

/// Run the instruction at PC. Registers are PC SP A B C D E F H L IME EI. Returns them, the memory at the given
/// addresses, every access as (M-cycle, "r" or "w", address, value), and the number of M-cycles.
#[pyfunction]
pub fn sm83_step(registers: [u16; 12], memory: Vec<(u16, u8)>) -> ([u16; 12], Vec<u8>, Vec<Access>, u64) {
    let [pc, sp, a, b, c, d, e, f, h, l, ime, ei] = registers;
    let [a, b, c, d, e, f] = [a, b, c, d, e, f].map(|value| value as u8);
    let mut cpu = Cpu { a, f, b, c, d, e, hl: h << 8 | l, sp, pc, ime: ime != 0, ei: ei != 0, ..Cpu::default() };
    let mut bus = Flat { memory: Box::new([0; 0x10000]), accesses: Vec::new() };
    for (address, value) in &memory {
        bus.memory[usize::from(*address)] = *value;
    }
    let cycles = step(&mut cpu, &mut bus, 0) / 4;
    let [a, b, c, d, e, f] = [cpu.a, cpu.b, cpu.c, cpu.d, cpu.e, cpu.f].map(u16::from);
    let (ime, ei) = (u16::from(cpu.ime), u16::from(cpu.ei));
    let registers = [cpu.pc, cpu.sp, a, b, c, d, e, f, cpu.hl >> 8, cpu.hl & 0xFF, ime, ei];
    (registers, memory.iter().map(|(address, _)| bus.memory[usize::from(*address)]).collect(), bus.accesses, cycles)
}
