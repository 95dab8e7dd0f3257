//! One callable of a library: what its tables say of each call.

use super::costs::Costs;
use super::table::Row;
use super::work::{Passes, Work};
use super::{Counterpart, PortProfile};
use crate::interval::Interval;
use crate::workload::Op;

/// Whether these went well for many matrices at once, the host does not ask.
const LEFT_TO_DEVICE: [&str; 3] = ["numpy.linalg.svd", "numpy.linalg.eigh", "numpy.linalg.eigvalsh"];

/// A name that was looked up, see [`PortProfile::callable`].
#[derive(Clone, Copy, Debug)]
pub struct Callable<'a> {
    /// The library.
    pub profile: &'a PortProfile,
    pub(super) name: &'a str,
    /// What becomes of it.
    pub counterpart: Counterpart<'a>,
    pub(super) row: Option<&'a Row>,
}

impl Callable<'_> {
    /// See [`PortProfile::waits`].
    pub fn waits(&self, op: &Op) -> bool {
        match op {
            Op::HostRead { .. } | Op::Synchronise => true,
            // `a[mask] = value`: how many elements that are.
            Op::Elementwise { .. } if self.name == "numpy.ndarray.__setitem__" => true,
            Op::Factor { batch: 2.., .. } if LEFT_TO_DEVICE.contains(&self.name) => false,
            _ => self.row.is_some_and(|row| row.waits),
        }
    }

    /// See [`PortProfile::launches`].
    pub fn launches(&self, op: &Op) -> u32 {
        if !op.is_array_work() || !matches!(self.counterpart, Counterpart::Device(_)) {
            return 0;
        }
        self.work(op).kernels_of(op)
    }

    /// See [`PortProfile::work`].
    pub fn work(&self, op: &Op) -> Work {
        Work {
            passes: self.row.map_or(Passes::ONE, |row| row.passes),
            kernels: self.row.and_then(|row| row.kernels),
            rounds: self.profile.batches.rounds(op),
        }
    }

    /// See [`PortProfile::dispatch`].
    pub fn dispatch(&self, op: &Op) -> Interval {
        if matches!(self.counterpart, Counterpart::View(_)) {
            return self.profile.costs.dispatch(Op::View.family());
        }
        self.handing_over(op, self.launches(op))
    }

    /// See [`PortProfile::written`].
    pub fn written(&self, op: &Op) -> (u32, Interval) {
        let launches = if op.is_array_work() { self.work(op).kernels_of(op) } else { 0 };
        (launches, self.handing_over(op, launches))
    }

    fn handing_over(&self, op: &Op, launches: u32) -> Interval {
        let (work, costs) = (self.work(op), &self.profile.costs);
        let more = f64::from(launches.saturating_sub(Costs::kernels_within(op.family())));
        let loops = costs.get("matrix").scale(work.rounds.saturating_sub(1) as f64);
        work.widened(costs.dispatch(op.family()) + costs.get("kernel").scale(more)) + loops
    }
}
