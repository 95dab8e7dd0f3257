//! Fourier transforms: length and how many.

use super::Call;
use super::call::product;
use crate::workload::Op;
use crate::workload::op::Fft;

/// Which axes are transformed unless told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// The last one.
    One,
    /// The last two.
    Two,
    /// All.
    All,
}

impl Axes {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "1d" => Self::One,
            "2d" => Self::Two,
            "nd" => Self::All,
            _ => return None,
        })
    }
}

/// `n` is the product of the transformed axes on the side that is not halved, padding included. A real transform
/// halves its last axis only.
pub(super) fn op(kind: Fft, axes: Axes, call: &Call) -> Op {
    let input = call.inputs.first().map_or(&[][..], |a| &a.shape);
    let output = call.outputs.first().map_or(input, |a| &a.shape);
    let whole = if kind == Fft::R2c && input.len() == output.len() { input } else { output };
    let dims = whole.len();
    let axes = call.axes(dims).unwrap_or_else(|| match axes {
        Axes::One => (dims.saturating_sub(1)..dims).collect(),
        Axes::Two => (dims.saturating_sub(2)..dims).collect(),
        Axes::All => (0..dims).collect(),
    });
    let halved = axes.last().copied();
    let length = |axis: usize| match (kind, output.get(axis)) {
        // `n=` pads or cuts the input: the result tells, up to the parity that halving loses.
        (Fft::R2c, Some(&half)) if Some(axis) == halved && whole[axis] / 2 + 1 == half => whole[axis],
        // Cosine and sine transforms, and packed real ones, are as long as their input.
        (Fft::R2c, Some(&full)) if whole[axis] == full => full,
        (Fft::R2c, Some(&half)) if Some(axis) == halved => half.saturating_sub(1).saturating_mul(2),
        (_, Some(&full)) => full,
        (_, None) => whole[axis],
    };
    let lengths: Vec<u64> = axes.iter().map(|&a| length(a)).collect();
    let rest: Vec<u64> =
        (0..dims).filter(|a| !axes.contains(a)).map(|a| output.get(a).copied().unwrap_or(whole[a])).collect();
    Op::Fft { kind, n: product(&lengths), batch: product(&rest) }
}
