//! Pairs of equal kernels on two GPUs: what the source's error tells of the target's.

use super::{KINSHIPS, best_weight};
use crate::data::{Data, Kernel};
use crate::score::device_time;
use crate::statistics::{mean, quantile};
use breakeven::carry::{Carried, Kinship, Known, Pair, Spreads, StandIn, Work};
use breakeven::interval::Interval;
use breakeven::kernel::{Constants, Machine};
use breakeven::workload::{Family, Op};
use serde::Serialize;
use std::collections::BTreeMap;

/// Kernels taken of a pair of GPUs and a family.
const PER_PAIR: usize = 150;
/// Fewer say nothing of a pair.
const LEAST: usize = 8;
/// Pairs of GPUs that a row of the table needs; what has fewer takes the row of both kinships together.
const PAIRS: usize = 3;

/// Two GPUs, and the kernels of one family that both were timed with.
pub struct GpuPair<'a> {
    pub from: usize,
    pub to: usize,
    family: Family,
    kernels: Vec<(&'a Kernel, &'a Kernel)>,
}

/// One kernel of a pair: logarithms of measured over modelled.
pub struct Residual {
    from: usize,
    to: usize,
    family: Family,
    kinship: Kinship,
    /// How far the target is off from a model that has not seen it.
    target: f64,
    /// How far the source is, as far as that is a usual error.
    source: f64,
    /// The part of that which is beyond, carried whole.
    beyond: f64,
    /// The same where the class alone is known: measured over carried.
    by_class: f64,
    model: Interval,
}

impl Residual {
    /// Whether a board of this chip is among the two.
    pub fn touches(&self, data: &Data, chip: &str) -> bool {
        [self.from, self.to].iter().any(|gpu| data.chips[*gpu] == chip)
    }
}

/// Pairs of GPUs of different chips, by family.
pub fn pairs(data: &Data) -> Vec<GpuPair<'_>> {
    let mut same: BTreeMap<(&str, String), Vec<&Kernel>> = BTreeMap::new();
    let wanted = |kernel: &&Kernel| {
        // DeepBench's libraries differ from board to board, streams and tiny kernels are no ops that are carried.
        let file = ["fp32_kernels.parquet", "lowprecision_gemm.parquet", "fp16_llm_ops.parquet"];
        kernel.above_floor()
            && file.iter().any(|name| kernel.file.ends_with(name))
            && (kernel.test || !kernel.file.contains("fp32"))
    };
    for kernel in data.kernels.iter().filter(wanted) {
        let key = format!("{} {} {:?}", kernel.label, kernel.dtype_label, kernel.op);
        same.entry((kernel.file, key)).or_default().push(kernel);
    }
    let mut all: BTreeMap<(usize, usize, Family), Vec<(&Kernel, &Kernel)>> = BTreeMap::new();
    for kernels in same.values() {
        for from in kernels {
            for to in kernels.iter().filter(|to| data.chips[to.gpu] != data.chips[from.gpu]) {
                all.entry((from.gpu, to.gpu, from.op.family())).or_default().push((from, to));
            }
        }
    }
    let mut pairs = Vec::new();
    for ((from, to, family), kernels) in all {
        if kernels.len() >= LEAST {
            let step = kernels.len().div_ceil(PER_PAIR).max(1);
            pairs.push(GpuPair { from, to, family, kernels: kernels.into_iter().step_by(step).collect() });
        }
    }
    pairs
}

impl GpuPair<'_> {
    /// How far both are off from `constants`, which have not seen the target.
    pub fn residuals(&self, data: &Data, constants: &Constants) -> Vec<Residual> {
        let [from, to] = [self.from, self.to].map(|gpu| &data.gpus[gpu].1);
        let pair = Pair::of(Machine::new(from, constants), Machine::new(to, constants), Spreads::shipped());
        let one = |(source, target): &(&Kernel, &Kernel)| {
            let [before, after] = [source, target].map(|kernel| device_time(constants, data, kernel));
            let error = |kernel: &Kernel, p50: f64| (kernel.measured / kernel.as_measured(p50)).ln();
            let off = error(source, before.p50.get());
            let usual = 2.0 * before.sigma_shared.hypot(before.sigma_own);
            let clamped = off.clamp(-usual, usual);
            let sigma = after.sigma_shared.hypot(after.sigma_own);
            let measured = source.measured - source.events;
            let class = Work {
                op: class(&source.op).op(source.dtype, measured, pair.source()),
                dtype: source.dtype,
                known: Known::Class,
            };
            Residual {
                from: self.from,
                to: self.to,
                family: self.family,
                kinship: Kinship::of(from, to),
                target: error(target, after.p50.get()),
                source: clamped,
                beyond: off - clamped,
                by_class: (target.measured / target.as_measured(pair.carry(&class, measured).seconds)).ln(),
                model: Interval::log_normal(1.0, sigma),
            }
        };
        self.kernels.iter().map(one).collect()
    }
}

/// What a kernel's name would tell.
fn class(op: &Op) -> StandIn {
    match op.family() {
        Family::Matmul => StandIn::Product,
        Family::Convolution => StandIn::Convolution,
        Family::Attention => StandIn::Attention,
        Family::Rowwise => match op {
            Op::Rowwise { kind: breakeven::workload::op::Rowwise::Softmax, .. } => StandIn::Softmax,
            _ => StandIn::Norm,
        },
        Family::Reduce => StandIn::Fold,
        Family::Copy => StandIn::Copy,
        _ => StandIn::Map,
    }
}

type ByPair<'a> = BTreeMap<(usize, usize), Vec<&'a Residual>>;

fn by_pair<'a>(residuals: impl Iterator<Item = &'a Residual>) -> ByPair<'a> {
    let mut pairs = ByPair::new();
    for residual in residuals {
        pairs.entry((residual.from, residual.to)).or_default().push(residual);
    }
    pairs
}

/// Standard deviations: between pairs, and within them.
fn spread(pairs: &ByPair<'_>, error: impl Fn(&Residual) -> f64) -> [f64; 2] {
    let errors: Vec<Vec<f64>> = pairs.values().map(|rows| rows.iter().map(|row| error(row)).collect()).collect();
    // Of middles, and of the distance that holds four in five: single kernels that took another algorithm are far off.
    let middle = |errors: &Vec<f64>| quantile(&mut errors.clone(), 0.5);
    let shared = mean(&errors.iter().map(|errors| middle(errors) * middle(errors)).collect::<Vec<_>>()).sqrt();
    let within = |errors: &Vec<f64>| {
        let at = middle(errors);
        let mut away: Vec<f64> = errors.iter().map(|error| (error - at).abs()).collect();
        quantile(&mut away, 0.8) / breakeven::interval::Z90
    };
    let own = mean(&errors.iter().map(|errors| within(errors) * within(errors)).collect::<Vec<_>>()).sqrt();
    [shared, own]
}

/// The table's rows of families and classes, fitted to these.
pub fn table(residuals: &[&Residual]) -> String {
    let mut text = String::from("family,generation,weight,shared,own,basis\n");
    let families = || residuals.iter().map(|r| r.family).collect::<std::collections::BTreeSet<_>>();
    let mut row = |name: &str, kinship: Kinship, [weight, shared, own]: [f64; 3], basis: &str| {
        text += &format!("{name},{},{weight:.2},{shared:.4},{own:.4},{basis}\n", kinship.name());
    };
    let of = |family: Option<Family>, kinship: Kinship| {
        let wanted = |kinship: Option<Kinship>| {
            let fits =
                move |r: &&&Residual| family.is_none_or(|f| r.family == f) && kinship.is_none_or(|k| r.kinship == k);
            by_pair(residuals.iter().filter(fits).copied())
        };
        let own = wanted(Some(kinship));
        if own.len() >= PAIRS { own } else { wanted(None) }
    };
    for family in families() {
        for kinship in KINSHIPS {
            let pairs = of(Some(family), kinship);
            let weight = weight(&pairs);
            let [shared, own] = spread(&pairs, |r| r.error(weight));
            row(family.name(), kinship, [weight, shared, own], "fitted");
        }
    }
    for kinship in KINSHIPS {
        let pairs = of(None, kinship);
        let weight = weight(&pairs);
        let [shared, own] = spread(&pairs, |r| r.error(weight));
        // Nobody measured those on two GPUs: as the widest family, and half as wide again.
        row("rest", kinship, [weight, 1.5 * shared.max(0.1), 1.5 * own.max(0.1)], "assumed");
        let [shared, own] = spread(&pairs, |r| r.by_class);
        row("class", kinship, [1.0, shared, own], "fitted");
        row("nothing", kinship, [1.0, (2.0 * shared).max(0.4), (2.0 * own).max(0.4)], "assumed");
    }
    text
}

/// The rows of whole programs.
pub fn whole(sigma: f64) -> String {
    KINSHIPS.map(|kinship| format!("whole,{},1,{sigma:.4},0,fitted\n", kinship.name())).concat()
}

fn weight(pairs: &ByPair<'_>) -> f64 {
    let rows = |rows: &Vec<&Residual>| rows.iter().map(|r| (r.target - r.beyond, r.source)).collect::<Vec<_>>();
    best_weight(&pairs.values().map(rows).collect::<Vec<_>>())
}

impl Residual {
    /// ln(measured ÷ carried) on the target.
    fn error(&self, weight: f64) -> f64 {
        self.target - self.beyond - weight * self.source
    }
}

/// All pairs of GPUs in one family, each target left out of the model and of the table.
#[derive(Serialize)]
pub struct FamilyRow {
    pub family: &'static str,
    /// `op`, or `class` where no more than that is told.
    pub known: &'static str,
    pub kinship: &'static str,
    pub pairs: usize,
    pub kernels: usize,
    /// The mean of those fitted.
    pub weight: f64,
    pub median_ape: f64,
    pub model_median_ape: f64,
    pub ratio_median_ape: f64,
    pub coverage80: f64,
    /// Median p90 ÷ p10.
    pub width80: f64,
    pub model_width80: f64,
}

pub fn rows(data: &Data, residuals: &[Residual], tables: &BTreeMap<&str, Spreads>) -> Vec<FamilyRow> {
    let mut groups: BTreeMap<(Known, &str, Kinship), Vec<&Residual>> = BTreeMap::new();
    for residual in residuals {
        for known in [Known::Op, Known::Class] {
            groups.entry((known, residual.family.name(), residual.kinship)).or_default().push(residual);
        }
    }
    let row = |((known, family, kinship), rows): ((Known, &'static str, Kinship), Vec<&Residual>)| {
        let spread = |r: &Residual| tables[data.chips[r.to].as_str()].of(known, r.family, kinship);
        let error = |r: &Residual| if known == Known::Op { r.error(spread(r).weight) } else { r.by_class };
        let median =
            |figure: &dyn Fn(&Residual) -> f64| quantile(&mut rows.iter().map(|r| figure(r)).collect::<Vec<_>>(), 0.5);
        let off = |error: f64| ((-error).exp() - 1.0).abs();
        let interval = |r: &Residual| {
            let s = spread(r);
            let one = Carried {
                seconds: 1.0,
                shared: s.shared,
                own: s.own,
                bound: breakeven::kernel::Bound::Memory,
                utilisation: 0.0,
            };
            Interval::log_normal(one.seconds, one.shared.hypot(one.own))
        };
        let held = |r: &Residual| {
            let (time, i) = (error(r).exp(), interval(r));
            f64::from(i.p10 <= time && time <= i.p90)
        };
        FamilyRow {
            family,
            known: if known == Known::Op { "op" } else { "class" },
            kinship: kinship.name(),
            pairs: by_pair(rows.iter().copied()).len(),
            kernels: rows.len(),
            weight: mean(&rows.iter().map(|r| spread(r).weight).collect::<Vec<_>>()),
            median_ape: median(&|r| off(error(r))),
            model_median_ape: median(&|r| off(r.target)),
            ratio_median_ape: median(&|r| off(r.target - r.source - r.beyond)),
            coverage80: mean(&rows.iter().map(|r| held(r)).collect::<Vec<_>>()),
            width80: median(&|r| interval(r).p90 / interval(r).p10),
            model_width80: median(&|r| r.model.p90 / r.model.p10),
        }
    };
    groups.into_iter().map(row).collect()
}
