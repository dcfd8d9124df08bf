//! `VecPong`: Pong's batch in Python.

use overclock_vector::Draws;
use pong::{Pong, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert;
use crate::state::{Saved, put, put_common};
use crate::vector::Vector;

const WIDTH: usize = 8; // numbers of an observation

/// A field of the rules' state: its name in Python, and where it is.
type Field<T> = (&'static str, fn(&mut State) -> &mut T);

const FLOATS: [Field<f32>; 12] = [
    ("lanes.rules.paddle_yl", |s| &mut s.paddle_yl),
    ("lanes.rules.paddle_yr", |s| &mut s.paddle_yr),
    ("lanes.rules.ball_x", |s| &mut s.ball_x),
    ("lanes.rules.ball_y", |s| &mut s.ball_y),
    ("lanes.rules.ball_vx", |s| &mut s.ball_vx),
    ("lanes.rules.ball_vy", |s| &mut s.ball_vy),
    ("lanes.rules.seen_yl", |s| &mut s.seen_yl),
    ("lanes.rules.seen_yr", |s| &mut s.seen_yr),
    ("lanes.rules.seen_x", |s| &mut s.seen_x),
    ("lanes.rules.seen_y", |s| &mut s.seen_y),
    ("lanes.rules.seen_vx", |s| &mut s.seen_vx),
    ("lanes.rules.seen_vy", |s| &mut s.seen_vy),
];
const INTEGERS: [Field<i32>; 4] = [
    ("lanes.rules.score_l", |s| &mut s.score_l),
    ("lanes.rules.score_r", |s| &mut s.score_r),
    ("lanes.rules.tick", |s| &mut s.tick),
    ("lanes.rules.n_bounces", |s| &mut s.n_bounces),
];

/// A batch of Pongs that writes into NumPy arrays it owns, or into the caller's (`out`).
///
/// The arrays it returns are reused by the next call.
#[pyclass(module = "overclock_native")]
pub struct VecPong {
    vector: Vector<Pong>,
    continuous: bool,
}

#[pymethods]
impl VecPong {
    #[new]
    #[pyo3(signature = (num_envs, autoreset, seed, frameskip = None, continuous = false, max_steps = None))]
    fn new(
        num_envs: &Bound<'_, PyAny>,
        autoreset: &str,
        seed: &Bound<'_, PyAny>,
        frameskip: Option<&Bound<'_, PyAny>>,
        continuous: bool,
        max_steps: Option<i64>,
    ) -> PyResult<Self> {
        let frameskip = frameskip.map_or(Ok(1), |frames| convert::count("frameskip", frames))?;
        let rules = Pong { frameskip, continuous, max_steps: convert::max_steps(max_steps)? };
        Ok(Self { vector: Vector::new(rules, &[WIDTH], num_envs, autoreset, seed)?, continuous })
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

    /// Restart the lanes in `mask` (all, if None) and return every lane's observation, float32[n, 8].
    ///
    /// A lane with a seed starts that seed's stream, one without goes on with its own. `draws` (n serves, 0 or 1)
    /// replace what the streams would give; `out` may hold 'obs', an array to write into.
    #[pyo3(signature = (seeds = None, mask = None, draws = None, out = None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seeds: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
        draws: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let draws = self.serves("draws", draws)?;
        self.vector.reset(py, seeds, mask, draws.as_deref(), out)
    }

    /// Step every lane: (obs, reward, terminated, truncated, final_obs).
    ///
    /// `actions` are n whole numbers, 0 to 2, or float32[n, 1] with `continuous`. `out` may hold arrays to write into,
    /// under those five names. Where given, `draws` (n serves, 0 or 1) are those of the episodes that start in this
    /// step, and `step_draws` those after points that do not end a game.
    #[pyo3(signature = (actions, out = None, draws = None, step_draws = None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyDict>>,
        draws: Option<&Bound<'py, PyAny>>,
        step_draws: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let num_envs = self.vector.num_envs();
        if self.continuous {
            convert::directions(actions, num_envs, &mut self.vector.actions)?;
        } else {
            let direction = |action| Pong::direction(action as u32);
            convert::choices("Actions", actions, num_envs, 3, direction, &mut self.vector.actions)?;
        }
        let (reset, step) = (self.serves("draws", draws)?, self.serves("step_draws", step_draws)?);
        self.vector.step(py, Draws { reset: reset.as_deref(), step: step.as_deref() }, out)
    }

    /// Take `steps` steps with random actions of the lanes' own streams: (sum of all rewards, episodes that ended).
    ///
    /// The batch's own arrays then hold the last step.
    fn play(&mut self, py: Python<'_>, steps: &Bound<'_, PyAny>) -> PyResult<(f64, u64)> {
        self.vector.play(py, steps)
    }

    /// A copy of everything that decides the future, as named arrays.
    fn get_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut lanes: Vec<_> = self.vector.batch.lanes().collect();
        let state = PyDict::new(py);
        for (name, field) in FLOATS {
            put(&state, name, lanes.iter_mut().map(|lane| *field(&mut lane.rules)))?;
        }
        for (name, field) in INTEGERS {
            put(&state, name, lanes.iter_mut().map(|lane| *field(&mut lane.rules)))?;
        }
        put_common(&state, &lanes)?;
        Ok(state)
    }

    /// Continue exactly from a state that `get_state` returned.
    fn set_state(&mut self, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let names: Vec<&str> = FLOATS.iter().map(|field| field.0).chain(INTEGERS.iter().map(|field| field.0)).collect();
        let saved = Saved::new(state, self.vector.num_envs(), &names)?;
        let mut rules = vec![State::default(); self.vector.num_envs()];
        for (name, field) in FLOATS {
            saved.fill(name, &mut rules, field)?;
        }
        for (name, field) in INTEGERS {
            saved.fill(name, &mut rules, field)?;
        }
        self.vector.set_lanes(saved.lanes(rules.into_iter())?);
        Ok(())
    }

    /// Make lane `target` what lane `source` is, random stream included.
    fn clone(&mut self, source: i64, target: i64) -> PyResult<()> {
        self.vector.clone_lane(source, target)
    }
}

impl VecPong {
    /// One serve per lane.
    fn serves(&self, name: &str, draws: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<u32>>> {
        let Some(draws) = draws else { return Ok(None) };
        let mut serves = Vec::new();
        convert::choices(name, draws, self.vector.num_envs(), 2, |serve| serve as u32, &mut serves)?;
        Ok(Some(serves))
    }
}
