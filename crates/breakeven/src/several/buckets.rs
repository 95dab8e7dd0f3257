//! What copies of a network exchange, put into the order where PyTorch starts it: gradients in buckets beside the backward
//! pass, shards of parameters a unit ahead of the layers that need them.

use super::Zero;
use super::rank::Exchanges;
use super::tensor::{is_forward, weight};
use crate::workload::op::{Collective, Pass};
use crate::workload::{Entry, Op, Phase, Step, order};

/// Gradients that go together: `bucket_cap_mb=25` of `DistributedDataParallel`, bytes.
const BUCKET: f64 = 25.0 * 1024.0 * 1024.0;
/// The first bucket, so that the exchange begins early: `dist._DEFAULT_FIRST_BUCKET_BYTES`.
const FIRST: f64 = 1024.0 * 1024.0;
/// A part of the order with more runs is not unrolled: its gradients go together at its end.
const MOST: usize = 200_000;

/// What is exchanged.
pub struct Copies {
    /// What the ranks share.
    pub zero: Zero,
    /// Parameters of one rank, bytes.
    pub parameters: f64,
    /// Gradients of one rank, bytes.
    pub gradients: f64,
    /// Whether the backward pass goes on beside the exchange.
    pub overlap: bool,
}

/// Bytes of the gradient of a weight that a backward entry writes, 0 where it writes none.
fn gradient(entry: &Entry, weights: &[[u64; 2]]) -> f64 {
    if entry.phase != Some(Phase::Backward) {
        return 0.0;
    }
    match &entry.op {
        Op::Matmul { m, n, batch: 1, .. } => {
            let own = [(*m).min(*n), (*m).max(*n)];
            if weights.contains(&own) { own[0] as f64 * own[1] as f64 * entry.dtype.bytes() as f64 } else { 0.0 }
        }
        Op::Convolution { pass: Pass::BackwardWeight | Pass::Backward, .. } | Op::Embedding { .. } => weight(entry),
        _ => 0.0,
    }
}

/// The order with the exchanges of copies in it.
pub fn exchange(steps: &[Step], out: &mut Exchanges, copies: &Copies) -> Vec<Step> {
    let mut weights: Vec<[u64; 2]> = out
        .ops()
        .iter()
        .filter(|entry| is_forward(entry))
        .filter_map(|entry| match entry.op {
            Op::Matmul { n, k, batch: 1, .. } => Some([n.min(k), n.max(k)]),
            _ => None,
        })
        .collect();
    weights.sort_unstable();
    weights.dedup();
    let gradients = out.ops().iter().map(|entry| gradient(entry, &weights)).collect();
    Pass1 { gradients, copies }.steps(steps, out)
}

struct Pass1<'a> {
    gradients: Vec<f64>,
    copies: &'a Copies,
}

impl Pass1<'_> {
    fn has(&self, steps: &[Step], ops: &[Entry], of: &dyn Fn(&Entry) -> bool) -> bool {
        steps.iter().any(|step| match step {
            Step::Run(i) => ops.get(*i as usize).is_some_and(of),
            Step::Repeat(_, body) => self.has(body, ops, of),
        })
    }

    /// Steps of training that repeat are changed inside; what is between them is unrolled.
    fn steps(&self, steps: &[Step], out: &mut Exchanges) -> Vec<Step> {
        let mut done = Vec::new();
        let mut between = Vec::new();
        for step in steps {
            if let Step::Repeat(times, body) = step
                && self.has(body, out.ops(), &|entry| entry.phase == Some(Phase::Backward))
                && self.has(body, out.ops(), &|e| matches!(e.phase, Some(Phase::Forward | Phase::Optimizer)))
            {
                done.extend(self.unrolled(&std::mem::take(&mut between), out));
                done.push(Step::Repeat(*times, self.steps(body, out)));
            } else {
                between.push(step.clone());
            }
        }
        done.extend(self.unrolled(&between, out));
        done
    }

    fn unrolled(&self, steps: &[Step], out: &mut Exchanges) -> Vec<Step> {
        let is_backward = |entry: &Entry| entry.phase == Some(Phase::Backward);
        if !self.has(steps, out.ops(), &is_backward) {
            return steps.to_vec();
        }
        let runs: Vec<u32> = order::expand(steps).take(MOST + 1).collect();
        let copies = self.copies;
        if runs.len() > MOST {
            let mut done = steps.to_vec();
            let kind = if copies.zero == Zero::Ddp { Collective::AllReduce } else { Collective::ReduceScatter };
            out.blocking(kind, copies.gradients, |i| done.push(Step::Run(i)));
            return done;
        }
        self.step(&runs, out)
    }

    /// Runs of one or more steps, one by one.
    fn step(&self, runs: &[u32], out: &mut Exchanges) -> Vec<Step> {
        let copies = self.copies;
        let phase = |out: &Exchanges, i: u32| out.ops().get(i as usize).and_then(|entry| entry.phase);
        // Exchanges among tensor-parallel ranks have the phase of what they are of.
        let phases: Vec<Option<Phase>> = runs.iter().map(|i| phase(out, *i)).collect();
        let mut episodes = 0;
        let mut before = None;
        for now in phases.iter().flatten() {
            episodes += u32::from(*now == Phase::Backward && before != Some(Phase::Backward));
            before = Some(*now);
        }
        let all: f64 = runs.iter().map(|i| self.gradients.get(*i as usize).copied().unwrap_or(0.0)).sum();
        let scale = if all > 0.0 { copies.gradients * f64::from(episodes.max(1)) / all } else { 0.0 };
        let kind = if copies.zero == Zero::Ddp { Collective::AllReduce } else { Collective::ReduceScatter };
        let units = if copies.zero == Zero::Zero3 { self.units(runs, &phases, out) } else { Vec::new() };
        let mut units = units.into_iter().peekable();
        let mut done = Vec::with_capacity(runs.len() + 64);
        let (mut pending, mut sent, mut trained) = (0.0, 0.0, false);
        let mut ahead = true;
        let flush = |sent: f64, out: &mut Exchanges, done: &mut Vec<Step>| {
            let left = (copies.gradients - sent).max(0.0);
            if left > 0.0 {
                out.beside(kind, left, |i| done.push(Step::Run(i)));
            }
            // The optimizer needs all of them.
            out.join(|i| done.push(Step::Run(i)));
        };
        for (at, (i, phase)) in runs.iter().zip(&phases).enumerate() {
            if sent + pending > 0.0 && phase.is_some_and(|phase| phase != Phase::Backward) {
                flush(sent, out, &mut done);
                (pending, sent) = (0.0, 0.0);
            }
            if trained && matches!(phase, Some(Phase::Forward)) {
                self.gathered(out, &mut done);
                trained = false;
            }
            trained |= *phase == Some(Phase::Optimizer);
            if let Some((_, bytes)) = units.next_if(|(start, _)| *start == at) {
                // The unit that begins was asked for while the one before was at work; the first of all is waited for.
                if ahead {
                    out.beside_now(Collective::AllGather, bytes, |i| done.push(Step::Run(i)));
                    ahead = false;
                }
                out.join(|i| done.push(Step::Run(i)));
                if let Some((_, next)) = units.peek() {
                    out.beside_now(Collective::AllGather, *next, |i| done.push(Step::Run(i)));
                }
            }
            done.push(Step::Run(*i));
            let own = self.gradients.get(*i as usize).copied().unwrap_or(0.0) * scale;
            // A whole backward pass without a weight that is known: everything goes at its end.
            pending += if *phase == Some(Phase::Backward) { own.max(f64::MIN_POSITIVE) } else { 0.0 };
            while copies.overlap && pending >= if sent == 0.0 { FIRST } else { BUCKET } {
                let bytes = if sent == 0.0 && pending < BUCKET { pending } else { pending.min(BUCKET) };
                out.beside(kind, bytes, |i| done.push(Step::Run(i)));
                (pending, sent) = (pending - bytes, sent + bytes);
            }
        }
        if sent + pending > 0.0 {
            flush(sent, out, &mut done);
        }
        if trained {
            self.gathered(out, &mut done);
        }
        done
    }

    /// Parameters that ranks have stepped for each other, where they keep all of them.
    fn gathered(&self, out: &mut Exchanges, done: &mut Vec<Step>) {
        if matches!(self.copies.zero, Zero::Zero1 | Zero::Zero2) {
            out.blocking(Collective::AllGather, self.copies.parameters, |i| done.push(Step::Run(i)));
        }
    }

    /// Where units of layers begin, forward and backward, and the bytes that each needs gathered.
    fn units(&self, runs: &[u32], phases: &[Option<Phase>], out: &Exchanges) -> Vec<(usize, f64)> {
        let need = |i: &u32, phase: &Option<Phase>| match phase {
            Some(Phase::Forward) => out.ops().get(*i as usize).map_or(0.0, weight),
            Some(Phase::Backward) => self.gradients.get(*i as usize).copied().unwrap_or(0.0),
            _ => 0.0,
        };
        let of = |wanted| {
            let all = runs.iter().zip(phases).filter(|(_, phase)| **phase == Some(wanted));
            all.map(|(i, phase)| need(i, phase)).sum::<f64>()
        };
        let totals = [of(Phase::Forward), of(Phase::Backward)];
        let mut units: Vec<(usize, f64)> = Vec::new();
        let mut last = None;
        for (at, (i, phase)) in runs.iter().zip(phases).enumerate() {
            let total = totals[usize::from(*phase == Some(Phase::Backward))];
            let bytes = if total > 0.0 { need(i, phase) * self.copies.parameters / total } else { 0.0 };
            if bytes <= 0.0 {
                continue;
            }
            match units.last_mut().filter(|(_, unit)| *unit < BUCKET && last == *phase) {
                Some((_, unit)) => *unit += bytes,
                None => units.push((at, bytes)),
            }
            last = *phase;
        }
        units
    }
}
