//! Frames per second of one thread, the last of every 24 drawn, as RL projects step a game.
//!
//! `cargo run --release --example speed -p gameboy -- BOOT ROM...`; the boot code and the ROMs of our own games come from
//! `python -m overclock.gameboy`.

use std::env;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gameboy::{GameBoy, Options, Rom};

const STEP: u32 = 24;
const WARM_UP: u32 = 240;
const MEASURED: Duration = Duration::from_millis(700);

fn main() {
    let mut arguments = env::args().skip(1);
    let boot = fs::read(arguments.next().expect("a file with boot code")).expect("boot code");
    let options = Options { boot: Some(Arc::from(boot)), ..Options::default() };
    println!("{:<40} {:>14} {:>14} {:>14}", "ROM", "skipping, f/s", "24th, f/s", "all, f/s");
    for path in arguments {
        let rom = Rom::new(&fs::read(&path).expect("a ROM")).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut gameboy = GameBoy::new(Arc::new(rom), &options);
        gameboy.tick(WARM_UP, false);
        let [skipping, last, all] =
            [(STEP, false), (STEP, true), (1, true)].map(|(frames, render)| rate(&gameboy, frames, render));
        println!("{path:<40} {skipping:>14.0} {last:>14.0} {all:>14.0}");
    }
}

fn rate(start: &GameBoy, frames: u32, render: bool) -> f64 {
    let mut gameboy = start.clone();
    let (begin, mut done) = (Instant::now(), 0);
    while begin.elapsed() < MEASURED {
        done += gameboy.tick(frames, render);
    }
    f64::from(done) / begin.elapsed().as_secs_f64()
}
