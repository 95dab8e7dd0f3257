//! Arguments of `gpus`, `cpus`, `grids`, `prices` and `doctor`.

use super::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `gpus`.
#[derive(Debug, Args)]
#[command(after_help = "\
GPUs are listed by maker (NVIDIA, AMD, Intel, Apple), the newest generation first.

Examples:
  breakeven gpus                       every GPU
  breakeven gpus h100                  those of one family
  breakeven gpus \"RTX 3080\"            one GPU, every figure with its source
  breakeven gpus --catalogue mine.csv  with your own rows: see docs/cli.md")]
pub(crate) struct GpusArgs {
    /// A GPU or a family by any name: `t4`, `A100 40GB`, `NVIDIA H100 80GB HBM3`
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Arguments of `cpus`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  breakeven cpus                             every CPU
  breakeven cpus epyc                        those of one line
  breakeven cpus \"AMD EPYC 7763\"             one CPU, every figure with its source
  breakeven cpus --catalogue mine.csv        with your own rows: see docs/cli.md
  breakeven run heat.py --host-cpu graviton4 the GPU in a machine with that CPU")]
pub(crate) struct CpusArgs {
    /// A CPU or a line by any name: `7763`, `Ryzen 9 7950X`, what `/proc/cpuinfo` calls it
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// Arguments of `grids`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  breakeven grids                        every country, state and cloud region
  breakeven grids eu-north-1             one place, every figure with its source
  breakeven grids --catalogue mine.csv   with your own rows: see docs/cli.md
  breakeven run heat.py --region SE      a run there")]
pub(crate) struct GridsArgs {
    /// A place by any name: `Germany`, `DE`, `California`, `eu-west-1`
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// What `prices` does beside listing them.
#[derive(Debug, Subcommand)]
pub(crate) enum PricesAction {
    /// Fetch today's price lists, or read your own: the only command that opens a connection
    Update(UpdateArgs),
}

/// Arguments of `prices update`.
#[derive(Debug, Args)]
#[command(after_help = "\
Prices go into $XDG_DATA_HOME/breakeven/prices.csv (~/.local/share), each with its day and source, and lie on top of
those that are built in; BREAKEVEN_PRICES=FILE takes that file, BREAKEVEN_PRICES= none.

Read are CSV of SkyPilot, gpuhunt and breakeven, JSON of Infracost, and the price tables of the Karpenter providers. A
proxy is taken from HTTPS_PROXY or ALL_PROXY.

Examples:
  breakeven prices update                           the lists of AWS, Google Cloud and Azure
  breakeven prices update --from vms.csv --provider lambda
  breakeven prices update --from https://example.org/gpus.csv")]
pub(crate) struct UpdateArgs {
    /// A file, or an address that begins with https://, instead of the lists that are known; again for more
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Vec<String>,
    /// Whose prices they are, where the list does not say
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Seconds after which a list is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
}

/// Arguments of `prices`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PricesArgs {
    #[command(subcommand)]
    pub(crate) action: Option<PricesAction>,
    /// Only those of this GPU or family
    pub(crate) gpu: Option<String>,
    /// Only those of this cloud
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Only those that hold in this region
    #[arg(long, value_name = "NAME")]
    pub(crate) region: Option<String>,
    /// Only those of clouds or of marketplaces: cloud, marketplace or all [default: all]
    #[arg(long, value_name = "CLASS")]
    pub(crate) provider_class: Option<String>,
    /// Spot prices too
    #[arg(long)]
    pub(crate) spot: bool,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// What lists take.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Catalogue text that adds or overrides GPUs, CPUs, machine types, prices and places
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// How the list is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Write the list to this file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The Python to look at [default: the one that `run` would take]
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
}
