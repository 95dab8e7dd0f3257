//! What an exchange between devices takes, by NCCL's own rules: ring or tree, latency by protocol, the slowest link's rate.
//!
//! A message of S bytes among n ranks: each rank of a ring sends 2(n−1)/n × S for an all-reduce, (n−1)/n × S for an
//! all-gather or a reduce-scatter. NCCL takes whichever algorithm and protocol it expects to be done first; so does
//! this. Constants and their origin are in `collectives.csv`; no exchange was measured, so all of them are assumed.

use crate::workload::op::Collective;
use std::sync::LazyLock;

/// What joins the devices of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// NVLink, by bridge or by switch.
    NvLink,
    /// AMD's Infinity Fabric (xGMI): a link of its own from each device to each other.
    Fabric,
    /// PCI Express.
    Pcie,
}

impl Wire {
    const fn index(self) -> usize {
        match self {
            Self::NvLink => 0,
            Self::Fabric => 1,
            Self::Pcie => 2,
        }
    }
}

/// Place of the network among the wires of the table.
const NETWORK: usize = 3;

/// The devices that exchange, and what joins them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// How many.
    pub ranks: u64,
    /// How many of them are in one node.
    pub members: u64,
    /// What joins those.
    pub wire: Wire,
    /// Datasheet rate of one device inside its node, one direction, B/s.
    pub link: f64,
    /// What the node's network has for this group, one direction, B/s.
    pub network: f64,
}

/// What an exchange takes longest for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Steps, however little is in them.
    Latency,
    /// The link inside a node.
    Link,
    /// The network between nodes.
    Network,
}

/// One exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// How long, s.
    pub seconds: f64,
    /// What one rank sends, bytes; of a ring where a tree would be quicker.
    pub sent: f64,
    /// What it takes longest for.
    pub limit: Limit,
    /// Standard deviation of ln(time).
    pub sigma: f64,
}

const ALGORITHMS: [&str; 2] = ["tree", "ring"];
const PROTOCOLS: [&str; 3] = ["ll", "ll128", "simple"];
const WIRES: [&str; 4] = ["nvlink", "fabric", "pcie", "network"];
const RING: usize = 1;
const SIMPLE: usize = 2;
const LL128: usize = 1;
const LL: usize = 0;
/// Steps of LL inside a node take so much longer where there are several: NCCL, `src/graph/tuning.cc`.
const LL_BESIDE_NETWORK: f64 = 1.8;

/// `collectives.csv`, read; times in s.
struct Rules {
    base: [[f64; 3]; 2],
    step: [[[f64; 3]; 2]; 4],
    share: [[f64; 3]; 2],
    reach: [f64; 4],
    sigma: [f64; 4],
    dispatch: f64,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rows = std::collections::BTreeMap::new();
    for row in crate::lower::rows(include_str!("collectives.csv")) {
        if let (Some(name), Some(value)) = (row.get(0), row.get(1).and_then(|value| value.parse::<f64>().ok())) {
            rows.insert(name.to_owned(), value);
        }
    }
    let value = |name: String| rows.get(&name).copied().unwrap_or_default();
    let grid = |prefix: &str, unit: f64| {
        ALGORITHMS.map(|algorithm| PROTOCOLS.map(|protocol| unit * value(format!("{prefix}.{algorithm}.{protocol}"))))
    };
    // Steps of Infinity Fabric are taken to be as long as those of NVLink.
    let steps = ["nvlink", "nvlink", "pcie", "network"];
    Rules {
        base: grid("latency.base", 1e-6),
        step: steps.map(|wire| grid(&format!("latency.{wire}"), 1e-6)),
        share: grid("share", 1.0),
        reach: WIRES.map(|wire| value(format!("reach.{wire}"))),
        sigma: WIRES.map(|wire| value(format!("sigma.{wire}"))),
        dispatch: 1e-6 * value("dispatch".to_owned()),
    }
});

/// Host time of handing one exchange over, s.
pub fn dispatch() -> f64 {
    RULES.dispatch
}

/// Bytes that each of `ranks` devices sends in a ring.
///
/// ```
/// use breakeven::{kernel::collective::sent, workload::op::Collective};
/// assert_eq!(sent(Collective::AllReduce, 100e6, 4), 150e6); // 2 × 3/4 × 100 MB
/// assert_eq!(sent(Collective::AllGather, 100e6, 4), 75e6);
/// ```
pub fn sent(kind: Collective, bytes: f64, ranks: u64) -> f64 {
    let share = ranks.saturating_sub(1) as f64 / ranks.max(1) as f64;
    match kind {
        Collective::AllReduce => 2.0 * share * bytes,
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => share * bytes,
        Collective::Broadcast | Collective::SendRecv => {
            if ranks > 1 {
                bytes
            } else {
                0.0
            }
        }
    }
}

/// One exchange of `bytes` (the whole message: what every rank has in the end of an all-gather, in the beginning of a
/// reduce-scatter). Nothing among one rank.
///
/// ```
/// use breakeven::{kernel::collective::{Group, Wire, exchange}, workload::op::Collective};
/// let group = Group { ranks: 8, members: 8, wire: Wire::NvLink, link: 450e9, network: 0.0 };
/// let large = exchange(Collective::AllReduce, 1e9, &group);
/// let bus = large.sent / large.seconds;
/// assert!(bus > 0.7 * 450e9 && bus < 450e9);
/// ```
pub fn exchange(kind: Collective, bytes: f64, group: &Group) -> Exchange {
    let sent = sent(kind, bytes, group.ranks);
    if group.ranks < 2 {
        return Exchange { seconds: 0.0, sent, limit: Limit::Latency, sigma: 0.0 };
    }
    let rules = &*RULES;
    let wire = group.wire.index();
    let (n, inside) = (group.ranks as f64, group.members.clamp(1, group.ranks) as f64);
    let nodes = (n / inside).ceil();
    let link = group.link * rules.reach[wire];
    let network = group.network * rules.reach[NETWORK];
    // A ring leaves each node once and comes back once: its rate is that of its slowest part.
    let by_network = nodes > 1.0 && (inside <= 1.0 || network < link);
    let bus = if by_network { network } else { link };
    let mut best = f64::INFINITY;
    let mut of_data = 0.0;
    for algorithm in 0..ALGORITHMS.len() {
        if algorithm != RING && kind != Collective::AllReduce {
            continue;
        }
        for protocol in [LL, LL128, SIMPLE] {
            // Its stores of 128 bytes arrive whole over NVLink alone.
            if protocol == LL128 && group.wire == Wire::Pcie {
                continue;
            }
            let beside = if nodes > 1.0 && protocol == LL { LL_BESIDE_NETWORK } else { 1.0 };
            let near = rules.step[wire][algorithm][protocol] * beside;
            let far = rules.step[NETWORK][algorithm][protocol];
            let (steps, far_steps) = steps(kind, algorithm == RING, [n, inside, nodes]);
            let latency = rules.base[algorithm][protocol] + (steps - far_steps).max(0.0) * near + far_steps * far;
            let moved = if algorithm == RING { sent } else { 2.0 * bytes };
            let mut data = moved / (bus * rules.share[algorithm][protocol]);
            if kind == Collective::AllToAll && nodes > 1.0 {
                // Only what goes to other nodes crosses the network, of all members at once.
                let share = rules.share[algorithm][protocol];
                let out = bytes * (n - inside) / n * inside / (network * share);
                data = out.max(bytes * (inside - 1.0) / n / (link * share));
            }
            if latency + data < best {
                (best, of_data) = (latency + data, data);
            }
        }
    }
    let limit = match by_network {
        _ if of_data < 0.5 * best => Limit::Latency,
        true => Limit::Network,
        false => Limit::Link,
    };
    let sigma = rules.sigma[if nodes > 1.0 && by_network { NETWORK } else { wire }];
    Exchange { seconds: best, sent, limit, sigma }
}

/// Steps one after the other, and those of them between nodes.
fn steps(kind: Collective, ring: bool, [n, inside, nodes]: [f64; 3]) -> (f64, f64) {
    let log2 = |x: f64| libm::log2(x).ceil();
    match kind {
        Collective::AllReduce if ring => (2.0 * (n - 1.0), 2.0 * (nodes - 1.0)),
        Collective::AllReduce => (2.0 * (inside - 1.0 + log2(nodes)), 2.0 * log2(nodes)),
        Collective::AllGather | Collective::ReduceScatter => (n - 1.0, nodes - 1.0),
        Collective::Broadcast => (n, nodes - 1.0),
        // All partners at once: what grows is the number of rounds in which they are served.
        Collective::AllToAll => (log2(n), log2(nodes)),
        Collective::SendRecv => (1.0, if inside > 1.0 { 0.0 } else { 1.0 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(ranks: u64) -> Group {
        Group { ranks, members: ranks.min(8), wire: Wire::NvLink, link: 300e9, network: 200e9 }
    }

    #[test]
    fn a_ring_of_four_by_hand() {
        // 1 GB in Simple: 8.4 µs + 6 steps of 3.4 µs + 1.5 GB at 0.81 × 300 GB/s.
        let t = exchange(Collective::AllReduce, 1e9, &node(4)).seconds;
        let by_hand = 8.4e-6 + 6.0 * 3.4e-6 + 1.5e9 / (0.81 * 300e9);
        assert!((t / by_hand - 1.0).abs() < 1e-9, "{t} {by_hand}");
        // 1 kB in LL: 6.6 µs + 6 steps of 0.6 µs, and next to nothing for the bytes.
        let t = exchange(Collective::AllReduce, 1e3, &node(4)).seconds;
        assert!((t - (6.6e-6 + 3.6e-6)).abs() < 0.2e-6, "{t}");
    }

    #[test]
    fn a_slow_network_sets_the_rate_of_a_ring_across_nodes() {
        let slow = Group { network: 12.5e9, ..node(16) };
        let e = exchange(Collective::AllReduce, 1e9, &slow);
        assert_eq!(e.limit, Limit::Network);
        assert!(e.sent / e.seconds < 12.5e9);
        assert_eq!(exchange(Collective::AllReduce, 1e9, &Group { ranks: 1, ..slow }).seconds, 0.0);
    }

    proptest! {
        #[test]
        fn more_bandwidth_is_never_slower(i in 0..Collective::ALL.len(), bytes in 1.0..1e11f64, ranks in 2..2048u64, members in 1..16u64, k in 1.0..8.0f64) {
            let kind = Collective::ALL[i];
            for wire in [Wire::NvLink, Wire::Fabric, Wire::Pcie] {
                let group = Group { ranks, members, wire, link: 64e9, network: 25e9 };
                let now = exchange(kind, bytes, &group);
                prop_assert!(now.seconds > 0.0 && now.seconds.is_finite());
                for more in [Group { link: 64e9 * k, ..group }, Group { network: 25e9 * k, ..group }] {
                    prop_assert!(exchange(kind, bytes, &more).seconds <= now.seconds * (1.0 + 1e-12));
                }
                prop_assert!(exchange(kind, bytes * k, &group).seconds >= now.seconds * (1.0 - 1e-12));
            }
        }

        #[test]
        fn a_ring_sends_what_its_formula_says(bytes in 1.0..1e12f64, ranks in 1..4096u64) {
            let n = ranks as f64;
            prop_assert_eq!(exchange(Collective::AllReduce, bytes, &node(ranks)).sent, 2.0 * ((n - 1.0) / n) * bytes);
        }
    }
}
