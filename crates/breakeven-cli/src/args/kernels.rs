//! Arguments of `kernels`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  breakeven kernels ops.csv --gpu l4,h100-sxm5-80gb
  breakeven kernels measured.parquet --as-measured events --output timed.parquet
  printf 'op,m,n,k\\nmatmul,4096,4096,4096\\n' | breakeven kernels - --gpu a100-sxm4-80gb

Each row has an `op` and the dims that it takes; other columns are passed on. `dtype` is f32 where
nothing stands, `gpu` may be a column. Dims are counts of elements. What each op takes:
";

/// Arguments of `kernels`.
#[derive(Debug, Args)]
#[command(after_long_help = help())]
pub(crate) struct KernelsArgs {
    /// CSV (plain or gzip) or Parquet; `-` is CSV from stdin
    pub(crate) table: PathBuf,
    /// A GPU (or CPU) by any name, several apart by commas, for a table without a column `gpu`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) gpu: Vec<String>,
    /// Catalogue text that adds or overrides GPUs, CPUs, machine types, prices and places
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// What the time is to be compared with
    #[arg(long, value_enum, default_value_t, value_name = "CLOCK")]
    pub(crate) as_measured: MeasuredAs,
    /// How the table is written [default: by the name of --output, else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<TableFormat>,
    /// Write the table to this file, whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write every bad row with its number to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) errors: Option<PathBuf>,
}

/// What a time is taken with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasuredAs {
    /// Device time alone
    #[default]
    Device,
    /// Events around one eager call: with the launch floor of 25 to 100 µs
    Events,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Text, a line a row
    Csv,
    /// Columns, packed
    Parquet,
    /// breakeven.kernels/1
    Json,
}

/// The examples, and every op with its dims.
fn help() -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, needs, optional) in breakeven::table::ops() {
        let list = |dims: &[breakeven::table::Dim]| dims.iter().map(|d| d.name()).collect::<Vec<_>>().join(",");
        let dims = match optional.as_slice() {
            [] => list(&needs),
            some => format!("{} [{}]", list(&needs), list(some)),
        };
        match groups.iter_mut().find(|(known, _)| *known == dims) {
            Some((_, names)) => names.push(name),
            None => groups.push((dims, vec![name])),
        }
    }
    let lines = groups.into_iter().map(|(dims, names)| format!("  {dims}: {}\n", names.join(" ")));
    EXAMPLES.to_owned() + &lines.collect::<String>()
}
