//! Fits the constants: coordinate descent within each constant's range on a robust loss, every (GPU, op, dtype) cell
//! weighing the same however many rows it has. The ranges keep the model's laws.

use crate::data::{Data, Kernel};
use crate::score::{busy_time, device_time};
use crate::statistics::quantile;
use breakeven::hardware::device::Vendor;
use breakeven::kernel::{Constants, Spread};
use breakeven::workload::Family;
use std::collections::BTreeMap;

/// Beyond this logarithm of modelled ÷ measured a row is an outlier.
const OUTLIER: f64 = 0.4;
/// Rows taken from each cell.
const PER_CELL: usize = 45;
/// Steps of the rounds over all constants, as shares of their values.
const STEPS: [f64; 10] = [0.6, 0.6, 0.3, 0.3, 0.15, 0.15, 0.08, 0.08, 0.04, 0.02];

/// The fit on all data as the two tables that the core embeds.
pub fn tables(data: &Data) -> (String, String) {
    let mut fitted = without(data, "");
    let mut constants = String::from("name,value,low,high,unit,basis,text\n");
    for row in Row::shipped() {
        let value = *fitted.get_mut(&row.name).expect("shipped names are the model's");
        constants += &format!("{},{},{},{},{}\n", row.name, short(value), row.low, row.high, row.rest);
    }
    let mut spread = String::from("family,shared,own,basis\n");
    for family in Family::ALL {
        let s = fitted.spread[*family as usize];
        let basis = if calibrated(data, *family) { "fitted" } else { "assumed" };
        spread += &format!("{},{},{},{basis}\n", family.name(), short(s.shared), short(s.own));
    }
    (constants, spread)
}

fn calibrated(data: &Data, family: Family) -> bool {
    data.kernels.iter().any(|k| k.op.family() == family)
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

/// The constants fitted to all GPUs but those of one chip.
pub fn without(data: &Data, left_out: &str) -> Constants {
    let sample = Sample::of(data, left_out);
    let mut best = Constants::shipped().clone();
    let rows: Vec<Row> = Row::shipped().into_iter().filter(|r| r.rest.contains(",fitted,")).collect();
    // From the middle of each range: what ships was fitted to every GPU, also to the one left out here.
    for row in &rows {
        let middle = if row.low > 0.0 { (row.low * row.high).sqrt() } else { row.high / 8.0 };
        *best.get_mut(&row.name).expect("shipped names are the model's") = middle;
    }
    let mut known = vec![0.0; sample.cells.len() + sample.networks.len()];
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
    calibrate(data, &sample, &mut best);
    best
}

/// The rows that a fit looks at: evenly taken from every cell, by time, above the launch floor.
struct Sample<'d> {
    cells: Vec<Vec<&'d Kernel>>,
    networks: Vec<usize>,
}

impl<'d> Sample<'d> {
    fn of(data: &'d Data, left_out: &str) -> Self {
        let mut cells: BTreeMap<_, Vec<&Kernel>> = BTreeMap::new();
        for k in data.kernels.iter().filter(|k| data.chips[k.gpu] != left_out && k.fitted && k.above_floor()) {
            cells.entry((k.file, k.gpu, &k.label, &k.dtype_label, k.test)).or_default().push(k);
        }
        let thin = |mut rows: Vec<&'d Kernel>| {
            rows.sort_by(|a, b| a.measured.total_cmp(&b.measured));
            let every = rows.len().div_ceil(PER_CELL).max(1);
            rows.into_iter().step_by(every).collect()
        };
        let networks = (0..data.networks.len()).filter(|&i| data.chips[data.networks[i].gpu] != left_out).collect();
        Self { cells: cells.into_values().map(thin).collect(), networks }
    }

    /// Mean over cells of the mean absolute logarithm of modelled ÷ measured, plus that of the cell's bias; networks
    /// count as cells of their own. `known` holds the last loss of each cell: only those that `touched` by name are
    /// worked out again.
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
        if !["conv", "winograd"].iter().any(|part| touched.starts_with(part)) {
            for (&i, known) in self.networks.iter().zip(&mut known[self.cells.len()..]) {
                let network = &data.networks[i];
                *known = (busy_time(constants, data, network) / network.measured).ln().abs();
            }
        }
        let weights = self.cells.iter().map(|cell| weight(cell)).sum::<f64>() + self.networks.len() as f64;
        known.iter().sum::<f64>() / weights.max(1.0)
    }
}

/// Whether a constant of that name may change times of the family; no name stands for all of them.
fn touches(constant: &str, family: Family) -> bool {
    let starts = |parts: &[&str]| parts.iter().any(|part| constant.starts_with(part));
    if starts(&["conv", "winograd"]) {
        family == Family::Convolution
    } else if starts(&["gemm", "pj", "energy", "tensor", "f8", "i8"]) {
        matches!(family, Family::Matmul | Family::Convolution)
    } else if starts(&["softmax", "norm", "rowwise"]) {
        family == Family::Rowwise
    } else {
        true
    }
}

/// A cell of a row or two says little beyond its own noise.
fn weight(cell: &[&Kernel]) -> f64 {
    (cell.len() as f64 / PER_CELL as f64).powf(0.3)
}

/// Spreads of the families that were measured: the bias of a cell is shared, the rest is the kernel's own. Sized so that
/// four in five fall between p10 and p90, with more for a GPU that the fit has not seen: as much as left-out GPUs need.
fn calibrate(data: &Data, sample: &Sample<'_>, constants: &mut Constants) {
    const UNSEEN: Spread = Spread { shared: 1.4, own: 1.15 };
    for family in Family::ALL {
        let (mut biases, mut residuals) = (Vec::new(), Vec::new());
        // Boards of other makers widen by themselves.
        let near = |cell: &&Vec<&Kernel>| data.gpus[cell[0].gpu].1.vendor == Vendor::Nvidia;
        for cell in sample.cells.iter().filter(|c| c[0].op.family() == *family).filter(near) {
            // In units of the family's spread: some kernels are less certain than others by a known factor.
            let own = constants.spread[*family as usize].own;
            let mut errors: Vec<f64> = cell
                .iter()
                .map(|k| {
                    let time = device_time(constants, data, k);
                    (k.measured / k.as_measured(time.p50.get())).ln() * own / time.sigma_own
                })
                .collect();
            let bias = quantile(&mut errors, 0.5);
            biases.push(bias.abs());
            residuals.extend(errors.iter().map(|e| (e - bias).abs()));
        }
        if residuals.len() < 30 {
            continue;
        }
        // The 80th percentile of |normal| is 1.2816 standard deviations.
        let sigma = |values: &mut Vec<f64>| (quantile(values, 0.8) / breakeven::interval::Z90).clamp(0.03, 1.0);
        constants.spread[*family as usize] =
            Spread { shared: UNSEEN.shared * sigma(&mut biases), own: UNSEEN.own * sigma(&mut residuals) };
    }
}
