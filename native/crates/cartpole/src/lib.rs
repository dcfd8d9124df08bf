//! CartPole: the rules of Gymnasium's CartPole-v1 in float32, in the order of operations of
//! `overclock.envs.cartpole.env`.
//!
//! Rust never contracts `a * b + c` into one rounding and takes sine and cosine from the platform's math library;
//! XLA may do otherwise, so one step agrees with the JAX batch within a few float32 roundings, not bit for bit.

#![forbid(unsafe_code)]

use overclock_rng::Rng;
use overclock_vector::{Rules, WIDTH};

const GRAVITY: f32 = 9.8;
const MASSCART: f32 = 1.0;
const MASSPOLE: f32 = 0.1;
const TOTAL_MASS: f32 = MASSPOLE + MASSCART;
const LENGTH: f32 = 0.5; // half the pole's length
const POLEMASS_LENGTH: f32 = MASSPOLE * LENGTH;
const FORCE_MAG: f32 = 10.0;
const TAU: f32 = 0.02; // seconds between two steps
const FOUR_THIRDS: f32 = (4.0_f64 / 3.0) as f32;
const RESET_BOUND: f32 = 0.05;
/// The pole may lean this far, 12 degrees.
pub const THETA_THRESHOLD: f32 = (12.0 * 2.0 * std::f64::consts::PI / 360.0) as f32;
/// The cart may go this far.
pub const X_THRESHOLD: f32 = 2.4;
/// The default time limit.
pub const MAX_STEPS: i32 = 500;

/// Position and velocity of the cart, angle and angular velocity of the pole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    pub x: f32,
    pub x_dot: f32,
    pub theta: f32,
    pub theta_dot: f32,
}

impl State {
    /// Whether the cart left the track or the pole leans too far.
    pub fn fallen(&self) -> bool {
        self.x < -X_THRESHOLD || self.x > X_THRESHOLD || self.theta < -THETA_THRESHOLD || self.theta > THETA_THRESHOLD
    }
}

/// The player's choice: actions 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    Left,
    Right,
}

/// The rules and their two options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CartPole {
    /// -1 on the terminating step and 0 before, instead of 1 per step.
    pub sutton_barto_reward: bool,
    pub max_steps: Option<i32>,
}

impl Default for CartPole {
    fn default() -> Self {
        Self { sutton_barto_reward: false, max_steps: Some(MAX_STEPS) }
    }
}

impl CartPole {
    /// Of a step that started fallen or not: one that starts fallen and stays fallen earns nothing.
    fn reward(&self, was_fallen: bool, terminated: bool) -> f32 {
        match (self.sutton_barto_reward, terminated) {
            (true, true) => -1.0,
            (true, false) => 0.0,
            (false, true) if was_fallen => 0.0,
            (false, _) => 1.0,
        }
    }
}

/// Of the cart and of the pole's angle.
fn accelerations(state: &State, push: Push) -> (f32, f32) {
    let force = match push {
        Push::Left => -FORCE_MAG,
        Push::Right => FORCE_MAG,
    };
    let (sintheta, costheta) = state.theta.sin_cos();
    let temp = (force + POLEMASS_LENGTH * (state.theta_dot * state.theta_dot) * sintheta) / TOTAL_MASS;
    let thetaacc = (GRAVITY * sintheta - costheta * temp)
        / (LENGTH * (FOUR_THIRDS - MASSPOLE * (costheta * costheta) / TOTAL_MASS));
    let xacc = temp - POLEMASS_LENGTH * thetaacc * costheta / TOTAL_MASS;
    (xacc, thetaacc)
}

impl Rules for CartPole {
    type State = State;
    type States = [State; WIDTH];
    type ResetDraw = [f32; 4];
    type StepDraw = ();
    type Action = Push;
    type Element = f32;

    fn observation_len(&self) -> usize {
        4
    }

    fn max_steps(&self) -> Option<i32> {
        self.max_steps
    }

    fn draw_reset(&self, rng: Rng) -> [f32; 4] {
        [0, 1, 2, 3].map(|site| rng.uniform_f32(site, -RESET_BOUND, RESET_BOUND))
    }

    fn draw_step(&self, _: Rng) {}

    #[inline]
    fn sample(&self, rng: Rng) -> Push {
        if rng.integers(0, 2) == 1 { Push::Right } else { Push::Left }
    }

    fn init(&self, &[x, x_dot, theta, theta_dot]: &[f32; 4]) -> State {
        State { x, x_dot, theta, theta_dot }
    }

    #[inline]
    fn transition(&self, state: &mut State, push: Push, _: impl FnOnce()) -> (f32, bool) {
        let was_fallen = state.fallen();
        let (xacc, thetaacc) = accelerations(state, push);
        *state = State {
            x: state.x + TAU * state.x_dot,
            x_dot: state.x_dot + TAU * xacc,
            theta: state.theta + TAU * state.theta_dot,
            theta_dot: state.theta_dot + TAU * thetaacc,
        };
        let terminated = state.fallen();
        (self.reward(was_fallen, terminated), terminated)
    }

    #[inline]
    fn observe(&self, state: &State, into: &mut [f32]) {
        into.copy_from_slice(&[state.x, state.x_dot, state.theta, state.theta_dot]);
    }
}
