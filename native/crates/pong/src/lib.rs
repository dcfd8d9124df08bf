//! Pong: the rules of PufferLib 3.0.0's C Pong, in the same order of float32 operations.
//!
//! Rust rounds after every operation, as the reference's compiler does, so that both give the same bits for
//! discrete and for continuous actions. `overclock.envs.pong.env` is the same in JAX.

#![forbid(unsafe_code)]

mod block;
mod state;

pub use block::Lanes;
pub use state::{MAX_SCORE, State};

use overclock_rng::Rng;
use overclock_vector::Rules;
use state::{OBSERVATION, Serve};

/// The rules and their options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    /// Frames of one step, at least 1; a point ends the step earlier.
    pub frameskip: u32,
    /// Whether random actions are any direction, or one of the three.
    pub continuous: bool,
    pub max_steps: Option<i32>,
}

impl Default for Pong {
    fn default() -> Self {
        Self { frameskip: 1, continuous: false, max_steps: None }
    }
}

impl Pong {
    /// The direction of a discrete action: 0 stays, 1 is up, 2 is down.
    #[inline]
    pub fn direction(action: u32) -> f32 {
        f32::from(u8::from(action == 1)) - f32::from(u8::from(action == 2))
    }
}

impl Rules for Pong {
    type State = State;
    type States = Lanes;
    type ResetDraw = Serve;
    type StepDraw = Serve;
    /// The direction in which the player's paddle moves, -1 to 1; 1 is up.
    type Action = f32;
    type Element = f32;

    fn observation_len(&self) -> usize {
        OBSERVATION
    }

    fn max_steps(&self) -> Option<i32> {
        self.max_steps
    }

    fn draw_reset(&self, rng: Rng) -> Serve {
        rng.integers(0, 2)
    }

    #[inline]
    fn draw_step(&self, rng: Rng) -> Serve {
        rng.integers(0, 2)
    }

    #[inline]
    fn sample(&self, rng: Rng) -> f32 {
        if self.continuous { rng.uniform_f32(0, -1.0, 1.0) } else { Self::direction(rng.integers(0, 3)) }
    }

    fn init(&self, draw: &Serve) -> State {
        let mut state = State::default();
        state.serve(*draw);
        state.show();
        state
    }

    fn transition(&self, state: &mut State, direction: f32, draw: impl FnOnce() -> Serve) -> (f32, bool) {
        state.tick = state.tick.wrapping_add(1);
        let mut reward = 0.0;
        for _ in 0..self.frameskip {
            state.travel(direction);
            let event = state.meet(direction);
            reward = event.reward().unwrap_or(reward);
            if event.is_point() {
                return (reward, state.score(draw));
            }
            state.show();
        }
        (reward, false)
    }

    #[inline]
    fn observe(&self, state: &State, into: &mut [f32]) {
        into.copy_from_slice(&state.observation());
    }

    #[inline(always)]
    fn transition_block(
        &self,
        lanes: &mut Lanes,
        directions: &[f32],
        draw: impl Fn(usize) -> Serve,
        reward: &mut [f32],
        terminated: &mut [u8],
    ) {
        lanes.step(self.frameskip, directions, draw, reward, terminated);
    }

    #[inline]
    fn observe_block(&self, lanes: &Lanes, into: &mut [f32]) {
        lanes.observe(into);
    }
}
