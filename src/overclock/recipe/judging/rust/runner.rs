//! Lanes that stay here while their speed is measured: random actions, observations, automatic resets.

use crate::{guarded, rules, shared, Element, EnvAction};
use candidate::contract::{Action, Number, Rng, Rules, Section, State, StepDraw};
use candidate::Env;
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard};

/// Lanes that go through the phases of a step together. Short loops let a processor work on several lanes at a time,
/// and what so few lanes need stays close to it from one phase to the next.
const BLOCK: usize = 64;

/// The lanes of a batch, in one part for each thread.
pub struct Runner {
    parts: Vec<Mutex<Part>>,
}

struct Part {
    states: Vec<State>,
    streams: Vec<Rng>,
    tallies: Vec<Tally>,
    given: Vec<(EnvAction, StepDraw)>,
    seen: Vec<Element>,
    length: usize, // of one observation
}

/// Steps of the present episode, and all rewards of a lane.
#[derive(Clone, Copy)]
struct Tally {
    steps: i32,
    rewards: f64,
}

fn first(rules: &Env, rng: Rng) -> State {
    rules.init(&rules.draw_reset(rng.of_section(Section::Reset)))
}

impl Part {
    fn begin(rules: &Env, streams: &[Rng]) -> Self {
        let length = rules.observation_space().len().max(1);
        Part {
            states: streams.iter().map(|rng| first(rules, *rng)).collect(),
            streams: streams.iter().map(|rng| rng.advance()).collect(),
            tallies: vec![Tally { steps: 0, rewards: 0.0 }; streams.len()],
            given: Vec::with_capacity(BLOCK),
            seen: vec![Element::default(); length * streams.len()],
            length,
        }
    }

    /// One step of every lane. Whatever it shows must be computed, because `black_box` may read it.
    fn step(&mut self, rules: &Env, range: &<EnvAction as Action>::Range) {
        for start in (0..self.states.len()).step_by(BLOCK) {
            let lanes = start..self.states.len().min(start + BLOCK);
            let states = &mut self.states[lanes.clone()];
            let streams = &mut self.streams[lanes.clone()];
            self.given.clear();
            self.given.extend(states.iter().zip(&*streams).map(|(state, rng)| {
                let action = EnvAction::sample(range, rng.of_section(Section::Action));
                (action, rules.draw_step(rng.of_section(Section::Step), state))
            }));
            let kept = states.iter_mut().zip(streams).zip(&mut self.tallies[lanes.clone()]);
            for (((state, rng), tally), (action, draw)) in kept.zip(&self.given) {
                let (reward, terminated) = rules.transition(state, *action, draw);
                tally.rewards += reward;
                tally.steps += 1;
                if terminated || Env::MAX_STEPS.is_some_and(|limit| tally.steps >= limit) {
                    *state = first(rules, *rng);
                    tally.steps = 0;
                }
                *rng = rng.advance();
            }
            let seen = &mut self.seen[lanes.start * self.length..lanes.end * self.length];
            for (state, into) in states.iter().zip(seen.chunks_exact_mut(self.length)) {
                into.fill(Element::default()); // as everywhere: what was seen before is no memory
                rules.observe(state, into);
            }
        }
        black_box(&mut self.seen);
    }

    /// All rewards and what is seen now, added lane by lane: whatever the threads, the sum is the same.
    fn added_to(&self, sum: f64) -> f64 {
        let lanes = self.tallies.iter().zip(self.seen.chunks_exact(self.length));
        lanes.fold(sum, |sum, (tally, seen)| {
            sum + tally.rewards + seen.iter().map(|value| value.to_f64()).sum::<f64>()
        })
    }
}

fn held(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().expect("a lane panicked")
}

#[no_mangle]
pub extern "C" fn overclock_runner(lanes: usize, seed: u64, threads: usize, runner: *mut *mut Runner) -> i32 {
    guarded(&mut || {
        let streams: Vec<Rng> = Rng::from_seed(seed).lanes(lanes as u32).collect();
        let parts = streams.chunks(lanes.div_ceil(threads)).map(|part| Mutex::new(Part::begin(rules(), part)));
        let made = Box::new(Runner { parts: parts.collect() });
        // SAFETY: Python has room for one pointer there; what it points to lives as long as the process.
        unsafe { *runner = Box::into_raw(made) };
    })
}

/// So many steps of every lane. A thread takes all steps of its part, as one compiled rollout would.
#[no_mangle]
pub extern "C" fn overclock_run(runner: *const Runner, steps: usize, total: *mut f64) -> i32 {
    guarded(&mut || {
        // SAFETY: made by `overclock_runner`.
        let parts = unsafe { &(*runner).parts };
        let range = EnvAction::range(&rules().action_space());
        shared(parts.len(), parts.len(), &|start, end| {
            for part in &parts[start..end] {
                let mut part = held(part);
                for _ in 0..steps {
                    part.step(rules(), &range);
                }
            }
        });
        let sum = parts.iter().fold(0.0, |sum, part| held(part).added_to(sum));
        // SAFETY: Python has room for one number there.
        unsafe { *total = sum };
    })
}
