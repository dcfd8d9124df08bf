//! States: saved, loaded, cloned, refused.

mod common;

use std::sync::Arc;

use common::{rom_of, started};
use gameboy::{Compat, GameBoy, Model, Options, Rom, StateError, saved_cycles};

/// Counts in WRAM and waits for LY, with the timer running.
const COUNTS: [u8; 17] =
    [0x3E, 0x05, 0xE0, 0x07, 0x21, 0x00, 0xC0, 0x34, 0xF0, 0x44, 0xFE, 0x50, 0x20, 0xFA, 0x2C, 0x18, 0xF6];

#[test]
fn a_loaded_state_runs_on_as_the_original_does() {
    for compat in [Compat::PyBoy, Compat::Hardware] {
        runs_on(&Options { compat, sound: true, ..Options::default() });
    }
}

fn runs_on(options: &Options) {
    let mut original = GameBoy::new(Arc::new(Rom::new(&rom_of(&COUNTS)).unwrap()), options);
    original.tick(40, false);
    let state = original.save();
    let mut other = GameBoy::new(original.rom().clone(), options);
    other.load(&state).unwrap();
    for _ in 0..5 {
        original.tick(3, true);
        other.tick(3, true);
        assert_eq!(original.cycles(), other.cycles());
        assert_eq!(original.registers(), other.registers());
        assert_eq!(original.save(), other.save());
    }
}

#[test]
fn the_cycles_of_a_state_are_known_without_its_console() {
    let mut console = started(&COUNTS);
    console.tick(7, false);
    let state = console.save();
    assert_eq!(saved_cycles(&state), Ok(console.cycles()));
    assert_eq!(saved_cycles(&state[..20]), Err(StateError::Truncated));
    assert_eq!(saved_cycles(b"state"), Err(StateError::NotAState));
}

/// Nothing of the sound moves then: what it holds stays far behind.
#[test]
fn a_state_without_sound_can_be_loaded_after_a_long_time() {
    for sound in [false, true] {
        let rom = Arc::new(Rom::new(&rom_of(&COUNTS)).unwrap());
        let mut gameboy = GameBoy::new(rom, &Options { sound, ..Options::default() });
        gameboy.tick(500, false);
        let state = gameboy.save();
        gameboy.load(&state).unwrap();
    }
}

/// Up to which cycle a console passed over rounds is no part of a state. With the LCD off, this one waits for FF80.
///
/// At 2 it jumps, switches the LCD on and waits again. A frame is a whole number of rounds of that loop, so that it passes
/// over all of them up to the frame's end. At 1 it does not jump, which is 4 cycles less, and goes on with stores. One of
/// them ends 4 cycles after the frame, and so where the loop did; when it began decides whether the frame is over.
#[test]
fn a_console_that_goes_back_forgets_what_it_passed_over() {
    let lcd_off = [0xAF, 0xE0, 0x40].as_slice();
    let waits = [0xF0, 0x80, 0xA7, 0x28, 0xFB].as_slice();
    let jumps = [0x3D, 0x20, 0x0B].as_slice();
    let lcd_on = [0x3E, 0x91, 0xE0, 0x40].as_slice();
    let stores = [0x00, 0xEA, 0x01, 0xFF, 0xC3, 0x60, 0x01].as_slice();
    let waits_again = [0xF0, 0x81, 0xA7, 0x28, 0xFB].as_slice();
    let mut used = started(&[lcd_off, waits, jumps, lcd_on, stores, lcd_on, waits_again].concat());
    let state = used.save();
    used.write(0xFF80, 2);
    used.tick(2, false);
    used.restore(&state).unwrap();
    let mut fresh = GameBoy::new(used.rom().clone(), &Options::default());
    fresh.restore(&state).unwrap();
    for console in [&mut used, &mut fresh] {
        console.write(0xFF80, 1);
        console.tick(2, false);
    }
    assert_eq!(used.cycles(), fresh.cycles());
    assert!(used.save() == fresh.save());
}

#[test]
fn a_clone_is_the_same_and_apart() {
    let original = started(&COUNTS);
    let mut copy = original.clone();
    copy.tick(5, false);
    assert_ne!(copy.cycles(), original.cycles());
    copy.clone_from(&original);
    assert_eq!(copy.save(), original.save());
}

#[test]
fn states_of_other_roms_versions_and_options_are_refused() {
    let mut gameboy = started(&COUNTS);
    let state = gameboy.save();
    assert_eq!(started(&[0x18, 0xFE]).load(&state), Err(StateError::OtherCartridge));
    let hardware = Options { compat: Compat::Hardware, ..Options::default() };
    assert_eq!(GameBoy::new(gameboy.rom().clone(), &hardware).load(&state), Err(StateError::OtherConsole));
    let mut newer = state.clone();
    newer[4] = 200;
    assert_eq!(gameboy.load(&newer), Err(StateError::OtherVersion(200)));
    assert_eq!(gameboy.load(b"PNG"), Err(StateError::NotAState));
    assert_eq!(gameboy.load(&state[..100]), Err(StateError::Truncated));
}

/// Saving moves a console several times; while the picture was in it, that took longer than the copy of its memory.
#[test]
fn a_console_is_small_beside_its_memory() {
    assert!(size_of::<GameBoy>() < 0x1000);
}

#[test]
fn a_thousand_consoles_fit_in_200_megabytes() {
    let mut rom = rom_of(&[]);
    rom[0x147] = 0x1B;
    rom[0x149] = 3;
    let rom = Rom::new(&rom).unwrap();
    for model in [Model::Dmg, Model::Cgb] {
        assert!(GameBoy::size(&rom, model) < 200_000);
    }
}

/// A state has what a console has in memory, most of which lies apart from it: RAM and the picture.
#[test]
fn a_console_is_no_smaller_than_its_state() {
    let mut with_ram = rom_of(&[]);
    with_ram[0x147] = 0x1B;
    with_ram[0x149] = 3;
    let mut for_color = rom_of(&[]);
    for_color[0x143] = 0x80;
    for rom in [rom_of(&[]), with_ram, for_color] {
        let rom = Arc::new(Rom::new(&rom).unwrap());
        for model in [Model::Dmg, Model::Cgb, Model::Auto] {
            let state = GameBoy::new(rom.clone(), &Options { model, ..Options::default() }).save();
            assert!(GameBoy::size(&rom, model) >= state.len(), "{model:?}");
        }
    }
}
