//! Deadlines that nothing allowed can hold: which, by how much, and what would.

use crate::plan::Plan;
use crate::pool::Pool;
use crate::problem::{At, Problem, Service, Why};
use crate::table::Table;
use breakeven::report::words::{number, seconds};
use serde::Serialize;

/// A workload that nothing allowed can serve in time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unmet {
    /// The workload.
    pub workload: String,
    /// What it asks for, s.
    pub deadline_s: f64,
    /// The shortest time from submission to result that an offer allows, in nine of ten cases, s; `None` where it
    /// can run
    /// nowhere.
    pub at_best_s: Option<f64>,
    /// Where that is.
    pub gpu: Option<String>,
    /// By how much it is late, s.
    pub late_s: Option<f64>,
    /// Why, where it can run nowhere.
    pub why: Option<String>,
    /// What would do.
    pub would: Vec<String>,
}

impl Problem<'_> {
    /// The shortest time that a pool allows for a workload, s.
    ///
    /// # Errors
    /// Where it cannot run there.
    pub fn shortest(&self, work: usize, pool: &Pool) -> Result<f64, Why> {
        let service: Service = self.service(work, pool, At::P50)?;
        Ok(if pool.way.stays_on() { service.slow } else { service.slow + pool.boot_s })
    }

    /// Whether a pool can hold the deadline of a workload that has it to itself.
    fn serves(&self, work: usize, pool: &Pool) -> bool {
        let Ok(service) = self.service(work, pool, At::P50) else { return false };
        let mut share = vec![0.0; self.plan.works.len()];
        share[work] = 1.0;
        let kept = || self.phases.iter().all(|phase| self.kept(pool, &[(work, service)], &share, phase).is_ok());
        pool.way.by_the_hour() && self.batches(pool, work, &service).is_ok() || pool.way.stays_on() && kept()
    }

    /// The workloads that no pool can serve in time; they are no longer planned for.
    pub fn leave_out_unmet(&mut self) -> Vec<Unmet> {
        let mut unmet = Vec::new();
        for work in 0..self.plan.works.len() {
            if !self.pools.iter().any(|pool| self.serves(work, pool)) {
                unmet.push(self.unmet(work));
                self.active[work] = false;
            }
        }
        unmet
    }

    fn unmet(&self, work: usize) -> Unmet {
        let w = &self.plan.works[work];
        let times = self.pools.iter().filter_map(|pool| Some((self.shortest(work, pool).ok()?, pool)));
        let best = times.filter(|(time, _)| time.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
        let name = |device: usize| self.table.devices[device].name.clone();
        let mut would = Vec::new();
        if let Some((time, pool)) = &best {
            would.push(format!("a {} of {}", if w.latency { "latency" } else { "deadline" }, longer(*time)));
            let faster = time / w.deadline_s;
            would.push(format!("a program {} × as fast on {}", number(faster * 1.005), name(pool.device)));
        }
        if let Some(other) = self.another(work) {
            would.push(other);
        }
        if !w.interruptible && self.pools.iter().all(|pool| pool.way.is_interrupted()) {
            would.push("runs that may be interrupted (`interruptible = true`)".to_owned());
        }
        Unmet {
            workload: w.name.clone(),
            deadline_s: w.deadline_s,
            at_best_s: best.as_ref().map(|b| b.0),
            gpu: best.as_ref().map(|b| name(b.1.device)),
            late_s: best.as_ref().map(|b| (b.0 - w.deadline_s).max(0.0)),
            why: best.is_none().then(|| lacks(self.table, work)),
            would,
        }
    }

    /// A GPU of the catalogue that would do and is not allowed, or has no price.
    fn another(&self, work: usize) -> Option<String> {
        let w = &self.plan.works[work];
        let moved = w.storage_b / self.plan.rates.storage_bps + w.network_b / self.plan.rates.network_bps;
        let cells = self.table.cells[work].iter().enumerate().skip(1);
        let fast = cells.filter_map(|(device, cell)| Some((device, cell.as_ref().ok()?.time.p90 + moved)));
        let fast = fast
            .filter(|(device, time)| *time <= w.deadline_s && !self.pools.iter().any(|pool| pool.device == *device));
        let (device, time) = fast.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let device = &self.table.devices[device];
        Some(format!("{} ({}; it takes {})", device.name, not_offered(self.plan, &device.id), seconds(time)))
    }
}

fn not_offered(plan: &Plan, gpu: &str) -> &'static str {
    if plan.allows(gpu) { "no price that the plan allows is known" } else { "the plan does not allow it" }
}

/// A duration that is at least so long when it is printed and typed again.
fn longer(time: f64) -> String {
    let (unit, name) = match time {
        t if t < 120.0 => (1.0, "s"),
        t if t < 7200.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    format!("{} {name}", libm::ceil(time / unit * 10.0 * (1.0 + 1e-9)) / 10.0)
}

/// Why a workload can run nowhere: each reason with the devices it is of.
pub(crate) fn lacks(table: &Table, work: usize) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (device, cell) in table.devices.iter().zip(&table.cells[work]) {
        let Err(lack) = cell else { continue };
        let words = lack.words();
        match reasons.iter_mut().find(|(known, _)| *known == words) {
            Some((_, devices)) => devices.push(&device.name),
            None => reasons.push((words, vec![&device.name])),
        }
    }
    if reasons.is_empty() {
        return "no offer that the plan allows is known".to_owned();
    }
    reasons.sort_by_key(|(_, devices)| std::cmp::Reverse(devices.len()));
    let told = reasons.iter().take(3).map(|(words, devices)| {
        if devices.len() > 3 {
            format!("{} devices: {words}", devices.len())
        } else {
            format!("{}: {words}", devices.join(", "))
        }
    });
    told.collect::<Vec<_>>().join("; ")
}
