//! What is a ROM and what is not: one clear sentence, never a panic.

mod common;

use common::{Random, rom_of};
use gameboy::{Rom, RomError};

#[test]
fn a_rom_that_is_too_short_says_how_short() {
    let error = Rom::new(&[0; 100]).unwrap_err();
    assert_eq!(error, RomError::Truncated { length: 100 });
    assert_eq!(error.to_string(), "This ROM has 100 bytes; a Game Boy ROM has at least 32768.");
    assert!(Rom::new(&[]).is_err());
}

#[test]
fn a_rom_that_is_longer_than_its_header_says_is_refused() {
    let mut rom = rom_of(&[]);
    rom.resize(0x10000, 0);
    assert_eq!(Rom::new(&rom).unwrap_err(), RomError::Oversized { length: 0x10000, declared: 0x8000 });
}

#[test]
fn a_rom_that_was_cut_off_is_refused() {
    let mut rom = rom_of(&[]);
    rom[0x148] = 1;
    rom.resize(0x9123, 0);
    assert_eq!(Rom::new(&rom).unwrap_err(), RomError::Uneven { length: 0x9123 });
}

#[test]
fn unknown_codes_in_the_header_are_named() {
    for (at, code, error) in [
        (0x147, 0xFC, RomError::UnknownMapper(0xFC)),
        (0x148, 0x52, RomError::UnknownSize(0x52)),
        (0x149, 0x09, RomError::UnknownRam(0x09)),
    ] {
        let mut rom = rom_of(&[]);
        rom[at] = code;
        assert_eq!(Rom::new(&rom).unwrap_err(), error);
    }
}

#[test]
fn any_bytes_give_a_rom_or_a_sentence() {
    let mut random = Random(1);
    for length in (0..0x20000).step_by(0x1357).chain([0x8000, 0x10000]) {
        if let Err(error) = Rom::new(&random.bytes(length)) {
            assert!(error.to_string().ends_with('.'), "{error}");
        }
    }
}
