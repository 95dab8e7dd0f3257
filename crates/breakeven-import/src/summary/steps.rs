//! Steps of a loop, and those that took much longer than the others.

use super::gpus::InStep;
use super::parts::{StepTotal, Steps};
use super::seconds;
use crate::model::{Step, Trace};
use crate::spans::{Cursor, Spans};

/// A step this much longer than the one in the middle is told.
const SLOW: f64 = 1.2;
/// So many are told.
const TOLD: usize = 5;

/// Steps of one file, and what GPUs did in each.
pub(super) fn of_trace(trace: &Trace, did: &[InStep]) -> Vec<StepTotal> {
    let loading = Spans::of(trace.loading.clone());
    let steps = trace.steps.iter().zip(did);
    let total = |(step, did): (&Step, &InStep)| StepTotal {
        number: step.number,
        time_s: seconds(step.span.length()),
        busy_s: did.of_each(seconds(did.busy)),
        kernel_s: did.of_each(seconds(did.kernels.ns)),
        kernels: did.of_each(number(did.kernels.count)),
        loading_s: seconds(Cursor(loading.all()).within(step.span)),
    };
    steps.map(total).collect()
}

/// What they come to.
pub(super) fn of(steps: Vec<StepTotal>) -> Option<Steps> {
    let mut lengths: Vec<f64> = steps.iter().map(|step| step.time_s).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    let (least_s, most_s) = (*lengths.first()?, *lengths.last()?);
    let median_s = f64::midpoint(lengths[(lengths.len() - 1) / 2], lengths[lengths.len() / 2]);
    let mean_of = |figure: fn(&StepTotal) -> Option<f64>| mean(&steps.iter().filter_map(figure).collect::<Vec<_>>());
    let (mean_busy_s, mean_kernel_s) = (mean_of(|step| step.busy_s), mean_of(|step| step.kernel_s));
    let mean_kernels = mean_of(|step| step.kernels);
    let count = steps.len() as u64;
    let mut slow: Vec<StepTotal> = steps.into_iter().filter(|step| step.time_s > SLOW * median_s).collect();
    slow.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    slow.truncate(TOLD);
    Some(Steps {
        count,
        mean_s: mean(&lengths)?,
        median_s,
        least_s,
        most_s,
        mean_busy_s,
        mean_kernel_s,
        mean_kernels,
        slow,
    })
}

impl InStep {
    /// An amount of all GPUs, for each; `None` where there is none.
    fn of_each(self, amount: f64) -> Option<f64> {
        (self.gpus > 0).then(|| amount / f64::from(self.gpus))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count")]
fn number(count: u64) -> f64 {
    count as f64
}

fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / number(all.len() as u64))
}
