//! Break-even between recorded runs of several sizes: each is estimated as it is, and how the parts grow is fitted.
//!
//! Growth is `c · n^p · log2(n)^q` with exponents from a short list, the performance model normal form of Extra-P
//! (Calotoiu et al., SC '13), of a single term: what is fixed is a part of its own.

use super::first_lasting_win;
use crate::estimate::gpu::{Question, outcome};
use crate::estimate::program::ask;
use crate::hardware::Device;
use crate::interval::Interval;
use crate::request::{Request, Sizes};
use crate::workload::{Site, Workload};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Doublings beyond the recorded sizes that are extrapolated.
const BEYOND: i32 = 4;
/// ln-sigma that each doubling beyond them adds.
const BEYOND_SIGMA: f64 = 0.1;
/// Lines that are told.
const LINES: usize = 8;
/// Runs that a request may hold.
const MOST_RUNS: usize = 32;
const POWERS: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0];
/// Sizes that can be told apart and extrapolated without leaving the numbers.
const SIZES: std::ops::RangeInclusive<f64> = 1e-15..=1e15;
/// Relative error up to which one of the plain exponents is taken.
const PLAIN: f64 = 0.05;

/// Where the GPU starts to win between, or beyond, runs of several sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsCrossing {
    /// Size of the run that the rest of the answer speaks of.
    pub now: f64,
    /// The crossing; `None` where one side wins at all sizes up to sixteen times beyond those recorded.
    pub at: Option<Interval>,
    /// The sizes, smallest first.
    pub points: Vec<RunPoint>,
    /// How the hottest lines grow.
    pub lines: Vec<LineGrowth>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPoint {
    /// The size.
    pub scale: f64,
    /// The CPU's time.
    pub cpu_s: Interval,
    /// The GPU's; `None` where it does not fit.
    pub gpu_s: Option<Interval>,
    /// CPU ÷ GPU.
    pub speedup: Option<Interval>,
    /// It was recorded; else it is extrapolated.
    pub recorded: bool,
}

/// How one function at one line grows with the size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineGrowth {
    /// As `file:line`.
    pub site: String,
    /// The function.
    pub name: String,
    /// How often it is called.
    pub calls: Growth,
    /// Its arithmetic; `None` where it has none.
    pub flop: Option<Growth>,
    /// Its time on the CPU.
    pub cpu: Growth,
}

/// `n^power · log2(n)^log`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Exponent of the size.
    pub power: f64,
    /// Exponent of its logarithm.
    pub log: u32,
}

impl std::fmt::Display for Growth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let log = match self.log {
            0 => "",
            1 => "log n",
            _ => "log² n",
        };
        let space = if self.log > 0 && self.power != 0.0 { " " } else { "" };
        match self.power {
            0.0 if self.log == 0 => f.write_str("constant"),
            0.0 => f.write_str(log),
            1.0 => write!(f, "n{space}{log}"),
            2.0 => write!(f, "n²{space}{log}"),
            3.0 => write!(f, "n³{space}{log}"),
            power => write!(f, "n^{}{space}{log}", (power * 100.0).round() / 100.0),
        }
    }
}

/// Checks the sizes of a request: two or more in all, different, positive.
///
/// # Errors
/// `bad-sizes`.
pub fn check(sizes: &Sizes) -> Result<()> {
    let all: Vec<f64> = sizes.others.iter().map(|run| run.scale).chain([sizes.now]).collect();
    let bad = |message: String| {
        Error::new("bad-sizes", message).hint("sizes are different numbers from 1e-15 to 1e15, 32 at most")
    };
    if let Some(wrong) = all.iter().find(|size| !SIZES.contains(size)) {
        return Err(bad(format!("{wrong} is no size")));
    }
    let mut sorted = all.clone();
    sorted.sort_by(f64::total_cmp);
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(bad("two runs have the same size".to_owned()));
    }
    if all.len() < 2 || all.len() > MOST_RUNS {
        return Err(bad(format!("{} of the 2 to 32 sizes that can be compared are given", all.len())));
    }
    for run in &sizes.others {
        run.workload.check()?;
    }
    Ok(())
}

/// The crossing of `request`'s runs on `device`; `q` is the question about the one that the answer speaks of.
///
/// # Errors
/// As the estimate of any of the runs.
pub fn crossing_of_runs(q: &Question, device: &Device, sizes: &Sizes, request: &Request) -> Result<RunsCrossing> {
    let alone = Request { today: request.today.clone(), options: request.options.clone(), ..Request::default() };
    let mut runs = vec![(sizes.now, Run::of(q, device))];
    for run in &sizes.others {
        runs.push((run.scale, ask(&run.workload, &alone, |q, _| Run::of(q, device))?));
    }
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points = with_beyond(&runs);
    let fine = between(&runs);
    let ratios = |pick: fn(&Interval) -> f64| -> Vec<(f64, f64)> {
        let beyond = points.iter().filter_map(|p| Some((p.scale, p.speedup?)));
        let mut all: Vec<(f64, f64)> = beyond.chain(fine.iter().copied()).map(|(at, s)| (at, pick(&s))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    let at = first_lasting_win(&ratios(|s| s.p50)).map(|p50| {
        let (small, large) = points.first().zip(points.last()).map_or((p50, p50), |(a, b)| (a.scale, b.scale));
        let p10 = first_lasting_win(&ratios(|s| s.p90)).unwrap_or(small).min(p50);
        let p90 = first_lasting_win(&ratios(|s| s.p10)).unwrap_or(large).max(p50);
        Interval { p10, p50, p90 }
    });
    let mut workloads: Vec<(f64, &Workload)> = sizes.others.iter().map(|run| (run.scale, &*run.workload)).collect();
    workloads.push((sizes.now, q.workload));
    Ok(RunsCrossing { now: sizes.now, at, points, lines: lines(&workloads, q.workload) })
}

/// Both sides of one run, and the parts that grow each in its own way.
struct Run {
    cpu: Interval,
    gpu: Option<Interval>,
    speedup: Option<Interval>,
    cpu_parts: [f64; 2],
    gpu_parts: [f64; 7],
    /// Bytes that its operations read and write.
    work: f64,
    /// Their arithmetic, FLOP.
    flop: f64,
    amounts: Amounts,
}

impl Run {
    fn of(q: &Question, device: &Device) -> Self {
        let out = outcome(q, device);
        let cpu = q.cpu_time();
        let b = &out.parts;
        Self {
            cpu,
            gpu: out.time,
            speedup: out.speedup,
            cpu_parts: [q.cpu.ops.p50.min(cpu.p50), (cpu.p50 - q.cpu.ops.p50).max(0.0)],
            gpu_parts: [b.host, b.launch, b.compute, b.memory, b.transfer, b.sync, b.startup],
            work: q.workload.bytes().get(),
            flop: q.workload.flop().get(),
            amounts: amounts(q.workload),
        }
    }
}

/// What the CPU's array work takes at `by` times the size of `last`, as a multiple: each function of each line grows in its
/// own way, no faster than its calls, arithmetic or bytes. What takes the most at large sizes may be nothing beside calls
/// at small ones, and what grew slower than the arithmetic is, towards larger sizes, a part that stays and one that grows
/// as the arithmetic does.
fn cpu_growth(by: f64, [last, before]: [&(f64, Run); 2]) -> f64 {
    let whole = libm::pow(by, slope(&[before, last].map(|(scale, run)| (*scale, run.cpu_parts[0]))));
    let grown = |(key, now): (&(String, String), &Amount)| {
        let Some(then) = before.1.amounts.get(key) else { return now[NS] * whole };
        let exponent = |of: usize| slope(&[(before.0, then[of]), (last.0, now[of])]);
        let most = [CALLS, FLOP, BYTES].map(exponent).into_iter().fold(0.0, f64::max);
        let own = exponent(NS);
        if by <= 1.0 || own >= most {
            return now[NS] * libm::pow(by, own.min(most));
        }
        let step = libm::pow(last.0 / before.0, most);
        let grows = (now[NS] - then[NS]).max(0.0) * step / (step - 1.0);
        now[NS] + grows * (libm::pow(by, most) - 1.0)
    };
    let all: f64 = last.1.amounts.values().map(|amount| amount[NS]).sum();
    if all > 0.0 { last.1.amounts.iter().map(grown).sum::<f64>() / all } else { whole }
}

/// Places among a run's `gpu_parts`.
const COMPUTE: usize = 2;
const MEMORY: usize = 3;

/// The recorded runs, and sizes beyond them at which each part is what its own growth makes of it.
fn with_beyond(runs: &[(f64, Run)]) -> Vec<RunPoint> {
    let recorded = |(scale, run): &(f64, Run)| RunPoint {
        scale: *scale,
        cpu_s: run.cpu,
        gpu_s: run.gpu,
        speedup: run.speedup,
        recorded: true,
    };
    let sum = |by: f64, parts: &dyn Fn(&Run) -> &[f64], pair: [&(f64, Run); 2]| -> f64 {
        let [last, before] = pair;
        let exponent = |of: &dyn Fn(&Run) -> f64| slope(&[(before.0, of(&before.1)), (last.0, of(&last.1))]);
        let each = parts(&last.1).iter().enumerate().map(|(i, value)| {
            // What was hidden before grows as the work does. What had only begun to show, behind launches, seems to grow
            // faster than it will: arithmetic and memory traffic no faster than what there is of them.
            let most = match i {
                COMPUTE => exponent(&|run| run.flop),
                MEMORY => exponent(&|run| run.work),
                _ => f64::INFINITY,
            };
            let hidden = parts(&before.1)[i] <= 0.0;
            let own = if hidden { exponent(&|run| run.work) } else { exponent(&|run| parts(run)[i]) };
            value * libm::pow(by, if hidden { own } else { own.min(most) })
        });
        each.sum()
    };
    let mut points: Vec<RunPoint> = runs.iter().map(recorded).collect();
    let [smallest, second, ..] = runs else { return points };
    let [.., next, largest] = runs else { return points };
    for (pair, sign) in [([smallest, second], -1), ([largest, next], 1)] {
        let (from, nearest) = (pair[0].0, &pair[0].1);
        let (Some(gpu), Some(_)) = (nearest.gpu, nearest.speedup) else { continue };
        for doublings in 1..=BEYOND {
            let by = libm::exp2(f64::from(sign * doublings));
            let sigma = BEYOND_SIGMA * f64::from(doublings);
            let of =
                |interval: Interval, p50: f64| interval.scale(p50 / interval.p50.max(f64::MIN_POSITIVE)).widened(sigma);
            let others = sum(by, &|run| &run.cpu_parts[1..], pair);
            let cpu_s = of(nearest.cpu, nearest.cpu_parts[0] * cpu_growth(by, pair) + others);
            let gpu_s = of(gpu, sum(by, &|run| &run.gpu_parts, pair));
            let speedup = nearest.speedup.map(|s| of(s, cpu_s.p50 / gpu_s.p50.max(f64::MIN_POSITIVE)));
            points.push(RunPoint { scale: from * by, cpu_s, gpu_s: Some(gpu_s), speedup, recorded: false });
        }
    }
    points.sort_by(|a, b| a.scale.total_cmp(&b.scale));
    points
}

/// Steps between two recorded sizes.
const STEPS: u32 = 16;

/// Speedups between recorded sizes: each part of the time grows from one to the next by a power law of its own.
fn between(runs: &[(f64, Run)]) -> Vec<(f64, Interval)> {
    let mut found = Vec::new();
    for pair in runs.windows(2) {
        let [(small, a), (large, b)] = pair else { continue };
        let (Some(slow), Some(fast)) = (a.speedup, b.speedup) else { continue };
        for step in 1..STEPS {
            let share = f64::from(step) / f64::from(STEPS);
            // On logarithms; a part that one of them has not got grows evenly.
            let mix = |a: f64, b: f64| {
                if a > 0.0 && b > 0.0 { a * libm::pow(b / a, share) } else { a + (b - a) * share }
            };
            let sum = |of: &dyn Fn(&Run) -> &[f64]| of(a).iter().zip(of(b)).map(|(a, b)| mix(*a, *b)).sum::<f64>();
            let p50 = sum(&|run| &run.cpu_parts) / sum(&|run| &run.gpu_parts).max(f64::MIN_POSITIVE);
            let of = |end: fn(&Interval) -> f64| p50 * mix(end(&slow) / slow.p50, end(&fast) / fast.p50);
            found.push((mix(*small, *large), Interval { p10: of(|s| s.p10), p50, p90: of(|s| s.p90) }));
        }
    }
    found
}

/// Exponent of the power law through what is positive, by least squares on logarithms, never falling; 0 for less than two.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(scale, value)| *scale > 0.0 && *value > 0.0 && value.is_finite())
        .map(|(scale, value)| (libm::log(*scale), libm::log(*value)))
        .collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let over: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let under: f64 = logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    if under > 0.0 { (over / under).clamp(0.0, 6.0) } else { 0.0 }
}

/// The plain growth that is nearest; a broken exponent where none is near.
fn growth(points: &[(f64, f64)]) -> Growth {
    let broken = Growth { power: (slope(points) * 100.0).round() / 100.0, log: 0 };
    // A logarithm of what may be below 2 is not to be told from a constant; two points fit any curve.
    let logs = if points.len() > 2 && points.iter().all(|(scale, _)| *scale >= 2.0) { 2 } else { 0 };
    let error = |candidate: &Growth| -> f64 {
        let at =
            |scale: f64| libm::pow(scale, candidate.power) * libm::pow(libm::log2(scale), f64::from(candidate.log));
        let ratios: Vec<f64> = points.iter().map(|(scale, value)| libm::log(value / at(*scale))).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        libm::sqrt(ratios.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>() / ratios.len() as f64)
    };
    let all = (0..=logs).flat_map(|log| POWERS.map(|power| Growth { power, log }));
    let scored = all.map(|candidate| (error(&candidate), candidate)).filter(|(error, _)| error.is_finite());
    // Of two as near, the one without a logarithm, which comes first.
    let best = scored.reduce(|best, next| if next.0 < best.0 - 1e-3 { next } else { best });
    best.filter(|(error, _)| *error <= PLAIN).map_or(broken, |(_, growth)| growth)
}

/// What each function at each line amounts to in one run.
type Amounts = BTreeMap<(String, String), Amount>;
type Amount = [f64; 4];
/// Places in an amount.
const CALLS: usize = 0;
const FLOP: usize = 1;
const NS: usize = 2;
const BYTES: usize = 3;

fn amounts(workload: &Workload) -> Amounts {
    let mut found = Amounts::new();
    for entry in &workload.ops {
        let site = workload.sites.get(entry.site as usize).map(Site::label).unwrap_or_default();
        let sum = found.entry((site, entry.name.clone())).or_default();
        let more = [entry.count as f64, entry.flop().get(), entry.cpu_ns as f64, entry.bytes().get()];
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    found
}

/// How the hottest lines grow; only what ran at every size.
fn lines(runs: &[(f64, &Workload)], main: &Workload) -> Vec<LineGrowth> {
    let all: Vec<(f64, Amounts)> = runs.iter().map(|(scale, workload)| (*scale, amounts(workload))).collect();
    let mut hot: Vec<_> = amounts(main).into_iter().collect();
    hot.sort_by(|a, b| b.1[NS].total_cmp(&a.1[NS]));
    let told = hot.into_iter().filter_map(|(key, _)| {
        let points = |which: usize| -> Option<Vec<(f64, f64)>> {
            all.iter().map(|(scale, found)| found.get(&key).map(|sums| (*scale, sums[which]))).collect()
        };
        let flop = points(FLOP)?;
        let flop = flop.iter().all(|(_, flop)| *flop > 0.0).then(|| growth(&flop));
        let (calls, cpu) = (growth(&points(CALLS)?), growth(&points(NS)?));
        Some(LineGrowth { site: key.0, name: key.1, calls, flop, cpu })
    });
    told.take(LINES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Estimate, program};
    use crate::growth::{problem_size, resized};
    use crate::request::{Options, Sized};
    use crate::workload::samples;
    use proptest::prelude::*;

    fn points(of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        [100.0, 200.0, 400.0, 1600.0].map(|n| (n, of(n))).to_vec()
    }

    #[test]
    fn plain_growths_are_found() {
        let told = |of: &dyn Fn(f64) -> f64| growth(&points(of)).to_string();
        assert_eq!(told(&|_| 7.0), "constant");
        assert_eq!(told(&|n| 2.0 * n * n * n), "n³");
        assert_eq!(told(&|n| (n - 2.0) * (n - 2.0)), "n²");
        assert_eq!(told(&|n| 5.0 * n * libm::log2(n)), "n log n");
        assert_eq!(told(&|n| libm::pow(n, 1.23)), "n^1.23");
        assert_eq!(growth(&[(0.25, 1.0), (1.0, 16.0)]).to_string(), "n²");
        assert_eq!(slope(&[(1.0, 0.0), (2.0, 0.0)]), 0.0);
        assert_eq!(slope(&[]), 0.0);
    }

    fn asked(scales: &[f64]) -> Estimate {
        let heat = samples::heat();
        let size = problem_size(&heat).expect("a grid");
        let alone = Request { today: "2026-11-21".to_owned(), ..Request::default() };
        let cpu = program::ask(&heat, &alone, |_, choice| choice.cpu.device.clone()).expect("one is chosen");
        let of = |scale: f64| Sized { scale, workload: Box::new(resized(&heat, &size, scale, &cpu)) };
        let others = scales.iter().map(|scale| of(*scale)).collect();
        let options = Options { gpu: vec!["l4".to_owned()], exclude_startup: true, ..Options::default() };
        let sizes = Some(Sizes { now: 1.0, others });
        let request = Request { today: "2026-11-21".to_owned(), options, sizes, ..Request::default() };
        program::estimate(&heat, &request).expect("it is estimated")
    }

    #[test]
    fn runs_cross_where_the_resized_program_does() {
        let even = asked(&[0.0625, 0.125, 0.25, 4.0]).estimates.remove(0).break_even.expect("there is one");
        let (runs, size) = (even.runs.expect("runs were given"), even.size.expect("a grid"));
        let (at, modelled) = (runs.at.expect("it crosses"), size.at.expect("it crosses").p50 / 1022.0);
        assert!((at.p50 / modelled - 1.0).abs() < 0.15, "{at:?} {modelled}");
        assert!(at.p10 <= at.p50 && at.p50 <= at.p90);
        let recorded: Vec<f64> = runs.points.iter().filter(|p| p.recorded).map(|p| p.scale).collect();
        assert_eq!(recorded, [0.0625, 0.125, 0.25, 1.0, 4.0]);
        assert_eq!(runs.points.len(), 13);
        // Each doubling beyond the largest recorded size is less sure than the one before.
        let wide = |p: &RunPoint| p.cpu_s.p90 / p.cpu_s.p10;
        let beyond: Vec<f64> = runs.points.iter().filter(|p| p.scale >= 4.0).map(wide).collect();
        assert!(beyond.len() == 5 && beyond.is_sorted_by(|a, b| a < b), "{beyond:?}");
        assert!(runs.lines.iter().all(|line| line.calls.to_string() == "constant"), "{:?}", runs.lines);
        assert!(runs.lines.iter().any(|line| line.flop.is_some_and(|f| f.to_string() == "n²")), "{:?}", runs.lines);
    }

    #[test]
    fn arithmetic_that_only_begins_to_show_grows_as_there_is_of_it() {
        let run = |seconds: f64, compute: f64, flop: f64| Run {
            cpu: Interval::exact(seconds),
            gpu: Some(Interval::exact(0.01 + compute)),
            speedup: Some(Interval::exact(seconds / (0.01 + compute))),
            cpu_parts: [seconds, 0.0],
            gpu_parts: [0.0, 0.01, compute, 0.0, 0.0, 0.0, 0.0],
            work: flop,
            flop,
            amounts: Amounts::new(),
        };
        // Eight times the work in a hundred times the time: launches had hidden what there was.
        let points = with_beyond(&[(1.0, run(0.1, 1e-4, 1e9)), (2.0, run(0.8, 1e-2, 8e9))]);
        let last = points.last().unwrap();
        assert!(last.scale == 32.0 && last.gpu_s.unwrap().p50 < 0.01 + 1.01e-2 * 4096.0, "{last:?}");
    }

    /// A run of so many seconds on the CPU and 10 ms on the GPU.
    fn of(seconds: f64, flop: f64, amounts: Amounts) -> Run {
        Run {
            cpu: Interval::exact(seconds),
            gpu: Some(Interval::exact(0.01)),
            speedup: Some(Interval::exact(seconds / 0.01)),
            cpu_parts: [seconds, 0.0],
            gpu_parts: [0.0, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0],
            work: 1.0,
            flop,
            amounts,
        }
    }

    #[test]
    fn a_line_that_only_begins_to_show_grows_in_its_own_way() {
        let amounts = |calls: f64, product: f64, flop: f64| {
            let line = |name: &str| ("a.py:1".to_owned(), name.to_owned());
            Amounts::from([
                (line("numpy.add"), [calls, calls, 1e8, 8.0 * calls]),
                (line("numpy.dot"), [1.0, flop, product, 1.0]),
            ])
        };
        let run = |seconds: f64, amounts: Amounts| of(seconds, 1.0, amounts);
        // Products took 1 and 8 of 101 and 108 ms: at sixteen times the size they are 8 ms × 16³.
        let runs = [(1.0, run(0.101, amounts(1e5, 1e6, 1e6))), (2.0, run(0.108, amounts(1e5, 8e6, 8e6)))];
        let last = with_beyond(&runs).pop().unwrap();
        assert!((last.cpu_s.p50 / (0.1 + 0.008 * 4096.0) - 1.0).abs() < 1e-9, "{last:?}");
        // Time alone that grew so, and not the work, was the machine's.
        let runs = [(1.0, run(0.101, amounts(1e5, 1e6, 1e6))), (2.0, run(0.108, amounts(1e5, 8e6, 1e6)))];
        assert!((with_beyond(&runs).pop().unwrap().cpu_s.p50 / 0.108 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_grew_slower_than_its_arithmetic_grows_as_it_in_the_end() {
        let run = |seconds: f64, flop: f64| {
            let line = ("a.py:1".to_owned(), "inv".to_owned());
            of(seconds, flop, Amounts::from([(line, [1.0, flop, 1e9 * seconds, 1.0])]))
        };
        // An inverse of 2000 and of 4000 rows: 1.2 s more for 56·10⁹ FLOP more.
        let last = with_beyond(&[(2.0, run(0.34, 8e9)), (4.0, run(1.52, 64e9))]).pop().unwrap();
        let expected = 1.52 + 1.18 / 56.0 * 64.0 * (4096.0 - 1.0);
        assert!((last.cpu_s.p50 / expected - 1.0).abs() < 1e-9, "{last:?} {expected}");
    }

    #[test]
    fn sizes_that_are_none() {
        let run = |scale: f64| Sized { scale, workload: Box::new(samples::heat()) };
        let message = |now: f64, others: Vec<Sized>| check(&Sizes { now, others }).unwrap_err().message;
        assert_eq!(message(1.0, vec![]), "1 of the 2 to 32 sizes that can be compared are given");
        assert_eq!(message(1.0, vec![run(1.0)]), "two runs have the same size");
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(message(1.0, vec![run(wrong)]).ends_with("is no size"));
        }
        assert!(check(&Sizes { now: 1.0, others: vec![run(2.0)] }).is_ok());
    }

    proptest! {
        #[test]
        fn a_power_law_is_found_again(power in 0.0..5.0f64, c in 1e-9..1e9f64) {
            let found = slope(&points(|n| c * libm::pow(n, power)));
            prop_assert!((found - power).abs() < 1e-6);
        }
    }
}
