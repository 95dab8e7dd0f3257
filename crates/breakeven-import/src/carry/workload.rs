//! A trace as a workload: what `breakeven show` and what-if read.

use super::groups::Groups;
use crate::model::{Does, Trace};
use breakeven::carry::Known;
use breakeven::hardware::Gpu;
use breakeven::workload::{Entry, Exit, Op, Program, Site, Unseen, Workload};

/// The process `trace`, recorded on `source`, as the program that it is: ops with their shapes where these are
/// recorded, else opaque, with the time that was measured. Times are of the GPU named in `program.gpu`, and no CPU's.
pub fn workload(trace: &Trace, source: &Gpu) -> Workload {
    let groups = Groups::of(trace, &source.device);
    let gaps = gaps(trace, &groups);
    let mut ops = Vec::new();
    let (mut opaque_ns, mut opaque) = (0_u64, 0);
    for (group, gap_ns) in groups.all.iter().zip(gaps) {
        if !group.kernel || group.count == 0 {
            continue;
        }
        let known = group.work.known == Known::Op;
        let op = if known { group.work.op.clone() } else { Op::Opaque };
        let ns = u64::try_from(group.ns).unwrap_or(0);
        if !known {
            opaque_ns = opaque_ns.saturating_add(ns);
            opaque += group.count;
        }
        let name: String = group.name.chars().take(200).collect();
        ops.push(Entry {
            count: group.count,
            cpu_ns: ns,
            gap_ns,
            device: Some("cuda:0".to_owned()),
            ..Entry::untimed(0, &name, op, group.work.dtype)
        });
    }
    let spans = || trace.kernels.iter().filter_map(|kernel| kernel.when.span());
    let from = spans().map(|span| span.from).min().unwrap_or(0);
    let to = spans().map(|span| span.to).max().unwrap_or(0);
    let seen = Unseen {
        reason: "trace-no-shapes".to_owned(),
        text: format!(
            "{opaque} kernels have no op with shapes in the trace: they are opaque, with their measured time"
        ),
        ns: opaque_ns,
        count: opaque,
    };
    Workload {
        program: Program {
            name: breakeven::workload::file_name(&trace.file).to_owned(),
            recorder: format!("import-{}", trace.kind.name()),
            wall_ns: u64::try_from(to.saturating_sub(from)).unwrap_or(0),
            gpu: Some(source.name().to_owned()),
            device_peak_bytes: trace.peak_bytes.unwrap_or(0),
            processes: 1,
            sampling: 1,
            exit: Exit::Unknown,
            ..Program::default()
        },
        sites: vec![Site { file: trace.file.clone(), ..Site::default() }],
        ops,
        unseen: if opaque > 0 { vec![seen] } else { Vec::new() },
        ..Workload::default()
    }
}

/// Host time before the launches of each group, without waits, ns.
fn gaps(trace: &Trace, groups: &Groups) -> Vec<u64> {
    let mut gaps = vec![0_u64; groups.all.len()];
    let mut asked: Vec<(i64, u32)> = trace
        .kernels
        .iter()
        .zip(&groups.kernels)
        .filter_map(|(kernel, group)| Some((kernel.asked()?, *group)))
        .collect();
    asked.sort_unstable();
    let mut waits: Vec<_> =
        trace.calls.iter().filter(|call| call.does() == Does::Wait).map(|call| call.span()).collect();
    waits.sort_unstable();
    let mut waits = waits.into_iter().peekable();
    for pair in asked.windows(2) {
        let [(before, _), (at, group)] = [pair[0], pair[1]];
        let mut gap = at - before;
        while let Some(wait) = waits.next_if(|wait| wait.from < at) {
            gap -= (wait.to.min(at) - wait.from.max(before)).max(0);
        }
        if let Some(sum) = gaps.get_mut(group as usize) {
            *sum = sum.saturating_add(u64::try_from(gap).unwrap_or(0));
        }
    }
    gaps
}
