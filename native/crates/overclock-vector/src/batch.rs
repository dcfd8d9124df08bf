//! Lanes stepped together, in parallel where there are enough of them.

use std::collections::TryReserveError;

use overclock_rng::{Rng, Section};

use crate::block::Block;
use crate::lane::{Autoreset, Lane};
use crate::out::{Draws, Out, Totals};
use crate::work::{LANES_PER_PLAY, LANES_PER_STEP, Plan, Work};
use crate::{Rules, WIDTH, pool};

/// A batch of running environments.
#[derive(Clone, Debug)]
pub struct Batch<R: Rules> {
    rules: R,
    autoreset: Autoreset,
    blocks: Vec<Block<R::States>>,
    len: usize,
}

impl<R: Rules> Batch<R> {
    /// `num_lanes` lanes in their first episodes, with the streams of `Rng.of(seed).lanes(num_lanes)`.
    pub fn new(rules: R, num_lanes: u32, autoreset: Autoreset, seed: u64) -> Result<Self, TryReserveError> {
        let first = |rng: Rng| Lane {
            rules: rules.init(&rules.draw_reset(rng.of_section(Section::Reset))),
            steps: 0,
            rng: rng.advance(),
            ended: false,
        };
        let mut blocks = Vec::new();
        blocks.try_reserve_exact((num_lanes as usize).div_ceil(WIDTH))?;
        let mut streams = Rng::from_seed(seed).lanes(num_lanes);
        for start in (0..num_lanes as usize).step_by(WIDTH) {
            let count = WIDTH.min(num_lanes as usize - start);
            blocks.push(Block::of(&streams.by_ref().take(count).map(first).collect::<Vec<_>>()));
        }
        Ok(Self { rules, autoreset, blocks, len: num_lanes as usize })
    }

    /// When ended lanes restart.
    pub fn autoreset(&self) -> Autoreset {
        self.autoreset
    }

    /// How many lanes there are.
    #[expect(clippy::len_without_is_empty, reason = "a batch has no lanes only where it was asked for none")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Every lane, in order.
    pub fn lanes(&self) -> impl Iterator<Item = Lane<R::State>> {
        (0..self.len).map(|lane| self.lane(lane))
    }

    /// One lane.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn lane(&self, lane: usize) -> Lane<R::State> {
        assert!(lane < self.len, "no lane {lane}");
        self.blocks[lane / WIDTH].get(lane % WIDTH)
    }

    /// Replace one lane.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn set_lane(&mut self, lane: usize, with: Lane<R::State>) {
        assert!(lane < self.len, "no lane {lane}");
        self.blocks[lane / WIDTH].set(lane % WIDTH, with);
    }

    /// Restart the lanes in `mask` (all, if None) and write every lane's observation.
    ///
    /// A restarted lane with a seed starts that seed's stream; one without goes on with its own. `draws` replace
    /// what the streams would give.
    ///
    /// # Panics
    /// If an argument does not have one entry per lane.
    pub fn reset(
        &mut self,
        seeds: Option<&[Option<u64>]>,
        mask: Option<&[bool]>,
        draws: Option<&[R::ResetDraw]>,
        obs: &mut [R::Element],
    ) {
        let (count, width) = (self.len, self.rules.observation_len());
        assert!(seeds.is_none_or(|seeds| seeds.len() == count), "one seed per lane");
        assert!(mask.is_none_or(|mask| mask.len() == count), "one mask entry per lane");
        assert!(draws.is_none_or(|draws| draws.len() == count), "one draw per lane");
        assert_eq!(obs.len(), count * width, "one observation per lane");
        for (i, (block, rows)) in self.blocks.iter_mut().zip(obs.chunks_mut(WIDTH * width)).enumerate() {
            let start = i * WIDTH;
            // Lanes outside the mask keep their place in their stream.
            for lane in (start..count.min(start + WIDTH)).filter(|&lane| mask.is_none_or(|mask| mask[lane])) {
                let seed = seeds.and_then(|seeds| seeds[lane]);
                block.restart(&self.rules, lane - start, seed, draws.map(|draws| &draws[start..]));
            }
            block.observe(&self.rules, rows);
        }
    }

    /// Step every lane; where `draws` has randomness, it is used instead of that of the lanes' streams.
    ///
    /// # Panics
    /// If an argument does not have one entry per lane.
    pub fn step(&mut self, actions: &[R::Action], draws: Draws<'_, R>, out: Out<'_, R::Element>) {
        assert_eq!(actions.len(), self.len, "one action per lane");
        assert!(draws.reset.is_none_or(|draws| draws.len() == self.len), "one reset draw per lane");
        assert!(draws.step.is_none_or(|draws| draws.len() == self.len), "one step draw per lane");
        self.run(Plan::Step(actions, draws), LANES_PER_STEP, out);
    }

    /// Many steps with uniformly random actions, each lane's from its own stream; `out` then has the last step.
    ///
    /// # Panics
    /// If `out` does not have one entry per lane.
    pub fn play(&mut self, steps: u64, out: Out<'_, R::Element>) -> Totals {
        self.run(Plan::Play(steps), LANES_PER_PLAY, out)
    }

    fn run(&mut self, plan: Plan<'_, R>, lanes_per_task: usize, out: Out<'_, R::Element>) -> Totals {
        let (count, width) = (self.len, self.rules.observation_len());
        assert_eq!((out.obs.len(), out.final_obs.len()), (count * width, count * width), "one observation per lane");
        assert_eq!((out.reward.len(), out.terminated.len(), out.truncated.len()), (count, count, count));
        let threads = count > lanes_per_task && pool::usable();
        Work { blocks: &mut self.blocks, plan, out }.run(&self.rules, self.autoreset, threads)
    }
}
