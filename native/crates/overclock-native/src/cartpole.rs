//! `VecCartPole`: CartPole's batch in Python.

use cartpole::{CartPole, Push, State};
use numpy::PyReadonlyArrayDyn;
use overclock_vector::Draws;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert;
use crate::state::{Saved, put, put_common};
use crate::vector::Vector;

const RULES: [&str; 4] = ["lanes.rules.x", "lanes.rules.x_dot", "lanes.rules.theta", "lanes.rules.theta_dot"];
const WIDTH: usize = 4; // numbers of an observation, and of the first state that a draw is

/// A batch of CartPoles that writes into NumPy arrays it owns, or into the caller's (`out`).
///
/// The arrays it returns are reused by the next call.
#[pyclass(module = "overclock_native")]
pub struct VecCartPole {
    vector: Vector<CartPole>,
}

#[pymethods]
impl VecCartPole {
    #[new]
    #[pyo3(signature = (num_envs, autoreset, seed, sutton_barto_reward = false, max_steps = Some(500)))]
    fn new(
        num_envs: &Bound<'_, PyAny>,
        autoreset: &str,
        seed: &Bound<'_, PyAny>,
        sutton_barto_reward: bool,
        max_steps: Option<i64>,
    ) -> PyResult<Self> {
        let rules = CartPole { sutton_barto_reward, max_steps: convert::max_steps(max_steps)? };
        Ok(Self { vector: Vector::new(rules, &[WIDTH], num_envs, autoreset, seed)? })
    }

    /// How many lanes there are.
    #[getter]
    fn num_envs(&self) -> usize {
        self.vector.num_envs()
    }

    /// 'same_step', 'next_step' or 'off'.
    #[getter]
    fn autoreset(&self) -> &'static str {
        self.vector.autoreset()
    }

    /// Restart the lanes in `mask` (all, if None) and return every lane's observation, float32[n, 4].
    ///
    /// A lane with a seed starts that seed's stream, one without goes on with its own. `draws` (float32[n, 4],
    /// first states) replace what the streams would give; `out` may hold 'obs', an array to write into.
    #[pyo3(signature = (seeds = None, mask = None, draws = None, out = None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seeds: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
        draws: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let draws = self.draws(draws)?;
        self.vector.reset(py, seeds, mask, first_states(draws.as_ref())?, out)
    }

    /// Step every lane: (obs, reward, terminated, truncated, final_obs).
    ///
    /// `actions` are n whole numbers, 0 or 1. `out` may hold arrays to write into, under those five names; lanes
    /// that restart in this step take their first states from `draws` (float32[n, 4]), where given. `step_draws` is
    /// there for the sake of other environments.
    #[pyo3(signature = (actions, out = None, draws = None, step_draws = None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyDict>>,
        draws: Option<&Bound<'py, PyAny>>,
        step_draws: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if step_draws.is_some() {
            return Err(convert::wrong("CartPole's steps draw nothing; leave step_draws out.".into()));
        }
        let push = |action| if action == 1 { Push::Right } else { Push::Left };
        convert::choices("Actions", actions, self.vector.num_envs(), 2, push, &mut self.vector.actions)?;
        let draws = self.draws(draws)?;
        self.vector.step(py, Draws { reset: first_states(draws.as_ref())?, step: None }, out)
    }

    /// Take `steps` steps with random actions of the lanes' own streams: (sum of all rewards, episodes that ended).
    ///
    /// The batch's own arrays then hold the last step.
    fn play(&mut self, py: Python<'_>, steps: &Bound<'_, PyAny>) -> PyResult<(f64, u64)> {
        self.vector.play(py, steps)
    }

    /// A copy of everything that decides the future, as named arrays.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lanes: Vec<_> = self.vector.batch.lanes().collect();
        let state = PyDict::new(py);
        let fields = [|s: &State| s.x, |s: &State| s.x_dot, |s: &State| s.theta, |s: &State| s.theta_dot];
        for (name, field) in RULES.iter().zip(fields) {
            put(&state, name, lanes.iter().map(|lane| field(&lane.rules)))?;
        }
        put_common(&state, &lanes)?;
        Ok(state)
    }

    /// Continue exactly from a state that `get_state` returned.
    fn set_state(&mut self, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let saved = Saved::new(state, self.vector.num_envs(), &RULES)?;
        let [x, x_dot, theta, theta_dot] = RULES.map(|name| saved.column::<f32>(name));
        let (x, x_dot, theta, theta_dot) = (x?, x_dot?, theta?, theta_dot?);
        let rules = (0..x.len()).map(|i| State { x: x[i], x_dot: x_dot[i], theta: theta[i], theta_dot: theta_dot[i] });
        self.vector.set_lanes(saved.lanes(rules)?);
        Ok(())
    }

    /// Make lane `target` what lane `source` is, random stream included.
    fn clone(&mut self, source: i64, target: i64) -> PyResult<()> {
        self.vector.clone_lane(source, target)
    }
}

impl VecCartPole {
    fn draws<'py>(&self, draws: Option<&Bound<'py, PyAny>>) -> PyResult<Option<PyReadonlyArrayDyn<'py, f32>>> {
        draws.map(|draws| convert::rows("draws", draws, self.vector.num_envs(), WIDTH)).transpose()
    }
}

/// Rows of four numbers, in place.
fn first_states<'a>(draws: Option<&'a PyReadonlyArrayDyn<'_, f32>>) -> PyResult<Option<&'a [[f32; WIDTH]]>> {
    Ok(match draws {
        Some(draws) => Some(draws.as_slice()?.as_chunks().0),
        None => None,
    })
}
