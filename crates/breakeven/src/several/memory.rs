//! What one rank holds: parameters, gradients, states of the optimizer, activations, by what the layout divides.

use super::tensor::{Division, is_forward, weight};
use super::{Layout, Schedule, Zero};
use crate::workload::{Phase, Workload};
use std::collections::BTreeMap;

const PARAMETER: &str = "parameter";
const GRADIENT: &str = "gradient";
const STATE: &str = "optimizer state";
const ACTIVATION: &str = "activation";
/// Gradients and parameters on their way.
const BUCKETS: &str = "exchange";
/// Units of parameters that `FullyShardedDataParallel` has gathered at a time: one at work, one ahead.
const GATHERED: f64 = 2.0;
/// The smallest such unit, bytes, as `buckets` forms them.
const UNIT: f64 = 25.0 * 1024.0 * 1024.0;

/// Memory of the program on one device, bytes by role.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    roles: BTreeMap<String, f64>,
    parameters: f64,
    trains: bool,
}

impl Memory {
    /// That of a program, as far as it was recorded what its memory is for.
    pub fn of(workload: &Workload) -> Self {
        let roles: BTreeMap<String, f64> =
            workload.program.peak_roles.iter().map(|(role, bytes)| (role.clone(), *bytes as f64)).collect();
        let trains = workload.ops.iter().any(|entry| entry.phase == Some(Phase::Backward));
        let parameters = roles.get(PARAMETER).copied().unwrap_or_else(|| {
            // Weights outside loops of layers run once a step: the rarest tells the steps.
            let weighted = workload.ops.iter().filter(|entry| is_forward(entry) && weight(entry) > 0.0);
            let steps = weighted.clone().map(|entry| entry.count.max(1)).min().unwrap_or(1) as f64;
            weighted.map(|entry| weight(entry) * entry.count as f64 / steps).sum()
        });
        Self { roles, parameters, trains }
    }

    /// Whether it was recorded.
    pub fn is_known(&self) -> bool {
        !self.roles.is_empty()
    }

    /// Parameters and gradients of one copy's rank, bytes.
    pub fn weights(&self, layout: &Layout, division: &Division) -> [f64; 2] {
        let part = part(layout, division);
        // A gradient is as large as its parameter; at the peak some may not be there yet, or no longer.
        let gradients = self.roles.get(GRADIENT).copied().unwrap_or(0.0).max(self.parameters);
        [self.parameters * part, gradients * part]
    }

    /// Bytes of one rank by role; `None` where the program's are not known.
    pub fn of_rank(&self, layout: &Layout, division: &Division, batch_shared: bool) -> Option<BTreeMap<String, f64>> {
        if !self.is_known() {
            return None;
        }
        let [parameters, gradients] = self.weights(layout, division);
        let weights = part(layout, division);
        let copies = layout.data as f64;
        let sharded = |from: Zero| if self.trains && layout.zero >= from { 1.0 / copies } else { 1.0 };
        let in_flight = match layout.schedule {
            Schedule::Gpipe => 1.0,
            Schedule::OneForwardOneBackward => (layout.pipeline as f64 / layout.micro_batches.max(1) as f64).min(1.0),
        };
        let divided = 1.0 - division.of_results + division.of_results / layout.tensor as f64;
        let batch = if batch_shared { 1.0 / copies } else { 1.0 };
        let others = batch * divided * in_flight / layout.pipeline as f64;
        let mut out = BTreeMap::new();
        for (role, bytes) in &self.roles {
            let share = match role.as_str() {
                PARAMETER => weights * sharded(Zero::Zero3),
                GRADIENT => weights * sharded(Zero::Zero2),
                STATE => weights * sharded(Zero::Zero1),
                ACTIVATION => others,
                // Temporaries and input are of one op at a time.
                _ => batch,
            };
            out.insert(role.clone(), bytes * share);
        }
        if layout.data > 1 && self.trains {
            let unit = (GATHERED * UNIT).min(parameters * (1.0 - 1.0 / copies));
            let bytes = match layout.zero {
                // Buckets are copies of the gradients, unless `gradient_as_bucket_view=True`.
                Zero::Ddp | Zero::Zero1 => gradients,
                Zero::Zero2 => UNIT.min(gradients * (1.0 - 1.0 / copies)),
                Zero::Zero3 => unit,
            };
            out.insert(BUCKETS.to_owned(), bytes);
        }
        Some(out)
    }
}

/// Share of the weights that one copy's rank has.
fn part(layout: &Layout, division: &Division) -> f64 {
    let tensor = 1.0 - division.of_weights + division.of_weights / layout.tensor as f64;
    tensor / layout.pipeline as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn memory(roles: &[(&str, u64)]) -> Memory {
        let mut workload = crate::workload::samples::heat();
        workload.ops[0].phase = Some(Phase::Backward);
        workload.program.peak_roles = roles.iter().map(|(role, bytes)| ((*role).to_owned(), *bytes)).collect();
        Memory::of(&workload)
    }

    #[test]
    fn four_copies_by_hand() {
        let (p, mb) = (1_000_000_000, 1024.0 * 1024.0);
        let m = memory(&[("parameter", p), ("gradient", p), ("optimizer state", 2 * p), ("activation", p)]);
        let of = |zero| {
            let layout = Layout { data: 4, zero, ..Layout::one() };
            m.of_rank(&layout, &Division::default(), false).unwrap().values().sum::<f64>()
        };
        assert_eq!(of(Zero::Ddp), 6e9);
        assert_eq!(of(Zero::Zero1), 4.5e9);
        assert_eq!(of(Zero::Zero2), 2.75e9 + 25.0 * mb);
        assert_eq!(of(Zero::Zero3), 2e9 + 50.0 * mb);
    }

    proptest! {
        #[test]
        fn memory_never_grows_with_the_stage(p in 1..1u64 << 40, g in 1..1u64 << 40, s in 0..1u64 << 40, a in 0..1u64 << 40, data in 2..1024u64) {
            let m = memory(&[("parameter", p), ("gradient", g), ("optimizer state", s), ("activation", a)]);
            let of = |zero| {
                let layout = Layout { data, zero, ..Layout::one() };
                m.of_rank(&layout, &Division::default(), false).unwrap().values().sum::<f64>()
            };
            let stages = [Zero::Ddp, Zero::Zero1, Zero::Zero2, Zero::Zero3].map(of);
            prop_assert!(stages.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)), "{stages:?}");
        }
    }
}
