//! What goes into a step besides actions, and what comes out of it.

use std::ops::Add;

use crate::Rules;

/// Where a step writes: one entry per lane (one observation's length of entries in `obs` and `final_obs`).
pub struct Out<'a, E> {
    pub obs: &'a mut [E],
    pub reward: &'a mut [f32],
    /// Flags are bytes, 0 or 1: foreign memory may hold bytes that are no `bool`.
    pub terminated: &'a mut [u8],
    pub truncated: &'a mut [u8],
    /// What the rules produced at this step; it differs from `obs` only where `SameStep` restarts a lane.
    pub final_obs: &'a mut [E],
}

impl<'a, E> Out<'a, E> {
    /// The part of the first `lanes` lanes, and the rest.
    #[inline]
    pub(crate) fn split_at(self, lanes: usize, observation_len: usize) -> (Self, Self) {
        let (obs_a, obs_b) = self.obs.split_at_mut(lanes * observation_len);
        let (reward_a, reward_b) = self.reward.split_at_mut(lanes);
        let (terminated_a, terminated_b) = self.terminated.split_at_mut(lanes);
        let (truncated_a, truncated_b) = self.truncated.split_at_mut(lanes);
        let (final_a, final_b) = self.final_obs.split_at_mut(lanes * observation_len);
        (
            Self { obs: obs_a, reward: reward_a, terminated: terminated_a, truncated: truncated_a, final_obs: final_a },
            Self { obs: obs_b, reward: reward_b, terminated: terminated_b, truncated: truncated_b, final_obs: final_b },
        )
    }

    /// The same places, for a shorter time.
    #[inline]
    pub(crate) fn again(&mut self) -> Out<'_, E> {
        Out {
            obs: self.obs,
            reward: self.reward,
            terminated: self.terminated,
            truncated: self.truncated,
            final_obs: self.final_obs,
        }
    }
}

/// Recorded randomness to use instead of the lanes' streams, one entry per lane; None means the streams.
pub struct Draws<'a, R: Rules> {
    /// Of the episodes that start.
    pub reset: Option<&'a [R::ResetDraw]>,
    /// Of the steps.
    pub step: Option<&'a [R::StepDraw]>,
}

impl<R: Rules> Clone for Draws<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Rules> Copy for Draws<'_, R> {}

impl<R: Rules> Default for Draws<'_, R> {
    fn default() -> Self {
        Self { reset: None, step: None }
    }
}

impl<R: Rules> Draws<'_, R> {
    /// Those of the first `lanes` lanes, and the rest.
    #[inline]
    pub(crate) fn split_at(self, lanes: usize) -> (Self, Self) {
        let (reset_a, reset_b) = self.reset.map(|draws| draws.split_at(lanes)).unzip();
        let (step_a, step_b) = self.step.map(|draws| draws.split_at(lanes)).unzip();
        (Self { reset: reset_a, step: step_a }, Self { reset: reset_b, step: step_b })
    }
}

/// What many steps came to: the sum of all lanes' rewards, and how many episodes ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub reward: f64,
    pub episodes: u64,
}

impl Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { reward: self.reward + other.reward, episodes: self.episodes + other.episodes }
    }
}
