//! What a kernel's time is made of, and the time.

use super::machine::{LARGE_CACHE_SECONDS, Machine};
use super::{Bound, KernelTime, Support};
use crate::hardware::DeviceKind;
use crate::units::{Bytes, Flop, Seconds};
use crate::workload::{Dtype, Family};

/// How many multiplications a convolution by transforms saves at most.
const SAVED: f64 = 6.25;

/// One op as handed to a family's model.
pub(super) struct Job {
    /// Arithmetic needed.
    pub(super) flop: f64,
    /// Bytes read and written.
    pub(super) bytes: f64,
    /// Bytes written, 0 where not known.
    pub(super) written: f64,
    pub(super) dtype: Dtype,
    /// Images with their channels last in memory.
    pub(super) channels_last: bool,
    /// An element-wise kernel whose threads take one element each.
    pub(super) one_each: bool,
    /// A product whose first factor lies by columns.
    pub(super) turned: bool,
    /// PyTorch's.
    pub(super) by_torch: bool,
}

/// The parts of one op's time. Arithmetic and memory overlap; fixed parts do not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Seconds of arithmetic at the rate the family reaches.
    pub(super) compute: f64,
    /// Seconds of memory traffic at the rate the family reaches.
    pub(super) memory: f64,
    /// Seconds in a chain that nothing overlaps: launches one after the other, columns of a panel.
    pub(super) chain: f64,
    /// Kernels.
    pub(super) launches: f64,
    pub(super) flop: f64,
    /// Bytes to and from device memory, caches taken off where the family knows.
    pub(super) bytes: f64,
    /// Seconds of the arithmetic at the datasheet's peak.
    pub(super) at_peak: f64,
    /// Share of the shorter of arithmetic and memory that the longer does not hide.
    pub(super) serial: f64,
    /// How much less certain this kernel is than others of its family: a factor on its spread.
    pub(super) doubt: f64,
    /// What the link carries instead of the device's own units.
    pub(super) link: bool,
}

impl Cost {
    /// No device time at all.
    pub(super) const NOTHING: Self = Self {
        compute: 0.0,
        memory: 0.0,
        chain: 0.0,
        launches: 0.0,
        flop: 0.0,
        bytes: 0.0,
        at_peak: 0.0,
        serial: 0.0,
        doubt: 1.0,
        link: false,
    };

    /// One kernel that does `job` in `compute` and `memory` seconds.
    pub(super) fn of(job: &Job, compute: f64, memory: f64) -> Self {
        Self { compute, memory, launches: 1.0, flop: job.flop, bytes: job.bytes, ..Self::NOTHING }
    }

    /// The time, never below the smallest kernel for each launch, and what bounds it.
    pub(super) fn finish(self, machine: &Machine<'_>, family: Family, dtype: Dtype) -> KernelTime {
        let launching = self.launches * machine.floor;
        let fixed = launching + self.chain;
        let body = beside(self.compute, self.memory, self.serial);
        // A century is as good as for ever, and keeps sums of times finite.
        let p50 = (fixed + body).min(1e100);
        let bound = match () {
            () if self.link => Bound::Transfer,
            () if fixed >= body => Bound::Launch,
            () if self.compute >= self.memory => Bound::Compute,
            () => Bound::Memory,
        };
        let busy = match bound {
            Bound::Compute => self.at_peak,
            Bound::Memory => self.bytes / machine.bandwidth,
            _ => self.at_peak.max(self.bytes / machine.bandwidth),
        };
        let spread = machine.constants.spread[family as usize];
        let smallest = launching.min(p50);
        // A time that rests on a stand-in says little of how short the kernel is; the datasheet's limits do.
        let untold = 2.0 * (LARGE_CACHE_SECONDS * machine.bandwidth).max(4e6);
        let limit = (self.at_peak / SAVED).max((self.bytes - untold) / machine.bandwidth).max(0.0);
        let time = if machine.filled { smallest + limit } else { p50 };
        // The spreads were fitted on GPUs.
        let short = if machine.device.kind == DeviceKind::Gpu && smallest > 0.0 {
            1.0 + spread.short * libm::sqrt(smallest / time)
        } else {
            1.0
        };
        let doubt = self.doubt * short;
        let shared = spread.shared * doubt;
        KernelTime {
            p50: Seconds(p50),
            sigma_shared: libm::hypot(shared, machine.gaps_in(family, dtype)),
            sigma_own: spread.own * doubt,
            bound,
            flop: Flop(self.flop),
            bytes: Bytes(self.bytes),
            utilisation: if p50 > 0.0 { (busy / p50).min(1.0) } else { 0.0 },
            launches: self.launches.min(4e9) as u32,
            smallest: Seconds(smallest),
            support: machine.support(family, dtype),
        }
    }
}

/// [`overlap`], but at least the longer and the share `serial` of the shorter.
pub(super) fn beside(a: f64, b: f64, serial: f64) -> f64 {
    overlap(a, b).max(a.max(b) + serial * a.min(b))
}

/// Two activities that run side by side: the longer one, and some of the shorter where they are close (a 4-norm).
pub(super) fn overlap(a: f64, b: f64) -> f64 {
    let (long, short) = (a.max(b), a.min(b));
    if long <= 0.0 {
        return 0.0;
    }
    let square = (short / long) * (short / long);
    long * libm::sqrt(libm::sqrt(1.0 + square * square))
}

impl Support {
    /// `Emulated` if so.
    pub(super) fn or_emulated(emulated: bool) -> Self {
        if emulated { Self::Emulated } else { Self::Native }
    }
}
