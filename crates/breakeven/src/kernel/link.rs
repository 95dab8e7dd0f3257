//! What a copy between host and device takes. The timeline has copy engines of its own; a kernel is one copy alone.

use super::cost::{Cost, Job};
use super::cpu::fresh_pages;
use super::machine::Machine;
use crate::hardware::Device;
use crate::hardware::device::Copies;
use crate::workload::{Op, op::Direction};

/// Fixed cost of one copy between host and device, s. Driver call and DMA set-up; the usual figure in CUDA's own
/// best-practice texts is "about 10 µs".
const COPY_LATENCY: f64 = 10e-6;
/// Share of the link's rate that a copy from ordinary (pageable) memory reaches at most; it is staged through a pinned buffer.
const PAGEABLE: f64 = 0.5;
/// The same from page-locked memory.
const PINNED: f64 = 0.8;
/// What a host copies between ordinary memory and that buffer, B/s, to the device and back: it is what holds back the links
/// of 2020 and later. 537 MB took 25 and 39 ms on the machine of an H200.
const STAGED_UP: f64 = 21e9;
const STAGED_DOWN: f64 = 14e9;
/// What one core's loads and stores of separate lines move, B/s. From cuML's own table: matrices of C order that its PCA and lasso
/// take by columns.
const TURNED: f64 = 13e9;
/// A link from this rate on is coherent, and its device reads ordinary memory where it lies, B/s: PCIe 6 has 121 GB/s.
const COHERENT: f64 = 150e9;
/// Assumed link where the catalogue knows none: PCIe 3.0 x16, B/s.
const FALLBACK: f64 = 15.75e9;

/// One copy; where memory is one its call alone.
pub(super) fn cost(machine: &Machine<'_>, job: &Job, op: &Op) -> Cost {
    let link = Link::of(machine.device);
    let seconds = match op {
        Op::Transfer { direction: Direction::D2d, .. } => 2.0 * job.bytes / machine.bandwidth,
        Op::Transfer { direction, pinned, .. } => link.explicit(*direction, job.bytes, *pinned),
        Op::HostRead { .. } => link.down(job.bytes),
        // Between devices nothing is staged, and memory is never one.
        _ => link.pinned(job.bytes),
    };
    Cost { chain: seconds, launches: 1.0, bytes: job.bytes, link: true, ..Cost::NOTHING }
}

/// The link of one device.
pub struct Link {
    bytes_per_s: f64,
    unified: bool,
    /// What was measured, where somebody did.
    measured: Copies,
}

impl Link {
    /// That of `device`, or one of PCIe 3.0 where none is known.
    pub fn of(device: &Device) -> Self {
        let bytes_per_s = device.host_link.map_or(FALLBACK, |l| l.get());
        Self { bytes_per_s, unified: device.unified_memory, measured: device.copies.unwrap_or_default() }
    }

    /// Seconds of one copy of ordinary memory to the device; none of nothing, nor where memory is one.
    pub fn up(&self, bytes: f64) -> f64 {
        self.ups(bytes, 1.0)
    }

    /// The same of `count` copies with `bytes` in all.
    pub fn ups(&self, bytes: f64, count: f64) -> f64 {
        self.copies(bytes, bytes / self.rate_up() + count * self.latency())
    }

    /// Seconds of one copy from the device to ordinary memory, which is new, as `asnumpy` and `cpu` take it.
    pub fn down(&self, bytes: f64) -> f64 {
        self.copies(bytes, self.back(bytes))
    }

    /// Seconds of a copy that a script asks for itself, also of nothing.
    pub fn explicit(&self, direction: Direction, bytes: f64, pinned: bool) -> f64 {
        match direction {
            Direction::H2h => bytes / TURNED,
            _ if self.unified => 0.0,
            Direction::D2h if pinned => self.pinned_at(self.measured.down_pinned, bytes),
            _ if pinned => self.pinned(bytes),
            Direction::D2h => self.back(bytes),
            Direction::H2d | Direction::D2d => bytes / self.rate_up() + self.latency(),
        }
    }

    fn pinned(&self, bytes: f64) -> f64 {
        self.pinned_at(self.measured.up_pinned, bytes)
    }

    fn pinned_at(&self, measured: Option<f64>, bytes: f64) -> f64 {
        bytes / measured.unwrap_or(self.bytes_per_s * PINNED) + self.latency()
    }

    fn latency(&self) -> f64 {
        self.measured.latency_s.unwrap_or(COPY_LATENCY)
    }

    fn rate_up(&self) -> f64 {
        self.measured.up.unwrap_or_else(|| self.staged(STAGED_UP))
    }

    fn rate_down(&self) -> f64 {
        self.measured.down.unwrap_or_else(|| self.staged(STAGED_DOWN))
    }

    /// Bytes that a copy back moves in the time that it takes to begin; any number where memory is one.
    pub fn at_once(&self) -> f64 {
        if self.unified { f64::INFINITY } else { self.latency() * self.rate_down() }
    }

    fn back(&self, bytes: f64) -> f64 {
        // What was measured has the pages in it.
        let pages = if self.measured.down.is_some() { 0.0 } else { fresh_pages(bytes) };
        bytes / self.rate_down() + pages + self.latency()
    }

    fn staged(&self, most: f64) -> f64 {
        let rate = self.bytes_per_s * PAGEABLE;
        if self.bytes_per_s < COHERENT { rate.min(most) } else { rate }
    }

    fn copies(&self, bytes: f64, seconds: f64) -> f64 {
        if self.unified || bytes <= 0.0 { 0.0 } else { seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(gigabytes: f64) -> Link {
        Link { bytes_per_s: gigabytes * 1e9, unified: false, measured: Copies::default() }
    }

    #[test]
    fn ordinary_memory_holds_fast_links_back_and_slow_ones_not() {
        let (third, fifth, coherent) = (link(15.75), link(63.0), link(450.0));
        let up = |rate: f64| 1e7 / rate + COPY_LATENCY;
        assert_eq!((third.up(1e7), third.down(1e7)), (up(7.875e9), 1e7 / 7.875e9 + COPY_LATENCY));
        assert_eq!((fifth.up(1e7), fifth.down(1e7)), (up(STAGED_UP), 1e7 / STAGED_DOWN + COPY_LATENCY));
        assert_eq!(coherent.up(1e7), up(225e9));
        assert!(fifth.explicit(Direction::H2d, 1e9, true) < 0.5 * fifth.explicit(Direction::H2d, 1e9, false));
        assert_eq!((fifth.up(0.0), fifth.explicit(Direction::D2h, 0.0, false)), (0.0, COPY_LATENCY));
    }

    #[test]
    fn a_large_copy_back_waits_for_new_pages_too() {
        let link = link(63.0);
        assert!(link.down(1e8) > 1.5 * 1e8 / STAGED_DOWN && link.down(1e7) < 1.1 * 1e7 / STAGED_DOWN);
        assert_eq!(link.down(1e8), link.explicit(Direction::D2h, 1e8, false));
        assert_eq!(link.explicit(Direction::D2h, 1e8, true), link.explicit(Direction::H2d, 1e8, true));
    }
}
