//! Batches of one environment: what `overclock.vector.vectorize` does in JAX, for rules written in Rust.
//!
//! An environment implements [`Rules`] on one instance; [`Batch`] gives it lanes with their own random streams,
//! the three auto-reset modes, step counting, and threads. A lane's future depends on nothing but that lane, so
//! results do not depend on the number of threads.

#![forbid(unsafe_code)]

mod batch;
mod lane;
mod pool;

pub use batch::{Batch, Out};
pub use lane::{Autoreset, Lane};

use overclock_rng::Rng;

/// The rules of one environment, on one instance. No I/O, and no randomness except in `draw_reset`.
pub trait Rules: Sync {
    /// Everything that the rules remember between two steps.
    type State: Clone + Send + Sync;
    /// The randomness of one reset.
    type Draw: Sync;
    /// One legal action.
    type Action: Copy + Sync;
    /// One number of an observation.
    type Element: Copy + Send;

    /// How many numbers one observation has.
    fn observation_len(&self) -> usize;
    /// Steps after which an episode is truncated; None = never.
    fn max_steps(&self) -> Option<i32>;
    /// The randomness of one reset, from the reset section of an event.
    fn draw_reset(&self, rng: Rng) -> Self::Draw;
    /// The first state of an episode, from its randomness.
    fn init(&self, draw: &Self::Draw) -> Self::State;
    /// One step of the rules: (reward, terminated). Never resets, never counts steps.
    fn transition(&self, state: &mut Self::State, action: Self::Action) -> (f32, bool);
    /// Write what a player sees of a state.
    fn observe(&self, state: &Self::State, into: &mut [Self::Element]);
}
