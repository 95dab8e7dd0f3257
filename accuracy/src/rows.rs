//! Kernel tables as published, row by row.

use crate::Result;
use crate::data::{Gpus, Kernel, protocol};
use crate::networks;
use crate::statistics::quantile;
use breakeven::kernel::kernel_time;
use breakeven::units::Bytes;
use breakeven::workload::{Dtype, Family, Op, Pass, op::Rowwise};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

pub fn fp32(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/fp32_kernels.parquet";
    let first = kernels.len();
    parquet_rows(path, |row| {
        let (Some(name), Some(on), Some(latency)) = (row.text("op"), row.text("gpu"), row.number("latency_us")) else {
            return;
        };
        let Some(gpu) = gpus.index(on) else { return };
        let (name, measured) = (usual(name), latency * 1e-6);
        let Some(op) = fp32_op(&name, row) else {
            return gpus.leave_out(&format!("no op is called `{name}`, or it lacks a dim"));
        };
        if !gpus.usable(&op, measured) {
            return;
        }
        let name = name.as_str();
        let dtype = networks::dtype(row.text("dtype").unwrap_or_default());
        let labels = [name.to_owned(), row.text("dtype").unwrap_or("fp32").to_owned()];
        kernels.push(Kernel {
            test: row.text("split") == Some("test"),
            // The P4's training shapes hit kernels at a fifth of the peak that no other board is given.
            fitted: !(name == "linear" && on == "Tesla_P4" && row.text("split") != Some("test")),
            neusight: row.number("neusight_us").filter(|us| *us > 0.0).map(|us| us * 1e-6),
            ..Kernel::timed(file, gpu, labels, (op, dtype), measured)
        });
    })?;
    floors(&mut kernels[first..]);
    searches(&mut kernels[first..], gpus);
    take_protocols(&mut kernels[first..], gpus);
    Ok(())
}

/// What `protocols.csv` says of the kernels of one file.
fn take_protocols(kernels: &mut [Kernel], gpus: &Gpus) {
    let mut protocols = BTreeMap::new();
    for kernel in kernels {
        let of = |(op, dtype, gpu): &(String, Dtype, usize)| protocol(kernel.file, op, *dtype, gpus.name(*gpu));
        let key = (kernel.label.clone(), kernel.dtype, kernel.gpu);
        let protocol = protocols.entry(key).or_insert_with_key(of);
        kernel.events = protocol.event_share * kernel.floor;
        kernel.burst = protocol.burst;
        kernel.hot = protocol.hot;
        kernel.fitted &= protocol.fitted;
    }
}

/// The shortest time of a kind on one GPU is what a launch costs.
fn floors(kernels: &mut [Kernel]) {
    let mut floors = BTreeMap::new();
    for kernel in &*kernels {
        let floor = floors.entry((kernel.gpu, kernel.label.clone(), kernel.dtype_label.clone())).or_insert(f64::MAX);
        *floor = kernel.measured.min(*floor);
    }
    for kernel in kernels {
        kernel.floor = floors[&(kernel.gpu, kernel.label.clone(), kernel.dtype_label.clone())];
    }
}

/// Before a convolution of a new shape cuDNN's heuristics choose an algorithm on the host. Shapes met before skip that, so
/// that the shortest time says nothing: the floor of a kind is the middle time of rows that have next to no work.
fn searches(kernels: &mut [Kernel], gpus: &Gpus) {
    const NO_WORK: f64 = 25e-6;
    let mut idle: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for kernel in kernels.iter().filter(|k| k.op.family() == Family::Convolution) {
        let device = gpus.device(kernel.gpu);
        let need = kernel_time(&kernel.op, kernel.dtype, Bytes::ZERO, Bytes::ZERO, device);
        let peak = device.matrix_peak(kernel.dtype).map_or(f64::INFINITY, |(rate, _)| rate.get());
        if need.flop.get() / peak + need.bytes.get() / device.bandwidth.get() < NO_WORK {
            idle.entry(kernel.gpu).or_default().push(kernel.measured);
        }
    }
    for kernel in kernels.iter_mut().filter(|k| k.op.family() == Family::Convolution) {
        if let Some(times) = idle.get_mut(&kernel.gpu).filter(|times| times.len() >= 10) {
            kernel.floor = quantile(times, 0.5);
        }
    }
}

/// The table's own name of an op that others spell in another way.
fn usual(name: &str) -> String {
    let plain: String = name.trim().to_ascii_lowercase().chars().filter(|c| *c != '_').collect();
    match plain.strip_prefix("vec").unwrap_or(&plain) {
        "layernorm" => "ln",
        "conv2d" | "convolution" => "conv",
        "fc" | "dense" | "addmm" => "linear",
        "mm" | "gemm" => "matmul",
        "batchmatmul" | "baddbmm" => "bmm",
        other => other,
    }
    .to_owned()
}

fn fp32_op(name: &str, row: &Cells<'_>) -> Option<Op> {
    let dim = |column| row.number(column).map(|x| x as u64);
    if let "bmm" | "linear" | "matmul" = name {
        let (m, n, k, batch) = (dim("m")?, dim("n")?, dim("k")?, dim("b").unwrap_or(1).max(1));
        return Some(Op::Matmul { m, n, k, batch, bias: name == "linear" });
    }
    if name == "conv" {
        let (kernel, hw, stride, pad) = (dim("ksize")?, dim("hw")?, dim("stride")?, dim("pad")?);
        let out = (hw + 2 * pad).checked_sub(kernel)? / stride.max(1) + 1;
        return Some(Op::Convolution {
            pass: Pass::Forward,
            batch: dim("b")?,
            cin: dim("cin")?,
            cout: dim("cout")?,
            groups: dim("groups").unwrap_or(1).max(1),
            input: vec![hw; 2],
            kernel: vec![kernel; 2],
            output: vec![out; 2],
        });
    }
    vector_op(name, dim("b")?, dim("h")?)
}

/// Ops on `rows` × `width` elements: `add`, `addu` (one operand a scalar), `gelu`, `ln`, `softmax`, …
pub fn vector_op(name: &str, rows: u64, width: u64) -> Option<Op> {
    match name {
        "ln" => Some(Op::Rowwise { kind: Rowwise::LayerNorm, pass: Pass::Forward, rows, width }),
        "softmax" => Some(Op::Rowwise { kind: Rowwise::Softmax, pass: Pass::Forward, rows, width }),
        _ => breakeven::table::map(name, rows.saturating_mul(width)),
    }
}

/// Shortest kernel of any GPU, s. What the smallest low-precision products take beyond it is their inputs' conversion.
const SMALLEST: f64 = 2e-6;
/// No kernel that converts small inputs takes so long, s.
const HOST: f64 = 15e-6;

pub fn low_precision(path: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let file = "kernels/lowprecision_gemm.parquet";
    let first = kernels.len();
    parquet_rows(path, |row| {
        let (Some(gpu), Some(label), Some(latency)) =
            (row.text("gpu_system"), row.text("gemm_dtype"), row.number("latency_us_median"))
        else {
            return;
        };
        let dtype = match label {
            "bfloat16" => Dtype::Bf16,
            "fp8" | "fp8_static" => Dtype::F8,
            "sq" => Dtype::I8,
            // Block scales, 4-bit and weight-only formats are other kernels.
            _ => return,
        };
        let dim = |column| row.number(column).map(|x| x as u64);
        let (Some(m), Some(n), Some(k)) = (dim("m"), dim("n"), dim("k")) else { return };
        let Some(gpu) = gpus.index(gpu) else { return };
        let op = Op::Matmul { m, n, k, batch: 1, bias: false };
        if !gpus.usable(&op, latency * 1e-6) {
            return;
        }
        let labels = ["matmul", label].map(str::to_owned);
        kernels.push(Kernel::timed(file, gpu, labels, (op, dtype), latency * 1e-6));
    })?;
    floors(&mut kernels[first..]);
    take_protocols(&mut kernels[first..], gpus);
    for kernel in &mut kernels[first..] {
        let (bytes, elements) = conversion(kernel);
        let converted = (bytes / gpus.bandwidth(kernel.gpu)).max(elements / gpus.cycles(kernel.gpu));
        // A long floor is the host's, who hands calls over one by one: it hides what is shorter and adds nothing.
        let before = if kernel.floor < HOST { (kernel.floor - SMALLEST).max(0.0) } else { 0.0 };
        kernel.events = before + converted;
    }
    Ok(())
}

/// What converting the first operand to 8 bits takes: bytes moved (read as bf16 and written; read before for its largest
/// value where the scale is not given) and elements, of which a unit converts `PER_CYCLE` a clock. Smooth-quant's are
/// converted by the op before.
fn conversion(kernel: &Kernel) -> (f64, f64) {
    /// Conversions a clock and unit, from the slope of times over m·k.
    const PER_CYCLE: f64 = 2.5;
    let Op::Matmul { m, k, .. } = kernel.op else { return (0.0, 0.0) };
    let elements = m as f64 * k as f64;
    match kernel.dtype_label.as_str() {
        "fp8" => (5.0 * elements, elements / PER_CYCLE),
        "fp8_static" => (3.0 * elements, elements / PER_CYCLE),
        _ => (0.0, 0.0),
    }
}

/// Hands each row to `take`.
pub fn parquet_rows(path: &Path, mut take: impl FnMut(&Cells<'_>)) -> Result<()> {
    for row in SerializedFileReader::new(File::open(path)?)?.get_row_iter(None)? {
        take(&Cells::new(&row?));
    }
    Ok(())
}

/// A row by column name.
pub struct Cells<'a> {
    cells: Vec<(&'a str, &'a Field)>,
}

impl<'a> Cells<'a> {
    fn new(row: &'a Row) -> Self {
        Self { cells: row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect() }
    }

    fn field(&self, column: &str) -> Option<&'a Field> {
        self.cells.iter().find(|(name, _)| *name == column).map(|(_, field)| *field)
    }

    pub fn text(&self, column: &str) -> Option<&'a str> {
        match self.field(column)? {
            Field::Str(text) => Some(text),
            _ => None,
        }
    }

    pub fn flag(&self, column: &str) -> bool {
        matches!(self.field(column), Some(Field::Bool(true)))
    }

    /// Finite and not negative, or nothing.
    pub fn number(&self, column: &str) -> Option<f64> {
        let number = match self.field(column)? {
            Field::Double(x) => *x,
            Field::Float(x) => f64::from(*x),
            Field::Long(x) => *x as f64,
            Field::Int(x) => f64::from(*x),
            Field::Short(x) => f64::from(*x),
            Field::Byte(x) => f64::from(*x),
            Field::ULong(x) => *x as f64,
            Field::UInt(x) => f64::from(*x),
            Field::UShort(x) => f64::from(*x),
            Field::UByte(x) => f64::from(*x),
            Field::Str(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        (number.is_finite() && number >= 0.0).then_some(number)
    }
}
