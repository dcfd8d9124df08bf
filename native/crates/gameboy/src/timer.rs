//! DIV and TIMA, computed from the cycle counter when somebody looks.
//!
//! One counter runs with the CPU; DIV is its upper byte, and TIMA counts falling edges of one of its bits. An overflow
//! shows 0 for four cycles, then TMA is loaded and the interrupt is requested.

use crate::state::saved;

/// It is looked at more often than this.
const LONGEST: u64 = 1 << 20;
const RELOAD: u64 = 4;
/// No event in sight.
pub(crate) const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    /// The cycle at which the counter was 0.
    zero: u64,
    tima: u8,
    pub tma: u8,
    pub tac: u8,
    /// The cycle up to which TIMA has been counted.
    counted: u64,
    /// When TMA is to be loaded after an overflow.
    reload: Option<u64>,
    /// When it was loaded last: a write in the same M-cycle loses against it.
    loaded: u64,
    /// The next cycle at which the reference stops to look: an overflow, or the load that follows it. It follows from
    /// the rest, and is asked for far more often than that changes.
    due: u64,
}

impl Timer {
    pub fn new() -> Self {
        Self { zero: 0, tima: 0, tma: 0, tac: 0, counted: 0, reload: None, loaded: 0, due: NEVER }
    }

    /// Anything that `due` follows from has changed.
    pub fn plan(&mut self) {
        self.due = match self.reload {
            Some(reload) => reload,
            None if self.runs() => self.overflow(),
            None => NEVER,
        };
    }

    pub fn is_due(&self, now: u64) -> bool {
        self.due <= now
    }

    /// Whether loaded fields can belong together at `now`.
    pub fn is_consistent(&self, now: u64) -> bool {
        self.zero <= self.counted && (self.counted..=self.counted + LONGEST).contains(&now) && self.loaded <= now
    }

    fn shift(&self) -> u32 {
        // 10, 4, 6, 8: the table would be built on the stack each time.
        4 + 2 * u32::from(self.tac.wrapping_sub(1) & 3)
    }

    fn runs(&self) -> bool {
        self.tac & 4 != 0
    }

    pub fn div(&self, now: u64) -> u8 {
        ((now - self.zero) >> 8) as u8
    }

    pub fn counter(&self, now: u64) -> u64 {
        now - self.zero
    }

    /// Count up to `now`; whether an interrupt was requested on the way.
    pub fn sync(&mut self, now: u64) -> bool {
        let was_due = self.is_due(now);
        let interrupt = self.count(now);
        if was_due {
            self.plan();
        }
        interrupt
    }

    fn count(&mut self, now: u64) -> bool {
        let mut interrupt = false;
        loop {
            match self.reload {
                Some(reload) if reload <= now => {
                    self.reload = None;
                    self.tima = self.tma;
                    self.loaded = reload;
                    self.counted = reload;
                    interrupt = true;
                    continue;
                }
                None if self.runs() => {
                    let overflow = self.overflow();
                    if overflow <= now {
                        self.tima = 0;
                        self.counted = overflow;
                        self.reload = Some(overflow + RELOAD);
                        continue;
                    }
                    self.tima += (self.edges(now) - self.edges(self.counted)) as u8;
                }
                _ => {}
            }
            self.counted = now;
            return interrupt;
        }
    }

    fn edges(&self, now: u64) -> u64 {
        (now - self.zero) >> self.shift()
    }

    /// The cycle of the next overflow, if the timer runs on as it is.
    fn overflow(&self) -> u64 {
        let edges = self.edges(self.counted) + 256 - u64::from(self.tima);
        self.zero + (edges << self.shift())
    }

    /// The next cycle at which the reference stops to look.
    pub fn next_event(&self) -> u64 {
        self.due
    }

    /// The next cycle at which an interrupt is requested.
    pub fn next_request(&self) -> u64 {
        if self.reload.is_some() { self.due } else { self.due.saturating_add(RELOAD) }
    }

    pub fn tima(&self) -> u8 {
        self.tima
    }

    /// Whether TMA was to be loaded, and is not now.
    pub fn write_tima(&mut self, now: u64, value: u8) -> bool {
        let just_loaded = self.loaded != 0 && now < self.loaded + RELOAD;
        if just_loaded {
            return false;
        }
        self.tima = value;
        let cancelled = self.reload.take().is_some();
        self.plan();
        cancelled
    }

    pub fn write_tma(&mut self, now: u64, value: u8) {
        self.tma = value;
        if self.loaded != 0 && now < self.loaded + RELOAD {
            self.tima = value;
            self.plan();
        }
    }

    fn signal(&self, now: u64) -> bool {
        self.runs() && (now - self.zero) >> (self.shift() - 1) & 1 != 0
    }

    fn falling_edge(&mut self, now: u64) {
        if self.tima == 0xFF {
            self.tima = 0;
            self.reload = Some(now + RELOAD);
        } else {
            self.tima += 1;
        }
    }

    pub fn write_div(&mut self, now: u64) {
        let before = self.signal(now);
        self.zero = now;
        self.counted = now;
        if before {
            self.falling_edge(now);
        }
        self.plan();
    }

    pub fn write_tac(&mut self, now: u64, value: u8) {
        let before = self.signal(now);
        self.tac = value;
        if before && !self.signal(now) {
            self.falling_edge(now);
        }
        self.plan();
    }
}

saved!(Timer { zero, tima, tma, tac, counted, reload, loaded });
