//! Steps per second of one thread: random actions drawn beforehand, observations written.
//!
//! `cargo run --release --example speed -p pong [-- lanes]`; RAYON_NUM_THREADS=1 keeps large batches to one thread.

use std::env;
use std::time::{Duration, Instant};

use overclock_rng::{Rng, Section};
use overclock_vector::{Autoreset, Batch, Draws, Out, Rules};
use pong::Pong;

const MEASURED: Duration = Duration::from_secs(1);
const ROWS: usize = 64; // of actions, used over and over

/// Arrays for every lane of a batch.
struct Memory {
    obs: Vec<f32>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    final_obs: Vec<f32>,
}

impl Memory {
    fn new(lanes: usize, width: usize) -> Self {
        let (obs, final_obs) = (vec![0.0; lanes * width], vec![0.0; lanes * width]);
        Self { obs, reward: vec![0.0; lanes], terminated: vec![0; lanes], truncated: vec![0; lanes], final_obs }
    }

    fn out(&mut self) -> Out<'_, f32> {
        Out {
            obs: &mut self.obs,
            reward: &mut self.reward,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            final_obs: &mut self.final_obs,
        }
    }
}

fn main() {
    let lanes: Vec<u32> = env::args().skip(1).map(|number| number.parse().expect("a number of lanes")).collect();
    let lanes = if lanes.is_empty() { vec![1024, 16_384, 65_536] } else { lanes };
    println!("{:>9} {:>9} {:>14} {:>14}", "frameskip", "lanes", "step, M/s", "play, M/s");
    for frameskip in [1, 8] {
        for &lanes in &lanes {
            let rules = Pong { frameskip, ..Pong::default() };
            println!("{frameskip:>9} {lanes:>9} {:>14.1} {:>14.1}", stepped(rules, lanes), played(rules, lanes));
        }
    }
}

fn stepped(rules: Pong, lanes: u32) -> f64 {
    let mut batch = Batch::new(rules, lanes, Autoreset::SameStep, 0).expect("memory");
    let mut memory = Memory::new(lanes as usize, rules.observation_len());
    let draw = |rng: Rng| rules.sample(rng.of_section(Section::Action));
    let actions: Vec<Vec<f32>> =
        (0..ROWS as u64).map(|row| Rng::from_seed(row).lanes(lanes).map(draw).collect()).collect();
    rate(lanes, || {
        actions.iter().for_each(|row| batch.step(row, Draws::default(), memory.out()));
        ROWS
    })
}

fn played(rules: Pong, lanes: u32) -> f64 {
    let mut batch = Batch::new(rules, lanes, Autoreset::SameStep, 0).expect("memory");
    let mut memory = Memory::new(lanes as usize, rules.observation_len());
    rate(lanes, || {
        batch.play(ROWS as u64, memory.out());
        ROWS
    })
}

/// Million steps of a lane per second.
fn rate(lanes: u32, mut steps: impl FnMut() -> usize) -> f64 {
    steps();
    let (start, mut done) = (Instant::now(), 0);
    while start.elapsed() < MEASURED {
        done += steps();
    }
    done as f64 * f64::from(lanes) / start.elapsed().as_secs_f64() / 1e6
}
