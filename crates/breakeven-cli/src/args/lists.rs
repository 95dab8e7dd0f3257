//! Arguments of `gpus`.

use super::Format;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `gpus`.
#[derive(Debug, Args)]
pub(crate) struct GpusArgs {
    /// A GPU or a family by any name: `t4`, `A100 40GB`, `NVIDIA H100 80GB HBM3`
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// What lists take.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Catalogue text that adds GPUs or overrides figures
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// How the list is written
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Write the list to this file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
