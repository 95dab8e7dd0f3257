//! Random numbers: computed in registers, written once. Integer multiplications of Philox run on the ordinary cores at
//! half their rate. A permutation sorts random keys.

use super::cost::{Cost, Job};
use super::machine::Machine;
use super::{gather, sort};
use crate::workload::{Dtype, op::Random, op::Sort};

pub(super) fn cost(machine: &Machine<'_>, job: &Job, kind: Random, n: f64) -> Cost {
    let compute = 2.0 * machine.arithmetic(job.flop, Dtype::F32);
    let at_peak = job.flop / machine.vector_peak(Dtype::F32);
    let memory = machine.traffic(job.bytes, job.bytes, 1.0);
    let own = Cost { at_peak, ..Cost::of(job, compute, memory) };
    match kind {
        Random::Permutation => {
            let sort = sort::cost(machine, job, Sort::Argsort, 1.0, n);
            Cost { memory: own.memory + sort.memory, launches: own.launches + sort.launches, ..own }
        }
        Random::Choice => {
            let s = job.dtype.bytes() as f64;
            Cost { memory: own.memory + gather::random(machine, n, n * s, s), launches: 2.0, ..own }
        }
        Random::Uniform | Random::Normal | Random::Exponential | Random::Gamma | Random::Integers => own,
    }
}
