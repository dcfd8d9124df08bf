//! Many Game Boys with one cartridge, stepped together: what an agent presses, what it sees, and threads.
//!
//! A lane's future depends on nothing but that lane, so results do not depend on the number of threads. What is
//! rewarded and when an episode ends is not known here: that is read from RAM by whoever holds the batch.

#![forbid(unsafe_code)]

mod batch;
mod crew;
mod observation;

pub use batch::{Batch, Settings, Unfit};
pub use crew::Crew;
pub use observation::Observation;
