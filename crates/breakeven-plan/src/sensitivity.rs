//! Which inputs turn the decision, and where: each is changed alone until another kind or way costs least.

use crate::plan::Plan;
use crate::problem::{At, Problem};
use crate::single::Single;
use crate::way::Way;
use breakeven::report::words::{number, seconds};
use serde::Serialize;

/// An input is changed by up to this factor, both ways.
const WIDEST: f64 = 16.0;
/// Steps of a factor of √2 up to it.
const STEPS: i32 = 8;
/// Halvings of a step: to within 0.2 %.
const HALVINGS: u32 = 7;
/// Offers of each way that are looked at again.
const OF_EACH_WAY: usize = 6;

/// An input that turns the decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The input, in words.
    pub input: &'static str,
    /// Times its present value.
    pub factor: f64,
    /// Its value there, in words.
    pub at: String,
    /// What costs least then.
    pub then: String,
}

/// An input: its name, how a plan has it changed, and its value in words.
struct Input {
    name: &'static str,
    change: fn(&mut Plan, f64),
    words: fn(&Plan) -> String,
    counts: fn(&Plan) -> bool,
}

fn times(x: f64) -> String {
    format!("{} times the present", number(x))
}

const INPUTS: &[Input] = &[
    Input {
        name: "runs a month",
        change: |p, f| p.works.iter_mut().for_each(|w| w.runs *= f),
        words: |p| format!("{} in all", number(p.works.iter().map(|w| w.runs).sum())),
        counts: |_| true,
    },
    Input {
        name: "deadlines",
        change: |p, f| p.works.iter_mut().for_each(|w| w.deadline_s *= f),
        words: |p| {
            let shortest = p.works.iter().map(|w| w.deadline_s).fold(f64::INFINITY, f64::min);
            format!("the shortest {}", seconds(shortest))
        },
        counts: |_| true,
    },
    Input {
        name: "rents",
        change: |p, f| p.rates.rent_factor *= f,
        words: |p| times(p.rates.rent_factor),
        counts: |p| p.ways.iter().any(|way| !way.is_bought()),
    },
    Input {
        name: "prices of hardware",
        change: |p, f| p.rates.purchase_factor *= f,
        words: |p| times(p.rates.purchase_factor),
        counts: |p| p.ways.iter().any(|way| way.is_bought()),
    },
    Input {
        name: "time of a run on GPUs",
        change: |p, f| p.rates.time_factor *= f,
        words: |p| format!("{} times the estimates", number(p.rates.time_factor)),
        counts: |_| true,
    },
    Input {
        name: "price of electricity",
        change: |p, f| p.rates.electricity_kwh *= f,
        words: |p| format!("{} {} per kWh", number(p.rates.electricity_kwh), p.currency),
        counts: |p| p.ways.iter().any(|way| way.is_bought()),
    },
    Input {
        name: "cost of an hour of staff",
        change: |p, f| p.rates.staff_hour *= f,
        words: |p| format!("{} {}", number(p.rates.staff_hour), p.currency),
        counts: |_| true,
    },
    Input {
        name: "interruptions of spot machines",
        change: |p, f| p.rates.interruptions_per_h *= f,
        words: |p| format!("{} per hour", number(p.rates.interruptions_per_h)),
        counts: |p| p.ways.contains(&Way::Spot) && p.rates.interruptions_per_h > 0.0,
    },
    Input {
        name: "months of the horizon",
        change: |p, f| p.months = (f64::from(p.months) * f).round().clamp(1.0, 240.0) as u32,
        words: |p| format!("{} months", p.months),
        counts: |_| true,
    },
];

/// What a decision is: a way to pay and a device.
type Decision = (Way, usize);

impl Problem<'_> {
    /// The inputs that turn the decision, the one that has to change least first; three at most.
    pub fn turns(&self, singles: &[Single], say: impl Fn(&Problem<'_>, &Single) -> String) -> Vec<Turn> {
        let looked_at = self.looked_at(singles);
        let Some(now) = self.cheapest(&looked_at) else { return Vec::new() };
        let now = self.decision(&now);
        let mut found = Vec::new();
        for input in INPUTS.iter().filter(|input| (input.counts)(self.plan)) {
            let nearest = [1.0, -1.0].into_iter().filter_map(|sign| self.turn(input, sign, now, &looked_at));
            if let Some(factor) = nearest.min_by(|a, b| distance(*a).total_cmp(&distance(*b))) {
                let plan = changed(self.plan, input, factor);
                let problem = self.with(&plan);
                let Some(then) = problem.cheapest(&looked_at) else { continue };
                let (at, then) = ((input.words)(&plan), say(&problem, &then));
                found.push(Turn { input: input.name, factor, at, then });
            }
        }
        found.sort_by(|a, b| distance(a.factor).total_cmp(&distance(b.factor)));
        found.truncate(3);
        found
    }

    /// Pools that may come to cost least: the cheapest of each way, and those on the front of cost and time.
    fn looked_at(&self, singles: &[Single]) -> Vec<usize> {
        let mut pools: Vec<usize> = self.front(singles).iter().map(|(single, _)| single.pool).collect();
        for way in Way::ALL {
            let mut own: Vec<&Single> = singles.iter().filter(|s| self.pools[s.pool].way == way).collect();
            own.sort_by(|a, b| a.bill.total().total_cmp(&b.bill.total()));
            pools.extend(own.iter().take(OF_EACH_WAY).map(|s| s.pool));
        }
        pools.sort_unstable();
        pools.dedup();
        pools
    }

    fn cheapest(&self, pools: &[usize]) -> Option<Single> {
        let all = pools.iter().filter_map(|pool| self.single(*pool, At::P50).ok());
        all.min_by(|a, b| a.bill.total().total_cmp(&b.bill.total()))
    }

    fn decision(&self, single: &Single) -> Decision {
        let pool = &self.pools[single.pool];
        (pool.way, pool.device)
    }

    /// The factor nearest to 1, on one side, at which another decision is cheapest.
    fn turn(&self, input: &Input, sign: f64, now: Decision, pools: &[usize]) -> Option<f64> {
        let turned = |exponent: f64| {
            let plan = changed(self.plan, input, libm::exp2(sign * exponent));
            let problem = self.with(&plan);
            problem.cheapest(pools).is_some_and(|single| problem.decision(&single) != now)
        };
        let step = libm::log2(WIDEST) / f64::from(STEPS);
        let first = (1..=STEPS).find(|n| turned(step * f64::from(*n)))?;
        let (mut low, mut high) = (step * f64::from(first - 1), step * f64::from(first));
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if turned(middle) { high = middle } else { low = middle }
        }
        Some(libm::exp2(sign * high))
    }
}

fn changed(plan: &Plan, input: &Input, factor: f64) -> Plan {
    let mut plan = plan.clone();
    (input.change)(&mut plan, factor);
    plan
}

/// How far a factor is from 1.
fn distance(factor: f64) -> f64 {
    libm::log(factor).abs()
}
