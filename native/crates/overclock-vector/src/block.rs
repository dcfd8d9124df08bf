//! `WIDTH` lanes stepped together, and what the three auto-reset modes do to them.

use overclock_rng::{Rng, Section};

use crate::lane::{Autoreset, Lane};
use crate::out::{Draws, Out};
use crate::{Rules, States, WIDTH};

/// Lanes side by side, each field an array, so that what all lanes do alike is done by vector instructions.
#[derive(Clone, Debug)]
pub(crate) struct Block<B> {
    states: B,
    steps: [i32; WIDTH],
    k0: [u32; WIDTH],
    k1: [u32; WIDTH],
    counter: [u32; WIDTH],
    ended: [bool; WIDTH],
}

impl<B> Block<B> {
    /// The given lanes, of which there is at least one; the rest of the block repeats the first and is never seen.
    pub(crate) fn of<S>(lanes: &[Lane<S>]) -> Self
    where
        B: States<S>,
        S: Clone,
    {
        let mut block = Self {
            states: B::filled(&lanes[0].rules),
            steps: [0; WIDTH],
            k0: [0; WIDTH],
            k1: [0; WIDTH],
            counter: [0; WIDTH],
            ended: [false; WIDTH],
        };
        for (i, lane) in lanes.iter().enumerate() {
            block.set(i, lane.clone());
        }
        block
    }

    /// One lane.
    pub(crate) fn get<S>(&self, lane: usize) -> Lane<S>
    where
        B: States<S>,
    {
        let rules = self.states.get(lane);
        Lane { rules, steps: self.steps[lane], rng: self.event(lane), ended: self.ended[lane] }
    }

    /// Replace one lane.
    pub(crate) fn set<S>(&mut self, lane: usize, with: Lane<S>)
    where
        B: States<S>,
    {
        self.states.set(lane, with.rules);
        self.steps[lane] = with.steps;
        (self.k0[lane], self.k1[lane], self.counter[lane]) = (with.rng.k0, with.rng.k1, with.rng.counter);
        self.ended[lane] = with.ended;
    }

    /// A lane's stream at its present event.
    #[inline]
    pub(crate) fn event(&self, lane: usize) -> Rng {
        Rng::new(self.k0[lane], self.k1[lane], self.counter[lane])
    }

    /// Start an episode at the present event, which stays the present one: events pass in `step` and `restart`.
    fn begin<R: Rules<States = B>>(&mut self, rules: &R, lane: usize, draws: Option<&[R::ResetDraw]>)
    where
        B: States<R::State>,
    {
        let state = match draws {
            Some(draws) => rules.init(&draws[lane]),
            None => rules.init(&rules.draw_reset(self.event(lane).of_section(Section::Reset))),
        };
        self.states.set(lane, state);
        self.steps[lane] = 0;
    }

    /// Restart a lane, on the stream of a seed where there is one: one event.
    pub(crate) fn restart<R: Rules<States = B>>(
        &mut self,
        rules: &R,
        lane: usize,
        seed: Option<u64>,
        draws: Option<&[R::ResetDraw]>,
    ) where
        B: States<R::State>,
    {
        if let Some(seed) = seed {
            let rng = Rng::from_seed(seed);
            (self.k0[lane], self.k1[lane], self.counter[lane]) = (rng.k0, rng.k1, rng.counter);
        }
        self.begin(rules, lane, draws);
        self.ended[lane] = false;
        self.counter[lane] = self.counter[lane].wrapping_add(1);
    }

    /// Write what the first lanes see, as many as there is room for.
    pub(crate) fn observe<R: Rules<States = B>>(&self, rules: &R, into: &mut [R::Element])
    where
        B: States<R::State>,
    {
        rules.observe_block(&self.states, into);
    }

    /// Step the first lanes, as many as there are actions.
    #[inline(always)] // once for a full block, whose loops then have a known length, and once for the last one
    pub(crate) fn step<R: Rules<States = B>>(
        &mut self,
        rules: &R,
        autoreset: Autoreset,
        actions: &[R::Action],
        draws: Draws<'_, R>,
        out: Out<'_, R::Element>,
    ) where
        B: States<R::State>,
    {
        let count = actions.len();
        let (out, _) = out.split_at(count, rules.observation_len()); // of a known length too
        let (k0, k1, counter) = (&self.k0, &self.k1, &self.counter);
        let draw = |lane: usize| match draws.step {
            Some(draws) => draws[lane],
            None => rules.draw_step(Rng::new(k0[lane], k1[lane], counter[lane]).of_section(Section::Step)),
        };
        rules.transition_block(&mut self.states, actions, draw, out.reward, out.terminated);
        for steps in &mut self.steps {
            *steps = steps.wrapping_add(1);
        }
        match rules.max_steps() {
            None => out.truncated.fill(0),
            Some(limit) => {
                for (flag, &steps) in out.truncated.iter_mut().zip(&self.steps) {
                    *flag = u8::from(steps >= limit);
                }
            }
        }
        if autoreset == Autoreset::NextStep {
            for lane in 0..count {
                if self.ended[lane] {
                    self.begin(rules, lane, draws.reset);
                    (out.reward[lane], out.terminated[lane], out.truncated[lane]) = (0.0, 0, 0);
                }
            }
        }
        rules.observe_block(&self.states, out.final_obs);
        out.obs.copy_from_slice(out.final_obs);
        let over = |lane: usize| out.terminated[lane] | out.truncated[lane] != 0;
        match autoreset {
            Autoreset::SameStep => {
                if any(out.terminated) || any(out.truncated) {
                    let width = rules.observation_len();
                    for lane in (0..count).filter(|&lane| over(lane)) {
                        self.begin(rules, lane, draws.reset);
                        rules.observe(&self.states.get(lane), &mut out.obs[lane * width..(lane + 1) * width]);
                    }
                }
            }
            Autoreset::NextStep => (0..count).for_each(|lane| self.ended[lane] = over(lane)),
            Autoreset::Off => (0..count).for_each(|lane| self.ended[lane] |= over(lane)),
        }
        for counter in &mut self.counter {
            *counter = counter.wrapping_add(1);
        }
    }
}

/// Whether a flag is set; without leaving early, so that it is a few vector instructions.
#[inline]
fn any(flags: &[u8]) -> bool {
    flags.iter().fold(0, |all, &flag| all | flag) != 0
}
