//! What is to be sized: runs by phase of the horizon, and what a run takes in each pool.

use crate::plan::{HOURS, Plan, Work};
use crate::pool::Pool;
use crate::queue::interrupted;
use crate::table::{Lack, Table};
use breakeven::interval::Interval;

/// Months of a phase, where runs grow: machines that are rented are counted anew in each.
const PHASE: u32 = 12;

/// Which percentile of times and prices is computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// All that is uncertain is small.
    P10,
    /// The middle.
    P50,
    /// All that is uncertain is large.
    P90,
}

impl At {
    /// That percentile.
    pub fn of(self, i: Interval) -> f64 {
        match self {
            Self::P10 => i.p10,
            Self::P50 => i.p50,
            Self::P90 => i.p90,
        }
    }
}

/// A part of the horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// How long it is.
    pub months: f64,
    /// Runs a month of each workload, the mean.
    pub mean: Vec<f64>,
    /// The same in the month that has most.
    pub peak: Vec<f64>,
}

/// Everything that a plan is drawn up from.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Times.
    pub table: &'a Table,
    /// Offers.
    pub pools: &'a [Pool],
    /// Parts of the horizon, in order.
    pub phases: Vec<Phase>,
    /// Whether a workload is planned for: those that no offer can serve are left out, and told.
    pub active: Vec<bool>,
    /// Whether the last phase ends the horizon: terms that outlast it are paid then.
    pub ends: bool,
}

/// A run of a workload in a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// For how long it holds a device, s.
    pub seconds: f64,
    /// The same in one of ten cases, s: deadlines are checked with it.
    pub slow: f64,
    /// The part of it that is storage and network, s.
    pub data: [f64; 2],
    /// Energy, Wh, without the building's; `None` where it is not known.
    pub energy_wh: Option<f64>,
}

/// Why a workload cannot be served by a pool.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// It cannot run there.
    Lacks(Lack),
    /// It may not be interrupted.
    Interrupted,
    /// It takes that long, s, from submission to result, at least.
    Late(f64),
}

impl<'a> Problem<'a> {
    /// All workloads of a plan.
    pub fn new(plan: &'a Plan, table: &'a Table, pools: &'a [Pool]) -> Self {
        let grows = plan.works.iter().any(|w| w.growth != 0.0);
        let length = if grows { PHASE } else { plan.months };
        let starts = (0..plan.months).step_by(length as usize);
        let phases = starts.map(|from| phase(&plan.works, from, (from + length).min(plan.months))).collect();
        Self { plan, table, pools, phases, active: vec![true; plan.works.len()], ends: true }
    }

    /// The same with another plan that has the same workloads: for questions of what if.
    pub fn with<'b>(&'b self, plan: &'b Plan) -> Problem<'b> {
        let fresh = Problem::new(plan, self.table, self.pools);
        Problem { active: self.active.clone(), ..fresh }
    }

    /// One phase alone, as part of a longer horizon.
    pub(crate) fn alone(&self, phase: usize) -> Self {
        Self { phases: vec![self.phases[phase].clone()], ends: false, ..self.clone() }
    }

    /// Workloads that are planned for, by their place.
    pub fn works(&self) -> impl Iterator<Item = (usize, &'a Work)> + '_ {
        self.plan.works.iter().enumerate().filter(|(n, _)| self.active[*n])
    }

    /// What a run of workload `work` takes in a pool.
    ///
    /// # Errors
    /// Where it cannot run there at all; deadlines are another matter.
    pub fn service(&self, work: usize, pool: &Pool, at: At) -> Result<Service, Why> {
        let w = &self.plan.works[work];
        let cell = self.table.cells[work][pool.device].as_ref().map_err(|lack| Why::Lacks(lack.clone()))?;
        if pool.way.is_interrupted() && !w.interruptible {
            return Err(Why::Interrupted);
        }
        let rates = &self.plan.rates;
        let factor = if pool.device == 0 { 1.0 } else { rates.time_factor };
        let data = [w.storage_b / rates.storage_bps, w.network_b / rates.network_bps];
        let moved = data[0] + data[1];
        let whole = |run: f64| {
            let work = run * factor + moved;
            if !pool.way.is_interrupted() {
                return work;
            }
            let piece = w.checkpoint_s.unwrap_or(work);
            interrupted(work, piece, rates.interruptions_per_h / 3600.0, rates.restart_s)
        };
        let seconds = whole(at.of(cell.time));
        let restart = if pool.way.is_interrupted() { rates.restart_s } else { 0.0 };
        let slow = whole(cell.time.p90) + restart;
        let device = &self.table.devices[pool.device];
        let redone = seconds / (at.of(cell.time) * factor + moved);
        let energy = cell.energy_wh.or(device.busy_w.map(|w| cell.time.scale(w / 3600.0)));
        let energy_wh = energy.map(|e| (at.of(e) * factor + device.idle_w.unwrap_or(0.0) * moved / 3600.0) * redone);
        Ok(Service { seconds, slow: slow.max(seconds), data, energy_wh })
    }

    /// Services of all workloads that are planned for, in their order.
    ///
    /// # Errors
    /// The first workload that cannot be served.
    pub fn services(&self, pool: &Pool, at: At) -> Result<Vec<(usize, Service)>, (usize, Why)> {
        self.works().map(|(n, _)| self.service(n, pool, at).map(|s| (n, s)).map_err(|why| (n, why))).collect()
    }
}

/// Runs of the months `from` to `to`.
fn phase(works: &[Work], from: u32, to: u32) -> Phase {
    let runs = |w: &Work, month: u32| w.runs * libm::pow(1.0 + w.growth, f64::from(month));
    let months = f64::from(to - from);
    let mean = works.iter().map(|w| (from..to).map(|m| runs(w, m)).sum::<f64>() / months).collect();
    let peak = works.iter().map(|w| (from..to).map(|m| runs(w, m)).fold(0.0, f64::max)).collect();
    Phase { months, mean, peak }
}

/// Runs a month as runs a second.
pub(crate) fn per_second(runs: f64) -> f64 {
    runs / (HOURS * 3600.0)
}
