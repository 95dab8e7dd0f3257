//! The recorder's clock: the processor's time-stamp counter where it is one, else the monotonic clock.
//!
//! A reading of the counter costs some 8 ns, of the monotonic clock 25 or more, and every event takes two.

use std::sync::OnceLock;
use std::time::Instant;

/// When the module was first asked for the time, on both clocks.
static ORIGIN: OnceLock<(Instant, u64)> = OnceLock::new();

/// Ticks since some moment; only differences mean anything.
#[inline(always)]
pub(crate) fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: RDTSC exists on every x86-64; it reads a register and touches no memory.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        monotonic_ns()
    }
}

/// The counter itself; 0 where there is none.
fn counter() -> u64 {
    if cfg!(target_arch = "x86_64") { now() } else { 0 }
}

/// Nanoseconds of the system's monotonic clock since this module was first asked: points in time, where [`now`] gives
/// differences.
pub(crate) fn monotonic_ns() -> u64 {
    begin();
    ORIGIN.get().map_or(0, |(origin, _)| origin.elapsed().as_nanos() as u64)
}

/// Remembers this moment, against which [`ticks_per_ns`] compares later ones.
pub(crate) fn begin() {
    ORIGIN.get_or_init(|| (Instant::now(), counter()));
}

/// Speed of the clock, measured from [`begin`] until now; waits where that is less than 2 ms.
pub(crate) fn ticks_per_ns() -> f64 {
    if cfg!(not(target_arch = "x86_64")) {
        return 1.0;
    }
    let &(origin, ticks) = ORIGIN.get_or_init(|| (Instant::now(), counter()));
    loop {
        let (elapsed, ticks) = (origin.elapsed().as_nanos(), now().saturating_sub(ticks));
        if elapsed >= 2_000_000 {
            // A counter that stands still is no clock; 1 keeps every figure finite.
            return if ticks == 0 { 1.0 } else { ticks as f64 / elapsed as f64 };
        }
        std::hint::spin_loop();
    }
}

/// Ticks for which this thread has had a processor; 0 where the system does not say.
pub(crate) fn of_thread() -> u64 {
    (spent_ns(libc::CLOCK_THREAD_CPUTIME_ID) as f64 * ticks_per_ns()) as u64
}

/// Work of the recorder's own on this thread.
pub(crate) struct Own {
    began: u64,
    busy: u64,
}

impl Own {
    pub(crate) fn begins() -> Self {
        Self { began: now(), busy: of_thread() }
    }

    /// Ticks since then, and for how many of them the thread had a processor: what other programs had of them is taken off
    /// the run by itself.
    pub(crate) fn took(&self) -> (u64, u64) {
        let took = now().saturating_sub(self.began);
        (took, of_thread().saturating_sub(self.busy).min(took))
    }

    /// Processor time since then, ns.
    pub(crate) fn took_ns(&self) -> u64 {
        (self.took().1 as f64 / ticks_per_ns()) as u64
    }
}

/// Time that processors have spent on this process, ns; 0 where the system does not say.
pub(crate) fn of_process_ns() -> u64 {
    spent_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Processor time by this clock of the system's, ns; 0 where it has none.
pub(super) fn spent_ns(clock: libc::clockid_t) -> u64 {
    let mut spent = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure that it is given, or fails and leaves it.
    unsafe { libc::clock_gettime(clock, &raw mut spent) };
    (spent.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(spent.tv_nsec as u64)
}
