//! What a face asks: numbers or a workload, and the user's options. One JSON object, `breakeven.request/1`.

use crate::workload::Workload;
use serde::{Deserialize, Serialize};

/// A question to the engine. Exactly one of `numbers` and `workload` is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Today's date as `YYYY-MM-DD`: the core has no clock. Price ages need it.
    #[serde(default)]
    pub today: String,
    /// Numbers in, as people type them into a calculator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Numbers>,
    /// A recorded, imported or described program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Box<Workload>>,
    /// The same program run on problems of other sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Everything that is not the work itself.
    #[serde(default)]
    pub options: Options,
    /// The machine of whoever asks, where a face knows it: its CPU is what numbers are compared with unless one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// A machine as far as its system tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The CPU's name, as in `/proc/cpuinfo`.
    pub cpu: String,
    /// Logical CPUs that a process can use; 0 where that is not known.
    #[serde(default)]
    pub cpu_threads: u32,
    /// Bytes of the CPU's last cache; 0 where that is not known.
    #[serde(default)]
    pub cpu_cache_bytes: u64,
    /// Whether its vectors have 512 bits (AVX-512).
    #[serde(default)]
    pub cpu_wide: bool,
}

/// Runs of one program on problems of several sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Size of the run that is the request's `workload`; any unit, the same for all.
    pub now: f64,
    /// The other runs.
    pub others: Vec<Sized>,
}

/// A run on a problem of some size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sized {
    /// Its size.
    pub scale: f64,
    /// What was recorded.
    pub workload: Box<Workload>,
}

/// A quantity as typed: a bare number in the base unit, or text with a unit (`"10,000 GFLOPS"`, `"80GiB"`, `"40%"`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "neither a number nor text with a unit such as `10 GFLOP`")]
pub enum Typed {
    /// In the base unit: FLOP, bytes, seconds, FLOP/s, B/s, W, US dollars, a fraction.
    Number(f64),
    /// With a unit.
    Text(String),
}

impl From<&str> for Typed {
    fn from(s: &str) -> Self {
        Self::Text(s.to_owned())
    }
}

/// What kind of work, where only numbers are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Training of networks.
    Training,
    /// Inference.
    Inference,
    /// Simulation: stencils, n-body, Monte Carlo.
    Simulation,
    /// Array code in NumPy's manner.
    #[default]
    Array,
}

/// The calculator's inputs. Every field may be left out; what is given wins and is marked `given`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Numbers {
    /// Work, FLOP.
    pub flops: Option<Typed>,
    /// Instead of `flops`: a product of two matrices of n rows and columns.
    pub matmul: Option<Typed>,
    /// Instead of `flops`: a transformer of so many parameters; trained on `tokens`, or used with `context` and
    /// `new_tokens`.
    pub parameters: Option<Typed>,
    /// Tokens that the training sees.
    pub tokens: Option<Typed>,
    /// Tokens of a sequence in training, of a prompt in inference; 2048 unless given.
    pub context: Option<Typed>,
    /// Tokens that inference makes one by one.
    pub new_tokens: Option<Typed>,
    /// Sequences at a time; 1 unless given.
    pub batch: Option<Typed>,
    /// Whether training keeps no activations but each layer's input, and computes them anew.
    pub checkpointing: bool,
    /// Instead of `flops`: arithmetic on each of so many array elements.
    pub elements: Option<Typed>,
    /// Operations on each element; 1 unless given.
    pub operations: Option<Typed>,
    /// Instead of `flops`: a verb over a dataframe of so many rows.
    pub rows: Option<Typed>,
    /// What is done with the dataframe: `group-by` (default), `join`, `sort`, `filter`, `contains`.
    pub verb: Option<String>,
    /// Columns of the dataframe; 10 unless given.
    pub columns: Option<Typed>,
    /// Bytes that the work moves through device memory.
    pub bytes: Option<Typed>,
    /// Bytes copied to the device.
    pub data: Option<Typed>,
    /// Bytes copied back; the same as `data` unless given.
    pub data_out: Option<Typed>,
    /// Host link, B/s.
    pub link: Option<Typed>,
    /// Host link by its name: `4.0`, `5.0 x8`.
    pub pcie: Option<Typed>,
    /// Initialisation, s.
    pub init: Option<Typed>,
    /// Kind of work: training, inference, simulation, array.
    pub kind: Option<String>,
    /// fp64, fp32, tf32, fp16, bf16, fp8, int8.
    pub precision: Option<String>,
    /// What the CPU reaches, FLOP/s.
    pub cpu_rate: Option<Typed>,
    /// What the CPU takes, s; with `cpu_rate` and nothing else this is the work.
    pub cpu_time: Option<Typed>,
    /// Share of the CPU time that can run on the GPU, 0–1.
    pub parallel_fraction: Option<Typed>,
    /// Peak of the GPU, FLOP/s, instead of the catalogue's.
    pub peak: Option<Typed>,
    /// Device memory bandwidth, B/s, instead of the catalogue's.
    pub bandwidth: Option<Typed>,
    /// Share of the peak that is reached, 0–1.
    pub utilization: Option<Typed>,
    /// Share of the GPU time lost to Python, 0–1.
    pub python_overhead: Option<Typed>,
    /// Factor for the kind of work, instead of the table's.
    pub workload_factor: Option<Typed>,
    /// Factor for the precision, instead of the table's.
    pub precision_factor: Option<Typed>,
    /// Values held in memory: the footprint table.
    pub values: Option<Typed>,
    /// GPUs used together.
    pub gpus: Option<Typed>,
    /// Efficiency of each further GPU, 0–1; 0.9 unless given.
    pub scaling_efficiency: Option<Typed>,
}

/// Several GPUs for one run, as [`crate::several`] divides it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Divided {
    /// How many GPUs, 1–65536; the product of the layout's parts where that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<Typed>,
    /// `dp` (default for networks), `fsdp`, `zero1`, `zero2`, `zero3`, `tp=4,pp=2`, with `gpipe` or `1f1b` and `micro=8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<String>,
    /// Network of one node, one direction: `200Gb/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Typed>,
    /// GPUs of one node; 8 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_node: Option<Typed>,
    /// `weak` (default): each data-parallel rank has the recorded batch; `strong`: they share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<String>,
}

/// Options that every estimate takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// GPUs by any name; empty means all of the catalogue.
    pub gpu: Vec<String>,
    /// The baseline CPU by name, instead of the recorded or given one.
    pub cpu: Option<String>,
    /// The CPU beside the GPU; the recording CPU unless given.
    pub host_cpu: Option<String>,
    /// Price of one GPU-hour, USD/h.
    pub price: Option<Typed>,
    /// Price of the CPU machine, USD/h.
    pub cpu_price: Option<Typed>,
    /// Board power of one GPU, W.
    pub gpu_watts: Option<Typed>,
    /// Power of the CPU, W.
    pub cpu_watts: Option<Typed>,
    /// Price of electricity, USD/kWh; then cost is that of energy, not of rent.
    pub electricity: Option<Typed>,
    /// Country or cloud region: grid carbon, PUE, prices.
    pub region: Option<String>,
    /// Cloud provider.
    pub provider: Option<String>,
    /// Prices of such providers alone: `cloud`, `marketplace`, `all` (default).
    pub provider_class: Option<String>,
    /// Spot prices.
    pub spot: bool,
    /// Only GPUs that rent for at most this, USD/h.
    pub max_price: Option<Typed>,
    /// Runs a month, for the monthly bill.
    pub runs_per_month: Option<Typed>,
    /// `resident` (default), `naive`, `as-written`.
    pub policy: Option<String>,
    /// Port profile: `cupy` (default for NumPy).
    pub port: Option<String>,
    /// A recorded program in another precision: fp64, fp32, or fp32 with products in tf32 or bf16.
    pub precision: Option<String>,
    /// A recorded program on a problem so many times as large, as in [`crate::growth`]; 1 is as recorded.
    pub size: Option<Typed>,
    /// GPUs for one run of a recorded program, and how they divide it.
    pub several: Option<Divided>,
    /// Leave start-up out of `time_s` on both sides.
    pub exclude_startup: bool,
    /// The answer holds a sketch of the timeline on the GPU that it speaks of.
    pub timeline: bool,
    /// Rows of the GPU table; all in JSON.
    pub top: Option<u32>,
    /// `value` (default), `speed`, `cost`, `energy`, `name`.
    pub sort: Option<String>,
    /// Catalogue text that adds or overrides GPUs, CPUs, machine types, prices and places.
    pub catalogue: Option<String>,
    /// Text of a machine file, as `breakeven calibrate` writes it: its devices take the times that were measured on them.
    /// `cpu` may then be `machine`, which is its CPU.
    pub machine: Option<String>,
    /// A policy such as `speedup<2`: the answer says whether it failed.
    pub fail_if: Option<String>,
}

impl Options {
    /// As an answer repeats them: without the machine file, of which a note tells.
    pub(crate) fn echoed(&self) -> serde_json::Value {
        serde_json::to_value(Self { machine: None, ..self.clone() }).unwrap_or_default()
    }
}
