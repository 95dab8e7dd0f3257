//! What held a GPU back: the rules, all of them, with their thresholds.
//!
//! In this order; the first that holds is told.
//!
//! 1. *Not enough evidence*: busy was known for less than [`ENOUGH_S`] or in fewer than [`ENOUGH`] samples.
//! 2. *Not used*: busy less than [`UNUSED`] of the time.
//! 3. *Heat*: clocks were held down by heat for [`HOT`] of the time or more.
//! 4. *Its power limit*: they were by power for [`CAPPED`] or more.
//! 5. Busy less than [`BUSY`] of the time: the cause of most of its idle time, second by second: *copies* where its link
//!    carried 15 % of what it can or more, else *the host* where 0.8 cores of it or more were busy (those of the watched
//!    command, where there is one), else *neither*: both waited.
//! 6. *Its memory bandwidth*: memory was read or written for [`STREAMING`] of the time or more.
//! 7. *Kernels that fill little of it*: it drew less than [`FAINT`] of its power limit.
//! 8. *Its own speed*: kernels ran and nothing else held them back.

use crate::gpu::Busy;
use crate::gpu::Gpu;
use crate::reading::{Field, HEAT, POWER};
use crate::smaller::smaller;
use crate::totals::DeviceTotals;

/// Less than this of known time is no evidence, s.
pub const ENOUGH_S: f64 = 2.0;
/// Fewer samples are no evidence.
pub const ENOUGH: u64 = 10;
/// Below this share of the time it was not used.
pub const UNUSED: f64 = 0.01;
/// From this share of the time on it was busy.
pub const BUSY: f64 = 0.7;
/// Heat for so much of the time holds it back.
pub const HOT: f64 = 0.1;
/// A power limit for so much of the time holds it back.
pub const CAPPED: f64 = 0.25;
/// Its memory is what it waits for from this share of the time on.
pub const STREAMING: f64 = 0.6;
/// A GPU whose kernels run all the time and that draws less than this of its limit is filled little.
pub const FAINT: f64 = 0.4;

/// What held a GPU back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rules above say what each means")]
pub enum HeldBack {
    NotEnoughEvidence,
    Unused,
    Heat,
    PowerLimit,
    Copies,
    Host,
    Neither,
    MemoryBandwidth,
    SmallKernels,
    OwnSpeed,
}

impl HeldBack {
    /// For programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::NotEnoughEvidence => "not-enough-evidence",
            Self::Unused => "unused",
            Self::Heat => "heat",
            Self::PowerLimit => "power-limit",
            Self::Copies => "copies",
            Self::Host => "host",
            Self::Neither => "neither",
            Self::MemoryBandwidth => "memory-bandwidth",
            Self::SmallKernels => "small-kernels",
            Self::OwnSpeed => "own-speed",
        }
    }

    /// As the sentence ends.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotEnoughEvidence => "not enough evidence of what held it back",
            Self::Unused => "it was not used",
            Self::Heat => "held back by heat",
            Self::PowerLimit => "held back by its power limit",
            Self::Copies => "held back by copies",
            Self::Host => "held back by the host",
            Self::Neither => "held back by neither GPU nor CPU, which both waited",
            Self::MemoryBandwidth => "held back by its memory bandwidth",
            Self::SmallKernels => "held back by kernels that fill little of it",
            Self::OwnSpeed => "held back by its own speed",
        }
    }
}

/// What a session says of one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What held it back.
    pub held_back: HeldBack,
    /// What evidence lacks, where some does.
    pub lacks: Option<&'static str>,
    /// A smaller GPU that would do, by its name in the catalogue.
    pub smaller: Option<String>,
}

/// Judges one GPU by what was seen of it.
pub fn judge(gpu: &Gpu, seen: &DeviceTotals) -> Verdict {
    let without = |held_back, lacks| Verdict { held_back, lacks, smaller: None };
    let busy = seen.stat(Field::Busy);
    let Some(share) = busy.mean() else {
        let lacks = if gpu.instance { "MIG instances do not say" } else { "its utilisation is unknown" };
        let short = busy.samples() > 0;
        return without(HeldBack::NotEnoughEvidence, Some(if short { "it was watched too briefly" } else { lacks }));
    };
    if busy.seconds() < ENOUGH_S || busy.samples() < ENOUGH {
        return without(HeldBack::NotEnoughEvidence, Some("it was watched too briefly"));
    }
    if share < UNUSED {
        return without(HeldBack::Unused, None);
    }
    let (held_back, lacks) = cause(gpu, seen, share);
    // A smaller one would be held back all the more by its power or its heat.
    let idle = matches!(held_back, HeldBack::Copies | HeldBack::Host | HeldBack::Neither);
    let smaller = idle.then(|| smaller(gpu, seen, share)).flatten();
    Verdict { held_back, lacks, smaller }
}

fn cause(gpu: &Gpu, seen: &DeviceTotals, share: f64) -> (HeldBack, Option<&'static str>) {
    let throttled = |reason, least| seen.throttled_share(reason).is_some_and(|share| share >= least);
    if throttled(HEAT, HOT) {
        return (HeldBack::Heat, None);
    }
    if throttled(POWER, CAPPED) {
        return (HeldBack::PowerLimit, None);
    }
    if share < BUSY {
        let idle = seen.idle;
        let causes = [
            (idle.copies, HeldBack::Copies, None),
            (idle.host, HeldBack::Host, None),
            (idle.nothing, HeldBack::Neither, None),
            (idle.unknown, HeldBack::NotEnoughEvidence, Some("what the CPU did is unknown")),
        ];
        let largest = causes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).filter(|cause| cause.0 > 0.0);
        let (_, held_back, lacks) =
            largest.unwrap_or((0.0, HeldBack::NotEnoughEvidence, Some("what the CPU did is unknown")));
        return (held_back, lacks);
    }
    if gpu.busy == Busy::Awake {
        return (HeldBack::NotEnoughEvidence, Some("its driver says when it was awake, not when kernels ran"));
    }
    if seen.stat(Field::MemoryBusy).mean().is_some_and(|share| share >= STREAMING) {
        return (HeldBack::MemoryBandwidth, None);
    }
    match seen.watts().zip(gpu.limit_w) {
        Some((watts, limit)) if watts < FAINT * limit => (HeldBack::SmallKernels, None),
        _ => (HeldBack::OwnSpeed, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Reading, Sample};
    use crate::totals::Totals;
    use breakeven::hardware::Vendor;

    /// Ten seconds at 10 Hz of an L40S whose values do not change.
    fn judged(values: &[(Field, f64)], cores: Option<f64>) -> Verdict {
        let mut gpu = Gpu::new("0", Vendor::Nvidia, "NVIDIA L40S");
        (gpu.limit_w, gpu.link) = (Some(350.0), Some(31.5e9));
        let mut totals = Totals::new(&[gpu], Some(8), None);
        for n in 0..100 {
            let (mut reading, mut host) = (Reading::default(), Reading::default());
            values.iter().for_each(|(field, value)| reading.set(*field, *value));
            host.set(Field::Cores, cores);
            let (at, whole) = (f64::from(n) / 10.0, n % 10 == 9);
            totals.take(&Sample { at, gpus: vec![reading], host, whole, processes: Vec::new() });
        }
        judge(&totals.gpus[0], &totals.seen[0])
    }

    #[test]
    fn each_rule_has_a_session_that_it_fits() {
        use Field::{Busy, MemoryBusy, Throttle, ToGpu, Watts};
        type Case = (&'static [(Field, f64)], Option<f64>, HeldBack);
        let cases: [Case; 11] = [
            (&[(Watts, 50.0)], Some(1.0), HeldBack::NotEnoughEvidence),
            (&[(Busy, 0.0)], Some(1.0), HeldBack::Unused),
            (&[(Busy, 0.9), (Throttle, 3.0)], Some(1.0), HeldBack::Heat),
            (&[(Busy, 0.9), (Throttle, 1.0)], Some(1.0), HeldBack::PowerLimit),
            (&[(Busy, 0.2), (ToGpu, 9e9)], Some(1.0), HeldBack::Copies),
            (&[(Busy, 0.2), (ToGpu, 1e9)], Some(1.0), HeldBack::Host),
            (&[(Busy, 0.2)], Some(0.1), HeldBack::Neither),
            (&[(Busy, 0.2)], None, HeldBack::NotEnoughEvidence),
            (&[(Busy, 0.9), (MemoryBusy, 0.8)], Some(1.0), HeldBack::MemoryBandwidth),
            (&[(Busy, 0.9), (Watts, 90.0)], Some(1.0), HeldBack::SmallKernels),
            (&[(Busy, 0.9), (Watts, 300.0)], Some(1.0), HeldBack::OwnSpeed),
        ];
        for (values, cores, expected) in cases {
            assert_eq!(judged(values, cores).held_back, expected, "{values:?}");
        }
    }

    #[test]
    fn a_smaller_gpu_is_named_where_memory_and_busy_share_are_known() {
        let values = [(Field::Busy, 0.2), (Field::Memory, 2e9), (Field::Watts, 60.0)];
        assert_eq!(judged(&values, Some(1.0)).smaller.as_deref(), Some("L4"));
        assert_eq!(judged(&values[..1], Some(1.0)).smaller, None);
        assert_eq!(judged(&[(Field::Busy, 0.9), (Field::Memory, 2e9)], Some(1.0)).smaller, None);
    }
}
