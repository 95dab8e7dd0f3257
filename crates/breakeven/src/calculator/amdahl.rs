//! A program of which only the CPU's time is known: the limit that Amdahl's law sets any GPU, and the work that such a
//! time usually is.

use super::kind::{self, kind_name};
use super::terms::Given;
use super::{cpu_side, without_gpus};
use crate::Result;
use crate::choice::Choice;
use crate::estimate::{Estimate, Note, WorkloadSummary, summary};
use crate::report::words;
use crate::request::{Kind, Request};
use crate::workload::Dtype;

/// The work that `time` seconds of this kind are on the CPU, FLOP, by what CPUs reach of their peak; `None` where that of this
/// one is not known.
pub(super) fn work(time: f64, kind: Kind, dtype: Dtype, choice: &Choice) -> Option<(f64, Note)> {
    let flop = time * kind::reached(kind, dtype, &choice.cpu.device)?.p50;
    let text = format!(
        "the work is not known: {} of {} are taken for {}, what this CPU usually does in that time",
        words::seconds(time),
        kind_name(kind),
        words::flop(flop)
    );
    Some((flop, Note::new("assumed-work", text)))
}

/// The most that any GPU can gain where `parallel_fraction` of the CPU's `time` can run on one.
///
/// # Errors
/// As [`summary::finish`].
pub(super) fn limit(
    given: &Given,
    time: f64,
    choice: &Choice,
    mut notes: Vec<Note>,
    request: &Request,
) -> Result<Estimate> {
    let serial = 1.0 - given.parallel_fraction.unwrap_or(1.0);
    let text = if serial > 0.0 {
        format!(
            "at most {} faster on any GPU: {} of the {} stay on the CPU ({})",
            words::times(1.0 / serial),
            words::percent(serial),
            words::seconds(time),
            words::seconds(serial * time)
        )
    } else {
        "all of it can run on a GPU: nothing limits the gain but the GPU".to_owned()
    };
    notes.retain(|note| note.code != "no-price");
    notes.push(Note::new("amdahl-limit", text));
    notes.push(Note::new("assumed-kind", "`--kind simulation` (or training, inference, array) gives an estimate"));
    let work = WorkloadSummary { name: "given".to_owned(), ops: 1, coverage: 1.0, ..WorkloadSummary::default() };
    let mut estimate = Estimate { notes, ..without_gpus(work, cpu_side(given, choice)?.baseline(), request) };
    summary::finish(&mut estimate, &request.options)?;
    Ok(estimate)
}
