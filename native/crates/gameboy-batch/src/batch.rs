//! The lanes of a batch, and what can be done to some of them at once.

use std::sync::Arc;

use gameboy::{Button, GameBoy, HookAction, Options, Rom, StateError};

use crate::crew::Crew;
use crate::observation::Observation;

/// What a step is, and what is seen after it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Frames of a step; only the last is drawn.
    pub frame_skip: u32,
    /// For so many of them, the buttons of the step are held; at most `frame_skip`.
    pub press_frames: u32,
    pub observation: Observation,
    /// Addresses whose bytes every step gives, as the CPU would read them.
    pub ram: Vec<u16>,
    /// Whether the sound of the last frame is sampled.
    pub samples: bool,
}

/// Why a saved console does not belong into a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    OtherRom,
    OtherModel,
    OtherOptions,
}

pub struct Batch {
    settings: Settings,
    /// Where episodes begin. Neither this nor saved consoles have hooks.
    start: GameBoy,
    lanes: Vec<GameBoy>,
    hooks: Vec<(u16, u16)>,
    /// Counts of the consoles that were in a lane before its present one: hooks of lane 0, of lane 1, ...
    passed: Vec<u64>,
    crew: Crew,
}

/// One lane at work: the console and the places it writes to.
struct Seat<'a> {
    lane: usize,
    console: &'a mut GameBoy,
    obs: &'a mut [u8],
    ram: &'a mut [u8],
}

impl Batch {
    /// `count` consoles that have run `boot_frames` frames since they were switched on.
    pub fn new(
        rom: Arc<Rom>,
        options: &Options,
        boot_frames: u32,
        count: usize,
        settings: Settings,
        crew: Crew,
    ) -> Self {
        let mut start = GameBoy::new(rom, options);
        start.tick(boot_frames, settings.observation.is_picture());
        let lanes = vec![start.clone(); count];
        Self { settings, start, lanes, hooks: Vec::new(), passed: Vec::new(), crew }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    #[expect(clippy::len_without_is_empty, reason = "a batch without lanes is never made")]
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Numbers of one observation.
    pub fn observation_len(&self) -> usize {
        self.settings.observation.shape(self.settings.ram.len()).iter().product()
    }

    /// Put lanes back to where episodes begin, write `values` at `addresses` (a row per lane), then run `frames`.
    /// Only the rows of these lanes are written.
    pub fn reset(
        &mut self,
        mask: Option<&[bool]>,
        addresses: &[u16],
        values: &[u8],
        frames: u32,
        obs: &mut [u8],
        ram: &mut [u8],
    ) {
        for lane in 0..self.lanes.len() {
            if mask.is_none_or(|mask| mask[lane]) {
                self.retire(lane);
            }
        }
        let (start, hooks) = (&self.start, &self.hooks);
        let (settings, seats) = (&self.settings, seats(&mut self.lanes, &self.settings, mask, obs, ram));
        self.crew.each(seats, |seat| {
            seat.console.clone_from(start);
            for &(bank, address) in hooks {
                seat.console.hook(bank, address, HookAction::Count);
            }
            let row = values.get(seat.lane * addresses.len()..).unwrap_or_default();
            for (&address, &value) in addresses.iter().zip(row) {
                seat.console.write(address, value);
            }
            seat.console.tick_sampled(frames, settings.observation.is_picture(), settings.samples);
            seat.observe(settings);
        });
    }

    /// Step lanes with the buttons they hold, a bit for each of [`Button::ALL`]. Only their rows are written.
    pub fn step(&mut self, mask: Option<&[bool]>, buttons: &[u8], obs: &mut [u8], ram: &mut [u8]) {
        let (settings, seats) = (&self.settings, seats(&mut self.lanes, &self.settings, mask, obs, ram));
        self.crew.each(seats, |seat| {
            let pressed = buttons[seat.lane];
            let each = |act: fn(&mut GameBoy, Button), console: &mut GameBoy| {
                for button in Button::ALL.into_iter().filter(|&button| pressed >> button as u8 & 1 != 0) {
                    act(console, button);
                }
            };
            let draws = settings.observation.is_picture();
            let rest = settings.frame_skip - settings.press_frames;
            each(GameBoy::press, seat.console);
            seat.console.tick_sampled(settings.press_frames, draws && rest == 0, settings.samples && rest == 0);
            each(GameBoy::release, seat.console);
            seat.console.tick_sampled(rest, draws, settings.samples);
            seat.observe(settings);
        });
    }

    /// Let lanes run without touching their buttons, and draw the last frame if it is to be seen.
    pub fn tick(&mut self, mask: Option<&[bool]>, frames: u32, obs: &mut [u8], ram: &mut [u8]) {
        let (settings, seats) = (&self.settings, seats(&mut self.lanes, &self.settings, mask, obs, ram));
        self.crew.each(seats, |seat| {
            seat.console.tick_sampled(frames, settings.observation.is_picture(), settings.samples);
            seat.observe(settings);
        });
    }

    /// Bytes as the CPUs would read them, a row per lane.
    pub fn read(&mut self, addresses: &[u16], into: &mut [u8]) {
        for (console, row) in self.lanes.iter_mut().zip(into.chunks_exact_mut(addresses.len().max(1))) {
            read(console, addresses, row);
        }
    }

    /// Write bytes as the CPUs would, a row per lane.
    pub fn write(&mut self, mask: Option<&[bool]>, addresses: &[u16], values: &[u8]) {
        for (lane, row) in values.chunks_exact(addresses.len().max(1)).enumerate() {
            if mask.is_none_or(|mask| mask[lane]) {
                for (&address, &value) in addresses.iter().zip(row) {
                    self.lanes[lane].write(address, value);
                }
            }
        }
    }

    /// One lane's console.
    pub fn console(&self, lane: usize) -> &GameBoy {
        &self.lanes[lane]
    }

    /// A lane's console as it is now, without hooks.
    pub fn save(&self, lane: usize) -> GameBoy {
        let mut saved = self.lanes[lane].clone();
        for &(bank, address) in &self.hooks {
            saved.unhook(bank, address);
        }
        saved
    }

    /// Put a saved console into a lane; what the lane's hooks have counted stays.
    pub fn load(&mut self, lane: usize, saved: &GameBoy) -> Result<(), Unfit> {
        self.check(saved)?;
        self.retire(lane);
        self.lanes[lane].clone_from(saved);
        for &(bank, address) in &self.hooks {
            self.lanes[lane].hook(bank, address, HookAction::Count);
        }
        Ok(())
    }

    /// Let episodes begin with a saved console.
    pub fn set_start(&mut self, saved: &GameBoy) -> Result<(), Unfit> {
        self.check(saved)?;
        self.start = saved.clone();
        Ok(())
    }

    /// A console like those of the batch, from the bytes of a saved one.
    pub fn revive(&self, content: &[u8]) -> Result<GameBoy, StateError> {
        let mut console = self.start.clone();
        console.restore(content)?;
        Ok(console)
    }

    /// The bytes of every lane's state; all are of one length.
    pub fn save_all(&self) -> Vec<u8> {
        let mut states: Vec<(&GameBoy, Vec<u8>)> = self.lanes.iter().map(|console| (console, Vec::new())).collect();
        self.crew.each(states.iter_mut().collect(), |(console, content)| *content = console.save());
        states.iter().flat_map(|(_, content)| content).copied().collect()
    }

    /// Make every lane what `save_all` gave for it; or tell which one does not fit, and change nothing.
    pub fn load_all(&mut self, rows: &[u8]) -> Result<(), (usize, StateError)> {
        let width = rows.len() / self.lanes.len();
        let mut loaded: Vec<(GameBoy, Result<(), StateError>)> =
            self.lanes.iter().map(|console| (console.clone(), Ok(()))).collect();
        let pairs = loaded.iter_mut().zip(rows.chunks_exact(width.max(1))).collect();
        self.crew.each(pairs, |((console, result), row)| *result = console.restore(row));
        for (lane, (_, result)) in loaded.iter().enumerate() {
            result.map_err(|error| (lane, error))?;
        }
        self.lanes = loaded.into_iter().map(|(console, _)| console).collect();
        Ok(())
    }

    fn check(&self, saved: &GameBoy) -> Result<(), Unfit> {
        let (ours, theirs) = (self.start.rom(), saved.rom());
        if !Arc::ptr_eq(ours, theirs) && ours.bytes() != theirs.bytes() {
            return Err(Unfit::OtherRom);
        }
        if self.start.is_color() != saved.is_color() {
            return Err(Unfit::OtherModel);
        }
        if !self.start.is_like(saved) {
            return Err(Unfit::OtherOptions);
        }
        Ok(())
    }

    /// Count how often the CPUs come to an address in a bank of ROM, from now on.
    pub fn hook(&mut self, bank: u16, address: u16) {
        if self.hooks.contains(&(bank, address)) {
            return;
        }
        let counts = self.hook_counts();
        let width = self.hooks.len();
        self.hooks.push((bank, address));
        self.passed =
            (0..self.lanes.len()).flat_map(|lane| counts[lane * width..][..width].iter().copied().chain([0])).collect();
        for console in &mut self.lanes {
            // Earlier hooks begin again too: what they counted was just moved.
            for &(bank, address) in &self.hooks {
                console.hook(bank, address, HookAction::Count);
            }
        }
    }

    /// How often each lane came to each hook, in the order in which they were added.
    pub fn hook_counts(&self) -> Vec<u64> {
        let present = self
            .lanes
            .iter()
            .flat_map(|console| self.hooks.iter().map(move |&(bank, address)| console.hook_count(bank, address)));
        present.zip(&self.passed).map(|(now, before)| now + before).collect()
    }

    /// Keep what a lane's hooks have counted, because another console takes its place.
    fn retire(&mut self, lane: usize) {
        let width = self.hooks.len();
        for (number, &(bank, address)) in self.hooks.iter().enumerate() {
            self.passed[lane * width + number] += self.lanes[lane].hook_count(bank, address);
        }
    }
}

impl Seat<'_> {
    fn observe(&mut self, settings: &Settings) {
        read(self.console, &settings.ram, self.ram);
        if settings.observation == Observation::Ram {
            self.obs.copy_from_slice(self.ram);
        } else {
            settings.observation.write(self.console, self.obs);
        }
    }
}

fn read(console: &mut GameBoy, addresses: &[u16], into: &mut [u8]) {
    for (byte, &address) in into.iter_mut().zip(addresses) {
        *byte = console.read(address);
    }
}

/// The lanes of a mask with their rows of the outputs.
fn seats<'a>(
    lanes: &'a mut [GameBoy],
    settings: &Settings,
    mask: Option<&[bool]>,
    mut obs: &'a mut [u8],
    mut ram: &'a mut [u8],
) -> Vec<Seat<'a>> {
    let width = settings.observation.shape(settings.ram.len()).iter().product();
    let mut found = Vec::with_capacity(lanes.len());
    for (lane, console) in lanes.iter_mut().enumerate() {
        let (obs_row, ram_row);
        (obs_row, obs) = obs.split_at_mut(width);
        (ram_row, ram) = ram.split_at_mut(settings.ram.len());
        if mask.is_none_or(|mask| mask[lane]) {
            found.push(Seat { lane, console, obs: obs_row, ram: ram_row });
        }
    }
    found
}
