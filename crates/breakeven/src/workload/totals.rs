//! Sums over a workload.

use super::{Entry, Exit, Workload};
use crate::units::{Bytes, Flop};

/// What recorders say in `unseen` of a GPU, of memory on an imitated one, or of a module, that the program asked for in vain.
pub const CUT_SHORT: [&str; 3] = ["no-gpu", "no-room", "no-module"];

impl Entry {
    /// Arithmetic of all its runs.
    pub fn flop(&self) -> Flop {
        self.op.flop(self.dtype) * self.count as f64
    }

    /// Bytes of array inputs and outputs of all its runs, as recorded; what the op needs at least where nothing was.
    pub fn bytes(&self) -> Bytes {
        let recorded = self.read_bytes as f64 + self.written_bytes as f64;
        let one = if recorded > 0.0 { Bytes(recorded) } else { self.op.min_bytes(self.dtype) };
        one * self.count as f64
    }
}

impl Workload {
    /// Whether the program failed for want of a GPU, of its memory, or of a module: what it would have done is not known.
    pub fn cut_short(&self) -> bool {
        self.failed() && self.unseen.iter().any(|unseen| CUT_SHORT.contains(&unseen.reason.as_str()))
    }

    /// Whether the program ended by a signal, or with an exit code other than 0.
    pub const fn failed(&self) -> bool {
        !matches!(self.program.exit, Exit::Code(0) | Exit::Unknown)
    }

    /// Ops that ran.
    pub fn op_count(&self) -> u64 {
        self.ops.iter().fold(0, |sum, entry| sum.saturating_add(entry.count))
    }

    /// Arithmetic of all ops.
    pub fn flop(&self) -> Flop {
        self.ops.iter().map(Entry::flop).sum()
    }

    /// Bytes read and written by all ops.
    pub fn bytes(&self) -> Bytes {
        self.ops.iter().map(Entry::bytes).sum()
    }
}

/// The size class of an array, bytes: the next of four steps to each doubling. A site with more than
/// [`SHAPES_PER_SITE`] distinct shapes keeps one entry for each class; what stands for it is at most a quarter larger.
///
/// ```
/// use breakeven::workload::bucket;
/// assert_eq!([0, 1, 7, 8, 9, 1000, 1025].map(bucket), [0, 1, 7, 8, 10, 1024, 1280]);
/// ```
pub const fn bucket(bytes: u64) -> u64 {
    if bytes < 8 {
        return bytes;
    }
    let step = 1 << (bytes.ilog2() - 2);
    match bytes.checked_next_multiple_of(step) {
        Some(class) => class,
        None => u64::MAX,
    }
}

/// Distinct shapes that a site keeps apart before they fall into classes; see [`bucket`].
pub const SHAPES_PER_SITE: usize = 32;
