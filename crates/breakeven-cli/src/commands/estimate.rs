//! `breakeven estimate`: numbers in, numbers out.

use crate::args::EstimateArgs;
use crate::failure::Outcome;
use crate::{input, output};
use breakeven::answer::answer_request;
use breakeven::estimate::Estimate;
use breakeven::request::Request;
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn estimate(args: &EstimateArgs) -> Outcome {
    let request = Request {
        today: input::today(),
        numbers: Some(args.numbers.numbers()),
        options: args.options.options()?,
        ..Request::default()
    };
    let answer = answer_request(&request)?;
    output::deliver(&answer, &args.report, args.options.top)?;
    Ok(policy(&answer))
}

/// 1 when the user's `--fail-if` policy failed.
pub(crate) fn policy(answer: &Estimate) -> ExitCode {
    ExitCode::from(u8::from(answer.policy_failed == Some(true)))
}
