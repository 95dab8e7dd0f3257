//! Array operations, free of hardware: dims in, FLOP and bytes out.
//!
//! A closed set: a match on [`Op`] has no `_ =>`, so a new family fails to compile in every model that has not
//! thought of it. Dims are element counts. FLOP formulas are in the family's file under [`super::family`].

use super::Dtype;
use serde::{Deserialize, Serialize};

/// Which part of training (or the only one) an op belongs to, where the gradient costs differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Forward.
    #[default]
    Forward,
    /// Gradient of the data.
    BackwardData,
    /// Gradient of the weights.
    BackwardWeight,
    /// Both gradients at once.
    Backward,
}

/// One array operation of a known family, or `Opaque`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "each variant explains its fields")]
pub enum Op {
    /// `batch` products C[m,n] = A[m,k]·B[k,n], plus a bias row when `bias`.
    Matmul {
        m: u64,
        n: u64,
        k: u64,
        #[serde(default = "one")]
        batch: u64,
        #[serde(default)]
        bias: bool,
    },
    /// Direct convolution; spatial dims listed as [h, w] (or [w], or [d, h, w]); `groups` divides `cin` and `cout`.
    Convolution {
        #[serde(default)]
        pass: Pass,
        batch: u64,
        cin: u64,
        cout: u64,
        #[serde(default = "one")]
        groups: u64,
        input: Vec<u64>,
        kernel: Vec<u64>,
        output: Vec<u64>,
    },
    /// softmax(Q·Kᵀ)·V over `heads` heads of `head_dim`.
    Attention {
        #[serde(default)]
        pass: Pass,
        batch: u64,
        heads: u64,
        q_len: u64,
        kv_len: u64,
        head_dim: u64,
        #[serde(default)]
        causal: bool,
    },
    /// One direction of one layer of a recurrent network, `rows` steps of all sequences together, of which the longest has
    /// `steps`; `projection` is the width of what is fed back where that is not `hidden`.
    Recurrent {
        cell: Cell,
        #[serde(default)]
        pass: Pass,
        steps: u64,
        rows: u64,
        input: u64,
        hidden: u64,
        #[serde(default)]
        projection: u64,
    },
    /// `n` output elements from `inputs` arrays; `flop_per_element` counts an add, multiply or compare as 1 and a
    /// transcendental function as its published polynomial cost.
    Elementwise {
        n: u64,
        inputs: u32,
        flop_per_element: f64,
        #[serde(default)]
        transcendental: bool,
    },
    /// `n` elements folded to `out`; `flop_per_element` as above.
    Reduce { n: u64, out: u64, flop_per_element: f64 },
    /// Soft-max, layer-norm and their kind over `rows` rows of `width`.
    Rowwise {
        kind: Rowwise,
        #[serde(default)]
        pass: Pass,
        rows: u64,
        width: u64,
    },
    /// Cumulative sum, product, maximum along rows.
    Scan { rows: u64, width: u64 },
    /// Sort and its kind, each of `rows` rows of `width` apart; `SearchSorted`: `rows` keys looked up in a table of
    /// `width`.
    Sort { kind: Sort, rows: u64, width: u64 },
    /// `n` elements read at computed places from an array of `source` elements.
    Gather { n: u64, source: u64 },
    /// `n` elements written (or added) at computed places of an array of `target` elements.
    Scatter {
        n: u64,
        target: u64,
        #[serde(default)]
        accumulate: bool,
    },
    /// `n` elements copied; `strided` when one side is not contiguous (transpose, concatenate, pad, fill), with `run`
    /// elements that lie together on both sides at least, 0 where that is not known.
    Copy {
        n: u64,
        #[serde(default)]
        strided: bool,
        #[serde(default = "one_u32")]
        inputs: u32,
        #[serde(default, skip_serializing_if = "super::is_zero")]
        run: u64,
    },
    /// `batch` transforms of `n` points (the product over the transformed axes).
    Fft { kind: Fft, n: u64, batch: u64 },
    /// Dense factorisation or solve of `batch` matrices m×n with `rhs` right-hand sides.
    Factor {
        kind: Factor,
        m: u64,
        n: u64,
        #[serde(default)]
        rhs: u64,
        #[serde(default = "one")]
        batch: u64,
    },
    /// Sparse matrix rows×cols of `nnz` entries times a dense cols×`n`.
    Sparse { kind: Sparse, rows: u64, cols: u64, nnz: u64, n: u64 },
    /// `n` random numbers.
    Random { kind: Random, n: u64 },
    /// Windows of `window` elements folded (or interpolated) to `n` outputs from `input` elements.
    Window {
        kind: Window,
        #[serde(default)]
        pass: Pass,
        n: u64,
        input: u64,
        window: u64,
    },
    /// `n` rows of `width` looked up in a table of `table` rows.
    Embedding {
        #[serde(default)]
        pass: Pass,
        n: u64,
        width: u64,
        table: u64,
    },
    /// A dataframe verb over `rows` rows and `columns` columns; `out_rows` groups, matches or rows kept. `keys` of the
    /// columns are keys; a join finds its `rows` among `other_rows`; each row of a rolling fold has a window of `window`.
    /// Strings count as one column, their letters as the entry's bytes.
    Dataframe {
        kind: Dataframe,
        rows: u64,
        columns: u64,
        out_rows: u64,
        #[serde(default = "one", skip_serializing_if = "is_one")]
        keys: u64,
        #[serde(default, skip_serializing_if = "super::is_zero")]
        other_rows: u64,
        #[serde(default, skip_serializing_if = "super::is_zero")]
        window: u64,
    },
    /// One call of a library that is many kernels (a jitted function, an estimator's fit): its parts, in the order in which
    /// they first run. No part is a routine itself.
    Routine { parts: Vec<Part> },
    /// `ranks` devices exchange `bytes` each.
    Collective { kind: Collective, bytes: u64, ranks: u64 },
    /// A copy between host and device that the program itself asked for. `asynchronous`: the host does not wait for
    /// it, which the hardware can do only from and to page-locked (`pinned`) memory.
    Transfer {
        direction: Direction,
        bytes: u64,
        #[serde(default)]
        pinned: bool,
        #[serde(default)]
        asynchronous: bool,
    },
    /// The host reads `bytes` of a result (`float(a)`, `print(a)`, `if a:`): a device-to-host copy and a wait.
    HostRead { bytes: u64 },
    /// The host waits for the device, or for one stream of it.
    Synchronise,
    /// A stream waits for what all other streams have been given until now; the host goes on.
    StreamWait,
    /// A view, a reshape, a slice: dispatch on the host, no kernel.
    View,
    /// Array work on the host that has no family and never will: text parsing, file reading, object arrays.
    HostOnly,
    /// Seen, timed, not understood.
    Opaque,
}

/// What a routine runs, so often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Family and dims.
    pub op: Op,
    /// What it computes in.
    pub dtype: Dtype,
    /// How often one call of the routine runs it.
    #[serde(default = "one")]
    pub count: u64,
    /// Bytes that one run reads and writes, where they are others than its dims say (an element-wise kernel with small
    /// inputs beside large ones); 0 for those of the dims.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub read_bytes: u64,
    /// See `read_bytes`.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub written_bytes: u64,
}

impl Part {
    /// `count` runs of `op`, of the bytes that its dims say.
    pub const fn new(op: Op, dtype: Dtype, count: u64) -> Self {
        Self { op, dtype, count, read_bytes: 0, written_bytes: 0 }
    }

    /// Bytes of one run, 0 where its dims tell them.
    pub const fn told_bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes)
    }
}

const fn one() -> u64 {
    1
}
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_one(n: &u64) -> bool {
    *n == 1
}
const fn one_u32() -> u32 {
    1
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "the names are the field's own")]
        pub enum $name { $($variant),* }
        impl $name {
            /// Every kind, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }
    };
}
kinds!(/** Cells of recurrent networks: one gate, three, four. */ Cell { Rnn, Gru, Lstm });
kinds!(/** Row-wise normalisations. */ Rowwise { Softmax, LogSoftmax, LayerNorm, RmsNorm, BatchNorm, GroupNorm, CrossEntropy });
kinds!(/** What is asked of the order. */ Sort { Sort, Argsort, Unique, TopK, Partition, SearchSorted, Histogram });
kinds!(/** Complex to complex, real to complex, complex to real. */ Fft { C2c, R2c, C2r });
kinds!(/** Dense linear algebra beyond the product. */ Factor { Lu, Cholesky, Qr, Svd, Svdvals, Eigh, Eigvalsh, Eig, Inverse, Solve, Lstsq, Det, TriangularSolve });
kinds!(/** Sparse products. */ Sparse { Spmv, Spmm, Spgemm });
kinds!(/** Distributions by cost. */ Random { Uniform, Normal, Exponential, Gamma, Integers, Permutation, Choice });
kinds!(/** Sliding windows. */ Window { MaxPool, AveragePool, Resize, Stencil, Median });
kinds!(/** Dataframe verbs: `gather` takes rows by number or label, `fold` sums columns, `distinct` finds equal rows, `pivot` turns rows into columns or back, `text` and `date` work on strings and times. */ Dataframe { Filter, GroupBy, Join, Sort, Rolling, Map, Fold, Scan, Gather, Concat, Pivot, Distinct, TopK, Text, Date, ReadCsv, ReadParquet, ReadJson, WriteText, WriteParquet });
kinds!(/** Collective communication; `send_recv` goes from one rank to the next. */ Collective { AllReduce, AllGather, ReduceScatter, Broadcast, AllToAll, SendRecv });
kinds!(/** Which way a copy goes; `h2h`: the host rearranges it, by so many bytes of its memory's traffic. */ Direction { H2d, D2h, D2d, H2h });

macro_rules! families {
    ($($variant:ident $name:literal),* $(,)?) => {
        /// The families by name: the groups that the kernel model fits and the report speaks of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "as in `Op`")]
        pub enum Family { $($variant),* }

        impl Family {
            /// Every family, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name in files and reports, such as `host_read`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}
families! {
    Matmul "matmul", Convolution "convolution", Attention "attention", Recurrent "recurrent",
    Elementwise "elementwise", Reduce "reduce", Rowwise "rowwise", Scan "scan", Sort "sort", Gather "gather", Scatter "scatter", Copy "copy", Fft "fft",
    Factor "factor", Sparse "sparse", Random "random", Window "window", Embedding "embedding",
    Dataframe "dataframe", Routine "routine", Collective "collective", Transfer "transfer", HostRead "host_read",
    Synchronise "synchronise", StreamWait "stream_wait", View "view", HostOnly "host_only", Opaque "opaque",
}

impl Op {
    /// A dataframe verb with one key, on one table.
    pub const fn frame(kind: Dataframe, [rows, columns, out_rows]: [u64; 3]) -> Self {
        Self::Dataframe { kind, rows, columns, out_rows, keys: 1, other_rows: 0, window: 0 }
    }

    /// Whether it computes with arrays, so that a device could do it: no view, wait, copy to or from the host, and
    /// nothing that only the host does.
    pub const fn is_array_work(&self) -> bool {
        !matches!(
            self,
            Self::View
                | Self::HostOnly
                | Self::Opaque
                | Self::HostRead { .. }
                | Self::Synchronise
                | Self::StreamWait
                | Self::Transfer { .. }
        )
    }

    /// Whether it is a copy that the host goes on beside: one of ordinary memory is waited for, whatever was asked.
    pub const fn is_copied_beside(&self) -> bool {
        matches!(self, Self::Transfer { pinned: true, asynchronous: true, .. })
    }

    /// The family this op belongs to.
    pub const fn family(&self) -> Family {
        match self {
            Self::Matmul { .. } => Family::Matmul,
            Self::Convolution { .. } => Family::Convolution,
            Self::Attention { .. } => Family::Attention,
            Self::Recurrent { .. } => Family::Recurrent,
            Self::Elementwise { .. } => Family::Elementwise,
            Self::Reduce { .. } => Family::Reduce,
            Self::Rowwise { .. } => Family::Rowwise,
            Self::Scan { .. } => Family::Scan,
            Self::Sort { .. } => Family::Sort,
            Self::Gather { .. } => Family::Gather,
            Self::Scatter { .. } => Family::Scatter,
            Self::Copy { .. } => Family::Copy,
            Self::Fft { .. } => Family::Fft,
            Self::Factor { .. } => Family::Factor,
            Self::Sparse { .. } => Family::Sparse,
            Self::Random { .. } => Family::Random,
            Self::Window { .. } => Family::Window,
            Self::Embedding { .. } => Family::Embedding,
            Self::Dataframe { .. } => Family::Dataframe,
            Self::Routine { .. } => Family::Routine,
            Self::Collective { .. } => Family::Collective,
            Self::Transfer { .. } => Family::Transfer,
            Self::HostRead { .. } => Family::HostRead,
            Self::Synchronise => Family::Synchronise,
            Self::StreamWait => Family::StreamWait,
            Self::View => Family::View,
            Self::HostOnly => Family::HostOnly,
            Self::Opaque => Family::Opaque,
        }
    }
}
