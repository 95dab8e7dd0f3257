//! An op in the place of a kernel of which the class alone is known: one that takes as long on the source.

use crate::kernel::{Machine, Recorded, time_on};
use crate::workload::op::{Collective, Direction, Random, Rowwise, Sort, Window};
use crate::workload::{Dtype, Op, Pass};

/// What a kernel does, as far as a name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StandIn {
    /// A product of square matrices.
    Product,
    /// A 3×3 convolution of 28×28 images with 256 channels.
    Convolution,
    /// Attention over 1024 tokens, heads of 64.
    Attention,
    /// Layer-norm over rows of 1024.
    Norm,
    /// Soft-max over rows of 1024.
    Softmax,
    /// A value for each element: two arrays in, one out.
    Map,
    /// A sum over rows of 1024.
    Fold,
    /// A sort of one row.
    Sort,
    /// Elements read at computed places.
    Lookup,
    /// Windows of 9.
    Windows,
    /// Random numbers.
    Random,
    /// A copy within the device.
    Copy,
    /// A copy over the host's link; which way.
    Transfer(Direction),
    /// Ranks exchange bytes.
    Exchange,
}

/// The largest size, as a power of two.
const MOST: u32 = 44;
/// Sizes between two powers of two that are tried.
const PARTS: u32 = 8;

impl StandIn {
    /// The op of this class that takes `measured` s on `machine`, or the next longer one.
    ///
    /// ```
    /// use breakeven::{carry::StandIn, hardware::Catalogue, kernel::Machine, workload::{Dtype, Op}};
    /// let a100 = Machine::of(&Catalogue::embedded().gpu("a100-sxm4-80gb").unwrap().device);
    /// // 1 ms at some 1.7 TB/s: three arrays of 4 bytes.
    /// let Op::Elementwise { n, .. } = StandIn::Map.op(Dtype::F32, 1e-3, &a100) else { panic!() };
    /// assert!((100_000_000..200_000_000).contains(&n));
    /// ```
    pub fn op(self, dtype: Dtype, measured: f64, machine: &Machine<'_>) -> Op {
        let takes = |size: u64| time_on(machine, &self.of(size), dtype, Recorded::default()).p50.get();
        let size = |step: u32| {
            let whole = 1_u64 << (step / PARTS).min(MOST);
            whole + whole / u64::from(PARTS) * u64::from(step % PARTS)
        };
        let (mut low, mut high) = (0, MOST * PARTS);
        while low < high {
            let middle = u32::midpoint(low, high);
            if takes(size(middle)) < measured { low = middle + 1 } else { high = middle }
        }
        self.of(size(low))
    }

    /// The op of so many elements, or bytes.
    fn of(self, n: u64) -> Op {
        let side = n.isqrt().max(16);
        let rows = n.div_ceil(1024);
        match self {
            Self::Product => Op::Matmul { m: side, n: side, k: side, batch: 1, bias: false },
            Self::Convolution => Op::Convolution {
                pass: Pass::Forward,
                batch: n.div_ceil(28 * 28 * 256),
                cin: 256,
                cout: 256,
                groups: 1,
                input: vec![28, 28],
                kernel: vec![3, 3],
                output: vec![28, 28],
            },
            Self::Attention => Op::Attention {
                pass: Pass::Forward,
                batch: 1,
                heads: n.div_ceil(1024 * 64),
                q_len: 1024,
                kv_len: 1024,
                head_dim: 64,
                causal: false,
            },
            Self::Norm => Op::Rowwise { kind: Rowwise::LayerNorm, pass: Pass::Forward, rows, width: 1024 },
            Self::Softmax => Op::Rowwise { kind: Rowwise::Softmax, pass: Pass::Forward, rows, width: 1024 },
            Self::Map => Op::Elementwise { n, inputs: 2, flop_per_element: 1.0, transcendental: false },
            Self::Fold => Op::Reduce { n, out: rows, flop_per_element: 1.0 },
            Self::Sort => Op::Sort { kind: Sort::Sort, rows: 1, width: n },
            Self::Lookup => Op::Gather { n, source: n },
            Self::Windows => {
                Op::Window { kind: Window::MaxPool, pass: Pass::Forward, n, input: n.saturating_mul(4), window: 9 }
            }
            Self::Random => Op::Random { kind: Random::Uniform, n },
            Self::Copy => Op::Copy { n, strided: false, inputs: 1, run: 0 },
            Self::Transfer(direction) => Op::Transfer { direction, bytes: n, pinned: true, asynchronous: true },
            Self::Exchange => Op::Collective { kind: Collective::AllReduce, bytes: n, ranks: 2 },
        }
    }
}
