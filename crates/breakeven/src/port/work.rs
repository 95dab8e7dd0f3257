//! How a library does one call: kernels, passes over the arrays, matrices of a batch one after the other.
//!
//! A kernel model knows one pass over the arrays. What a library makes of a call (a median of labels: a loop over the
//! labels, in each a comparison, a choice and a sort) is in its table, counted from its source; what nobody counted is
//! a decade wide.

use crate::hardware::DeviceKind;
use crate::interval::{Interval, Z90};
use crate::kernel::{self, Bound, KernelTime, Machine, entry_time_on};
use crate::units::Seconds;
use crate::workload::{Entry, Op};

/// What nobody counted: the op itself at least, or several times of it.
pub(super) const UNCOUNTED: Interval = Interval { p10: 0.7, p50: 2.0, p90: 7.0 };
/// Labels up to which CuPy's `_select` loops over them (30, or 15 with places or medians); beyond it sorts.
const LOOPED_LABELS: f64 = 30.0;
/// Passes of that sort: two keys, some twenty merges each, and what is taken in that order.
const SORTED_LABELS: f64 = 150.0;
/// Passes of a mask, and of choosing by it.
const MASKED: f64 = 5.0;

/// Passes over the arrays that an op reads and writes, in the table's column `passes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Passes {
    /// So many: `4`, or `2..20`, or `?`, which nobody counted.
    Times(Interval),
    /// `rows:10`: so many where the op has more than one row, else one and a half.
    Rows(f64),
    /// `blocks`: one block of threads folds each result ([`kernel::folded_by_blocks`]).
    Blocks,
    /// `labels:2`: each element adds to its label's sum so often; a single result is a mask and so many folds.
    Labels(f64),
    /// `each:6`: so many for each result, up to [`LOOPED_LABELS`].
    Each(f64),
}

impl Passes {
    pub(super) const ONE: Self = Self::Times(Interval { p10: 1.0, p50: 1.0, p90: 1.0 });

    /// Reads the column; nothing is one pass.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
        Some(match (text, text.split_once(':'), text.split_once("..")) {
            ("", ..) => Self::ONE,
            ("?", ..) => Self::Times(UNCOUNTED),
            ("blocks", ..) => Self::Blocks,
            (_, Some(("rows", times)), _) => Self::Rows(number(times)?),
            (_, Some(("labels", times)), _) => Self::Labels(number(times)?),
            (_, Some(("each", times)), _) => Self::Each(number(times)?),
            (_, _, Some((low, high))) => {
                let (p10, p90) = (number(low)?, number(high)?);
                (p10 <= p90).then(|| Self::Times(Interval { p10, p50: libm::sqrt(p10 * p90), p90 }))?
            }
            _ => Self::Times(Interval::exact(number(text)?)),
        })
    }

    /// How often the op's own pass is made.
    fn times(self, op: &Op) -> Interval {
        // Labels of unknown sizes, and masks of unknown length.
        let about = |passes: f64| Interval { p10: passes / 2.0, p50: passes, p90: passes * 2.0 };
        match (self, op) {
            (Self::Times(times), _) => times,
            (Self::Rows(times), Op::Scan { rows: 2.., .. }) => about(times),
            (Self::Rows(_), _) => about(1.5),
            (Self::Labels(times), Op::Reduce { out: ..=1, .. }) => about(MASKED * times),
            (Self::Each(times), Op::Reduce { out, .. }) => match *out as f64 {
                out if out <= 1.0 => about(MASKED + times),
                out if out <= LOOPED_LABELS => about((MASKED + times) * out),
                _ => about(SORTED_LABELS),
            },
            _ => Interval::exact(1.0),
        }
    }
}

/// How a library does one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    pub(super) passes: Passes,
    /// Kernels of one round, where the table says.
    pub(super) kernels: Option<u32>,
    /// Calls of the routine that the host makes one after the other: the matrices of a batch.
    pub(super) rounds: u64,
}

impl Work {
    /// Device time of one run of an entry.
    pub fn time(&self, entry: &Entry, machine: &Machine) -> KernelTime {
        if machine.device().kind == DeviceKind::Cpu || !entry.op.is_array_work() {
            return entry_time_on(machine, entry);
        }
        let one = self.one_round(entry);
        let mut time = entry_time_on(machine, one.as_ref().unwrap_or(entry));
        let passes = self.passes.times(&entry.op);
        let floor = time.smallest.get() / f64::from(time.launches.max(1));
        let known = u32::try_from(entry.kernels).unwrap_or(u32::MAX);
        let kernels = match known {
            0 => time.launches.max(self.kernels_of(&entry.op)),
            known if self.rounds > 1 => time.launches.max(known),
            known => known.max(1),
        };
        let smallest = floor * f64::from(kernels);
        let own = (time.p50.get() - time.smallest.get()).max(0.0) * passes.p50;
        let body = own + self.beside(entry, machine);
        if smallest > body && matches!(time.bound, Bound::Compute | Bound::Memory) {
            time.bound = Bound::Launch;
        }
        let sigma = libm::log(passes.p90 / passes.p10) / (2.0 * Z90);
        let rounds = self.rounds as f64;
        KernelTime {
            p50: Seconds((smallest + body) * rounds),
            smallest: Seconds(smallest * rounds),
            sigma_own: libm::hypot(time.sigma_own, sigma),
            launches: u32::try_from(u64::from(kernels).saturating_mul(self.rounds)).unwrap_or(u32::MAX),
            ..time
        }
    }

    /// Kernels of one round by the table, and how often that is for each result.
    pub(super) fn kernels_of(&self, op: &Op) -> u32 {
        let kernels = self.kernels.unwrap_or(1);
        match (self.passes, op) {
            (_, Op::Routine { parts }) => {
                parts.iter().fold(0, |sum: u32, part| sum.saturating_add(u32::try_from(part.count).unwrap_or(u32::MAX)))
            }
            (Passes::Each(_), Op::Reduce { out, .. }) if (*out as f64) <= LOOPED_LABELS => {
                kernels.saturating_mul(u32::try_from(*out).unwrap_or(1).max(1))
            }
            _ => kernels,
        }
    }

    /// Host time that rests on kernels which nobody counted is as wide as they.
    pub(super) fn widened(&self, time: Interval) -> Interval {
        match self.passes {
            Passes::Times(UNCOUNTED) => {
                let wide = |factor: f64| factor / UNCOUNTED.p50;
                Interval {
                    p10: time.p10.min(time.p50 * wide(UNCOUNTED.p10)),
                    p50: time.p50,
                    p90: time.p90.max(time.p50 * wide(UNCOUNTED.p90)),
                }
            }
            _ => time,
        }
    }

    /// Seconds of what is no pass over the arrays.
    fn beside(&self, entry: &Entry, machine: &Machine) -> f64 {
        match (self.passes, &entry.op) {
            (Passes::Blocks, Op::Reduce { n, out, .. }) => kernel::folded_by_blocks(machine, *n as f64, *out as f64),
            (Passes::Labels(times), Op::Reduce { n, out: out @ 2.., .. }) => {
                times * kernel::added_to_labels(machine, *n as f64, *out as f64)
            }
            _ => 0.0,
        }
    }

    /// The entry with one matrix of the batch.
    fn one_round(&self, entry: &Entry) -> Option<Entry> {
        let Op::Factor { kind, m, n, rhs, .. } = entry.op else { return None };
        (self.rounds > 1).then(|| Entry {
            op: Op::Factor { kind, m, n, rhs, batch: 1 },
            read_bytes: entry.read_bytes / self.rounds,
            written_bytes: entry.written_bytes / self.rounds,
            ..entry.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::hardware::Catalogue;
    use crate::port::{PortProfile, cupy, named};
    use crate::workload::op::Factor;

    fn entry(name: &str, op: &Op, dtype: &str) -> Entry {
        let op = serde_json::to_value(op).unwrap();
        serde_json::from_value(serde_json::json!({"site": 0, "name": name, "op": op, "dtype": dtype, "count": 1}))
            .unwrap()
    }

    /// Host and device in seconds, one of which hides the other.
    fn seconds(library: &PortProfile, name: &str, op: &Op, dtype: &str, gpu: &str) -> f64 {
        let gpu = &Catalogue::embedded().gpu(gpu).unwrap().device;
        let device = library.work(name, op).time(&entry(name, op, dtype), &Machine::of(gpu)).p50.get();
        device.max(library.dispatch(name, op).p50)
    }

    fn within_three_times(is: f64, seen: f64) {
        assert!(is < 3.0 * seen && is > seen / 3.0, "{is} s, seen {seen} s");
    }

    /// What users of PyTorch have seen.
    #[test]
    fn stacks_of_matrices_take_as_long_as_their_loop() {
        let torch = named("torch").unwrap();
        let qr = Op::Factor { kind: Factor::Qr, m: 3, n: 3, rhs: 0, batch: 270_000 };
        within_three_times(seconds(torch, "aten.linalg_qr", &qr, "f32", "h100-sxm5-80gb"), 8.1);
        within_three_times(seconds(torch, "aten.linalg_qr", &qr, "f32", "rtx-3090"), 270_000.0 * 26e-6);
        let svd = Op::Factor { kind: Factor::Svd, m: 60, n: 3, rhs: 0, batch: 1000 };
        within_three_times(seconds(torch, "aten._linalg_svd", &svd, "f32", "h100-sxm5-80gb"), 0.221);
        // Small ones are taken at once.
        let small = Op::Factor { kind: Factor::Svd, m: 30, n: 3, rhs: 0, batch: 1000 };
        assert!(seconds(torch, "aten._linalg_svd", &small, "f32", "h100-sxm5-80gb") < 0.02);
    }

    #[test]
    fn sums_of_labels_wait_for_each_other() {
        let sum = |out| {
            let op = Op::Reduce { n: 1 << 24, out, flop_per_element: 2.0 };
            seconds(cupy(), "scipy.ndimage.sum_labels", &op, "f64", "v100-sxm2-16gb")
        };
        // Two labels: half of 40 ms each, side by side; then the cache's parts; then the search among them.
        within_three_times(sum(2), 0.02);
        assert!(sum(100) < 0.2 * sum(2) && sum(100_000) > 2.0 * sum(100), "{} {}", sum(100), sum(100_000));
    }

    #[test]
    fn a_variance_of_everything_is_folded_by_one_block() {
        let op = |out| Op::Reduce { n: 1_000_000, out, flop_per_element: 4.0 };
        let all = seconds(cupy(), "numpy.var", &op(1), "f64", "h100-sxm5-80gb");
        within_three_times(all, 488e-6);
        assert!(seconds(cupy(), "numpy.var", &op(1000), "f64", "h100-sxm5-80gb") < 0.2 * all);
    }

    #[test]
    fn passes_are_read() {
        assert_eq!(Passes::parse(""), Some(Passes::ONE));
        assert_eq!(Passes::parse("3"), Some(Passes::Times(Interval::exact(3.0))));
        assert_eq!(Passes::parse("2..8"), Some(Passes::Times(Interval { p10: 2.0, p50: 4.0, p90: 8.0 })));
        assert_eq!(Passes::parse("each:6"), Some(Passes::Each(6.0)));
        assert_eq!(Passes::parse("8..2"), None);
        assert_eq!(Passes::parse("many"), None);
    }

    #[test]
    fn what_nobody_counted_is_a_decade_wide() {
        let op = Op::Reduce { n: 1, out: 1, flop_per_element: 1.0 };
        let times = Passes::parse("?").unwrap().times(&op);
        assert!(times.p90 >= 10.0 * times.p10);
    }
}
