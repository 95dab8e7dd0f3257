//! How many machines a pool needs: those that stay on, and those that are rented for a batch and given back.

use crate::pool::Pool;
use crate::problem::{Phase, Problem, Service, Why, per_second};
use crate::queue::{Wait, wait};

/// More devices of one kind are not planned for.
const MOST: f64 = 1e6;

/// Machines that stay on in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kept {
    /// What is rented or bought as one.
    pub units: f64,
    /// Their utilisation in the month with most runs.
    pub busy: f64,
    /// How long runs wait then.
    pub wait: Wait,
    /// Whether a deadline asks for more than the load does.
    pub by_deadline: bool,
}

/// A workload that is run in batches on machines rented for it, in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Session {
    /// Machines at a time.
    pub machines: f64,
    /// Batches a month.
    pub starts: f64,
    /// Hours of machines that are charged, a month.
    pub charged_h: f64,
    /// Hours of machines that are on, a month.
    pub on_h: f64,
    /// Mean time from submission to start of a run, s.
    pub wait_s: f64,
    /// Whether a deadline asks for more than one machine.
    pub by_deadline: bool,
}

/// Traffic of workloads, of each a share, on one pool.
pub(crate) struct Load {
    /// Devices that are busy at a time.
    pub(crate) busy: f64,
    /// Mean time of a run, s.
    service: f64,
    /// Squared coefficients of variation of arrivals and run times.
    arrivals: f64,
    spread: f64,
}

impl Load {
    pub(crate) fn of(runs: impl Iterator<Item = (f64, f64, f64)>) -> Self {
        let (mut rate, mut busy, mut square, mut batches) = (0.0, 0.0, 0.0, 0.0);
        for (per_second, seconds, at_once) in runs {
            rate += per_second;
            busy += per_second * seconds;
            square += per_second * seconds * seconds;
            batches += per_second * at_once;
        }
        if rate <= 0.0 {
            return Self { busy: 0.0, service: 0.0, arrivals: 1.0, spread: 0.0 };
        }
        let service = busy / rate;
        let spread = (square / rate / (service * service) - 1.0).max(0.0);
        Self { busy, service, arrivals: batches / rate, spread }
    }

    /// The wait on that many devices.
    pub(crate) fn wait(&self, devices: f64) -> Wait {
        wait(devices, self.busy / devices, self.service, self.arrivals, self.spread)
    }
}

impl Problem<'_> {
    /// From submission to result on devices that stay on: the wait, the others of the same batch, and a slow run.
    pub(crate) fn turnaround(&self, work: usize, service: &Service, devices: f64, wait: Wait) -> f64 {
        let w = &self.plan.works[work];
        let waited = if w.latency { wait.p95 } else { wait.mean };
        waited + (w.at_once - 1.0) * service.seconds / devices + service.slow
    }

    /// The fewest units that hold every deadline in the busiest month, with `share` of the runs of each workload.
    ///
    /// # Errors
    /// The first workload that is late on any number of devices, and by how much.
    pub fn kept(
        &self,
        pool: &Pool,
        services: &[(usize, Service)],
        share: &[f64],
        phase: &Phase,
    ) -> Result<Kept, (usize, Why)> {
        let runs =
            |&(n, s): &(usize, Service)| (per_second(phase.peak[n]) * share[n], s.seconds, self.plan.works[n].at_once);
        let load = Load::of(services.iter().map(runs));
        let here = || services.iter().filter(|(n, _)| share[*n] > 0.0);
        if let Some((n, s)) = here().find(|(n, s)| s.slow > self.plan.works[*n].deadline_s) {
            return Err((*n, Why::Late(s.slow)));
        }
        let holds = |units: f64| {
            let devices = units * pool.slots;
            let waited = load.wait(devices);
            here().all(|(n, s)| self.turnaround(*n, s, devices, waited) <= self.plan.works[*n].deadline_s)
        };
        let least = libm::ceil(load.busy / self.plan.rates.utilisation / pool.slots - 1e-9).max(1.0);
        let mut units = least;
        if !holds(units) {
            let mut low = units;
            while !holds(units) {
                low = units;
                units *= 2.0;
                if units > MOST {
                    let (n, s) = here().next().map_or((0, None), |(n, s)| (*n, Some(s)));
                    return Err((n, Why::Late(s.map_or(0.0, |s| s.slow))));
                }
            }
            while units - low > 1.0 {
                let middle = libm::floor((low + units) / 2.0);
                if holds(middle) {
                    units = middle;
                } else {
                    low = middle;
                }
            }
        }
        let devices = units * pool.slots;
        Ok(Kept { units, busy: load.busy / devices, wait: load.wait(devices), by_deadline: units > least })
    }

    /// A workload in batches: a machine is started for each, or works off what has come in half the deadline, whichever
    /// costs less.
    ///
    /// # Errors
    /// A run that is late even alone on a machine started for it.
    pub fn session(&self, pool: &Pool, work: usize, service: &Service, phase: &Phase) -> Result<Session, Why> {
        let w = &self.plan.works[work];
        let shortest = pool.boot_s + service.slow;
        if shortest > w.deadline_s {
            return Err(Why::Late(shortest));
        }
        let at_once = self.batch(pool, service, phase.mean[work], [w.at_once; 2], w.deadline_s, 0.0);
        let half = w.deadline_s / 2.0;
        if shortest > half || w.latency {
            return Ok(at_once);
        }
        let gathered = |runs: f64| (per_second(runs) * half).max(w.at_once);
        let each = [gathered(phase.mean[work]), gathered(phase.peak[work])];
        let together = self.batch(pool, service, phase.mean[work], each, half, half);
        Ok(if together.charged_h < at_once.charged_h { together } else { at_once })
    }

    /// Batches of `each` runs, in the mean and in the busiest month, that are ready `within` seconds of their start. A
    /// list of runs on m devices is ready after at most (n − 1)/m · s and one slow run (Graham, 1969).
    fn batch(&self, pool: &Pool, service: &Service, runs: f64, each: [f64; 2], within: f64, window: f64) -> Session {
        let room = within - pool.boot_s - service.slow;
        let [mean, peak] = each;
        let all = libm::ceil(peak - 1e-9).max(1.0);
        let asked = if peak <= 1.0 { 1.0 } else { libm::ceil((peak - 1.0) * service.seconds / room.max(1e-9) - 1e-9) };
        let devices = asked.clamp(1.0, all);
        let machines = libm::ceil(devices / pool.slots - 1e-9);
        let starts = runs / mean;
        let working = service.seconds.max(mean * service.seconds / (machines * pool.slots));
        let on = working + if pool.boot_charged { pool.boot_s } else { 0.0 };
        let hours = starts * machines / 3600.0;
        Session {
            machines,
            starts,
            charged_h: hours * on.max(pool.minimum_s),
            on_h: hours * on,
            wait_s: window / 2.0
                + pool.boot_s
                + (mean - 1.0).max(0.0) * service.seconds / (2.0 * machines * pool.slots),
            by_deadline: machines > 1.0,
        }
    }
}
