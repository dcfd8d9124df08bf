//! Nothing that a ROM or a state contains makes the emulator panic.

mod common;

use std::sync::Arc;

use common::Random;
use gameboy::{Button, Compat, GameBoy, Model, Options, PIXELS, Rom};

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
        let at = HEADER + (usize::from(random.byte()) << 8 | usize::from(random.byte())) % (damaged.len() - HEADER);
        damaged[at] ^= random.byte();
        let end = damaged.len() - 1 - at % 400;
        damaged[end] ^= random.byte();
        if gameboy.load(&damaged).is_ok() && round % 4 == 0 {
            gameboy.tick(2, true);
        }
    }
    assert!(gameboy.load(&state[..state.len() - 1]).is_err());
}

/// What a state belongs to; what is behind it, loading has to look at.
const HEADER: usize = 24;
/// Video RAM and work RAM: they may hold anything, and so may the picture.
const RAM: usize = 0xC000;

/// A console whose channels all play, so that a state's fields are all used. The low byte of their frequency is 0: one
/// wrong byte makes it too high.
fn playing(options: &Options) -> GameBoy {
    let mut gameboy = GameBoy::new(Arc::new(Rom::new(&common::rom_of(&[0x18, 0xFE])).unwrap()), options); // jr @
    gameboy.write(0xFF26, 0x80);
    for (low, values) in [
        (0xFF10, [0x11, 0x80, 0xF3, 0x00, 0x85]), // slides
        (0xFF15, [0x00, 0x40, 0xF3, 0x00, 0x87]),
        (0xFF1A, [0x80, 0x00, 0x20, 0x00, 0x87]),
        (0xFF1F, [0x00, 0x00, 0xF3, 0x21, 0x80]),
        (0xFF24, [0x77, 0xFF, 0x80, 0x00, 0x00]),
    ] {
        for (address, value) in (low..).zip(values) {
            gameboy.write(address, value);
        }
    }
    gameboy.tick_sampled(2, true, true);
    gameboy.write(0xFE9F, 1); // OAM's last byte, in front of a picture of zeros
    gameboy
}

/// Where RAM and the picture of `playing` begin in its state.
fn ram_and_picture(gameboy: &GameBoy) -> (usize, usize) {
    let (mut other, state) = (gameboy.clone(), gameboy.save());
    other.write(0xC000, 0xA5); // work RAM, behind 16 KiB for pictures
    let ram = state.iter().zip(other.save()).position(|(was, is)| *was != is).unwrap() - 0x4000;
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    (ram, ram + RAM + state[ram + RAM..].windows(PIXELS).position(is_zero).unwrap())
}

#[test]
fn a_wrong_byte_in_any_field_is_refused_or_runs() {
    every_field(Compat::PyBoy, Model::Dmg, &[0x08, 0x20, 0xFF]);
    every_field(Compat::PyBoy, Model::Cgb, &[0xFF]);
}

#[test]
fn a_wrong_byte_in_any_field_of_the_hardware_is_refused_or_runs() {
    every_field(Compat::Hardware, Model::Cgb, &[0xFF]);
}

fn every_field(compat: Compat, model: Model, wrong: &[u8]) {
    let mut gameboy = playing(&Options { model, compat, sound: true, sample_rate: 48000, boot: None });
    let (mut state, (ram, picture)) = (gameboy.save(), ram_and_picture(&gameboy));
    let behind = picture + PIXELS * if model == Model::Cgb { 3 } else { 1 };
    for at in (HEADER..ram).chain(ram + RAM..picture).chain(behind..state.len()) {
        let right = state[at];
        for wrong in wrong {
            state[at] = *wrong;
            look_and_run(&mut gameboy, &state);
        }
        state[at] = right;
    }
}

/// Registers that are computed when they are read are read at once, before a frame begins.
fn look_and_run(gameboy: &mut GameBoy, state: &[u8]) {
    if gameboy.load(state).is_ok() {
        for address in [0xFF26, 0xFF30, 0xFF76, 0xFF77, 0xFF04, 0xFF05, 0xFF41] {
            gameboy.read(address);
        }
        gameboy.tick_sampled(1, true, true);
    }
}
