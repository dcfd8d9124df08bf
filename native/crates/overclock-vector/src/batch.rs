//! Lanes stepped together, in parallel where there are enough of them.

use std::collections::TryReserveError;

use overclock_rng::Rng;

use crate::lane::{Autoreset, Lane};
use crate::{Rules, pool};

/// Lanes that one task steps in a row: some ten microseconds of work even for the smallest environment, well
/// above what waking a thread costs.
pub const LANES_PER_TASK: usize = 2048;

/// Where a step writes: one entry per lane (one observation's length of entries in `obs` and `final_obs`).
pub struct Out<'a, E> {
    pub obs: &'a mut [E],
    pub reward: &'a mut [f32],
    /// Flags are bytes, 0 or 1: foreign memory may hold bytes that are no `bool`.
    pub terminated: &'a mut [u8],
    pub truncated: &'a mut [u8],
    pub final_obs: &'a mut [E],
}

impl<'a, E> Out<'a, E> {
    fn split_at(self, lane: usize, observation_len: usize) -> (Self, Self) {
        let (obs_a, obs_b) = self.obs.split_at_mut(lane * observation_len);
        let (reward_a, reward_b) = self.reward.split_at_mut(lane);
        let (terminated_a, terminated_b) = self.terminated.split_at_mut(lane);
        let (truncated_a, truncated_b) = self.truncated.split_at_mut(lane);
        let (final_a, final_b) = self.final_obs.split_at_mut(lane * observation_len);
        (
            Self { obs: obs_a, reward: reward_a, terminated: terminated_a, truncated: truncated_a, final_obs: final_a },
            Self { obs: obs_b, reward: reward_b, terminated: terminated_b, truncated: truncated_b, final_obs: final_b },
        )
    }
}

/// A batch of running environments.
#[derive(Clone, Debug)]
pub struct Batch<R: Rules> {
    rules: R,
    autoreset: Autoreset,
    pub lanes: Vec<Lane<R::State>>,
}

impl<R: Rules> Batch<R> {
    /// `num_lanes` lanes in their first episodes, with the streams of `Rng.of(seed).lanes(num_lanes)`.
    pub fn new(rules: R, num_lanes: u32, autoreset: Autoreset, seed: u64) -> Result<Self, TryReserveError> {
        let mut lanes = Vec::new();
        lanes.try_reserve_exact(num_lanes as usize)?;
        lanes.extend(Rng::from_seed(seed).lanes(num_lanes).map(|rng| Lane::new(&rules, rng)));
        Ok(Self { rules, autoreset, lanes })
    }

    /// When ended lanes restart.
    pub fn autoreset(&self) -> Autoreset {
        self.autoreset
    }

    /// Restart the lanes in `mask` (all, if None) and write every lane's observation.
    ///
    /// A restarted lane with a seed starts that seed's stream; one without goes on with its own. `draws` replace
    /// what the streams would give.
    ///
    /// # Panics
    /// If an argument does not have one entry per lane.
    pub fn reset(
        &mut self,
        seeds: Option<&[Option<u64>]>,
        mask: Option<&[bool]>,
        draws: Option<&[R::Draw]>,
        obs: &mut [R::Element],
    ) {
        let count = self.lanes.len();
        let width = self.rules.observation_len();
        assert!(seeds.is_none_or(|seeds| seeds.len() == count), "one seed per lane");
        assert!(mask.is_none_or(|mask| mask.len() == count), "one mask entry per lane");
        assert!(draws.is_none_or(|draws| draws.len() == count), "one draw per lane");
        assert_eq!(obs.len(), count * width, "one observation per lane");
        for (i, (lane, obs)) in self.lanes.iter_mut().zip(obs.chunks_exact_mut(width)).enumerate() {
            // Lanes outside the mask keep their place in their stream.
            if mask.is_none_or(|mask| mask[i]) {
                if let Some(seed) = seeds.and_then(|seeds| seeds[i]) {
                    lane.rng = Rng::from_seed(seed);
                }
                lane.reset(&self.rules, draws.map(|draws| &draws[i]));
            }
            self.rules.observe(&lane.rules, obs);
        }
    }

    /// Step every lane; lanes that restart take `draws`, where given, instead of their streams' randomness.
    ///
    /// # Panics
    /// If an argument does not have one entry per lane.
    pub fn step(&mut self, actions: &[R::Action], draws: Option<&[R::Draw]>, out: Out<'_, R::Element>) {
        let count = self.lanes.len();
        let width = self.rules.observation_len();
        assert_eq!(actions.len(), count, "one action per lane");
        assert!(draws.is_none_or(|draws| draws.len() == count), "one draw per lane");
        assert_eq!((out.obs.len(), out.final_obs.len()), (count * width, count * width), "one observation per lane");
        assert_eq!((out.reward.len(), out.terminated.len(), out.truncated.len()), (count, count, count));
        let parallel = count > LANES_PER_TASK && pool::usable();
        Work { lanes: &mut self.lanes, actions, draws, out }.run(&self.rules, self.autoreset, parallel);
    }
}

/// The part of a step that one task does.
struct Work<'a, R: Rules> {
    lanes: &'a mut [Lane<R::State>],
    actions: &'a [R::Action],
    draws: Option<&'a [R::Draw]>,
    out: Out<'a, R::Element>,
}

impl<R: Rules> Work<'_, R> {
    fn run(self, rules: &R, autoreset: Autoreset, parallel: bool) {
        if parallel && self.lanes.len() > LANES_PER_TASK {
            let (left, right) = self.halves(rules.observation_len());
            rayon::join(|| left.run(rules, autoreset, true), || right.run(rules, autoreset, true));
        } else {
            self.run_in_a_row(rules, autoreset);
        }
    }

    fn halves(self, width: usize) -> (Self, Self) {
        let middle = self.lanes.len() / 2;
        let (lanes_a, lanes_b) = self.lanes.split_at_mut(middle);
        let (actions_a, actions_b) = self.actions.split_at(middle);
        let (draws_a, draws_b) = self.draws.map(|draws| draws.split_at(middle)).unzip();
        let (out_a, out_b) = self.out.split_at(middle, width);
        (
            Self { lanes: lanes_a, actions: actions_a, draws: draws_a, out: out_a },
            Self { lanes: lanes_b, actions: actions_b, draws: draws_b, out: out_b },
        )
    }

    fn run_in_a_row(self, rules: &R, autoreset: Autoreset) {
        let width = rules.observation_len();
        let observations = self.out.obs.chunks_exact_mut(width).zip(self.out.final_obs.chunks_exact_mut(width));
        for (i, (lane, (obs, final_obs))) in self.lanes.iter_mut().zip(observations).enumerate() {
            let draw = self.draws.map(|draws| &draws[i]);
            let (reward, terminated, truncated) = lane.step(rules, autoreset, self.actions[i], draw, obs, final_obs);
            self.out.reward[i] = reward;
            self.out.terminated[i] = terminated.into();
            self.out.truncated[i] = truncated.into();
        }
    }
}
