//! One member of a batch, and what the three auto-reset modes do to it.

use overclock_rng::{Rng, Section};

use crate::Rules;

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

impl<S> Lane<S> {
    /// A lane in its first episode; takes the first event of its stream.
    pub(crate) fn new<R: Rules<State = S>>(rules: &R, rng: Rng) -> Self {
        let state = fresh(rules, rng, None);
        Self { rules: state, steps: 0, rng: rng.advance(), ended: false }
    }

    /// Start an episode at the present event, which stays the present one: events pass in `step` and `reset`.
    fn begin<R: Rules<State = S>>(&mut self, rules: &R, draw: Option<&R::Draw>) {
        self.rules = fresh(rules, self.rng, draw);
        self.steps = 0;
    }

    /// Restart the lane: one event of its stream.
    pub(crate) fn reset<R: Rules<State = S>>(&mut self, rules: &R, draw: Option<&R::Draw>) {
        self.begin(rules, draw);
        self.ended = false;
        self.rng = self.rng.advance();
    }

    /// One step: (reward, terminated, truncated). `final_obs` is what the rules produced at this step; it differs
    /// from `obs` only where `SameStep` restarts the lane.
    #[inline]
    pub(crate) fn step<R: Rules<State = S>>(
        &mut self,
        rules: &R,
        autoreset: Autoreset,
        action: R::Action,
        draw: Option<&R::Draw>,
        obs: &mut [R::Element],
        final_obs: &mut [R::Element],
    ) -> (f32, bool, bool) {
        let outcome = if autoreset == Autoreset::NextStep && self.ended {
            self.begin(rules, draw);
            (0.0, false, false)
        } else {
            self.advance(rules, action)
        };
        rules.observe(&self.rules, final_obs);
        obs.copy_from_slice(final_obs);
        let over = outcome.1 || outcome.2;
        match autoreset {
            Autoreset::SameStep => {
                if over {
                    self.begin(rules, draw);
                    rules.observe(&self.rules, obs);
                }
            }
            Autoreset::NextStep => self.ended = over,
            Autoreset::Off => self.ended |= over,
        }
        self.rng = self.rng.advance();
        outcome
    }

    /// One counted step of the rules.
    #[inline]
    fn advance<R: Rules<State = S>>(&mut self, rules: &R, action: R::Action) -> (f32, bool, bool) {
        let (reward, terminated) = rules.transition(&mut self.rules, action);
        self.steps = self.steps.wrapping_add(1);
        (reward, terminated, rules.max_steps().is_some_and(|limit| self.steps >= limit))
    }
}

/// The first state of an episode that starts at an event, from a given draw or the event's own randomness.
fn fresh<R: Rules>(rules: &R, event: Rng, draw: Option<&R::Draw>) -> R::State {
    match draw {
        Some(draw) => rules.init(draw),
        None => rules.init(&rules.draw_reset(event.of_section(Section::Reset))),
    }
}
