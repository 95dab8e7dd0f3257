//! The arguments. Quantities stay text: the engine reads them, so that every face gives the same messages.

mod calibrate;
mod diff;
mod estimate;
mod fleet;
mod import;
mod kernels;
mod lists;
mod measure;
mod negative;
mod options;
mod plan;
mod report;
mod run;
mod serve;
mod split;
mod watch;

pub(crate) use calibrate::{CalibrateArgs, CalibrateFormat};
pub(crate) use diff::DiffArgs;
pub(crate) use estimate::EstimateArgs;
pub(crate) use fleet::{FleetArgs, FleetFormat};
pub(crate) use import::{ImportArgs, TraceFormat};
pub(crate) use kernels::{KernelsArgs, MeasuredAs, TableFormat};
pub(crate) use lists::{CpusArgs, DoctorArgs, GpusArgs, GridsArgs, PricesAction, PricesArgs, UpdateArgs};
pub(crate) use measure::{MeasureArgs, MeasureFormat};
pub(crate) use negative::join_negative;
pub(crate) use options::{OptionArgs, ProgramArgs};
pub(crate) use plan::{PlanArgs, PlanFormat};
pub(crate) use report::{Color, Format, ReportArgs};
pub(crate) use run::{DrawingArgs, Fake, Recorder, RunArgs, ShowArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use split::split_script;
pub(crate) use watch::{WatchArgs, WatchFormat};

use clap::{Parser, Subcommand};

/// Would this Python calculation pay on a GPU? On which one, how fast, at what cost and energy, what holds it back?
#[derive(Debug, Parser)]
#[command(name = "breakeven", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Start with `breakeven run SCRIPT`, or with numbers: `breakeven estimate --help`.")]
pub(crate) struct Cli {
    /// Leave out every file of settings: see `breakeven config`
    #[arg(long, global = true)]
    pub(crate) no_config: bool,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Numbers in, numbers out: GPU time, speedup, cost and energy of work that you describe
    Estimate(Box<EstimateArgs>),
    /// Run a Python script as it is, then report what it would do on GPUs
    Run(Box<RunArgs>),
    /// Run a Python script on the CPU and on the GPU of this machine: the times of both, and whether their results agree
    Measure(Box<MeasureArgs>),
    /// Measure what this machine takes for array work: every estimate for it then rests on that
    Calibrate(CalibrateArgs),
    /// Report on a saved workload again: other GPUs, other prices
    Show(Box<ShowArgs>),
    /// A table of kernels (CSV or Parquet): the time of each row on each GPU
    Kernels(KernelsArgs),
    /// A trace that another tool recorded on a GPU: what the GPU did, and what held it back
    Import(Box<ImportArgs>),
    /// Watch the GPUs of this machine, or while a command runs: use, power and energy, and what held them back
    Watch(WatchArgs),
    /// What changed between two traces: time, kernels, launches, copies, what held the GPU back
    Diff(DiffArgs),
    /// What to buy or rent for runs a month and their deadlines: options side by side, the cheapest mix, rent against buy
    Plan(Box<PlanArgs>),
    /// Job logs of a cluster: which jobs waste their GPUs, by what evidence, what that costs, and what to do
    Fleet(Box<FleetArgs>),
    /// The GPUs of the catalogue, or all that is known of one
    Gpus(GpusArgs),
    /// The CPUs of the catalogue, or all that is known of one
    Cpus(CpusArgs),
    /// What GPUs rent for, how old the prices are and where they come from
    Prices(PricesArgs),
    /// Carbon, cooling and price of electricity of the places of the catalogue
    Grids(GridsArgs),
    /// The page and the HTTP API on this machine, until Ctrl-C
    Serve(ServeArgs),
    /// Settings that hold where an option is not given, and the files they come from
    #[command(after_help = CONFIG)]
    Config,
    /// What was found on this machine, and how to mend what is missing
    Doctor(DoctorArgs),
    /// Completions for a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
}

const CONFIG: &str = "\
Options win over breakeven.toml of the working folder, or of a parent up to the root of the git repository, and that over
breakeven/config.toml in $XDG_CONFIG_HOME or ~/.config. BREAKEVEN_CONFIG=FILE takes that file alone.

Example of a file:
  gpu = [\"l4\", \"h100-sxm\"]
  region = \"eu-west-1\"
  provider = \"AWS\"
  runs-per-month = 3000
  electricity = 0.25";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        super::Cli::command().debug_assert();
    }
}
