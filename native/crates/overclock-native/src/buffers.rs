//! The NumPy arrays that a batch writes into: its own, made once and reused, or the caller's.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArrayMethods, dtype};
use overclock_vector::Out;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert::{as_bytes, tuple, wrong};

/// What a step produces, in the order in which it is returned.
const NAMES: [&str; 5] = ["obs", "reward", "terminated", "truncated", "final_obs"];

/// A batch's own arrays, in the order of `NAMES`.
pub struct Buffers {
    own: [Py<PyAny>; 5],
    num_envs: usize,
    observation_shape: Vec<usize>,
}

impl Buffers {
    /// Zeroed arrays for `num_envs` observations of a shape.
    pub fn new<E: Element>(py: Python<'_>, num_envs: usize, observation: &[usize]) -> PyResult<Self> {
        let mut observation_shape = vec![num_envs];
        observation_shape.extend(observation);
        // Through Python's own `zeros`, which reports missing memory as an exception.
        let zeros = py.import("numpy")?.getattr("zeros")?;
        let shape = PyTuple::new(py, &observation_shape)?;
        let own = [
            zeros.call1((&shape, dtype::<E>(py)))?.unbind(),
            zeros.call1((num_envs, "float32"))?.unbind(),
            zeros.call1((num_envs, "bool"))?.unbind(),
            zeros.call1((num_envs, "bool"))?.unbind(),
            zeros.call1((&shape, dtype::<E>(py)))?.unbind(),
        ];
        Ok(Self { own, num_envs, observation_shape })
    }

    /// The arrays to write into: those in `out`, and the batch's own for the names it leaves out.
    pub fn choose<'py>(&self, py: Python<'py>, out: Option<&Bound<'py, PyDict>>) -> PyResult<[Bound<'py, PyAny>; 5]> {
        let mut arrays = self.own.each_ref().map(|array| array.bind(py).clone());
        for (name, array) in out.into_iter().flatten() {
            let name: String = name.extract().map_err(|_| wrong("The names in out must be strings.".into()))?;
            let position = NAMES.iter().position(|known| *known == name);
            let position = position
                .ok_or_else(|| wrong(format!("out has no place for '{name}'; it takes {}.", NAMES.join(", "))))?;
            arrays[position] = array;
        }
        Ok(arrays)
    }

    /// The right to write into the chosen arrays, all of them different memory.
    pub fn borrow<'py, E: Element>(&self, arrays: &[Bound<'py, PyAny>; 5]) -> PyResult<Borrowed<'py, E>> {
        let [obs, reward, terminated, truncated, final_obs] = arrays;
        let per_lane = [self.num_envs];
        Ok(Borrowed {
            obs: writable(NAMES[0], obs, &self.observation_shape)?,
            reward: writable(NAMES[1], reward, &per_lane)?,
            terminated: writable_flags(NAMES[2], terminated, &per_lane)?,
            truncated: writable_flags(NAMES[3], truncated, &per_lane)?,
            final_obs: writable(NAMES[4], final_obs, &self.observation_shape)?,
        })
    }

    /// The right to write into the chosen observations alone.
    pub fn borrow_obs<'py, E: Element>(
        &self,
        arrays: &[Bound<'py, PyAny>; 5],
    ) -> PyResult<PyReadwriteArrayDyn<'py, E>> {
        writable(NAMES[0], &arrays[0], &self.observation_shape)
    }
}

/// Arrays that nothing else in this module reads or writes while this value lives.
pub struct Borrowed<'py, E: Element> {
    obs: PyReadwriteArrayDyn<'py, E>,
    reward: PyReadwriteArrayDyn<'py, f32>,
    terminated: PyReadwriteArrayDyn<'py, u8>,
    truncated: PyReadwriteArrayDyn<'py, u8>,
    final_obs: PyReadwriteArrayDyn<'py, E>,
}

impl<E: Element> Borrowed<'_, E> {
    /// Their memory.
    pub fn slices(&mut self) -> PyResult<Out<'_, E>> {
        Ok(Out {
            obs: self.obs.as_slice_mut()?,
            reward: self.reward.as_slice_mut()?,
            terminated: self.terminated.as_slice_mut()?,
            truncated: self.truncated.as_slice_mut()?,
            final_obs: self.final_obs.as_slice_mut()?,
        })
    }
}

pub fn writable<'py, T: Element>(
    name: &str,
    array: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    borrow_memory(name, fitting::<T>(name, array, shape)?)
}

fn writable_flags<'py>(
    name: &str,
    array: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<PyReadwriteArrayDyn<'py, u8>> {
    borrow_memory(name, as_bytes(fitting::<bool>(name, array, shape)?)?.cast()?)
}

fn fitting<'a, 'py, T: Element>(
    name: &str,
    array: &'a Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<&'a Bound<'py, PyArrayDyn<T>>> {
    let fitting = array.cast::<PyArrayDyn<T>>().ok().filter(|a| a.shape() == shape && a.is_c_contiguous());
    fitting.ok_or_else(|| {
        let dtype = dtype::<T>(array.py());
        wrong(format!("out['{name}'] must be a C-contiguous {dtype} array of shape {}.", tuple(shape)))
    })
}

fn borrow_memory<'py, T: Element>(
    name: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let array = array.try_readwrite().ok().filter(|array| array.as_slice().is_ok());
    array.ok_or_else(|| wrong(format!("out['{name}'] is read-only, misaligned or shares memory with another array.")))
}
