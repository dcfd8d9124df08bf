//! `GameBoy`: one console, for looking closely; batches of them are another class.

use std::sync::Arc;

use gameboy::{Button, Compat, Cpu, HookAction, Model, Options, PIXELS, Rom};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::console;
use crate::convert::{flag, shortly, wrong};

#[pyclass(module = "overclock_native")]
pub struct GameBoy {
    inner: gameboy::GameBoy,
}

fn button(value: &Bound<'_, PyAny>) -> PyResult<Button> {
    let name = value.extract::<&str>().ok();
    name.and_then(Button::from_name).ok_or_else(|| {
        wrong(format!(
            "There is no button {}; there are right, left, up, down, a, b, select and start.",
            shortly(value)
        ))
    })
}

#[pymethods]
impl GameBoy {
    #[new]
    #[pyo3(
        signature = (
            rom, boot = None, cgb = None, sound = false, compat = Compat::PyBoy, sample_rate = 0
        ),
        text_signature = "(rom, boot=None, cgb=None, sound=False, compat='pyboy', sample_rate=0)"
    )]
    fn new(
        #[pyo3(from_py_with = console::rom)] rom: Arc<Rom>,
        boot: Option<&Bound<'_, PyAny>>,
        cgb: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = console::sound)] sound: bool,
        #[pyo3(from_py_with = console::compat)] compat: Compat,
        #[pyo3(from_py_with = console::sample_rate)] sample_rate: u32,
    ) -> PyResult<Self> {
        let model = match cgb.map(|cgb| flag("cgb", cgb)).transpose()? {
            None => Model::Auto,
            Some(false) => Model::Dmg,
            Some(true) => Model::Cgb,
        };
        let options = Options { model, compat, sound, sample_rate, boot: console::boot(boot, model, &rom)? };
        Ok(Self { inner: gameboy::GameBoy::new(rom, &options) })
    }

    /// Run frames, draw the last and sample its sound if asked to; returns how many ran.
    #[pyo3(signature = (count = 1, render = true, sound = false))]
    fn tick(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = console::frames)] count: u32,
        #[pyo3(from_py_with = console::render)] render: bool,
        #[pyo3(from_py_with = console::sound)] sound: bool,
    ) -> u32 {
        py.detach(|| self.inner.tick_sampled(count, render, sound))
    }

    /// The sound of the last frame, if it was sampled: (samples, 2), left and right, as PyBoy's `sound.ndarray`.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let samples = self.inner.samples();
        PyArray1::from_slice(py, samples.as_flattened()).reshape([samples.len(), 2])
    }

    fn press(&mut self, #[pyo3(from_py_with = button)] name: Button) {
        self.inner.press(name);
    }

    fn release(&mut self, #[pyo3(from_py_with = button)] name: Button) {
        self.inner.release(name);
    }

    /// Press a button, and let go of it after `delay` frames.
    #[pyo3(signature = (name, delay = 1))]
    fn button(
        &mut self,
        #[pyo3(from_py_with = button)] name: Button,
        #[pyo3(from_py_with = console::frames)] delay: u32,
    ) {
        self.inner.button(name, delay);
    }

    #[pyo3(signature = (address, length = 1))]
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        #[pyo3(from_py_with = console::address)] address: u16,
        #[pyo3(from_py_with = console::length)] length: u32,
    ) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = (0..length).map(|offset| self.inner.read(address.wrapping_add(offset as u16))).collect();
        PyBytes::new(py, &bytes)
    }

    fn write(
        &mut self,
        #[pyo3(from_py_with = console::address)] address: u16,
        #[pyo3(from_py_with = console::byte)] value: u8,
    ) {
        self.inner.write(address, value);
    }

    #[pyo3(signature = (bank, address, length = 1))]
    fn read_bank<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = console::bank)] bank: u16,
        #[pyo3(from_py_with = console::address)] address: u16,
        #[pyo3(from_py_with = console::length)] length: u32,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Option<Vec<u8>> = (0..length)
            .map(|offset| self.inner.read_bank(usize::from(bank), address.wrapping_add(offset as u16)))
            .collect();
        let bytes = bytes.ok_or_else(|| wrong(format!("There is no bank {bank} at {address:04X}.")))?;
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
                other => return Err(wrong(format!("There is no register {other}."))),
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

    fn load_state(&mut self, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let content: &[u8] =
            state.extract().map_err(|_| wrong(format!("A state is bytes, got {}.", shortly(state))))?;
        self.inner.load(content).map_err(|error| wrong(error.to_string()))
    }

    /// Count how often the CPU comes to an address in a bank, or stop there.
    #[pyo3(signature = (bank, address, stop = false))]
    fn hook(
        &mut self,
        bank: &Bound<'_, PyAny>,
        address: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = console::stop)] stop: bool,
    ) -> PyResult<()> {
        let (bank, address) = console::place(self.inner.rom(), bank, address)?;
        self.inner.hook(bank, address, if stop { HookAction::Stop } else { HookAction::Count });
        Ok(())
    }

    fn unhook(&mut self, bank: &Bound<'_, PyAny>, address: &Bound<'_, PyAny>) -> PyResult<()> {
        let (bank, address) = console::place(self.inner.rom(), bank, address)?;
        self.inner.unhook(bank, address);
        Ok(())
    }

    fn hook_count(&self, bank: &Bound<'_, PyAny>, address: &Bound<'_, PyAny>) -> PyResult<u64> {
        let (bank, address) = console::place(self.inner.rom(), bank, address)?;
        Ok(self.inner.hook_count(bank, address))
    }
}
