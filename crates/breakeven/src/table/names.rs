//! The names that a table gives to ops, and the dims each takes.

use super::columns::Dim;
use crate::lower;
use crate::workload::op::{Dataframe, Direction, Factor, Fft, Random, Rowwise, Sort, Sparse, Window};
use crate::workload::{Op, Pass};

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// `inputs`, FLOP per element, transcendental: `b` rows of `h`. In single precision on hardware units, so that a
    /// power or a tanh is cheaper than the double-precision polynomials of `callables/flops.csv`.
    Map(u32, f64, bool),
    /// A function of `callables/flops.csv`.
    Function(&'static str),
    /// Each row of `h` folded to one number at so many FLOP per element.
    Reduce(f64),
    Rowwise(Rowwise),
    Scan,
    Sort(Sort),
    /// `b` elements out of `h`.
    Gather,
    /// `b` elements into `h`; added to what is there or not.
    Scatter(bool),
    /// `b` rows of `h` out of a table of `n` rows.
    Embedding,
    /// Strided or not, inputs.
    Copy(bool, u32),
    /// `b` products of m×k and k×n, with a bias or not.
    Product(bool),
    Convolution(Pass),
    /// `b` sequences, `h` heads of `k`, `m` queries on `n` keys; causal or not.
    Attention(bool),
    /// `b` transforms of `h` points.
    Fft(Fft),
    /// `b` matrices m×n.
    Factor(Factor),
    /// `b` matrices n×n with `k` right-hand sides.
    Square(Factor),
    /// m×k with `h` entries, times k×n.
    Sparse(Sparse),
    Random(Random),
    /// As a convolution, without output channels.
    Pool(Window),
    /// `b`×`h` points, windows of `ksize`×`ksize`.
    Window(Window),
    /// `m` rows of `n` columns, `k` rows in the result.
    Dataframe(Dataframe),
    /// `b`×`h` elements; pinned or not.
    Transfer(Direction, bool),
}

/// FLOP of a power: a logarithm and an exponential of twice the length, as libraries take them.
const POWER: f64 = 26.0;

/// Name → meaning. Where several names mean the same, the first is the usual one.
const NAMES: &[(&str, Meaning)] = &[
    ("matmul", Meaning::Product(false)),
    ("bmm", Meaning::Product(false)),
    ("gemm", Meaning::Product(false)),
    ("linear", Meaning::Product(true)),
    ("conv", Meaning::Convolution(Pass::Forward)),
    ("conv_data", Meaning::Convolution(Pass::BackwardData)),
    ("conv_weight", Meaning::Convolution(Pass::BackwardWeight)),
    ("attention", Meaning::Attention(false)),
    ("causal_attention", Meaning::Attention(true)),
    ("add", Meaning::Map(2, 1.0, false)),
    ("sub", Meaning::Map(2, 1.0, false)),
    ("mul", Meaning::Map(2, 1.0, false)),
    ("div", Meaning::Map(2, 4.0, false)),
    ("pow", Meaning::Map(2, POWER, true)),
    ("maximum", Meaning::Map(2, 1.0, false)),
    ("addu", Meaning::Map(1, 1.0, false)),
    ("mulu", Meaning::Map(1, 1.0, false)),
    ("divu", Meaning::Map(1, 1.0, false)),
    ("powu", Meaning::Map(1, POWER, true)),
    ("relu", Meaning::Map(1, 1.0, false)),
    ("gelu", Meaning::Map(1, 15.0, true)),
    ("tanh", Meaning::Map(1, 15.0, true)),
    ("where", Meaning::Function("select")),
    ("fma", Meaning::Map(3, 2.0, false)),
    ("exp", Meaning::Function("exp")),
    ("log", Meaning::Function("log")),
    ("sqrt", Meaning::Function("sqrt")),
    ("sin", Meaning::Function("sin")),
    ("cos", Meaning::Function("cos")),
    ("tan", Meaning::Function("tan")),
    ("arctan2", Meaning::Function("arctan2")),
    ("hypot", Meaning::Function("hypot")),
    ("erf", Meaning::Function("erf")),
    ("ln", Meaning::Rowwise(Rowwise::LayerNorm)),
    ("layernorm", Meaning::Rowwise(Rowwise::LayerNorm)),
    ("softmax", Meaning::Rowwise(Rowwise::Softmax)),
    ("log_softmax", Meaning::Rowwise(Rowwise::LogSoftmax)),
    ("rmsnorm", Meaning::Rowwise(Rowwise::RmsNorm)),
    ("batchnorm", Meaning::Rowwise(Rowwise::BatchNorm)),
    ("groupnorm", Meaning::Rowwise(Rowwise::GroupNorm)),
    ("cross_entropy", Meaning::Rowwise(Rowwise::CrossEntropy)),
    ("sum", Meaning::Reduce(1.0)),
    ("mean", Meaning::Reduce(1.0)),
    ("max", Meaning::Reduce(1.0)),
    ("min", Meaning::Reduce(1.0)),
    ("argmax", Meaning::Reduce(1.0)),
    ("var", Meaning::Reduce(4.0)),
    ("cumsum", Meaning::Scan),
    ("cumprod", Meaning::Scan),
    ("sort", Meaning::Sort(Sort::Sort)),
    ("argsort", Meaning::Sort(Sort::Argsort)),
    ("unique", Meaning::Sort(Sort::Unique)),
    ("topk", Meaning::Sort(Sort::TopK)),
    ("partition", Meaning::Sort(Sort::Partition)),
    ("searchsorted", Meaning::Sort(Sort::SearchSorted)),
    ("histogram", Meaning::Sort(Sort::Histogram)),
    ("gather", Meaning::Gather),
    ("scatter", Meaning::Scatter(false)),
    ("scatter_add", Meaning::Scatter(true)),
    ("embedding", Meaning::Embedding),
    ("copy", Meaning::Copy(false, 1)),
    ("transpose", Meaning::Copy(true, 1)),
    ("fill", Meaning::Copy(false, 0)),
    ("fft", Meaning::Fft(Fft::C2c)),
    ("rfft", Meaning::Fft(Fft::R2c)),
    ("irfft", Meaning::Fft(Fft::C2r)),
    ("lu", Meaning::Factor(Factor::Lu)),
    ("qr", Meaning::Factor(Factor::Qr)),
    ("svd", Meaning::Factor(Factor::Svd)),
    ("svdvals", Meaning::Factor(Factor::Svdvals)),
    ("lstsq", Meaning::Factor(Factor::Lstsq)),
    ("cholesky", Meaning::Square(Factor::Cholesky)),
    ("eigh", Meaning::Square(Factor::Eigh)),
    ("eigvalsh", Meaning::Square(Factor::Eigvalsh)),
    ("eig", Meaning::Square(Factor::Eig)),
    ("inv", Meaning::Square(Factor::Inverse)),
    ("det", Meaning::Square(Factor::Det)),
    ("solve", Meaning::Square(Factor::Solve)),
    ("triangular_solve", Meaning::Square(Factor::TriangularSolve)),
    ("spmv", Meaning::Sparse(Sparse::Spmv)),
    ("spmm", Meaning::Sparse(Sparse::Spmm)),
    ("spgemm", Meaning::Sparse(Sparse::Spgemm)),
    ("uniform", Meaning::Random(Random::Uniform)),
    ("normal", Meaning::Random(Random::Normal)),
    ("exponential", Meaning::Random(Random::Exponential)),
    ("gamma", Meaning::Random(Random::Gamma)),
    ("integers", Meaning::Random(Random::Integers)),
    ("permutation", Meaning::Random(Random::Permutation)),
    ("choice", Meaning::Random(Random::Choice)),
    ("maxpool", Meaning::Pool(Window::MaxPool)),
    ("avgpool", Meaning::Pool(Window::AveragePool)),
    ("stencil", Meaning::Window(Window::Stencil)),
    ("median_filter", Meaning::Window(Window::Median)),
    ("filter", Meaning::Dataframe(Dataframe::Filter)),
    ("groupby", Meaning::Dataframe(Dataframe::GroupBy)),
    ("join", Meaning::Dataframe(Dataframe::Join)),
    ("sort_values", Meaning::Dataframe(Dataframe::Sort)),
    ("rolling", Meaning::Dataframe(Dataframe::Rolling)),
    ("h2d", Meaning::Transfer(Direction::H2d, false)),
    ("h2d_pinned", Meaning::Transfer(Direction::H2d, true)),
    ("d2h", Meaning::Transfer(Direction::D2h, false)),
    ("d2h_pinned", Meaning::Transfer(Direction::D2h, true)),
];

/// Every name with the dims it needs and those it may have, in the order of the columns.
pub fn ops() -> impl Iterator<Item = (&'static str, Vec<Dim>, Vec<Dim>)> {
    NAMES.iter().map(|(name, meaning)| {
        let optional = meaning.optional().iter().map(|(dim, _)| *dim).collect();
        (*name, meaning.needs().to_vec(), optional)
    })
}

/// The map of that name over `n` elements: `add`, `addu` (one operand a number), `gelu`, …
///
/// ```
/// use breakeven::{table::map, workload::Op};
/// let add = Op::Elementwise { n: 8, inputs: 2, flop_per_element: 1.0, transcendental: false };
/// assert_eq!((map("add", 8), map("sort", 8)), (Some(add), None));
/// ```
pub fn map(name: &str, n: u64) -> Option<Op> {
    let Meaning::Map(inputs, flop_per_element, transcendental) = meaning(find(name)?) else { return None };
    Some(Op::Elementwise { n, inputs, flop_per_element, transcendental })
}

/// The place of a name among [`NAMES`].
pub(super) fn find(name: &str) -> Option<u8> {
    NAMES.iter().position(|(known, _)| *known == name).map(|i| i as u8)
}

/// The name at a place.
pub(super) fn name(place: u8) -> &'static str {
    NAMES[usize::from(place)].0
}

/// The meaning at a place.
pub(super) fn meaning(place: u8) -> Meaning {
    NAMES[usize::from(place)].1
}

/// The known name nearest to this one.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let distance = |known: &str| strsim::osa_distance(known, name);
    NAMES
        .iter()
        .map(|(known, _)| (distance(known), *known))
        .min()
        .filter(|(d, known)| *d <= 2 && d * 3 <= known.len())
        .map(|(_, known)| known)
}

impl Meaning {
    /// Dims that the op cannot be without.
    pub(super) const fn needs(self) -> &'static [Dim] {
        use Dim::{B, Cin, Cout, H, Hw, K, Ksize, M, N};
        match self {
            Self::Product(_) => &[M, N, K],
            Self::Convolution(_) => &[Cin, Cout, Ksize, Hw],
            Self::Pool(_) => &[Cin, Ksize, Hw],
            Self::Attention(_) => &[M, N, K, H],
            Self::Map(..) | Self::Function(_) | Self::Random(_) | Self::Copy(..) | Self::Transfer(..) => &[H],
            Self::Reduce(_) | Self::Rowwise(_) | Self::Scan | Self::Sort(_) | Self::Fft(_) => &[H],
            Self::Gather | Self::Scatter(_) => &[B, H],
            Self::Embedding => &[B, N, H],
            Self::Factor(_) => &[M, N],
            Self::Square(_) => &[N],
            Self::Sparse(_) => &[M, K, H],
            Self::Window(_) => &[H, Ksize],
            Self::Dataframe(_) => &[M, N, K],
        }
    }

    /// Dims that it may have, with what they are otherwise.
    pub(super) const fn optional(self) -> &'static [(Dim, u64)] {
        use Dim::{B, K, N, Pad, Stride};
        match self {
            Self::Convolution(_) | Self::Pool(_) => &[(B, 1), (Stride, 1), (Pad, 0)],
            Self::Gather | Self::Scatter(_) | Self::Embedding | Self::Dataframe(_) => &[],
            Self::Sparse(_) => &[(N, 1)],
            Self::Square(_) | Self::Factor(_) => &[(B, 1), (K, 1)],
            _ => &[(B, 1)],
        }
    }

    /// The op of these dims, in the order of [`Dim::ALL`].
    ///
    /// # Errors
    /// A window that is larger than what it slides over.
    pub(super) fn op(self, dims: &[u64; Dim::COUNT]) -> Result<Op, String> {
        let d = |dim: Dim| dims[dim as usize];
        let [b, m, n, k, h] = [Dim::B, Dim::M, Dim::N, Dim::K, Dim::H].map(d);
        let all = b.saturating_mul(h);
        let pass = Pass::Forward;
        let map = |inputs, flop_per_element, transcendental| Op::Elementwise {
            n: all,
            inputs,
            flop_per_element,
            transcendental,
        };
        Ok(match self {
            Self::Map(inputs, flop, transcendental) => map(inputs, flop, transcendental),
            Self::Function(name) => {
                let cost = lower::function_cost(name);
                map(cost.operands, cost.flop, cost.transcendental)
            }
            Self::Reduce(flop_per_element) => Op::Reduce { n: all, out: b, flop_per_element },
            Self::Rowwise(kind) => Op::Rowwise { kind, pass, rows: b, width: h },
            Self::Scan => Op::Scan { rows: b, width: h },
            Self::Sort(kind) => Op::Sort { kind, rows: b, width: h },
            Self::Gather => Op::Gather { n: b, source: h },
            Self::Scatter(accumulate) => Op::Scatter { n: b, target: h, accumulate },
            Self::Embedding => Op::Embedding { pass, n: b, width: h, table: n },
            Self::Copy(strided, inputs) => Op::Copy { n: all, strided, inputs, run: 0 },
            Self::Product(bias) => Op::Matmul { m, n, k, batch: b, bias },
            Self::Convolution(pass) => Op::Convolution {
                pass,
                batch: b,
                cin: d(Dim::Cin),
                cout: d(Dim::Cout),
                groups: 1,
                input: vec![d(Dim::Hw); 2],
                kernel: vec![d(Dim::Ksize); 2],
                output: vec![slides(dims)?; 2],
            },
            Self::Pool(kind) => {
                let (out, side) = (slides(dims)?, d(Dim::Ksize));
                let planes = |side: u64| b.saturating_mul(d(Dim::Cin)).saturating_mul(side.saturating_mul(side));
                Op::Window { kind, pass, n: planes(out), input: planes(d(Dim::Hw)), window: side.saturating_mul(side) }
            }
            Self::Window(kind) => {
                let side = d(Dim::Ksize);
                if side.saturating_mul(side) > all {
                    return Err(format!("a window of {side}×{side} is larger than the {all} points"));
                }
                Op::Window { kind, pass, n: all, input: all, window: side.saturating_mul(side) }
            }
            Self::Attention(causal) => {
                Op::Attention { pass, batch: b, heads: h, q_len: m, kv_len: n, head_dim: k, causal }
            }
            Self::Fft(kind) => Op::Fft { kind, n: h, batch: b },
            Self::Factor(kind) => Op::Factor { kind, m, n, rhs: k, batch: b },
            Self::Square(kind) => Op::Factor { kind, m: n, n, rhs: k, batch: b },
            Self::Sparse(kind) => Op::Sparse { kind, rows: m, cols: k, nnz: h, n },
            Self::Random(kind) => Op::Random { kind, n: all },
            Self::Dataframe(kind) => Op::frame(kind, [m, n, k]),
            // Bytes; the caller knows the dtype's size.
            Self::Transfer(direction, pinned) => Op::Transfer { direction, bytes: all, pinned, asynchronous: false },
        })
    }
}

/// Points of the output's side.
fn slides(dims: &[u64; Dim::COUNT]) -> Result<u64, String> {
    let d = |dim: Dim| dims[dim as usize];
    let (padded, side) = (d(Dim::Hw) + 2 * d(Dim::Pad), d(Dim::Ksize));
    let room = padded.checked_sub(side);
    let room = room.ok_or_else(|| format!("a window of {side} is larger than the padded image of {padded}"))?;
    Ok(room / d(Dim::Stride) + 1)
}
