//! A program on one device as the program of one rank among several: its part of the work, and what it exchanges.

use super::buckets::{self, Copies};
use super::memory::Memory;
use super::tensor::{self, Division};
use super::{Layout, Scaling};
use crate::estimate::plan::Plan;
use crate::growth::batch_of;
use crate::kernel::collective::{Exchange, Group, dispatch, exchange};
use crate::timeline::{STREAMS, Task};
use crate::workload::op::Collective;
use crate::workload::{Dtype, Entry, Op, Phase, Step, Workload, order};
use std::collections::BTreeMap;

/// Among whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Among {
    /// Those that divide a layer.
    Tensor,
    /// Copies of the network.
    Data,
    /// Neighbouring stages.
    Pipeline,
    /// All, as the script itself has it.
    All,
}

/// An entry that is an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Among whom.
    pub among: Among,
    /// Which.
    pub kind: Collective,
    /// The whole message, bytes.
    pub bytes: f64,
    /// Exchanges for each run.
    pub times: f64,
}

/// The ops of a rank while exchanges are put among them.
pub struct Exchanges {
    ops: Vec<Entry>,
    sent: BTreeMap<u32, Sent>,
    /// By kind, group, phase and bytes: equal exchanges are one entry.
    known: BTreeMap<(Collective, Among, Option<u8>, u64, u64), u32>,
    wait: Option<[u32; 2]>,
    stream: u32,
    device: Option<String>,
}

impl Exchanges {
    fn new(workload: &Workload) -> Self {
        let ops = workload.ops.clone();
        let stream = 1 + ops.iter().filter_map(|entry| entry.stream).max().unwrap_or(0);
        let device = ops.iter().find_map(|entry| entry.device.clone());
        Self { ops, sent: BTreeMap::new(), known: BTreeMap::new(), wait: None, stream, device }
    }

    /// The entries until now.
    pub fn ops(&self) -> &[Entry] {
        &self.ops
    }

    fn add(&mut self, name: &str, op: Op, stream: Option<u32>, phase: Option<Phase>) -> u32 {
        let device = self.device.clone();
        self.ops.push(Entry { stream, device, phase, ..Entry::untimed(0, name, op, Dtype::F32) });
        (self.ops.len() - 1) as u32
    }

    /// Waits: of the stream of exchanges for the others, of the default stream for the others.
    fn waits(&mut self) -> [u32; 2] {
        if let Some(waits) = self.wait {
            return waits;
        }
        let name = "torch.cuda.Stream.wait_stream";
        let waits = [Some(self.stream), None].map(|stream| self.add(name, Op::StreamWait, stream, None));
        self.wait = Some(waits);
        waits
    }

    fn entry(&mut self, sent: Sent, phase: Option<Phase>) -> u32 {
        let key = (sent.kind, sent.among, phase.map(|phase| phase as u8), sent.bytes.to_bits(), sent.times.to_bits());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let name = match sent.kind {
            Collective::AllReduce => "c10d.allreduce_",
            Collective::AllGather => "c10d.allgather_",
            Collective::ReduceScatter => "c10d.reduce_scatter_",
            Collective::Broadcast => "c10d.broadcast_",
            Collective::AllToAll => "c10d.alltoall_",
            Collective::SendRecv => "c10d.send",
        };
        let op = Op::Collective { kind: sent.kind, bytes: sent.bytes.round() as u64, ranks: 2 };
        let new = self.add(name, op, Some(self.stream), phase);
        self.sent.insert(new, sent);
        self.known.insert(key, new);
        new
    }

    /// An exchange of what has been computed until now, beside what comes next.
    pub fn beside(&mut self, kind: Collective, bytes: f64, mut put: impl FnMut(u32)) {
        let [wait, _] = self.waits();
        put(wait);
        self.beside_now(kind, bytes, put);
    }

    /// An exchange that needs nothing of what was computed.
    pub fn beside_now(&mut self, kind: Collective, bytes: f64, mut put: impl FnMut(u32)) {
        put(self.entry(Sent { among: Among::Data, kind, bytes, times: 1.0 }, None));
    }

    /// What comes next needs all exchanges until now.
    pub fn join(&mut self, mut put: impl FnMut(u32)) {
        let [_, wait] = self.waits();
        put(wait);
    }

    /// An exchange between what comes before and what comes after.
    pub fn blocking(&mut self, kind: Collective, bytes: f64, mut put: impl FnMut(u32)) {
        self.beside(kind, bytes, &mut put);
        self.join(put);
    }
}

/// What one rank runs.
#[derive(Clone, Debug)]
pub struct Rank {
    /// Its part of every op, then its exchanges.
    pub workload: Workload,
    /// With the exchanges in it.
    pub order: Vec<Step>,
    /// Exchanges by entry.
    pub sent: BTreeMap<u32, Sent>,
    /// By entry of the program: what its device time and its host time are multiplied by.
    pub shares: Vec<[f64; 2]>,
    /// How the layers were divided.
    pub division: Division,
    /// The batch could not be divided: its shapes do not tell it.
    pub batch_unknown: bool,
    /// Exchanges within layers for each that one device's batch would have: rounds of a pipeline, of a part of the layers.
    rounds: f64,
}

/// The program of one rank. What is whole stays whole, and counts.
pub fn of(workload: &Workload, layout: &Layout, memory: &Memory) -> Rank {
    let steps = workload.steps();
    let mut out = Exchanges::new(workload);
    let batch = batch_of(workload);
    let by_data = if layout.scaling == Scaling::Strong { layout.data } else { 1 };
    let by_micro = layout.micro_batches.max(1);
    let mut resized = false;
    if let (Some(batch), true) = (&batch, by_data * by_micro > 1) {
        for entry in out.ops.iter_mut() {
            resized |= batch.scale(entry, 1.0 / (by_data * by_micro) as f64);
        }
    }
    let division = tensor::divide(&mut out.ops, &steps, layout.tensor);
    let mut after: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for insert in &division.inserts {
        let phase = out.ops[insert.after as usize].phase;
        let [before, behind] = out.waits();
        let sent = Sent { among: Among::Tensor, kind: insert.kind, bytes: insert.bytes, times: insert.times };
        let entry = out.entry(sent, phase);
        after.entry(insert.after).or_default().extend([before, entry, behind]);
    }
    let mut order = if after.is_empty() { steps.into_owned() } else { inserted(&steps, &after) };
    let trains = workload.ops.iter().any(|entry| entry.phase == Some(Phase::Backward));
    if layout.pipeline > 1 && trains {
        order = stages(&order, &mut out, layout, resized);
    }
    if layout.data > 1 && trains {
        let [parameters, gradients] = memory.weights(layout, &division);
        let copies = Copies { zero: layout.zero, parameters, gradients, overlap: layout.pipeline == 1 };
        order = buckets::exchange(&order, &mut out, &copies);
    }
    let shares = shares(&out.ops, layout, &division, resized);
    if let Some(counts) = order::counts(&order, out.ops.len()) {
        for (entry, count) in out.ops.iter_mut().zip(counts).skip(workload.ops.len()) {
            entry.count = count.max(1);
        }
    }
    let new = Workload {
        format: workload.format.clone(),
        program: workload.program.clone(),
        sites: workload.sites.clone(),
        ops: out.ops,
        unseen: workload.unseen.clone(),
        ..Workload::default()
    };
    let batch_unknown = by_data * by_micro > 1 && !resized;
    let rounds = (layout.micro_batches + layout.pipeline - 1) as f64 / layout.pipeline as f64;
    let rounds = if resized { rounds } else { rounds / layout.micro_batches as f64 };
    Rank { workload: new, order, sent: out.sent, shares, division, batch_unknown, rounds }
}

/// The hops between stages, after each backward pass of a step.
fn stages(order: &[Step], out: &mut Exchanges, layout: &Layout, resized: bool) -> Vec<Step> {
    let part = if resized { 1.0 } else { layout.micro_batches as f64 };
    let mut results: Vec<(f64, f64)> = Vec::new();
    for entry in out.ops.iter().filter(|entry| tensor::is_forward(entry) && tensor::weight(entry) > 0.0) {
        results.push((entry.written_bytes as f64 / part, entry.count as f64));
    }
    // Of results that follow a weight the median is what a stage hands on.
    results.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half: f64 = results.iter().map(|(_, runs)| runs).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = results.iter().find(|(_, runs)| {
        sum += runs;
        sum >= half
    });
    let bytes = middle.map_or(0.0, |(bytes, _)| *bytes);
    let rounds = layout.micro_batches as f64 + layout.pipeline as f64 - 1.0;
    let sent = Sent { among: Among::Pipeline, kind: Collective::SendRecv, bytes, times: 2.0 * rounds };
    let entry = out.entry(sent, Some(Phase::Backward));
    let [before, behind] = out.waits();
    let phases: Vec<Option<Phase>> = out.ops.iter().map(|entry| entry.phase).collect();
    after_backward(order, &phases, &[before, entry, behind], &mut None)
}

/// `these` at each change from the backward pass to another phase, and where a part of the order ends in one.
fn after_backward(steps: &[Step], phases: &[Option<Phase>], these: &[u32], last: &mut Option<Phase>) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len() + these.len());
    let put = |out: &mut Vec<Step>| out.extend(these.iter().map(|i| Step::Run(*i)));
    let has = |body: &[Step], of: &dyn Fn(Phase) -> bool| {
        order::counts(body, phases.len())
            .is_some_and(|counts| counts.iter().zip(phases).any(|(n, phase)| *n > 0 && phase.is_some_and(of)))
    };
    let mut open = false;
    for step in steps {
        match step {
            Step::Run(i) => {
                let phase = phases.get(*i as usize).copied().flatten();
                if open && phase.is_some_and(|phase| phase != Phase::Backward) {
                    put(&mut out);
                    open = false;
                }
                open |= phase == Some(Phase::Backward);
                *last = phase.or(*last);
                out.push(step.clone());
            }
            Step::Repeat(times, body) => {
                let backward = has(body, &|phase| phase == Phase::Backward);
                let others = has(body, &|phase| matches!(phase, Phase::Forward | Phase::Optimizer));
                if open && others {
                    put(&mut out);
                    open = false;
                }
                if backward && others {
                    out.push(Step::Repeat(*times, after_backward(body, phases, these, last)));
                } else {
                    open |= backward;
                    out.push(step.clone());
                }
            }
        }
    }
    if open {
        put(&mut out);
    }
    out
}

fn inserted(steps: &[Step], after: &BTreeMap<u32, Vec<u32>>) -> Vec<Step> {
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Run(i) => {
                out.push(step.clone());
                out.extend(after.get(i).into_iter().flatten().map(|new| Step::Run(*new)));
            }
            Step::Repeat(times, body) => out.push(Step::Repeat(*times, inserted(body, after))),
        }
    }
    out
}

/// Stages do their part of a step in rounds, and wait in some; a shared optimizer steps its part.
fn shares(ops: &[Entry], layout: &Layout, division: &Division, resized: bool) -> Vec<[f64; 2]> {
    let (stages, parts) = (layout.pipeline as f64, layout.micro_batches as f64);
    let rounds = parts + stages - 1.0;
    let device = rounds / stages / if resized { 1.0 } else { parts };
    let weights = 1.0 - division.of_weights + division.of_weights / layout.tensor as f64;
    let copies = if layout.zero == super::Zero::Ddp { 1.0 } else { layout.data as f64 };
    // A batch whose shapes are not told is taken to be divided evenly.
    let alone = if layout.scaling == Scaling::Strong && !resized { layout.data as f64 } else { 1.0 };
    let of = |entry: &Entry| match (entry.phase, &entry.op) {
        (_, Op::Collective { .. }) => [1.0, 1.0],
        (Some(Phase::Optimizer), _) => [weights / copies / stages, 1.0 / stages],
        (Some(Phase::Forward | Phase::Backward), _) => [device / alone, rounds / stages],
        _ => [1.0, 1.0],
    };
    ops.iter().map(of).collect()
}

impl Rank {
    /// What one run of each exchange takes, by the group it is among.
    pub fn exchanges(&self, group: impl Fn(Among) -> Group) -> BTreeMap<u32, Exchange> {
        let one = |sent: &Sent| {
            let once = exchange(sent.kind, sent.bytes, &group(sent.among));
            let times = sent.times * if sent.among == Among::Tensor { self.rounds } else { 1.0 };
            Exchange { seconds: once.seconds * times, sent: once.sent * times, ..once }
        };
        self.sent.iter().map(|(i, sent)| (*i, one(sent))).collect()
    }

    /// The plan of the rank, its exchanges `slower` times as long as expected.
    pub fn lay(&self, plan: &mut Plan, exchanges: &BTreeMap<u32, Exchange>, slower: f64) {
        for ((task, entry), [device, host]) in plan.tasks.iter_mut().zip(&mut plan.entries).zip(&self.shares) {
            task.device *= device;
            entry.device *= device;
            task.gap *= host;
            task.dispatch *= host;
        }
        // The last task is the time outside all ops.
        let last = plan.tasks.iter().map(|task| task.stream).max().unwrap_or(0).max(1);
        for (i, exchange) in exchanges {
            if let Some(task) = plan.tasks.get_mut(*i as usize) {
                *task = Task {
                    dispatch: dispatch(),
                    upload: exchange.seconds * slower,
                    asynchronous: true,
                    stream: if task.stream > 0 { task.stream } else { last.min(STREAMS as u8 - 1) },
                    ..Task::NONE
                };
            }
        }
    }
}
