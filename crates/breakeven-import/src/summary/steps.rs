//! Steps of a loop, and those that took much longer than the others.

use super::parts::{StepTotal, Steps};
use super::seconds;
use crate::model::Trace;
use crate::spans::{Cursor, Spans};

/// A step this much longer than the one in the middle is told.
const SLOW: f64 = 1.2;
/// So many are told.
const TOLD: usize = 5;

/// Steps of one file, where `busy` has by step how long GPUs were busy and how many they are.
pub(super) fn of_trace(trace: &Trace, busy: &[(i64, u32)]) -> Vec<StepTotal> {
    let loading = Spans::of(trace.loading.clone());
    let steps = trace.steps.iter().zip(busy);
    let total = |(step, (busy, gpus)): (&crate::model::Step, &(i64, u32))| StepTotal {
        number: step.number,
        time_s: seconds(step.span.length()),
        busy_s: (*gpus > 0).then(|| seconds(*busy) / f64::from(*gpus)),
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
    let busy: Vec<f64> = steps.iter().filter_map(|step| step.busy_s).collect();
    let count = steps.len() as u64;
    let mut slow: Vec<StepTotal> = steps.into_iter().filter(|step| step.time_s > SLOW * median_s).collect();
    slow.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    slow.truncate(TOLD);
    Some(Steps { count, mean_s: mean(&lengths)?, median_s, least_s, most_s, mean_busy_s: mean(&busy), slow })
}

#[expect(clippy::cast_precision_loss, reason = "a count of steps")]
fn mean(all: &[f64]) -> Option<f64> {
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}
