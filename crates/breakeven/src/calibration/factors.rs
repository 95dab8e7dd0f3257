//! What a machine file says to people: rates, factors by kind of work, and how far the models are off with them and without.

use super::fit::{counted, pair};
use super::{Calibration, Kernel, MachineFile, On};
use crate::hardware::Device;
use crate::hardware::device::{Curves, Pair, Work};
use crate::workload::{Dtype, Op};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A rate that a kernel comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Where it ran.
    pub on: On,
    /// `matmul`, `stream`, `h2d`, …
    pub what: String,
    /// The library.
    pub library: String,
    /// Element type.
    pub dtype: Dtype,
    /// Threads that it was held to; `None` for as many as the library takes.
    pub threads: Option<u32>,
    /// FLOP/s of a product, B/s of anything else.
    pub per_s: f64,
}

/// Measured over modelled time of one kind of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// Where it ran.
    pub on: On,
    /// The family of the op.
    pub family: String,
    /// Element type.
    pub dtype: Dtype,
    /// Kernels that were measured.
    pub kernels: usize,
    /// Median of measured ÷ modelled.
    pub factor: f64,
    /// Standard deviation of ln(time) around the corrected model.
    pub spread: f64,
}

/// How far the model of one device is off, on kernels that it has not seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Error {
    /// Where they ran.
    pub on: On,
    /// Kernels held back: a third.
    pub kernels: usize,
    /// Median of |measured ÷ modelled − 1| without calibration.
    pub before: f64,
    /// The same with curves fitted to the other two thirds.
    pub after: f64,
    /// Share of the held-back kernels within the 80 % interval, with calibration.
    pub covered: f64,
}

/// The fastest rate of each dtype, library and number of threads.
pub fn rates(file: &MachineFile) -> Vec<Rate> {
    let mut best: Vec<Rate> = Vec::new();
    for kernel in &file.kernels {
        let Some((what, amount)) = amount(kernel) else { continue };
        let rate = Rate {
            on: kernel.on,
            what: what.to_owned(),
            library: kernel.library.clone(),
            dtype: kernel.dtype,
            threads: kernel.threads,
            per_s: amount / kernel.seconds.p50,
        };
        let same = |known: &&mut Rate| Rate { per_s: 0.0, ..(**known).clone() } == Rate { per_s: 0.0, ..rate.clone() };
        match best.iter_mut().find(same) {
            Some(known) => known.per_s = known.per_s.max(rate.per_s),
            None => best.push(rate),
        }
    }
    best
}

/// What a kernel's rate is called, and how much it does: FLOP, or bytes of arrays larger than any cache.
fn amount(kernel: &Kernel) -> Option<(&'static str, f64)> {
    const BEYOND_CACHES: u64 = 200_000_000;
    let bytes = kernel.read_bytes.saturating_add(kernel.written_bytes);
    match &kernel.op {
        Op::Matmul { .. } => Some(("matmul", kernel.op.flop(kernel.dtype).get())),
        Op::Copy { strided: false, .. } | Op::Elementwise { transcendental: false, .. } if bytes >= BEYOND_CACHES => {
            Some(("stream", bytes as f64))
        }
        Op::Transfer { direction, bytes, pinned, .. } => {
            use crate::workload::op::Direction::{D2h, H2d};
            let what = match (direction, pinned) {
                (H2d, false) => "h2d",
                (H2d, true) => "h2d pinned",
                (D2h, false) => "d2h",
                (D2h, true) => "d2h pinned",
                _ => return None,
            };
            Some((what, *bytes as f64))
        }
        _ => None,
    }
}

/// The factor of each kind of work on each device.
pub fn factors(calibration: &Calibration, file: &MachineFile) -> Vec<Factor> {
    let mut found = Vec::new();
    for (on, device) in devices(calibration) {
        let Some(curves) = &device.measured else { continue };
        let mut of: BTreeMap<Work, (&'static str, Vec<f64>)> = BTreeMap::new();
        for kernel in counted(&file.kernels, on) {
            let (work, pair) = pair(kernel, device);
            of.entry(work).or_insert((kernel.op.family().name(), Vec::new())).1.push(pair.measured / pair.modelled);
        }
        for (work, (family, ratios)) in of {
            let Some(curve) = curves.get(work) else { continue };
            let (kernels, factor) = (curve.count, median(ratios));
            let family = family.to_owned();
            found.push(Factor { on, family, dtype: work.dtype, kernels, factor, spread: curve.sigma });
        }
    }
    found
}

/// The errors of each device's model on a third of its kernels, which the curves have not seen: of each kind of work every
/// third by time, from the second on.
pub fn errors(calibration: &Calibration, file: &MachineFile) -> Vec<Error> {
    devices(calibration).filter_map(|(on, device)| error(on, device, file)).collect()
}

fn error(on: On, device: &Device, file: &MachineFile) -> Option<Error> {
    let plain = Device { measured: None, ..device.clone() };
    let mut of: BTreeMap<Work, Vec<Pair>> = BTreeMap::new();
    for (work, pair) in counted(&file.kernels, on).map(|kernel| pair(kernel, &plain)) {
        of.entry(work).or_default().push(pair);
    }
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    for (work, mut pairs) in of {
        pairs.sort_by(|a, b| a.modelled.total_cmp(&b.modelled).then(a.measured.total_cmp(&b.measured)));
        for (i, pair) in pairs.into_iter().enumerate() {
            if i % 3 == 1 { &mut held } else { &mut seen }.push((work, pair));
        }
    }
    let curves = Curves::fit(&seen);
    let known: Vec<_> = held.iter().filter_map(|(work, pair)| Some((curves.get(*work)?, *pair))).collect();
    if known.is_empty() {
        return None;
    }
    let off = |modelled: f64, measured: f64| (modelled / measured - 1.0).abs();
    let before = known.iter().map(|(_, p)| off(p.modelled, p.measured)).collect();
    let after = known.iter().map(|(curve, p)| off(curve.time(p.modelled), p.measured)).collect();
    let inside = known.iter().filter(|(curve, p)| {
        libm::log(curve.time(p.modelled) / p.measured).abs() <= crate::interval::Z90 * curve.sigma
    });
    let covered = inside.count() as f64 / known.len() as f64;
    Some(Error { on, kernels: known.len(), before: median(before), after: median(after), covered })
}

/// The devices that were measured.
fn devices(calibration: &Calibration) -> impl Iterator<Item = (On, &Device)> {
    let cpu = calibration.cpu.as_ref().map(|cpu| (On::Cpu, &cpu.device));
    cpu.into_iter().chain(calibration.gpu.as_ref().map(|gpu| (On::Gpu, gpu)))
}

/// Of at least one number.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
