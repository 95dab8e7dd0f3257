//! Waiting for the next batch of a data loader whose worker processes make it beside the script.
//!
//! What the script waited while it was recorded says little: its steps took as long as the CPU needed for them. On a GPU
//! a step is shorter, and the workers have less time to make the next batch in.

use super::gpu::Question;
use super::plan::Plan;
use crate::workload::{Entry, Op, Phase, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Taking a ready batch from a worker, s: a queue and shared memory, assumed.
pub const HANDOVER: f64 = 0.2e-3;

/// The script takes its next batch here.
pub fn takes_batch(entry: &Entry) -> bool {
    entry.name == "torch.utils.data.DataLoader.__next__"
}

/// By entry: whether it prepares on the host what steps are given, one after the other. What a line prepares once, such as a
/// model that is then copied, feeds none.
pub fn feeds(ops: &[Entry], order: &[Step]) -> Vec<bool> {
    let is_data = |e: &Entry| e.phase == Some(Phase::Data);
    if order.is_empty() {
        return ops.iter().map(is_data).collect();
    }
    let mut lines = Lines::default();
    lines.go_through(ops, order);
    ops.iter().map(|e| is_data(e) && lines.feeding.contains(&e.site)).collect()
}

/// Lines that prepare data, on the way through a program.
#[derive(Default)]
struct Lines {
    /// Kernels so far.
    kernels: u64,
    /// Each line that prepared data, as often as it did; and by line how many kernels there had been.
    prepared: Vec<u32>,
    last: BTreeMap<u32, u64>,
    /// Those that did again, with kernels in between.
    feeding: BTreeSet<u32>,
}

impl Lines {
    fn go_through(&mut self, ops: &[Entry], steps: &[Step]) {
        for step in steps {
            match step {
                Step::Run(entry) => ops.get(*entry as usize).into_iter().for_each(|e| self.run(e)),
                Step::Repeat(times, body) => {
                    let (kernels, prepared) = (self.kernels, self.prepared.len());
                    self.go_through(ops, body);
                    if *times > 1 && self.kernels > kernels {
                        self.feeding.extend(&self.prepared[prepared..]);
                    }
                }
            }
        }
    }

    fn run(&mut self, entry: &Entry) {
        if entry.phase == Some(Phase::Data) {
            self.prepared.push(entry.site);
            if self.last.insert(entry.site, self.kernels).is_some_and(|before| before < self.kernels) {
                self.feeding.insert(entry.site);
            }
        } else if !matches!(
            entry.op,
            Op::View | Op::Transfer { .. } | Op::HostRead { .. } | Op::HostOnly | Op::Synchronise | Op::StreamWait
        ) {
            self.kernels += 1;
        }
    }
}

/// Puts the waits for batches that its own steps leave into the plan: what a batch takes the workers, less a step.
pub(crate) fn wait_for_batches(q: &Question, plan: &mut Plan) {
    let Some(loaders) = q.workload.program.loaders.filter(|l| l.batches > 0 && l.workers > 0) else { return };
    let entries = || q.workload.ops.iter().zip(&plan.tasks);
    let batches: u64 = entries().filter(|(e, _)| takes_batch(e)).map(|(e, _)| e.count).sum();
    if batches == 0 {
        return;
    }
    // What runs in every other round at least is part of a step.
    let of_step = |e: &Entry| !takes_batch(e) && e.count >= batches / 2;
    let (mut host, mut device) = (0.0, 0.0);
    for (entry, task) in entries().filter(|(e, _)| of_step(e)) {
        let copies = task.upload + task.download + task.upload_after;
        host += (task.gap + task.dispatch + task.on_host + copies) * entry.count as f64;
        device += task.device * entry.count as f64;
    }
    let step = host.max(device) / batches as f64;
    let each = loaders.ns as f64 * 1e-9 * q.host.own / loaders.batches as f64 / q.host_speed;
    let wait = (each / f64::from(loaders.workers) - step).max(HANDOVER);
    for (entry, task) in q.workload.ops.iter().zip(&mut plan.tasks) {
        if takes_batch(entry) {
            task.on_host = wait;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::estimate::program::estimate;
    use crate::request::{Options, Request};
    use crate::workload::Workload;

    #[test]
    fn a_step_that_is_shorter_on_the_gpu_waits_longer_for_its_batch() {
        // 100 batches, 30 ms of work each for three workers; 20 ms a step here, of which 4 ms are Python.
        let text = serde_json::json!({
            "format": "breakeven.workload/1",
            "program": {"name": "x.py", "wall_ns": 2_020_000_000u64, "exit": {"code": 0}, "cpu_threads": 4,
                "loaders": {"workers": 3, "batches": 100, "ns": 3_000_000_000u64}},
            "sites": [{"file": "x.py", "line": 1}],
            "ops": [
                {"site": 0, "name": "torch.utils.data.DataLoader.__next__", "op": "host_only", "dtype": "f32",
                 "count": 100, "cpu_ns": 20_000_000, "gap_ns": 0, "phase": "data"},
                {"site": 0, "name": "aten.mm", "op": {"matmul": {"m": 64, "n": 64, "k": 64}}, "dtype": "f32",
                 "count": 100, "cpu_ns": 1_600_000_000, "gap_ns": 400_000_000, "phase": "forward", "device": "cuda:0"},
            ],
            "order": [[100, [0, 1]]],
        });
        let workload = Workload::from_json(text.to_string().as_bytes()).unwrap();
        let options = Options { gpu: vec!["L4".to_owned()], exclude_startup: true, ..Options::default() };
        let e = estimate(&workload, &Request { options, ..Request::default() }).unwrap();
        // A batch every 10 ms, whatever the GPU does with it.
        let host = e.estimates[0].breakdown_s.unwrap().total();
        assert!((host / 1.0 - 1.0).abs() < 0.02, "{host}");
    }
    #[test]
    fn numpy_beside_pytorch_and_in_a_loader_copies_nothing() {
        let root = |phase: Option<&str>| {
            serde_json::json!({"site": 0, "name": "numpy.sqrt", "dtype": "f64", "count": 100, "cpu_ns": 1_000_000,
                "op": {"elementwise": {"n": 1000, "inputs": 1, "flop_per_element": 4.0, "transcendental": false}},
                "read_bytes": 8000, "written_bytes": 8000, "phase": phase})
        };
        let text = serde_json::json!({
            "format": "breakeven.workload/1",
            "program": {"name": "x.py", "wall_ns": 20_000_000u64, "exit": {"code": 0}},
            "sites": [{"file": "x.py", "line": 1}],
            "ops": [root(None), root(Some("data")),
                {"site": 0, "name": "numpy.ndarray.__float__", "op": {"host_read": {"bytes": 8}}, "dtype": "f64",
                 "count": 100, "cpu_ns": 10_000},
                {"site": 0, "name": "aten.mm", "op": {"matmul": {"m": 64, "n": 64, "k": 64}}, "dtype": "f32",
                 "count": 100, "cpu_ns": 1_000_000, "host_input_bytes": 1_638_400, "host_input_count": 100}],
            "order": [[100, [0, 1, 2, 3]]],
        });
        let workload = Workload::from_json(text.to_string().as_bytes()).unwrap();
        let options = Options { gpu: vec!["L4".to_owned()], ..Options::default() };
        let w = estimate(&workload, &Request { options, ..Request::default() }).unwrap().workload;
        assert_eq!(
            (w.h2d_bytes, w.d2h_bytes, w.h2d_copies, w.launches),
            (Some(1_638_400.0), Some(0.0), Some(100), 100)
        );
    }
}
