//! Arrays as nodes see them: type, shape, values where they are few and known.

use super::proto::{MOST_VALUES, Tensor};
use breakeven::workload::Dtype;

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) dtype: Dtype,
    pub(super) dims: Vec<u64>,
    /// Its values, where they follow from the file and are few.
    pub(super) values: Option<Vec<f64>>,
    /// It is the same in each run: a weight, or what is computed of such alone.
    pub(super) constant: bool,
}

impl Array {
    pub(super) const fn new(dtype: Dtype, dims: Vec<u64>) -> Self {
        Self { dtype, dims, values: None, constant: false }
    }

    /// Whole numbers in a row, as shapes are.
    pub(super) fn of_values(dtype: Dtype, values: Vec<f64>) -> Self {
        let dims = vec![values.len() as u64];
        Self { dtype, dims, values: Some(values), constant: false }
    }

    pub(super) fn of_tensor(tensor: &Tensor) -> Self {
        Self { dtype: dtype(tensor.kind), dims: tensor.dims.clone(), values: tensor.values.clone(), constant: true }
    }

    pub(super) fn count(&self) -> u64 {
        count(&self.dims)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.dtype.bytes())
    }

    pub(super) const fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The values as whole numbers.
    pub(super) fn ints(&self) -> Option<Vec<i64>> {
        Some(self.values.as_ref()?.iter().map(|&value| value as i64).collect())
    }

    /// The length of an axis, counted from the end where it is negative; 1 where there is none.
    pub(super) fn dim(&self, axis: i64) -> u64 {
        axis_of(axis, self.rank()).and_then(|axis| self.dims.get(axis).copied()).unwrap_or(1)
    }

    /// Elements before an axis.
    pub(super) fn rows_before(&self, axis: i64) -> u64 {
        let axis = axis_of(axis, self.rank()).unwrap_or(0);
        count(&self.dims[..axis])
    }

    /// The same with other values, dropped where they are many.
    pub(super) fn with(mut self, values: Option<Vec<f64>>) -> Self {
        self.values = values.filter(|values| values.len() as u64 == self.count() && self.count() <= MOST_VALUES);
        self
    }
}

/// Elements of a shape.
pub(super) fn count(dims: &[u64]) -> u64 {
    dims.iter().fold(1, |n: u64, &dim| n.saturating_mul(dim))
}

/// An axis as a place among so many; `None` where it is outside.
pub(super) fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank.max(1))
}

/// The shape that arrays have together, as NumPy broadcasts; `None` where they do not fit.
pub(super) fn broadcast<'a>(shapes: impl IntoIterator<Item = &'a [u64]>) -> Option<Vec<u64>> {
    let mut out: Vec<u64> = Vec::new();
    for shape in shapes {
        let rank = out.len().max(shape.len());
        let at = |dims: &[u64], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis]);
        let joined = (0..rank).map(|axis| match (at(&out, axis), at(shape, axis)) {
            (1, other) | (other, 1) => Some(other),
            (one, other) if one == other => Some(one),
            _ => None,
        });
        out = joined.collect::<Option<_>>()?;
    }
    Some(out)
}

/// Types as onnx.proto3 numbers them.
pub(super) const fn dtype(kind: u64) -> Dtype {
    match kind {
        1 => Dtype::F32,
        2 => Dtype::U8,
        // Types of four and two bits are stored in bytes of several; here each counts as one.
        3 | 21 | 22 | 23 | 24 | 25 | 26 => Dtype::I8,
        4 => Dtype::U16,
        5 => Dtype::I16,
        6 => Dtype::I32,
        7 => Dtype::I64,
        9 => Dtype::Bool,
        10 => Dtype::F16,
        11 => Dtype::F64,
        12 => Dtype::U32,
        13 => Dtype::U64,
        14 => Dtype::C64,
        15 => Dtype::C128,
        16 => Dtype::Bf16,
        17..=20 => Dtype::F8,
        _ => Dtype::Other,
    }
}
