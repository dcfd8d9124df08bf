//! One instruction: a match over the opcodes, compiled once per bus.

use super::access::{Access, Whole};
use super::{Bus, C, Cpu, H, N, Z};

/// Execute the instruction at PC, which begins at `now`; returns the cycle at which the next one begins.
#[inline(always)]
pub fn step<B: Bus>(cpu: &mut Cpu, bus: &mut B, now: u64) -> u64 {
    let opcode = bus.fetch(now, 0, cpu.pc);
    let mut whole = Whole { bus, now };
    let reached = execute(cpu, &mut whole, u16::from(opcode));
    debug_assert!(reached.is_some());
    whole.now
}

/// The same for an opcode that is known already; 0100 and more are those behind the prefix CB. None if it needs something that is out of reach: then memory is as it
/// was, and the registers have to be put back by whoever has a copy of them.
#[inline(always)]
pub(crate) fn execute<B: Access>(cpu: &mut Cpu, bus: &mut B, opcode: u16) -> Option<()> {
    /// The value of an operand by its letter; `m` is the M-cycle of the access when it is in memory.
    macro_rules! get {
        (h) => {
            cpu.h()
        };
        (l) => {
            cpu.l()
        };
        ($register:ident) => {
            cpu.$register
        };
    }
    macro_rules! set {
        (h, $value:expr) => {{
            let value = $value;
            cpu.set_h(value)
        }};
        (l, $value:expr) => {{
            let value = $value;
            cpu.set_l(value)
        }};
        ($register:ident, $value:expr) => {
            cpu.$register = $value
        };
    }
    /// A byte of code after the opcode; `m` is its place and its M-cycle.
    macro_rules! byte {
        ($m:literal) => {
            bus.operand($m, bus.pc(cpu).wrapping_add($m))
        };
    }
    macro_rules! word {
        () => {{
            let low = byte!(1);
            u16::from(byte!(2)) << 8 | u16::from(low)
        }};
    }
    /// The instruction has so many bytes and takes so many M-cycles.
    macro_rules! done {
        ($bytes:literal, $m:literal) => {
            bus.next(cpu, $bytes, $m)
        };
    }
    macro_rules! load {
        ($to:ident, $from:ident) => {{
            set!($to, get!($from));
            done!(1, 1)
        }};
    }
    macro_rules! load_byte {
        ($to:ident) => {{
            set!($to, byte!(1));
            done!(2, 2)
        }};
    }
    macro_rules! from_hl {
        ($to:ident) => {{
            set!($to, bus.read(1, cpu.hl)?);
            done!(1, 2)
        }};
    }
    macro_rules! to_hl {
        ($from:ident) => {{
            bus.write(1, cpu.hl, get!($from))?;
            done!(1, 2)
        }};
    }
    macro_rules! increment {
        ($at:ident) => {{
            let value = cpu.increment(get!($at));
            set!($at, value);
            done!(1, 1)
        }};
    }
    macro_rules! decrement {
        ($at:ident) => {{
            let value = cpu.decrement(get!($at));
            set!($at, value);
            done!(1, 1)
        }};
    }
    /// One of the eight operations on A, with a value that cost `cycles` in all.
    macro_rules! on_a {
        (add, $value:expr) => {
            cpu.add($value, 0)
        };
        (adc, $value:expr) => {{
            let value = $value;
            cpu.add(value, cpu.carry())
        }};
        (sub, $value:expr) => {{
            let value = $value;
            cpu.a = cpu.subtract(value, 0)
        }};
        (sbc, $value:expr) => {{
            let value = $value;
            cpu.a = cpu.subtract(value, cpu.carry())
        }};
        (and, $value:expr) => {
            cpu.and($value)
        };
        (xor, $value:expr) => {
            cpu.xor($value)
        };
        (or, $value:expr) => {
            cpu.or($value)
        };
        (cp, $value:expr) => {{
            let value = $value;
            cpu.subtract(value, 0);
        }};
    }
    macro_rules! alu {
        ($operation:ident, hl) => {{
            let value = bus.read(1, cpu.hl)?;
            on_a!($operation, value);
            done!(1, 2)
        }};
        ($operation:ident, byte) => {{
            let value = byte!(1);
            on_a!($operation, value);
            done!(2, 2)
        }};
        ($operation:ident, $from:ident) => {{
            let value = get!($from);
            on_a!($operation, value);
            done!(1, 1)
        }};
    }
    macro_rules! rotate_a {
        ($operation:literal) => {{
            cpu.a = cpu.shifted($operation, cpu.a);
            cpu.f &= C;
            done!(1, 1)
        }};
    }
    macro_rules! jump_relative {
        ($condition:expr) => {{
            let offset = byte!(1);
            if $condition { bus.branch(cpu, offset) } else { done!(2, 2) }
        }};
    }
    macro_rules! jump {
        ($condition:expr) => {{
            let target = word!();
            if $condition { bus.jump(cpu, target)? } else { done!(3, 3) }
        }};
    }
    macro_rules! push {
        ($m:literal, $value:expr) => {{
            let value: u16 = $value;
            let (high, low) = ((value >> 8) as u8, value as u8);
            cpu.sp = cpu.sp.wrapping_sub(1);
            bus.write_stack($m, cpu.sp, high)?;
            cpu.sp = cpu.sp.wrapping_sub(1);
            bus.write_stack($m + 1, cpu.sp, low)?;
        }};
    }
    macro_rules! pop {
        ($read:ident, $m:literal) => {{
            let low = bus.$read($m, cpu.sp)?;
            let high = bus.$read($m + 1, cpu.sp.wrapping_add(1))?;
            cpu.sp = cpu.sp.wrapping_add(2);
            u16::from(high) << 8 | u16::from(low)
        }};
    }
    macro_rules! call {
        ($condition:expr) => {{
            let target = word!();
            if $condition {
                push!(4, bus.pc(cpu).wrapping_add(3));
                bus.go_to(cpu, target, 6)?;
            } else {
                done!(3, 3)
            }
        }};
    }
    macro_rules! restart {
        ($target:literal) => {{
            push!(2, bus.pc(cpu).wrapping_add(1));
            bus.go_to(cpu, $target, 4)?;
        }};
    }
    macro_rules! return_if {
        ($condition:expr) => {
            if $condition {
                let target = pop!(read_stack, 2);
                bus.go_to(cpu, target, 5)?;
            } else {
                done!(1, 2)
            }
        };
    }
    /// CB: bits of a register, or of memory.
    macro_rules! bits {
        ($opcode:ident, $at:ident) => {{
            let value = get!($at);
            if $opcode >> 6 == 1 {
                cpu.test_bit($opcode, value);
            } else {
                let value = cpu.changed($opcode, value);
                set!($at, value);
            }
            done!(2, 2)
        }};
    }

    macro_rules! prefixed {
        ($opcode:expr) => {{
            let opcode: u8 = $opcode;
            match opcode & 7 {
                0 => bits!(opcode, b),
                1 => bits!(opcode, c),
                2 => bits!(opcode, d),
                3 => bits!(opcode, e),
                4 => bits!(opcode, h),
                5 => bits!(opcode, l),
                7 => bits!(opcode, a),
                _ => {
                    let value = bus.read(2, cpu.hl)?;
                    if opcode >> 6 == 1 {
                        cpu.test_bit(opcode, value);
                        done!(2, 3)
                    } else {
                        let value = cpu.changed(opcode, value);
                        bus.write(3, cpu.hl, value)?;
                        done!(2, 4)
                    }
                }
            }
        }};
    }

    match opcode {
        0x00 | 0x40 | 0x49 | 0x52 | 0x5B | 0x64 | 0x6D | 0x7F => done!(1, 1),

        0x01 => {
            let value = word!();
            cpu.set_bc(value);
            done!(3, 3)
        }
        0x11 => {
            let value = word!();
            cpu.set_de(value);
            done!(3, 3)
        }
        0x21 => {
            cpu.hl = word!();
            done!(3, 3)
        }
        0x31 => {
            cpu.sp = word!();
            done!(3, 3)
        }
        0x02 => {
            bus.write(1, cpu.bc(), cpu.a)?;
            done!(1, 2)
        }
        0x12 => {
            bus.write_checked(1, cpu.de(), cpu.a)?;
            done!(1, 2)
        }
        0x22 => {
            bus.write(1, cpu.hl, cpu.a)?;
            cpu.hl = cpu.hl.wrapping_add(1);
            done!(1, 2)
        }
        0x32 => {
            bus.write(1, cpu.hl, cpu.a)?;
            cpu.hl = cpu.hl.wrapping_sub(1);
            done!(1, 2)
        }
        0x0A => {
            cpu.a = bus.read(1, cpu.bc())?;
            done!(1, 2)
        }
        0x1A => {
            cpu.a = bus.read_checked(1, cpu.de())?;
            done!(1, 2)
        }
        0x2A => {
            cpu.a = bus.read(1, cpu.hl)?;
            cpu.hl = cpu.hl.wrapping_add(1);
            done!(1, 2)
        }
        0x3A => {
            cpu.a = bus.read(1, cpu.hl)?;
            cpu.hl = cpu.hl.wrapping_sub(1);
            done!(1, 2)
        }
        0x03 => {
            cpu.set_bc(cpu.bc().wrapping_add(1));
            done!(1, 2)
        }
        0x13 => {
            cpu.set_de(cpu.de().wrapping_add(1));
            done!(1, 2)
        }
        0x23 => {
            cpu.hl = cpu.hl.wrapping_add(1);
            done!(1, 2)
        }
        0x33 => {
            cpu.sp = cpu.sp.wrapping_add(1);
            done!(1, 2)
        }
        0x0B => {
            cpu.set_bc(cpu.bc().wrapping_sub(1));
            done!(1, 2)
        }
        0x1B => {
            cpu.set_de(cpu.de().wrapping_sub(1));
            done!(1, 2)
        }
        0x2B => {
            cpu.hl = cpu.hl.wrapping_sub(1);
            done!(1, 2)
        }
        0x3B => {
            cpu.sp = cpu.sp.wrapping_sub(1);
            done!(1, 2)
        }
        0x09 => {
            cpu.add_hl(cpu.bc());
            done!(1, 2)
        }
        0x19 => {
            cpu.add_hl(cpu.de());
            done!(1, 2)
        }
        0x29 => {
            cpu.add_hl(cpu.hl);
            done!(1, 2)
        }
        0x39 => {
            cpu.add_hl(cpu.sp);
            done!(1, 2)
        }
        0x08 => {
            let target = word!();
            let [low, high] = cpu.sp.to_le_bytes();
            bus.write_sp(3, target, low)?;
            bus.write_sp(4, target.wrapping_add(1), high)?;
            done!(3, 5)
        }

        0x04 => increment!(b),
        0x0C => increment!(c),
        0x14 => increment!(d),
        0x1C => increment!(e),
        0x24 => increment!(h),
        0x2C => increment!(l),
        0x3C => increment!(a),
        0x34 => {
            let value = bus.read(1, cpu.hl)?;
            let value = cpu.increment(value);
            bus.write(2, cpu.hl, value)?;
            done!(1, 3)
        }
        0x05 => decrement!(b),
        0x0D => decrement!(c),
        0x15 => decrement!(d),
        0x1D => decrement!(e),
        0x25 => decrement!(h),
        0x2D => decrement!(l),
        0x3D => decrement!(a),
        0x35 => {
            let value = bus.read(1, cpu.hl)?;
            let value = cpu.decrement(value);
            bus.write(2, cpu.hl, value)?;
            done!(1, 3)
        }
        0x06 => load_byte!(b),
        0x0E => load_byte!(c),
        0x16 => load_byte!(d),
        0x1E => load_byte!(e),
        0x26 => load_byte!(h),
        0x2E => load_byte!(l),
        0x3E => load_byte!(a),
        0x36 => {
            let value = byte!(1);
            bus.write(2, cpu.hl, value)?;
            done!(2, 3)
        }

        0x07 => rotate_a!(0),
        0x0F => rotate_a!(1),
        0x17 => rotate_a!(2),
        0x1F => rotate_a!(3),
        0x27 => {
            cpu.decimal_adjust();
            done!(1, 1)
        }
        0x2F => {
            cpu.a = !cpu.a;
            cpu.f |= N | H;
            done!(1, 1)
        }
        0x37 => {
            cpu.f = cpu.f & Z | C;
            done!(1, 1)
        }
        0x3F => {
            cpu.f = (cpu.f & (Z | C)) ^ C;
            done!(1, 1)
        }

        0x10 => {
            bus.bail()?;
            cpu.stopped = true;
            done!(1, 1)
        }
        0x76 => {
            bus.bail()?;
            cpu.halted = true;
            done!(1, 1)
        }
        0xF3 => {
            cpu.ime = false;
            cpu.ei = false;
            done!(1, 1)
        }
        0xFB => {
            bus.bail()?;
            cpu.ei = true;
            done!(1, 1)
        }

        0x18 => jump_relative!(true),
        0x20 => jump_relative!(cpu.f & Z == 0),
        0x28 => jump_relative!(cpu.f & Z != 0),
        0x30 => jump_relative!(cpu.f & C == 0),
        0x38 => jump_relative!(cpu.f & C != 0),
        0xC3 => jump!(true),
        0xC2 => jump!(cpu.f & Z == 0),
        0xCA => jump!(cpu.f & Z != 0),
        0xD2 => jump!(cpu.f & C == 0),
        0xDA => jump!(cpu.f & C != 0),
        0xE9 => {
            bus.go_to(cpu, cpu.hl, 1)?;
        }
        0xCD => call!(true),
        0xC4 => call!(cpu.f & Z == 0),
        0xCC => call!(cpu.f & Z != 0),
        0xD4 => call!(cpu.f & C == 0),
        0xDC => call!(cpu.f & C != 0),
        0xC0 => return_if!(cpu.f & Z == 0),
        0xC8 => return_if!(cpu.f & Z != 0),
        0xD0 => return_if!(cpu.f & C == 0),
        0xD8 => return_if!(cpu.f & C != 0),
        0xC9 => {
            let target = pop!(read_stack, 1);
            bus.go_to(cpu, target, 4)?;
        }
        0xD9 => {
            let target = pop!(read_stack, 1);
            bus.interrupts_on()?;
            cpu.ime = true;
            bus.go_to(cpu, target, 4)?;
        }
        0xC7 => restart!(0x00),
        0xCF => restart!(0x08),
        0xD7 => restart!(0x10),
        0xDF => restart!(0x18),
        0xE7 => restart!(0x20),
        0xEF => restart!(0x28),
        0xF7 => restart!(0x30),
        0xFF => restart!(0x38),

        0xC1 => {
            let value = pop!(read, 1);
            cpu.set_bc(value);
            done!(1, 3)
        }
        0xD1 => {
            let value = pop!(read, 1);
            cpu.set_de(value);
            done!(1, 3)
        }
        0xE1 => {
            cpu.hl = pop!(read, 1);
            done!(1, 3)
        }
        0xF1 => {
            let value = pop!(read, 1);
            cpu.set_af(value);
            done!(1, 3)
        }
        0xC5 => {
            push!(2, cpu.bc());
            done!(1, 4)
        }
        0xD5 => {
            push!(2, cpu.de());
            done!(1, 4)
        }
        0xE5 => {
            push!(2, cpu.hl);
            done!(1, 4)
        }
        0xF5 => {
            push!(2, u16::from(cpu.a) << 8 | u16::from(cpu.f));
            done!(1, 4)
        }

        0xE0 => {
            let register = byte!(1);
            bus.write_high(2, register, cpu.a)?;
            done!(2, 3)
        }
        0xF0 => {
            let register = byte!(1);
            cpu.a = bus.read_high(2, register)?;
            done!(2, 3)
        }
        0xE2 => {
            bus.write_high(1, cpu.c, cpu.a)?;
            done!(1, 2)
        }
        0xF2 => {
            cpu.a = bus.read_high(1, cpu.c)?;
            done!(1, 2)
        }
        0xEA => {
            let target = word!();
            bus.write(3, target, cpu.a)?;
            done!(3, 4)
        }
        0xFA => {
            let from = word!();
            cpu.a = bus.read(3, from)?;
            done!(3, 4)
        }
        0xE8 => {
            let offset = byte!(1);
            cpu.sp = cpu.sp_plus(offset);
            done!(2, 4)
        }
        0xF8 => {
            let offset = byte!(1);
            cpu.hl = cpu.sp_plus(offset);
            done!(2, 3)
        }
        0xF9 => {
            cpu.sp = cpu.hl;
            done!(1, 2)
        }

        0x41 => load!(b, c),
        0x42 => load!(b, d),
        0x43 => load!(b, e),
        0x44 => load!(b, h),
        0x45 => load!(b, l),
        0x46 => from_hl!(b),
        0x47 => load!(b, a),
        0x48 => load!(c, b),
        0x4A => load!(c, d),
        0x4B => load!(c, e),
        0x4C => load!(c, h),
        0x4D => load!(c, l),
        0x4E => from_hl!(c),
        0x4F => load!(c, a),
        0x50 => load!(d, b),
        0x51 => load!(d, c),
        0x53 => load!(d, e),
        0x54 => load!(d, h),
        0x55 => load!(d, l),
        0x56 => from_hl!(d),
        0x57 => load!(d, a),
        0x58 => load!(e, b),
        0x59 => load!(e, c),
        0x5A => load!(e, d),
        0x5C => load!(e, h),
        0x5D => load!(e, l),
        0x5E => from_hl!(e),
        0x5F => load!(e, a),
        0x60 => load!(h, b),
        0x61 => load!(h, c),
        0x62 => load!(h, d),
        0x63 => load!(h, e),
        0x65 => load!(h, l),
        0x66 => from_hl!(h),
        0x67 => load!(h, a),
        0x68 => load!(l, b),
        0x69 => load!(l, c),
        0x6A => load!(l, d),
        0x6B => load!(l, e),
        0x6C => load!(l, h),
        0x6E => from_hl!(l),
        0x6F => load!(l, a),
        0x70 => to_hl!(b),
        0x71 => to_hl!(c),
        0x72 => to_hl!(d),
        0x73 => to_hl!(e),
        0x74 => to_hl!(h),
        0x75 => to_hl!(l),
        0x77 => to_hl!(a),
        0x78 => load!(a, b),
        0x79 => load!(a, c),
        0x7A => load!(a, d),
        0x7B => load!(a, e),
        0x7C => load!(a, h),
        0x7D => load!(a, l),
        0x7E => {
            cpu.a = bus.read_checked(1, cpu.hl)?;
            done!(1, 2)
        }

        0x80 => alu!(add, b),
        0x81 => alu!(add, c),
        0x82 => alu!(add, d),
        0x83 => alu!(add, e),
        0x84 => alu!(add, h),
        0x85 => alu!(add, l),
        0x86 => alu!(add, hl),
        0x87 => alu!(add, a),
        0xC6 => alu!(add, byte),
        0x88 => alu!(adc, b),
        0x89 => alu!(adc, c),
        0x8A => alu!(adc, d),
        0x8B => alu!(adc, e),
        0x8C => alu!(adc, h),
        0x8D => alu!(adc, l),
        0x8E => alu!(adc, hl),
        0x8F => alu!(adc, a),
        0xCE => alu!(adc, byte),
        0x90 => alu!(sub, b),
        0x91 => alu!(sub, c),
        0x92 => alu!(sub, d),
        0x93 => alu!(sub, e),
        0x94 => alu!(sub, h),
        0x95 => alu!(sub, l),
        0x96 => alu!(sub, hl),
        0x97 => alu!(sub, a),
        0xD6 => alu!(sub, byte),
        0x98 => alu!(sbc, b),
        0x99 => alu!(sbc, c),
        0x9A => alu!(sbc, d),
        0x9B => alu!(sbc, e),
        0x9C => alu!(sbc, h),
        0x9D => alu!(sbc, l),
        0x9E => alu!(sbc, hl),
        0x9F => alu!(sbc, a),
        0xDE => alu!(sbc, byte),
        0xA0 => alu!(and, b),
        0xA1 => alu!(and, c),
        0xA2 => alu!(and, d),
        0xA3 => alu!(and, e),
        0xA4 => alu!(and, h),
        0xA5 => alu!(and, l),
        0xA6 => alu!(and, hl),
        0xA7 => alu!(and, a),
        0xE6 => alu!(and, byte),
        0xA8 => alu!(xor, b),
        0xA9 => alu!(xor, c),
        0xAA => alu!(xor, d),
        0xAB => alu!(xor, e),
        0xAC => alu!(xor, h),
        0xAD => alu!(xor, l),
        0xAE => alu!(xor, hl),
        0xAF => alu!(xor, a),
        0xEE => alu!(xor, byte),
        0xB0 => alu!(or, b),
        0xB1 => alu!(or, c),
        0xB2 => alu!(or, d),
        0xB3 => alu!(or, e),
        0xB4 => alu!(or, h),
        0xB5 => alu!(or, l),
        0xB6 => alu!(or, hl),
        0xB7 => alu!(or, a),
        0xF6 => alu!(or, byte),
        0xB8 => alu!(cp, b),
        0xB9 => alu!(cp, c),
        0xBA => alu!(cp, d),
        0xBB => alu!(cp, e),
        0xBC => alu!(cp, h),
        0xBD => alu!(cp, l),
        0xBE => alu!(cp, hl),
        0xBF => alu!(cp, a),
        0xFE => alu!(cp, byte),
        0xCB => {
            let opcode = byte!(1);
            prefixed!(opcode)
        }
        0x100..=0x1FF => prefixed!(opcode as u8),

        // These hang the console: the CPU fetches nothing any more.
        _ => {
            bus.bail()?;
            cpu.locked = true;
            done!(0, 1)
        }
    }
    Some(())
}
