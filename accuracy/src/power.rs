//! Watts: the power model against `power/power_zeus_traces.csv` (mean watts and time of training jobs under power caps).
//!
//! Utilisations come from the measured time and the work of the job (`power_jobs.csv`): arithmetic per second over the
//! peak, bytes per second over the bandwidth.

use crate::Result;
use crate::data::Gpus;
use crate::statistics::{mean, quantile};
use breakeven::hardware::Device;
use breakeven::kernel::{PowerConstants, capped_speed, power, power_with};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Names and ranges of what is fitted at the default cap.
const FITTED: [(&str, f64, f64); 4] =
    [("floor_hpc", 0.08, 0.3), ("floor_other", 0.15, 0.4), ("compute", 0.3, 1.1), ("memory", 0.1, 0.65)];

/// One measured job under one cap.
struct Run {
    gpu: usize,
    job: String,
    /// Runs of the same job, batch and optimiser differ by their caps.
    of: String,
    cap: f64,
    seconds: f64,
    watts: f64,
    u_compute: f64,
    u_memory: f64,
}

/// What `accuracy power` prints.
#[derive(Serialize)]
pub struct Report {
    rows: Vec<Row>,
    watts_mean_ape: f64,
    watts_median_ape: f64,
    watts_p90_ape: f64,
    watts_coverage80: f64,
    /// TDP for every job, on the same runs.
    tdp_mean_ape: f64,
    /// Time under a cap, from watts and time without: mean error, and that of "a cap costs nothing".
    capped_time_mean_ape: f64,
    uncapped_time_mean_ape: f64,
    runs: usize,
    capped_runs: usize,
    /// What ships says of the first job of each row: tells a report that is older than the model.
    shipped: Vec<Shipped>,
}

/// Watts of one job, and its speed under half the power limit.
#[derive(Serialize, Deserialize)]
pub struct Shipped {
    /// Id in the catalogue.
    gpu: String,
    u_compute: f64,
    u_memory: f64,
    watts: f64,
    p90_watts: f64,
    capped_speed: f64,
}

impl Shipped {
    fn of(device: &Device, u_compute: f64, u_memory: f64) -> Self {
        let watts = power(device, u_compute, u_memory, 0.0);
        let cap = 0.5 * device.tdp.map_or(0.0, |limit| limit.get());
        let capped_speed = capped_speed(PowerConstants::shipped(), device, watts.p50, cap);
        Self { gpu: device.id.clone(), u_compute, u_memory, watts: watts.p50, p90_watts: watts.p90, capped_speed }
    }

    /// How far the model of now is from it, as a share.
    #[cfg(test)]
    pub fn moved(&self) -> f64 {
        let gpu = breakeven::hardware::Catalogue::embedded().gpu(&self.gpu).expect("in the catalogue");
        let now = Self::of(&gpu.device, self.u_compute, self.u_memory);
        let pairs = [(now.watts, self.watts), (now.p90_watts, self.p90_watts), (now.capped_speed, self.capped_speed)];
        pairs.iter().map(|(now, then)| (now - then).abs() / then.max(1e-6)).fold(0.0, f64::max)
    }
}

/// Jobs of one network on one GPU at the default cap.
#[derive(Serialize)]
struct Row {
    gpu: String,
    job: String,
    n: usize,
    mean_ape: f64,
    bias: f64,
}

/// Reads, fits (without each GPU in turn where asked) and scores.
pub fn score(folder: &Path, leave_one_out: bool) -> Result<Report> {
    let mut gpus = Gpus::default();
    let runs = read(folder, &mut gpus)?;
    let devices = gpus.devices();
    let fits: Vec<PowerConstants> = (0..devices.len())
        .map(|gpu| match leave_one_out {
            true => fit(runs.iter().filter(|r| r.gpu != gpu), &devices),
            false => PowerConstants::shipped().clone(),
        })
        .collect();
    let default = |r: &Run| devices[r.gpu].1.tdp.is_some_and(|w| r.cap >= w.get());
    let mut cells: BTreeMap<(usize, &str), Vec<f64>> = BTreeMap::new();
    let (mut inside, mut tdp) = (Vec::new(), Vec::new());
    for run in runs.iter().filter(|r| default(r)) {
        let device = &devices[run.gpu].1;
        let watts = power_with(&fits[run.gpu], device, run.u_compute, run.u_memory, 0.0);
        cells.entry((run.gpu, &run.job)).or_default().push(watts.p50 / run.watts - 1.0);
        inside.push(f64::from(watts.p10 <= run.watts && run.watts <= watts.p90));
        tdp.push((device.tdp.map_or(0.0, |w| w.get()) / run.watts - 1.0).abs());
    }
    let mut ape: Vec<f64> = cells.values().flatten().map(|e| e.abs()).collect();
    let (mut capped, mut uncapped) = (Vec::new(), Vec::new());
    for run in runs.iter().filter(|r| !default(r)) {
        if let Some(free) = runs.iter().find(|r| default(r) && r.gpu == run.gpu && r.of == run.of) {
            let speed = capped_speed(&fits[run.gpu], &devices[run.gpu].1, free.watts, run.cap);
            capped.push((free.seconds / speed.max(0.05) / run.seconds - 1.0).abs());
            uncapped.push((free.seconds / run.seconds - 1.0).abs());
        }
    }
    let first = |&(gpu, job): &(usize, &str)| {
        let run = runs.iter().find(|r| r.gpu == gpu && r.job == job)?;
        Some(Shipped::of(&devices[gpu].1, run.u_compute, run.u_memory))
    };
    let shipped = cells.keys().filter_map(first).collect();
    let rows = cells
        .iter()
        .map(|((gpu, job), errors)| Row {
            gpu: devices[*gpu].0.clone(),
            job: (*job).to_owned(),
            n: errors.len(),
            mean_ape: mean(&errors.iter().map(|e| e.abs()).collect::<Vec<_>>()),
            bias: mean(errors),
        })
        .collect();
    Ok(Report {
        rows,
        watts_mean_ape: mean(&ape),
        runs: ape.len(),
        watts_median_ape: quantile(&mut ape, 0.5),
        watts_p90_ape: quantile(&mut ape, 0.9),
        watts_coverage80: mean(&inside),
        tdp_mean_ape: mean(&tdp),
        capped_time_mean_ape: mean(&capped),
        uncapped_time_mean_ape: mean(&uncapped),
        capped_runs: capped.len(),
        shipped,
    })
}

/// The constants for all of `folder`, as lines of `power.csv`.
pub fn fitted(folder: &Path) -> Result<String> {
    let mut gpus = Gpus::default();
    let runs = read(folder, &mut gpus)?;
    let mut constants = fit(runs.iter(), &gpus.devices());
    let lines = ["floor_hpc", "floor_other", "compute", "memory", "cap"].map(|name| {
        let value = constants.get_mut(name).map_or(0.0, |v| (*v * 1e3).round() / 1e3);
        format!("{name},{value}\n")
    });
    Ok(lines.concat())
}

/// Coordinate descent from the middle of each range on the mean error of watts, then of the time under caps.
fn fit<'r>(runs: impl Iterator<Item = &'r Run>, devices: &[(String, Device)]) -> PowerConstants {
    let runs: Vec<&Run> = runs.collect();
    let default = |r: &&&Run| devices[r.gpu].1.tdp.is_some_and(|w| r.cap >= w.get());
    let free: Vec<&Run> = runs.iter().filter(default).copied().collect();
    let mut c = PowerConstants::shipped().clone();
    for (name, low, high) in FITTED {
        set(&mut c, name, (low + high) / 2.0);
    }
    let watts = |c: &PowerConstants| {
        let error =
            |r: &&Run| (power_with(c, &devices[r.gpu].1, r.u_compute, r.u_memory, 0.0).p50 / r.watts - 1.0).abs();
        mean(&free.iter().map(error).collect::<Vec<_>>())
    };
    descend(&mut c, &FITTED, watts);
    let pairs: Vec<(&Run, &Run)> = runs
        .iter()
        .filter(|r| !default(r))
        .filter_map(|r| free.iter().find(|f| f.gpu == r.gpu && f.of == r.of).map(|f| (*r, *f)))
        .collect();
    descend(&mut c, &[("cap", 1.0, 4.0)], |c| {
        let error = |(r, f): &(&Run, &Run)| {
            (f.seconds / capped_speed(c, &devices[r.gpu].1, f.watts, r.cap).max(0.05) / r.seconds - 1.0).abs()
        };
        mean(&pairs.iter().map(error).collect::<Vec<_>>())
    });
    c
}

fn set(c: &mut PowerConstants, name: &str, value: f64) -> f64 {
    let place = c.get_mut(name).expect("every fitted constant exists");
    std::mem::replace(place, value)
}

fn descend(c: &mut PowerConstants, ranges: &[(&str, f64, f64)], error: impl Fn(&PowerConstants) -> f64) {
    let mut best = error(c);
    for step in [0.1, 0.03, 0.01, 0.003] {
        let mut moved = true;
        while moved {
            moved = false;
            for &(name, low, high) in ranges {
                for by in [step * (high - low), -step * (high - low)] {
                    let at = *c.get_mut(name).expect("every fitted constant exists");
                    set(c, name, (at + by).clamp(low, high));
                    let tried = error(c);
                    if tried < best - 1e-9 {
                        (best, moved) = (tried, true);
                    } else {
                        set(c, name, at);
                    }
                }
            }
        }
    }
}

fn read(folder: &Path, gpus: &mut Gpus) -> Result<Vec<Run>> {
    let mut jobs = csv::Reader::from_reader(include_str!("../power_jobs.csv").as_bytes());
    let jobs: Vec<csv::StringRecord> = jobs.records().collect::<std::result::Result<_, _>>()?;
    let file = folder.join("power/power_zeus_traces.csv");
    let mut reader = csv::Reader::from_path(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let header = reader.headers()?.clone();
    let mut runs = Vec::new();
    for row in reader.records() {
        let row = row?;
        let cell = |name: &str| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let number = |name: &str| cell(name).parse::<f64>().ok().filter(|x| *x > 0.0);
        let (Some(seconds), Some(watts), Some(cap)) =
            (number("time_per_epoch_s"), number("average_power_w"), number("power_limit_w"))
        else {
            continue;
        };
        let Some(job) = jobs.iter().find(|j| &j[0] == cell("network") && &j[1] == cell("dataset")) else { continue };
        let amount = |i: usize| job[i].parse::<f64>().unwrap_or(0.0);
        let Some(gpu) = gpus.index(cell("gpu")) else { continue };
        let device = gpus.device(gpu);
        let rate = amount(2) / seconds;
        let peak = device.peaks.f32_vector.map_or(f64::INFINITY, |r| r.get());
        runs.push(Run {
            gpu,
            job: format!("{} on {}", &job[0], &job[1]),
            of: format!("{} {} {} {}", &job[0], &job[1], cell("batch_size"), cell("optimizer")),
            cap,
            seconds,
            watts,
            u_compute: rate * amount(3) / peak,
            u_memory: rate * amount(4) / device.bandwidth.get(),
        });
    }
    Ok(runs)
}

impl Report {
    /// For people, errors in per cent.
    pub fn text(&self) -> String {
        let mut out = format!("{:<10}{:<34}{:>5}{:>8}{:>8}\n", "gpu", "job", "runs", "mean", "bias");
        for r in &self.rows {
            out +=
                &format!("{:<10}{:<34}{:>5}{:>8.1}{:>+8.1}\n", r.gpu, r.job, r.n, r.mean_ape * 100.0, r.bias * 100.0);
        }
        out + &format!(
            "watts: mean {:.1} %, median {:.1} %, p90 {:.1} %, cover {:.0} % of {} runs; TDP {:.0} %\n\
             time under a cap: mean {:.1} % of {} runs; if caps cost nothing {:.0} %\n",
            self.watts_mean_ape * 100.0,
            self.watts_median_ape * 100.0,
            self.watts_p90_ape * 100.0,
            self.watts_coverage80 * 100.0,
            self.runs,
            self.tdp_mean_ape * 100.0,
            self.capped_time_mean_ape * 100.0,
            self.capped_runs,
            self.uncapped_time_mean_ape * 100.0
        )
    }
}
