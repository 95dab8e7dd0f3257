//! Hand-computed cases: calls as NumPy users write them, dims worked out on paper.

use super::*;
use crate::workload::op::{Direction, Factor, Fft, Random, Sort};

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

/// A call that returns nothing.
fn in_place(name: &str, inputs: &[ArrayRef], outputs: &[ArrayRef]) -> Lowered {
    lower(&Call { name, inputs, outputs, keywords: &[], scalar_result: false })
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

#[test]
fn a_power_that_is_known_beforehand_is_products_and_roots() {
    let flop = |name, keywords: &[(&str, &str)]| op_with(name, &[&[8]], &[8], keywords).flop(Dtype::F64).get();
    let power = |exponent| flop("aten.pow", &[("exponent", exponent)]);
    let (any, square) = (flop("aten.pow", &[]), flop("aten.square", &[]));
    assert_eq!((power("2"), power("2.0"), power("3")), (square, square, 2.0 * square));
    assert_eq!(power("0.5"), flop("aten.sqrt", &[]));
    assert_eq!((power("1"), power("2.5"), power("x")), (0.0, any, any));
}

fn matmul(m: u64, n: u64, k: u64, batch: u64) -> Op {
    Op::Matmul { m, n, k, batch, bias: false }
}

fn map(n: u64, inputs: u32, flop_per_element: f64, transcendental: bool) -> Op {
    Op::Elementwise { n, inputs, flop_per_element, transcendental }
}

#[test]
fn every_row_has_a_rule_and_its_own_name() {
    for text in callable::TABLES {
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
    // One operand is a list: its shape is not seen, but follows.
    assert_eq!(op("numpy.matmul", &[&[8, 3]], &[8]), matmul(8, 1, 3, 1));
    assert_eq!(op("numpy.matmul", &[&[8, 3]], &[3]), matmul(1, 3, 8, 1));
    assert_eq!(op("numpy.dot", &[&[8, 3]], &[8, 5]), matmul(8, 5, 3, 1));
    assert_eq!(op("numpy.dot", &[&[8, 3]], &[8, 3]), map(24, 1, 1.0, false));
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
    let set = |inputs: &[ArrayRef], out: &[u64]| {
        let outputs = if out.is_empty() { vec![] } else { vec![f64s(out)] };
        in_place("numpy.ndarray.__setitem__", inputs, &outputs).op
    };
    assert_eq!(set(&[a.clone(), places.clone()], &[]), Op::Scatter { n: 30, target: 1000, accumulate: false });
    assert_eq!(set(&[a.clone(), mask], &[]), map(1000, 2, 1.0, false));
    assert_eq!(set(&[a.clone(), f64s(&[500])], &[500]), Op::Copy { n: 500, strided: true, inputs: 1, run: 0 });
    assert_eq!(set(&[a], &[1000]), Op::Copy { n: 1000, strided: false, inputs: 0, run: 0 });
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

#[test]
fn einsum_and_tensordot() {
    let einsum =
        |letters, inputs: &[&[u64]], out: &[u64]| op_with("numpy.einsum", inputs, out, &[("subscripts", letters)]);
    assert_eq!(einsum("ij,jk->ik", &[&[4, 5], &[5, 6]], &[4, 6]), matmul(4, 6, 5, 1));
    assert_eq!(einsum("bij,bjk->bik", &[&[3, 4, 5], &[3, 5, 6]], &[3, 4, 6]), matmul(4, 6, 5, 3));
    assert_eq!(einsum("ij,kj", &[&[4, 5], &[6, 5]], &[4, 6]), matmul(4, 6, 5, 1));
    assert_eq!(einsum("i,i->i", &[&[7], &[7]], &[7]), map(7, 2, 1.0, false));
    assert_eq!(einsum("ii->", &[&[7, 7]], &[]), Op::Reduce { n: 49, out: 1, flop_per_element: 1.0 });
    assert_eq!(einsum("ij->ji", &[&[4, 5]], &[5, 4]), Op::Copy { n: 20, strided: true, inputs: 1, run: 4 });
    // Without letters the shapes have to do.
    assert_eq!(op("numpy.einsum", &[&[3, 4, 5], &[3, 5, 6]], &[3, 4, 6]), matmul(4, 6, 5, 3));
    assert_eq!(op("numpy.tensordot", &[&[3, 4, 5], &[4, 3, 2]], &[5, 2]), matmul(5, 2, 12, 1));
}

#[test]
fn copies_and_views() {
    // Rows lie together.
    let rows_of = |run, n, inputs| Op::Copy { n, strided: true, inputs, run };
    let copy = |n, strided, inputs| Op::Copy { n, strided, inputs, run: 0 };
    assert_eq!(op("numpy.concatenate", &[&[10, 4], &[20, 4]], &[30, 4]), rows_of(4, 120, 2));
    assert_eq!(op("numpy.tile", &[&[10]], &[30]), copy(30, true, 1));
    assert_eq!(op("numpy.pad", &[&[10, 10]], &[12, 12]), rows_of(10, 144, 1));
    assert_eq!(op("numpy.roll", &[&[10, 10]], &[10, 10]), rows_of(10, 100, 1));
    assert_eq!(op("aten.diagonal_copy", &[&[10, 10]], &[10]), rows_of(10, 10, 1));
    assert_eq!(op("aten.unfold_copy", &[&[10]], &[9, 2]), rows_of(2, 18, 1));
    assert_eq!(op("aten.squeeze_copy", &[&[10, 1]], &[10]), copy(10, false, 1));
    assert_eq!(op("numpy.zeros", &[], &[50]), copy(50, false, 0));
    assert_eq!(op("numpy.linspace", &[], &[50]), copy(50, false, 0));
    assert_eq!(op("numpy.meshgrid", &[&[3], &[4]], &[4, 3]), rows_of(3, 12, 2));
    assert_eq!(op("numpy.ndarray.transpose", &[&[3, 4]], &[4, 3]), Op::View);
    assert_eq!(op("numpy.ndarray.reshape", &[&[3, 4]], &[12]), Op::View);
    assert_eq!(op_with("numpy.ndarray.ravel", &[&[3, 4]], &[12], &[("copied", "true")]), copy(12, false, 1));
    let astype = [f64s(&[100])];
    let single = run("numpy.ndarray.astype", &astype, &[of(Dtype::F32, &[100])], &[("copied", "true")]);
    assert_eq!((single.op, single.read, single.written), (copy(100, false, 1), 800, 400));
    // A transpose made contiguous crosses the memory.
    let turned = ArrayRef { layout: Layout::F, ..f64s(&[3, 4]) };
    let contiguous = run("numpy.ascontiguousarray", &[turned], &[f64s(&[3, 4])], &[("copied", "true")]);
    assert_eq!(contiguous.op, rows_of(4, 12, 1));
}

#[test]
fn what_is_changed_in_place_is_written() {
    let a = f64s(&[1000]);
    let bytes = |name, inputs: &[ArrayRef]| {
        let lowered = in_place(name, inputs, &[]);
        (lowered.read, lowered.written)
    };
    assert_eq!(bytes("numpy.ndarray.fill", std::slice::from_ref(&a)), (0, 8000));
    assert_eq!(bytes("numpy.ndarray.sort", std::slice::from_ref(&a)), (8000, 8000));
    assert_eq!(bytes("numpy.random.Generator.shuffle", std::slice::from_ref(&a)), (8000, 8000));
    assert_eq!(bytes("numpy.copyto", &[a.clone(), f64s(&[10])]), (80, 8000));
    // A recorder that knows it lists the target as what is written.
    let row = in_place("numpy.copyto", &[f64s(&[10])], std::slice::from_ref(&a));
    assert_eq!((row.op, row.read, row.written), (Op::Copy { n: 1000, strided: false, inputs: 1, run: 0 }, 80, 8000));
    // Thirty places of eight bytes and their values: read both, write thirty elements.
    let places = of(Dtype::I64, &[30]);
    assert_eq!(bytes("numpy.ndarray.__setitem__", &[a, places, f64s(&[30])]), (480, 240));
}

#[test]
fn tables_and_counts() {
    assert_eq!(
        op("numpy.interp", &[&[50], &[9], &[9]], &[50]),
        Op::Sort { kind: Sort::SearchSorted, rows: 50, width: 9 }
    );
    assert_eq!(op("numpy.digitize", &[&[50], &[9]], &[50]), Op::Sort { kind: Sort::SearchSorted, rows: 50, width: 9 });
    assert_eq!(op("numpy.histogram", &[&[50, 4]], &[10]), Op::Sort { kind: Sort::Histogram, rows: 1, width: 200 });
    assert_eq!(op("numpy.bincount", &[&[50]], &[10]), Op::Scatter { n: 50, target: 10, accumulate: true });
    assert_eq!(
        op_with("numpy.percentile", &[&[20, 300]], &[3, 20], &[("axis", "1")]),
        Op::Sort { kind: Sort::Partition, rows: 20, width: 300 }
    );
    assert_eq!(op("numpy.trace", &[&[30, 20]], &[]), Op::Reduce { n: 20, out: 1, flop_per_element: 1.0 });
    assert_eq!(op("numpy.cross", &[&[50, 3], &[50, 3]], &[50, 3]), map(150, 2, 3.0, false));
    assert_eq!(op("numpy.gradient", &[&[6, 7]], &[6, 7]), map(42, 1, 5.0, false));
    assert_eq!(op("numpy.clip", &[&[9]], &[9]), map(9, 1, 2.0, false));
    assert_eq!(op("numpy.where", &[&[9], &[9], &[9]], &[9]), map(9, 3, 1.0, false));
    assert_eq!(op("numpy.linalg.norm", &[&[30, 20]], &[]), Op::Reduce { n: 600, out: 1, flop_per_element: 2.0 });
    let nuclear = op_with("numpy.linalg.norm", &[&[30, 20]], &[], &[("ord", "nuc")]);
    assert_eq!(nuclear, Op::Factor { kind: Factor::Svdvals, m: 30, n: 20, rhs: 0, batch: 1 });
}

#[test]
fn signals_and_images() {
    use crate::workload::op::{Pass, Window};
    let window = |kind, n, window| Op::Window { kind, pass: Pass::Forward, n, input: n, window };
    assert_eq!(op("scipy.ndimage.convolve", &[&[64, 64], &[3, 3]], &[64, 64]), window(Window::Stencil, 4096, 9));
    // sigma 2: radius ⌊8.5⌋, 17 taps along each of two axes.
    let gaussian = op_with("scipy.ndimage.gaussian_filter", &[&[64, 64]], &[64, 64], &[("sigma", "2")]);
    assert_eq!(gaussian, window(Window::Stencil, 4096, 34));
    // One sigma for each axis: 17 taps and 9; two standard deviations of it: 9 and 5.
    let gaussian = |more: &[(&str, &str)]| {
        let keywords = [&[("sigma", "(2.0, 1)")], more].concat();
        op_with("scipy.ndimage.gaussian_filter", &[&[64, 64]], &[64, 64], &keywords)
    };
    assert_eq!(gaussian(&[]), window(Window::Stencil, 4096, 26));
    assert_eq!(gaussian(&[("truncate", "2")]), window(Window::Stencil, 4096, 14));
    let uniform = op_with("scipy.ndimage.uniform_filter", &[&[64, 64]], &[64, 64], &[("size", "(5, 1)")]);
    assert_eq!(uniform, window(Window::Stencil, 4096, 6));
    let median = op_with("scipy.ndimage.median_filter", &[&[64, 64]], &[64, 64], &[("size", "5")]);
    assert_eq!(median, window(Window::Median, 4096, 25));
    let convolution = |input, kernel, output| Op::Convolution {
        pass: Pass::Forward,
        batch: 1,
        cin: 1,
        cout: 1,
        groups: 1,
        input: vec![input],
        kernel: vec![kernel],
        output: vec![output],
    };
    assert_eq!(op("numpy.convolve", &[&[100], &[5]], &[104]), convolution(100, 5, 104));
    assert_eq!(op("numpy.convolve", &[&[5], &[100]], &[104]), convolution(100, 5, 104));
    // Of 61 taps each result takes those that fall on a sample, one in three.
    let resampled = op_with("scipy.signal.upfirdn", &[&[61], &[100]], &[179], &[("up", "3"), ("down", "2")]);
    assert_eq!(resampled, convolution(100, 21, 179));
    let of_rows = Op::Window { kind: Window::Stencil, pass: Pass::Forward, n: 1280, input: 800, window: 61 };
    assert_eq!(op("scipy.signal.upfirdn", &[&[61], &[8, 100]], &[8, 160]), of_rows);
    // Two transforms of 100 + 29 - 1 points there, one back.
    assert_eq!(op("scipy.signal.fftconvolve", &[&[100], &[29]], &[128]), Op::Fft { kind: Fft::R2c, n: 128, batch: 3 });
    let filtered = |inputs: &[&[u64]], keywords| op_with("scipy.signal.lfilter", inputs, &[6, 100], keywords);
    assert_eq!(filtered(&[&[5], &[5], &[6, 100]], &[]), Op::Scan { rows: 6, width: 100 });
    assert_eq!(filtered(&[&[5], &[5], &[6, 100]], &[("axis", "0")]), Op::Scan { rows: 100, width: 6 });
    assert_eq!(op("scipy.signal.sosfilt", &[&[2, 6], &[300]], &[300]), Op::Scan { rows: 1, width: 300 });
    assert_eq!(op("scipy.fft.dct", &[&[5, 100]], &[5, 100]), Op::Fft { kind: Fft::R2c, n: 100, batch: 5 });
    assert_eq!(op("numpy.fft.fftn", &[&[8, 8, 8]], &[8, 8, 8]), Op::Fft { kind: Fft::C2c, n: 512, batch: 1 });
}

#[test]
fn distances_and_sparse_products() {
    use crate::workload::op::Sparse;
    assert_eq!(op("scipy.spatial.distance.cdist", &[&[30, 3], &[40, 3]], &[30, 40]), matmul(30, 40, 3, 1));
    assert_eq!(op("scipy.spatial.distance.pdist", &[&[31, 3]], &[465]), matmul(31, 15, 3, 1));
    let (data, indices, indptr) = (f64s(&[500]), of(Dtype::I32, &[500]), of(Dtype::I32, &[101]));
    let product = |dense: &[u64], out: &[u64]| {
        let inputs = [data.clone(), indices.clone(), indptr.clone(), f64s(dense)];
        run("scipy.sparse.csr_matrix.__matmul__", &inputs, &[f64s(out)], &[]).op
    };
    assert_eq!(product(&[80], &[100]), Op::Sparse { kind: Sparse::Spmv, rows: 100, cols: 80, nnz: 500, n: 1 });
    assert_eq!(product(&[80, 7], &[100, 7]), Op::Sparse { kind: Sparse::Spmm, rows: 100, cols: 80, nnz: 500, n: 7 });
}

#[test]
fn what_a_gpu_program_says_itself() {
    let a = f64s(&[2000, 2000]);
    let bytes = 32_000_000;
    let copy = |direction, pinned, asynchronous| Op::Transfer { direction, bytes, pinned, asynchronous };
    let one = std::slice::from_ref(&a);
    assert_eq!(run("cupy.asarray", one, one, &[]).op, copy(Direction::H2d, false, false));
    let beside = [("pinned", "True"), ("asynchronous", "True")];
    assert_eq!(run("cupy.ndarray.get", one, one, &beside).op, copy(Direction::D2h, true, true));
    assert_eq!(in_place("cupy.cuda.Stream.synchronize", &[], &[]).op, Op::Synchronise);
    assert_eq!(op("cupy.dot", &[&[10, 20], &[20, 30]], &[10, 30]), matmul(10, 30, 20, 1));
    assert_eq!(op("cupyx.scipy.special.erf", &[&[10]], &[10]), op("scipy.special.erf", &[&[10]], &[10]));
    let functions = [("functions", "two*1,numpy.multiply*2,exp")];
    assert_eq!(op_with("cupy.fuse", &[&[10]], &[10], &functions), map(10, 1, 30.0, true));
    let told = run("cupy.RawKernel", one, &[], &[("flops", "8e6"), ("bytes", "5000"), ("n", "4000000")]);
    assert_eq!((told.op, told.read, told.written), (map(4_000_000, 1, 2.0, false), 5000, 0));
}
