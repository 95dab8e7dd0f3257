//! `breakeven estimate`: numbers in, numbers out.

use crate::args::EstimateArgs;
use crate::config::Settings;
use crate::failure::{Outcome, say};
use crate::{input, output};
use breakeven::answer::answer_request;
use breakeven::estimate::Estimate;
use breakeven::request::Request;
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn estimate(args: &EstimateArgs, settings: &Settings) -> Outcome {
    let request = Request {
        today: input::today(),
        numbers: Some(args.numbers.numbers()),
        options: args.options.options(settings)?,
        machine: Some(input::machine()),
        ..Request::default()
    };
    let answer = answer_request(&request)?;
    output::deliver(&answer, &args.report)?;
    Ok(policy(&answer))
}

/// 1 when the user's `--fail-if` policy failed, which stderr says.
pub(crate) fn policy(answer: &Estimate) -> ExitCode {
    let failed = answer.policy_failed == Some(true);
    if failed {
        let asked = answer.options["fail_if"].as_str().unwrap_or_default();
        say(&format!("--fail-if: `{asked}` holds, or is not known"));
    }
    ExitCode::from(u8::from(failed))
}
