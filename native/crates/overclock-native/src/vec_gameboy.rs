//! `VecGameBoy`: many consoles with one cartridge.

use std::sync::Arc;

use gameboy::{Compat, HEIGHT, Model, Options, PIXELS, Rom, WIDTH};
use gameboy_batch::{Batch, Crew, Observation, Settings, Unfit};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use crate::buffers::writable;
use crate::console;
use crate::convert::{self, shortly, show, wrong};
use crate::gameboy_state::{GameBoyState, console_of};

/// What a call writes, in the order in which it is returned.
const NAMES: [&str; 2] = ["obs", "ram"];

/// A batch of Game Boys that writes into NumPy arrays it owns, or into the caller's (`out`).
///
/// The arrays it returns are reused by the next call.
#[pyclass(module = "overclock_native")]
pub struct VecGameBoy {
    batch: Batch,
    buttons: Vec<u8>,
    own: [Py<PyAny>; 2],
}

#[pymethods]
impl VecGameBoy {
    /// `num_envs` consoles with the cartridge `rom` (bytes), `boot_frames` after they were switched on.
    ///
    /// A step is `frame_skip` frames, for the first `press_frames` of which the buttons are held; only the last is drawn.
    /// `observation` is 'rgb', 'gray', 'gray_2x2', 'packed_2bit' or 'ram'; `ram` lists the addresses whose bytes every
    /// call gives beside it. With `sound` and a `sample_rate`, the last frame's sound is sampled; see `samples`. `model` is
    /// 'auto', 'dmg' or 'cgb', `compat` 'pyboy' or 'hardware'. `threads` is how many threads step the lanes: as many as
    /// there are cores where it is None.
    #[new]
    #[pyo3(
        signature = (
            rom, num_envs, frame_skip = None, press_frames = None, observation = Observation::Gray2x2, ram = None, *,
            model = Model::Auto, compat = Compat::PyBoy, sound = false, sample_rate = 0, boot = None, boot_frames = 0,
            threads = None,
        ),
        text_signature = "(rom, num_envs, frame_skip=24, press_frames=8, observation='gray_2x2', ram=(), *, \
                          model='auto', compat='pyboy', sound=False, sample_rate=0, boot=None, boot_frames=0, \
                          threads=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = console::rom)] rom: Arc<Rom>,
        num_envs: &Bound<'_, PyAny>,
        frame_skip: Option<&Bound<'_, PyAny>>,
        press_frames: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = kind)] observation: Observation,
        ram: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = console::model)] model: Model,
        #[pyo3(from_py_with = console::compat)] compat: Compat,
        #[pyo3(from_py_with = console::sound)] sound: bool,
        #[pyo3(from_py_with = console::sample_rate)] sample_rate: u32,
        boot: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = console::boot_frames)] boot_frames: u32,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let num_envs = convert::count("num_envs", num_envs)? as usize;
        let frame_skip = frame_skip.map_or(Ok(24), |frames| convert::count("frame_skip", frames))?;
        let press_frames =
            press_frames.map_or(Ok(frame_skip.min(8)), |frames| convert::count("press_frames", frames))?;
        if press_frames > frame_skip {
            return Err(wrong(format!("press_frames must be 1 to frame_skip ({frame_skip}), got {press_frames}.")));
        }
        let ram = ram.map_or(Ok(Vec::new()), addresses)?;
        if observation == Observation::Ram && ram.is_empty() {
            return Err(wrong("observation='ram' needs addresses in ram, [0xC000] for example.".into()));
        }
        if sample_rate > 0 && !sound {
            return Err(wrong("sample_rate needs sound=True.".into()));
        }
        let options = Options { model, compat, sound, sample_rate, boot: console::boot(boot, model, &rom)? };
        let threads = threads.map(|count| convert::count("threads", count)).transpose()?;
        // More threads than lanes would only wait.
        let crew = Crew::new(threads.map(|count| (count as usize).min(num_envs)))
            .map_err(|error| wrong(format!("The threads cannot be started: {error}.")))?;
        let settings = Settings { frame_skip, press_frames, observation, ram, samples: sample_rate > 0 };
        let mut shape = vec![num_envs];
        shape.extend(observation.shape(settings.ram.len()));
        // Through Python's own `zeros`, which reports missing memory as an exception.
        let zeros = py.import("numpy")?.getattr("zeros")?;
        let own = [shape, vec![num_envs, settings.ram.len()]];
        let own = own.map(|shape| zeros.call1((PyTuple::new(py, shape)?, "uint8")).map(Bound::unbind));
        let [obs, values] = own;
        let memory = num_envs.checked_mul(gameboy::GameBoy::size(&rom, model));
        if memory.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
            return Err(PyMemoryError::new_err(format!("There is not enough memory for {num_envs} consoles.")));
        }
        let batch = py.detach(|| Batch::new(rom, &options, boot_frames, num_envs, settings, crew));
        Ok(Self { batch, buttons: Vec::new(), own: [obs?, values?] })
    }

    #[getter]
    fn num_envs(&self) -> usize {
        self.batch.len()
    }

    /// Of one observation.
    #[getter]
    fn observation_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let settings = self.batch.settings();
        PyTuple::new(py, settings.observation.shape(settings.ram.len()))
    }

    #[getter]
    fn frame_skip(&self) -> u32 {
        self.batch.settings().frame_skip
    }

    #[getter]
    fn press_frames(&self) -> u32 {
        self.batch.settings().press_frames
    }

    /// Whether the consoles are Game Boy Colors.
    #[getter]
    fn is_color(&self) -> bool {
        self.batch.console(0).is_color()
    }

    /// Put the lanes in `mask` (all, if None) back to where episodes begin, write `values` at `addresses` in their RAM
    /// (a row for all, or one per lane), run `frames` frames: (obs, ram). Rows of other lanes are not written.
    #[pyo3(signature = (mask = None, addresses = None, values = None, frames = 0, out = None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        mask: Option<&Bound<'py, PyAny>>,
        addresses: Option<&Bound<'py, PyAny>>,
        values: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = console::frames)] frames: u32,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mask = self.mask(mask)?;
        let places = addresses.map_or(Ok(Vec::new()), self::addresses)?;
        if places.is_empty() != values.is_none() {
            return Err(wrong("addresses and values are given together.".into()));
        }
        let values = values.map_or(Ok(Vec::new()), |values| self.rows(values, places.len()))?;
        self.into(py, out, |batch, _, obs, ram| batch.reset(mask.as_deref(), &places, &values, frames, obs, ram))
    }

    /// Step the lanes in `mask` (all, if None): (obs, ram). `buttons` holds one number per lane, the sum of right 1,
    /// left 2, up 4, down 8, a 16, b 32, select 64 and start 128. Rows of other lanes are not written.
    #[pyo3(signature = (buttons, mask = None, out = None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        buttons: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mask = self.mask(mask)?;
        convert::choices("Buttons", buttons, self.batch.len(), 256, |pressed| pressed as u8, &mut self.buttons)?;
        self.into(py, out, |batch, buttons, obs, ram| batch.step(mask.as_deref(), buttons, obs, ram))
    }

    /// Run `frames` frames of the lanes in `mask` (all, if None) without touching their buttons: (obs, ram).
    #[pyo3(signature = (frames = 1, mask = None, out = None))]
    fn tick<'py>(
        &mut self,
        py: Python<'py>,
        #[pyo3(from_py_with = console::frames)] frames: u32,
        mask: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mask = self.mask(mask)?;
        self.into(py, out, |batch, _, obs, ram| batch.tick(mask.as_deref(), frames, obs, ram))
    }

    /// The bytes at `addresses`, as the CPUs would read them now: uint8[n, k].
    fn read<'py>(&mut self, py: Python<'py>, addresses: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let places = self::addresses(addresses)?;
        let mut bytes = vec![0; self.batch.len() * places.len()];
        self.batch.read(&places, &mut bytes);
        PyArray1::from_vec(py, bytes).reshape([self.batch.len(), places.len()])
    }

    /// Write bytes at `addresses`, as the CPUs would: `values` is a row for all lanes, or one per lane.
    #[pyo3(signature = (addresses, values, mask = None))]
    fn write(
        &mut self,
        addresses: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mask = self.mask(mask)?;
        let places = self::addresses(addresses)?;
        let values = self.rows(values, places.len())?;
        self.batch.write(mask.as_deref(), &places, &values);
        Ok(())
    }

    /// The last frame drawn of a lane, (144, 160, 3); where none are drawn ('ram'), the one that would come next.
    fn screen<'py>(&self, py: Python<'py>, lane: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let mut bytes = vec![0; 3 * PIXELS];
        let console = self.batch.console(self.lane(lane)?);
        if self.batch.settings().observation.is_picture() {
            Observation::Rgb.write(console, &mut bytes);
        } else {
            let mut ahead = console.clone();
            ahead.tick(1, true);
            Observation::Rgb.write(&ahead, &mut bytes);
        }
        PyArray1::from_vec(py, bytes).reshape([HEIGHT, WIDTH, 3])
    }

    /// The sound of a lane's last frame, left and right: int8[samples, 2]; without `sample_rate` there are none.
    fn samples<'py>(&self, py: Python<'py>, lane: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let samples = self.batch.console(self.lane(lane)?).samples();
        PyArray1::from_slice(py, samples.as_flattened()).reshape([samples.len(), 2])
    }

    /// A copy of a lane.
    fn save_state(&self, lane: &Bound<'_, PyAny>) -> PyResult<GameBoyState> {
        Ok(GameBoyState::of(self.batch.save(self.lane(lane)?)))
    }

    /// Make a lane what was saved, from a `GameBoyState` or its bytes. Its observation is that of the next call.
    fn load_state(&mut self, lane: &Bound<'_, PyAny>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let lane = self.lane(lane)?;
        let console = console_of(state, &self.batch)?;
        self.batch.load(lane, &console).map_err(unfit)
    }

    /// uint8[n, size]: the bytes of every lane's state.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let rows = py.detach(|| self.batch.save_all());
        let width = rows.len() / self.batch.len();
        PyArray1::from_vec(py, rows).reshape([self.batch.len(), width])
    }

    /// Make every lane what `states` gave for it.
    fn set_states(&mut self, py: Python<'_>, states: &Bound<'_, PyAny>) -> PyResult<()> {
        let unfit =
            || wrong(format!("states must be a uint8 array with a row for each of {} lanes.", self.batch.len()));
        let array = states.cast::<PyArray2<u8>>().map_err(|_| unfit())?;
        if array.shape()[0] != self.batch.len() || !array.is_c_contiguous() {
            return Err(unfit());
        }
        let rows = array.try_readonly()?;
        let rows = rows.as_slice()?;
        let batch = &mut self.batch;
        py.detach(|| batch.load_all(rows)).map_err(|(lane, error)| wrong(format!("Lane {lane}: {error}")))
    }

    /// Make lane `target` what lane `source` is.
    fn clone(&mut self, source: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        let (source, target) = (self.lane(source)?, self.lane(target)?);
        let saved = self.batch.save(source);
        self.batch.load(target, &saved).map_err(unfit)
    }

    /// Let episodes begin where `state` was saved.
    fn set_start(&mut self, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let console = console_of(state, &self.batch)?;
        self.batch.set_start(&console).map_err(unfit)
    }

    /// Count from now on how often each lane's CPU comes to `address` in a bank of ROM; see `hook_counts`.
    fn hook(&mut self, bank: &Bound<'_, PyAny>, address: &Bound<'_, PyAny>) -> PyResult<()> {
        let (bank, address) = console::place(self.batch.console(0).rom(), bank, address)?;
        self.batch.hook(bank, address);
        Ok(())
    }

    /// uint64[n, h]: how often each lane came to each hook, in the order in which they were added. Resets and loaded
    /// states leave the counts as they are.
    fn hook_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let counts = self.batch.hook_counts();
        let width = counts.len() / self.batch.len();
        PyArray1::from_vec(py, counts).reshape([self.batch.len(), width])
    }
}

impl VecGameBoy {
    /// Work that writes into the chosen arrays, without the interpreter.
    fn into<'py>(
        &mut self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        work: impl FnOnce(&mut Batch, &[u8], &mut [u8], &mut [u8]) + Send,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let mut arrays = self.own.each_ref().map(|array| array.bind(py).clone());
        let out = out.map(|out| {
            out.cast::<PyDict>().map_err(|_| wrong(format!("out must be a dict of arrays, got {}.", shortly(out))))
        });
        for (name, array) in out.transpose()?.into_iter().flatten() {
            let place = NAMES.iter().position(|known| name.extract().is_ok_and(|name: &str| name == *known));
            let place = place.ok_or_else(|| wrong(format!("out takes obs and ram, got {}.", show(&name))))?;
            arrays[place] = array;
        }
        let settings = self.batch.settings();
        let (count, width) = (self.batch.len(), settings.ram.len());
        let mut shape = vec![count];
        shape.extend(settings.observation.shape(width));
        let mut obs: PyReadwriteArrayDyn<'_, u8> = writable(NAMES[0], &arrays[0], &shape)?;
        let mut ram: PyReadwriteArrayDyn<'_, u8> = writable(NAMES[1], &arrays[1], &[count, width])?;
        let (obs, ram) = (obs.as_slice_mut()?, ram.as_slice_mut()?);
        let (batch, buttons) = (&mut self.batch, &self.buttons);
        py.detach(|| work(batch, buttons, obs, ram));
        PyTuple::new(py, arrays)
    }

    fn lane(&self, lane: &Bound<'_, PyAny>) -> PyResult<usize> {
        let count = self.batch.len();
        let index = lane.extract::<usize>().ok().filter(|&index| index < count && !lane.is_instance_of::<PyBool>());
        index.ok_or_else(|| wrong(format!("There is no lane {}; lanes are 0 to {}.", shortly(lane), count - 1)))
    }

    fn mask(&self, mask: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<bool>>> {
        mask.map(|mask| convert::mask(mask, self.batch.len())).transpose()
    }

    /// A row of `width` bytes for every lane, where one row may stand for all.
    fn rows(&self, values: &Bound<'_, PyAny>, width: usize) -> PyResult<Vec<u8>> {
        let count = self.batch.len();
        let numpy = values.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (values,)).map_err(|_| wrong("values are not an array.".into()))?;
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        if shape != [width] && shape != [count, width] {
            let (one, all) = (convert::tuple(&[width]), convert::tuple(&[count, width]));
            return Err(wrong(format!("values must have shape {one} or {all}, got {}.", convert::tuple(&shape))));
        }
        let array = array.call_method1("ravel", ())?;
        let mut bytes = Vec::new();
        convert::choices("values", &array, shape.iter().product(), 256, |value| value as u8, &mut bytes)?;
        Ok(if shape.len() == 1 { bytes.repeat(count) } else { bytes })
    }
}

fn unfit(why: Unfit) -> PyErr {
    wrong(match why {
        Unfit::OtherRom => "This state was saved with another ROM.".into(),
        Unfit::OtherModel => "This state was saved on another model of Game Boy.".into(),
        Unfit::OtherOptions => "This state was saved by a console with other options; compat, sound, sample rate and \
                                boot code have to agree."
            .into(),
    })
}

fn kind(value: &Bound<'_, PyAny>) -> PyResult<Observation> {
    convert::chosen("observation", &Observation::NAMES, value)
}

fn addresses(value: &Bound<'_, PyAny>) -> PyResult<Vec<u16>> {
    let unfit = || wrong(format!("Addresses must be whole numbers from 0 to 0xFFFF, got {}.", shortly(value)));
    let items = value.try_iter().map_err(|_| unfit())?;
    items.map(|item| item.and_then(|item| console::address(&item)).map_err(|_| unfit())).collect()
}
