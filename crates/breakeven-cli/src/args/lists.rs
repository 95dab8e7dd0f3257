//! Arguments of `gpus`, `cpus`, `prices` and `doctor`.

use super::Format;
use clap::Args;
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

/// Arguments of `prices`.
#[derive(Debug, Args)]
pub(crate) struct PricesArgs {
    /// Only those of this GPU or family
    pub(crate) gpu: Option<String>,
    /// Only those of this cloud
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// Only those that hold in this region
    #[arg(long, value_name = "NAME")]
    pub(crate) region: Option<String>,
    /// Spot and marketplace prices too
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
