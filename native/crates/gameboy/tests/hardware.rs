//! `Compat::Hardware`: how long frames are, and that nobody who looks changes the time.

mod common;

use std::sync::Arc;

use common::rom_of;
use gameboy::{Button, Compat, GameBoy, HookAction, Model, Options, Rom};

const FRAME: u64 = 70_224;
/// Asks for the other speed: LD A,1; LDH (4D),A; STOP.
const SWITCH: [u8; 6] = [0x3E, 0x01, 0xE0, 0x4D, 0x10, 0x00];
const FOR_EVER: [u8; 2] = [0x18, 0xFE];

fn console(code: &[u8]) -> GameBoy {
    let mut bytes = rom_of(code);
    bytes[0x143] = 0x80;
    let options = Options { model: Model::Cgb, compat: Compat::Hardware, sound: true, ..Options::default() };
    GameBoy::new(Arc::new(Rom::new(&bytes).unwrap()), &options)
}

fn cycles_of_a_frame(gameboy: &mut GameBoy) -> u64 {
    let before = gameboy.cycles();
    gameboy.tick(1, false);
    gameboy.cycles() - before
}

#[test]
fn in_stop_a_frame_has_its_usual_length_with_the_lcd_on() {
    let mut gameboy = console(&[0x10, 0x00, 0x18, 0xFE]);
    gameboy.tick(2, false);
    for _ in 0..3 {
        assert_eq!(cycles_of_a_frame(&mut gameboy), FRAME);
    }
    assert_eq!(gameboy.registers().pc, 0x151);
    gameboy.write(0xFF00, 0x10);
    gameboy.press(Button::A);
    gameboy.tick(1, false);
    assert_eq!(gameboy.registers().pc, 0x152, "it goes on behind the STOP");
}

#[test]
fn in_stop_a_frame_of_the_double_speed_has_twice_the_cycles() {
    let code = [SWITCH.as_slice(), &[0x10, 0x00], &FOR_EVER].concat();
    let mut gameboy = console(&code);
    gameboy.tick(3, false);
    for _ in 0..3 {
        assert_eq!(cycles_of_a_frame(&mut gameboy), 2 * FRAME);
    }
}

/// The cycles from a STOP in `line`, which asks for the other speed, to the instruction behind it.
fn cycles_of_a_switch(line: u8) -> u64 {
    // LDH A,(44); CP line; JR NZ back
    let code = [&[0xF0, 0x44, 0xFE, line, 0x20, 0xFA], SWITCH.as_slice(), &FOR_EVER].concat();
    let mut gameboy = console(&code);
    let (stop, behind) = (0x15A, 0x15C);
    gameboy.hook(0, stop, HookAction::Stop);
    gameboy.hook(0, behind, HookAction::Stop);
    run_to(&mut gameboy, stop);
    let before = gameboy.cycles();
    run_to(&mut gameboy, behind);
    gameboy.cycles() - before
}

fn run_to(gameboy: &mut GameBoy, address: u16) {
    while gameboy.tick(1, false) == 1 {}
    assert_eq!(gameboy.registers().pc, address);
}

#[test]
fn a_switch_of_the_speed_takes_as_long_where_a_frame_ends_in_it() {
    // It takes nearly 144 of a frame's 154 lines.
    assert_eq!(cycles_of_a_switch(5), cycles_of_a_switch(100));
}

#[test]
fn a_hook_right_behind_a_copy_in_hblank_changes_no_time() {
    let mut plain = console(&[0x00, 0x18, 0xFD]); // 16 cycles: an HBlank begins in each M-cycle of it by turns
    for (address, value) in [(0xFF51, 0xC0), (0xFF52, 0), (0xFF53, 0x80), (0xFF54, 0), (0xFF55, 0xFF)] {
        plain.write(address, value);
    }
    let mut hooked = plain.clone();
    hooked.hook(0, 0x150, HookAction::Stop);
    for _ in 0..2 {
        plain.tick(1, false);
        while hooked.tick(1, false) == 0 {}
        assert_eq!(hooked.cycles(), plain.cycles());
        assert!(hooked.save() == plain.save());
    }
}
