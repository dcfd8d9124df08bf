//! Rotations, shifts and single bits: the instructions behind the prefix CB.

use super::{C, Cpu, H, Z};

impl Cpu {
    /// RLC RRC RL RR SLA SRA SWAP SRL, RES and SET: what becomes of `value`. BIT only looks, and is not among them.
    #[inline(always)]
    pub(super) fn changed(&mut self, opcode: u8, value: u8) -> u8 {
        let bit = 1 << (opcode >> 3 & 7);
        match opcode >> 6 {
            0 => self.shifted(opcode >> 3, value),
            2 => value & !bit,
            _ => value | bit,
        }
    }

    #[inline(always)]
    pub(super) fn shifted(&mut self, operation: u8, value: u8) -> u8 {
        let carry = self.f >> 4 & 1;
        let (result, out) = match operation & 7 {
            0 => (value.rotate_left(1), value >> 7),
            1 => (value.rotate_right(1), value & 1),
            2 => (value << 1 | carry, value >> 7),
            3 => (value >> 1 | carry << 7, value & 1),
            4 => (value << 1, value >> 7),
            5 => (value >> 1 | value & 0x80, value & 1),
            6 => (value.rotate_left(4), 0),
            _ => (value >> 1, value & 1),
        };
        self.f = if result == 0 { Z } else { 0 } | out << 4;
        result
    }

    #[inline(always)]
    pub(super) fn test_bit(&mut self, opcode: u8, value: u8) {
        let clear = value >> (opcode >> 3 & 7) & 1 == 0;
        self.f = self.f & C | H | if clear { Z } else { 0 };
    }
}
