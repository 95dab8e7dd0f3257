//! A framework call as a recorder saw it: names, shapes, dtypes, a few keywords.

use crate::workload::{Dtype, Op};

/// Elements of a row whose sectors of memory, 32 bytes for each, stay in the first cache of any GPU.
const SHORT_ROW: u64 = 1024;

/// How the elements of one array lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rows first, without gaps.
    #[default]
    C,
    /// Columns first, without gaps.
    F,
    /// Images with their channels first among the axes and last in memory, without gaps.
    ChannelsLast,
    /// The elements of the last axis together, its rows with gaps between them or in another order: heads of attention.
    Rows,
    /// Anything else: a slice with a step, a transpose of part of an array, a broadcast.
    Strided,
}

/// One array argument or result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayRef {
    /// Type of the elements; `Other` for strings, objects, records.
    pub dtype: Dtype,
    /// Bytes of one element as stored.
    pub item_bytes: u32,
    /// Length of each axis; empty for a 0-d array.
    pub shape: Vec<u64>,
    /// How it lies in memory.
    pub layout: Layout,
    /// How many of its first axes repeat the same memory: 1 for a layer's weights, expanded to each of a batch.
    pub repeated: u32,
}

impl ArrayRef {
    /// A C-contiguous array whose elements have the natural size of their type.
    pub fn new(dtype: Dtype, shape: &[u64]) -> Self {
        Self { dtype, item_bytes: dtype.bytes() as u32, shape: shape.to_vec(), layout: Layout::C, repeated: 0 }
    }

    /// Number of elements, at most `u64::MAX`.
    pub fn count(&self) -> u64 {
        product(&self.shape)
    }

    /// Bytes of its memory, at most `u64::MAX`: what repeats counts once.
    pub fn bytes(&self) -> u64 {
        let own = self.shape.get(self.repeated as usize..).unwrap_or_default();
        if self.count() == 0 { 0 } else { product(own).saturating_mul(u64::from(self.item_bytes)) }
    }

    /// Length of the last axis, 1 when 0-d.
    pub(super) fn last(&self) -> u64 {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Whether it can be an index: whole numbers or booleans.
    pub(super) fn is_index(&self) -> bool {
        use Dtype::{Bool, I8, I16, I32, I64, U8, U16, U32, U64};
        matches!(self.dtype, Bool | I64 | I32 | I16 | I8 | U64 | U32 | U16 | U8)
    }
}

/// A call as a recorder saw it.
///
/// `inputs` holds every array that is read, in the order of the arguments (`self` first); scalars are left out.
/// `outputs` holds every array that is written: results, arrays given as `out=`, the left side of `a += b`.
/// An `out=` array that is listed among `inputs` too is not counted as read where the callable's number of operands
/// is known.
///
/// `keywords` matter to those who can pass them and are never required:
///
/// | keyword | of | value |
/// |---|---|---|
/// | `axis`, `axes` | folds, scans, sorts, FFT | as Python prints it: `0`, `-1`, `(0, 1)`, `None` |
/// | `copied` | `__getitem__`, `reshape`, `ravel`, `asarray`, `astype`, … | `true` when the result has a buffer of its own |
/// | `exponent` | a power whose exponent is a number | `2`, `-0.5` |
/// | `subscripts` | `einsum` | `ij,jk->ik` |
/// | `pinned`, `asynchronous` | copies between host and device | `True` |
/// | `flops`, `bytes`, `n`, `functions` | kernels of the program's own | work of one launch, threads; or functions of each element |
/// | `k`, `size`, `sigma`, `mode`, `ord`, `compute_uv`, `method`, `up` | their callables | as Python prints it |
///
/// `a[key] = value` is `numpy.ndarray.__setitem__` with inputs `a`, the arrays of the key, the value where it is an
/// array. A key of slices and whole numbers selects a region, which is the output, with its shape; without an output
/// the key holds arrays (or a list).
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The dotted name, public or as the implementation names it; see [`super::canonical`].
    pub name: &'a str,
    /// Arrays read.
    pub inputs: &'a [ArrayRef],
    /// Arrays written.
    pub outputs: &'a [ArrayRef],
    /// Keywords worth knowing.
    pub keywords: &'a [(&'a str, &'a str)],
    /// The result is a scalar (and therefore not in `outputs`).
    pub scalar_result: bool,
}

impl Call<'_> {
    /// The value of a keyword, when it was passed.
    pub(super) fn keyword(&self, key: &str) -> Option<&str> {
        self.keywords.iter().find(|(k, _)| *k == key).map(|(_, v)| v.trim())
    }

    /// A keyword that is a number.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.keyword(key)?.parse().ok().filter(|x: &f64| x.is_finite())
    }

    /// Elements of input `i`; 1 where the argument was a scalar.
    pub(super) fn input(&self, i: usize) -> u64 {
        self.inputs.get(i).map_or(1, ArrayRef::count)
    }

    /// Elements of the first result; 1 when it is a scalar.
    pub(super) fn out(&self) -> u64 {
        self.outputs.first().map_or(1, ArrayRef::count)
    }

    /// Elements of the largest array read, or of the result when none was.
    pub(super) fn largest(&self) -> u64 {
        self.inputs.iter().map(ArrayRef::count).max().unwrap_or_else(|| self.out())
    }

    /// Elements of the first array read, or of the result when none was.
    pub(super) fn first(&self) -> u64 {
        self.inputs.first().map_or_else(|| self.out(), ArrayRef::count)
    }

    /// The axes named by `axis` or `axes`, counted from the front; `None` when not passed, `None` itself, or not
    /// axes of an array of `ndim` dimensions.
    pub(super) fn axes(&self, ndim: usize) -> Option<Vec<usize>> {
        let text = self.keyword("axis").or_else(|| self.keyword("axes"))?;
        text.trim_matches(|c| "()[] ".contains(c))
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| {
                let axis: i64 = part.parse().ok()?;
                let front = if axis < 0 { axis.checked_add(ndim as i64)? } else { axis };
                usize::try_from(front).ok().filter(|&a| a < ndim)
            })
            .collect()
    }

    /// Whether `a` and the result lie differently in memory, or either has gaps.
    pub(super) fn strided(&self) -> bool {
        let mut layouts = self.inputs.iter().chain(self.outputs).filter(|a| a.shape.len() > 1).map(|a| a.layout);
        let first = layouts.next();
        let lone_gap =
            self.inputs.iter().chain(self.outputs).any(|a| matches!(a.layout, Layout::Rows | Layout::Strided));
        lone_gap || layouts.any(|l| Some(l) != first)
    }

    /// `n` elements copied from `inputs` arrays.
    pub(super) fn copied(&self, n: u64, strided: bool, inputs: u32) -> Op {
        Op::Copy { n, strided, inputs, run: if strided { self.run() } else { 0 } }
    }

    /// How many elements lie together in every array at least; 0 where nobody knows.
    ///
    /// Heads of attention, `[8, 12, 197, 64]` in another order, lie together by 64; of a matrix and its transpose no two
    /// neighbours of one are neighbours of the other, but where its rows are short; of two arrays that are joined along an
    /// axis half of all from there on.
    fn run(&self) -> u64 {
        let arrays = || self.inputs.iter().chain(self.outputs).filter(|a| a.shape.len() > 1);
        let all = |layouts: &[Layout]| arrays().all(|a| layouts.contains(&a.layout));
        let along = |axis: fn(&[u64]) -> Option<&u64>| arrays().filter_map(|a| axis(&a.shape).copied()).min();
        let joined = || {
            let shape = &self.outputs.first()?.shape;
            let &axis = self.axes(shape.len())?.first()?;
            Some(product(&shape[axis..]) / 2)
        };
        match () {
            () if all(&[Layout::C]) => joined().or_else(|| along(|shape| shape.last())).unwrap_or(0),
            () if all(&[Layout::C, Layout::Rows]) => along(|shape| shape.last()).unwrap_or(0),
            () if all(&[Layout::ChannelsLast]) => along(|shape| shape.get(1)).unwrap_or(0),
            // Of a transpose with short rows neighbours meet again while the cache still holds what was fetched for them.
            () => self.outputs.first().map(ArrayRef::last).filter(|last| *last <= SHORT_ROW).unwrap_or(0),
        }
    }
}

/// The product of the axes, at most `u64::MAX`; 1 for none, 0 if any is 0.
pub(super) fn product(shape: &[u64]) -> u64 {
    if shape.contains(&0) { 0 } else { shape.iter().fold(1, |n, &d| n.saturating_mul(d)) }
}

/// The shape that arrays of these shapes broadcast to. Shapes that do not fit take the longer axis.
pub(super) fn broadcast<'a>(shapes: impl IntoIterator<Item = &'a [u64]>) -> Vec<u64> {
    let mut out: Vec<u64> = Vec::new();
    for shape in shapes {
        while out.len() < shape.len() {
            out.insert(0, 1);
        }
        let offset = out.len() - shape.len();
        for (o, &d) in out[offset..].iter_mut().zip(shape) {
            *o = match (*o, d) {
                (1, d) => d,
                (o, 1) => o,
                (0, _) | (_, 0) => 0,
                (o, d) => o.max(d),
            };
        }
    }
    out
}
