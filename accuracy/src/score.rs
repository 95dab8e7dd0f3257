//! How wrong the model is, by file, GPU, op and dtype, and on whole networks.

use crate::data::{Data, Kernel};
use crate::networks::Network;
use crate::programs::{self, StepRow};
use crate::statistics::{mean, quantile};
use crate::{Result, fit};
use breakeven::hardware::Device;
use breakeven::interval::Interval;
use breakeven::kernel::{Bound, Constants, KernelTime, Recorded, kernel_time, kernel_time_with, sum_of};
use breakeven::units::{Bytes, Seconds};
use breakeven::workload::{Dtype, Family, Op};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Dispatch of one op by eager PyTorch, s: what a launch-bound row of the kernel table shows, less its events.
const DISPATCH: f64 = 10e-6;
/// A call of eager PyTorch that only makes another view, s: a third of a dispatch.
const VIEW: f64 = 3e-6;

/// The tables that `score` prints.
#[derive(Serialize)]
pub struct Report {
    /// `Constants::fingerprint` of the tables that ship.
    pub constants: String,
    pub kernels: Vec<KernelRow>,
    pub networks: Vec<NetworkRow>,
    /// Training jobs timed by others, whose graphs are ours.
    pub jobs: Vec<NetworkRow>,
    /// Steps of image networks in half precision.
    pub steps: Vec<StepRow>,
    pub summary: Summary,
    /// What ships says of one kernel of each row of `kernels`: tells a report that is older than the model.
    pub shipped: Vec<Shipped>,
}

/// One kernel as the core times it, whatever its clock was.
#[derive(Serialize)]
pub struct Shipped {
    /// Id in the catalogue.
    pub gpu: String,
    pub op: Op,
    pub dtype: Dtype,
    pub p50_us: f64,
    pub sigma_shared: f64,
    pub sigma_own: f64,
}

/// All kernels of one op and dtype on one GPU. Errors are of the rows above the launch floor; `null` where there is none.
#[derive(Serialize)]
pub struct KernelRow {
    pub file: &'static str,
    pub gpu: String,
    pub op: String,
    pub dtype: String,
    pub n: usize,
    pub n_above_floor: usize,
    pub median_ape: f64,
    pub mean_ape: f64,
    pub p90_ape: f64,
    /// Median of modelled ÷ measured − 1.
    pub bias: f64,
    /// Sum of modelled ÷ sum of measured − 1.
    pub total_error: f64,
    pub coverage80: f64,
    /// Median p90 ÷ p10.
    pub width80: f64,
    /// The same rows by others: median error, and sum of modelled ÷ sum of measured − 1. NeuSight's where the file has
    /// them; a plain roofline takes the longer of arithmetic and bytes at the datasheet's peaks.
    pub neusight_median_ape: Option<f64>,
    pub neusight_total_error: Option<f64>,
    pub roofline_median_ape: f64,
    pub roofline_total_error: f64,
}

#[derive(Serialize)]
pub struct NetworkRow {
    pub gpu: String,
    pub model: String,
    pub phase: String,
    pub seq: u64,
    pub batch: u64,
    pub measured_ms: f64,
    pub p10_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub neusight_ms: Option<f64>,
    pub roofline_ms: Option<f64>,
    /// Share of the calls that nobody knows: their time is missing.
    pub unknown_share: f64,
}

#[derive(Serialize)]
pub struct Summary {
    pub networks_mean_ape: f64,
    pub networks_median_ape: f64,
    pub networks_p90_ape: f64,
    pub networks_coverage80: f64,
    pub networks_width80: f64,
    pub networks_neusight_mean_ape: f64,
    pub networks_roofline_mean_ape: f64,
    pub kernels_median_ape: f64,
    pub kernels_coverage80: f64,
    /// Median p90 ÷ p10.
    pub kernels_width80: f64,
    /// Mean pinball loss of p10 and p90, of logarithms of time; the best interval of one width for all beside it.
    pub kernels_pinball: f64,
    pub kernels_pinball_constant: f64,
}

/// A report and the modelled time of every kernel.
pub struct Score {
    pub report: Report,
    modelled: Vec<Interval>,
}

pub fn with_shipped(data: &Data) -> Score {
    score(data, |_| Constants::shipped())
}

pub fn leave_one_out(data: &Data, which: Fold) -> Score {
    let fits = Fits::of(data, which);
    score(data, |gpu| fits.without(gpu))
}

/// What is left out together.
#[derive(Clone, Copy, Debug)]
pub enum Fold {
    /// Boards of one chip.
    Chip,
    /// Boards of one architecture, as its maker calls it.
    Generation,
    /// All of a maker's.
    Maker,
}

/// For each GPU the constants of a fit that has not seen it.
pub struct Fits {
    names: Vec<String>,
    by_name: BTreeMap<String, Constants>,
}

impl Fits {
    pub fn of(data: &Data, which: Fold) -> Self {
        let names: Vec<String> = match which {
            Fold::Chip => data.chips.clone(),
            Fold::Generation => data.gpus.iter().map(|(_, device)| device.architecture.clone()).collect(),
            Fold::Maker => data.gpus.iter().map(|(_, device)| format!("{:?}", device.vendor)).collect(),
        };
        let distinct: Vec<&String> = names.iter().collect::<BTreeSet<_>>().into_iter().collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let by_name = std::thread::scope(|scope| {
            let share = |worker: usize| {
                let (mine, names) = (distinct.iter().skip(worker).step_by(threads), &names);
                let fit = move |name: &&String| ((*name).clone(), fit::without(data, &|gpu| names[gpu] == **name));
                scope.spawn(move || mine.map(fit).collect::<Vec<_>>())
            };
            let workers: Vec<_> = (0..threads).map(share).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("a fit does not panic")).collect()
        });
        Self { names, by_name }
    }

    pub fn without(&self, gpu: usize) -> &Constants {
        &self.by_name[&self.names[gpu]]
    }
}

/// Time of one kernel under the constants, device time alone. A short series of short calls runs before the power limit
/// takes hold, a long one under it, one in between in between.
pub fn device_time(constants: &Constants, data: &Data, kernel: &Kernel) -> KernelTime {
    let of_then = kernel.library.map(|year| Constants { library_year: year, ..constants.clone() });
    let constants = of_then.as_ref().unwrap_or(constants);
    let Kernel { one_each, channels_last, .. } = *kernel;
    let recorded = Recorded { one_each, channels_last, ..Recorded::default() };
    let on = |device| kernel_time_with(constants, &kernel.op, kernel.dtype, recorded, device);
    let device = &data.gpus[kernel.gpu].1;
    // The core takes a product's operands for cold, as a layer's weights are.
    let fits = |op: &Op| match *op {
        Op::Matmul { m, n, k, batch, .. } => {
            let bytes = ((m * k + k * n + m * n) * batch) as f64 * kernel.dtype.bytes() as f64;
            device.cache.is_some_and(|cache| bytes <= kernel.hot * cache.get())
        }
        _ => false,
    };
    if fits(&kernel.op) {
        return on(&data.hot[kernel.gpu]);
    }
    let sustained = on(device);
    if kernel.burst <= 0.0 || sustained.p50.get() > 30.0 * kernel.burst || sustained.bound != Bound::Compute {
        return sustained;
    }
    let unlimited = on(&data.unlimited[kernel.gpu]).p50.get();
    let share = kernel.burst / (kernel.burst + sustained.p50.get());
    let p50 = sustained.p50.get() * (unlimited / sustained.p50.get()).powf(share);
    KernelTime { p50: Seconds(p50), ..sustained }
}

/// The longer of arithmetic at the datasheet's peak and bytes at its bandwidth, s.
fn roofline(data: &Data, kernel: &Kernel) -> f64 {
    let device = &data.gpus[kernel.gpu].1;
    let need = kernel_time(&kernel.op, kernel.dtype, Bytes::ZERO, Bytes::ZERO, device);
    at_peak(kernel.op.family(), kernel.dtype, need.flop.get(), device).max(need.bytes.get() / device.bandwidth.get())
}

/// Arithmetic at the datasheet's peak of the units that the family runs on, s.
pub fn at_peak(family: Family, dtype: Dtype, flop: f64, device: &Device) -> f64 {
    let matrix = matches!(family, Family::Matmul | Family::Convolution | Family::Attention);
    let peak = if matrix { device.matrix_peak(dtype).map(|p| p.0) } else { device.vector_peak(dtype) };
    peak.map_or(0.0, |peak| flop / peak.get())
}

/// Median error, and the sum's, of (measured, predicted) pairs; nothing of none.
fn others_errors(rows: &[(f64, f64)]) -> Option<(f64, f64)> {
    if rows.is_empty() {
        return None;
    }
    let mut ape: Vec<f64> = rows.iter().map(|(t, p)| (p / t - 1.0).abs()).collect();
    let total = rows.iter().map(|r| r.1).sum::<f64>() / rows.iter().map(|r| r.0).sum::<f64>() - 1.0;
    Some((quantile(&mut ape, 0.5), total))
}

fn score<'c>(data: &Data, constants: impl Fn(usize) -> &'c Constants) -> Score {
    let steps = programs::rows(data, &constants);
    let modelled: Vec<Interval> = data
        .kernels
        .iter()
        .map(|kernel| {
            let time = device_time(constants(kernel.gpu), data, kernel);
            let sigma = time.sigma_shared.hypot(time.sigma_own);
            Interval::log_normal(time.p50.get(), sigma).map_increasing(|t| kernel.as_measured(t))
        })
        .collect();
    let mut cells: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, k) in data.kernels.iter().enumerate() {
        cells.entry((k.file, k.gpu, &k.label, &k.dtype_label)).or_default().push(i);
    }
    let shipped = cells.values().map(|rows| shipped(data, &data.kernels[rows[rows.len() / 2]])).collect();
    let kernels = cells
        .into_iter()
        .map(|((file, gpu, op, dtype), rows)| {
            let n = rows.len();
            let rows: Vec<usize> = rows.into_iter().filter(|&i| data.kernels[i].above_floor()).collect();
            let by = |of: &dyn Fn(&Kernel) -> Option<f64>| {
                let pair = |&i: &usize| Some((data.kernels[i].measured, of(&data.kernels[i])?));
                others_errors(&rows.iter().filter_map(pair).collect::<Vec<_>>())
            };
            let neusight = by(&|k| k.neusight);
            let roofline = by(&|k| Some(roofline(data, k))).unwrap_or_default();
            let rows: Vec<_> = rows.into_iter().map(|i| (data.kernels[i].measured, modelled[i])).collect();
            let mut ape: Vec<f64> = rows.iter().map(|(t, m)| (m.p50 / t - 1.0).abs()).collect();
            let mut signed: Vec<f64> = rows.iter().map(|(t, m)| m.p50 / t - 1.0).collect();
            let mut width: Vec<f64> = rows.iter().map(|(_, m)| m.p90 / m.p10).collect();
            // Nothing is known of a cell whose rows all measure the host.
            let known = |x: f64| if rows.is_empty() { f64::NAN } else { x };
            KernelRow {
                file,
                gpu: data.gpus[gpu].0.clone(),
                op: op.clone(),
                dtype: dtype.clone(),
                n,
                n_above_floor: rows.len(),
                mean_ape: known(mean(&ape)),
                median_ape: known(quantile(&mut ape, 0.5)),
                p90_ape: known(quantile(&mut ape, 0.9)),
                bias: known(quantile(&mut signed, 0.5)),
                total_error: rows.iter().map(|r| r.1.p50).sum::<f64>() / rows.iter().map(|r| r.0).sum::<f64>() - 1.0,
                coverage80: known(covered(&rows)),
                width80: known(quantile(&mut width, 0.5)),
                neusight_median_ape: neusight.map(|n| n.0),
                neusight_total_error: neusight.map(|n| n.1),
                roofline_median_ape: known(roofline.0),
                roofline_total_error: known(roofline.1),
            }
        })
        .collect();
    let networks: Vec<_> =
        data.networks.iter().map(|n| (n, network_time(constants(n.gpu), &data.gpus[n.gpu].1, n))).collect();
    let mut ape: Vec<f64> = networks.iter().map(|(n, m)| (m.p50 / n.measured - 1.0).abs()).collect();
    let mut width: Vec<f64> = networks.iter().map(|(_, m)| m.p90 / m.p10).collect();
    let pairs: Vec<_> = networks.iter().map(|(n, m)| (n.measured, *m)).collect();
    let others = |of: fn(&Network) -> Option<f64>| {
        let errors: Vec<f64> = data.networks.iter().filter_map(|n| Some((of(n)? / n.measured - 1.0).abs())).collect();
        if errors.is_empty() { f64::NAN } else { mean(&errors) }
    };
    let above: Vec<_> = (0..modelled.len())
        .filter(|&i| data.kernels[i].above_floor())
        .map(|i| (data.kernels[i].measured, modelled[i]))
        .collect();
    // Of nothing there is no error: `null`, not 0.
    let of = |none: bool, x: f64| if none { f64::NAN } else { x };
    let (none, no_kernel) = (networks.is_empty(), above.is_empty());
    let summary = Summary {
        networks_mean_ape: of(none, mean(&ape)),
        networks_median_ape: of(none, quantile(&mut ape, 0.5)),
        networks_p90_ape: of(none, quantile(&mut ape, 0.9)),
        networks_coverage80: of(none, covered(&pairs)),
        networks_width80: of(none, quantile(&mut width, 0.5)),
        networks_neusight_mean_ape: others(|n| n.neusight),
        networks_roofline_mean_ape: others(|n| n.roofline),
        kernels_median_ape: of(
            no_kernel,
            quantile(&mut above.iter().map(|(t, m)| (m.p50 / t - 1.0).abs()).collect::<Vec<_>>(), 0.5),
        ),
        kernels_coverage80: of(no_kernel, covered(&above)),
        kernels_width80: of(
            no_kernel,
            quantile(&mut above.iter().map(|(_, m)| m.p90 / m.p10).collect::<Vec<_>>(), 0.5),
        ),
        kernels_pinball: of(no_kernel, pinball(&above, |m| [(m.p10 / m.p50).ln(), (m.p90 / m.p50).ln()])),
        kernels_pinball_constant: of(
            no_kernel,
            (2..100).map(|c| 0.01 * f64::from(c)).map(|c| pinball(&above, |_| [-c, c])).fold(f64::INFINITY, f64::min),
        ),
    };
    let row = |(n, m): (&Network, Interval)| NetworkRow {
        gpu: data.gpus[n.gpu].0.clone(),
        model: n.model.clone(),
        phase: n.phase.clone(),
        seq: n.seq,
        batch: n.batch,
        measured_ms: n.measured * 1e3,
        p10_ms: m.p10 * 1e3,
        p50_ms: m.p50 * 1e3,
        p90_ms: m.p90 * 1e3,
        neusight_ms: n.neusight.map(|t| t * 1e3),
        roofline_ms: n.roofline.map(|t| t * 1e3),
        unknown_share: n.unknown_share(),
    };
    let networks = networks.into_iter().map(row).collect();
    let jobs = data.jobs.iter().map(|n| row((n, network_time(constants(n.gpu), &data.gpus[n.gpu].1, n)))).collect();
    Score {
        report: Report { constants: Constants::fingerprint(), kernels, networks, jobs, steps, summary, shipped },
        modelled,
    }
}

fn shipped(data: &Data, kernel: &Kernel) -> Shipped {
    let device = &data.gpus[kernel.gpu].1;
    let time = kernel_time(&kernel.op, kernel.dtype, Bytes::ZERO, Bytes::ZERO, device);
    Shipped {
        gpu: device.id.clone(),
        op: kernel.op.clone(),
        dtype: kernel.dtype,
        p50_us: time.p50.get() * 1e6,
        sigma_shared: time.sigma_shared,
        sigma_own: time.sigma_own,
    }
}

/// Mean pinball loss of the ends of `interval` (logarithms of time over p50) at 10 and 90 %.
fn pinball(rows: &[(f64, Interval)], interval: impl Fn(&Interval) -> [f64; 2]) -> f64 {
    let loss = |(time, modelled): &(f64, Interval)| {
        let error = (time / modelled.p50).ln();
        let [low, high] = interval(modelled);
        let one = |q: f64, at: f64| (q * (error - at)).max((q - 1.0) * (error - at));
        0.5 * (one(0.1, low) + one(0.9, high))
    };
    mean(&rows.iter().map(loss).collect::<Vec<_>>())
}

/// Share of measurements inside their interval.
fn covered(rows: &[(f64, Interval)]) -> f64 {
    mean(&rows.iter().map(|(t, m)| f64::from(m.p10 <= *t && *t <= m.p90)).collect::<Vec<_>>())
}

/// The host hands calls over while the device works through its queue: a call starts when both are ready for it. Calls
/// that run no kernel take the host's time alone. Small arrays that the call before has just written are found in L2 by
/// the kernel model itself.
pub fn network_time(constants: &Constants, device: &Device, network: &Network) -> Interval {
    let time = |op| kernel_time_with(constants, op, network.dtype, Recorded::default(), device);
    let times: Vec<KernelTime> = network.distinct.iter().map(|(op, _)| time(op)).collect();
    // Repeats of one op share its error.
    let all = |((_, repeat), t): (&(Op, f64), &KernelTime)| [t.p50.get() * repeat, t.sigma_shared, t.sigma_own];
    let [seconds, sigma] = sum_of(constants, network.distinct.iter().zip(&times).map(all));
    let call = |&(at, repeat): &(Option<usize>, f64)| match at {
        Some(at) => (times[at].p50.get(), f64::from(times[at].launches), repeat),
        None => (0.0, 0.0, repeat),
    };
    let times: Vec<_> = network.calls.iter().map(call).collect();
    // What nobody knows may take as long as the rest of its size.
    let sigma = (sigma / seconds.max(1e-12)).hypot(network.unknown_share());
    let waited = queue(&times) - seconds;
    Interval::log_normal(seconds, sigma).map_increasing(|t| t + waited.max(0.0))
}

/// Device seconds of all kernels of a network, one after the other.
pub fn busy_time(constants: &Constants, data: &Data, network: &Network) -> f64 {
    let device = &data.gpus[network.gpu].1;
    let time = |op| kernel_time_with(constants, op, network.dtype, Recorded::default(), device).p50.get();
    network.distinct.iter().map(|(op, repeat)| time(op) * repeat).sum()
}

/// Seconds until the device is done with calls of (device seconds, launches, repeats). Neighbours that repeat equally
/// often are the body of a loop.
fn queue(calls: &[(f64, f64, f64)]) -> f64 {
    let (mut host, mut device) = (0.0_f64, 0.0_f64);
    for body in calls.chunk_by(|a, b| a.2 == b.2) {
        let rounds = body[0].2.clamp(0.0, 1e4) as usize;
        for _ in 0..rounds {
            for &(seconds, launches, _) in body {
                host += if launches > 0.0 { DISPATCH * launches } else { VIEW };
                if launches > 0.0 {
                    device = device.max(host) + seconds;
                }
            }
        }
    }
    device.max(host)
}

impl Score {
    pub fn write_rows(&self, data: &Data, file: &Path) -> Result<()> {
        let mut out = csv::Writer::from_path(file)?;
        out.write_record([
            "file",
            "gpu",
            "op",
            "dtype",
            "dims",
            "measured_us",
            "floor_us",
            "p10_us",
            "p50_us",
            "p90_us",
        ])?;
        for (kernel, m) in data.kernels.iter().zip(&self.modelled) {
            let us = |t: f64| format!("{:.3}", t * 1e6);
            out.write_record([
                kernel.file,
                &data.gpus[kernel.gpu].0,
                &kernel.label,
                &kernel.dtype_label,
                &serde_json::to_string(&kernel.op)?,
                &us(kernel.measured),
                &us(kernel.floor),
                &us(m.p10),
                &us(m.p50),
                &us(m.p90),
            ])?;
        }
        Ok(out.flush()?)
    }
}

impl Report {
    /// Tables for people, errors in per cent.
    pub fn text(&self) -> String {
        use std::fmt::Write;
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{:<24}{:<9}{:<11}{:>7}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>7}",
            "gpu", "op", "dtype", "rows", "median", "mean", "p90", "bias", "total", "cover", "width"
        );
        for k in &self.kernels {
            let _ = writeln!(
                out,
                "{:<24}{:<9}{:<11}{:>7}{:>8.1}{:>8.1}{:>8.1}{:>+8.1}{:>+8.1}{:>8.1}{:>7.2}",
                k.gpu,
                k.op,
                k.dtype,
                k.n_above_floor,
                k.median_ape * 100.0,
                k.mean_ape * 100.0,
                k.p90_ape * 100.0,
                k.bias * 100.0,
                k.total_error * 100.0,
                k.coverage80 * 100.0,
                k.width80
            );
        }
        for n in self.networks.iter().chain(&self.jobs) {
            let error =
                |ms: Option<f64>| ms.map_or("-".into(), |ms| format!("{:+.1}", (ms / n.measured_ms - 1.0) * 100.0));
            let _ = writeln!(
                out,
                "{:<24}{:<11}{:<6}{:>5}{:>4}{:>10.1} ms{:>10.1} [{:.1}, {:.1}]{:>8}{:>8}{:>8}",
                n.gpu,
                n.model,
                n.phase,
                n.seq,
                n.batch,
                n.measured_ms,
                n.p50_ms,
                n.p10_ms,
                n.p90_ms,
                error(Some(n.p50_ms)),
                error(n.neusight_ms),
                error(n.roofline_ms),
            );
        }
        out += &crate::programs::text(&self.steps);
        let s = &self.summary;
        let known = |x: f64, text: String| if x.is_nan() { "-".into() } else { text };
        let percent = |x: f64| known(x, format!("{:.1} %", x * 100.0));
        let share = |x: f64| known(x, format!("{:.0} %", x * 100.0));
        let _ = writeln!(
            out,
            "networks: mean {}, median {}, p90 {}, cover {}, width {}; NeuSight {}, roofline {}",
            percent(s.networks_mean_ape),
            percent(s.networks_median_ape),
            percent(s.networks_p90_ape),
            share(s.networks_coverage80),
            known(s.networks_width80, format!("{:.2}", s.networks_width80)),
            percent(s.networks_neusight_mean_ape),
            percent(s.networks_roofline_mean_ape),
        );
        let _ =
            writeln!(out, "kernels: median {}, cover {}", percent(s.kernels_median_ape), share(s.kernels_coverage80));
        out
    }
}
