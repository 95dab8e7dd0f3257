//! Fits the traffic of hash tables in `kernel/frames.csv` to published times of data frames, and scores the model with each
//! case left out: `cargo run --release --example fit_frames -- TIMINGS.csv`.
//!
//! Columns that are read: `framework`, `gpu`, `algorithm_or_query`, `params`, `n_rows`, `n_cols_or_dims`, `phase`, `cpu_s`, `gpu_s`,
//! `note`. Cases whose GPU time is marked as suspect, or that tell no rows, are left out. What a call costs before its
//! kernels is fitted beside: once for libcudf called from compiled code, once for cuDF's Python.

use breakeven::hardware::Catalogue;
use breakeven::kernel::{FrameConstants, Link, frame_time_with};
use breakeven::units::Bytes;
use breakeven::workload::op::Dataframe;
use breakeven::workload::{Dtype, Op};
use std::collections::BTreeSet;

/// Fitted: three constants of the table, and host time of a call through libcudf and through Python, s.
const FITTED: [&str; 3] = ["group_row", "group_key", "group_value"];
const START: [f64; 5] = [600.0, 200.0, 400.0, 0.5e-3, 3e-3];
const LOW: [f64; 5] = [32.0, 1.0, 16.0, 0.1e-3, 0.3e-3];
const HIGH: [f64; 5] = [8000.0, 4000.0, 4000.0, 2e-3, 10e-3];
/// Bytes of a string, where a column holds some.
const TEXT: f64 = 12.0;

struct Case {
    gpu: String,
    op: Op,
    bytes: f64,
    copied: f64,
    python: bool,
    cpu: Vec<f64>,
    seconds: f64,
    what: String,
}

fn main() {
    let path = std::env::args().nth(1).expect("a table of timings");
    let cases = read(&std::fs::read_to_string(path).expect("a readable file"));
    let all: Vec<&Case> = cases.iter().collect();
    let fitted = fit(&all);
    println!("fitted to {} cases: {FITTED:?} and host time of a call (libcudf, Python) = {fitted:?}", all.len());
    let (mut near, mut held, mut signs, mut right) = (0, 0, 0, 0);
    for left_out in 0..cases.len() {
        let others: Vec<&Case> =
            cases.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, case)| case).collect();
        let case = &cases[left_out];
        let (predicted, sigma) = predict(&fit(&others), case);
        let off = (predicted / case.seconds).ln();
        near += usize::from(off.abs() <= 2.0_f64.ln());
        held += usize::from(off.abs() <= 1.2816 * sigma);
        for cpu in &case.cpu {
            signs += 1;
            right += usize::from((predicted < *cpu) == (case.seconds < *cpu));
        }
        println!(
            "{:60} measured {:9.3} ms, predicted {:9.3}: {:.2}",
            case.what,
            case.seconds * 1e3,
            predicted * 1e3,
            off.exp()
        );
    }
    let share = |n: usize, of: usize| 100.0 * n as f64 / of.max(1) as f64;
    let n = cases.len();
    println!(
        "left out: within a factor of 2 {:.0} %, in the 80 % interval {:.0} %, verdict right {:.0} % of {signs}",
        share(near, n),
        share(held, n),
        share(right, signs)
    );
}

fn read(text: &str) -> Vec<Case> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let columns = table.headers().expect("a header").clone();
    let mut cases: Vec<Case> = Vec::new();
    let mut seen = BTreeSet::new();
    for row in table.records().map_while(Result::ok) {
        let get = |name: &str| columns.iter().position(|c| c == name).and_then(|i| row.get(i)).unwrap_or_default();
        let (framework, note) = (get("framework"), get("note"));
        let of_frames = framework.contains("cudf") && !note.contains("SUSPECT");
        let (Ok(rows), Ok(seconds)) = (get("n_rows").parse::<f64>(), get("gpu_s").parse::<f64>()) else { continue };
        if !of_frames {
            continue;
        }
        let cpu = get("cpu_s").parse::<f64>().ok();
        let (query, params) = (get("algorithm_or_query"), get("params"));
        let what = format!("{} {query} {params} {rows}", get("gpu"));
        if !seen.insert((what.clone(), get("gpu_s").to_owned())) {
            let known = cases.iter_mut().find(|case| case.what == what && case.seconds == seconds);
            known.expect("seen").cpu.extend(cpu);
            continue;
        }
        let number = |key: &str| {
            let part = params.split(';').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
            part.and_then(|n| n.parse::<u64>().ok())
        };
        let native = framework.contains("Rust");
        let n = rows as u64;
        let frame = |kind, columns, out_rows, keys| Op::Dataframe {
            kind,
            rows: n,
            columns,
            out_rows,
            keys,
            other_rows: 0,
            window: 0,
        };
        let values = number("value_columns").unwrap_or(if params.contains("min") { 4 } else { 1 });
        let text = if params.contains("string") { TEXT } else { 0.0 };
        let wide = if native { 1 } else { 5 };
        let (op, width) = match query {
            q if q.contains("groupby") => {
                let keys = number("keys").unwrap_or(1);
                (frame(Dataframe::GroupBy, values, n / 10, keys), 8.0 * (values + keys) as f64)
            }
            q if q.contains("filter") => (frame(Dataframe::Filter, wide, n / 2, 1), 8.0 * wide as f64 * 1.5 + text),
            q if q.contains("sort") => (frame(Dataframe::Sort, wide, n, 1), 16.0 * wide as f64 + 2.0 * text),
            _ => continue,
        };
        let copied = if note.contains("host to device copy included") { rows * width } else { 0.0 };
        let gpu = get("gpu").to_owned();
        cases.push(Case {
            gpu,
            op,
            bytes: rows * width,
            copied,
            python: !native,
            cpu: cpu.into_iter().collect(),
            seconds,
            what,
        });
    }
    cases
}

/// Seconds of a case, and how sure.
fn predict(p: &[f64; 5], case: &Case) -> (f64, f64) {
    let mut constants = *FrameConstants::shipped();
    for (name, value) in FITTED.iter().zip(p) {
        *constants.get_mut(name).expect("a constant") = *value;
    }
    let catalogue = Catalogue::embedded();
    let found = catalogue.find_gpu(&case.gpu).expect("a GPU of the catalogue");
    let device = &found.gpus[0].device;
    let time = frame_time_with(&constants, &case.op, Dtype::F64, Bytes(case.bytes), device);
    let host = if case.python { p[4] } else { p[3] };
    let copies = if case.copied > 0.0 { Link::of(device).up(case.copied) } else { 0.0 };
    (host + copies + time.p50.get(), time.sigma_shared.hypot(time.sigma_own))
}

/// Coordinate descent on the mean of |ln(predicted ÷ measured)|.
fn fit(cases: &[&Case]) -> [f64; 5] {
    let off = |p: &[f64; 5]| cases.iter().map(|case| (predict(p, case).0 / case.seconds).ln().abs()).sum::<f64>();
    let (mut best, mut step) = (START, 1.0_f64);
    let mut least = off(&best);
    while step > 0.02 {
        let mut moved = false;
        for i in 0..best.len() {
            for factor in [step.exp(), (-step).exp()] {
                let mut tried = best;
                tried[i] = (tried[i] * factor).clamp(LOW[i], HIGH[i]);
                let error = off(&tried);
                if error < least {
                    (best, least, moved) = (tried, error, true);
                }
            }
        }
        if !moved {
            step /= 2.0;
        }
    }
    best
}
