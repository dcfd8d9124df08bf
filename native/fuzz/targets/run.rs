//! Running: whatever a ROM contains, whatever is pressed, written, saved and loaded, nothing panics, and a console that
//! was restored goes on as the one that was saved.

#![no_main]

mod input;

use std::sync::Arc;

use gameboy::{Button, GameBoy, HookAction, Rom};
use input::{BANK, Input};
use libfuzzer_sys::fuzz_target;

const MAPPERS: [u8; 8] = [0x00, 0x03, 0x06, 0x0F, 0x10, 0x13, 0x1B, 0x1E];
const MBC2: u8 = 0x06;
const CARTRIDGE_RAM: [usize; 6] = [0, 0x2000, 0x2000, 0x8000, 0x20000, 0x10000]; // by the header's code
const CONSOLE_RAM: usize = 0xC000; // 16 KiB for pictures, 32 KiB to work with
const STATE_HEADER: usize = 24; // what a state belongs to: damage beyond it is what loading has to notice
const DEEDS: usize = 12;
const SOUND: [u16; 4] = [0xFF26, 0xFF30, 0xFF76, 0xFF77]; // who plays, wave memory, levels

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let options = input.options();
    let mut rom = input.repeated(4 * BANK);
    rom[0x147] = MAPPERS[usize::from(input.byte() & 7)];
    rom[0x148] = 1;
    rom[0x149] = input.byte() % 6;
    let ram = CONSOLE_RAM + if rom[0x147] == MBC2 { 0x200 } else { CARTRIDGE_RAM[usize::from(rom[0x149])] };
    let rom = Arc::new(Rom::new(&rom).expect("the header is a good one"));
    let mut gameboy = GameBoy::new(rom.clone(), &options);
    let mut kept = gameboy.save();
    for _ in 0..DEEDS {
        let deed = input.byte();
        match deed & 7 {
            0 => gameboy.button(Button::ALL[usize::from(deed >> 5)], u32::from(deed >> 3 & 3)),
            1 => gameboy.write(input.word(), input.byte()),
            2 => drop(gameboy.read(input.word())),
            3 => drop(gameboy.read_bank(usize::from(input.byte()), input.word())),
            4 => kept = gameboy.save(),
            5 => gameboy.load(&kept).expect("it is a state of this console"),
            6 => damage(&mut gameboy, &kept, ram, &mut input),
            _ if deed & 8 == 0 => gameboy.hook(u16::from(input.byte()), input.word(), HookAction::Count),
            _ => gameboy.hook(u16::from(input.byte()), input.word(), HookAction::Stop),
        }
        gameboy.tick_sampled(u32::from(deed >> 6), deed & 0x20 != 0, deed & 0x10 != 0);
    }
    let mut restored = GameBoy::new(rom, &options);
    restored.restore(&gameboy.save()).expect("it is a state of this console");
    assert!(restored.save() == gameboy.save(), "a restored console is another one");
});

/// Load a state with some bytes changed, or cut off: it is refused and nothing happened, or it runs.
fn damage(gameboy: &mut GameBoy, kept: &[u8], ram: usize, input: &mut Input<'_>) {
    let (mut state, before) = (kept.to_vec(), gameboy.save());
    for _ in 0..1 + input.byte() % 4 {
        let (part, at) = (input.byte() & 3, usize::from(input.word()));
        // RAM and pictures, which are most of a state, may contain anything: what is before, between and behind counts.
        let at = match part {
            0 => STATE_HEADER + at % 0x100,
            1 => STATE_HEADER + ram + at % 0x400,
            2 => state.len() - 1 - at % 0x100,
            _ => STATE_HEADER + at % (state.len() - STATE_HEADER),
        };
        state[at] ^= input.byte();
    }
    if input.byte() & 7 == 0 {
        state.truncate(usize::from(input.word()));
    }
    if gameboy.load(&state).is_err() {
        assert!(gameboy.save() == before, "a state that was refused changed something");
    }
    // Computed when it is read, here before a frame begins.
    for address in SOUND {
        gameboy.read(address);
    }
}
