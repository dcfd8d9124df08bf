//! Facts about CartPole's rules; agreement with the JAX twin is tested from Python.

use cartpole::{CartPole, Push, State, THETA_THRESHOLD, X_THRESHOLD};
use overclock_rng::{Rng, Section};
use overclock_vector::Rules;

const UPRIGHT: State = State { x: 0.0, x_dot: 0.0, theta: 0.0, theta_dot: 0.0 };

fn step(rules: CartPole, mut state: State, push: Push) -> (State, f32, bool) {
    let (reward, terminated) = rules.transition(&mut state, push, || ());
    (state, reward, terminated)
}

#[test]
fn a_push_from_rest_follows_the_equations() {
    let (after, reward, terminated) = step(CartPole::default(), UPRIGHT, Push::Right);
    // From the textbook, in float64: temp = 10 / 1.1, thetaacc = -temp / (0.5 (4/3 - 0.1/1.1)).
    let temp = 10.0 / 1.1_f64;
    let thetaacc = -temp / (0.5 * (4.0 / 3.0 - 0.1 / 1.1));
    let xacc = temp - 0.05 * thetaacc / 1.1;
    assert_eq!((after.x, after.theta, reward, terminated), (0.0, 0.0, 1.0, false));
    assert!((f64::from(after.x_dot) - 0.02 * xacc).abs() < 1e-7);
    assert!((f64::from(after.theta_dot) - 0.02 * thetaacc).abs() < 1e-7);
}

#[test]
fn left_mirrors_right() {
    let state = State { x: 0.3, x_dot: -0.7, theta: 0.1, theta_dot: 1.3 };
    let mirrored = State { x: -0.3, x_dot: 0.7, theta: -0.1, theta_dot: -1.3 };
    let (right, ..) = step(CartPole::default(), state, Push::Right);
    let (left, ..) = step(CartPole::default(), mirrored, Push::Left);
    assert_eq!(left, State { x: -right.x, x_dot: -right.x_dot, theta: -right.theta, theta_dot: -right.theta_dot });
}

#[test]
fn the_limits_themselves_are_still_inside() {
    for (x, theta) in [(X_THRESHOLD, 0.0), (-X_THRESHOLD, 0.0), (0.0, THETA_THRESHOLD), (0.0, -THETA_THRESHOLD)] {
        assert!(!State { x, theta, ..UPRIGHT }.fallen());
        let beyond = State { x: x * (1.0 + f32::EPSILON), theta: theta * (1.0 + f32::EPSILON), ..UPRIGHT };
        assert!(beyond.fallen());
    }
}

#[test]
fn rewards_follow_the_option() {
    let falling = State { theta: 0.2, theta_dot: 3.0, ..UPRIGHT };
    let fallen = State { theta: 0.3, theta_dot: 3.0, ..UPRIGHT };
    let recovering = State { theta: 0.21, theta_dot: -3.0, ..UPRIGHT };
    let sutton_barto = CartPole { sutton_barto_reward: true, ..CartPole::default() };
    for (state, plain, sutton) in
        [(UPRIGHT, 1.0, 0.0), (falling, 1.0, -1.0), (fallen, 0.0, -1.0), (recovering, 1.0, 0.0)]
    {
        assert_eq!(step(CartPole::default(), state, Push::Right).1, plain);
        assert_eq!(step(sutton_barto, state, Push::Right).1, sutton);
    }
}

#[test]
fn first_states_are_four_small_numbers_of_the_reset_section() {
    let rules = CartPole::default();
    let rng = Rng::from_seed(5).of_section(Section::Reset);
    let draw = rules.draw_reset(rng);
    assert!(draw.iter().all(|value| value.abs() <= 0.05));
    assert_ne!(draw, rules.draw_reset(rng.advance()));
    assert_ne!(draw, rules.draw_reset(rng.of_section(Section::Step)));
    let mut seen = [0.0; 4];
    rules.observe(&rules.init(&draw), &mut seen);
    assert_eq!(seen, draw);
}
