//! A routine's kernels, one after the other: their times add, and what bounds most of it bounds the whole.

use super::{Bound, KernelTime, Machine, Recorded, Support, time_on};
use crate::units::{Bytes, Flop, Seconds};
use crate::workload::{Dtype, Op, Part};

pub(super) fn time(machine: &Machine<'_>, parts: &[Part]) -> KernelTime {
    // As what has no device work at all.
    let mut sum = time_on(machine, &Op::View, Dtype::F64, Recorded::default());
    let mut by_bound = [(Bound::Launch, 0.0, 0.0); 4];
    let (mut seconds, mut smallest, mut shared, mut own) = (0.0, 0.0, 0.0, 0.0);
    for part in parts.iter().filter(|part| !matches!(part.op, Op::Routine { .. })) {
        let (read, written) = (Bytes(part.read_bytes as f64), Bytes(part.written_bytes as f64));
        let one = time_on(machine, &part.op, part.dtype, Recorded { read, written, ..Recorded::default() });
        let runs = part.count as f64;
        let took = one.p50.get() * runs;
        seconds += took;
        smallest += one.smallest.get() * runs;
        // Runs of one part are one shape: they are off together.
        shared += took * one.sigma_shared;
        own += (took * one.sigma_own) * (took * one.sigma_own);
        sum.flop = Flop(sum.flop.get() + one.flop.get() * runs);
        // What the link carries is no traffic of the device's memory.
        if one.bound != Bound::Transfer {
            sum.bytes = Bytes(sum.bytes.get() + one.bytes.get() * runs);
        }
        sum.launches = sum.launches.saturating_add(times(one.launches, part.count));
        sum.support = worse(sum.support, one.support);
        let place = match one.bound {
            Bound::Compute => 1,
            Bound::Memory => 2,
            Bound::Transfer => 3,
            Bound::Launch | Bound::Sync | Bound::Host => 0,
        };
        by_bound[place] = (one.bound, by_bound[place].1 + took, by_bound[place].2 + took * one.utilisation);
    }
    if seconds <= 0.0 {
        return sum;
    }
    let longest = by_bound.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Bound::Launch, seconds, 0.0));
    KernelTime {
        p50: Seconds(seconds.min(1e100)),
        smallest: Seconds(smallest.min(1e100)),
        sigma_shared: shared / seconds,
        sigma_own: libm::sqrt(own) / seconds,
        bound: longest.0,
        utilisation: (longest.2 / longest.1).min(1.0),
        ..sum
    }
}

fn times(launches: u32, count: u64) -> u32 {
    u32::try_from(u64::from(launches).saturating_mul(count)).unwrap_or(u32::MAX)
}

const fn worse(a: Support, b: Support) -> Support {
    match (a, b) {
        (Support::Refused, _) | (_, Support::Refused) => Support::Refused,
        (Support::Emulated, _) | (_, Support::Emulated) => Support::Emulated,
        (Support::Native, Support::Native) => Support::Native,
    }
}
