//! Facts about Pong's rules, each read from the reference; agreement with the JAX twin is tested from Python.

use std::cell::Cell;

use overclock_rng::{Rng, Section};
use overclock_vector::{Rules, States, WIDTH};
use pong::{Lanes, MAX_SCORE, Pong, State};

const UP: f32 = 1.0;
const STAY: f32 = 0.0;
const DOWN: f32 = -1.0;

/// A game in which nothing is near: the ball in the middle, flying to the right.
fn calm() -> State {
    let first = Pong::default().init(&1);
    State { ball_x: 250.0, ball_vx: 10.0, ball_vy: 2.0, score_l: 3, score_r: 4, tick: 7, n_bounces: 2, ..first }
}

fn step(frameskip: u32, state: State, direction: f32) -> (State, f32, bool) {
    let mut after = state;
    let (reward, terminated) = Pong { frameskip, ..Pong::default() }.transition(&mut after, direction, || 0);
    (after, reward, terminated)
}

fn observation(state: &State) -> [f32; 8] {
    let mut seen = [9.0; 8];
    Pong::default().observe(state, &mut seen);
    seen
}

#[test]
fn a_round_begins_in_the_middle_with_a_level_ball_or_one_that_goes_down() {
    for (serve, vy) in [(0, -1.0), (1, 0.0)] {
        let state = Pong::default().init(&serve);
        assert_eq!((state.paddle_yl, state.paddle_yr), (285.0, 285.0));
        assert_eq!((state.ball_x, state.ball_y, state.ball_vx, state.ball_vy), (100.0, 304.0, 10.0, vy));
        assert_eq!((state.score_l, state.score_r, state.tick, state.n_bounces), (0, 0, 0, 0));
        assert_eq!(observation(&state), [0.5, 0.5, 0.2, 0.475, 1.0, (vy + 13.0) / 26.0, 0.0, 0.0]);
    }
}

#[test]
fn the_opponent_aims_its_middle_at_where_the_balls_lower_edge_was() {
    for (ball_y, moved) in [(304.0, -8.0), (325.0, 5.0), (316.0, -4.0), (320.0, 0.0), (500.0, 8.0)] {
        let (after, ..) = step(1, State { ball_y, ..calm() }, STAY);
        assert_eq!(after.paddle_yl, 285.0 + moved, "ball at {ball_y}");
    }
}

#[test]
fn paddles_stop_half_outside_of_the_field() {
    for (paddle_yr, direction, expected) in [(601.0, UP, 605.0), (-30.0, DOWN, -35.0), (100.0, 0.25, 102.0)] {
        assert_eq!(step(1, State { paddle_yr, ..calm() }, direction).0.paddle_yr, expected);
    }
    assert_eq!(step(1, State { paddle_yl: 604.0, ball_y: 650.0, ..calm() }, STAY).0.paddle_yl, 605.0);
}

#[test]
fn walls_turn_the_ball_without_moving_it_and_touching_them_does_not() {
    for (ball_y, ball_vy, y, vy) in
        [(1.0, -2.0, -1.0, 2.0), (2.0, -2.0, 0.0, -2.0), (607.0, 2.0, 609.0, -2.0), (606.0, 2.0, 608.0, 2.0)]
    {
        let (after, reward, _) = step(1, State { ball_y, ball_vy, ..calm() }, STAY);
        assert_eq!((after.ball_y, after.ball_vy, reward), (y, vy, 0.0));
    }
}

#[test]
fn the_opponents_hit_turns_the_ball_and_nothing_else() {
    let state = State { ball_x: 4.0, ball_vx: -10.0, ..calm() };
    let (after, reward, _) = step(1, state, STAY);
    assert_eq!((after.ball_x, after.ball_vx, after.ball_vy), (-6.0, 10.0, 2.0));
    assert_eq!((after.n_bounces, after.score_r, reward), (3, 4, 0.0));
}

#[test]
fn a_ball_that_only_touches_a_paddle_has_missed_it() {
    // The ball arrives at 300 and is 32 high; the paddle is 70 high and stays where it is.
    for (paddle_yr, hit) in [(332.0, false), (331.0, true), (231.0, true), (230.0, false)] {
        let state = State { ball_x: 460.0, ball_y: 298.0, paddle_yr, ..calm() };
        let (after, reward, _) = step(1, state, STAY);
        assert_eq!(reward, if hit { 0.1 } else { -1.0 }, "paddle at {paddle_yr}");
        assert_eq!((after.score_l, after.score_r), (if hit { 3 } else { 4 }, 4));
    }
    // The opponent moves before it is looked at: from 8 below or above to the edge itself.
    for (paddle_yl, hit) in [(340.0, false), (339.0, true), (223.0, true), (222.0, false)] {
        let state = State { ball_x: 8.0, ball_vx: -10.0, ball_y: 298.0, paddle_yl, ..calm() };
        let (after, reward, _) = step(1, state, STAY);
        assert_eq!(reward, if hit { 0.0 } else { 1.0 }, "paddle at {paddle_yl}");
        assert_eq!((after.score_l, after.score_r), (3, if hit { 4 } else { 5 }));
    }
}

#[test]
fn the_players_hit_puts_the_ball_inside_and_a_moving_paddle_spins_it() {
    for (ball_vy, direction, vy) in [
        (2.0, UP, 5.0),
        (2.0, DOWN, -1.0),
        (12.0, UP, 13.0),
        (-12.0, DOWN, -13.0),
        (3.0, DOWN, 3.0), // never horizontal, and then upwards
        (-3.0, UP, 3.0),
        (0.0, STAY, 3.0),
        (0.011, STAY, 0.011),
        (0.01, STAY, 3.0), // the float is below the reference's double
        (1.0, 0.5, 2.5),
    ] {
        let state = State { ball_x: 464.0, ball_vy, ..calm() };
        let (after, reward, _) = step(1, state, direction);
        assert_eq!((after.ball_x, after.ball_vx, after.ball_vy, after.n_bounces), (468.0, -10.0, vy, 3));
        assert_eq!((reward, after.score_l), (0.1, 3));
    }
    let corner = State { ball_x: 464.0, ball_y: 606.0, ball_vy: 5.0, paddle_yr: 600.0, ..calm() };
    let (after, ..) = step(1, corner, STAY);
    assert_eq!((after.ball_y, after.ball_vy), (608.0, -5.0));
}

#[test]
fn a_point_begins_a_round_and_leaves_the_observation_of_the_frame_before() {
    // In two frames the ball passes the player's paddle.
    let missing = State { ball_x: 455.0, paddle_yr: 0.0, ..calm() };
    let (first, reward, _) = step(1, missing, STAY);
    assert_eq!((first.ball_x, reward), (465.0, 0.0));
    for (frameskip, before, seen) in [(1, first, first), (2, missing, first), (8, missing, first), (8, first, first)] {
        let (after, reward, terminated) = step(frameskip, before, STAY);
        assert_eq!((reward, terminated, after.score_l, after.score_r), (-1.0, false, 4, 4));
        let round = Pong::default().init(&0);
        assert_eq!((after.ball_x, after.ball_y, after.ball_vy), (round.ball_x, round.ball_y, round.ball_vy));
        assert_eq!((after.paddle_yl, after.paddle_yr, after.tick, after.n_bounces), (285.0, 285.0, 0, 0));
        assert_eq!(observation(&after), observation(&seen), "frameskip {frameskip}");
    }
}

#[test]
fn a_ball_at_the_very_edge_is_still_inside() {
    let away = State { paddle_yl: 605.0, paddle_yr: 605.0, ..calm() };
    for (ball_x, ball_vx, reward) in [(10.0, -10.0, 0.0), (9.0, -10.0, 1.0), (458.0, 10.0, 0.0), (459.0, 10.0, -1.0)] {
        assert_eq!(step(1, State { ball_x, ball_vx, ..away }, STAY).1, reward, "ball from {ball_x}");
    }
}

#[test]
fn the_last_event_of_a_step_is_its_reward() {
    // A ball fast enough to be hit by the player and to pass the opponent, which is far away, a frame later.
    let state = State { ball_x: 460.0, ball_vx: 500.0, paddle_yl: 605.0, ..calm() };
    for (frameskip, reward) in [(1, 0.1), (2, 1.0), (8, 1.0)] {
        assert_eq!(step(frameskip, state, STAY).1, reward);
    }
    // And one for which nothing follows the hit.
    assert_eq!(step(40, State { ball_x: 460.0, ..calm() }, STAY).1, 0.1);
}

#[test]
fn the_point_that_wins_ends_the_game_and_draws_nothing() {
    let asked = Cell::new(0);
    for (score, terminated, draws) in [(MAX_SCORE - 1, true, 0), (MAX_SCORE - 2, false, 1)] {
        asked.set(0);
        let mut state = State { ball_x: 465.0, paddle_yr: 0.0, score_l: score, ..calm() };
        let outcome = Pong::default().transition(&mut state, STAY, || {
            asked.set(asked.get() + 1);
            1
        });
        assert_eq!((outcome, state.score_l, asked.get()), ((-1.0, terminated), score + 1, draws));
        assert_eq!(state.ball_x, if terminated { 475.0 } else { 100.0 });
        assert_eq!(state.tick, if terminated { 8 } else { 0 });
    }
}

/// A block's step is the step of each of its lanes, whatever happens in it.
#[test]
fn a_block_does_what_its_lanes_would_do_alone() {
    for (frameskip, continuous) in [(1, false), (8, false), (3, true), (8, true)] {
        let rules = Pong { frameskip, continuous, ..Pong::default() };
        let count = WIDTH - 3;
        let mut alone: Vec<State> = (0..WIDTH).map(|lane| rules.init(&(lane as u32 % 2))).collect();
        let mut lanes = Lanes::filled(&alone[0]);
        (0..WIDTH).for_each(|lane| lanes.set(lane, alone[lane]));
        let (mut points, mut hits, mut ends) = (0, 0, 0);
        for event in 0..20_000 {
            let rng = |lane: usize| Rng::new(lane as u32, 5, event);
            let draw = |lane: usize| rules.draw_step(rng(lane).of_section(Section::Step));
            let sampled = |lane: usize| rules.sample(rng(lane).of_section(Section::Action));
            let directions: Vec<f32> = (0..count).map(sampled).collect();
            let (mut reward, mut terminated) = (vec![9.0; count], vec![9; count]);
            rules.transition_block(&mut lanes, &directions, draw, &mut reward, &mut terminated);
            let mut rows = vec![9.0; 8 * count];
            rules.observe_block(&lanes, &mut rows);
            for lane in 0..count {
                let outcome = rules.transition(&mut alone[lane], directions[lane], || draw(lane));
                assert_eq!((reward[lane], terminated[lane] == 1), outcome);
                assert_eq!(lanes.get(lane), alone[lane], "frameskip {frameskip}, event {event}, lane {lane}");
                assert_eq!(rows[8 * lane..][..8], observation(&alone[lane]));
                points += u32::from(reward[lane].abs() == 1.0);
                hits += u32::from(reward[lane] == 0.1);
                ends += u32::from(terminated[lane]);
                if outcome.1 {
                    alone[lane] = rules.init(&draw(lane));
                    lanes.set(lane, alone[lane]);
                }
            }
        }
        assert!(points > 1000 && hits > 500 && ends > 50, "{points}, {hits}, {ends}: too few to show anything");
    }
}
