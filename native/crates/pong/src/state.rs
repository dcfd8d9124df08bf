//! One game: its state and what happens in a frame. Heights count upwards and mean lower edges.

// The reference's constants, in pixels and pixels per frame.
const WIDTH: f32 = 500.0;
const HEIGHT: f32 = 640.0;
const PADDLE_HEIGHT: f32 = 70.0;
const BALL_WIDTH: f32 = 32.0;
const BALL_HEIGHT: f32 = 32.0;
const PADDLE_SPEED: f32 = 8.0;
const BALL_INITIAL_SPEED_X: f32 = 10.0;
const BALL_INITIAL_SPEED_Y: f32 = 1.0;
const BALL_SPEED_Y_INCREMENT: f32 = 3.0;
const BALL_MAX_SPEED_Y: f32 = 13.0;
/// Points that win the game.
pub const MAX_SCORE: i32 = 21;

const HALF_PADDLE: f32 = PADDLE_HEIGHT / 2.0;
const MIN_PADDLE_Y: f32 = -HALF_PADDLE;
const MAX_PADDLE_Y: f32 = HEIGHT - HALF_PADDLE;
const HORIZONTAL: f64 = 0.01; // the reference compares a float with this double

/// Numbers of an observation.
pub(crate) const OBSERVATION: usize = 8;

/// The randomness of a serve: 1 is a level ball, 0 one that goes down.
pub(crate) type Serve = u32;

/// Paddles (left is the scripted opponent's, right the player's), ball and scores; steps and paddle hits since the
/// serve; and what the last observation was made from: a point leaves the one from before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    pub paddle_yl: f32,
    pub paddle_yr: f32,
    pub ball_x: f32,
    pub ball_y: f32,
    pub ball_vx: f32,
    pub ball_vy: f32,
    pub score_l: i32,
    pub score_r: i32,
    pub tick: i32,
    pub n_bounces: i32,
    pub seen_yl: f32,
    pub seen_yr: f32,
    pub seen_x: f32,
    pub seen_y: f32,
    pub seen_vx: f32,
    pub seen_vy: f32,
}

/// What a frame came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Nothing,
    Hit,
    Won,
    Lost,
}

impl Event {
    /// What the player gets; the last event of a step counts.
    #[inline]
    pub(crate) fn reward(self) -> Option<f32> {
        match self {
            Self::Nothing => None,
            Self::Hit => Some(0.1),
            Self::Won => Some(1.0),
            Self::Lost => Some(-1.0),
        }
    }

    #[inline]
    pub(crate) fn is_point(self) -> bool {
        matches!(self, Self::Won | Self::Lost)
    }
}

impl State {
    /// Move the paddles, then the ball.
    #[inline]
    pub(crate) fn travel(&mut self, direction: f32) {
        self.paddle_yl = follow(self.paddle_yl, self.ball_y);
        self.paddle_yr = steer(self.paddle_yr, direction);
        self.ball_x += self.ball_vx;
        self.ball_y += self.ball_vy;
    }

    /// What the moved ball meets: walls, paddles, or nothing where a paddle should be.
    #[inline]
    pub(crate) fn meet(&mut self, direction: f32) -> Event {
        if above_or_below(self.ball_y) {
            self.ball_vy = -self.ball_vy;
        }
        if left(self.ball_x) {
            if !meets(self.ball_y, self.paddle_yl) {
                self.score_r = self.score_r.wrapping_add(1);
                return Event::Won;
            }
            self.bounce();
        } else if right(self.ball_x) {
            if !meets(self.ball_y, self.paddle_yr) {
                self.score_l = self.score_l.wrapping_add(1);
                return Event::Lost;
            }
            self.bounce();
            self.ball_vy = spin(self.ball_vy, direction);
            // Only the player's hit puts the ball back inside; from the opponent's it returns by itself.
            self.ball_x = clip(self.ball_x, 0.0, WIDTH - BALL_WIDTH);
            self.ball_y = clip(self.ball_y, 0.0, HEIGHT - BALL_HEIGHT);
            return Event::Hit;
        }
        Event::Nothing
    }

    #[inline]
    fn bounce(&mut self) {
        self.ball_vx = -self.ball_vx;
        self.n_bounces = self.n_bounces.wrapping_add(1);
    }

    /// After a point: whether the game is over; if not, the next round begins.
    #[inline]
    pub(crate) fn score(&mut self, draw: impl FnOnce() -> Serve) -> bool {
        let over = self.score_l == MAX_SCORE || self.score_r == MAX_SCORE;
        if !over {
            self.serve(draw());
        }
        over
    }

    /// A new round; scores and what was last seen stay.
    #[inline]
    pub(crate) fn serve(&mut self, serve: Serve) {
        self.paddle_yl = HEIGHT / 2.0 - HALF_PADDLE;
        self.paddle_yr = HEIGHT / 2.0 - HALF_PADDLE;
        self.ball_x = WIDTH / 5.0;
        self.ball_y = HEIGHT / 2.0 - BALL_HEIGHT / 2.0;
        self.ball_vx = BALL_INITIAL_SPEED_X;
        self.ball_vy = if serve == 0 { -BALL_INITIAL_SPEED_Y } else { 0.0 };
        self.tick = 0;
        self.n_bounces = 0;
    }

    /// Observe the state as it is now.
    #[inline]
    pub(crate) fn show(&mut self) {
        (self.seen_yl, self.seen_yr) = (self.paddle_yl, self.paddle_yr);
        (self.seen_x, self.seen_y) = (self.ball_x, self.ball_y);
        (self.seen_vx, self.seen_vy) = (self.ball_vx, self.ball_vy);
    }

    /// What the player sees.
    #[inline]
    pub(crate) fn observation(&self) -> [f32; OBSERVATION] {
        [
            (self.seen_yl - MIN_PADDLE_Y) / (MAX_PADDLE_Y - MIN_PADDLE_Y),
            (self.seen_yr - MIN_PADDLE_Y) / (MAX_PADDLE_Y - MIN_PADDLE_Y),
            self.seen_x / WIDTH,
            self.seen_y / HEIGHT,
            (self.seen_vx + BALL_INITIAL_SPEED_X) / (2.0 * BALL_INITIAL_SPEED_X),
            (self.seen_vy + BALL_MAX_SPEED_Y) / (2.0 * BALL_MAX_SPEED_Y),
            0.0, // the reference divides scores as integers, which gives 0 until the game is over
            0.0,
        ]
    }
}

/// The opponent aims the middle of its paddle at the lower edge of the ball.
#[inline]
pub(crate) fn follow(paddle: f32, ball_y: f32) -> f32 {
    let aim = clip(ball_y - (paddle + HALF_PADDLE), -PADDLE_SPEED, PADDLE_SPEED);
    clip(paddle + aim, MIN_PADDLE_Y, MAX_PADDLE_Y)
}

/// The player's paddle.
#[inline]
pub(crate) fn steer(paddle: f32, direction: f32) -> f32 {
    clip(paddle + PADDLE_SPEED * direction, MIN_PADDLE_Y, MAX_PADDLE_Y)
}

/// Whether a ball is where `meet` has something to do.
#[inline]
pub(crate) fn eventful(x: f32, y: f32) -> bool {
    left(x) | right(x) | above_or_below(y)
}

#[inline]
fn left(x: f32) -> bool {
    x < 0.0
}

#[inline]
fn right(x: f32) -> bool {
    x + BALL_WIDTH > WIDTH
}

#[inline]
fn above_or_below(y: f32) -> bool {
    (y < 0.0) | (y + BALL_HEIGHT > HEIGHT)
}

/// Whether ball and paddle overlap in height; touching is not enough.
fn meets(ball_y: f32, paddle: f32) -> bool {
    ball_y + BALL_HEIGHT > paddle && ball_y < paddle + PADDLE_HEIGHT
}

/// The ball's vertical speed after the player's moving paddle hit it: never horizontal.
fn spin(vy: f32, direction: f32) -> f32 {
    let vy = clip(vy + BALL_SPEED_Y_INCREMENT * direction, -BALL_MAX_SPEED_Y, BALL_MAX_SPEED_Y);
    if f64::from(vy.abs()) < HORIZONTAL { BALL_SPEED_Y_INCREMENT } else { vy }
}

/// `f32::clamp` keeps NaN, which costs; there is none here.
#[inline]
fn clip(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}
