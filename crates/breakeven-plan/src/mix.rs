//! The cheapest mix of devices by an integer program.
//!
//! Integers are machines of each kind that stay on, and whether a workload is run in batches instead; the shares of a
//! workload's runs on each kind are continuous. Deadlines enter as the wait of runs that are spread over machines at
//! random, each an M/G/1 queue (Pollaczek and Khinchine): `Σ x λ (s²b/(2W) + s) ≤ machines`, linear in both, and never
//! less than the wait of a common queue.

use crate::bill::Bill;
use crate::pool::Pool;
use crate::problem::{At, Problem, Service, per_second};
use crate::queue::TAIL;
use crate::single::Single;
use microlp::{ComparisonOp, OptimizationDirection, Problem as Program, SolveOptions, SolveOutcome, Variable};

/// Shares of workloads on kinds that are handed to the solver, at most; but kinds at least. A note tells if there
/// were more.
const SHARES: usize = 4000;
const LEAST_KINDS: usize = 16;
/// Branches that the solver looks at, at most: the same on every machine.
const NODES: u64 = 1500;
/// The solver stops within this of the optimum.
const GAP: f64 = 0.002;
/// A share below this is none.
const SOME: f64 = 1e-6;

/// Machines of one kind that stay on.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Place of the pool.
    pub pool: usize,
    /// Units by phase.
    pub units: Vec<f64>,
    /// Share of each workload, by phase.
    pub shares: Vec<Vec<f64>>,
}

/// A mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Machines that stay on.
    pub parts: Vec<Part>,
    /// Workloads in batches, each with its pool.
    pub batches: Vec<(usize, usize)>,
    /// Over the horizon.
    pub bill: Bill,
    /// How far from the optimum of the program it may be, as a share of its cost; `None` where no bound is known.
    pub gap: Option<f64>,
    /// Kinds that were left out for size.
    pub left_out: usize,
}

/// A kind in the program: its coefficients.
struct Kind<'a> {
    place: usize,
    pool: &'a Pool,
    /// By workload that is planned for; `None` where it cannot run.
    services: Vec<Option<Service>>,
    /// Cost of a unit over each phase, machines around it apart.
    unit: Vec<f64>,
    /// Cost of a run.
    run: Vec<f64>,
}

/// The kinds of a program, and what is known of those that are not in it.
struct Kinds<'a> {
    all: Vec<Kind<'a>>,
    left_out: usize,
    /// The least that a plan costs which uses one of those left out.
    left_out_costs: f64,
    /// What the runs of each workload cost at least on any kind, as if machines could be divided.
    least: Vec<f64>,
}

impl Problem<'_> {
    /// The cheapest mix; never dearer than `best`, the cheapest single kind. `None` where nothing can be served.
    pub fn mix(&self, best: Option<&Single>) -> Option<Mix> {
        let works: Vec<usize> = self.works().map(|(n, _)| n).collect();
        let kinds = self.kinds(&works, best.map_or(f64::INFINITY, |b| b.bill.total()));
        let batches: Vec<Option<(usize, Bill)>> = works.iter().map(|n| self.cheapest_batches(*n)).collect();
        let solved = self.solve(&works, &kinds.all, &batches, best.map(|b| b.bill.total()));
        let own = best.map(|best| (best.bill.total(), self.single_as_mix(best)));
        // A plan with a kind that was left out costs as much as one machine of it, and as if all machines could be
        // divided.
        let cheapest = batches.iter().zip(&kinds.least).map(|(b, least)| b.map_or(*least, |b| b.1.total().min(*least)));
        let others = cheapest.sum::<f64>().max(kinds.left_out_costs);
        let bound = solved.as_ref().and_then(|(_, bound)| *bound).map(|bound| bound.min(others));
        let (total, mut mix) = match (solved, own) {
            (Some((mix, _)), Some((least, _))) if mix.bill.total() < least * (1.0 - 1e-9) => (mix.bill.total(), mix),
            (_, Some((least, own))) => (least, own),
            (Some((mix, _)), None) => (mix.bill.total(), mix),
            (None, None) => return None,
        };
        mix.gap = bound.map(|bound| ((total - bound) / total).max(0.0));
        mix.left_out = kinds.left_out;
        Some(mix)
    }

    /// A single kind, as a mix.
    pub(crate) fn single_as_mix(&self, best: &Single) -> Mix {
        let (mut parts, mut batches) = (Vec::new(), Vec::new());
        match &best.mode {
            crate::Mode::Kept(kept) => {
                let mut all = vec![0.0; self.plan.works.len()];
                self.works().for_each(|(n, _)| all[n] = 1.0);
                parts.push(Part {
                    pool: best.pool,
                    units: kept.iter().map(|k| k.units).collect(),
                    shares: vec![all; self.phases.len()],
                });
            }
            crate::Mode::Batches(all) => batches.extend(all.iter().map(|(work, _)| (*work, best.pool))),
        }
        Mix { parts, batches, bill: best.bill, gap: None, left_out: 0 }
    }

    /// The pool in which a workload costs least in batches.
    fn cheapest_batches(&self, work: usize) -> Option<(usize, Bill)> {
        let each = self.pools.iter().enumerate().filter(|(_, pool)| pool.way.by_the_hour()).filter_map(|(n, pool)| {
            let service = self.service(work, pool, At::P50).ok()?;
            Some((n, self.batches(pool, work, &service).ok()?.1))
        });
        each.min_by(|a, b| a.1.total().total_cmp(&b.1.total()))
    }

    /// Kinds that no other kind beats in every respect and of which one machine costs less than `known`, as many as the
    /// solver is given.
    fn kinds(&self, works: &[usize], known: f64) -> Kinds<'_> {
        let stay = self.pools.iter().enumerate().filter(|(_, pool)| pool.way.stays_on());
        let all: Vec<Kind> = stay.filter_map(|(place, pool)| self.kind(place, pool, works)).collect();
        let one = |n: usize| self.one_machine(&all[n]);
        let beaten = |n: usize| (0..all.len()).any(|m| m != n && beats(&all[m], &all[n], m < n));
        let mut left: Vec<usize> = (0..all.len()).filter(|n| one(*n) < known && !beaten(*n)).collect();
        let divided = |n: usize, w: usize| self.divided(&all[n], w, works[w]);
        let least =
            (0..works.len()).map(|w| left.iter().map(|n| divided(*n, w)).fold(f64::INFINITY, f64::min)).collect();
        let most = (SHARES / (works.len() * self.phases.len())).max(LEAST_KINDS);
        // First the cheapest for each workload, then those that are cheapest for all that they can run.
        let promise = |n: usize| {
            let served = (0..works.len()).filter(|w| all[n].services[*w].is_some());
            let (count, cost) = served.fold((0, 0.0f64), |(count, cost), w| (count + 1, cost + divided(n, w)));
            (works.len() - count, cost.max(one(n)))
        };
        let mut own: Vec<usize> = (0..works.len())
            .filter_map(|w| left.iter().copied().min_by(|a, b| divided(*a, w).total_cmp(&divided(*b, w))))
            .collect();
        own.sort_unstable();
        own.dedup();
        left.sort_by(|a, b| {
            let (a, b) = (promise(*a), promise(*b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        left.sort_by_key(|n| !own.contains(n));
        let out = left.split_off(most.max(own.len()).min(left.len()));
        let left_out_costs = out.iter().map(|n| one(*n)).fold(f64::INFINITY, f64::min);
        Kinds { left_out: out.len(), left_out_costs, least, all: picked(all, &left) }
    }

    /// What a bought GPU costs with `machines` around it and the people who look after those, its energy and place
    /// apart.
    fn bill_of_gpu(&self, pool: &Pool, machines: f64) -> f64 {
        self.bill_of_purchase(pool, 1.0, machines, At::P50).total() + machines * self.upkeep(pool)
    }

    /// What people who look after a bought machine cost over the horizon.
    fn upkeep(&self, pool: &Pool) -> f64 {
        self.phases.iter().map(|phase| self.bill_of_months(pool, 0.0, 1.0, phase.months, true).total()).sum()
    }

    /// The least that a plan costs which uses a kind at all.
    fn one_machine(&self, kind: &Kind<'_>) -> f64 {
        if kind.pool.way.is_bought() {
            return kind.unit.iter().sum::<f64>() + self.bill_of_gpu(kind.pool, 1.0);
        }
        kind.unit.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// What all runs of a workload cost on a kind if machines could be divided.
    fn divided(&self, kind: &Kind<'_>, w: usize, work: usize) -> f64 {
        let Some(service) = &kind.services[w] else { return f64::INFINITY };
        let each = self.phases.iter().zip(&kind.unit).map(|(phase, unit)| {
            let busy = per_second(phase.peak[work]) * service.seconds / self.plan.rates.utilisation / kind.pool.slots;
            kind.run[w] * phase.mean[work] * phase.months + busy * unit
        });
        let bought = self.phases.iter().map(|phase| per_second(phase.peak[work])).fold(0.0, f64::max) * service.seconds;
        let price = self.bill_of_gpu(kind.pool, 1.0 / kind.pool.per_machine);
        each.sum::<f64>() + if kind.pool.way.is_bought() { bought / self.plan.rates.utilisation * price } else { 0.0 }
    }

    fn kind<'b>(&'b self, place: usize, pool: &'b Pool, works: &[usize]) -> Option<Kind<'b>> {
        let service = |n: &usize| {
            let s = self.service(*n, pool, At::P50).ok()?;
            (self.slack(*n, &s) > 0.0).then_some(s)
        };
        let services: Vec<Option<Service>> = works.iter().map(service).collect();
        if services.iter().all(Option::is_none) {
            return None;
        }
        let phases = self.phases.len();
        let unit = (0..phases).map(|n| {
            let months = self.phases[n].months;
            let machines = if pool.way.is_bought() { 0.0 } else { 1.0 };
            self.bill_of_months(pool, 1.0, machines, months, n + 1 == phases).total()
        });
        let run = works
            .iter()
            .zip(&services)
            .map(|(n, s)| s.map_or(0.0, |s| self.bill_of_runs(*n, pool, &s, 1.0, true).total()));
        Some(Kind { place, pool, unit: unit.collect(), run: run.collect(), services })
    }

    /// Time that is left for waiting on a machine of its own, s.
    fn slack(&self, work: usize, service: &Service) -> f64 {
        let w = &self.plan.works[work];
        let left = w.deadline_s - service.slow - (w.at_once - 1.0) * service.seconds;
        if w.latency { left / TAIL } else { left }
    }

    fn solve(
        &self,
        works: &[usize],
        kinds: &[Kind<'_>],
        batches: &[Option<(usize, Bill)>],
        known: Option<f64>,
    ) -> Option<(Mix, Option<f64>)> {
        let scale = known.or_else(|| batches.iter().map(|b| b.map(|b| b.1.total())).sum())?.max(1e-9);
        let mut program = Program::new(OptimizationDirection::Minimize);
        let phases = self.phases.len();
        // Whether a workload is run in batches, in all phases.
        let by_hour: Vec<Option<Variable>> =
            batches.iter().map(|b| b.map(|(_, bill)| program.add_binary_var(bill.total() / scale))).collect();
        let (mut units, mut shares) = (Vec::new(), Vec::new());
        for kind in kinds {
            let of_kind = Variables::add(self, &mut program, kind, works, scale);
            units.push(of_kind.units);
            shares.push(of_kind.shares);
        }
        for phase in 0..phases {
            for w in 0..works.len() {
                let of_kinds = shares.iter().filter_map(|kind: &Vec<Vec<Option<Variable>>>| kind[phase][w]);
                let all: Vec<(Variable, f64)> = of_kinds.chain(by_hour[w]).map(|v| (v, 1.0)).collect();
                if all.is_empty() {
                    return None;
                }
                program.add_constraint(all, ComparisonOp::Eq, 1.0);
            }
        }
        let mut options = SolveOptions::default();
        options.node_limit = Some(NODES);
        options.mip_gap = GAP;
        let SolveOutcome::Solution(solution) = program.solve_with(options).ok()? else { return None };
        let bound = solution.stats().best_bound.map(|bound| bound * scale);
        let mut mix = Mix { parts: Vec::new(), batches: Vec::new(), bill: Bill::default(), gap: None, left_out: 0 };
        for (k, kind) in kinds.iter().enumerate() {
            let count = |phase: usize| solution.var_value(units[k][phase.min(units[k].len() - 1)]).round() + 0.0;
            let share = |phase: usize| {
                let mut all = vec![0.0; self.plan.works.len()];
                for (w, work) in works.iter().enumerate() {
                    let x = shares[k][phase][w].map_or(0.0, |v| solution.var_value(v));
                    all[*work] = if x > SOME { x.min(1.0) } else { 0.0 };
                }
                all
            };
            let part = Part {
                pool: kind.place,
                units: (0..phases).map(count).collect(),
                shares: (0..phases).map(share).collect(),
            };
            if part.units.iter().any(|n| *n > 0.0) {
                mix.parts.push(part);
            }
        }
        let chosen = by_hour.iter().zip(batches).zip(works);
        mix.batches.extend(chosen.filter_map(|((v, b), work)| {
            let one = solution.var_value((*v)?).round() > 0.5;
            one.then_some((*work, b.as_ref()?.0))
        }));
        mix.bill = self.bill_of_mix(&mix, At::P50)?;
        Some((mix, bound))
    }

    /// What a mix costs.
    pub fn bill_of_mix(&self, mix: &Mix, at: At) -> Option<Bill> {
        let mut bill = Bill::default();
        for part in &mix.parts {
            let pool = &self.pools[part.pool];
            let runs = |n: usize| part.shares.iter().any(|shares| shares[n] > 0.0);
            let used = self.works().filter(|(n, _)| runs(*n));
            let services = used.map(|(n, _)| Some((n, self.service(n, pool, at).ok()?))).collect::<Option<Vec<_>>>()?;
            bill = bill.and(&self.bill_kept(pool, &services, &part.shares, &part.units, at));
        }
        for (work, pool) in &mix.batches {
            let pool = &self.pools[*pool];
            let service = self.service(*work, pool, at).ok()?;
            bill = bill.and(&self.batches(pool, *work, &service).ok()?.1);
        }
        Some(bill)
    }
}

/// The variables of a kind: units by phase (one for all where they are bought), shares by phase and workload.
struct Variables {
    units: Vec<Variable>,
    shares: Vec<Vec<Option<Variable>>>,
}

impl Variables {
    /// Adds a kind with its capacity and its deadlines.
    fn add(p: &Problem<'_>, program: &mut Program, kind: &Kind<'_>, works: &[usize], scale: f64) -> Self {
        let (pool, bought) = (kind.pool, kind.pool.way.is_bought());
        let busiest = |phase: usize| -> f64 {
            let each = kind.services.iter().enumerate();
            each.filter_map(|(w, s)| Some(per_second(p.phases[phase].peak[works[w]]) * s.as_ref()?.seconds)).sum()
        };
        let most = (0..p.phases.len()).map(busiest).fold(0.0, f64::max) / p.plan.rates.utilisation / pool.slots;
        let most = (4.0 * most + 16.0).min(1e6) as i32;
        let units: Vec<Variable> = if bought {
            let purchase = |gpus, machines| p.bill_of_purchase(pool, gpus, machines, At::P50).total();
            let gpus = program.add_integer_var((kind.unit.iter().sum::<f64>() + purchase(1.0, 0.0)) / scale, (0, most));
            let machines = program.add_integer_var((p.upkeep(pool) + purchase(0.0, 1.0)) / scale, (0, most));
            program.add_constraint([(gpus, 1.0), (machines, -pool.per_machine)], ComparisonOp::Le, 0.0);
            vec![gpus]
        } else {
            kind.unit.iter().map(|cost| program.add_integer_var(cost / scale, (0, most))).collect()
        };
        let mut shares = Vec::new();
        for (n, phase) in p.phases.iter().enumerate() {
            let of_phase: Vec<Option<Variable>> = kind
                .services
                .iter()
                .enumerate()
                .map(|(w, service)| {
                    let cost = kind.run[w] * phase.mean[works[w]] * phase.months / scale;
                    service.as_ref().map(|_| program.add_var(cost, (0.0, 1.0)))
                })
                .collect();
            let unit = units[n.min(units.len() - 1)];
            let load = |w: usize, s: &Service| per_second(phase.peak[works[w]]) * s.seconds;
            let row = |coefficient: &dyn Fn(usize, &Service) -> f64| -> Vec<(Variable, f64)> {
                let each = of_phase.iter().zip(&kind.services).enumerate();
                each.filter_map(|(w, (v, s))| Some(((*v)?, coefficient(w, s.as_ref()?)))).collect()
            };
            let mut capacity = row(&load);
            capacity.push((unit, -pool.slots * p.plan.rates.utilisation));
            program.add_constraint(capacity, ComparisonOp::Le, 0.0);
            deadlines(p, program, kind, works, n, unit, &of_phase);
            shares.push(of_phase);
        }
        Self { units, shares }
    }
}

/// Where a deadline may bind before the load does: a workload that runs here at all keeps the wait below its slack.
fn deadlines(
    p: &Problem<'_>,
    program: &mut Program,
    kind: &Kind<'_>,
    works: &[usize],
    phase: usize,
    unit: Variable,
    shares: &[Option<Variable>],
) {
    let busy = p.plan.rates.utilisation;
    let served = || kind.services.iter().enumerate().filter_map(|(w, s)| Some((w, s.as_ref()?)));
    let longest = served().map(|(w, s)| s.seconds * p.plan.works[works[w]].at_once).fold(0.0, f64::max);
    let worst = busy * longest / (2.0 * (1.0 - busy));
    for (w, s) in served() {
        let slack = p.slack(works[w], s);
        // One unit of several devices is one queue here: its wait is no longer than on each alone.
        if slack >= worst {
            continue;
        }
        let term = |other: usize, s: &Service| {
            let b = p.plan.works[works[other]].at_once;
            per_second(p.phases[phase].peak[works[other]]) * s.seconds * (s.seconds * b / (2.0 * slack) + 1.0)
        };
        let all: f64 = served().map(|(other, s)| term(other, s)).sum();
        let here = program.add_binary_var(0.0);
        if let Some(share) = shares[w] {
            program.add_constraint([(share, 1.0), (here, -1.0)], ComparisonOp::Le, 0.0);
        }
        let mut row: Vec<(Variable, f64)> =
            served().filter_map(|(other, s)| Some((shares[other]?, term(other, s) / all))).collect();
        row.push((unit, -kind.pool.slots / all));
        row.push((here, 1.0));
        program.add_constraint(row, ComparisonOp::Le, 1.0);
    }
}

fn picked<'a>(all: Vec<Kind<'a>>, chosen: &[usize]) -> Vec<Kind<'a>> {
    let mut all: Vec<Option<Kind>> = all.into_iter().map(Some).collect();
    chosen.iter().filter_map(|n| all[*n].take()).collect()
}

/// Whether `a` is at least as good as `b` in every respect, and better in one, or the `first` of equals.
fn beats(a: &Kind<'_>, b: &Kind<'_>, first: bool) -> bool {
    at_least(a, b) && (first || !at_least(b, a))
}

fn at_least(a: &Kind<'_>, b: &Kind<'_>) -> bool {
    let (p, q) = (a.pool, b.pool);
    let bought = p.way.is_bought();
    if bought != q.way.is_bought() || p.slots > q.slots || bought && p.per_machine != q.per_machine {
        return false;
    }
    let dear = |n: usize| a.unit[n] / p.slots > b.unit[n] / q.slots;
    let cheaper =
        (0..a.unit.len()).all(|n| !dear(n)) && p.gpu_price <= q.gpu_price && p.machine_price <= q.machine_price;
    cheaper
        && a.services.iter().zip(&b.services).enumerate().all(|(w, (x, y))| match (x, y) {
            (None, Some(_)) => false,
            (Some(x), Some(y)) => x.seconds <= y.seconds && x.slow <= y.slow && a.run[w] <= b.run[w],
            _ => true,
        })
}
