//! `GameBoy`: one console, for looking closely; batches of them are another class.

use std::sync::Arc;

use gameboy::{Button, Compat, Cpu, HookAction, Model, Options, PIXELS, Rom};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::convert;

#[pyclass(module = "overclock_native")]
pub struct GameBoy {
    inner: gameboy::GameBoy,
}

fn button(name: &str) -> PyResult<Button> {
    Button::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "There is no button {name:?}; there are right, left, up, down, a, b, select and start."
        ))
    })
}

#[pymethods]
impl GameBoy {
    #[new]
    #[pyo3(signature = (rom, boot = None, cgb = None, sound = false, compat = "pyboy", sample_rate = 0))]
    fn new(
        rom: &[u8],
        boot: Option<&[u8]>,
        cgb: Option<bool>,
        sound: bool,
        compat: &str,
        #[pyo3(from_py_with = convert::sample_rate)] sample_rate: u32,
    ) -> PyResult<Self> {
        let compat = match compat {
            "pyboy" => Compat::PyBoy,
            "hardware" => Compat::Hardware,
            other => {
                return Err(PyValueError::new_err(format!("compat must be \"pyboy\" or \"hardware\", got {other:?}.")));
            }
        };
        let model = match cgb {
            None => Model::Auto,
            Some(false) => Model::Dmg,
            Some(true) => Model::Cgb,
        };
        let rom = Rom::new(rom).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let options = Options { model, compat, sound, sample_rate, boot: boot.map(Arc::from) };
        Ok(Self { inner: gameboy::GameBoy::new(Arc::new(rom), &options) })
    }

    /// Run frames, draw the last and sample its sound if asked to; returns how many ran.
    #[pyo3(signature = (count = 1, render = true, sound = false))]
    fn tick(&mut self, py: Python<'_>, count: u32, render: bool, sound: bool) -> u32 {
        py.detach(|| self.inner.tick_sampled(count, render, sound))
    }

    /// The sound of the last frame, if it was sampled: (samples, 2), left and right, as PyBoy's `sound.ndarray`.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let samples = self.inner.samples();
        PyArray1::from_slice(py, samples.as_flattened()).reshape([samples.len(), 2])
    }

    fn press(&mut self, name: &str) -> PyResult<()> {
        self.inner.press(button(name)?);
        Ok(())
    }

    fn release(&mut self, name: &str) -> PyResult<()> {
        self.inner.release(button(name)?);
        Ok(())
    }

    /// Press a button, and let go of it after `delay` frames.
    #[pyo3(signature = (name, delay = 1))]
    fn button(&mut self, name: &str, delay: u32) -> PyResult<()> {
        self.inner.button(button(name)?, delay);
        Ok(())
    }

    #[pyo3(signature = (address, length = 1))]
    fn read<'py>(&mut self, py: Python<'py>, address: u16, length: u32) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = (0..length).map(|offset| self.inner.read(address.wrapping_add(offset as u16))).collect();
        PyBytes::new(py, &bytes)
    }

    fn write(&mut self, address: u16, value: u8) {
        self.inner.write(address, value);
    }

    #[pyo3(signature = (bank, address, length = 1))]
    fn read_bank<'py>(&self, py: Python<'py>, bank: usize, address: u16, length: u32) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Option<Vec<u8>> =
            (0..length).map(|offset| self.inner.read_bank(bank, address.wrapping_add(offset as u16))).collect();
        let bytes = bytes.ok_or_else(|| PyValueError::new_err(format!("There is no bank {bank} at {address:04X}.")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// What went out over the cable since this was last asked for: the last 256 bytes of it.
    fn sent<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.sent())
    }

    /// A F B C D E HL SP PC by name, and IME.
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let cpu = self.inner.registers();
        let values = PyDict::new(py);
        for (name, value) in [("A", cpu.a), ("F", cpu.f), ("B", cpu.b), ("C", cpu.c), ("D", cpu.d), ("E", cpu.e)] {
            values.set_item(name, value)?;
        }
        for (name, value) in [("HL", cpu.hl), ("SP", cpu.sp), ("PC", cpu.pc)] {
            values.set_item(name, value)?;
        }
        values.set_item("IME", cpu.ime)?;
        Ok(values)
    }

    /// Change some of the registers, by name.
    #[pyo3(signature = (**values))]
    fn set_registers(&mut self, values: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let mut cpu: Cpu = self.inner.registers();
        for (name, value) in values.into_iter().flat_map(|values| values.iter()) {
            match name.extract::<&str>()? {
                "A" => cpu.a = value.extract()?,
                "F" => cpu.f = value.extract()?,
                "B" => cpu.b = value.extract()?,
                "C" => cpu.c = value.extract()?,
                "D" => cpu.d = value.extract()?,
                "E" => cpu.e = value.extract()?,
                "HL" => cpu.hl = value.extract()?,
                "SP" => cpu.sp = value.extract()?,
                "PC" => cpu.pc = value.extract()?,
                "IME" => cpu.ime = value.extract()?,
                other => return Err(PyValueError::new_err(format!("There is no register {other}."))),
            }
        }
        self.inner.set_registers(cpu);
        Ok(())
    }

    fn cycles(&self) -> u64 {
        self.inner.cycles()
    }

    /// The picture of the last frame drawn: (144, 160, 4), as PyBoy's `screen.ndarray`.
    fn screen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let mut bytes = vec![0; 4 * PIXELS];
        self.inner.write_rgba(&mut bytes);
        PyArray1::from_vec(py, bytes).reshape([gameboy::HEIGHT, gameboy::WIDTH, 4])
    }

    /// The whole state as bytes.
    fn save_state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.save())
    }

    fn load_state(&mut self, state: &[u8]) -> PyResult<()> {
        self.inner.load(state).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Count how often the CPU comes to an address in a bank, or stop there.
    #[pyo3(signature = (bank, address, stop = false))]
    fn hook(&mut self, bank: u16, address: u16, stop: bool) {
        self.inner.hook(bank, address, if stop { HookAction::Stop } else { HookAction::Count });
    }

    fn unhook(&mut self, bank: u16, address: u16) {
        self.inner.unhook(bank, address);
    }

    fn hook_count(&self, bank: u16, address: u16) -> u64 {
        self.inner.hook_count(bank, address)
    }
}
