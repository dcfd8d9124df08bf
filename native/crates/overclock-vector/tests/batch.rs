//! Facts about batches, on rules small enough to follow by hand.

use overclock_rng::Rng;
use overclock_vector::{Autoreset, Batch, Out, Rules};

/// A number that grows by the action; the episode terminates above 100 and starts at a random word below 16.
#[derive(Clone, Copy)]
struct Growing {
    max_steps: Option<i32>,
}

impl Rules for Growing {
    type State = u32;
    type Draw = u32;
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

    fn init(&self, draw: &u32) -> u32 {
        *draw
    }

    fn transition(&self, state: &mut u32, action: u32) -> (f32, bool) {
        *state += action;
        (action as f32, *state > 100)
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

fn step(batch: &mut Batch<Growing>, actions: &[u32], draws: Option<&[u32]>) -> Seen {
    let n = actions.len();
    let mut seen = Seen {
        obs: vec![0; n],
        reward: vec![0.0; n],
        terminated: vec![9; n],
        truncated: vec![9; n],
        final_obs: vec![0; n],
    };
    let out = Out {
        obs: &mut seen.obs,
        reward: &mut seen.reward,
        terminated: &mut seen.terminated,
        truncated: &mut seen.truncated,
        final_obs: &mut seen.final_obs,
    };
    batch.step(actions, draws, out);
    seen
}

fn reset(batch: &mut Batch<Growing>, seeds: Option<&[Option<u64>]>, mask: Option<&[bool]>) -> Vec<u32> {
    let mut obs = vec![0; batch.lanes.len()];
    batch.reset(seeds, mask, None, &mut obs);
    obs
}

#[test]
fn same_step_keeps_the_last_observation_and_shows_the_next_first_one() {
    let mut batch = batch(2, Autoreset::SameStep, None);
    let starts = [batch.lanes[0].rules, batch.lanes[1].rules];
    let seen = step(&mut batch, &[200, 1], Some(&[7, 8]));
    assert_eq!(seen.final_obs, [starts[0] + 200, starts[1] + 1]);
    assert_eq!(seen.obs, [7, starts[1] + 1]);
    assert_eq!((seen.terminated, seen.truncated), (vec![1, 0], vec![0, 0]));
    assert_eq!((batch.lanes[0].steps, batch.lanes[1].steps), (0, 1));
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
    assert!(batch.lanes.iter().all(|lane| lane.ended));
    reset(&mut batch, None, Some(&[true, false]));
    assert_eq!((batch.lanes[0].ended, batch.lanes[1].ended), (false, true));
    assert_eq!((batch.lanes[0].steps, batch.lanes[1].steps), (0, 2));
}

#[test]
fn a_step_is_an_event_of_every_lane_and_a_reset_of_those_that_restart() {
    let mut batch = batch(3, Autoreset::SameStep, None);
    step(&mut batch, &[200, 1, 1], None);
    reset(&mut batch, None, Some(&[false, true, false]));
    let counters: Vec<u32> = batch.lanes.iter().map(|lane| lane.rng.counter).collect();
    assert_eq!(counters, [2, 3, 2]);
}

#[test]
fn a_seed_starts_its_stream_only_in_lanes_that_restart() {
    let mut batch = batch(3, Autoreset::Off, None);
    let before = batch.lanes[1].clone();
    reset(&mut batch, Some(&[Some(4), Some(4), None]), Some(&[true, false, true]));
    assert_eq!(batch.lanes[0].rng, Rng::from_seed(4).advance());
    assert_eq!(batch.lanes[1], before);
    assert_eq!(batch.lanes[2].rng.counter, 2);
}

#[test]
fn a_large_batch_is_its_parts_put_together() {
    // Not a multiple of anything: tasks and parts end in different places.
    const LANES: u32 = 3 * 2048 + 5;
    let mut whole = batch(LANES, Autoreset::SameStep, Some(7));
    let mut parts: Vec<Batch<Growing>> = (0..LANES as usize)
        .step_by(1000)
        .map(|start| {
            let mut part = whole.clone();
            part.lanes = whole.lanes[start..(start + 1000).min(LANES as usize)].to_vec();
            part
        })
        .collect();
    let (mut terminations, mut truncations) = (0, 0);
    for event in 0..20 {
        let actions: Vec<u32> = (0..LANES).map(|lane| (lane * 7 + event * 13) % 40).collect();
        let draws: Vec<u32> = (0..LANES).map(|lane| lane % 50).collect();
        let draws = (event % 2 == 0).then_some(draws.as_slice());
        let seen = step(&mut whole, &actions, draws);
        let mut joined = Seen::default();
        for (part, start) in parts.iter_mut().zip((0..).step_by(1000)) {
            let range = start..start + part.lanes.len();
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
