//! Arithmetic and logic: results and the four flags.

use super::{C, Cpu, H, N, Z};

#[inline(always)]
fn zero(value: u8) -> u8 {
    u8::from(value == 0) << 7
}

impl Cpu {
    #[inline(always)]
    pub(super) fn add(&mut self, value: u8, carry: u8) {
        let sum = u16::from(self.a) + u16::from(value) + u16::from(carry);
        let half = (self.a ^ value ^ sum as u8) << 1 & H;
        self.a = sum as u8;
        self.f = zero(self.a) | half | (sum >> 4) as u8 & C;
    }

    /// A minus `value`; the caller keeps the result or, for CP, does not.
    #[inline(always)]
    pub(super) fn subtract(&mut self, value: u8, carry: u8) -> u8 {
        let difference = u16::from(self.a).wrapping_sub(u16::from(value)).wrapping_sub(u16::from(carry));
        let half = (self.a ^ value ^ difference as u8) << 1 & H;
        self.f = zero(difference as u8) | N | half | (difference >> 4) as u8 & C;
        difference as u8
    }

    #[inline(always)]
    pub(super) fn and(&mut self, value: u8) {
        self.a &= value;
        self.f = zero(self.a) | H;
    }

    #[inline(always)]
    pub(super) fn xor(&mut self, value: u8) {
        self.a ^= value;
        self.f = zero(self.a);
    }

    #[inline(always)]
    pub(super) fn or(&mut self, value: u8) {
        self.a |= value;
        self.f = zero(self.a);
    }

    #[inline(always)]
    pub(super) fn carry(&self) -> u8 {
        self.f >> 4 & 1
    }

    #[inline(always)]
    pub(super) fn increment(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.f = self.f & C | zero(result) | u8::from(result & 0x0F == 0) << 5;
        result
    }

    #[inline(always)]
    pub(super) fn decrement(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.f = self.f & C | zero(result) | N | u8::from(result & 0x0F == 0x0F) << 5;
        result
    }

    #[inline(always)]
    pub(super) fn add_hl(&mut self, value: u16) {
        let sum = u32::from(self.hl) + u32::from(value);
        let half = u8::from((self.hl ^ value ^ sum as u16) & 0x1000 != 0) << 5;
        self.f = self.f & Z | half | u8::from(sum > 0xFFFF) << 4;
        self.hl = sum as u16;
    }

    /// SP plus a signed byte; both flags come from the low byte.
    #[inline(always)]
    pub(super) fn sp_plus(&mut self, offset: u8) -> u16 {
        let low = self.sp as u8;
        let half = u8::from((low & 0x0F) + (offset & 0x0F) > 0x0F) << 5;
        self.f = half | u8::from(low.overflowing_add(offset).1) << 4;
        self.sp.wrapping_add_signed(i16::from(offset as i8))
    }

    #[inline(always)]
    pub(super) fn decimal_adjust(&mut self) {
        let (mut adjustment, mut carry) = (0, self.f & C);
        let subtracted = self.f & N != 0;
        if self.f & H != 0 || !subtracted && self.a & 0x0F > 9 {
            adjustment = 6;
        }
        if carry != 0 || !subtracted && self.a > 0x99 {
            adjustment |= 0x60;
            carry = C;
        }
        self.a = if subtracted { self.a.wrapping_sub(adjustment) } else { self.a.wrapping_add(adjustment) };
        self.f = zero(self.a) | self.f & N | carry;
    }
}
