//! Nothing that a ROM or a state contains makes the emulator panic.

mod common;

use std::sync::Arc;

use common::Random;
use gameboy::{Button, Compat, GameBoy, Model, Options, Rom};

const MAPPERS: [u8; 7] = [0x00, 0x03, 0x06, 0x10, 0x13, 0x1B, 0x1E];

fn random_rom(random: &mut Random, mapper: u8) -> Rom {
    let mut bytes = random.bytes(0x10000);
    bytes[0x147] = mapper;
    bytes[0x148] = 1;
    bytes[0x149] = random.byte() % 6;
    Rom::new(&bytes).unwrap()
}

#[test]
fn random_bytes_run_on_every_console() {
    let mut random = Random(2);
    for round in 0..42 {
        let rom = Arc::new(random_rom(&mut random, MAPPERS[round % MAPPERS.len()]));
        let model = [Model::Dmg, Model::Cgb, Model::Auto][round % 3];
        let compat = [Compat::PyBoy, Compat::Hardware][round % 2];
        let boot = (round % 4 == 0).then(|| Arc::from(random.bytes(0x900)));
        let mut gameboy =
            GameBoy::new(rom, &Options { model, compat, sound: round % 5 == 0, sample_rate: 48000, boot });
        for frame in 0..12 {
            gameboy.tick(1 + frame % 3, frame % 2 == 0);
            gameboy.button(Button::ALL[usize::from(random.byte() % 8)], u32::from(random.byte() % 4));
            let address = u16::from_le_bytes([random.byte(), random.byte()]);
            gameboy.write(address, random.byte());
            gameboy.read(address);
        }
    }
}

/// Copies look at memory while the LCD is being looked at; what they read must not make it look again, for ever.
#[test]
fn copies_from_anywhere_end() {
    let mut bytes = common::rom_of(&[0x18, 0xFE]); // jr @
    bytes[0x143] = 0x80;
    let rom = Arc::new(Rom::new(&bytes).unwrap());
    for compat in [Compat::PyBoy, Compat::Hardware] {
        for high in 0x80..=0xFF {
            let mut gameboy = GameBoy::new(rom.clone(), &Options { compat, ..Options::default() });
            gameboy.tick(1, false);
            for (address, value) in [(0xFF51, high), (0xFF52, 0x40), (0xFF53, 0x81), (0xFF54, 0), (0xFF55, 0xFF)] {
                gameboy.write(address, value);
            }
            gameboy.tick(1, true);
            gameboy.write(0xFF46, high);
            gameboy.tick(1, true);
        }
    }
}

#[test]
fn code_without_opcodes_that_hang_runs_for_long() {
    let mut random = Random(3);
    for _ in 0..16 {
        let mut bytes = random.bytes(0x8000);
        for byte in &mut bytes {
            if matches!(byte, 0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB..=0xED | 0xF4 | 0xFC | 0xFD | 0x76) {
                *byte = 0;
            }
        }
        bytes[0x147..0x14A].fill(0);
        let mut gameboy = GameBoy::new(Arc::new(Rom::new(&bytes).unwrap()), &Options::default());
        gameboy.tick(60, true);
    }
}

#[test]
fn damaged_states_are_refused_or_run() {
    for compat in [Compat::PyBoy, Compat::Hardware] {
        damage(&Options { model: Model::Cgb, compat, sound: true, ..Options::default() });
    }
}

fn damage(options: &Options) {
    let mut random = Random(4);
    let rom = Arc::new(random_rom(&mut random, 0x10));
    let mut gameboy = GameBoy::new(rom, options);
    gameboy.tick(3, true);
    let state = gameboy.save();
    for round in 0..300 {
        let mut damaged = state.clone();
        let at = 24 + (usize::from(random.byte()) << 8 | usize::from(random.byte())) % (damaged.len() - 24);
        damaged[at] ^= random.byte();
        let end = damaged.len() - 1 - at % 400;
        damaged[end] ^= random.byte();
        if gameboy.load(&damaged).is_ok() && round % 4 == 0 {
            gameboy.tick(2, true);
        }
    }
    assert!(gameboy.load(&state[..state.len() - 1]).is_err());
}
