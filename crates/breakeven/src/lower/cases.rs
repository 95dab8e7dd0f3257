//! Hand-computed cases: calls as NumPy users write them, dims worked out on paper.

use super::*;
use crate::workload::op::{Factor, Fft, Random, Sort};

/// A float64 array of this shape.
fn f64s(shape: &[u64]) -> ArrayRef {
    ArrayRef::new(Dtype::F64, shape)
}

fn of(dtype: Dtype, shape: &[u64]) -> ArrayRef {
    ArrayRef::new(dtype, shape)
}

fn run(name: &str, inputs: &[ArrayRef], outputs: &[ArrayRef], keywords: &[(&str, &str)]) -> Lowered {
    lower(&Call { name, inputs, outputs, keywords, scalar_result: outputs.is_empty() })
}

/// The op of a call on float64 arrays of these shapes; no output means a scalar result.
fn op(name: &str, inputs: &[&[u64]], output: &[u64]) -> Op {
    op_with(name, inputs, output, &[])
}

fn op_with(name: &str, inputs: &[&[u64]], output: &[u64], keywords: &[(&str, &str)]) -> Op {
    let inputs: Vec<_> = inputs.iter().map(|s| f64s(s)).collect();
    let outputs = if output.is_empty() { vec![] } else { vec![f64s(output)] };
    run(name, &inputs, &outputs, keywords).op
}

fn matmul(m: u64, n: u64, k: u64, batch: u64) -> Op {
    Op::Matmul { m, n, k, batch, bias: false }
}

fn map(n: u64, inputs: u32, flop_per_element: f64, transcendental: bool) -> Op {
    Op::Elementwise { n, inputs, flop_per_element, transcendental }
}

#[test]
fn every_row_has_a_rule_and_its_own_name() {
    for text in [include_str!("../../callables/numpy.csv"), include_str!("../../callables/scipy.csv")] {
        for row in callable::rows(text) {
            assert_eq!(row.len(), 3, "{row:?}");
            assert!(Rule::parse(&row[1]).is_some(), "{row:?}");
            assert!(matches!(&row[2], "atomic" | "composite"), "{row:?}");
        }
    }
    let names: Vec<_> = callables().iter().map(|c| c.name.as_str()).collect();
    assert!(names.windows(2).all(|w| w[0] < w[1]), "names are unique");
}

#[test]
fn products() {
    assert_eq!(op("numpy.matmul", &[&[2000, 3000], &[3000, 50]], &[2000, 50]), matmul(2000, 50, 3000, 1));
    assert_eq!(op("numpy.matmul", &[&[7], &[7, 3]], &[3]), matmul(1, 3, 7, 1));
    assert_eq!(op("numpy.matmul", &[&[4, 7], &[7]], &[4]), matmul(4, 1, 7, 1));
    assert_eq!(op("numpy.matmul", &[&[7], &[7]], &[]), matmul(1, 1, 7, 1));
    assert_eq!(op("numpy.matmul", &[&[5, 1, 2, 3], &[6, 3, 4]], &[5, 6, 2, 4]), matmul(2, 4, 3, 30));
    assert_eq!(op("numpy.dot", &[&[10, 20], &[20, 30]], &[10, 30]), matmul(10, 30, 20, 1));
    assert_eq!(op("numpy.dot", &[&[10, 20], &[20]], &[10]), matmul(10, 1, 20, 1));
    assert_eq!(op("numpy.dot", &[&[2, 10, 20], &[3, 20, 30]], &[2, 10, 3, 30]), matmul(20, 90, 20, 1));
    assert_eq!(op("numpy.vdot", &[&[10, 20], &[10, 20]], &[]), matmul(1, 1, 200, 1));
    assert_eq!(op("numpy.inner", &[&[10, 20], &[30, 20]], &[10, 30]), matmul(10, 30, 20, 1));
    assert_eq!(op("numpy.outer", &[&[10], &[20]], &[10, 20]), map(200, 2, 1.0, false));
    assert_eq!(op("numpy.kron", &[&[2, 3], &[4, 5]], &[8, 15]), map(120, 2, 1.0, false));
}

#[test]
fn folds() {
    let sum = |out: &[u64]| op("numpy.sum", &[&[100, 200]], out);
    assert_eq!(sum(&[]), Op::Reduce { n: 20_000, out: 1, flop_per_element: 1.0 });
    assert_eq!(sum(&[200]), Op::Reduce { n: 20_000, out: 200, flop_per_element: 1.0 });
    assert_eq!(
        op("numpy.ndarray.std", &[&[100, 200]], &[100]),
        Op::Reduce { n: 20_000, out: 100, flop_per_element: 4.0 }
    );
    assert_eq!(
        op("numpy.add.reduce", &[&[100, 200]], &[200]),
        Op::Reduce { n: 20_000, out: 200, flop_per_element: 1.0 }
    );
    assert_eq!(op("numpy.cumsum", &[&[100, 200]], &[20_000]), Op::Scan { rows: 1, width: 20_000 });
    assert_eq!(
        op_with("numpy.cumsum", &[&[100, 200]], &[100, 200], &[("axis", "0")]),
        Op::Scan { rows: 200, width: 100 }
    );
    let argmax = run("numpy.argmax", &[f64s(&[100, 200])], &[of(Dtype::I64, &[100])], &[]);
    assert_eq!((argmax.op, argmax.dtype), (Op::Reduce { n: 20_000, out: 100, flop_per_element: 1.0 }, Dtype::F64));
}

#[test]
fn element_wise() {
    assert_eq!(op("numpy.add", &[&[100, 1], &[200]], &[100, 200]), map(20_000, 2, 1.0, false));
    assert_eq!(op("numpy.exp", &[&[100]], &[100]), map(100, 1, 27.0, true));
    // `np.exp(a, out=b)` with `b` listed among the arguments as well.
    let out = run("numpy.exp", &[f64s(&[100]), f64s(&[100])], &[f64s(&[100])], &[]);
    assert_eq!((out.op, out.read, out.written), (map(100, 1, 27.0, true), 800, 800));
    // A comparison computes in the type it compares.
    let less = run("numpy.less", &[of(Dtype::F32, &[100])], &[of(Dtype::Bool, &[100])], &[]);
    assert_eq!((less.dtype, less.read, less.written), (Dtype::F32, 400, 100));
    // Integers divided are floats.
    let ratio = run("numpy.divide", &[of(Dtype::I64, &[10]); 1], &[f64s(&[10])], &[]);
    assert_eq!(ratio.dtype, Dtype::F64);
}

#[test]
fn orders() {
    assert_eq!(op("numpy.sort", &[&[10, 200]], &[10, 200]), Op::Sort { kind: Sort::Sort, rows: 10, width: 200 });
    assert_eq!(op("numpy.unique", &[&[10, 200]], &[17]), Op::Sort { kind: Sort::Unique, rows: 1, width: 2000 });
    assert_eq!(
        op("numpy.searchsorted", &[&[1000], &[50]], &[50]),
        Op::Sort { kind: Sort::SearchSorted, rows: 50, width: 1000 }
    );
    assert_eq!(op("numpy.median", &[&[10, 200]], &[10]), Op::Sort { kind: Sort::Partition, rows: 10, width: 200 });
}

#[test]
fn places() {
    let (a, places, mask) = (f64s(&[1000]), of(Dtype::I64, &[30]), of(Dtype::Bool, &[1000]));
    let get =
        |key: &ArrayRef, out: u64| run("numpy.ndarray.__getitem__", &[a.clone(), key.clone()], &[f64s(&[out])], &[]).op;
    assert_eq!(get(&places, 30), Op::Gather { n: 30, source: 1000 });
    assert_eq!(get(&mask, 412), Op::Gather { n: 412, source: 1000 });
    assert_eq!(op("numpy.ndarray.__getitem__", &[&[1000]], &[500]), Op::View);
    let set = |inputs: &[ArrayRef], out: &[u64]| run("numpy.ndarray.__setitem__", inputs, &[f64s(out)], &[]).op;
    assert_eq!(set(&[a.clone(), places.clone()], &[1000]), Op::Scatter { n: 30, target: 1000, accumulate: false });
    assert_eq!(set(&[a.clone(), mask], &[1000]), map(1000, 2, 1.0, false));
    assert_eq!(set(&[a.clone(), f64s(&[500])], &[500]), Op::Copy { n: 500, strided: true, inputs: 1 });
    assert_eq!(set(&[a], &[1000]), Op::Copy { n: 1000, strided: false, inputs: 0 });
}

#[test]
fn transforms_and_factors() {
    let complex = of(Dtype::C128, &[8, 1024]);
    assert_eq!(
        run("numpy.fft.fft", &[f64s(&[8, 1024])], &[complex], &[]).op,
        Op::Fft { kind: Fft::C2c, n: 1024, batch: 8 }
    );
    assert_eq!(op("numpy.fft.rfft2", &[&[8, 64, 32]], &[8, 64, 17]), Op::Fft { kind: Fft::R2c, n: 2048, batch: 8 });
    assert_eq!(op("numpy.fft.irfft", &[&[17]], &[32]), Op::Fft { kind: Fft::C2r, n: 32, batch: 1 });
    assert_eq!(
        op("numpy.linalg.svd", &[&[3, 100, 50]], &[3, 100, 100]),
        Op::Factor { kind: Factor::Svd, m: 100, n: 50, rhs: 0, batch: 3 }
    );
    assert_eq!(
        op("numpy.linalg.solve", &[&[100, 100], &[100, 7]], &[100, 7]),
        Op::Factor { kind: Factor::Solve, m: 100, n: 100, rhs: 7, batch: 1 }
    );
    assert_eq!(op("numpy.random.Generator.normal", &[], &[5, 10]), Op::Random { kind: Random::Normal, n: 50 });
}

#[test]
fn what_is_not_understood_says_so() {
    assert_eq!(op("numpy.no_such_thing", &[&[3]], &[3]), Op::Opaque);
    assert_eq!(run("numpy.add", &[of(Dtype::Other, &[3])], &[of(Dtype::Other, &[3])], &[]).op, Op::HostOnly);
}
