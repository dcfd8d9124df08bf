//! What the Python classes of all environments share: a batch, its buffers, and the way through the interpreter.

use numpy::Element;
use overclock_vector::{Autoreset, Batch, Draws, Lane, Rules};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::buffers::Buffers;
use crate::convert::{self, wrong};

/// A batch with the arrays it writes into and the last actions it was given.
pub struct Vector<R: Rules> {
    pub batch: Batch<R>,
    pub actions: Vec<R::Action>,
    buffers: Buffers,
}

impl<R> Vector<R>
where
    R: Rules + Send,
    R::Element: Element,
    R::Action: Send,
{
    /// A batch in its first episodes, from the arguments as Python gave them.
    pub fn new(
        rules: R,
        observation: &[usize],
        num_envs: &Bound<'_, PyAny>,
        autoreset: &str,
        seed: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let py = num_envs.py();
        let num_envs = convert::count("num_envs", num_envs)?;
        let autoreset = convert::autoreset(autoreset)?;
        let seed = convert::seed("seed", seed)?;
        let buffers = Buffers::new::<R::Element>(py, num_envs as usize, observation)?;
        let batch = py
            .detach(|| Batch::new(rules, num_envs, autoreset, seed))
            .map_err(|_| PyMemoryError::new_err(format!("There is not enough memory for {num_envs} lanes.")))?;
        Ok(Self { batch, actions: Vec::new(), buffers })
    }

    /// How many lanes there are.
    pub fn num_envs(&self) -> usize {
        self.batch.len()
    }

    /// The auto-reset mode's name.
    pub fn autoreset(&self) -> &'static str {
        let known = |(_, mode): &(&str, Autoreset)| *mode == self.batch.autoreset();
        Autoreset::NAMES.into_iter().find(known).map_or("", |(name, _)| name)
    }

    /// Restart lanes; returns the observations' array.
    pub fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seeds: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
        draws: Option<&[R::ResetDraw]>,
        out: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let num_envs = self.num_envs();
        let seeds = seeds.map(|seeds| convert::seeds(seeds, num_envs)).transpose()?;
        let mask = mask.map(|mask| convert::mask(mask, num_envs)).transpose()?;
        let arrays = self.buffers.choose(py, out)?;
        let mut obs = self.buffers.borrow_obs::<R::Element>(&arrays)?;
        let obs = obs.as_slice_mut()?;
        let batch = &mut self.batch;
        py.detach(|| batch.reset(seeds.as_deref(), mask.as_deref(), draws, obs));
        let [obs, ..] = arrays;
        Ok(obs)
    }

    /// Step every lane with `self.actions`; returns the five arrays it wrote.
    pub fn step<'py>(
        &mut self,
        py: Python<'py>,
        draws: Draws<'_, R>,
        out: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let arrays = self.buffers.choose(py, out)?;
        let mut borrowed = self.buffers.borrow::<R::Element>(&arrays)?;
        let slices = borrowed.slices()?;
        let (batch, actions) = (&mut self.batch, &self.actions);
        py.detach(|| batch.step(actions, draws, slices));
        PyTuple::new(py, arrays)
    }

    /// Play with random actions and write the last step into the batch's own arrays: (sum of rewards, episodes).
    pub fn play(&mut self, py: Python<'_>, steps: &Bound<'_, PyAny>) -> PyResult<(f64, u64)> {
        let steps = convert::count("steps", steps)?;
        let arrays = self.buffers.choose(py, None)?;
        let mut borrowed = self.buffers.borrow::<R::Element>(&arrays)?;
        let slices = borrowed.slices()?;
        let batch = &mut self.batch;
        let totals = py.detach(|| batch.play(steps.into(), slices));
        Ok((totals.reward, totals.episodes))
    }

    /// Continue from saved lanes, of which there is one for each.
    pub fn set_lanes(&mut self, lanes: Vec<Lane<R::State>>) {
        for (i, lane) in lanes.into_iter().enumerate() {
            self.batch.set_lane(i, lane);
        }
    }

    /// Make lane `target` what lane `source` is, random stream included.
    pub fn clone_lane(&mut self, source: i64, target: i64) -> PyResult<()> {
        let num_envs = self.num_envs();
        let lane = |lane: i64| {
            let index = usize::try_from(lane).ok().filter(|&index| index < num_envs);
            index.ok_or_else(|| wrong(format!("There is no lane {lane}; lanes are 0 to {}.", num_envs - 1)))
        };
        let (source, target) = (lane(source)?, lane(target)?);
        self.batch.set_lane(target, self.batch.lane(source));
        Ok(())
    }
}
