//! A machine file: what `calibrate` measured on one machine, and what becomes of the models with it.
//!
//! The file holds measurements; curves are fitted to them when it is used, with the models of the day.

mod check;
mod factors;
mod fit;

pub use check::read;
pub use factors::{Error, Factor, Rate, errors, factors, rates};
pub use fit::Calibration;

use crate::interval::Interval;
use crate::request::Machine;
use crate::workload::{Dtype, Op};
use serde::{Deserialize, Serialize};

/// What the first field of a machine file says.
pub const FORMAT: &str = "breakeven.machine/1";
/// How options name the CPU of the machine file.
pub const CPU: &str = "machine";

/// What was measured on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineFile {
    /// [`FORMAT`].
    pub format: String,
    /// The day, `YYYY-MM-DD`.
    pub date: String,
    /// The version of breakeven that measured.
    pub version: String,
    /// The machine's CPU.
    pub machine: Machine,
    /// Share of the processors that other programs had meanwhile, 0–1; `None` where the system does not tell.
    pub busy: Option<f64>,
    /// Its GPU; `None` where the CPU alone was measured.
    pub gpu: Option<Board>,
    /// What was measured, op by op.
    pub kernels: Vec<Kernel>,
    /// What libraries spend on the host and at the start.
    pub costs: Vec<Cost>,
    /// For people, as worked out when the file was written; not read again: rates that the kernels come to.
    #[serde(default)]
    pub rates: Vec<Rate>,
    /// Likewise: measured over modelled time by kind of work, and the spread.
    #[serde(default)]
    pub factors: Vec<Factor>,
    /// Likewise: the models' error on kernels that they had not seen, before and after.
    #[serde(default)]
    pub errors: Vec<Error>,
    /// What was not measured, and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The GPU that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// As its library calls it.
    pub name: String,
    /// The library with its version.
    pub library: String,
    /// Power without work, W.
    pub idle_w: Option<f64>,
    /// Power while large products ran, W.
    pub busy_w: Option<f64>,
}

/// Where a kernel ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum On {
    Cpu,
    Gpu,
}

/// One op as it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Where it ran.
    pub on: On,
    /// `numpy`, `torch`, `cupy`, `jax`, `pandas`.
    pub library: String,
    /// Family and dims.
    pub op: Op,
    /// Element type.
    pub dtype: Dtype,
    /// Array bytes read, all inputs.
    pub read_bytes: u64,
    /// Array bytes written.
    pub written_bytes: u64,
    /// Threads that it was held to; `None` for as many as the library takes by itself. Only those change the models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Time of one run, s.
    pub seconds: Interval,
}

/// What a library spends on the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The library.
    pub library: String,
    /// `small_call`, `dispatch.FAMILY`, `startup.import`, `startup.context`, `latency.sync`, `page_fault`.
    pub what: String,
    /// Time of one, s.
    pub seconds: Interval,
}
