//! The ROM's code, decoded once for all consoles that share it: a word for the instruction that begins at each byte.
//!
//! The CPU then looks up one word where it would have fetched up to three bytes. A ROM never changes, so neither do
//! the words. Code in RAM has none; it is fetched byte by byte.

use crate::idle::{LONGEST, only_reads};
use crate::rom::BANK;

/// The part of a word that is the opcode; 0100 and more are those behind the prefix CB.
pub(crate) const OPCODE: u32 = 0x1FF;
/// The bytes that follow it begin at this bit.
pub(crate) const OPERANDS: u32 = 16;
/// No instruction has this opcode. In a word it stands for instructions that are left to the bus: those that do not
/// lead on within their bank, and those that end a loop that may only wait.
const LEFT_OUT: u32 = 0xD3;

/// The words of a bank.
pub(crate) type Code = [u32; BANK];

pub(crate) fn decode(rom: &[u8]) -> Box<[Code]> {
    rom.chunks(BANK).map(|bank| std::array::from_fn(|at| word(bank, at))).collect()
}

fn word(bank: &[u8], at: usize) -> u32 {
    let opcode = bank[at];
    let end = at + length(opcode);
    if end >= bank.len() {
        return LEFT_OUT;
    }
    let target = match opcode {
        0x18 | 0x20 | 0x28 | 0x30 | 0x38 => end.wrapping_add_signed(isize::from(bank[at + 1] as i8)),
        0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA => usize::from(u16::from_le_bytes([bank[at + 1], bank[at + 2]])) % BANK,
        _ => end,
    };
    if target >= bank.len() || ends_waiting(bank, target, end) {
        return LEFT_OUT;
    }
    if opcode == 0xCB {
        return 0x100 | u32::from(bank[at + 1]);
    }
    let operands = bank[at + 1..end].iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
    u32::from(opcode) | operands << OPERANDS
}

/// Whether a jump back from `end` to `target` is over instructions that only read.
fn ends_waiting(bank: &[u8], target: usize, end: usize) -> bool {
    target < end && end - target <= usize::from(LONGEST) && only_reads(&bank[target..end])
}

/// Bytes of an instruction.
fn length(opcode: u8) -> usize {
    match opcode {
        0x01 | 0x11 | 0x21 | 0x31 | 0x08 => 3,
        0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA | 0xC4 | 0xCC | 0xCD | 0xD4 | 0xDC | 0xEA | 0xFA => 3,
        0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x36 | 0x3E => 2,
        0x18 | 0x20 | 0x28 | 0x30 | 0x38 | 0xE0 | 0xF0 | 0xE8 | 0xF8 | 0xCB => 2,
        0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => 2,
        _ => 1,
    }
}
