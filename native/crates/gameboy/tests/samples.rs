//! Samples of the sound: made when asked for, the same after a state, gone without sound.

mod common;

use std::sync::Arc;

use common::rom_of;
use gameboy::{Compat, GameBoy, Options, Rom};

/// Power, all channels on both sides, and a tone on channel 1.
const TONE: [u8; 26] = [
    0x3E, 0x80, 0xE0, 0x26, 0x3E, 0xFF, 0xE0, 0x25, 0x3E, 0xF0, 0xE0, 0x12, 0x3E, 0x80, 0xE0, 0x11, 0x3E, 0x10, 0xE0,
    0x13, 0x3E, 0x87, 0xE0, 0x14, 0x18, 0xFE,
];

fn console(options: &Options) -> GameBoy {
    GameBoy::new(Arc::new(Rom::new(&rom_of(&TONE)).unwrap()), options)
}

fn sounding() -> Options {
    Options { sound: true, sample_rate: 48_000, ..Options::default() }
}

#[test]
fn only_a_frame_that_is_asked_for_is_sampled() {
    let mut gameboy = console(&sounding());
    gameboy.tick_sampled(3, false, true);
    assert!((803..=804).contains(&gameboy.samples().len()));
    assert!(gameboy.samples().contains(&[15, 15]) && gameboy.samples().contains(&[0, 0]));
    gameboy.tick(1, false);
    assert!(gameboy.samples().is_empty());
}

#[test]
fn a_loaded_state_and_a_clone_sound_as_the_original_does() {
    let mut original = console(&sounding());
    original.tick_sampled(4, false, true);
    let mut loaded = console(&sounding());
    loaded.load(&original.save()).unwrap();
    let mut copy = original.clone();
    for _ in 0..3 {
        for gameboy in [&mut original, &mut loaded, &mut copy] {
            gameboy.tick_sampled(2, false, true);
        }
        assert_eq!(original.samples(), loaded.samples());
        assert_eq!(original.samples(), copy.samples());
    }
}

#[test]
fn what_is_sampled_does_not_change_the_game() {
    let mut sampled = console(&sounding());
    let mut silent = console(&sounding());
    sampled.tick_sampled(5, false, true);
    silent.tick(5, false);
    assert_eq!((sampled.cycles(), sampled.registers()), (silent.cycles(), silent.registers()));
    sampled.tick_sampled(1, false, true);
    silent.tick_sampled(1, false, true);
    assert_eq!(sampled.samples(), silent.samples());
}

#[test]
fn without_sound_there_are_no_samples() {
    let mut gameboy = console(&Options { sound: false, ..sounding() });
    gameboy.tick_sampled(3, false, true);
    assert!(gameboy.samples().is_empty());
}

#[test]
fn without_a_rate_there_are_no_samples() {
    for compat in [Compat::PyBoy, Compat::Hardware] {
        let mut gameboy = console(&Options { compat, sample_rate: 0, ..sounding() });
        gameboy.tick_sampled(3, false, true);
        assert!(gameboy.samples().is_empty());
        assert_eq!(gameboy.read(0xFF26), 0xF1, "the registers work");
    }
}

#[test]
fn a_state_of_a_console_without_samples_can_be_sampled() {
    let mut silent = console(&Options { sample_rate: 0, ..sounding() });
    silent.tick(2, false);
    let mut sampled = console(&sounding());
    sampled.load(&silent.save()).unwrap();
    sampled.tick_sampled(1, false, true);
    assert!((803..=804).contains(&sampled.samples().len()));
}

#[test]
fn the_consoles_mixer_takes_volumes_into_account() {
    let mut gameboy = console(&Options { compat: Compat::Hardware, ..sounding() });
    gameboy.tick(2, false);
    gameboy.write(0xFF25, 0x11);
    gameboy.write(0xFF24, 0x71);
    gameboy.tick_sampled(1, false, true);
    assert!(gameboy.samples().contains(&[30, 7]) && gameboy.samples().contains(&[-30, -7]));
}
