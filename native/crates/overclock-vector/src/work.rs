//! The part of a step, or of many steps, that one task does.

use overclock_rng::Section;

use crate::block::Block;
use crate::lane::Autoreset;
use crate::out::{Draws, Out, Totals};
use crate::{Rules, WIDTH};

/// Lanes that one task steps in a row: some ten microseconds of work even for the smallest environment, well
/// above what waking a thread costs.
pub(crate) const LANES_PER_STEP: usize = 2048;
/// Lanes that one task plays: few, because there are many steps of each.
pub(crate) const LANES_PER_PLAY: usize = 256;

/// Some blocks, what they shall do, and where they write.
pub(crate) struct Work<'a, R: Rules> {
    pub blocks: &'a mut [Block<R::States>],
    pub plan: Plan<'a, R>,
    pub out: Out<'a, R::Element>,
}

/// What lanes do.
pub(crate) enum Plan<'a, R: Rules> {
    /// One step with the given actions.
    Step(&'a [R::Action], Draws<'a, R>),
    /// Many steps with random actions of the lanes' own streams.
    Play(u64),
}

impl<'a, R: Rules> Work<'a, R> {
    /// Do it, with threads where there are more lanes than one task shall have.
    ///
    /// Work is divided in the same places with and without threads: sums of floats depend on their order.
    pub(crate) fn run(self, rules: &R, autoreset: Autoreset, threads: bool) -> Totals {
        let most = match self.plan {
            Plan::Step(..) => LANES_PER_STEP,
            Plan::Play(_) => LANES_PER_PLAY,
        };
        if self.out.reward.len() > most {
            let (left, right) = self.halves(rules.observation_len());
            let (left, right) =
                (move || left.run(rules, autoreset, threads), move || right.run(rules, autoreset, threads));
            let (left, right) = if threads { rayon::join(left, right) } else { (left(), right()) };
            return left + right;
        }
        match self.plan {
            Plan::Step(actions, draws) => {
                step(rules, autoreset, self.blocks, actions, draws, self.out);
                Totals::default()
            }
            Plan::Play(steps) => play(rules, autoreset, self.blocks, steps, self.out),
        }
    }

    fn halves(self, observation_len: usize) -> (Self, Self) {
        let (blocks_a, blocks_b) = self.blocks.split_at_mut(self.blocks.len() / 2);
        let lanes = blocks_a.len() * WIDTH;
        let (plan_a, plan_b) = match self.plan {
            Plan::Step(actions, draws) => {
                let (actions_a, actions_b) = actions.split_at(lanes);
                let (draws_a, draws_b) = draws.split_at(lanes);
                (Plan::Step(actions_a, draws_a), Plan::Step(actions_b, draws_b))
            }
            Plan::Play(steps) => (Plan::Play(steps), Plan::Play(steps)),
        };
        let (out_a, out_b) = self.out.split_at(lanes, observation_len);
        (Self { blocks: blocks_a, plan: plan_a, out: out_a }, Self { blocks: blocks_b, plan: plan_b, out: out_b })
    }
}

/// One step of every block.
fn step<R: Rules>(
    rules: &R,
    autoreset: Autoreset,
    blocks: &mut [Block<R::States>],
    mut actions: &[R::Action],
    mut draws: Draws<'_, R>,
    mut out: Out<'_, R::Element>,
) {
    let width = rules.observation_len();
    for block in blocks {
        let count = actions.len().min(WIDTH);
        let (now, later) = actions.split_at(count);
        let (given, draws_later) = draws.split_at(count);
        let (here, out_later) = out.split_at(count, width);
        match <&[R::Action; WIDTH]>::try_from(now) {
            Ok(now) => block.step(rules, autoreset, now, given, here),
            Err(_) => block.step(rules, autoreset, now, given, here),
        }
        (actions, draws, out) = (later, draws_later, out_later);
    }
}

/// Many steps of every block, one block after the other: its lanes stay in the nearest cache.
fn play<R: Rules>(
    rules: &R,
    autoreset: Autoreset,
    blocks: &mut [Block<R::States>],
    steps: u64,
    mut out: Out<'_, R::Element>,
) -> Totals {
    let width = rules.observation_len();
    let mut totals = Totals::default();
    for block in blocks {
        let count = out.reward.len().min(WIDTH);
        let (here, later) = out.split_at(count, width);
        totals = totals
            + if count == WIDTH {
                play_block(rules, autoreset, block, WIDTH, steps, here)
            } else {
                play_block(rules, autoreset, block, count, steps, here)
            };
        out = later;
    }
    totals
}

#[inline(always)] // as `Block::step`
fn play_block<R: Rules>(
    rules: &R,
    autoreset: Autoreset,
    block: &mut Block<R::States>,
    count: usize,
    steps: u64,
    mut out: Out<'_, R::Element>,
) -> Totals {
    let mut rewards = [0.0_f64; WIDTH];
    let mut episodes = 0;
    for _ in 0..steps {
        let actions: [R::Action; WIDTH] =
            std::array::from_fn(|lane| rules.sample(block.event(lane).of_section(Section::Action)));
        block.step(rules, autoreset, &actions[..count], Draws::default(), out.again());
        for (sum, &reward) in rewards.iter_mut().zip(&*out.reward) {
            *sum += f64::from(reward);
        }
        let flags = out.terminated.iter().zip(&*out.truncated);
        episodes += flags.fold(0_u64, |all, (terminated, truncated)| all + u64::from(terminated | truncated));
    }
    Totals { reward: rewards.iter().sum(), episodes }
}
