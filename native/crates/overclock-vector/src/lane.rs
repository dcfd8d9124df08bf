//! One member of a batch by itself, and when an ended one starts anew.

use overclock_rng::Rng;

/// When an ended lane starts its next episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autoreset {
    /// In the step that ended it: the observation is the next episode's first one.
    SameStep,
    /// In the step after it, which ignores the action and gives reward 0 and no flags.
    NextStep,
    /// When the caller resets it; until then it keeps running under the rules.
    Off,
}

impl Autoreset {
    /// The modes and their names in Python.
    pub const NAMES: [(&'static str, Self); 3] =
        [("same_step", Self::SameStep), ("next_step", Self::NextStep), ("off", Self::Off)];
}

/// One running environment: the state of its rules, steps since reset, its random stream at its next event.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane<S> {
    pub rules: S,
    pub steps: i32,
    pub rng: Rng,
    /// The episode is over and not yet restarted (`NextStep` and `Off`).
    pub ended: bool,
}
