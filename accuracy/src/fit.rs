//! Fits the constants: coordinate descent within each constant's range on a robust loss, every (GPU, op, dtype) cell
//! weighing the same however many rows it has. The ranges keep the model's laws.

use crate::data::{Data, Kernel};
use crate::networks::Network;
use crate::programs::Program;
use crate::score::{busy_time, device_time, network_time};
use crate::statistics::{mean, quantile};
use breakeven::hardware::device::Vendor;
use breakeven::interval::{Interval, Z90};
use breakeven::kernel::{Constants, Recorded, Spread, kernel_time_with};
use breakeven::workload::{Family, Op};
use std::collections::BTreeMap;

/// Beyond this logarithm of modelled ÷ measured a row is an outlier.
const OUTLIER: f64 = 0.4;
/// Weight of a whole network beside a cell's: what people run.
const NETWORK: f64 = 2.0;
/// Rows taken from each cell.
const PER_CELL: usize = 45;
/// Steps of the rounds over all constants, as shares of their values.
const STEPS: [f64; 20] =
    [0.6, 0.6, 0.3, 0.3, 0.15, 0.15, 0.08, 0.04, 0.6, 0.3, 0.15, 0.08, 0.04, 0.4, 0.2, 0.1, 0.05, 0.15, 0.05, 0.02];
/// Factors for short kernels, of which the best is kept.
const SHORT: [f64; 9] = [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

/// The fit on all data as the two tables that the core embeds.
pub fn tables(data: &Data) -> (String, String) {
    let mut fitted = without(data, &|_| false);
    let mut constants = String::from("name,value,low,high,unit,basis,text\n");
    for row in Row::shipped() {
        let value = *fitted.get_mut(&row.name).expect("shipped names are the model's");
        constants += &format!("{},{},{},{},{}\n", row.name, short(value), row.low, row.high, row.rest);
    }
    let mut spread = String::from("family,shared,own,short,basis\n");
    let sample = Sample::of(data, &|_| false);
    for family in Family::ALL {
        let s = fitted.spread[*family as usize];
        let basis = if sample.telling(data, *family).is_empty() { "assumed" } else { "fitted" };
        spread += &format!("{},{},{},{},{basis}\n", family.name(), short(s.shared), short(s.own), short(s.short));
    }
    (constants, spread)
}

fn short(x: f64) -> String {
    format!("{}", (x * 1e4).round() / 1e4)
}

/// One row of `constants.csv`.
struct Row {
    name: String,
    low: f64,
    high: f64,
    /// Unit, basis and text as written.
    rest: String,
}

impl Row {
    fn shipped() -> Vec<Self> {
        let text = include_str!("../../crates/breakeven/src/kernel/constants.csv");
        text.lines()
            .skip(1)
            .map(|line| {
                let mut cells = line.splitn(5, ',');
                let mut next = || cells.next().unwrap_or_default();
                let (name, _, low, high, rest) = (next(), next(), next(), next(), next());
                let number = |text: &str| text.parse().expect("the core's tests read this table");
                Self { name: name.into(), low: number(low), high: number(high), rest: rest.into() }
            })
            .collect()
    }
}

/// Which GPUs a fit does not see, by their place in the data.
pub type LeftOut<'a> = &'a dyn Fn(usize) -> bool;

/// The constants fitted to all other GPUs.
pub fn without(data: &Data, left_out: LeftOut<'_>) -> Constants {
    let sample = Sample::of(data, left_out);
    let mut best = Constants::shipped().clone();
    // What no row is left to tell of stays as it ships.
    let told = |row: &Row| sample.cells.iter().any(|cell| touches(&row.name, cell[0].op.family()));
    let rows: Vec<Row> = Row::shipped().into_iter().filter(|row| row.rest.contains(",fitted,") && told(row)).collect();
    // From the middle of each range: what ships was fitted to every GPU, also to the one left out here.
    for row in &rows {
        let middle = if row.low > 0.0 { (row.low * row.high).sqrt() } else { row.high / 8.0 };
        *best.get_mut(&row.name).expect("shipped names are the model's") = middle;
    }
    let mut known = vec![0.0; sample.cells.len() + sample.networks.len() + sample.programs.len() * Family::COUNT];
    let mut loss = sample.loss(data, &best, &mut known, "");
    for step in STEPS {
        for row in &rows {
            for direction in [1.0 + step, 1.0 / (1.0 + step)] {
                loop {
                    let mut tried = best.clone();
                    let value = tried.get_mut(&row.name).expect("shipped names are the model's");
                    let next = (*value * direction).clamp(row.low, row.high);
                    if next == *value {
                        break;
                    }
                    *value = next;
                    let mut cells = known.clone();
                    let tried_loss = sample.loss(data, &tried, &mut cells, &row.name);
                    if tried_loss >= loss - 1e-9 {
                        break;
                    }
                    (best, loss, known) = (tried, tried_loss, cells);
                }
            }
        }
    }
    calibrate(data, left_out, &sample, &mut best);
    best
}

/// The rows that a fit looks at: evenly taken from every cell, by time, above the launch floor.
struct Sample<'d> {
    cells: Vec<Vec<&'d Kernel>>,
    networks: Vec<usize>,
    programs: Vec<&'d Program>,
}

impl<'d> Sample<'d> {
    fn of(data: &'d Data, left_out: LeftOut<'_>) -> Self {
        let mut cells: BTreeMap<_, Vec<&Kernel>> = BTreeMap::new();
        for k in data.kernels.iter().filter(|k| !left_out(k.gpu) && k.fitted && k.above_floor()) {
            cells.entry((k.file, k.gpu, &k.label, &k.dtype_label, k.test)).or_default().push(k);
        }
        let thin = |mut rows: Vec<&'d Kernel>| {
            rows.sort_by(|a, b| a.measured.total_cmp(&b.measured));
            let every = rows.len().div_ceil(PER_CELL).max(1);
            rows.into_iter().step_by(every).collect()
        };
        let networks = (0..data.networks.len()).filter(|&i| !left_out(data.networks[i].gpu)).collect();
        let programs = data.programs.iter().filter(|p| !left_out(p.gpu)).collect();
        Self { cells: cells.into_values().map(thin).collect(), networks, programs }
    }

    /// Cells that tell the spread of a family; none where all their rows are too few. Boards of other makers widen by
    /// themselves.
    fn telling(&self, data: &Data, family: Family) -> Vec<&[&'d Kernel]> {
        let tells =
            |cell: &&Vec<&Kernel>| cell[0].op.family() == family && data.gpus[cell[0].gpu].1.vendor == Vendor::Nvidia;
        let cells: Vec<_> = self.cells.iter().filter(tells).map(Vec::as_slice).collect();
        if cells.iter().map(|cell| cell.len()).sum::<usize>() < 30 { Vec::new() } else { cells }
    }

    /// Mean over cells of the mean absolute logarithm of modelled ÷ measured, plus that of the cell's bias; networks
    /// and programs count as cells of their own. `known` holds the last loss of each cell, and the last seconds of each
    /// family of a program: only those that `touched` by name are worked out again.
    fn loss(&self, data: &Data, constants: &Constants, known: &mut [f64], touched: &str) -> f64 {
        for (cell, known) in self.cells.iter().zip(known.iter_mut()) {
            if !touches(touched, cell[0].op.family()) {
                continue;
            }
            let (mut absolute, mut signed) = (0.0, 0.0);
            for kernel in cell {
                let modelled = kernel.as_measured(device_time(constants, data, kernel).p50.get());
                // Rows that hit another kernel than their neighbours count, but do not lead.
                let error = (modelled / kernel.measured).ln().clamp(-OUTLIER, OUTLIER);
                absolute += error.abs();
                signed += error;
            }
            *known = weight(cell) * (absolute + 0.5 * signed.abs()) / cell.len() as f64;
        }
        let (networks, programs) = known[self.cells.len()..].split_at_mut(self.networks.len());
        for (&i, known) in self.networks.iter().zip(networks) {
            let network = &data.networks[i];
            if network.distinct.iter().any(|(op, _)| touches(touched, op.family())) {
                *known = NETWORK * (busy_time(constants, data, network) / network.measured).ln().abs();
            }
        }
        let mut sum = 0.0;
        for (program, known) in self.programs.iter().zip(programs.chunks_exact_mut(Family::COUNT)) {
            program.seconds_again(constants, &data.gpus[program.gpu].1, known, |family| touches(touched, family));
            sum += (known.iter().sum::<f64>() / program.measured).ln().abs();
        }
        let weights = self.cells.iter().map(|cell| weight(cell)).sum::<f64>()
            + NETWORK * self.networks.len() as f64
            + self.programs.len() as f64;
        let others = self.cells.len() + self.networks.len();
        (known[..others].iter().sum::<f64>() + sum) / weights.max(1.0)
    }
}

/// Whether a constant of that name may change times of the family; no name stands for all of them.
fn touches(constant: &str, family: Family) -> bool {
    let starts = |parts: &[&str]| parts.iter().any(|part| constant.starts_with(part));
    if starts(&["conv", "winograd", "depthwise"]) {
        family == Family::Convolution
    } else if starts(&["gemm", "energy", "floor_work", "f8", "i8"]) {
        matches!(family, Family::Matmul | Family::Convolution)
    } else if starts(&["softmax", "norm", "rowwise"]) {
        family == Family::Rowwise
    } else if starts(&["map_threads"]) {
        family == Family::Elementwise
    } else {
        true
    }
}

/// A cell of a row or two says little beyond its own noise; products in 16 bits and less are what people run most.
fn weight(cell: &[&Kernel]) -> f64 {
    let often = cell[0].op.family() == Family::Matmul && cell[0].dtype.bytes() <= 2;
    (cell.len() as f64 / PER_CELL as f64).powf(0.3) * if often { 3.0 } else { 1.0 }
}

/// Spreads of the families that were measured: the bias of a cell is shared, the rest is the kernel's own. Sized so that
/// four in five fall between p10 and p90, with more for a GPU that the fit has not seen: as much as left-out GPUs need.
/// Of the factors for short kernels the one whose intervals serve best is kept.
fn calibrate(data: &Data, left_out: LeftOut<'_>, sample: &Sample<'_>, constants: &mut Constants) {
    for family in Family::ALL {
        let cells = sample.telling(data, *family);
        if cells.is_empty() {
            continue;
        }
        let tried = SHORT.map(|short| {
            let mut constants = constants.clone();
            constants.spread[*family as usize].short = short;
            sized(data, &cells, &constants, *family)
        });
        let best = tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("several were tried");
        constants.spread[*family as usize] = best.0;
    }
    // Convolutions timed by themselves do not tell how far whole image networks are off; training jobs do.
    let jobs = data.jobs.iter().filter(|job| !left_out(job.gpu));
    let needed = jobs.map(|job| shared_by(data, job, constants, Family::Convolution));
    // Their times hold what the host did meanwhile: two in three are to be met, not four in five.
    let needed = quantile(&mut needed.collect::<Vec<_>>(), 0.65) / Z90;
    let shared = &mut constants.spread[Family::Convolution as usize].shared;
    *shared = shared.max(needed.min(1.0));
    constants.together = together(data, sample, constants);
}

/// What all kernels of a program share beyond their families' parts, so that four in five whole programs lie within their
/// intervals, with more for a GPU that the fit has not seen.
fn together(data: &Data, sample: &Sample<'_>, constants: &Constants) -> f64 {
    const UNSEEN: f64 = 1.2;
    let alone = Constants { together: 0.0, ..constants.clone() };
    let networks = sample.networks.iter().map(|&i| &data.networks[i]);
    let networks = networks.map(|n| (network_time(&alone, &data.gpus[n.gpu].1, n), n.measured));
    let programs = sample.programs.iter().map(|p| (p.time(&alone, &data.gpus[p.gpu].1), p.measured));
    let beyond = |(time, measured): (Interval, f64)| {
        let [known, needed] = [time.p90 / time.p50, measured / time.p50].map(|ratio| ratio.ln().abs() / Z90);
        (needed * needed - known * known).max(0.0).sqrt()
    };
    let mut beyond: Vec<f64> = networks.chain(programs).map(beyond).collect();
    if beyond.is_empty() { constants.together } else { (UNSEEN * quantile(&mut beyond, 0.8)).clamp(0.01, 0.5) }
}

/// How far off all kernels of the family together must be, in units of their doubt, for a network to take as long as it
/// took.
fn shared_by(data: &Data, network: &Network, constants: &Constants, family: Family) -> f64 {
    let device = &data.gpus[network.gpu].1;
    let doubt = |(op, repeat): &(Op, f64)| {
        let time = kernel_time_with(constants, op, network.dtype, Recorded::default(), device);
        time.p50.get() * repeat * time.sigma_own / constants.spread[family as usize].own
    };
    let doubted: f64 = network.distinct.iter().filter(|(op, _)| op.family() == family).map(doubt).sum();
    let modelled = busy_time(constants, data, network);
    (network.measured / modelled).ln().abs() * modelled / doubted.max(1e-12)
}

/// The spread that the family's cells need where `constants` say how much more short kernels do, and the mean pinball
/// loss of its intervals.
fn sized(data: &Data, cells: &[&[&Kernel]], constants: &Constants, family: Family) -> (Spread, f64) {
    const UNSEEN: Spread = Spread { shared: 1.36, own: 1.03, short: 1.0 };
    let Spread { own, short, .. } = constants.spread[family as usize];
    let (mut biases, mut residuals, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        // In units of the family's spread: some kernels are less certain than others by a known factor.
        let one = |k: &&Kernel| {
            let time = device_time(constants, data, k);
            let doubt = time.sigma_own / own;
            ((k.measured / k.as_measured(time.p50.get())).ln() / doubt, doubt)
        };
        let errors: Vec<(f64, f64)> = cell.iter().map(one).collect();
        let bias = quantile(&mut errors.iter().map(|e| e.0).collect::<Vec<_>>(), 0.5);
        biases.push(bias.abs());
        residuals.extend(errors.iter().map(|e| (e.0 - bias).abs()));
        all.extend(errors);
    }
    // The 80th percentile of |normal| is 1.2816 standard deviations.
    let sigma = |values: &mut Vec<f64>| (quantile(values, 0.8) / Z90).clamp(0.01, 1.0);
    let spread = Spread { shared: UNSEEN.shared * sigma(&mut biases), own: UNSEEN.own * sigma(&mut residuals), short };
    let half = Z90 * spread.shared.hypot(spread.own);
    // Beyond its end an interval costs ten times as much as within, to either side.
    let loss = |(error, doubt): &(f64, f64)| doubt * (0.1 * half + (error.abs() - half).max(0.0));
    (spread, mean(&all.iter().map(loss).collect::<Vec<_>>()))
}
