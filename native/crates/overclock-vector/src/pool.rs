//! Whether this process may use rayon's threads.

use std::process;
use std::sync::OnceLock;

static OWNER: OnceLock<u32> = OnceLock::new();

/// False in a process that was forked from one which had started the threads: a fork copies the pool but not its
/// threads, so waiting for them would never end (Python's multiprocessing forks).
pub fn usable() -> bool {
    *OWNER.get_or_init(process::id) == process::id()
}
