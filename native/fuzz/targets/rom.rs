//! Loading: bytes of any length and with any header are a ROM that starts, or one sentence that says why not.

#![no_main]

mod input;

use std::sync::Arc;

use gameboy::{GameBoy, Rom};
use input::{BANK, Input};
use libfuzzer_sys::fuzz_target;

const LARGEST: usize = 512 * BANK;

fuzz_target!(|data: &[u8]| {
    load(data, Input(data));
    let mut input = Input(data);
    let (size, rest) = (input.byte(), usize::from(input.word()));
    let length = match size {
        0..=127 => rest,                               // cut off anywhere, or a bank too many
        128..=253 => usize::from(size & 15) * BANK,    // whole banks
        _ => LARGEST + (usize::from(size & 1)) * BANK, // the largest there is, and more
    };
    let header = [input.byte(), input.byte(), input.byte(), input.byte()];
    let mut bytes = input.repeated(length);
    for (at, value) in [0x143, 0x147, 0x148, 0x149].into_iter().zip(header) {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = value;
        }
    }
    load(&bytes, input);
});

fn load(bytes: &[u8], mut input: Input<'_>) {
    match Rom::new(bytes) {
        Ok(rom) => {
            assert!(rom.bytes().starts_with(bytes) && rom.bytes().len().is_power_of_two());
            rom.title();
            let mut gameboy = GameBoy::new(Arc::new(rom), &input.options());
            gameboy.tick_sampled(1, true, true);
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
        }
    }
}
