//! The C border around a candidate: one call for many lanes. Every array has one row of bytes per lane.
//!
//! Nothing is kept between two calls but the rules themselves (and the lanes of runner.rs, which shows their speed):
//! states, step counts and random streams live in Python. A panic in the rules ends the call, not the process.

mod runner;

use candidate::contract::{Action, Number, Packed, ResetDraw, Rng, Rules, Section, Space, State, StepDraw};
use candidate::Env;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, OnceLock};

type Element = <Env as Rules>::Element;
type EnvAction = <Env as Rules>::Action;

static RULES: OnceLock<Env> = OnceLock::new();
static COMPLAINT: Mutex<String> = Mutex::new(String::new());

fn rules() -> &'static Env {
    RULES.get_or_init(Env::default)
}

/// 0, or 1 with a complaint that `overclock_complaint` tells.
fn guarded(work: &mut dyn FnMut()) -> i32 {
    let Err(cause) = catch_unwind(AssertUnwindSafe(work)) else { return 0 };
    let said = cause.downcast_ref::<String>().cloned();
    let said = said.or_else(|| cause.downcast_ref::<&str>().map(|text| text.to_string()));
    *COMPLAINT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = said.unwrap_or_default();
    1
}

/// Rows of bytes in Python's memory. As numbers, because threads may share these and not pointers.
#[derive(Clone, Copy)]
struct Rows {
    base: usize,
    width: usize,
}

impl Rows {
    fn of<T>(base: *const T, width: usize) -> Self {
        Rows { base: base as usize, width }
    }

    /// # Safety
    /// Python has as many rows as lanes, and nobody writes this one meanwhile.
    unsafe fn row<'a>(self, lane: usize) -> &'a [u8] {
        if self.width == 0 {
            return &[];
        }
        std::slice::from_raw_parts((self.base + lane * self.width) as *const u8, self.width)
    }

    /// # Safety
    /// As `row`, and no other thread has this lane.
    unsafe fn row_mut<'a>(self, lane: usize) -> &'a mut [u8] {
        if self.width == 0 {
            return &mut [];
        }
        std::slice::from_raw_parts_mut((self.base + lane * self.width) as *mut u8, self.width)
    }

    unsafe fn get<T: Packed>(self, lane: usize) -> T {
        T::unpack(self.row(lane))
    }

    unsafe fn put<T: Packed>(self, lane: usize, value: &T) {
        value.pack(self.row_mut(lane));
    }
}

/// Call `work` with every share of the lanes, the first here and each other in a thread. Not generic: threads take long
/// to compile.
fn shared(lanes: usize, threads: usize, work: &(dyn Fn(usize, usize) + Sync)) {
    let share = lanes.div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let mut parts = Vec::new();
        for start in (share..lanes).step_by(share) {
            parts.push(scope.spawn(move || work(start, lanes.min(start + share))));
        }
        work(0, lanes.min(share));
        for part in parts {
            if let Err(cause) = part.join() {
                std::panic::resume_unwind(cause);
            }
        }
    });
}

/// Call `each` for every lane; 0, or 1 with a complaint.
fn over(lanes: usize, threads: usize, each: impl Fn(usize) + Sync) -> i32 {
    let work = |start: usize, end: usize| (start..end).for_each(&each);
    guarded(&mut || shared(lanes, threads, &work))
}

fn tell(text: &str, into: *mut u8, room: usize) -> usize {
    let kept = text.len().min(room);
    // SAFETY: Python has `room` bytes there.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), into, kept) };
    text.len()
}

/// Why the last call failed.
#[no_mangle]
pub extern "C" fn overclock_complaint(into: *mut u8, room: usize) -> usize {
    tell(&COMPLAINT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), into, room)
}

fn listed<T: std::fmt::Debug>(values: &[T]) -> String {
    values.iter().map(|value| format!(" {value:?}")).collect()
}

fn described(space: &Space) -> String {
    match space {
        Space::Discrete(n) => format!("discrete {n}"),
        Space::Box { shape, low, high } => format!("box{};{};{}", listed(shape), listed(low), listed(high)),
    }
}

/// Spaces, types and sizes, one per line; the length of the text, whether or not it had room.
#[no_mangle]
pub extern "C" fn overclock_describe(into: *mut u8, room: usize) -> usize {
    let mut text = String::new();
    let failed = guarded(&mut || {
        let limit = Env::MAX_STEPS.map_or("never".to_string(), |steps| steps.to_string());
        text = [
            described(&rules().observation_space()),
            described(&rules().action_space()),
            <Element as Number>::NAME.to_string(),
            <EnvAction as Action>::NAME.to_string(),
            limit,
            u8::from(Env::MASKED).to_string(),
            listed(&[State::BYTES, ResetDraw::BYTES, StepDraw::BYTES, EnvAction::BYTES]),
        ]
        .join("\n");
    });
    if failed == 0 { tell(&text, into, room) } else { 0 }
}

const RNG_BYTES: usize = 12;

fn stream(keys: Rows, lane: usize, section: Section) -> Rng {
    // SAFETY: as the caller's.
    let [k0, k1, counter] = unsafe { keys.get::<[u32; 3]>(lane) };
    Rng::new(k0, k1, counter).of_section(section)
}

#[no_mangle]
pub extern "C" fn overclock_streams(lanes: usize, seeds: *const u64, keys: *mut u32) -> i32 {
    let (seeds, keys) = (Rows::of(seeds, 8), Rows::of(keys, RNG_BYTES));
    over(lanes, 1, |lane| unsafe {
        let rng = Rng::from_seed(seeds.get(lane));
        keys.put(lane, &[rng.k0, rng.k1, rng.counter]);
    })
}

#[no_mangle]
pub extern "C" fn overclock_draw_reset(lanes: usize, threads: usize, keys: *const u32, draws: *mut u8) -> i32 {
    let (keys, draws) = (Rows::of(keys, RNG_BYTES), Rows::of(draws, ResetDraw::BYTES));
    over(lanes, threads, |lane| unsafe {
        draws.put(lane, &rules().draw_reset(stream(keys, lane, Section::Reset)));
    })
}

#[no_mangle]
pub extern "C" fn overclock_draw_step(
    lanes: usize, threads: usize, keys: *const u32, states: *const u8, draws: *mut u8,
) -> i32 {
    let (keys, states) = (Rows::of(keys, RNG_BYTES), Rows::of(states, State::BYTES));
    let draws = Rows::of(draws, StepDraw::BYTES);
    over(lanes, threads, |lane| unsafe {
        draws.put(lane, &rules().draw_step(stream(keys, lane, Section::Step), &states.get(lane)));
    })
}

#[no_mangle]
pub extern "C" fn overclock_init(lanes: usize, threads: usize, draws: *const u8, states: *mut u8) -> i32 {
    let (draws, states) = (Rows::of(draws, ResetDraw::BYTES), Rows::of(states, State::BYTES));
    over(lanes, threads, |lane| unsafe { states.put(lane, &rules().init(&draws.get(lane))) })
}

#[no_mangle]
pub extern "C" fn overclock_transition(
    lanes: usize, threads: usize, states: *mut u8, actions: *const u8, draws: *const u8, rewards: *mut f64,
    terminated: *mut u8,
) -> i32 {
    let (states, actions) = (Rows::of(states, State::BYTES), Rows::of(actions, EnvAction::BYTES));
    let (draws, rewards) = (Rows::of(draws, StepDraw::BYTES), Rows::of(rewards, 8));
    let terminated = Rows::of(terminated, 1);
    over(lanes, threads, |lane| unsafe {
        let mut state: State = states.get(lane);
        let (reward, ended) = rules().transition(&mut state, actions.get(lane), &draws.get(lane));
        states.put(lane, &state);
        rewards.put(lane, &reward);
        terminated.put(lane, &ended);
    })
}

#[no_mangle]
pub extern "C" fn overclock_observe(
    lanes: usize, threads: usize, states: *const u8, seen: *mut Element, length: usize,
) -> i32 {
    let states = Rows::of(states, State::BYTES);
    let seen = Rows::of(seen, length * Element::BYTES);
    over(lanes, threads, |lane| unsafe {
        let into = (seen.base + lane * seen.width) as *mut Element;
        rules().observe(&states.get(lane), std::slice::from_raw_parts_mut(into, length));
    })
}

#[no_mangle]
pub extern "C" fn overclock_action_mask(
    lanes: usize, threads: usize, states: *const u8, masks: *mut u8, length: usize,
) -> i32 {
    let states = Rows::of(states, State::BYTES);
    let masks = Rows::of(masks, length);
    over(lanes, threads, |lane| unsafe {
        let mut legal = vec![false; length];
        rules().action_mask(&states.get(lane), &mut legal);
        for (into, one) in masks.row_mut(lane).iter_mut().zip(legal) {
            *into = u8::from(one);
        }
    })
}
