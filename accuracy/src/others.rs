//! Other people's layouts as kernels: transformer layers, DeepBench, streams, tiny kernels, best products.

use crate::Result;
use crate::data::{Gpus, Kernel, protocol};
use crate::rows::parquet_rows;
use breakeven::workload::{Dtype, Op, Pass, op::Rowwise};
use std::path::Path;

/// One row of any file, by GPU name; nothing for a GPU that nobody knows.
fn kernel(
    file: &'static str,
    gpus: &mut Gpus,
    gpu: &str,
    (label, dtype): (&str, Dtype),
    op: Op,
    seconds: f64,
) -> Option<Kernel> {
    let protocol = protocol(file, label, dtype, gpu);
    let place = gpus.index(gpu)?;
    if !gpus.usable(&op, seconds) {
        return None;
    }
    let labels = [label.to_owned(), format!("{dtype:?}").to_lowercase()];
    Some(Kernel {
        floor: protocol.floor,
        burst: protocol.burst,
        hot: protocol.hot,
        fitted: protocol.fitted,
        one_each: file.ends_with("gpu_benches_small_kernels.csv"),
        library: protocol.library,
        ..Kernel::timed(file, place, labels, (op, dtype), seconds)
    })
}

fn matmul(m: u64, n: u64, k: u64, linear: bool) -> Op {
    Op::Matmul { m, n, k, batch: 1, bias: linear }
}

/// `fp16_llm_ops.parquet`: the parts of a transformer layer, tensor-parallel.
pub fn transformer_layers(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/fp16_llm_ops.parquet";
    parquet_rows(path, |row| {
        let dim = |column| row.number(column).map(|x| x as u64);
        let (Some(name), Some(gpu), Some(us)) = (row.text("op"), row.text("gpu"), row.number("latency_us")) else {
            return;
        };
        let (Some(tokens), Some(parts), Some(width), Some(wide), Some(heads), Some(kv)) = (
            dim("num_tokens"),
            dim("num_tensor_parallel_workers").filter(|&p| p > 0),
            dim("n_embd"),
            dim("n_expanded_embd"),
            dim("n_head").filter(|&h| h > 0),
            dim("n_kv_head"),
        ) else {
            return;
        };
        let gated = if row.flag("use_gated_mlp") { 2 } else { 1 };
        let head = width / heads;
        let map = |n: u64, inputs, flop_per_element, transcendental| Op::Elementwise {
            n,
            inputs,
            flop_per_element,
            transcendental,
        };
        let (label, op) = match name {
            "attn_pre_proj" => ("linear", matmul(tokens, (heads + 2 * kv) * head / parts, width, true)),
            "attn_post_proj" => ("linear", matmul(tokens, width, heads * head / parts, true)),
            "mlp_up_proj" => ("linear", matmul(tokens, gated * wide / parts, width, true)),
            "mlp_down_proj" => ("linear", matmul(tokens, width, wide / parts, true)),
            // The gated kind is fused by the library: conversions, an exponential and a division, element by element.
            "mlp_act" if gated == 2 => ("act", map(tokens * wide / parts, 2, 34.0, true)),
            "mlp_act" => ("act", map(tokens * wide / parts, 1, 15.0, true)),
            "add" => ("add", map(tokens * width, 2, 1.0, false)),
            "input_layernorm" | "post_attention_layernorm" => {
                ("norm", Op::Rowwise { kind: Rowwise::RmsNorm, pass: Pass::Forward, rows: tokens, width })
            }
            // Rotary and token embeddings depend on layouts that the table does not give.
            _ => return,
        };
        kernels.extend(kernel(file, gpus, gpu, (label, Dtype::F16), op, us * 1e-6));
    })
}

/// `deepbench_nv_rows_raw.csv`: rows of spreadsheets; the training sheets say dtype and layout.
pub fn deepbench(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/deepbench_nv_rows_raw.csv";
    let mut reader = csv::Reader::from_path(path)?;
    for record in reader.records() {
        let record = record?;
        let (gpu, sheet) = (record.get(0).unwrap_or_default(), record.get(2).unwrap_or_default());
        let dtype = match sheet {
            s if s.contains("FP32") => Dtype::F32,
            s if s.contains("Mixed math") => Dtype::F16,
            _ => continue,
        };
        let mut cells: Vec<&str> = record.get(3).unwrap_or_default().split('|').collect();
        if cells[0].parse::<f64>().is_err() {
            cells.remove(0); // the application's name
        }
        let number = |i: usize| cells.get(i).and_then(|c| c.parse::<f64>().ok()).filter(|x| *x > 0.0);
        let dim = |i: usize| number(i).map(|x| x as u64);
        if let (Some(m), Some(n), Some(k), Some(&a), Some(&b)) = (dim(0), dim(1), dim(2), cells.get(3), cells.get(4)) {
            if !["N", "T"].contains(&a) {
                convolution(file, gpus, gpu, dtype, &cells, kernels);
                continue;
            }
            // A remark may stand before the time; the rate comes last.
            let Some(ms) = number(5).or_else(|| number(6)) else { continue };
            // Columns first there: their A and B are our second and first operand.
            let op = matmul(n, m, k, a == "T" && b == "N");
            kernels.extend(kernel(file, gpus, gpu, ("matmul", dtype), op, ms * 1e-3));
        } else {
            convolution(file, gpus, gpu, dtype, &cells, kernels);
        }
    }
    Ok(())
}

/// Width, height, channels, images, filters, their width and height, padding, strides, and the times of the passes.
fn convolution(
    file: &'static str,
    gpus: &mut Gpus,
    gpu: &str,
    dtype: Dtype,
    cells: &[&str],
    kernels: &mut Vec<Kernel>,
) {
    if cells.len() < 20 {
        return;
    }
    let number = |i: usize| cells.get(i).and_then(|c| c.parse::<f64>().ok());
    let sizes: Vec<u64> = (0..11).filter_map(number).map(|x| x as u64).collect();
    let &[w, h, cin, batch, cout, kw, kh, pad_w, pad_h, stride_w, stride_h] = sizes.as_slice() else { return };
    let out = |size: u64, pad: u64, k: u64, stride: u64| (size + 2 * pad).checked_sub(k).map(|x| x / stride.max(1) + 1);
    let (Some(ow), Some(oh)) = (out(w, pad_w, kw, stride_w), out(h, pad_h, kh, stride_h)) else { return };
    let passes =
        [(11, "conv", Pass::Forward), (12, "conv_data", Pass::BackwardData), (13, "conv_weight", Pass::BackwardWeight)];
    for (column, label, pass) in passes {
        let Some(ms) = number(column).filter(|t| *t > 0.0) else { continue };
        // Boards before Volta were measured with cuDNN 5 and 6, which lack algorithms that all boards now have.
        let op = Op::Convolution {
            pass,
            batch,
            cin,
            cout,
            groups: 1,
            input: vec![h, w],
            kernel: vec![kh, kw],
            output: vec![oh, ow],
        };
        let Some(mut kernel) = kernel(file, gpus, gpu, (label, dtype), op, ms * 1e-3) else { return };
        kernel.fitted &= gpus.device(kernel.gpu).peaks.f16_tensor.is_some();
        kernels.push(kernel);
    }
}

/// Doubles in each array of the stream benchmark.
const STREAM: u64 = 1 << 27;

/// `gpu_benches_stream.csv`: GB/s by kernel.
pub fn streams(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/gpu_benches_stream.csv";
    let mut reader = csv::Reader::from_path(path)?;
    let header = reader.headers()?.clone();
    for record in reader.records() {
        let record = record?;
        let rate = |name| {
            let cell = header.iter().position(|h| h == name).and_then(|i| record.get(i))?;
            cell.parse::<f64>().ok().filter(|x| *x > 0.0).map(|gb| gb * 1e9)
        };
        let bytes = (STREAM * 8) as f64;
        let map = |inputs| Op::Elementwise { n: STREAM, inputs, flop_per_element: 1.0, transcendental: false };
        for (label, arrays, op) in [
            ("read", 1.0, Op::Reduce { n: STREAM, out: 1, flop_per_element: 1.0 }),
            ("scale", 2.0, map(1)),
            ("triad", 3.0, map(2)),
        ] {
            let Some(rate) = rate(label) else { continue };
            kernels.extend(kernel(
                file,
                gpus,
                record.get(0).unwrap_or_default(),
                (label, Dtype::F64),
                op,
                arrays * bytes / rate,
            ));
        }
    }
    Ok(())
}

/// `gpu_benches_small_kernels.csv`: one array of doubles scaled into another. Variants of launching are named after the
/// GPU; the plain one has the others' times for long kernels and a floor for short ones.
pub fn small_kernels(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/gpu_benches_small_kernels.csv";
    let mut reader = csv::Reader::from_path(path)?;
    for record in reader.records() {
        let record = record?;
        if ["graph", "gsync", "pt"]
            .iter()
            .any(|variant| record.get(0).unwrap_or_default().ends_with(&format!("_{variant}")))
        {
            continue;
        }
        let (Ok(n), Ok(rate)) =
            (record.get(1).unwrap_or_default().parse::<u64>(), record.get(3).unwrap_or_default().parse::<f64>())
        else {
            continue;
        };
        if rate > 0.0 {
            let op = Op::Elementwise { n, inputs: 1, flop_per_element: 1.0, transcendental: false };
            let seconds = (n * 16) as f64 / (rate * 1e9);
            kernels.extend(kernel(file, gpus, record.get(0).unwrap_or_default(), ("scale", Dtype::F64), op, seconds));
        }
    }
    Ok(())
}

/// What products as large as those take beside the best that a search found, on the boards of which both are known (A100,
/// B300, GB200).
const FOUND: f64 = 1.1;

/// `mamf.csv`: the best product that a search found, TFLOP/s.
pub fn best_products(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/mamf.csv";
    let mut reader = csv::Reader::from_path(path)?;
    for record in reader.records() {
        let record = record?;
        let dtype = match record.get(0).unwrap_or_default() {
            "bf16" => Dtype::Bf16,
            "fp8" => Dtype::F8,
            _ => continue,
        };
        let dims: Vec<u64> = record.get(5).unwrap_or_default().split('x').filter_map(|d| d.parse().ok()).collect();
        let (&[m, n, k], Ok(rate)) = (dims.as_slice(), record.get(2).unwrap_or_default().parse::<f64>()) else {
            continue;
        };
        let flop = 2.0 * m as f64 * n as f64 * k as f64;
        kernels.extend(kernel(
            file,
            gpus,
            record.get(1).unwrap_or_default(),
            ("best", dtype),
            matmul(m, n, k, false),
            FOUND * flop / (rate * 1e12),
        ));
    }
    Ok(())
}
