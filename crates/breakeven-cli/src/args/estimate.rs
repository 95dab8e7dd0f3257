//! Arguments of `estimate`: the calculator's inputs.

use super::options::typed;
use super::{OptionArgs, ReportArgs};
use breakeven::request::Numbers;
use clap::Args;

/// Arguments of `estimate`.
#[derive(Debug, Args)]
#[command(after_help = ESTIMATE_EXAMPLES)]
pub(crate) struct EstimateArgs {
    #[command(flatten)]
    pub(crate) numbers: NumberArgs,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

const ESTIMATE_EXAMPLES: &str = "\
Quantities are written as people type them: `10,000 GFLOPS`, `3.5TFLOP`, `80GiB`, `16GB/s`, `1h30m`, `40%`.
A bare number is in the base unit: FLOP, bytes, seconds, FLOP/s, B/s, W, $/h, or a share from 0 to 1.

A size (--matmul, --elements, --rows, --parameters) is estimated as the program that it means, as `run` would;
--gpus, --pcie, --link, --init and --parallel-fraction change that machine. Figures of your own (--flops, --peak,
--utilization and the like) are for one formula, which --explain prints.

Examples:
  A product of two matrices of 8000 rows:
    breakeven estimate --matmul 8000 --gpu l4

  Training 7 billion parameters, and what memory it needs:
    breakeven estimate --parameters 7B --tokens 1B --precision bf16 --gpu h100-sxm

  A program that takes three hours, of which 80 % could run on a GPU:
    breakeven estimate --cpu-time 3h --parallel-fraction 80%

  10 TFLOP of work on 1 GB of data, on a card whose rate is given:
    breakeven estimate --flops \"10,000 GFLOPS\" --data 1GB --cpu-rate 400GFLOP/s --gpu \"RTX 3080\" \\
      --peak 12.5TFLOP/s --utilization 100% --python-overhead 0 --link 32GB/s --data-out 0 --init 468.75ms
    19× faster on GeForce RTX 3080 10GB: 1.3 s against 25 s on the CPU · $0.029 per 1 000 runs · 0.12 Wh

  The same work on every GPU of the catalogue, the cheapest first:
    breakeven estimate --flops 10TFLOP --data 1GB --cpu-rate 400GFLOP/s --sort cost

  How the figures come about:
    breakeven estimate --flops 10TFLOP --cpu-rate 400GFLOP/s --gpu l4 --explain

  Does a billion values fit?
    breakeven estimate --values 1e9 --gpu t4";

/// The work, the CPU and the GPU as numbers.
#[derive(Debug, Args)]
pub(crate) struct NumberArgs {
    /// Arithmetic in all: `10,000 GFLOPS`
    #[arg(long, value_name = "FLOP", help_heading = "Work", allow_negative_numbers = true)]
    flops: Option<String>,
    /// Instead of --flops: a product of two matrices of N rows and columns
    #[arg(long, alias = "matrix", value_name = "N", help_heading = "Work", allow_negative_numbers = true)]
    matmul: Option<String>,
    /// Instead of --flops: a transformer of so many parameters, with --tokens (training) or --new-tokens (inference)
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    parameters: Option<String>,
    /// Tokens that the training sees
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    tokens: Option<String>,
    /// Tokens of a sequence in training, of a prompt in inference [default: 2048]
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    context: Option<String>,
    /// Tokens that inference makes one by one
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    new_tokens: Option<String>,
    /// Sequences at a time [default: 1]
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    batch: Option<String>,
    /// Training keeps each layer's input alone and computes its activations anew
    #[arg(long, help_heading = "Work")]
    checkpointing: bool,
    /// Instead of --flops: arithmetic on each of so many array elements
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    elements: Option<String>,
    /// Operations on each element [default: 1]
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    operations: Option<String>,
    /// Instead of --flops: a verb over a dataframe of so many rows, by pandas and by cuDF
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    rows: Option<String>,
    /// group-by, join, sort, filter or contains [default: group-by]
    #[arg(long, value_name = "VERB", help_heading = "Work")]
    verb: Option<String>,
    /// Columns of the dataframe [default: 10]
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    columns: Option<String>,
    /// Bytes that the work moves through memory: `2TB`
    #[arg(long, value_name = "BYTES", help_heading = "Work", allow_negative_numbers = true)]
    bytes: Option<String>,
    /// Copied to the GPU: `1GB`
    #[arg(long, value_name = "BYTES", help_heading = "Work", allow_negative_numbers = true)]
    data: Option<String>,
    /// Copied back [default: as much as --data, or the result of a size]
    #[arg(long, value_name = "BYTES", help_heading = "Work", allow_negative_numbers = true)]
    data_out: Option<String>,
    /// Values held in memory: shows the footprint by precision
    #[arg(long, value_name = "COUNT", help_heading = "Work", allow_negative_numbers = true)]
    values: Option<String>,
    /// training, inference, simulation or array
    #[arg(long, value_name = "KIND", help_heading = "Work")]
    kind: Option<String>,
    /// fp64, fp32, tf32, fp16, bf16, fp8 or int8 [default: fp32]
    #[arg(long, value_name = "TYPE", help_heading = "Work")]
    precision: Option<String>,
    /// Share of the CPU time that can run on a GPU: `80%`
    #[arg(long, value_name = "SHARE", help_heading = "Work", allow_negative_numbers = true)]
    parallel_fraction: Option<String>,

    /// What the CPU reaches: `400GFLOP/s`
    #[arg(long, value_name = "RATE", help_heading = "CPU", allow_negative_numbers = true)]
    cpu_rate: Option<String>,
    /// What the CPU takes, `25s`; alone with --parallel-fraction it gives Amdahl's limit, with --cpu-rate the work
    #[arg(long, value_name = "TIME", help_heading = "CPU", allow_negative_numbers = true)]
    cpu_time: Option<String>,

    /// GPUs used together
    #[arg(long, value_name = "N", help_heading = "GPU", allow_negative_numbers = true)]
    gpus: Option<String>,
    /// Efficiency of each further GPU [default: 0.9]
    #[arg(long, value_name = "SHARE", help_heading = "GPU", allow_negative_numbers = true)]
    scaling_efficiency: Option<String>,
    /// Peak rate, instead of the catalogue's: `12.5TFLOP/s`
    #[arg(long, value_name = "RATE", help_heading = "GPU", allow_negative_numbers = true)]
    peak: Option<String>,
    /// Memory bandwidth, instead of the catalogue's: `760GB/s`
    #[arg(long, value_name = "RATE", help_heading = "GPU", allow_negative_numbers = true)]
    bandwidth: Option<String>,
    /// Share of the peak that is reached: `40%` [default: what the model says]
    #[arg(
        long,
        visible_alias = "utilisation",
        value_name = "SHARE",
        help_heading = "GPU",
        allow_negative_numbers = true
    )]
    utilization: Option<String>,
    /// Share of the GPU time lost to Python [default: 0.10]
    #[arg(long, value_name = "SHARE", help_heading = "GPU", allow_negative_numbers = true)]
    python_overhead: Option<String>,
    /// Factor for the kind of work, instead of the table's
    #[arg(long, value_name = "FACTOR", help_heading = "GPU", allow_negative_numbers = true)]
    workload_factor: Option<String>,
    /// Factor for the precision, instead of the table's
    #[arg(long, value_name = "FACTOR", help_heading = "GPU", allow_negative_numbers = true)]
    precision_factor: Option<String>,
    /// Rate that copies from page-locked memory reach: `32GB/s`
    #[arg(long, value_name = "RATE", help_heading = "GPU", allow_negative_numbers = true)]
    link: Option<String>,
    /// The link by its name: `4.0`, `5.0 x8`
    #[arg(long, value_name = "VERSION", help_heading = "GPU", conflicts_with = "link")]
    pcie: Option<String>,
    /// Initialisation [default: what the library's start-up is taken to be]
    #[arg(long, value_name = "TIME", help_heading = "GPU", allow_negative_numbers = true)]
    init: Option<String>,
}

impl NumberArgs {
    /// As the engine takes them.
    pub(crate) fn numbers(&self) -> Numbers {
        let Self {
            flops,
            matmul,
            parameters,
            tokens,
            context,
            new_tokens,
            batch,
            checkpointing,
            elements,
            operations,
            rows,
            verb,
            columns,
            bytes,
            data,
            data_out,
            values,
            kind,
            precision,
            parallel_fraction,
            cpu_rate,
            cpu_time,
            gpus,
            scaling_efficiency,
            peak,
            bandwidth,
            utilization,
            python_overhead,
            workload_factor,
            precision_factor,
            link,
            pcie,
            init,
        } = self;
        Numbers {
            flops: typed(flops.as_ref()),
            matmul: typed(matmul.as_ref()),
            parameters: typed(parameters.as_ref()),
            tokens: typed(tokens.as_ref()),
            context: typed(context.as_ref()),
            new_tokens: typed(new_tokens.as_ref()),
            batch: typed(batch.as_ref()),
            checkpointing: *checkpointing,
            elements: typed(elements.as_ref()),
            operations: typed(operations.as_ref()),
            rows: typed(rows.as_ref()),
            verb: verb.clone(),
            columns: typed(columns.as_ref()),
            bytes: typed(bytes.as_ref()),
            data: typed(data.as_ref()),
            data_out: typed(data_out.as_ref()),
            values: typed(values.as_ref()),
            kind: kind.clone(),
            precision: precision.clone(),
            parallel_fraction: typed(parallel_fraction.as_ref()),
            cpu_rate: typed(cpu_rate.as_ref()),
            cpu_time: typed(cpu_time.as_ref()),
            gpus: typed(gpus.as_ref()),
            scaling_efficiency: typed(scaling_efficiency.as_ref()),
            peak: typed(peak.as_ref()),
            bandwidth: typed(bandwidth.as_ref()),
            utilization: typed(utilization.as_ref()),
            python_overhead: typed(python_overhead.as_ref()),
            workload_factor: typed(workload_factor.as_ref()),
            precision_factor: typed(precision_factor.as_ref()),
            link: typed(link.as_ref()),
            pcie: typed(pcie.as_ref()),
            init: typed(init.as_ref()),
        }
    }
}
