//! Image networks of `networks/image_amp.csv`, whose steps were timed by others: what `timm/record.py` has recorded of each,
//! and what the model says of it.

use crate::Result;
use crate::data::{Data, Gpus};
use crate::score::at_peak;
use crate::statistics::{mean, quantile};
use breakeven::advice::compiled_entries;
use breakeven::hardware::Device;
use breakeven::interval::Interval;
use breakeven::kernel::{Constants, entry_time_with, sum_of};
use breakeven::workload::{Entry, Family, Workload};
use flate2::read::GzDecoder;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Where the recordings lie.
const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/timm/recordings");
/// The function of `timm/step.py` that is one step.
const STEP: &str = "main.<locals>.step";

/// The kernels of one step of a network.
pub struct Step {
    pub entries: Vec<(Entry, f64)>,
}

/// One timed step.
pub struct Program {
    /// Index into `Data::gpus`.
    pub gpu: usize,
    pub model: String,
    /// `eager` or `compile`.
    pub mode: String,
    /// `nchw` or `nhwc`.
    pub layout: String,
    /// `infer` or `train`.
    pub phase: String,
    pub batch: u64,
    /// Seconds.
    pub measured: f64,
    pub step: Arc<Step>,
}

pub fn read(file: &Path, gpus: &mut Gpus) -> Result<Vec<Program>> {
    let mut reader = csv::Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    let mut steps: BTreeMap<String, Option<Arc<Step>>> = BTreeMap::new();
    let mut programs = Vec::new();
    for row in reader.records() {
        let row = row?;
        let cell = |name: &str| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let Some(measured) = cell("step_ms").parse::<f64>().ok().filter(|ms| *ms > 0.0) else { continue };
        let name = ["model", "phase", "layout", "batch", "img"].map(cell).join("-");
        let Some(gpu) = gpus.index(cell("gpu")) else { continue };
        let compiled = cell("mode") == "compile";
        let recorded = steps.entry(format!("{name} {compiled}")).or_insert_with(|| match step(&name, compiled) {
            Ok(step) => Some(Arc::new(step)),
            Err(e) => {
                eprintln!("warning: {name} left out: {e}");
                None
            }
        });
        let Some(step) = recorded.clone() else { continue };
        let [model, mode, layout, phase] = ["model", "mode", "layout", "phase"].map(|name| cell(name).to_owned());
        let batch = cell("batch").parse().unwrap_or(0);
        programs.push(Program { gpu, model, mode, layout, phase, batch, measured: measured * 1e-3, step });
    }
    Ok(programs)
}

/// The kernels of one step of what was recorded under this name, as it was written or once it is compiled.
fn step(name: &str, compiled: bool) -> Result<Step> {
    let file = Path::new(RECORDINGS).join(format!("{name}.breakeven.json.gz"));
    let mut text = Vec::new();
    GzDecoder::new(File::open(&file).map_err(|e| format!("{}: {e}", file.display()))?).read_to_end(&mut text)?;
    let workload = Workload::from_json(&text)?;
    let of_step = |entry: &&Entry| {
        let site = entry.site as usize;
        workload.sites.get(site).is_some_and(|site| site.function == STEP)
    };
    let ops = if compiled { compiled_entries(&workload) } else { workload.ops.clone() };
    let entries: Vec<Entry> = ops.iter().filter(of_step).cloned().collect();
    // Each step waits for the GPU once.
    let is_end = |entry: &&Entry| matches!(entry.op, breakeven::workload::Op::Synchronise);
    let steps = entries.iter().filter(is_end).map(|entry| entry.count).max().unwrap_or(1).max(1);
    // What the model tells apart, once: a network of many layers alike has few kernels.
    let mut distinct: BTreeMap<String, (Entry, f64)> = BTreeMap::new();
    for entry in entries {
        let count = entry.count as f64 / steps as f64;
        let key = format!(
            "{:?} {:?} {} {} {:?} {:?} {}",
            entry.op, entry.dtype, entry.read_bytes, entry.written_bytes, entry.layout, entry.phase, entry.name
        );
        distinct.entry(key).or_insert((entry, 0.0)).1 += count;
    }
    Ok(Step { entries: distinct.into_values().collect() })
}

impl Program {
    /// Puts into `known` the device seconds of the step's kernels of each family that is asked for.
    pub fn seconds_again(
        &self,
        constants: &Constants,
        device: &Device,
        known: &mut [f64],
        asked: impl Fn(Family) -> bool,
    ) {
        for family in Family::ALL.iter().filter(|family| asked(**family)) {
            known[*family as usize] = 0.0;
        }
        for (entry, count) in self.step.entries.iter().filter(|(entry, _)| asked(entry.op.family())) {
            known[entry.op.family() as usize] += entry_time_with(constants, entry, device).p50.get() * count;
        }
    }

    /// Device time of the step's kernels, one after the other.
    pub fn time(&self, constants: &Constants, device: &Device) -> Interval {
        let kernel = |(entry, count): &(Entry, f64)| {
            let time = entry_time_with(constants, entry, device);
            [time.p50.get() * count, time.sigma_shared, time.sigma_own]
        };
        let [seconds, sigma] = sum_of(constants, self.step.entries.iter().map(kernel));
        Interval::log_normal(seconds, sigma / seconds.max(1e-12))
    }

    /// The same at the datasheet's peak and 92 % of its bandwidth.
    pub fn roofline(&self, device: &Device) -> f64 {
        self.step.entries.iter().map(|(entry, count)| roofline(entry, device) * count).sum()
    }
}

/// The longer of arithmetic at the datasheet's peak and bytes at 92 % of its bandwidth, s; 0 of what runs no kernel.
fn roofline(entry: &Entry, device: &Device) -> f64 {
    let time = entry_time_with(Constants::shipped(), entry, device);
    if time.p50.get() <= 0.0 {
        return 0.0;
    }
    let bytes = (entry.read_bytes + entry.written_bytes) as f64;
    let compute = at_peak(entry.op.family(), entry.dtype, time.flop.get(), device);
    compute.max(bytes / (0.92 * device.bandwidth.get()))
}

/// One timed step beside what the model and a roofline say.
#[derive(Serialize)]
pub struct StepRow {
    pub gpu: String,
    pub model: String,
    pub mode: String,
    pub layout: String,
    pub phase: String,
    pub batch: u64,
    pub measured_ms: f64,
    pub p10_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    /// The longer of arithmetic at the datasheet's peak and bytes at 92 % of its bandwidth, kernel by kernel.
    pub roofline_ms: f64,
}

impl StepRow {
    /// `rtx-3090 eager nhwc infer`: what rows are told together by.
    fn group(&self) -> String {
        [&self.gpu, &self.mode, &self.layout, &self.phase].map(String::as_str).join(" ")
    }

    /// Modelled ÷ measured.
    fn ratio(&self) -> f64 {
        self.p50_ms / self.measured_ms
    }
}

/// Every step, under the constants for each GPU.
pub fn rows<'c>(data: &Data, constants: impl Fn(usize) -> &'c Constants) -> Vec<StepRow> {
    let row = |p: &Program| {
        let (name, device) = &data.gpus[p.gpu];
        let ms = p.time(constants(p.gpu), device).scale(1e3);
        StepRow {
            gpu: name.clone(),
            model: p.model.clone(),
            mode: p.mode.clone(),
            layout: p.layout.clone(),
            phase: p.phase.clone(),
            batch: p.batch,
            measured_ms: p.measured * 1e3,
            p10_ms: ms.p10,
            p50_ms: ms.p50,
            p90_ms: ms.p90,
            roofline_ms: p.roofline(device) * 1e3,
        }
    };
    data.programs.iter().map(row).collect()
}

/// Every row with its error and a roofline's, and how far off each group of them is.
pub fn text(rows: &[StepRow]) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut groups: BTreeMap<String, Vec<&StepRow>> = BTreeMap::new();
    for row in rows {
        let _ = writeln!(
            out,
            "{:<12}{:<34}{:<8}{:<6}{:<6}{:>5}{:>10.1} ms{:>10.1} [{:.1}, {:.1}]{:>+8.1}{:>+8.1}",
            row.gpu,
            row.model,
            row.mode,
            row.layout,
            row.phase,
            row.batch,
            row.measured_ms,
            row.p50_ms,
            row.p10_ms,
            row.p90_ms,
            100.0 * (row.ratio() - 1.0),
            100.0 * (row.roofline_ms / row.measured_ms - 1.0)
        );
        groups.entry(row.group()).or_default().push(row);
    }
    for (group, rows) in groups {
        let of = |ratio: fn(&StepRow) -> f64| {
            let mut off: Vec<f64> = rows.iter().map(|row| (ratio(row) - 1.0).abs()).collect();
            let mut signed: Vec<f64> = rows.iter().map(|row| ratio(row) - 1.0).collect();
            let [mean, p90, bias] = [mean(&off), quantile(&mut off, 0.9), quantile(&mut signed, 0.5)];
            format!("mean {:.1} %, p90 {:.1} %, bias {:+.1} %", 100.0 * mean, 100.0 * p90, 100.0 * bias)
        };
        let inside = rows.iter().filter(|row| row.p10_ms <= row.measured_ms && row.measured_ms <= row.p90_ms).count();
        let width = quantile(&mut rows.iter().map(|row| row.p90_ms / row.p10_ms).collect::<Vec<_>>(), 0.5);
        let (ours, roofline) = (of(StepRow::ratio), of(|row| row.roofline_ms / row.measured_ms));
        let n = rows.len();
        let _ = writeln!(out, "{group}: {n} rows: {ours}, {inside} inside, width {width:.2}; roofline {roofline}");
    }
    out
}

/// Every kernel of each step, with what ships, as CSV.
pub fn write_kernels(data: &Data, file: &Path) -> Result<()> {
    let Data { programs, gpus, .. } = data;
    let mut table = csv::Writer::from_path(file)?;
    let head =
        ["gpu", "model", "mode", "layout", "phase", "batch", "measured_ms", "name", "op", "dtype", "entry_layout"];
    table.write_record(head.iter().chain(&[
        "entry_phase",
        "count",
        "model_us",
        "roofline_us",
        "bytes",
        "flop",
        "compute_bound",
    ]))?;
    for p in programs {
        let device = &gpus[p.gpu].1;
        for (entry, count) in &p.step.entries {
            let time = entry_time_with(Constants::shipped(), entry, device);
            if time.p50.get() <= 0.0 {
                continue;
            }
            let us = |t: f64| format!("{:.3}", t * 1e6);
            table.write_record([
                gpus[p.gpu].0.as_str(),
                &p.model,
                &p.mode,
                &p.layout,
                &p.phase,
                &p.batch.to_string(),
                &format!("{:.3}", p.measured * 1e3),
                &entry.name,
                &serde_json::to_string(&entry.op)?,
                entry.dtype.name(),
                entry.layout.as_deref().unwrap_or_default(),
                &format!("{:?}", entry.phase),
                &count.to_string(),
                &us(time.p50.get()),
                &us(roofline(entry, device)),
                &format!("{}", entry.read_bytes + entry.written_bytes),
                &format!("{}", time.flop.get()),
                &format!("{:?}", time.bound),
            ])?;
        }
    }
    Ok(table.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_recorded_once() {
        let step = step("resnet50-infer-nchw-1024-224", false).expect("it is committed");
        let of = |family: Family| step.entries.iter().filter(|e| e.0.op.family() == family).map(|e| e.1).sum::<f64>();
        assert_eq!((of(Family::Convolution), of(Family::Matmul), of(Family::Synchronise)), (53.0, 1.0, 1.0));
        let device = &breakeven::hardware::Catalogue::embedded().gpus()[0].device;
        let flop =
            |(entry, count): &(Entry, f64)| entry_time_with(Constants::shipped(), entry, device).flop.get() * count;
        let all: f64 = step.entries.iter().filter(|e| e.0.op.family() == Family::Convolution).map(flop).sum();
        // 4.1 billion multiply-adds a picture.
        assert!((all / 1024.0 / 8.2e9 - 1.0).abs() < 0.02, "{all}");
    }
}
