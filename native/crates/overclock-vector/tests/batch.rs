//! Facts about batches, on rules small enough to follow by hand.

use std::cell::Cell;

use overclock_rng::{Rng, Section};
use overclock_vector::{Autoreset, Batch, Draws, Lane, Out, Rules, Totals, WIDTH};

const JUMP: u32 = 1000;

/// A number that grows by the action, or by the step's draw below 64 if the action is a jump; the episode terminates
/// above 100 and starts at a random number below 16.
#[derive(Clone, Copy)]
struct Growing {
    max_steps: Option<i32>,
}

impl Rules for Growing {
    type State = u32;
    type States = [u32; WIDTH];
    type ResetDraw = u32;
    type StepDraw = u32;
    type Action = u32;
    type Element = u32;

    fn observation_len(&self) -> usize {
        1
    }

    fn max_steps(&self) -> Option<i32> {
        self.max_steps
    }

    fn draw_reset(&self, rng: Rng) -> u32 {
        rng.integers(0, 16)
    }

    fn draw_step(&self, rng: Rng) -> u32 {
        rng.integers(0, 64)
    }

    fn sample(&self, rng: Rng) -> u32 {
        [1, 20, JUMP][rng.integers(0, 3) as usize]
    }

    fn init(&self, draw: &u32) -> u32 {
        *draw
    }

    fn transition(&self, state: &mut u32, action: u32, draw: impl FnOnce() -> u32) -> (f32, bool) {
        let growth = if action == JUMP { draw() } else { action };
        *state += growth;
        (growth as f32, *state > 100)
    }

    fn observe(&self, state: &u32, into: &mut [u32]) {
        into[0] = *state;
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    obs: Vec<u32>,
    reward: Vec<f32>,
    terminated: Vec<u8>,
    truncated: Vec<u8>,
    final_obs: Vec<u32>,
}

fn batch(num_lanes: u32, autoreset: Autoreset, max_steps: Option<i32>) -> Batch<Growing> {
    Batch::new(Growing { max_steps }, num_lanes, autoreset, 1).expect("memory")
}

impl Seen {
    fn new(lanes: usize) -> Self {
        Self {
            obs: vec![0; lanes],
            reward: vec![0.0; lanes],
            terminated: vec![9; lanes],
            truncated: vec![9; lanes],
            final_obs: vec![0; lanes],
        }
    }

    fn out(&mut self) -> Out<'_, u32> {
        Out {
            obs: &mut self.obs,
            reward: &mut self.reward,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            final_obs: &mut self.final_obs,
        }
    }
}

fn step(batch: &mut Batch<Growing>, actions: &[u32], reset_draws: Option<&[u32]>) -> Seen {
    let mut seen = Seen::new(actions.len());
    batch.step(actions, Draws { reset: reset_draws, step: None }, seen.out());
    seen
}

fn reset(batch: &mut Batch<Growing>, seeds: Option<&[Option<u64>]>, mask: Option<&[bool]>) -> Vec<u32> {
    let mut obs = vec![0; batch.len()];
    batch.reset(seeds, mask, None, &mut obs);
    obs
}

#[test]
fn same_step_keeps_the_last_observation_and_shows_the_next_first_one() {
    let mut batch = batch(2, Autoreset::SameStep, None);
    let starts = [batch.lane(0).rules, batch.lane(1).rules];
    let seen = step(&mut batch, &[200, 1], Some(&[7, 8]));
    assert_eq!(seen.final_obs, [starts[0] + 200, starts[1] + 1]);
    assert_eq!(seen.obs, [7, starts[1] + 1]);
    assert_eq!((seen.terminated, seen.truncated), (vec![1, 0], vec![0, 0]));
    assert_eq!((batch.lane(0).steps, batch.lane(1).steps), (0, 1));
}

#[test]
fn next_step_restarts_in_the_following_call_and_ignores_its_action() {
    let mut batch = batch(1, Autoreset::NextStep, None);
    let last = step(&mut batch, &[200], None);
    assert_eq!((last.terminated[0], last.obs == last.final_obs), (1, true));
    let first = step(&mut batch, &[200], Some(&[7]));
    assert_eq!((first.obs[0], first.final_obs[0], first.reward[0], first.terminated[0]), (7, 7, 0.0, 0));
    assert_eq!(step(&mut batch, &[5], None).obs, [12]);
}

#[test]
fn off_runs_on_until_it_is_reset() {
    let mut batch = batch(2, Autoreset::Off, Some(2));
    step(&mut batch, &[200, 1], None);
    let seen = step(&mut batch, &[1, 1], None);
    assert_eq!((seen.terminated, seen.truncated), (vec![1, 0], vec![1, 1]));
    assert!(batch.lanes().all(|lane| lane.ended));
    reset(&mut batch, None, Some(&[true, false]));
    assert_eq!((batch.lane(0).ended, batch.lane(1).ended), (false, true));
    assert_eq!((batch.lane(0).steps, batch.lane(1).steps), (0, 2));
}

#[test]
fn a_step_is_an_event_of_every_lane_and_a_reset_of_those_that_restart() {
    let mut batch = batch(3, Autoreset::SameStep, None);
    step(&mut batch, &[200, 1, 1], None);
    reset(&mut batch, None, Some(&[false, true, false]));
    let counters: Vec<u32> = batch.lanes().map(|lane| lane.rng.counter).collect();
    assert_eq!(counters, [2, 3, 2]);
}

#[test]
fn a_seed_starts_its_stream_only_in_lanes_that_restart() {
    let mut batch = batch(3, Autoreset::Off, None);
    let before = batch.lane(1);
    reset(&mut batch, Some(&[Some(4), Some(4), None]), Some(&[true, false, true]));
    assert_eq!(batch.lane(0).rng, Rng::from_seed(4).advance());
    assert_eq!(batch.lane(1), before);
    assert_eq!(batch.lane(2).rng.counter, 2);
}

#[test]
fn every_lane_starts_from_its_own_draw() {
    let draws: Vec<u32> = (0..2 * WIDTH as u32 + 3).collect();
    let mut batch = batch(draws.len() as u32, Autoreset::Off, None);
    let mut obs = vec![0; draws.len()];
    batch.reset(None, None, Some(&draws), &mut obs);
    assert_eq!(obs, draws);
}

#[test]
fn a_step_draws_from_its_own_section_of_the_present_event_unless_the_draws_are_given() {
    let mut batch = batch(2, Autoreset::Off, None);
    let jumped = |lane: Lane<u32>| lane.rules + lane.rng.of_section(Section::Step).integers(0, 64);
    let expected: Vec<u32> = batch.lanes().map(jumped).collect();
    assert_eq!(step(&mut batch, &[JUMP, JUMP], None).obs, expected);
    let mut seen = Seen::new(2);
    batch.step(&[JUMP, 3], Draws { reset: None, step: Some(&[17, 18]) }, seen.out());
    assert_eq!(seen.obs, [expected[0] + 17, expected[1] + 3]);
}

#[test]
fn randomness_that_a_step_does_not_ask_for_is_not_drawn() {
    let (rules, asked) = (Growing { max_steps: None }, Cell::new(0));
    let (mut states, mut reward, mut terminated) = ([0; WIDTH], [0.0; 3], [0; 3]);
    let draw = |lane: usize| {
        asked.set(asked.get() + 1);
        lane as u32 * 10
    };
    rules.transition_block(&mut states, &[5, JUMP, 5], draw, &mut reward, &mut terminated);
    assert_eq!((&states[..4], asked.get()), (&[5, 10, 5, 0][..], 1));
}

#[test]
fn play_takes_the_steps_that_its_lanes_actions_would() {
    // More than one task, and a last block that is not full.
    const LANES: u32 = 2 * 256 + 7;
    let sample = |lane: Lane<u32>| Growing { max_steps: None }.sample(lane.rng.of_section(Section::Action));
    for autoreset in [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Off] {
        let (mut played, mut stepped) = (batch(LANES, autoreset, Some(9)), batch(LANES, autoreset, Some(9)));
        let mut last = Seen::new(LANES as usize);
        let totals = played.play(40, last.out());
        let (mut expected, mut seen) = (Totals::default(), Seen::default());
        for _ in 0..40 {
            let actions: Vec<u32> = stepped.lanes().map(sample).collect();
            seen = step(&mut stepped, &actions, None);
            let ended = seen.terminated.iter().zip(&seen.truncated).filter(|(a, b)| **a + **b > 0).count();
            let reward = seen.reward.iter().map(|&reward| f64::from(reward)).sum();
            expected = expected + Totals { reward, episodes: ended as u64 };
        }
        assert_eq!((totals, last), (expected, seen), "{autoreset:?}");
        assert!(played.lanes().eq(stepped.lanes()), "{autoreset:?}");
        assert!(totals.episodes > 1000);
    }
}

#[test]
fn a_large_batch_is_its_parts_put_together() {
    // Not a multiple of anything: tasks and parts end in different places.
    const LANES: u32 = 3 * 2048 + 5;
    let mut whole = batch(LANES, Autoreset::SameStep, Some(7));
    let mut parts: Vec<Batch<Growing>> = (0..LANES as usize)
        .step_by(1000)
        .map(|start| {
            let count = 1000.min(LANES as usize - start);
            let mut part = batch(count as u32, Autoreset::SameStep, Some(7));
            (0..count).for_each(|lane| part.set_lane(lane, whole.lane(start + lane)));
            part
        })
        .collect();
    let (mut terminations, mut truncations) = (0, 0);
    for event in 0..20 {
        let actions: Vec<u32> =
            (0..LANES).map(|lane| if lane % 11 == event % 11 { JUMP } else { (lane * 7 + event * 13) % 40 }).collect();
        let draws: Vec<u32> = (0..LANES).map(|lane| lane % 50).collect();
        let draws = (event % 2 == 0).then_some(draws.as_slice());
        let seen = step(&mut whole, &actions, draws);
        let mut joined = Seen::default();
        for (part, start) in parts.iter_mut().zip((0..).step_by(1000)) {
            let range = start..start + part.len();
            let piece = step(part, &actions[range.clone()], draws.map(|draws| &draws[range]));
            joined.obs.extend(piece.obs);
            joined.reward.extend(piece.reward);
            joined.terminated.extend(piece.terminated);
            joined.truncated.extend(piece.truncated);
            joined.final_obs.extend(piece.final_obs);
        }
        assert_eq!(seen, joined);
        terminations += seen.terminated.iter().filter(|&&flag| flag == 1).count();
        truncations += seen.truncated.iter().filter(|&&flag| flag == 1).count();
    }
    assert!(terminations > 100 && truncations > 100, "{terminations} and {truncations}: too few ends to show anything");
}
