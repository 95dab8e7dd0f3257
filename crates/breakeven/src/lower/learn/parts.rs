//! The parts of a call, as cuML and cuml.accel make them: copies, passes over the data, products, pairs of rows.

use super::facts::Facts;
use crate::workload::op::{Direction, Factor};
use crate::workload::{Dtype, Op, Part};

/// Rows and columns that lie in memory the wrong way round are put right by the host, element by element, each from a line of
/// memory of its own: so many bytes of traffic for each byte. Up to a line's worth of columns (16 of 4 bytes) neighbours come
/// from one line; from a page's worth (1024) on each is in a page of its own. Fitted: PCA and Lasso of C-ordered arrays.
const TURN_SHORT: f64 = 4.4;
const TURN_LINES: f64 = 17.0;
const TURN_PAGES: f64 = 33.0;
/// Rows from which the pages' own table leaves the caches.
const TURN_ROWS: f64 = 64e3;
/// Bytes that stay in a host's cache, and what they take of the rest.
const TURN_CACHED: f64 = 32e6;
const TURN_CACHE: f64 = 0.25;

/// What cuml.accel's copies of ordinary memory take against those of the model, which are of another host and library. Fitted:
/// linear models predict in little else than the copy in, scalers in both.
const COPY_IN: f64 = 1.6;
const COPY_OUT: f64 = 0.55;

/// A call's parts, in their order.
pub(super) struct Parts {
    dtype: Dtype,
    parts: Vec<Part>,
}

impl Parts {
    pub(super) fn new(dtype: Dtype) -> Self {
        Self { dtype, parts: Vec::new() }
    }

    pub(super) fn done(self) -> Op {
        Op::Routine { parts: self.parts }
    }

    fn add(&mut self, op: Op, count: f64) {
        if count >= 0.5 {
            self.parts.push(Part::new(op, self.dtype, whole(count)));
        }
    }

    fn told(&mut self, op: Op, [read, written]: [f64; 2], count: f64) {
        if count >= 0.5 {
            let part = Part::new(op, self.dtype, whole(count));
            self.parts.push(Part { read_bytes: whole(read), written_bytes: whole(written), ..part });
        }
    }

    fn copy(&mut self, direction: Direction, bytes: f64) {
        let copy = Op::Transfer { direction, bytes: whole(bytes), pinned: false, asynchronous: false };
        let times = match direction {
            Direction::H2d => COPY_IN,
            Direction::D2h => COPY_OUT,
            Direction::D2d | Direction::H2h => 1.0,
        };
        self.told(copy, [times * bytes, 0.0], if bytes > 0.0 { 1.0 } else { 0.0 });
    }

    /// The data go to the device as they lie.
    pub(super) fn copy_in(&mut self, facts: &Facts) {
        self.copy(Direction::H2d, facts.bytes());
    }

    /// The data go to the device with each column together: the host puts C-ordered ones right first (`order="F"` of cuML's
    /// `check_inputs`, for which CuPy has NumPy copy).
    pub(super) fn copy_in_by_columns(&mut self, facts: &Facts) {
        if facts.order == "C" && facts.nnz == 0.0 && facts.d > 1.0 {
            self.copy(Direction::H2h, facts.bytes() * turned(facts.n, facts.d, facts.size()));
        }
        self.copy_in(facts);
    }

    /// Other arrays go to the device.
    pub(super) fn bytes_in(&mut self, bytes: f64) {
        self.copy(Direction::H2d, bytes);
    }

    /// Results come back.
    pub(super) fn bytes_out(&mut self, bytes: f64) {
        self.copy(Direction::D2h, bytes);
    }

    /// The result comes back: what was told of it, else a number a row.
    pub(super) fn result_out(&mut self, facts: &Facts) {
        self.bytes_out(Facts::or(facts.outbytes, facts.n * facts.size()));
    }

    /// `count` kernels that read `inputs` arrays of `n` elements and write one.
    pub(super) fn map(&mut self, n: f64, inputs: u32, flop: f64, count: f64) {
        self.add(Op::Elementwise { n: whole(n), inputs, flop_per_element: flop, transcendental: false }, count);
    }

    /// `count` kernels that read `n` elements, and fold them to `out`.
    pub(super) fn fold(&mut self, n: f64, out: f64, flop: f64, count: f64) {
        self.add(Op::Reduce { n: whole(n), out: whole(out.max(1.0)), flop_per_element: flop }, count);
    }

    /// `count` kernels of a few elements: what only has to be launched.
    pub(super) fn kernels(&mut self, count: f64) {
        self.add(Op::Elementwise { n: 1024, inputs: 1, flop_per_element: 1.0, transcendental: false }, count);
    }

    /// C[m,n] = A[m,k]·B[k,n], of whole matrices.
    pub(super) fn product(&mut self, m: f64, n: f64, k: f64, count: f64) {
        self.add(Op::Matmul { m: whole(m), n: whole(n), k: whole(k), batch: 1, bias: false }, count);
    }

    /// The data (n×d) times d×`columns`; a sparse product where they are sparse.
    pub(super) fn times(&mut self, facts: &Facts, columns: f64, count: f64) {
        let (rows, cols, n) = (whole(facts.n), whole(facts.d), whole(columns));
        if facts.nnz > 0.0 {
            let kind =
                if columns > 1.0 { crate::workload::op::Sparse::Spmm } else { crate::workload::op::Sparse::Spmv };
            self.add(Op::Sparse { kind, rows, cols, nnz: whole(facts.nnz), n }, count);
        } else {
            self.add(Op::Matmul { m: rows, n, k: cols, batch: 1, bias: false }, count);
        }
    }

    /// A symmetric problem or a factorisation of a d×d matrix.
    pub(super) fn factor(&mut self, kind: Factor, d: f64) {
        self.add(Op::Factor { kind, m: whole(d), n: whole(d), rhs: 0, batch: 1 }, 1.0);
    }

    /// Distances between each of `n` rows and each of `m` rows of width `d`, as fused kernels compute them on ordinary cores:
    /// difference, square and sum for each column; `functions` operations for each pair beside; `kept` of each pair's bytes are
    /// written.
    pub(super) fn pairs(&mut self, [n, m, d]: [f64; 3], functions: f64, kept: f64, count: f64) {
        let size = self.dtype.bytes() as f64;
        let op = Op::Elementwise {
            n: whole(n * m),
            inputs: 1,
            flop_per_element: 3.0 * d + functions,
            transcendental: false,
        };
        self.told(op, [(n + m) * d * size, n * m * size * kept], count);
    }

    /// `n` reads at computed places among `source` elements.
    pub(super) fn gather(&mut self, n: f64, source: f64, count: f64) {
        self.add(Op::Gather { n: whole(n), source: whole(source.max(1.0)) }, count);
    }

    /// `n` additions at computed places among `target` sums.
    pub(super) fn scatter(&mut self, n: f64, target: f64, count: f64) {
        self.add(Op::Scatter { n: whole(n), target: whole(target.max(1.0)), accumulate: true }, count);
    }

    /// Order of each of `rows` rows of `width`.
    pub(super) fn sort(&mut self, kind: crate::workload::op::Sort, rows: f64, width: f64, count: f64) {
        self.add(Op::Sort { kind, rows: whole(rows), width: whole(width) }, count);
    }
}

/// Bytes of the host's memory traffic for each byte of an n×d matrix that is put right.
fn turned(n: f64, d: f64, size: f64) -> f64 {
    let row = d * size;
    // From one line of 64 bytes to eight of them; from half a page to a page.
    let lines = (libm::log2((row / 64.0).max(1.0)) / 3.0).min(1.0);
    let pages = if n > TURN_ROWS { (libm::log2((row / 1024.0).max(1.0)) / 2.0).min(1.0) } else { 0.0 };
    let traffic = TURN_SHORT + (TURN_LINES - TURN_SHORT) * lines + (TURN_PAGES - TURN_LINES) * pages;
    if n * row <= TURN_CACHED { traffic * TURN_CACHE } else { traffic }
}

/// A count as the format has it.
fn whole(count: f64) -> u64 {
    count.round().clamp(0.0, 1e18) as u64
}
