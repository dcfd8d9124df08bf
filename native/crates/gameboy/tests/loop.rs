//! However instructions are executed, they do the same. A console with a hook fetches every byte of code and passes over
//! nothing; one without runs decoded code, leaves to the bus what it has to, and passes over loops that wait.

mod common;

use std::sync::Arc;

use common::{Random, rom_of};
use gameboy::{Button, Compat, GameBoy, HookAction, Model, Options, Rom};

/// Where no code comes to: in the header.
const NOWHERE: u16 = 0x0140;
const MAPPERS: [u8; 4] = [0x00, 0x03, 0x13, 0x1B];

fn agree(rom: &[u8], options: &Options, frames: u32, what: &str) {
    let rom = Arc::new(Rom::new(rom).unwrap());
    let mut fast = GameBoy::new(rom.clone(), options);
    let mut plain = GameBoy::new(rom, options);
    plain.hook(0, NOWHERE, HookAction::Count);
    for frame in 0..frames {
        for console in [&mut fast, &mut plain] {
            console.button(Button::ALL[frame as usize % 8], 2);
            console.tick(1 + frame % 2, frame % 3 == 0);
        }
        assert_eq!(fast.registers(), plain.registers(), "{what}, frame {frame}");
        assert_eq!(fast.cycles(), plain.cycles(), "{what}, frame {frame}");
        assert!(fast.save() == plain.save(), "{what}, frame {frame}: memory or a device differs");
    }
}

/// Programs that jump and call all over, with most of their data in RAM and some of it in devices.
fn program(random: &mut Random, mapper: u8) -> Vec<u8> {
    let mut bytes = random.bytes(0x10000);
    for at in 0..bytes.len() {
        match bytes[at] {
            // What hangs the CPU, and half of what only waits.
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB..=0xED | 0xF4 | 0xFC | 0xFD | 0x10 => bytes[at] = 0x2A,
            0x76 if random.byte() < 0x80 => bytes[at] = 0x22,
            // Pointers into work RAM.
            0x01 | 0x11 | 0x21 | 0x31 if at + 2 < bytes.len() => bytes[at + 2] = 0xC1 + random.byte() % 0x1E,
            _ => {}
        }
    }
    bytes[0x100..0x104].copy_from_slice(&[0x31, 0xFE, 0xDF, 0xFB]);
    bytes[0x147..0x14A].copy_from_slice(&[mapper, 1, 3]);
    bytes
}

#[test]
fn random_programs_do_the_same_decoded_and_fetched() {
    let mut random = Random(5);
    for round in 0..32 {
        let rom = program(&mut random, MAPPERS[round % MAPPERS.len()]);
        let model = [Model::Dmg, Model::Cgb][round % 2];
        let compat = [Compat::PyBoy, Compat::Hardware][round / 2 % 2];
        let options = Options { model, compat, ..Options::default() };
        agree(&rom, &options, 10, &format!("program {round}"));
    }
}

#[test]
fn loops_that_wait_or_count_end_where_they_should() {
    let flag_set_by_timer = [
        0x3E, 0x05, 0xE0, 0x07, 0x3E, 0x04, 0xE0, 0xFF, 0xF0, 0x0F, 0xE6, 0x04, 0x28, 0xFA, 0xAF, 0xE0, 0x0F, 0x04,
        0x18, 0xF4,
    ];
    let line = [0xF0, 0x44, 0xFE, 0x90, 0x20, 0xFA, 0x34, 0xF0, 0x44, 0xFE, 0x90, 0x28, 0xFA, 0x18, 0xF1];
    let mode = [0xF0, 0x41, 0xE6, 0x03, 0xC2, 0x50, 0x01, 0x0C, 0xC3, 0x50, 0x01];
    let delay = [0x06, 0x00, 0x05, 0x20, 0xFD, 0x0C, 0x18, 0xF8];
    let jump_to_next =
        [0xC3, 0x53, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00];
    let around = [0x00; 9].into_iter().chain([0xC3, 0x50, 0x01]);
    let jump_to_next: Vec<u8> = jump_to_next.into_iter().chain(around).collect();
    for (what, code) in [
        ("a flag", flag_set_by_timer.as_slice()),
        ("LY", &line),
        ("STAT", &mode),
        ("a counter", &delay),
        ("a jump to where it ends", &jump_to_next),
    ] {
        agree(&rom_of(code), &Options::default(), 20, what);
    }
}

#[test]
fn code_that_runs_from_one_bank_into_the_next_goes_on_there() {
    let mut rom = rom_of(&[0xC3, 0xF8, 0x3F]);
    rom[0x3FF8..0x4010].copy_from_slice(&[
        0x04, 0x0C, 0x14, 0x1C, 0x24, 0x2C, 0x06, 0x12, 0x0E, 0x34, 0x18, 0xF2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
    agree(&rom, &Options::default(), 6, "an instruction at the end");
    rom[0x3FFD..0x4002].copy_from_slice(&[0x2C, 0x2C, 0x3E, 0x77, 0x3C]);
    agree(&rom, &Options::default(), 6, "an instruction across the end");
}

/// The timer interrupts every 128 cycles and every HBlank does, so that one often waits when the other's handler returns.
#[test]
fn an_interrupt_that_waits_for_reti_comes_before_the_next_instruction() {
    let handler = |counter: u8| [0xE5, 0x21, counter, 0xC0, 0x34, 0xE1, 0xD9, 0x00];
    let set_up = [
        0x3E, 0xF8, 0xE0, 0x06, 0xE0, 0x05, 0x3E, 0x05, 0xE0, 0x07, 0x3E, 0x08, 0xE0, 0x41, 0xAF, 0xE0, 0x0F, 0x3E,
        0x07, 0xE0, 0xFF, 0xFB,
    ];
    let counts_in_rom = [0x0C, 0x18, 0xFD].as_slice();
    let counts_in_ram = &[0x21, 0x00, 0xC1, 0x36, 0x0C, 0x23, 0x36, 0x18, 0x23, 0x36, 0xFD, 0xC3, 0x00, 0xC1];
    for (what, stack, program) in [
        ("in ROM", [0x31, 0x00, 0xE0], counts_in_rom),
        ("with a stack in high RAM", [0x31, 0xFE, 0xFF], counts_in_rom),
        ("in RAM", [0x31, 0x00, 0xE0], counts_in_ram),
    ] {
        let mut rom = rom_of(&[stack.as_slice(), &set_up, program].concat());
        rom[0x40..0x58].copy_from_slice(&[handler(0), handler(1), handler(2)].concat());
        agree(&rom, &Options::default(), 20, what);
    }
}
