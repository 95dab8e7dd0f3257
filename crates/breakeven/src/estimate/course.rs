//! What else is drawn of the course of a run: memory as it fills and empties, kernels by their length.

use super::gpu::Outcome;
use crate::workload::Workload;
use serde::{Deserialize, Serialize};

/// Columns of a curve.
const COLUMNS: usize = 60;

/// How much array memory may live at once, in columns of equally many ops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryCurve {
    /// At most so many bytes in each column: groups of arrays count at their fullest from first to last use, and all
    /// together no more than the program's peak.
    pub bytes: Vec<f64>,
}

/// Kernels of one range of lengths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelBin {
    /// Shortest that counts, s.
    pub from_s: f64,
    /// Shortest that no longer counts, s.
    pub to_s: f64,
    /// How many are launched.
    pub launches: u64,
    /// What they take together, s.
    pub time_s: f64,
}

/// From the workload's buffers; `None` where none were recorded.
pub(super) fn memory(workload: &Workload) -> Option<MemoryCurve> {
    let ops = workload.op_count().max(1) as f64;
    let column = |position: u64| ((position as f64 / ops * COLUMNS as f64) as usize).min(COLUMNS - 1);
    let mut bytes = vec![0.0_f64; COLUMNS];
    for buffer in &workload.buffers {
        let live = buffer.bytes as f64 * buffer.peak_live as f64;
        let (first, last) = (column(buffer.first_use), column(buffer.last_use.max(buffer.first_use)));
        bytes[first..=last].iter_mut().for_each(|column| *column += live);
    }
    let peak = workload.program.peak_bytes as f64;
    if peak > 0.0 {
        bytes.iter_mut().for_each(|column| *column = column.min(peak));
    }
    bytes.iter().any(|column| *column > 0.0).then_some(MemoryCurve { bytes })
}

/// Kernels of a run on one GPU, two ranges to a decade of length, shortest first; those between that hold nothing are
/// there too.
pub(super) fn kernels(workload: &Workload, out: &Outcome) -> Vec<KernelBin> {
    let mut bins: Vec<(i32, u64, f64)> = Vec::new();
    for (entry, task) in workload.ops.iter().zip(&out.plan.tasks) {
        if task.device <= 0.0 || entry.count == 0 {
            continue;
        }
        let each = task.device / f64::from(task.launches.max(1));
        let bin = libm::floor(libm::log10(each) * 2.0) as i32;
        let (launches, time) =
            (u64::from(task.launches.max(1)).saturating_mul(entry.count), task.device * entry.count as f64);
        match bins.binary_search_by_key(&bin, |(known, ..)| *known) {
            Ok(at) => bins[at] = (bin, bins[at].1.saturating_add(launches), bins[at].2 + time),
            Err(at) => bins.insert(at, (bin, launches, time)),
        }
    }
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return Vec::new() };
    let edge = |bin: i32| libm::pow(10.0, f64::from(bin) / 2.0);
    let filled = |bin| bins.iter().find(|(known, ..)| *known == bin).map_or((0, 0.0), |(_, n, t)| (*n, *t));
    let bin = |bin| {
        let (launches, time_s) = filled(bin);
        KernelBin { from_s: edge(bin), to_s: edge(bin + 1), launches, time_s }
    };
    (first.0..=last.0).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::super::program;
    use super::*;
    use crate::request::{Options, Request};
    use crate::workload::{Buffer, samples};

    #[test]
    fn bins_hold_every_launch_once() {
        let heat = samples::heat();
        let options = Options { gpu: vec!["l4".to_owned()], timeline: true, ..Options::default() };
        let answer = program::estimate(&heat, &Request { options, ..Request::default() }).unwrap();
        let bins = answer.timeline.unwrap().kernels;
        assert_eq!(bins.iter().map(|bin| bin.launches).sum::<u64>(), answer.workload.launches);
        assert!(bins.windows(2).all(|pair| pair[0].to_s == pair[1].from_s));
        for bin in bins.iter().filter(|bin| bin.launches > 0) {
            let each = bin.time_s / bin.launches as f64;
            assert!(bin.from_s <= each && each < bin.to_s, "{bin:?}");
        }
    }

    #[test]
    fn memory_is_where_its_arrays_live_and_never_above_the_peak() {
        let mut heat = samples::heat();
        let ops = heat.op_count();
        let buffer = |first_use, last_use, peak_live| Buffer {
            producer: None,
            bytes: 100,
            count: 9,
            peak_live,
            first_use,
            last_use,
            host_touches: 0,
            role: None,
            pinned: false,
        };
        heat.buffers = vec![buffer(0, ops / 2, 1), buffer(ops / 4, ops, 2)];
        heat.program.peak_bytes = 250;
        let bytes = memory(&heat).unwrap().bytes;
        assert_eq!([bytes[0], bytes[20], bytes[59]], [100.0, 250.0, 200.0]);
        heat.buffers.clear();
        assert_eq!(memory(&heat), None);
    }
}
