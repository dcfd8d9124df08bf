//! Batches of one environment: what `overclock.vector.vectorize` does in JAX, for rules written in Rust.
//!
//! An environment implements [`Rules`] on one instance; [`Batch`] gives it lanes with their own random streams,
//! the three auto-reset modes, step counting, and threads. A lane's future depends on nothing but that lane, so
//! results do not depend on the number of threads.
//!
//! Lanes are kept in blocks of [`WIDTH`]. Rules may lay out the states of a block as they like ([`States`]) and step
//! a whole block at once; those that do not get both from their functions on one instance.

#![forbid(unsafe_code)]

mod batch;
mod block;
mod lane;
mod out;
mod pool;
mod work;

pub use batch::Batch;
pub use lane::{Autoreset, Lane};
pub use out::{Draws, Out, Totals};
pub use pool::usable as threads_usable;

use overclock_rng::Rng;

/// Lanes of a block: four vectors of four numbers (every x86-64 processor has those), or one of sixteen.
pub const WIDTH: usize = 16;

/// The rules of one environment, on one instance. No I/O, and no randomness except in the functions that draw.
pub trait Rules: Sync {
    /// Everything that the rules remember between two steps.
    type State: Clone + Send + Sync;
    /// The states of a block: `[State; WIDTH]`, or an array per field where loops over lanes pay.
    type States: States<Self::State>;
    /// The randomness of one reset.
    type ResetDraw: Sync;
    /// The randomness of one step; `()` where there is none.
    type StepDraw: Copy + Sync;
    /// One legal action.
    type Action: Copy + Sync;
    /// One number of an observation.
    type Element: Copy + Send;

    /// How many numbers one observation has.
    fn observation_len(&self) -> usize;
    /// Steps after which an episode is truncated; None = never.
    fn max_steps(&self) -> Option<i32>;
    /// The randomness of one reset, from the reset section of an event.
    fn draw_reset(&self, rng: Rng) -> Self::ResetDraw;
    /// The randomness of one step, from the step section of an event.
    fn draw_step(&self, rng: Rng) -> Self::StepDraw;
    /// A uniformly random action, from the action section of an event, as the JAX twin's action space samples it.
    fn sample(&self, rng: Rng) -> Self::Action;
    /// The first state of an episode, from its randomness.
    fn init(&self, draw: &Self::ResetDraw) -> Self::State;
    /// One step of the rules: (reward, terminated). Never resets, never counts steps. Rules that need their
    /// randomness in few steps ask for it only there.
    fn transition(
        &self,
        state: &mut Self::State,
        action: Self::Action,
        draw: impl FnOnce() -> Self::StepDraw,
    ) -> (f32, bool);
    /// Write what a player sees of a state.
    fn observe(&self, state: &Self::State, into: &mut [Self::Element]);

    /// `transition` of a block's first lanes, as many as there are actions; `draw` takes a lane. Nobody looks at the
    /// lanes after them, and flags are written as 0 or 1.
    #[inline]
    fn transition_block(
        &self,
        states: &mut Self::States,
        actions: &[Self::Action],
        draw: impl Fn(usize) -> Self::StepDraw,
        reward: &mut [f32],
        terminated: &mut [u8],
    ) {
        for (lane, &action) in actions.iter().enumerate() {
            let mut state = states.get(lane);
            let (gained, over) = self.transition(&mut state, action, || draw(lane));
            states.set(lane, state);
            (reward[lane], terminated[lane]) = (gained, over.into());
        }
    }

    /// `observe` of a block's first lanes, as many as there is room for.
    #[inline]
    fn observe_block(&self, states: &Self::States, into: &mut [Self::Element]) {
        for (lane, row) in into.chunks_exact_mut(self.observation_len()).enumerate() {
            self.observe(&states.get(lane), row);
        }
    }
}

/// The states of a block's lanes.
pub trait States<S>: Clone + Send + Sync {
    /// The same state in every lane.
    fn filled(state: &S) -> Self;
    /// One lane's state.
    fn get(&self, lane: usize) -> S;
    /// Replace one lane's state.
    fn set(&mut self, lane: usize, state: S);
}

impl<S: Clone + Send + Sync> States<S> for [S; WIDTH] {
    fn filled(state: &S) -> Self {
        std::array::from_fn(|_| state.clone())
    }

    #[inline]
    fn get(&self, lane: usize) -> S {
        self[lane].clone()
    }

    #[inline]
    fn set(&mut self, lane: usize, state: S) {
        self[lane] = state;
    }
}
