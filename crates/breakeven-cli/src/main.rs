//! The command `breakeven`.
//!
//! A thin face: it turns arguments into a [`breakeven::request::Request`], hands it to the engine and writes what comes
//! back. Results go to stdout, all else to stderr; `run` and `watch -- COMMAND` are the exceptions, for stdout belongs to what they start.
//!
//! Exit codes: 0 success, 1 a policy the user set failed (`--fail-if`) or two sides disagree (`measure`), 2 bad input, 3 no
//! GPU to measure, 130 Ctrl-C; `run` and `watch` pass on that of what they start.

mod args;
mod calibrate;
mod commands;
mod config;
mod cores;
mod failure;
mod fetch;
mod input;
mod interrupt;
mod measure;
mod output;
mod own_prices;
mod record;

use args::{Cli, Command};
use clap::Parser;
use config::Settings;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = args::join_negative(args::split_script(std::env::args_os().collect()));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    // The other commands take no settings, and a wrong file is no matter of theirs.
    let takes_settings = matches!(
        cli.command,
        Command::Estimate(_)
            | Command::Run(_)
            | Command::Measure(_)
            | Command::Show(_)
            | Command::Import(_)
            | Command::Kernels(_)
            | Command::Config
    );
    let settings = match Settings::read(takes_settings && !cli.no_config) {
        Ok(settings) => settings,
        Err(failure) => return failure.report(),
    };
    if !matches!(
        cli.command,
        Command::Run(_) | Command::Measure(_) | Command::Calibrate(_) | Command::Serve(_) | Command::Watch(_)
    ) {
        interrupt::watch();
    }
    let done = match cli.command {
        Command::Estimate(args) => commands::estimate(&args, &settings),
        Command::Run(args) => commands::run(&args, &settings),
        Command::Measure(args) => commands::measure(&args, &settings),
        Command::Calibrate(args) => commands::calibrate(&args),
        Command::Show(args) => commands::show(&args, &settings),
        Command::Kernels(args) => commands::kernels(&args, &settings),
        Command::Config => commands::config(&settings),
        Command::Import(args) => commands::import(&args, &settings),
        Command::Watch(args) => commands::watch(&args),
        Command::Diff(args) => commands::diff(&args),
        Command::Plan(args) => commands::plan(&args),
        Command::Fleet(args) => commands::fleet(&args),
        Command::Gpus(args) => commands::gpus(&args),
        Command::Cpus(args) => commands::cpus(&args),
        Command::Prices(args) => commands::prices(&args),
        Command::Grids(args) => commands::grids(&args),
        Command::Serve(args) => commands::serve(&args),
        Command::Doctor(args) => commands::doctor(&args),
        Command::Completions { shell } => commands::completions(shell),
    };
    done.unwrap_or_else(|failure| settings.placed(failure).report())
}
