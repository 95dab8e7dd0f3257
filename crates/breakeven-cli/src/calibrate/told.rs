//! What Python tells while it measures, a line each, and what they come to.

use breakeven::calibration::{Board, Cost, FORMAT, Kernel, MachineFile};
use breakeven::request::Machine;
use serde::{Deserialize, Serialize};

/// One line of Python's. Fields that it does not have are `None`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Line {
    /// What tells this measurement from others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kernel: Option<Kernel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
    /// The GPU that was found, and whether it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gpu: Option<Board>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) real: Option<bool>,
    /// Why there is no GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) no_gpu: Option<String>,
    /// Power while it computes, W.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) busy_w: Option<f64>,
    /// How many measurements there are, and how many of them are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) known: Option<usize>,
    /// What is being measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<String>,
    /// What could not be measured, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) skipped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The GPU does not answer any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lost: Option<String>,
    /// The share of the processors that others had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) busy: Option<f64>,
}

impl Line {
    /// Whether it holds a figure that is worth keeping.
    pub(crate) const fn is_kept(&self) -> bool {
        self.key.is_some() || self.gpu.is_some() || self.busy_w.is_some()
    }
}

/// All that was told, of this run and of one that was interrupted.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) gpu: Option<Board>,
    /// A device was measured that is no GPU: its times are nobody's.
    pub(crate) unreal: bool,
    pub(crate) no_gpu: Option<String>,
    pub(crate) lost: Option<String>,
    pub(crate) skipped: Vec<(String, String)>,
    pub(crate) busy: Option<f64>,
    /// Measurements there are in all.
    pub(crate) total: usize,
    /// Measurements that are done.
    pub(crate) done: usize,
    /// Whether Python came to its end.
    pub(crate) whole: bool,
}

impl Told {
    pub(crate) fn take(&mut self, line: Line) {
        self.done += usize::from(line.key.is_some() || line.skipped.is_some());
        self.kernels.extend(line.kernel);
        self.costs.extend(line.cost);
        if let Some(board) = line.gpu {
            self.unreal |= line.real == Some(false);
            self.gpu = Some(board);
        }
        if let (Some(watts), Some(board)) = (line.busy_w, &mut self.gpu) {
            board.busy_w = Some(watts);
        }
        self.no_gpu = line.no_gpu.or(self.no_gpu.take());
        self.lost = line.lost.or(self.lost.take());
        self.whole |= line.busy.is_some();
        self.busy = line.busy.or(self.busy);
        self.total = line.total.unwrap_or(self.total);
        if let Some(what) = line.skipped {
            self.skipped.push((what, line.why.unwrap_or_default()));
        }
    }

    /// The machine file that this makes. Times of a device that is no GPU are left out.
    pub(crate) fn file(mut self, machine: Machine, date: String) -> MachineFile {
        let mut notes = Vec::new();
        if self.unreal {
            self.gpu = None;
            self.kernels.retain(|kernel| kernel.on == breakeven::calibration::On::Cpu);
            self.costs.retain(|cost| cost.what == "small_call" || cost.what == "page_fault");
            notes.push("the device that was asked for is no GPU: its times are not kept".to_owned());
        }
        notes.extend(self.no_gpu.map(|why| format!("no GPU was measured: {why}")));
        notes.extend(self.lost.map(|why| format!("the GPU was lost while it was measured: {why}")));
        notes.extend(summed(&self.skipped));
        MachineFile {
            format: FORMAT.to_owned(),
            date,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine,
            busy: self.busy,
            gpu: self.gpu,
            kernels: self.kernels,
            costs: self.costs,
            rates: Vec::new(),
            factors: Vec::new(),
            errors: Vec::new(),
            notes,
        }
    }
}

/// What was left out, by reason.
fn summed(skipped: &[(String, String)]) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for (_, why) in skipped {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    reasons.into_iter().map(|(why, count)| format!("not measured: {count} ({why})")).collect()
}
