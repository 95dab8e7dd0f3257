//! Sums over jobs: totals, groups, the worst jobs.

use crate::judge::Judged;
use crate::outcome::{OUTCOMES, Outcome};
use breakeven::interval::Interval;

/// A sum of parts of a billionth: the same in whatever order it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum(i128);

impl Sum {
    /// Adds what is known; whether it was.
    #[inline]
    pub fn add(&mut self, x: f64) -> bool {
        let billionths = x * 1e9;
        if billionths.abs() < 9e18 {
            self.0 += i128::from(billionths.round() as i64);
        } else if x.is_finite() {
            self.0 += billionths.round() as i128;
        }
        x.is_finite()
    }

    /// The sum.
    pub fn get(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

/// A sum of intervals whose parts are large or small together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range([Sum; 3]);

impl Range {
    /// Adds what is known.
    pub fn add(&mut self, x: Option<Interval>) {
        if let Some(x) = x {
            for (sum, part) in self.0.iter_mut().zip([x.p10, x.p50, x.p90]) {
                sum.add(part);
            }
        }
    }

    /// The sum.
    pub fn get(self) -> Interval {
        let [p10, p50, p90] = self.0.map(Sum::get);
        Interval { p10, p50, p90 }
    }
}

impl std::ops::AddAssign for Range {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, part)| *sum += part);
    }
}

/// What is freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// Jobs.
    pub jobs: u64,
    /// GPU time, s.
    pub gpu_s: Sum,
    /// USD; of jobs whose price is known.
    pub usd: Range,
    /// kWh; of jobs whose GPU is known.
    pub kwh: Range,
    /// Jobs whose price is not known.
    pub unpriced: u64,
}

impl Freed {
    /// One more job.
    pub fn add(&mut self, job: &Judged) {
        self.jobs += 1;
        self.gpu_s.add(job.freed_gpu_s);
        self.usd.add(job.freed_usd);
        self.kwh.add(job.freed_kwh);
        self.unpriced += u64::from(job.freed_usd.is_none());
    }
}

/// Allocated × elapsed, as accounting counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hours {
    /// Jobs.
    pub jobs: u64,
    /// GPUs × elapsed, s.
    pub gpu_s: Sum,
    /// CPUs × elapsed, s.
    pub cpu_s: Sum,
    /// Elapsed, s.
    pub wall_s: Sum,
    /// From submission to start, s.
    pub wait_s: Sum,
    /// Nodes × elapsed, s.
    pub node_s: Sum,
}

/// Jobs for which a figure is not known, and which its sum leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the figures")]
pub struct Lacking {
    pub gpu_hours: u64,
    pub cpu_hours: u64,
    pub wall_hours: u64,
    pub wait_hours: u64,
    pub node_hours: u64,
    pub usd: u64,
    pub kwh: u64,
}

/// All jobs together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows, by what is said of them.
    pub rows: [u64; OUTCOMES],
    /// Every job.
    pub all: Hours,
    /// Of these, those that were still running.
    pub running: Hours,
    /// What is not in the sums.
    pub lacking: Lacking,
    /// USD.
    pub usd: Range,
    /// kWh.
    pub kwh: Range,
    /// Jobs whose energy the site measured.
    pub measured: u64,
    /// What is freed, by outcome: for certain, and what needs a look.
    pub freed: [[Freed; 2]; OUTCOMES],
}

impl Hours {
    /// One more job; unknown is left out.
    pub fn add(&mut self, job: &Judged) {
        self.jobs += 1;
        self.gpu_s.add(job.gpu_s);
        self.cpu_s.add(job.cpu_s);
        self.wall_s.add(job.wall_s);
        self.wait_s.add(job.wait_s);
        self.node_s.add(job.node_s);
    }
}

impl Totals {
    /// One more job.
    pub fn add(&mut self, job: &Judged) {
        self.rows[job.outcome as usize] += 1;
        self.all.add(job);
        if job.outcome == Outcome::Running {
            self.running.add(job);
        }
        let lacking = &mut self.lacking;
        let pending = job.outcome == Outcome::Pending;
        for (count, x) in [
            (&mut lacking.gpu_hours, job.gpu_s),
            (&mut lacking.cpu_hours, job.cpu_s),
            (&mut lacking.wall_hours, job.wall_s),
            (&mut lacking.wait_hours, if pending { 0.0 } else { job.wait_s }),
            (&mut lacking.node_hours, job.node_s),
        ] {
            *count += u64::from(!x.is_finite());
        }
        let nothing = job.gpu_s == 0.0 && job.cpu_s == 0.0;
        lacking.usd += u64::from(job.usd.is_none() && !nothing);
        lacking.kwh += u64::from(job.kwh.is_none() && !nothing);
        self.usd.add(job.usd);
        self.kwh.add(job.kwh);
        self.measured += u64::from(job.measured);
        if job.outcome.is_waste() {
            self.freed[job.outcome as usize][usize::from(!job.certain)].add(job);
        }
    }

    /// Jobs that were judged.
    pub fn judged(&self) -> u64 {
        self.count(Outcome::is_judged)
    }

    /// Jobs that had not started: their hours are known to be none.
    pub fn pending(&self) -> u64 {
        self.rows[Outcome::Pending as usize]
    }

    /// Rows of such outcomes.
    pub fn count(&self, of: impl Fn(Outcome) -> bool) -> u64 {
        Outcome::ALL.iter().zip(self.rows).filter(|(outcome, _)| of(**outcome)).map(|(_, rows)| rows).sum()
    }

    /// All that is freed for certain, or at most where somebody has a look.
    pub fn freed(&self, certain: bool) -> Freed {
        let mut all = Freed::default();
        for freed in self.freed.iter().map(|both| &both[usize::from(!certain)]) {
            all.jobs += freed.jobs;
            all.gpu_s += freed.gpu_s;
            all.usd += freed.usd;
            all.kwh += freed.kwh;
            all.unpriced += freed.unpriced;
        }
        all
    }
}

/// Jobs of one user, account, partition, application or GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Jobs, those that were judged, and those that wasted GPUs.
    pub jobs: u64,
    /// See `jobs`.
    pub judged: u64,
    /// See `jobs`.
    pub wasting: u64,
    /// Jobs whose GPU time, CPU time and price are known.
    pub known: [u32; 3],
    /// GPU time, s.
    pub gpu_s: Sum,
    /// CPU time allocated, s.
    pub cpu_s: Sum,
    /// Waiting of jobs with GPUs, s.
    pub gpu_wait_s: Sum,
    /// What they cost, USD.
    pub usd: Sum,
    /// GPU time that is freed for certain, s, and what it costs, USD.
    pub certain_s: Sum,
    /// See `certain_s`.
    pub certain_usd: Sum,
    /// The same where it needs a look, at most.
    pub look_s: Sum,
    /// See `look_s`.
    pub look_usd: Sum,
}

impl Group {
    /// One more job.
    pub fn add(&mut self, job: &Judged) {
        self.jobs += 1;
        self.judged += u64::from(job.outcome.is_judged());
        self.known[0] += u32::from(self.gpu_s.add(job.gpu_s));
        self.known[1] += u32::from(self.cpu_s.add(job.cpu_s));
        if job.gpu_s > 0.0 {
            self.gpu_wait_s.add(job.wait_s);
        }
        self.known[2] += u32::from(self.usd.add(job.usd.map_or(f64::NAN, |usd| usd.p50)));
        if job.outcome.is_waste() {
            self.wasting += 1;
            let (s, usd) = match job.certain {
                true => (&mut self.certain_s, &mut self.certain_usd),
                false => (&mut self.look_s, &mut self.look_usd),
            };
            s.add(job.freed_gpu_s);
            usd.add(job.freed_usd.map_or(f64::NAN, |usd| usd.p50));
        }
    }

    /// Another group's jobs too.
    pub fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.judged += other.judged;
        self.wasting += other.wasting;
        self.known.iter_mut().zip(other.known).for_each(|(sum, known)| *sum += known);
        self.gpu_s += other.gpu_s;
        self.cpu_s += other.cpu_s;
        self.gpu_wait_s += other.gpu_wait_s;
        self.usd += other.usd;
        self.certain_s += other.certain_s;
        self.certain_usd += other.certain_usd;
        self.look_s += other.look_s;
        self.look_usd += other.look_usd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_the_same_in_any_order(mut all in prop::collection::vec(0.0..1e12f64, 0..50)) {
            let sum = |all: &[f64]| {
                let mut sum = Sum::default();
                all.iter().for_each(|x| { sum.add(*x); });
                sum
            };
            let forth = sum(&all);
            all.reverse();
            prop_assert_eq!(forth, sum(&all));
            prop_assert!((forth.get() - all.iter().sum::<f64>()).abs() <= 1e-3 * (1.0 + forth.get() * 1e-9));
        }
    }
}
