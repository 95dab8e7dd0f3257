//! How far times that are carried from one GPU to another are off: `accuracy carry` fits the table of ratios to pairs
//! of measured GPUs, scores it on GPUs that neither it nor the kernel model has seen, and says both.

mod kernels;
mod networks;

use crate::data::Data;
use crate::statistics::mean;
use crate::{Result, fit};
use breakeven::carry::{Kinship, Spreads};
use breakeven::kernel::Constants;
use kernels::{FamilyRow, Residual};
use networks::{ProgramRow, Traced};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// What `carry` prints.
#[derive(Serialize)]
pub struct Report {
    /// `Constants::fingerprint` of the kernel model that ships.
    pub constants: String,
    /// The table fitted to all pairs, as the engine embeds it.
    pub spread: String,
    /// Pairs of kernels by family, each target left out.
    pub kernels: Vec<FamilyRow>,
    /// Whole networks, each target left out.
    pub programs: Vec<ProgramRow>,
    pub summary: Summary,
}

/// Whole networks. `traced`: between GPUs that both have traces.
#[derive(Serialize)]
pub struct Summary {
    pub traced: Figures,
    pub all: Figures,
}

#[derive(Serialize)]
pub struct Figures {
    pub pairs: usize,
    pub mean_ape: f64,
    pub model_mean_ape: f64,
    pub ratio_mean_ape: f64,
    pub coverage80: f64,
    pub model_coverage80: f64,
    /// Median of (p90 − p10) ÷ p50.
    pub width80: f64,
    pub model_width80: f64,
}

/// Weights that are tried.
const WEIGHTS: usize = 20;
/// What whole programs are off by that is tried, as a standard deviation of ln(time).
const WHOLE: usize = 200;

/// Targets are the GPUs that have traces of whole networks, or with `all` every one that shares kernels with another: a
/// fit for each chip takes a minute.
pub fn report(data: &Data, folder: &Path, all: bool) -> Result<Report> {
    let traced = networks::read(&folder.join("networks/traces"), data)?;
    let traces: BTreeSet<usize> = traced.iter().map(|one| one.network.gpu).collect();
    let wanted = |gpu: usize| all || traces.contains(&gpu);
    let pairs: Vec<_> = kernels::pairs(data).into_iter().filter(|pair| wanted(pair.to)).collect();
    let timed = traced.iter().flat_map(Traced::targets).filter(|gpu| wanted(*gpu));
    let targets: BTreeSet<usize> = pairs.iter().map(|pair| pair.to).chain(timed).collect();
    let fits = fits(data, &targets);
    let residuals: Vec<Residual> =
        pairs.iter().flat_map(|pair| pair.residuals(data, &fits[&data.chips[pair.to]])).collect();
    let spread_without = |chip: Option<&str>| -> Result<String> {
        let seen: Vec<&Residual> =
            residuals.iter().filter(|r| chip.is_none_or(|chip| !r.touches(data, chip))).collect();
        let table = kernels::table(&seen);
        let tried = |whole: f64| table.clone() + &kernels::whole(whole);
        let spreads = Spreads::read(&tried(0.0))?;
        let mut logs = Vec::new();
        for one in traced.iter().filter(|one| chip.is_none_or(|chip| data.chips[one.network.gpu] != chip)) {
            for to in one.targets().filter(|to| targets.contains(to) && chip.is_none_or(|chip| data.chips[*to] != chip))
            {
                let row = one.carried(data, to, &fits[&data.chips[to]], &spreads);
                logs.push(row);
            }
        }
        // The least that holds four in five, each GPU as a target counting alike.
        let held = |whole: f64| {
            let mut by_target: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for row in &logs {
                by_target.entry(&row.to).or_default().push(f64::from(row.held(whole)));
            }
            mean(&by_target.values().map(|held| mean(held)).collect::<Vec<_>>())
        };
        let whole = (0..=WHOLE).map(|step| step as f64 * 1e-3).find(|whole| held(*whole) >= 0.8).unwrap_or(0.2);
        Ok(tried(whole))
    };
    let mut programs = Vec::new();
    let mut tables: BTreeMap<&str, Spreads> = BTreeMap::new();
    for to in &targets {
        let chip = data.chips[*to].as_str();
        if !tables.contains_key(chip) {
            tables.insert(chip, Spreads::read(&spread_without(Some(chip))?)?);
        }
    }
    for one in &traced {
        for to in one.targets().filter(|to| targets.contains(to)) {
            let chip = data.chips[to].as_str();
            programs.push(one.carried(data, to, &fits[chip], &tables[chip]));
        }
    }
    let kernels = kernels::rows(data, &residuals, &tables);
    let traced_pairs: Vec<&ProgramRow> = programs.iter().filter(|row| row.both_traced).collect();
    let summary = Summary { traced: figures(&traced_pairs), all: figures(&programs.iter().collect::<Vec<_>>()) };
    Ok(Report { constants: Constants::fingerprint(), spread: spread_without(None)?, kernels, programs, summary })
}

/// A fit without each of these chips.
fn fits(data: &Data, targets: &BTreeSet<usize>) -> BTreeMap<String, Constants> {
    let chips: BTreeSet<&String> = targets.iter().map(|gpu| &data.chips[*gpu]).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let share = |worker: usize| {
            let mine = chips.iter().skip(worker).step_by(threads).copied();
            let fit = move |chip: &String| (chip.clone(), fit::without(data, &|gpu| data.chips[gpu] == *chip));
            scope.spawn(move || mine.map(fit).collect::<Vec<_>>())
        };
        let workers: Vec<_> = (0..threads).map(share).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a fit does not panic")).collect()
    })
}

fn figures(rows: &[&ProgramRow]) -> Figures {
    let of = |figure: fn(&ProgramRow) -> f64| rows.iter().map(|row| figure(row)).collect::<Vec<_>>();
    let median = |mut values: Vec<f64>| crate::statistics::quantile(&mut values, 0.5);
    let off = |seconds: f64, measured: f64| (seconds / measured - 1.0).abs();
    Figures {
        pairs: rows.len(),
        mean_ape: mean(&rows.iter().map(|row| off(row.p50_ms, row.measured_ms)).collect::<Vec<_>>()),
        model_mean_ape: mean(&rows.iter().map(|row| off(row.model_ms[1], row.measured_ms)).collect::<Vec<_>>()),
        ratio_mean_ape: mean(&rows.iter().map(|row| off(row.ratio_ms, row.measured_ms)).collect::<Vec<_>>()),
        coverage80: mean(&of(|row| f64::from(row.p10_ms <= row.measured_ms && row.measured_ms <= row.p90_ms))),
        model_coverage80: mean(&of(|row| {
            f64::from(row.model_ms[0] <= row.measured_ms && row.measured_ms <= row.model_ms[2])
        })),
        width80: median(of(|row| (row.p90_ms - row.p10_ms) / row.p50_ms)),
        model_width80: median(of(|row| (row.model_ms[2] - row.model_ms[0]) / row.model_ms[1])),
    }
}

impl Report {
    /// Tables for people, errors in per cent.
    pub fn text(&self) -> String {
        let mut out = String::from(
            "family        known  kinship  pairs  kernels  weight  error %: carried  model  ratio  in 80 %  \
             width: carried  model\n",
        );
        for r in &self.kernels {
            let _ = writeln!(
                out,
                "{:<13} {:<6} {:<7} {:>6} {:>8} {:>7.2} {:>17.1} {:>6.1} {:>6.1} {:>8.0} {:>15.2} {:>6.2}",
                r.family,
                r.known,
                r.kinship,
                r.pairs,
                r.kernels,
                r.weight,
                100.0 * r.median_ape,
                100.0 * r.model_median_ape,
                100.0 * r.ratio_median_ape,
                100.0 * r.coverage80,
                r.width80,
                r.model_width80,
            );
        }
        for r in &self.programs {
            let error = |ms: f64| 100.0 * (ms / r.measured_ms - 1.0);
            let _ = writeln!(
                out,
                "{:<22} from {:<21} to {:<21} {:>9.1} ms {:>9.1} [{:.1}, {:.1}] {:>+6.1} model {:>+6.1} ratio {:>+6.1}",
                r.network,
                r.from,
                r.to,
                r.measured_ms,
                r.p50_ms,
                r.p10_ms,
                r.p90_ms,
                error(r.p50_ms),
                error(r.model_ms[1]),
                error(r.ratio_ms),
            );
        }
        for (what, f) in [("both traced", &self.summary.traced), ("all", &self.summary.all)] {
            let _ = writeln!(
                out,
                "{what}: {} pairs, mean error {:.1} % (model {:.1}, ratio alone {:.1}), in the 80 % interval {:.0} % \
                 (model {:.0}), width {:.3} (model {:.3}: {:.2} ×)",
                f.pairs,
                100.0 * f.mean_ape,
                100.0 * f.model_mean_ape,
                100.0 * f.ratio_mean_ape,
                100.0 * f.coverage80,
                100.0 * f.model_coverage80,
                f.width80,
                f.model_width80,
                f.width80 / f.model_width80,
            );
        }
        out + "\n" + &self.spread
    }
}

/// The weight of least mean square of `error`, each pair of GPUs counting alike.
fn best_weight(pairs: &[Vec<(f64, f64)>]) -> f64 {
    let loss = |weight: f64| {
        let of = |rows: &Vec<(f64, f64)>| {
            mean(&rows.iter().map(|(to, from)| (to - weight * from).abs()).collect::<Vec<_>>())
        };
        mean(&pairs.iter().map(of).collect::<Vec<_>>())
    };
    let tried = (0..=WEIGHTS).map(|step| step as f64 / WEIGHTS as f64);
    tried.min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(1.0)
}

/// Which kinships there are between different GPUs.
const KINSHIPS: [Kinship; 2] = [Kinship::Same, Kinship::Other];
