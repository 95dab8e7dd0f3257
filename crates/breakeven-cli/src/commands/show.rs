//! `breakeven show FILE…`: saved workloads again.

use super::{drawing, estimate::policy};
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
        options: Options { timeline: args.drawing.wanted(), ..args.options.options()? },
    };
    let mut answer = output::working("estimating", || answer_request(&request))?;
    if let Some(workload) = &request.workload {
        drawing::write(&args.drawing, workload, &request.options, &mut answer)?;
    }
    output::deliver(&answer, &args.report, args.options.top)?;
    Ok(policy(&answer))
}
