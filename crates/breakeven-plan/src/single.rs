//! One kind of device on one way's terms for everything: sized, and its bill.

use crate::bill::Bill;
use crate::pool::Pool;
use crate::problem::{At, Problem, Service, Why};
use crate::size::{Kept, Session};
use crate::way::Way;

/// How a pool runs what it is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// Machines that stay on, by phase.
    Kept(Vec<Kept>),
    /// Machines rented for batches: workload, then by phase.
    Batches(Vec<(usize, Vec<Session>)>),
}

/// Everything in one pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Single {
    /// Place of the pool in [`Problem::pools`].
    pub pool: usize,
    /// How it runs.
    pub mode: Mode,
    /// Over the horizon.
    pub bill: Bill,
    /// What runs take there.
    pub services: Vec<(usize, Service)>,
}

impl Single {
    /// Whether the energy of all its runs is known.
    pub fn energy_known(&self) -> bool {
        self.services.iter().all(|(_, s)| s.energy_wh.is_some())
    }
}

impl Problem<'_> {
    /// The bill of units that stay on: of bought ones the most that any phase needs, for the whole horizon. `shares` is
    /// what they run of each workload, by phase.
    pub fn bill_kept(
        &self,
        pool: &Pool,
        services: &[(usize, Service)],
        shares: &[Vec<f64>],
        units: &[f64],
        at: At,
    ) -> Bill {
        let most = units.iter().copied().fold(0.0, f64::max);
        let mut bill = Bill::default();
        for (n, phase) in self.phases.iter().enumerate() {
            let units = if pool.way.is_bought() { most } else { units[n] };
            let machines = if pool.way.is_bought() { libm::ceil(units / pool.per_machine - 1e-9) } else { units };
            let last = n + 1 == self.phases.len();
            bill = bill.and(&self.bill_of_months(pool, units, machines, phase.months, last));
            for (work, service) in services {
                let runs = phase.mean[*work] * phase.months * shares[n][*work];
                bill = bill.and(&self.bill_of_runs(*work, pool, service, runs, true));
            }
        }
        if pool.way.is_bought() {
            bill = bill.and(&self.bill_of_purchase(pool, most, libm::ceil(most / pool.per_machine - 1e-9), at));
        }
        bill
    }

    /// The bill of one workload in batches.
    pub fn bill_batches(&self, pool: &Pool, work: usize, service: &Service, sessions: &[Session]) -> Bill {
        let rates = &self.plan.rates;
        let staff_h = if pool.way == Way::Cluster { 0.0 } else { rates.staff_rented_h };
        let each = self.phases.iter().zip(sessions).map(|(phase, session)| {
            let rent = session.charged_h * phase.months * pool.per_hour * rates.rent_factor;
            let staff = session.on_h / crate::plan::HOURS * phase.months * staff_h * rates.staff_hour;
            let runs = phase.mean[work] * phase.months;
            self.bill_of_runs(work, pool, service, runs, false).and(&Bill { rent, staff, ..Bill::default() })
        });
        each.fold(Bill::default(), |a, b| a.and(&b))
    }

    /// A workload in batches in every phase, with its bill.
    ///
    /// # Errors
    /// Where it is late.
    pub fn batches(&self, pool: &Pool, work: usize, service: &Service) -> Result<(Vec<Session>, Bill), Why> {
        let sessions = self.phases.iter().map(|phase| self.session(pool, work, service, phase));
        let sessions = sessions.collect::<Result<Vec<_>, _>>()?;
        let bill = self.bill_batches(pool, work, service, &sessions);
        Ok((sessions, bill))
    }

    /// Everything in one pool, the cheaper of machines that stay on and machines rented for batches.
    ///
    /// # Errors
    /// The first workload that cannot be served or is late.
    pub fn single(&self, pool: usize, at: At) -> Result<Single, (usize, Why)> {
        let known = &self.pools[pool];
        let services = self.services(known, at)?;
        let kept = known.way.stays_on().then(|| self.all_kept(known, &services, at));
        let batched = known.way.by_the_hour().then(|| self.all_batches(known, &services));
        let (mode, bill) = match (kept, batched) {
            (Some(Ok(a)), Some(Ok(b))) => {
                if b.1.total() < a.1.total() {
                    b
                } else {
                    a
                }
            }
            (Some(Ok(a)), _) | (_, Some(Ok(a))) => a,
            (Some(Err(why)), _) | (None, Some(Err(why))) => return Err(why),
            (None, None) => return Err((0, Why::Interrupted)),
        };
        Ok(Single { pool, mode, bill, services })
    }

    fn all_kept(&self, pool: &Pool, services: &[(usize, Service)], at: At) -> Result<(Mode, Bill), (usize, Why)> {
        let all = vec![1.0; self.plan.works.len()];
        let sized = self.phases.iter().map(|phase| self.kept(pool, services, &all, phase));
        let sized = sized.collect::<Result<Vec<_>, _>>()?;
        let units: Vec<f64> = sized.iter().map(|kept| kept.units).collect();
        let shares = vec![all; self.phases.len()];
        let bill = self.bill_kept(pool, services, &shares, &units, at);
        Ok((Mode::Kept(sized), bill))
    }

    fn all_batches(&self, pool: &Pool, services: &[(usize, Service)]) -> Result<(Mode, Bill), (usize, Why)> {
        let mut bill = Bill::default();
        let mut all = Vec::new();
        for (work, service) in services {
            let (sessions, one) = self.batches(pool, *work, service).map_err(|why| (*work, why))?;
            bill = bill.and(&one);
            all.push((*work, sessions));
        }
        Ok((Mode::Batches(all), bill))
    }

    /// Every pool that serves everything, in the order of the pools.
    pub fn singles(&self) -> Vec<Single> {
        (0..self.pools.len()).filter_map(|pool| self.single(pool, At::P50).ok()).collect()
    }
}
