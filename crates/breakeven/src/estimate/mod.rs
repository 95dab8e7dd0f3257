//! The answer: `breakeven.estimate/1`, the one schema that every face shows.
//!
//! Modelled and measured times, ratios, money, energy and carbon are intervals; counts and given inputs are scalars.
//! Unknown is `None` (JSON `null`) with a note that says why, never 0. Keys carry their unit.

pub mod baseline;
pub mod changed;
mod course;
pub mod coverage;
pub mod drawing;
mod frames;
pub mod gpu;
pub mod hosttime;
pub mod loaders;
mod not_understood;
mod note;
pub mod pace;
pub mod plan;
pub mod program;
mod reason;
pub mod setup;
pub mod sites;
pub(crate) mod spans;
pub mod spread;
pub mod summary;
#[cfg(test)]
mod written;

pub use course::{KernelBin, MemoryCurve};
pub use drawing::{Look, SketchRow, TimelineSketch, look, trace};
pub use not_understood::NotUnderstood;
pub use note::{CODES as NOTE_CODES, Note};
pub use reason::{CODES as REASON_CODES, Evidence, Flip, Reason, Timer};

use crate::calculator::curve::WorkPoint;
use crate::calculator::roofline::Roofline;
use crate::growth::{CallsPerUpload, RoundsCrossing, RunsCrossing, SizeCrossing};
use crate::interval::{Basis, Interval};
use crate::kernel::Bound;
use serde::{Deserialize, Serialize};

/// The only value `Estimate::schema` has.
pub const SCHEMA: &str = "breakeven.estimate/1";

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What was asked about.
    pub workload: WorkloadSummary,
    /// The options as understood, for the record.
    pub options: serde_json::Value,
    /// The one line.
    pub summary: Summary,
    /// The CPU side.
    pub baseline: Baseline,
    /// Hot source lines, hottest first. Empty where there is no source.
    pub sites: Vec<SiteEstimate>,
    /// One row a GPU.
    pub estimates: Vec<GpuEstimate>,
    /// The calculator's formula (numbers only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<Formula>,
    /// Memory of the values asked about, by precision (numbers only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint: Option<Vec<Footprint>>,
    /// The file that the workload was read from, where it holds a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelFile>,
    /// Why it is so on the GPU that the summary speaks of, the main reason first.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// What the script's own clocks would show on that GPU.
    #[serde(default)]
    pub timers: Vec<Timer>,
    /// What would turn the answer round.
    #[serde(default)]
    pub robustness: Vec<Flip>,
    /// What host, device and copies do in the course of the run; only where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineSketch>,
    /// Whose the time is that was not understood, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<NotUnderstood>,
    /// Edits that would help.
    pub advice: Vec<Advice>,
    /// The advice for a side taken together, where there is more than one piece.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice_together: Vec<Together>,
    /// The same run on several GPUs; only where asked for. All else is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub several: Option<crate::several::Several>,
    /// What the reader should know; `code` is a closed, documented set.
    pub notes: Vec<Note>,
    /// Whether the user's `--fail-if` policy held; absent where none was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_failed: Option<bool>,
}

/// What a model file says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// `onnx`, `stablehlo` or `pt2`.
    pub kind: String,
    /// Version of what it is written in, as `opset 17`; `None` where it does not say.
    pub version: Option<String>,
    /// What wrote it; `None` where it does not say.
    pub producer: Option<String>,
    /// Elements of its weights; `None` where the file does not tell weights from inputs.
    pub parameters: Option<u64>,
    /// Bytes of its weights.
    pub parameter_bytes: Option<u64>,
    /// Operations in the file.
    pub ops: u64,
    /// The same by name.
    pub op_types: std::collections::BTreeMap<String, u64>,
    /// What was not understood.
    pub not_read: Vec<Note>,
}

/// Size and coverage of the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSummary {
    /// For people.
    pub name: String,
    /// Array operations.
    pub ops: u64,
    /// Kernel launches of the port.
    pub launches: u64,
    /// Arithmetic, FLOP; `None` when not known.
    pub flop: Option<f64>,
    /// Bytes moved by the ops; `None` when not known.
    pub bytes: Option<f64>,
    /// Host to device under the chosen policy.
    pub h2d_bytes: Option<f64>,
    /// Device to host under the chosen policy.
    pub d2h_bytes: Option<f64>,
    /// Copies that bring `h2d_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub h2d_copies: Option<u64>,
    /// Copies that bring `d2h_bytes`; the host waits for each unless the program says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d2h_copies: Option<u64>,
    /// How often the program itself waits for the device (`synchronize()`), copies apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronisations: Option<u64>,
    /// Largest sum of live buffers; `None` when not known.
    pub peak_bytes: Option<f64>,
    /// Understood op time ÷ (understood + not understood), 0–1; Python and waiting are neither.
    pub coverage: f64,
}

/// The first line and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Over the GPUs asked about.
    pub verdict: Verdict,
    /// GPUs whose verdict is `gpu`.
    pub wins_on: u32,
    /// GPUs that were estimated and count.
    pub of: u32,
    /// Best value: lowest time × cost among the winners (lowest time where no price is known).
    pub best_gpu: Option<String>,
    /// The GPU that reasons, lines and reports speak of: the one that was imitated for the script, else `best_gpu`, or the
    /// one with the most memory where the program fits on none.
    #[serde(default)]
    pub shown_gpu: Option<String>,
    /// The line itself.
    pub sentence: String,
}

/// By time alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// speedup.p10 > 1.02.
    Gpu,
    /// speedup.p90 < 1, or it does not fit.
    Cpu,
    /// The interval contains 1.
    Either,
    /// Too little is understood to say.
    Unknown,
}

/// The CPU side of the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The CPU's name.
    pub device: String,
    /// How its time is known.
    pub basis: Basis,
    /// Time; `None` when neither measured, modelled nor given.
    pub time_s: Option<Interval>,
    /// The part of it that is start-up, s; `None` where that was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_s: Option<Interval>,
    /// Cost of one run, where a price is known.
    pub cost_usd: Option<Interval>,
    /// Energy of one run.
    pub energy_wh: Option<Interval>,
    /// Carbon of one run, g CO₂e.
    pub co2_g: Option<Interval>,
    /// The price used.
    pub price: Option<Price>,
}

/// A rental price: of one GPU (or of the CPU machine).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Who rents it out; `given` for the user's own figure.
    pub provider: String,
    /// Instance type.
    pub instance: String,
    /// For the GPUs used: instance price ÷ its GPUs × GPUs used.
    pub usd_per_h: f64,
    /// The whole instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_usd_per_h: Option<f64>,
    /// When the price was read, `YYYY-MM-DD` (or as exactly as known); empty when given.
    pub date: String,
    /// `cloud` or `marketplace`; `None` when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// One host of a marketplace may be all that offers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lone: bool,
    /// What is charged at least, however short the run, USD; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_usd: Option<f64>,
}

/// One source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteEstimate {
    /// File as recorded.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// The line itself.
    pub text: String,
    /// Library function in between; of several the one with most time.
    pub via: Option<String>,
    /// Part of a network, `encoder.layer.3.attention`.
    #[serde(default)]
    pub module: Option<String>,
    /// Time on the CPU.
    pub time_s: Interval,
    /// Share of the baseline, 0–1.
    pub share: f64,
    /// What would limit it on `summary.shown_gpu`; `None` where the program does not fit there.
    pub bound_by: Option<Bound>,
    /// For this line alone.
    pub verdict: Verdict,
    /// Time on that GPU.
    pub gpu_time_s: Option<Interval>,
}

/// One GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuEstimate {
    /// Catalogue id.
    pub gpu: String,
    /// Marketing name.
    pub name: String,
    /// Whole program; `None` when it does not fit.
    pub time_s: Option<Interval>,
    /// Baseline ÷ this.
    pub speedup: Option<Interval>,
    /// Parts of the p50 critical path; they sum to `time_s.p50`.
    pub breakdown_s: Option<Breakdown>,
    /// `resident`, `naive`, `as-written`.
    pub policy: String,
    /// p50 if every call copied in and out.
    pub naive_time_s: Option<f64>,
    /// Achieved, work ÷ time.
    pub effective_flop_per_s: Option<f64>,
    /// Largest part of `breakdown_s` other than start-up.
    pub bound_by: Option<Bound>,
    /// By time alone.
    pub verdict: Verdict,
    /// The weakest basis among parts that make up at least 5 %.
    pub basis: Basis,
    /// Whether `peak_bytes` fits the device memory; `None` when not known.
    pub fits: Option<bool>,
    /// Memory needed on the device.
    pub peak_bytes: Option<f64>,
    /// Memory that the device has, that of all GPUs together; `None` for a GPU that the user describes.
    #[serde(default)]
    pub memory_bytes: Option<f64>,
    /// Cost of one run.
    pub cost_usd: Option<Interval>,
    /// The price used.
    pub price: Option<Price>,
    /// Energy of one run, board and host share (× PUE in a cloud).
    pub energy_wh: Option<Interval>,
    /// Carbon of one run, g CO₂e.
    pub co2_g: Option<Interval>,
    /// The size at which this GPU starts to win.
    pub break_even: Option<BreakEven>,
    /// Whether it counts in "wins on N of M" (a port exists for its maker).
    pub counted: bool,
    /// The same program once it is compiled, for a script that compiles itself; the other figures are of its eager code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<Compiled>,
}

/// A program that `torch.compile` has compiled, on one GPU; compiling itself apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    /// Whole program.
    pub time_s: Interval,
    /// Baseline ÷ this.
    pub speedup: Interval,
}

/// Parts of the critical path, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the bounds by name")]
pub struct Breakdown {
    pub host: f64,
    pub launch: f64,
    pub compute: f64,
    pub memory: f64,
    pub transfer: f64,
    pub sync: f64,
    pub startup: f64,
}

impl Breakdown {
    /// The whole path.
    pub fn total(&self) -> f64 {
        self.host + self.launch + self.compute + self.memory + self.transfer + self.sync + self.startup
    }

    /// The largest part other than start-up; `None` when all are zero.
    pub fn bound(&self) -> Option<Bound> {
        let parts = [
            (self.compute, Bound::Compute),
            (self.memory, Bound::Memory),
            (self.transfer, Bound::Transfer),
            (self.launch, Bound::Launch),
            (self.sync, Bound::Sync),
            (self.host, Bound::Host),
        ];
        let best = parts.iter().fold((0.0, None), |a, &(t, b)| if t > a.0 { (t, Some(b)) } else { a });
        best.1
    }
}

/// The size, batch or reuse count at which the GPU starts to win.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakEven {
    /// Multiple of the present work; `None` when there is none.
    pub scale: Option<f64>,
    /// In words: "206.6 GFLOP", "never: …".
    pub describes: String,
    /// In the size of the problem; only for the GPU that the answer speaks of, where the shapes tell a size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeCrossing>,
    /// In rounds of the main loop; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundsCrossing>,
    /// In calls that use an array once it is copied; where one call alone does not pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallsPerUpload>,
    /// Between recorded runs of several sizes; where the request has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunsCrossing>,
}

impl BreakEven {
    /// Of the whole work alone.
    pub fn of_work(scale: Option<f64>, describes: impl Into<String>) -> Self {
        Self { scale, describes: describes.into(), size: None, rounds: None, calls: None, runs: None }
    }
}

/// The calculator's own formula, evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// GPU time.
    pub time_s: Interval,
    /// CPU time ÷ GPU time; `None` without a CPU rate.
    pub speedup: Option<Interval>,
    /// Cost of one run.
    pub cost_usd: Option<Interval>,
    /// Energy of one run.
    pub energy_wh: Option<Interval>,
    /// Every input as used.
    pub inputs: Vec<FormulaInput>,
    /// Both sides as the work grows, least work first; empty without a CPU time.
    #[serde(default)]
    pub curve: Vec<WorkPoint>,
    /// What the GPU can reach and what this work does; `None` where bandwidth or FLOP are not known.
    #[serde(default)]
    pub roofline: Option<Roofline>,
    /// Which given term differs most from the model, and how; `None` when nothing was given that could.
    pub differs_because: Option<String>,
}

/// One input of the formula.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormulaInput {
    /// As the flag is called, in snake case.
    pub name: String,
    /// In the base unit.
    pub value: f64,
    /// The base unit: `FLOP`, `B`, `s`, `FLOP/s`, `B/s`, `W`, `USD/h`, `1`.
    pub unit: String,
    /// As printed for people.
    pub text: String,
    /// `given`, `modelled` or `assumed`.
    pub basis: Basis,
    /// Typical range, where there is one.
    pub typical: Option<String>,
}

/// Memory that the values asked about take in one precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// `fp32`, `bf16`, …
    pub precision: String,
    /// Bytes.
    pub bytes: f64,
    /// As printed for people, in GiB.
    pub text: String,
    /// What the precision is for.
    pub role: String,
}

/// One edit of the program (or of the choice of GPU), and what it would change. [`crate::advice`] says how it is found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// One of [`crate::advice::IDS`].
    pub id: String,
    /// `gpu` or `cpu`: which side becomes faster.
    #[serde(default)]
    pub side: Side,
    /// What to do, in a few words.
    pub title: String,
    /// Why that helps here, with the numbers it rests on.
    pub why: String,
    /// `file.py:14`, where the edit begins; `None` for what concerns the program as a whole.
    pub site: Option<String>,
    /// Time saved on that side.
    pub saves_s: Option<Interval>,
    /// Today's CPU time ÷ the time after the edit.
    pub speedup_after: Option<Interval>,
    /// Time after the edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s_after: Option<Interval>,
    /// What that time would consist of, on the GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown_s_after: Option<Breakdown>,
    /// Money saved a run, for an edit that saves no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_usd: Option<f64>,
    /// A unified diff of the user's own line, where it is certain; without indentation, as lines are recorded.
    pub patch: Option<String>,
    /// Code to start from, in the user's own names where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// What may go wrong: accuracy, order, memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// Page and section that explain it.
    #[serde(default)]
    pub docs: String,
}

/// Which side of the comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the two sides")]
pub enum Side {
    #[default]
    Gpu,
    Cpu,
}

/// All advice for one side taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// Which side.
    pub side: Side,
    /// What was applied, one after the other.
    pub ids: Vec<String>,
    /// Time saved.
    pub saves_s: Interval,
    /// Today's CPU time ÷ the time after.
    pub speedup_after: Interval,
    /// Time after.
    pub time_s_after: Interval,
}
