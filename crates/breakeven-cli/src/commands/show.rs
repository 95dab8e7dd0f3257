//! `breakeven show FILE…`: saved workloads again.

use super::{estimate::policy, timeline};
use crate::args::ShowArgs;
use crate::failure::{Failure, Outcome};
use crate::{input, output};
use breakeven::answer::answer_request;
use breakeven::request::{Options, Request};
use breakeven::workload::merge::merge;

/// Runs the command.
pub(crate) fn show(args: &ShowArgs) -> Outcome {
    let parts = output::working("reading", || {
        args.files.iter().map(|file| input::workload(file)).collect::<Result<Vec<_>, Failure>>()
    })?;
    let request = Request {
        today: input::today(),
        numbers: None,
        workload: merge(parts).map(Box::new),
        options: Options { timeline: args.timeline.timeline, ..args.options.options()? },
    };
    let answer = output::working("estimating", || answer_request(&request))?;
    if let Some(workload) = &request.workload {
        timeline::write(&args.timeline, workload, &request.options, &answer)?;
    }
    output::deliver(&answer, &args.report, args.options.top)?;
    Ok(policy(&answer))
}
