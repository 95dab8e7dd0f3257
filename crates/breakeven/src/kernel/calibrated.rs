//! A modelled time as the device was measured to take it, where it was measured in that kind of work.

use super::{KernelTime, Machine};
use crate::hardware::device::{Curve, Work};
use crate::hardware::{Device, DeviceKind};
use crate::units::Seconds;
use crate::workload::op::Op;
use crate::workload::{Dtype, Entry};

/// The kind of work of `op` in `dtype`, by PyTorch or by the device's usual library.
pub fn work(op: &Op, dtype: Dtype, by_torch: bool) -> Work {
    let kind = match op {
        Op::Elementwise { transcendental, .. } => u8::from(*transcendental),
        Op::Copy { strided, .. } => u8::from(*strided),
        Op::Factor { kind, .. } => *kind as u8,
        Op::Sort { kind, .. } => *kind as u8,
        Op::Random { kind, .. } => *kind as u8,
        Op::Rowwise { kind, pass, .. } => 8 * (*pass as u8) + *kind as u8,
        Op::Dataframe { kind, .. } => *kind as u8,
        // Points (1×1) are products, and go without an algorithm of their own.
        Op::Convolution { pass, kernel, .. } => 2 * (*pass as u8) + u8::from(kernel.iter().all(|side| *side == 1)),
        Op::Attention { pass, .. } => *pass as u8,
        Op::Scatter { accumulate, .. } => u8::from(*accumulate),
        Op::Sparse { kind, .. } => *kind as u8,
        Op::Transfer { direction, pinned, .. } => 2 * (*direction as u8) + u8::from(*pinned),
        _ => 0,
    };
    Work { family: op.family() as u8, kind, dtype, library: u8::from(by_torch) }
}

/// The curve of some work: its own; on a GPU, whose libraries share most kernels, else the other library's; else that of
/// floats of the same width, where numbers are moved rather than computed.
fn curve<'a>(device: &'a Device, op: &Op, work: Work) -> Option<&'a Curve> {
    let curves = device.measured.as_ref()?;
    let get = |work: Work| {
        let other = Work { library: 1 - work.library.min(1), ..work };
        curves.get(work).or_else(|| curves.get(other).filter(|_| device.kind == DeviceKind::Gpu))
    };
    let moved = matches!(
        op,
        Op::Elementwise { transcendental: false, .. } | Op::Copy { .. } | Op::Gather { .. } | Op::Scatter { .. }
    );
    let alike = match work.dtype {
        Dtype::I64 | Dtype::U64 => Some(Dtype::F64),
        Dtype::I32 | Dtype::U32 => Some(Dtype::F32),
        _ => None,
    };
    get(work).or_else(|| get(Work { dtype: alike.filter(|_| moved)?, ..work }))
}

/// `time` as the device was measured to take it; as it is, where nothing like it was measured.
pub(super) fn apply(time: KernelTime, machine: &Machine<'_>, op: &Op, dtype: Dtype, by_torch: bool) -> KernelTime {
    let device = machine.device;
    let Some(curve) = curve(device, op, work(op, dtype, by_torch)) else { return time };
    let p50 = curve.time(time.p50.get()).min(1e100);
    let half = curve.sigma * core::f64::consts::FRAC_1_SQRT_2;
    let utilisation = if p50 > 0.0 { (time.utilisation * time.p50.get() / p50).min(1.0) } else { 0.0 };
    KernelTime {
        p50: Seconds(p50),
        sigma_shared: half,
        sigma_own: half,
        smallest: time.smallest.min(Seconds(p50)),
        utilisation,
        ..time
    }
}

/// Whether all array work among `entries`, of which there is some, is of kinds that the device was measured in.
pub fn rests_on_measured<'a>(device: &Device, mut entries: impl Iterator<Item = &'a Entry>) -> bool {
    if device.measured.is_none() {
        return false;
    }
    let known = |entry: &Entry| {
        let own = |op: &Op, dtype, by_torch| curve(device, op, work(op, dtype, by_torch)).is_some();
        match &entry.op {
            Op::Routine { parts } => parts.iter().all(|part| own(&part.op, part.dtype, false)),
            op => own(op, entry.dtype, entry.name.starts_with("aten.")),
        }
    };
    let mut any = false;
    entries.all(|entry| {
        any |= entry.op.is_array_work();
        !entry.op.is_array_work() || known(entry)
    }) && any
}
