//! The sound as the CPU can see it: registers, which channels play, wave memory, and the channels' levels.
//!
//! Nothing here runs along with the CPU: whoever looks first brings it up to date, and makes the samples due on the
//! way if they are wanted. Time is in dots.

mod envelope;
mod length;
mod noise;
mod pulse;
mod samples;
mod sweep;
mod wave;

use noise::Noise;
use pulse::Pulse;
pub use samples::HIGHEST_RATE;
use samples::Samples;
use sweep::{Slide, Sweep};
use wave::Wave;

use crate::machine::LATEST;
use crate::state::saved;
use crate::{Compat, Options};

/// What reads as 1 in FF10 to FF2F, whatever was written.
const UNREADABLE: [u8; 32] = [
    0x80, 0x3F, 0x00, 0xFF, 0xBF, 0xFF, 0x3F, 0x00, 0xFF, 0xBF, 0x7F, 0xFF, 0x9F, 0xFF, 0xBF, 0xFF, //
    0xFF, 0x00, 0x00, 0xBF, 0x00, 0x00, 0x70, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
];
const NR52: usize = 0x16;
/// Dots from one step of the sequencer to the next, 512 a second.
pub(crate) const STEP: u64 = 8192;

/// It is looked at more often than this.
const LONGEST: u64 = 1 << 24;

#[derive(Clone, Debug)]
pub(crate) struct Sound {
    emulated: bool,
    compat: Compat,
    color: bool,
    registers: [u8; 0x20],
    power: bool,
    /// The dot at which it went on.
    powered: u64,
    /// Dots since then as the reference counts them, and up to which one: it drops the odd dot whenever it stops to look or
    /// to make a sample.
    clock: u64,
    counted: u64,
    /// Which of the sequencer's eight steps comes next, and when.
    step: u8,
    next: u64,
    /// 2: the sequencer's next step does nothing, because a Game Boy Color's sound went on while the bit that it hangs on
    /// was set. 1: that step is over, and until the next one lengths are clocked as if it had done something.
    skips: u8,
    /// When the bit would have fallen after the power went; later the reference does not see that it is set.
    edge: u64,
    sweep: Sweep,
    first: Pulse,
    second: Pulse,
    wave: Wave,
    noise: Noise,
    samples: Samples,
}

impl Sound {
    pub fn new(options: &Options, color: bool) -> Self {
        Self {
            emulated: options.sound,
            compat: options.compat,
            color,
            registers: [0; 0x20],
            power: false,
            powered: 0,
            clock: 0,
            counted: 0,
            step: 0,
            next: STEP,
            skips: 0,
            edge: STEP,
            sweep: Sweep::default(),
            first: Pulse::new(!color),
            second: Pulse::new(!color),
            wave: Wave::new(),
            noise: Noise::new(color),
            samples: Samples::new(options.sample_rate),
        }
    }

    /// The sequencer hangs on DIV, as a console's does.
    fn follows_div(&self) -> bool {
        self.compat == Compat::Hardware
    }

    pub fn is_emulated(&self) -> bool {
        self.emulated
    }

    /// Dots between two samples.
    pub fn interval(&self) -> f64 {
        self.samples.interval
    }

    /// Whether loaded fields can belong together at `dot`. Without sound nothing moves, and everything stays behind.
    pub fn is_consistent(&self, dot: u64) -> bool {
        // Its steps are taken one by one.
        let follows = !self.power || (dot.saturating_sub(LONGEST)..=dot + 2 * STEP).contains(&self.next);
        let sequencer = follows && self.step < 8 && self.clock < LATEST;
        let pulses = self.sweep.is_consistent() && self.first.is_consistent() && self.second.is_consistent();
        let channels = pulses && self.wave.is_consistent() && self.noise.is_consistent();
        !self.emulated || sequencer && channels && self.samples.is_consistent(dot)
    }

    /// Whether it matters when the reference stops to look.
    pub fn is_watched(&self) -> bool {
        self.samples.on && self.color && self.compat == Compat::PyBoy
    }

    /// Make the samples and take the sequencer's steps up to `dot`.
    pub fn sync(&mut self, dot: u64) {
        while let Some(due) = self.samples.due(dot) {
            if self.samples.on {
                self.count(due);
                self.sample(due);
            }
        }
        self.count(dot);
        self.take_steps(dot);
    }

    fn count(&mut self, dot: u64) {
        self.clock += dot.saturating_sub(self.counted) & !1;
        self.counted = dot;
    }

    fn take_steps(&mut self, dot: u64) {
        while self.power && self.next <= dot {
            let at = self.next;
            self.next += STEP;
            self.take_step(at);
        }
    }

    fn take_step(&mut self, dot: u64) {
        self.skips = self.skips.saturating_sub(1);
        if self.skips == 1 {
            return;
        }
        let step = self.step;
        self.step = (step + 1) & 7;
        if step & 1 == 0 {
            self.first.clock_length(dot);
            self.second.clock_length(dot);
            self.wave.clock_length(dot);
            self.noise.clock_length(dot);
        }
        if step & 3 == 2 {
            self.first.sync(dot);
            match self.sweep.clock() {
                Slide::Stays => {}
                Slide::To(frequency) => self.first.set_frequency(frequency),
                Slide::Last(frequency) => {
                    self.first.set_frequency(frequency);
                    self.first.on = false;
                }
                Slide::Ends => self.first.on = false,
            }
        }
        if !self.color && step == 6 {
            self.first.envelope.count();
            self.second.envelope.count();
            self.noise.envelope.count();
        }
        if self.color && step & 1 != 0 {
            self.first.envelope.clock(step == 7);
            self.second.envelope.clock(step == 7);
            self.noise.envelope.clock(step == 7);
        }
    }

    /// DIV is written. The sequencer hangs on one of its counter's bits: where that was set, it takes a step.
    pub fn reset_clock(&mut self, dot: u64, phase: u64) {
        self.sync(dot);
        if self.power && phase >= STEP / 2 {
            self.take_step(dot);
        }
        self.edge = dot + STEP;
        self.next = dot + STEP;
    }

    pub fn begin_frame(&mut self, dot: u64, sampled: bool) {
        self.samples.begin_frame(dot, sampled);
    }

    /// Those of the last frame, left and right, if it was sampled.
    pub fn samples(&self) -> &[[i8; 2]] {
        &self.samples.made
    }

    /// The reference looks at the end of a frame; whoever looks again in the same moment sees no position move.
    pub fn end_frame(&mut self, dot: u64) {
        self.sync(dot);
        self.wave.sync(dot);
        self.wave.settle();
    }

    fn playing(&self) -> u8 {
        let channels = [self.first.on, self.second.on, self.wave.on, self.noise.on];
        channels.iter().rev().fold(0, |bits, on| bits << 1 | u8::from(*on))
    }

    /// FF10 to FF3F.
    pub fn read(&mut self, dot: u64, address: u16) -> u8 {
        if !self.emulated {
            return 0;
        }
        self.sync(dot);
        let index = usize::from(address - 0xFF10);
        match index {
            NR52 => 0x70 | u8::from(self.power) << 7 | self.playing(),
            0x20.. => {
                self.wave.sync(dot);
                self.wave.read(index - 0x20, dot, self.color)
            }
            _ => self.registers[index] | UNREADABLE[index],
        }
    }

    /// FF76 and FF77 of a Game Boy Color: what two channels play at this moment.
    pub fn read_levels(&mut self, dot: u64, address: u16) -> u8 {
        if !self.emulated {
            return 0;
        }
        self.sync(dot);
        if address == 0xFF76 {
            self.first.sync(dot);
            self.second.sync(dot);
            self.first.level() | self.second.level() << 4
        } else {
            self.wave.sync(dot);
            self.noise.sync(dot);
            self.wave.level() | self.noise.level() << 4
        }
    }

    /// `phase` is how many dots ago the bit of DIV's counter that the sequencer hangs on fell; `double` that the CPU is
    /// at its double speed.
    pub fn write(&mut self, dot: u64, address: u16, value: u8, phase: u64, double: bool) {
        self.sync(dot);
        let index = usize::from(address - 0xFF10);
        match index {
            NR52 => self.write_power(dot, value & 0x80 != 0, phase),
            0x20.. => {
                self.wave.sync(dot);
                self.wave.write(index - 0x20, value, dot, self.color);
            }
            _ if self.power => {
                self.registers[index] = value;
                self.write_channel(dot, index, value, double);
            }
            _ if !self.color => self.write_length(index, value),
            _ => {}
        }
    }

    fn write_power(&mut self, dot: u64, power: bool, phase: u64) {
        if power && !self.power {
            let is_set = phase >= STEP / 2 && (self.follows_div() || self.color && dot < self.edge);
            self.powered = dot;
            self.clock = 0;
            self.first.power_on(dot);
            self.second.power_on(dot);
            self.step = 0;
            self.skips = if is_set { 2 } else { 0 };
            self.next = dot + if is_set || self.follows_div() { STEP - phase } else { STEP };
        } else if !power {
            self.edge = dot + STEP - phase;
            if self.power {
                self.power_off(dot);
            }
        }
        self.power = power;
    }

    fn power_off(&mut self, dot: u64) {
        let keep_lengths = !self.color;
        self.registers = [0; 0x20];
        self.sweep = Sweep::default();
        self.first.power_off(dot, keep_lengths);
        self.second.power_off(dot, keep_lengths);
        self.wave.power_off(keep_lengths);
        self.noise.power_off(keep_lengths);
    }

    /// Lengths can be loaded without power.
    fn write_length(&mut self, index: usize, value: u8) {
        match index {
            0x01 => self.first.length.load(value),
            0x06 => self.second.length.load(value),
            0x0B => self.wave.length.load(value),
            0x10 => self.noise.length.load(value),
            _ => {}
        }
    }

    /// Of channel 1 when it is triggered: on a Game Boy Color it keeps time with every fourth dot of the sound's clock.
    fn first_delays(&self, dot: u64) -> (u64, u64) {
        if !self.color {
            return (0, 0);
        }
        let phase = dot.wrapping_sub(self.powered) & 3;
        (8 + phase, if self.sweep.slides() { 8 } else { 4 } - phase)
    }

    fn write_channel(&mut self, dot: u64, index: usize, value: u8, double: bool) {
        let between = self.skips != 0 || self.step & 1 != 0;
        match index {
            0x00..0x05 => self.first.sync(dot),
            0x05..0x0A => self.second.sync(dot),
            0x0A..0x0F => self.wave.sync(dot),
            _ => self.noise.sync(dot),
        }
        match index {
            0x00 => self.first.on &= !self.sweep.write(value),
            0x01 => self.first.write_duty(value),
            0x02 => self.first.write_envelope(value),
            0x03 => self.first.write_low(value),
            0x04 => {
                let delays = self.first_delays(dot);
                if self.first.write_control(value, dot, between, delays) && self.sweep.trigger(self.first.frequency) {
                    self.first.on = false;
                }
            }
            0x06 => self.second.write_duty(value),
            0x07 => self.second.write_envelope(value),
            0x08 => self.second.write_low(value),
            0x09 => {
                let delays = if self.color { (if double { 9 } else { 6 }, 2) } else { (0, 0) };
                self.second.write_control(value, dot, between, delays);
            }
            0x0A => self.wave.write_converter(value),
            0x0B => self.wave.length.load(value),
            0x0C => self.wave.write_volume(value),
            0x0D => self.wave.write_low(value),
            0x0E => self.wave.write_control(value, dot, between, self.color),
            0x10 => self.noise.length.load(value),
            0x11 => self.noise.write_envelope(value),
            0x12 => self.noise.write_pace(value, dot),
            0x13 => self.noise.write_control(value, dot, between, self.clock),
            _ => {}
        }
    }
}

saved!(Sound {
    registers,
    power,
    powered,
    clock,
    counted,
    step,
    next,
    skips,
    edge,
    sweep,
    first,
    second,
    wave,
    noise,
    samples
});
