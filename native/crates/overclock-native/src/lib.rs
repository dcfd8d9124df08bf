//! The Python module `overclock_native`: Rust batches with NumPy buffers.
//!
//! Everything here is conversion and error sentences; the environments are in their own crates. Mistakes of the
//! caller are `ValueError`s of one sentence, found before anything changes.

mod buffers;
mod cartpole;
mod console;
mod convert;
mod gameboy;
mod gameboy_state;
mod pong;
mod sm83;
mod state;
mod vec_gameboy;
mod vector;

use numpy::PyArray1;
use overclock_rng::{Rng, SITES, Section};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The words of `count` consecutive sites of one event, as `Rng.of(seed)` gives them in Python.
#[pyfunction]
#[pyo3(signature = (seed, counter, section, site, count = 1, half = 0))]
fn rng_words<'py>(
    py: Python<'py>,
    seed: &Bound<'py, PyAny>,
    counter: u32,
    section: u32,
    site: u32,
    count: u32,
    half: u32,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let section = Section::from_number(section)
        .ok_or_else(|| PyValueError::new_err(format!("section must be 0 to 5, got {section}.")))?;
    if half > 1 || site.checked_add(count).is_none_or(|end| end > SITES) {
        return Err(PyValueError::new_err(format!(
            "An event has the draw sites 0 to {}, with halves 0 and 1; got {count} from {site}, half {half}.",
            SITES - 1
        )));
    }
    let rng = Rng { counter, section, ..Rng::from_seed(convert::seed("seed", seed)?) };
    Ok(PyArray1::from_iter(py, rng.words(site, count, half)))
}

#[pymodule]
mod overclock_native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::cartpole::VecCartPole;
    #[pymodule_export]
    use super::gameboy::GameBoy;
    #[pymodule_export]
    use super::gameboy_state::GameBoyState;
    #[pymodule_export]
    use super::pong::VecPong;
    #[pymodule_export]
    use super::rng_words;
    #[pymodule_export]
    use super::sm83::sm83_step;
    #[pymodule_export]
    use super::vec_gameboy::VecGameBoy;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
