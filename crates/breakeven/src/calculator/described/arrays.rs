//! Products of matrices and arithmetic on arrays: as NumPy's where it has the type, else as PyTorch's.

use super::super::kind::precision_name;
use super::{Asked, Described, entry, on_device, optional, part, program_of, read_back, whole};
use crate::Result;
use crate::estimate::Note;
use crate::quantity::Measure;
use crate::workload::{Dtype, Entry, Op};

/// `c = a @ b` of two square matrices.
pub(super) fn matmul(asked: &Asked) -> Result<Described> {
    let n = part(&asked.numbers.matmul, "matmul")?;
    let matrix = n * n * asked.dtype.bytes() as f64;
    let dim = whole(n);
    let op = Op::Matmul { m: dim, n: dim, k: dim, batch: 1, bias: false };
    let name = if of_numpy(asked.dtype) { "numpy.matmul" } else { "aten.mm" };
    let shapes = Some(format!("[{dim},{dim}] [{dim},{dim}] -> [{dim},{dim}]"));
    let product = Entry { shapes, ..entry(0, name, op, asked.dtype, matrix) };
    Ok(program(asked, "c = a @ b", product, matrix, 3.0 * matrix))
}

/// `x = x * 1.5`, as often as there are operations: each is a pass over the array with a result of its own.
pub(super) fn elements(asked: &Asked) -> Result<Described> {
    let n = part(&asked.numbers.elements, "elements")?;
    let passes = optional(&asked.numbers.operations, "operations", 1.0)?;
    let array = n * asked.dtype.bytes() as f64;
    let op = Op::Elementwise { n: whole(n), inputs: 1, flop_per_element: 1.0, transcendental: false };
    let name = if of_numpy(asked.dtype) { "numpy.multiply" } else { "aten.mul" };
    let shapes = Some(format!("[{0}] -> [{0}]", whole(n)));
    let pass = Entry { count: whole(passes), shapes, ..entry(0, name, op, asked.dtype, array) };
    Ok(program(asked, "x = x * 1.5", pass, array, 2.0 * array))
}

/// One op, copies before and after it where any were asked for, and the read that ends it.
fn program(asked: &Asked, line: &str, work: Entry, result: f64, memory: f64) -> Described {
    let given = asked.given;
    let number = asked.dtype.bytes() as f64;
    let back = given.data_out.unwrap_or(if given.data.is_some() { result } else { 0.0 }).max(number);
    let copied = given.data.unwrap_or(0.0);
    let (library, ops) = if of_numpy(asked.dtype) {
        let input = Entry { host_input_bytes: whole(copied), host_input_count: u64::from(copied > 0.0), ..work };
        ("numpy", vec![input, read_back(1, back)])
    } else {
        ("pytorch", on_device(0, copied, vec![work, read_back(1, back)]))
    };
    let copies = if copied > 0.0 {
        format!("{} are copied to the GPU", Measure::Bytes.format(copied))
    } else {
        "its arrays are made on the GPU (`--data` copies them there)".to_owned()
    };
    let precision = precision_name(asked.dtype);
    let default = if given.precision.is_none() { " (NumPy's default is fp64)" } else { "" };
    let text = format!("asked by size: estimated as `{line}` in {precision}{default}, {copies}");
    let notes = vec![Note::new("by-size", text)];
    let lines = [&format!("{line}  # {precision}"), "print(…)"];
    Described { workload: program_of(library, &lines, ops, memory), notes, parameters: None }
}

/// Whether NumPy computes in the type at a good rate, and CuPy takes it.
const fn of_numpy(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F64 | Dtype::F32)
}
