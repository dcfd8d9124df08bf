//! A batch's state as named arrays. The names are those of the JAX batch, so that a state moves between the two.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods, dtype};
use overclock_rng::Rng;
use overclock_vector::Lane;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{as_bytes, tuple, wrong};

const STEPS: &str = "lanes.steps";
const K0: &str = "rng.k0";
const K1: &str = "rng.k1";
const COUNTER: &str = "rng.counter";
const ENDED: &str = "ended";

/// Add one array with an entry per lane.
pub fn put<T: Element>(state: &Bound<'_, PyDict>, name: &str, column: impl Iterator<Item = T>) -> PyResult<()> {
    state.set_item(name, PyArray1::from_vec(state.py(), column.collect()))
}

/// Add what every environment's lanes have.
pub fn put_common<S>(state: &Bound<'_, PyDict>, lanes: &[Lane<S>]) -> PyResult<()> {
    put(state, STEPS, lanes.iter().map(|lane| lane.steps))?;
    put(state, K0, lanes.iter().map(|lane| lane.rng.k0))?;
    put(state, K1, lanes.iter().map(|lane| lane.rng.k1))?;
    put(state, COUNTER, lanes.iter().map(|lane| lane.rng.counter))?;
    put(state, ENDED, lanes.iter().map(|lane| lane.ended))
}

/// A saved state on its way back in. Nothing of the batch changes before all of it is read.
pub struct Saved<'a, 'py> {
    state: &'a Bound<'py, PyDict>,
    num_envs: usize,
}

impl<'a, 'py> Saved<'a, 'py> {
    /// Check that the names are the environment's own `rules` and the common ones.
    pub fn new(state: &'a Bound<'py, PyDict>, num_envs: usize, rules: &[&str]) -> PyResult<Self> {
        let expected: Vec<&str> = rules.iter().copied().chain([STEPS, K0, K1, COUNTER, ENDED]).collect();
        let given: Vec<String> = state.keys().iter().map(|name| name.to_string()).collect();
        let absent = expected.iter().filter(|name| !given.iter().any(|other| other == *name));
        let surplus = given.iter().filter(|name| !expected.contains(&name.as_str()));
        let mut odd: Vec<&str> = absent.copied().chain(surplus.map(String::as_str)).collect();
        odd.sort_unstable();
        if odd.is_empty() {
            return Ok(Self { state, num_envs });
        }
        Err(wrong(format!("The saved state does not fit this environment: it differs in {}.", odd.join(", "))))
    }

    /// One array with an entry per lane.
    pub fn column<T: Element + Copy>(&self, name: &str) -> PyResult<Vec<T>> {
        let value = self.value(name)?;
        let fitting = value.cast::<PyArrayDyn<T>>().ok().filter(|array| array.shape() == [self.num_envs]);
        let array = fitting.ok_or_else(|| self.unfit(name, &value, &dtype::<T>(value.py())))?;
        Ok(array.try_readonly()?.as_slice()?.to_vec())
    }

    /// One field of every lane's rules.
    pub fn fill<S, T: Element + Copy>(&self, name: &str, rules: &mut [S], field: fn(&mut S) -> &mut T) -> PyResult<()> {
        for (state, value) in rules.iter_mut().zip(self.column(name)?) {
            *field(state) = value;
        }
        Ok(())
    }

    /// Lanes with the given states of the rules and everything else from the saved arrays.
    pub fn lanes<S>(&self, rules: impl Iterator<Item = S>) -> PyResult<Vec<Lane<S>>> {
        let (steps, counter) = (self.column::<i32>(STEPS)?, self.column::<u32>(COUNTER)?);
        let (k0, k1) = (self.column::<u32>(K0)?, self.column::<u32>(K1)?);
        let ended = self.flags(ENDED)?;
        let lane =
            |(i, rules)| Lane { rules, steps: steps[i], rng: Rng::new(k0[i], k1[i], counter[i]), ended: ended[i] };
        Ok(rules.enumerate().map(lane).collect())
    }

    fn flags(&self, name: &str) -> PyResult<Vec<bool>> {
        let value = self.value(name)?;
        let fitting = value.cast::<PyArrayDyn<bool>>().ok().filter(|array| array.shape() == [self.num_envs]);
        let array = fitting.ok_or_else(|| self.unfit(name, &value, &dtype::<bool>(value.py())))?;
        let bytes = as_bytes(array)?;
        let bytes = bytes.cast::<PyArrayDyn<u8>>()?.try_readonly()?;
        Ok(bytes.as_slice()?.iter().map(|&byte| byte != 0).collect())
    }

    fn value(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = self.state.as_any().get_item(name)?;
        // Of any dtype, which is checked after; contiguous and aligned, as a slice has to be.
        value.py().import("numpy")?.call_method1("require", (value, None::<&str>, "CAE"))
    }

    fn unfit(&self, name: &str, value: &Bound<'py, PyAny>, expected: &Bound<'py, impl Sized>) -> PyErr {
        let expected = expected.as_any();
        let shape = tuple(&[self.num_envs]);
        match (value.getattr("dtype"), value.getattr("shape")) {
            (Ok(dtype), Ok(found)) => wrong(format!(
                "The saved state does not fit: {name} is {dtype} of shape {found}, expected {expected} of shape {shape}."
            )),
            (Err(error), _) | (_, Err(error)) => error,
        }
    }
}
