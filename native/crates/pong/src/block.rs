//! A block of games, an array per field. All lanes travel by vector instructions; the few whose ball meets something
//! are looked at one by one.

use overclock_vector::{States, WIDTH};

use crate::state::{OBSERVATION, Serve, State, eventful, follow, steer};

// Written once: a struct of arrays, and the way to and from one lane's `State`.
macro_rules! lanes {
    ($($field:ident: $number:ty),* $(,)?) => {
        /// `State` for every lane.
        #[derive(Clone, Debug)]
        pub struct Lanes {
            $($field: [$number; WIDTH],)*
        }

        impl States<State> for Lanes {
            fn filled(state: &State) -> Self {
                Self { $($field: [state.$field; WIDTH],)* }
            }

            #[inline]
            fn get(&self, lane: usize) -> State {
                State { $($field: self.$field[lane],)* }
            }

            #[inline]
            fn set(&mut self, lane: usize, state: State) {
                $(self.$field[lane] = state.$field;)*
            }
        }
    };
}

lanes! {
    paddle_yl: f32,
    paddle_yr: f32,
    ball_x: f32,
    ball_y: f32,
    ball_vx: f32,
    ball_vy: f32,
    score_l: i32,
    score_r: i32,
    tick: i32,
    n_bounces: i32,
    seen_yl: f32,
    seen_yr: f32,
    seen_x: f32,
    seen_y: f32,
    seen_vx: f32,
    seen_vy: f32,
}

/// A set of lanes, one byte per lane, 1 for a member.
type Set = u128;
const _: () = assert!(WIDTH == size_of::<Set>());

impl Lanes {
    /// As `Rules::transition_block`.
    #[inline(always)] // a full block then has loops of a known length
    pub(crate) fn step(
        &mut self,
        frameskip: u32,
        given: &[f32],
        draw: impl Fn(usize) -> Serve,
        reward: &mut [f32],
        terminated: &mut [u8],
    ) {
        let (mut directions, mut playing) = ([0.0; WIDTH], [0; WIDTH]);
        directions[..given.len()].copy_from_slice(given);
        playing[..given.len()].fill(1);
        let mut playing = Set::from_le_bytes(playing);
        let mut scored = 0;
        // A lane that scored is done, but travels on with the others; what it was is kept here.
        let mut kept = [None; WIDTH];
        reward.fill(0.0);
        terminated.fill(0);
        for tick in &mut self.tick {
            *tick = tick.wrapping_add(1);
        }
        for frame in 0..frameskip {
            if frame > 0 {
                self.show();
            }
            for lane in members(self.travel(&directions) & playing) {
                let mut state = self.get(lane);
                let event = state.meet(directions[lane]);
                reward[lane] = event.reward().unwrap_or(reward[lane]);
                if event.is_point() {
                    terminated[lane] = state.score(|| draw(lane)).into();
                    kept[lane] = Some(state);
                    scored |= 1 << (8 * lane);
                    playing &= !scored;
                } else {
                    self.set(lane, state);
                }
            }
        }
        self.show();
        for lane in members(scored) {
            if let Some(state) = kept[lane] {
                self.set(lane, state);
            }
        }
    }

    /// `State::travel` of every lane; returns those whose ball meets something.
    #[inline]
    fn travel(&mut self, directions: &[f32; WIDTH]) -> Set {
        let mut events = [0; WIDTH];
        for lane in 0..WIDTH {
            self.paddle_yl[lane] = follow(self.paddle_yl[lane], self.ball_y[lane]);
            self.paddle_yr[lane] = steer(self.paddle_yr[lane], directions[lane]);
            self.ball_x[lane] += self.ball_vx[lane];
            self.ball_y[lane] += self.ball_vy[lane];
            events[lane] = u8::from(eventful(self.ball_x[lane], self.ball_y[lane]));
        }
        Set::from_le_bytes(events)
    }

    /// `State::show` of every lane.
    #[inline]
    fn show(&mut self) {
        (self.seen_yl, self.seen_yr) = (self.paddle_yl, self.paddle_yr);
        (self.seen_x, self.seen_y) = (self.ball_x, self.ball_y);
        (self.seen_vx, self.seen_vy) = (self.ball_vx, self.ball_vy);
    }

    /// As `Rules::observe_block`.
    #[inline]
    pub(crate) fn observe(&self, into: &mut [f32]) {
        for (lane, row) in into.as_chunks_mut::<OBSERVATION>().0.iter_mut().enumerate() {
            *row = self.get(lane).observation();
        }
    }
}

/// Its lanes, in order.
#[inline]
fn members(mut set: Set) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (set.trailing_zeros() / 8) as usize;
        set &= set.wrapping_sub(1);
        (lane < WIDTH).then_some(lane)
    })
}
