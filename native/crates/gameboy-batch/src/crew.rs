//! The threads that step lanes: rayon's own, some of the batch's, or none but the caller's.

use std::process;

use overclock_vector::threads_usable;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

pub struct Crew {
    threads: Threads,
}

enum Threads {
    Shared,
    Caller,
    /// A pool, and the process it was made in: a fork copies the pool but not its threads.
    Own(ThreadPool, u32),
}

impl Crew {
    /// So many threads; without a number, as many as there are cores, shared by all batches.
    pub fn new(threads: Option<usize>) -> Result<Self, ThreadPoolBuildError> {
        let threads = match threads {
            None => Threads::Shared,
            Some(1) => Threads::Caller,
            Some(count) => Threads::Own(ThreadPoolBuilder::new().num_threads(count).build()?, process::id()),
        };
        Ok(Self { threads })
    }

    /// Do something with every item, in any order.
    pub fn each<T: Send>(&self, mut items: Vec<T>, work: impl Fn(&mut T) + Sync) {
        // A console's step is long enough to be a task of its own.
        let mut parallel = || items.par_iter_mut().with_max_len(1).for_each(&work);
        match &self.threads {
            Threads::Shared if threads_usable() => parallel(),
            Threads::Own(pool, owner) if *owner == process::id() => pool.install(parallel),
            _ => items.iter_mut().for_each(&work),
        }
    }
}
