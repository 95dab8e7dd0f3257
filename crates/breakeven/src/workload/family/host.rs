//! What crosses a link: transfers, and collectives by their ring algorithms (Thakur et al. 2005: each rank moves
//! (p − 1)/p of the data once, twice for an all-reduce).

use super::Need;
use crate::workload::op::Collective;

pub(super) fn moved(bytes: f64) -> Need {
    Need { flop: 0.0, bytes }
}

/// Bytes that one rank sends, and the additions of the reducing kinds.
pub(super) fn collective(kind: Collective, bytes: f64, ranks: f64, s: f64) -> Need {
    let share = if ranks > 1.0 { (ranks - 1.0) / ranks } else { 0.0 };
    let additions = share * bytes / s;
    match kind {
        Collective::AllReduce => Need { flop: additions, bytes: 2.0 * share * bytes },
        Collective::ReduceScatter => Need { flop: additions, bytes: share * bytes },
        Collective::AllGather | Collective::Broadcast | Collective::AllToAll => {
            Need { flop: 0.0, bytes: share * bytes }
        }
        Collective::SendRecv => Need { flop: 0.0, bytes: if ranks > 1.0 { bytes } else { 0.0 } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_ranks_reduce_a_megabyte() {
        assert_eq!(collective(Collective::AllReduce, 1e6, 4.0, 4.0), Need { flop: 187_500.0, bytes: 1.5e6 });
        assert_eq!(collective(Collective::AllReduce, 1e6, 1.0, 4.0).bytes, 0.0);
    }
}
