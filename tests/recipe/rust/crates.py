"""CartPole as a Rust candidate: the honest one, two with bugs, and some that cheat."""

from pathlib import Path

CONTRACT = """\
schema = "overclock.contract/1"

[[state]]
name = "state"
read = "state"
dtype = "float64"
shape = [4]
low = -3.0
high = 3.0

[[draws.reset]]
name = "uniform_0"
method = "uniform"
arguments = "low=-0.05, high=0.05, size=(4,)"
shape = [4]

[float64]
reason = "sine and cosine of NumPy and of the C library round differently by an ulp"
free_running_steps = 100

[float64.per_step]
state = 1e-14
obs = 5e-7

[float64.free_running]
state = 1e-10
obs = 5e-7
"""

HONEST = """\
//! CartPole.
pub mod contract;
mod physics;

use contract::*;
use physics::{advance, fallen, THETA_LIMIT, X_LIMIT};

#[derive(Default)]
pub struct Env;

impl Rules for Env {
    type Element = f32;
    type Action = i64;
    const MAX_STEPS: Option<i32> = Some(500);

    fn observation_space(&self) -> Space {
        let high = [X_LIMIT * 2.0, f64::INFINITY, THETA_LIMIT * 2.0, f64::INFINITY];
        Space::vector(&high.map(|bound| -bound), &high)
    }

    fn action_space(&self) -> Space {
        Space::Discrete(2)
    }

    fn draw_reset(&self, rng: Rng) -> ResetDraw {
        ResetDraw { uniform_0: [0, 1, 2, 3].map(|site| rng.uniform_f64(site, -0.05, 0.05)) }
    }

    fn init(&self, draw: &ResetDraw) -> State {
        State { state: draw.uniform_0 }
    }

    fn transition(&self, state: &mut State, action: i64, _draw: &StepDraw) -> (f64, bool) {
        state.state = advance(state.state, if action == 1 { 10.0 } else { -10.0 });
        (1.0, fallen(&state.state))
    }

    fn observe(&self, state: &State, into: &mut [f32]) {
        for (seen, value) in into.iter_mut().zip(state.state) {
            *seen = value as f32;
        }
    }
}
"""

PHYSICS = """\
//! The cart and its pole.
const GRAVITY: f64 = 9.8;
const MASSCART: f64 = 1.0;
const MASSPOLE: f64 = 0.1;
const TOTAL_MASS: f64 = MASSPOLE + MASSCART;
const LENGTH: f64 = 0.5;
const POLEMASS_LENGTH: f64 = MASSPOLE * LENGTH;
const TAU: f64 = 0.02;
pub const THETA_LIMIT: f64 = 12.0 * 2.0 * std::f64::consts::PI / 360.0;
pub const X_LIMIT: f64 = 2.4;

pub fn fallen(&[x, _, theta, _]: &[f64; 4]) -> bool {
    x < -X_LIMIT || x > X_LIMIT || theta < -THETA_LIMIT || theta > THETA_LIMIT
}

pub fn advance([x, x_dot, theta, theta_dot]: [f64; 4], force: f64) -> [f64; 4] {
    let (costheta, sintheta) = (theta.cos(), theta.sin());
    let temp = (force + POLEMASS_LENGTH * (theta_dot * theta_dot) * sintheta) / TOTAL_MASS;
    let thetaacc = (GRAVITY * sintheta - costheta * temp)
        / (LENGTH * (4.0 / 3.0 - MASSPOLE * (costheta * costheta) / TOTAL_MASS));
    let xacc = temp - POLEMASS_LENGTH * thetaacc * costheta / TOTAL_MASS;
    [x + TAU * x_dot, x_dot + TAU * xacc, theta + TAU * theta_dot, theta_dot + TAU * thetaacc]
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_pole_at_exactly_the_limit_has_not_fallen() {
        assert!(!super::fallen(&[0.0, 0.0, super::THETA_LIMIT, 0.0]));
    }
}
"""


def changed(text: str, old: str, new: str) -> str:
    """The text with one place changed."""
    assert text.count(old) == 1
    return text.replace(old, new)


FILES = {"src/lib.rs": HONEST, "src/physics.rs": PHYSICS, "README.md": "CartPole.\n"}
SIGN_ERROR = {**FILES, "src/physics.rs": changed(PHYSICS, "let xacc = temp - ", "let xacc = temp + ")}
# Position and angle move with the new velocities: semi-implicit instead of explicit Euler.
WRONG_ORDER = {
    **FILES,
    "src/physics.rs": changed(
        PHYSICS,
        "[x + TAU * x_dot, x_dot + TAU * xacc, theta + TAU * theta_dot, theta_dot + TAU * thetaacc]",
        "let (x_dot, theta_dot) = (x_dot + TAU * xacc, theta_dot + TAU * thetaacc);\n"
        "    [x + TAU * x_dot, x_dot, theta + TAU * theta_dot, theta_dot]",
    ),
}


def written(folder: Path, files: dict[str, str]) -> Path:
    """A candidate's files in a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def panicking() -> str:
    """Physics that give up on a leaning pole."""
    return changed(
        PHYSICS,
        "    let (costheta,",
        '    assert!(theta < 0.1, "the pole is at {theta}");\n    let (costheta,',
    )
