//! `breakeven completions SHELL`.

use crate::args::Cli;
use crate::failure::Outcome;
use crate::output;
use clap::CommandFactory;
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn completions(shell: clap_complete::Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "breakeven", &mut script);
    output::write_to(None, &script)?;
    Ok(ExitCode::SUCCESS)
}
