//! `Rng`: the counter-based generator of `overclock.env.rng`, word for word.
//!
//! A draw is a keyed hash of (counter, section, site), so any word of any lane can be recomputed on its own and
//! the Rust, JAX and NumPy implementations give the same stream. `tests/vectors.csv`, written by the Python side,
//! holds this crate to it.

#![forbid(unsafe_code)]

const WEYL: u32 = 0x9E37_79B9; // 2^32 / golden ratio: spreads consecutive counters
const SITE_WEYL: u32 = 0x85EB_CA6B; // odd: spreads consecutive sites
const MULTIPLIER_A: u32 = 0x21F0_AAAD; // two-round 32-bit mixer found by search (hash-prospector), bias 0.107
const MULTIPLIER_B: u32 = 0xD35A_2D97;
const WORDS_PER_SECTION: u32 = 1 << 20;
/// How many draw sites an event has in each section; each holds two words.
pub const SITES: u32 = WORDS_PER_SECTION / 2;

/// What an event's draws are for; sections of one event never share a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Section {
    Step = 0,
    Reset = 1,
    Action = 2,
    Lanes = 3,
    Seed = 4,
    Pool = 5,
}

impl Section {
    /// The section with a number, if there is one.
    pub fn from_number(number: u32) -> Option<Self> {
        use Section::*;
        [Step, Reset, Action, Lanes, Seed, Pool].into_iter().find(|&section| section as u32 == number)
    }

    fn base(self) -> u32 {
        self as u32 * WORDS_PER_SECTION
    }
}

/// The generator itself: one word from a 64-bit key, an event counter and a word index.
#[inline]
pub fn mix(k0: u32, k1: u32, counter: u32, index: u32) -> u32 {
    let event = counter.wrapping_mul(WEYL).wrapping_add(k0);
    let mut x = event ^ (event >> 16);
    x = x.wrapping_mul(MULTIPLIER_A);
    x ^= x >> 15;
    x = x.wrapping_add(index.wrapping_mul(SITE_WEYL));
    x ^= x >> 16;
    x = x.wrapping_mul(MULTIPLIER_A);
    x ^= x >> 15;
    // The event and the second key word come in again: without them a word would depend on 32 bits only.
    x = x.wrapping_add(event.wrapping_add(k1)).wrapping_mul(MULTIPLIER_B);
    x ^ (x >> 15)
}

/// A stream of random words: `k0`, `k1` name the stream, `counter` the event, `section` what is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rng {
    pub k0: u32,
    pub k1: u32,
    pub counter: u32,
    pub section: Section,
}

impl Rng {
    /// The stream with a key, at an event.
    pub fn new(k0: u32, k1: u32, counter: u32) -> Self {
        Self { k0, k1, counter, section: Section::Step }
    }

    /// The stream of an integer seed, as `Rng.of(seed)`.
    pub fn from_seed(seed: u64) -> Self {
        let (mut k0, mut k1) = (0, 0);
        for (position, word) in [seed as u32, (seed >> 32) as u32].into_iter().enumerate() {
            let base = Section::Seed.base() + 2 * position as u32;
            (k0, k1) = (mix(k0, k1, word, base), mix(k0, k1, word, base + 1));
        }
        Self::new(k0, k1, 0)
    }

    /// The stream of one member of a batch; `lane` of any batch size is the same stream.
    pub fn lane(&self, lane: u32) -> Self {
        let base = Section::Lanes.base();
        Self::new(mix(self.k0, self.k1, lane, base), mix(self.k0, self.k1, lane, base + 1), 0)
    }

    /// Independent streams, one per member of a batch.
    pub fn lanes(self, count: u32) -> impl Iterator<Item = Self> {
        (0..count).map(move |lane| self.lane(lane))
    }

    /// The same stream at its next event.
    #[inline]
    #[must_use]
    pub fn advance(self) -> Self {
        Self { counter: self.counter.wrapping_add(1), ..self }
    }

    /// The same event, drawing for another purpose.
    #[inline]
    #[must_use]
    pub fn of_section(self, section: Section) -> Self {
        Self { section, ..self }
    }

    /// One word. Each site holds two; `half` picks one (float64 draws use both, everything else the first).
    #[inline]
    pub fn word(&self, site: u32, half: u32) -> u32 {
        debug_assert!(site < SITES && half < 2, "site {site}, half {half}");
        let index = self.section.base().wrapping_add(site.wrapping_mul(2)).wrapping_add(half);
        mix(self.k0, self.k1, self.counter, index)
    }

    /// The words of consecutive sites.
    pub fn words(&self, site: u32, count: u32, half: u32) -> impl Iterator<Item = u32> {
        let rng = *self;
        (0..count).map(move |offset| rng.word(site.wrapping_add(offset), half))
    }

    /// Uniform in [0, 1) with 24 random bits.
    #[inline]
    pub fn unit_f32(&self, site: u32) -> f32 {
        (self.word(site, 0) >> 8) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Uniform in [0, 1) with 53 random bits.
    pub fn unit_f64(&self, site: u32) -> f64 {
        let high = f64::from(self.word(site, 0) >> 5);
        let low = f64::from(self.word(site, 1) >> 6);
        (high * (1u64 << 26) as f64 + low) * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high). Written around the middle, as the Python side explains.
    #[inline]
    pub fn uniform_f32(&self, site: u32, low: f32, high: f32) -> f32 {
        (self.unit_f32(site) - 0.5) * (high - low) + (high + low) * 0.5
    }

    /// Uniform in [low, high) with 53 random bits.
    pub fn uniform_f64(&self, site: u32, low: f64, high: f64) -> f64 {
        (self.unit_f64(site) - 0.5) * (high - low) + (high + low) * 0.5
    }

    /// Uniform in {0, ..., n - 1} as floor(word * n / 2^32): bias below n / 2^32. The other backends allow
    /// 1 <= n <= 2^31 and agree there.
    #[inline]
    pub fn integers(&self, site: u32, n: u32) -> u32 {
        ((u64::from(self.word(site, 0)) * u64::from(n)) >> 32) as u32
    }
}
