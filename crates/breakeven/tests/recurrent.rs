//! Recurrent layers on an H100 against what their kernels took (accuracy/measured/h100-sxm-recurrent.csv).

use breakeven::hardware::Catalogue;
use breakeven::kernel::kernel_time;
use breakeven::units::Bytes;
use breakeven::workload::op::Cell;
use breakeven::workload::{Dtype, Op, Pass};

const MEASURED: &str = include_str!("../../../accuracy/measured/h100-sxm-recurrent.csv");

/// Of each row: what it is, measured and modelled µs, measured and modelled kernels.
fn rows() -> Vec<(String, [f64; 2], [f64; 2])> {
    let device = &Catalogue::embedded().gpu("h100-sxm5-80gb").expect("it is in the catalogue").device;
    let of = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |i: usize| cells[i].parse::<u64>().expect("a whole number");
        let cell = match cells[0] {
            "lstm" => Cell::Lstm,
            "gru" => Cell::Gru,
            _ => Cell::Rnn,
        };
        let dtype = match cells[7] {
            "f16" => Dtype::F16,
            "bf16" => Dtype::Bf16,
            _ => Dtype::Tf32,
        };
        let pass = if cells[8] == "forward" { Pass::Forward } else { Pass::Backward };
        let (steps, batch, hidden) = (number(1), number(2), number(4));
        let ways = number(6) + 1;
        let mut modelled = [0.0, 0.0];
        for layer in 0..number(5) {
            let input = if layer == 0 { number(3) } else { ways * hidden };
            let op = Op::Recurrent { cell, pass, steps, rows: steps * batch, input, hidden, projection: 0 };
            let time = kernel_time(&op, dtype, Bytes(0.0), Bytes(0.0), device);
            modelled[0] += ways as f64 * time.p50.get() * 1e6;
            modelled[1] += (ways * u64::from(time.launches)) as f64;
        }
        let measured = [cells[10], cells[9]].map(|x| x.parse::<f64>().expect("a number"));
        (cells[..9].join(" "), [measured[0], modelled[0]], [measured[1], modelled[1]])
    };
    MEASURED.lines().skip(1).map(of).collect()
}

/// How far a modelled figure is off in the median.
fn median(of: impl Iterator<Item = [f64; 2]>) -> f64 {
    let mut off: Vec<f64> = of.map(|[measured, modelled]| (modelled / measured - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    off[off.len() / 2]
}

#[test]
fn kernels_of_layers_forward_and_back() {
    let all = rows();
    assert_eq!(all.len(), 72);
    assert!(median(all.iter().map(|row| row.1)) < 0.12);
    assert!(median(all.iter().map(|row| row.2)) < 0.1);
    let bias = all.iter().map(|(_, [measured, modelled], _)| libm::log(modelled / measured)).sum::<f64>() / 72.0;
    assert!(bias.abs() < 0.07, "{bias}");
    for (what, [measured, modelled], _) in &all {
        // cuDNN runs one of them in a kernel that is three times slower than step after step.
        let odd = what.starts_with("rnn 50 128 300") && what.ends_with("forward");
        assert!(odd || (0.65..1.55).contains(&(modelled / measured)), "{what}: {measured} µs, modelled {modelled}");
    }
}
