//! Products in a type that the matrix units take: what the edits of precision share.

use super::super::Context;
use super::super::draft::Draft;
use crate::kernel::{Support, kernel_time};
use crate::port;
use crate::units::Bytes;
use crate::workload::{Dtype, Entry, Op};

/// PyTorch's products in another type, if the GPU has it.
pub(super) fn recast<'a>(
    draft: &Draft<'a>,
    ctx: &Context,
    from: &[Dtype],
    dtype: Dtype,
    which: &dyn Fn(&Op) -> bool,
) -> Option<Draft<'a>> {
    let mut out = draft.clone();
    let mut any = false;
    for entry in out.workload.ops.iter_mut().filter(|e| from.contains(&e.dtype) && which(&e.op)) {
        if port::of(&entry.name).name != "torch" {
            continue;
        }
        let native = kernel_time(&entry.op, dtype, Bytes(0.0), Bytes(0.0), ctx.device).support == Support::Native;
        if !native {
            return None;
        }
        let size = entry.dtype.bytes().max(1);
        let share = |n: u64| n / size * dtype.bytes();
        *entry = Entry {
            dtype,
            read_bytes: share(entry.read_bytes),
            written_bytes: share(entry.written_bytes),
            ..entry.clone()
        };
        any = true;
    }
    any.then_some(out)
}
