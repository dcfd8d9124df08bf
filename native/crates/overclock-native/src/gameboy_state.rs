//! `GameBoyState`: a console of a `VecGameBoy`, kept.

use std::borrow::Cow;

use gameboy::saved_cycles;
use gameboy_batch::Batch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::convert::{shortly, wrong};

/// A console as it was: what `load_state` and `set_start` take. It costs a copy of its memory, and no more.
///
/// `GameBoyState(bytes(state))` is the same state, and so is what pickle makes of it: both go through its bytes.
#[pyclass(module = "overclock_native", frozen)]
pub struct GameBoyState {
    kept: Kept,
}

enum Kept {
    Console(Box<gameboy::GameBoy>),
    /// From a file or another process; the ROM that it needs is with the batch that loads it.
    Bytes(Vec<u8>),
}

#[pymethods]
impl GameBoyState {
    #[new]
    fn new(content: &Bound<'_, PyAny>) -> PyResult<Self> {
        let content: &[u8] = content.extract().map_err(|_| not_bytes(content))?;
        saved_cycles(content).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { kept: Kept::Bytes(content.to_vec()) })
    }

    /// The cycles since that console was switched on.
    #[getter]
    fn cycles(&self) -> PyResult<u64> {
        match &self.kept {
            Kept::Console(console) => Ok(console.cycles()),
            Kept::Bytes(content) => saved_cycles(content).map_err(|error| wrong(error.to_string())),
        }
    }

    /// Everything but the ROM: for files and other processes, and `load_state` takes it too.
    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        match &self.kept {
            Kept::Console(console) => PyBytes::new(py, &console.save()),
            Kept::Bytes(content) => PyBytes::new(py, content),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (slf.get_type(), (slf.get().__bytes__(slf.py()),))
    }

    fn __repr__(&self) -> PyResult<String> {
        let whose = match &self.kept {
            Kept::Console(console) => format!("of {:?} ", console.rom().title()),
            Kept::Bytes(_) => String::new(),
        };
        Ok(format!("<GameBoyState {whose}after {} cycles>", self.cycles()?))
    }
}

impl GameBoyState {
    pub fn of(console: gameboy::GameBoy) -> Self {
        Self { kept: Kept::Console(Box::new(console)) }
    }
}

/// The console of a state, or of its bytes, for a batch that can play it.
pub fn console_of<'a>(state: &'a Bound<'_, PyAny>, batch: &Batch) -> PyResult<Cow<'a, gameboy::GameBoy>> {
    let content: &[u8] = match state.cast::<GameBoyState>() {
        Ok(state) => match &state.get().kept {
            Kept::Console(console) => return Ok(Cow::Borrowed(&**console)),
            Kept::Bytes(content) => content,
        },
        Err(_) => state.extract().map_err(|_| not_bytes(state))?,
    };
    batch.revive(content).map(Cow::Owned).map_err(|error| wrong(error.to_string()))
}

fn not_bytes(value: &Bound<'_, PyAny>) -> PyErr {
    wrong(format!("A state is a GameBoyState or its bytes, got {}.", shortly(value)))
}
