//! The command `breakeven`.
//!
//! A thin face: it turns arguments into a [`breakeven::request::Request`], hands it to the engine and writes what comes
//! back. Results go to stdout, all else to stderr; `run` is the exception, for stdout belongs to the script.
//!
//! Exit codes: 0 success, 1 a policy the user set failed (`--fail-if`), 2 bad input, 130 Ctrl-C; `run` passes on the
//! script's own.

mod args;
mod commands;
mod config;
mod cores;
mod failure;
mod fetch;
mod input;
mod interrupt;
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
        Command::Estimate(_) | Command::Run(_) | Command::Show(_) | Command::Kernels(_) | Command::Config
    );
    let settings = match Settings::read(takes_settings && !cli.no_config) {
        Ok(settings) => settings,
        Err(failure) => return failure.report(),
    };
    if !matches!(cli.command, Command::Run(_) | Command::Serve(_)) {
        interrupt::watch();
    }
    let done = match cli.command {
        Command::Estimate(args) => commands::estimate(&args, &settings),
        Command::Run(args) => commands::run(&args, &settings),
        Command::Show(args) => commands::show(&args, &settings),
        Command::Kernels(args) => commands::kernels(&args, &settings),
        Command::Config => commands::config(&settings),
        Command::Import(args) => commands::import(&args),
        Command::Diff(args) => commands::diff(&args),
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
