//! From a plan and the engine's answers to the whole answer.

use crate::answer::{Answer, BatchRow, Fastest, MixRow, OptionRow, PartRow, SCHEMA, Summary, WorkRow};
use crate::bill::Bill;
use crate::curves::FrontPoint;
use crate::describe::money;
use crate::mix::Mix;
use crate::plan::Plan;
use crate::pool::Pools;
use crate::problem::{At, Problem, Why, per_second};
use crate::question::Answered;
use crate::single::{Mode, Single};
use crate::size::Load;
use crate::table::Table;
use crate::unmet::lacks;
use crate::way::Way;
use breakeven::Result;
use breakeven::hardware::Catalogue;
use breakeven::interval::{Basis, Interval};
use breakeven::report::words::{seconds, several};

/// Draws a plan up.
///
/// # Errors
/// None of its own: what cannot be met is part of the answer.
pub fn draw_up(plan: &Plan, catalogue: &Catalogue, answers: &[Answered], today: &str) -> Result<Answer> {
    let table = Table::of(plan, catalogue, answers);
    let pools = Pools::of(plan, catalogue, &table, today);
    let mut problem = Problem::new(plan, &table, &pools.all);
    let unmet = problem.leave_out_unmet();
    let problem = problem;
    let singles = if problem.works().next().is_some() { problem.singles() } else { Vec::new() };
    let least = |keep: &dyn Fn(Way) -> bool| {
        let kept = singles.iter().filter(|s| keep(problem.pools[s.pool].way));
        kept.min_by(|a, b| a.bill.total().total_cmp(&b.bill.total()))
    };
    let best = least(&|_| true);
    let served = problem.works().next().is_some();
    let mix = if served { problem.mix(best) } else { None };
    let options = options(&problem, &singles, &pools);
    let rented = rented(&problem, mix.as_ref(), least(&|way| !way.is_bought()));
    let buys = |mix: &&Mix| mix.parts.iter().any(|part| problem.pools[part.pool].way.is_bought());
    let cheapest_bought = || least(&|way: Way| way.is_bought()).map(|single| problem.single_as_mix(single));
    let bought = mix.as_ref().filter(buys).cloned().or_else(cheapest_bought);
    let rent_or_buy = rented.as_ref().zip(bought.as_ref()).map(|(rent, buy)| {
        let [bought, beside] = problem.words_of_mix(buy);
        let buy_words = if beside.is_empty() { bought } else { format!("{bought} + {beside}") };
        let names = [problem.words_of_mix(rent)[1].clone(), buy_words];
        problem.rent_or_buy(rent, buy, names)
    });
    let front = problem.front(&singles).into_iter().map(|(single, turnaround_s)| FrontPoint {
        option: problem.words_of(single),
        per_month: single.bill.total() / f64::from(plan.months),
        turnaround_s,
    });
    let front = front.collect();
    let turns = problem.turns(&singles, |problem, single| problem.words_of(single));
    let mix_row = mix.as_ref().map(|mix| mix_row(&problem, mix, best));
    let mut answer = Answer {
        schema: SCHEMA,
        name: plan.name.clone(),
        today: today.to_owned(),
        months: plan.months,
        currency: plan.currency.clone(),
        summary: Summary { sentence: String::new(), cost: None, per_month: None, basis: None },
        workloads: workloads(&problem),
        options,
        mix: mix_row,
        rent_or_buy,
        front,
        turns,
        unmet,
        assumed: plan.assumed.clone(),
        notes: notes(&problem, &pools, mix.as_ref()),
    };
    answer.summary = summary(&problem, &answer, mix.as_ref(), rented.as_ref(), bought.as_ref());
    Ok(answer)
}

/// The cheapest way to rent: the mix where nothing of it is bought, else the cheapest single kind.
fn rented(problem: &Problem<'_>, mix: Option<&Mix>, single: Option<&Single>) -> Option<Mix> {
    let all_rented = |mix: &&Mix| mix.parts.iter().all(|part| !problem.pools[part.pool].way.is_bought());
    mix.filter(all_rented).cloned().or_else(|| single.map(|single| problem.single_as_mix(single)))
}

fn per_month(cost: Interval, months: u32) -> Interval {
    cost.scale(1.0 / f64::from(months))
}

/// Three figures in order.
fn ordered(a: f64, p50: f64, b: f64) -> Interval {
    Interval { p10: a.min(b).min(p50), p50, p90: a.max(b).max(p50) }
}

fn basis(problem: &Problem<'_>, works: impl Iterator<Item = (usize, usize)>) -> Option<Basis> {
    works.filter_map(|(work, device)| Some(problem.table.cells[work][device].as_ref().ok()?.basis)).max()
}

/// The cheapest of each way, or what it misses.
fn options(problem: &Problem<'_>, singles: &[Single], pools: &Pools) -> Vec<OptionRow> {
    let mut rows = Vec::new();
    for way in Way::ALL.into_iter().filter(|way| problem.plan.ways.contains(way)) {
        let own = singles.iter().filter(|s| problem.pools[s.pool].way == way);
        match own.min_by(|a, b| a.bill.total().total_cmp(&b.bill.total())) {
            Some(single) => rows.push(row(problem, single)),
            None => rows.push(missing(problem, way, pools)),
        }
    }
    rows
}

fn row(problem: &Problem<'_>, single: &Single) -> OptionRow {
    let pool = &problem.pools[single.pool];
    let device = &problem.table.devices[pool.device];
    let at = |at: At| problem.single(single.pool, at).map_or(single.bill, |single| single.bill);
    let [low, high] = [at(At::P10), at(At::P90)];
    let of = |f: fn(&Bill) -> f64| ordered(f(&low), f(&single.bill), f(&high));
    let cost = of(Bill::total);
    let known = single.energy_known();
    let (mode, units, utilisation, wait) = sizes(problem, single);
    OptionRow {
        way: pool.way,
        what: problem.words_of(single),
        device: Some(device.id.clone()),
        meets: true,
        missed: None,
        mode: Some(mode),
        units,
        slots: pool.slots,
        per_hour: (!pool.way.is_bought()).then_some(pool.per_hour),
        price: pool.way.is_bought().then_some([pool.gpu_price, pool.machine_price]),
        provider: pool.provider.clone(),
        instance: pool.instance.clone(),
        date: pool.date.clone(),
        cost: Some(cost),
        per_month: Some(per_month(cost, problem.plan.months)),
        bill: Some(single.bill),
        energy_kwh: known.then(|| of(|bill| bill.energy_kwh)),
        co2_kg: known.then(|| of(|bill| bill.co2_kg)),
        utilisation: Some(utilisation),
        wait_s: Some(wait),
        turnaround_s: Some(problem.turnaround_of(single)),
        bound_by: Some(bound(problem, single)),
        basis: basis(problem, single.services.iter().map(|(n, _)| (*n, pool.device))),
    }
}

/// Mode, units by phase, utilisation and wait of the busiest phase.
fn sizes(problem: &Problem<'_>, single: &Single) -> (&'static str, Vec<f64>, f64, f64) {
    match &single.mode {
        Mode::Kept(kept) => {
            let busiest = kept.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)).copied().unwrap_or_default();
            ("kept", kept.iter().map(|k| k.units).collect(), busiest.busy, busiest.wait.mean)
        }
        Mode::Batches(all) => {
            let slots = problem.pools[single.pool].slots;
            let (mut computing, mut on, mut runs, mut waited) = (0.0, 0.0, 0.0, 0.0);
            for ((n, sessions), (_, service)) in all.iter().zip(&single.services) {
                for (phase, session) in problem.phases.iter().zip(sessions) {
                    let count = phase.mean[*n] * phase.months;
                    computing += count * service.seconds / 3600.0;
                    on += session.charged_h * slots * phase.months;
                    runs += count;
                    waited += count * session.wait_s;
                }
            }
            let most = |p: usize| all.iter().map(|(_, s)| s[p].machines).fold(0.0, f64::max);
            let units = (0..problem.phases.len()).map(most).collect();
            (
                "batches",
                units,
                if on > 0.0 { computing / on } else { 0.0 },
                if runs > 0.0 { waited / runs } else { 0.0 },
            )
        }
    }
}

/// What decides how much is needed: a deadline, else what the workload with most load is held back by.
fn bound(problem: &Problem<'_>, single: &Single) -> String {
    let by_deadline = match &single.mode {
        Mode::Kept(kept) => kept.iter().any(|k| k.by_deadline),
        Mode::Batches(all) => all.iter().any(|(_, sessions)| sessions.iter().any(|s| s.by_deadline)),
    };
    if by_deadline {
        return "deadline".to_owned();
    }
    let load = |n: usize, seconds: f64| problem.phases[0].peak[n] * seconds;
    let most = single.services.iter().max_by(|a, b| load(a.0, a.1.seconds).total_cmp(&load(b.0, b.1.seconds)));
    let Some((work, service)) = most else { return "nothing".to_owned() };
    let [storage, network] = service.data;
    if storage + network > service.seconds / 2.0 {
        return if storage > network { "storage" } else { "network" }.to_owned();
    }
    let device = problem.pools[single.pool].device;
    problem.table.cells[*work][device].as_ref().map_or("compute", |cell| cell.bound).to_owned()
}

/// A way in which not everything can be met: the device on which most is, and the first workload that is not.
fn missing(problem: &Problem<'_>, way: Way, pools: &Pools) -> OptionRow {
    let own = problem.pools.iter().enumerate().filter(|(_, pool)| pool.way == way);
    let tried = own.filter_map(|(n, pool)| {
        let failing: Vec<(usize, Why)> = problem
            .works()
            .filter_map(|(work, w)| {
                let why = match problem.shortest(work, pool) {
                    Ok(time) if time > w.deadline_s => Why::Late(time),
                    Ok(_) => return None,
                    Err(why) => why,
                };
                Some((work, why))
            })
            .collect();
        let failing = if failing.is_empty() { problem.single(n, At::P50).err().into_iter().collect() } else { failing };
        Some((failing.len(), n, failing.into_iter().next()?))
    });
    let nearest = tried.min_by(|a, b| a.0.cmp(&b.0).then(lateness(&a.2.1).total_cmp(&lateness(&b.2.1))));
    let (what, device, missed) = match nearest {
        Some((count, n, (work, why))) => {
            let device = &problem.table.devices[problem.pools[n].device];
            let w = &problem.plan.works[work];
            let others = if count > 1 { format!(", and {} more", count - 1) } else { String::new() };
            let text = match why {
                Why::Late(time) => {
                    format!("{} takes {}, {} too long", w.name, seconds(time), seconds(time - w.deadline_s))
                }
                Why::Interrupted => format!("{} may not be interrupted", w.name),
                Why::Lacks(lack) => format!("{}: {}", w.name, lack.words()),
            };
            (device.name.clone(), Some(device.id.clone()), format!("{text}{others}"))
        }
        None if way.is_bought() && !pools.unpriced.is_empty() => {
            (String::new(), None, "no purchase price is known; `[buy.gpu]` gives one".to_owned())
        }
        None if problem.works().next().is_none() => (String::new(), None, "no workload can be served".to_owned()),
        None => (String::new(), None, "no offer that the plan allows is known".to_owned()),
    };
    OptionRow {
        way,
        what,
        device,
        meets: false,
        missed: Some(missed),
        mode: None,
        units: Vec::new(),
        slots: 1.0,
        per_hour: None,
        price: None,
        provider: String::new(),
        instance: String::new(),
        date: String::new(),
        cost: None,
        per_month: None,
        bill: None,
        energy_kwh: None,
        co2_kg: None,
        utilisation: None,
        wait_s: None,
        turnaround_s: None,
        bound_by: None,
        basis: None,
    }
}

fn lateness(why: &Why) -> f64 {
    if let Why::Late(time) = why { *time } else { f64::INFINITY }
}

fn mix_row(problem: &Problem<'_>, mix: &Mix, best: Option<&Single>) -> MixRow {
    let at = |at: At| problem.bill_of_mix(mix, at).map_or(mix.bill.total(), |bill| bill.total());
    let cost = ordered(at(At::P10), mix.bill.total(), at(At::P90));
    let [bought, rented] = problem.words_of_mix(mix);
    let what = [bought, rented].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" + ");
    let last = problem.phases.len() - 1;
    let part = |part: &crate::mix::Part| {
        let pool = &problem.pools[part.pool];
        let shares = &part.shares[last];
        let used: Vec<usize> = problem.works().map(|(n, _)| n).filter(|n| shares[*n] > 0.0).collect();
        let load = Load::of(used.iter().filter_map(|n| {
            let s = problem.service(*n, pool, At::P50).ok()?;
            Some((per_second(problem.phases[last].peak[*n]) * shares[*n], s.seconds, problem.plan.works[*n].at_once))
        }));
        let devices = part.units[last] * pool.slots;
        PartRow {
            way: pool.way,
            device: problem.table.devices[pool.device].name.clone(),
            units: part.units.clone(),
            slots: pool.slots,
            utilisation: if devices > 0.0 { load.busy / devices } else { 0.0 },
            wait_s: if devices > load.busy { load.wait(devices).mean } else { 0.0 },
            runs: used.iter().map(|n| (problem.plan.works[*n].name.clone(), shares[*n])).collect(),
        }
    };
    let batch = |(work, place): &(usize, usize)| {
        let pool = &problem.pools[*place];
        let service = problem.service(*work, pool, At::P50).ok()?;
        let session = *problem.batches(pool, *work, &service).ok()?.0.last()?;
        Some(BatchRow {
            workload: problem.plan.works[*work].name.clone(),
            way: pool.way,
            device: problem.table.devices[pool.device].name.clone(),
            machines: session.machines,
            starts_per_month: session.starts,
            charged_h_per_month: session.charged_h,
        })
    };
    MixRow {
        what,
        is_single: best.is_some_and(|best| (best.bill.total() - mix.bill.total()).abs() <= 1e-9 * mix.bill.total()),
        parts: mix.parts.iter().map(part).collect(),
        batches: mix.batches.iter().filter_map(batch).collect(),
        cost,
        per_month: per_month(cost, problem.plan.months),
        bill: mix.bill,
        gap: mix.gap,
        left_out: mix.left_out,
    }
}

fn workloads(problem: &Problem<'_>) -> Vec<WorkRow> {
    let row = |(n, w): (usize, &crate::plan::Work)| {
        let cells = || problem.table.cells[n].iter().enumerate().skip(1);
        let runs_on = cells().filter_map(|(d, cell)| Some((d, cell.as_ref().ok()?)));
        let fastest = runs_on.min_by(|a, b| a.1.time.p50.total_cmp(&b.1.time.p50)).map(|(d, cell)| Fastest {
            gpu: problem.table.devices[d].name.clone(),
            time_s: cell.time,
            basis: cell.basis,
            precision: cell.precision.clone(),
        });
        let given = matches!(w.source, crate::plan::Source::Times(..));
        WorkRow {
            name: w.name.clone(),
            runs_per_month: w.runs,
            runs_last_month: w.runs * libm::pow(1.0 + w.growth, f64::from(problem.plan.months - 1)),
            deadline_s: w.deadline_s,
            promise: if w.latency { "latency" } else { "deadline" },
            met: problem.active[n],
            gpus: cells().filter(|(_, cell)| cell.is_ok()).count(),
            lacking: (!given && cells().any(|(_, cell)| cell.is_err())).then(|| lacks(problem.table, n)),
            fastest,
        }
    };
    problem.plan.works.iter().enumerate().map(row).collect()
}

fn notes(problem: &Problem<'_>, pools: &Pools, mix: Option<&Mix>) -> Vec<String> {
    let mut notes = pools.notes.clone();
    notes.extend(problem.table.notes.iter().cloned());
    if !pools.unpriced.is_empty() && problem.plan.ways.iter().any(|way| way.is_bought()) {
        let n = pools.unpriced.len() as u64;
        notes.push(format!(
            "no purchase price is known for {}, such as {}: they are not bought; `[buy.gpu]` gives prices",
            several(n, "GPU", "GPUs"),
            pools.unpriced.iter().take(3).cloned().collect::<Vec<_>>().join(", ")
        ));
    }
    let old = problem.pools.iter().filter(|pool| pool.old).count() as u64;
    if old > 0 {
        notes.push(format!(
            "{} older than 30 days; `breakeven prices update` renews them",
            several(old, "price is", "prices are")
        ));
    }
    if !problem.plan.ways.contains(&Way::Marketplace) {
        notes.push("marketplaces, whose hosts come and go, are left out: `allow.ways` takes them in".to_owned());
    }
    let left_out = mix.map_or(0, |mix| mix.left_out);
    if left_out > 0 {
        notes
            .push(format!("the mix was sought among the most promising kinds; {left_out} more were left out for size"));
    }
    notes.push("waits are those of a G/G/k queue by Allen and Cunneen, with Sakasegawa's term".to_owned());
    notes
}

/// The line to act on.
fn summary(
    problem: &Problem<'_>,
    answer: &Answer,
    mix: Option<&Mix>,
    rented: Option<&Mix>,
    bought: Option<&Mix>,
) -> Summary {
    let plan = problem.plan;
    let money = |x: f64| money(x, &plan.currency);
    let missed = answer.unmet.first().map(|first| {
        let more = answer.unmet.len() - 1;
        let others = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        match (first.at_best_s, first.late_s, &first.gpu) {
            (Some(best), Some(late), Some(gpu)) => format!(
                "{}{others} cannot be met: at best {} on {gpu}, {} later than its {}",
                first.workload,
                seconds(best),
                seconds(late),
                seconds(first.deadline_s)
            ),
            _ => format!("{}{others} can run nowhere: {}", first.workload, first.why.clone().unwrap_or_default()),
        }
    });
    let Some((mix, row)) = mix.zip(answer.mix.as_ref()) else {
        let sentence =
            missed.unwrap_or_else(|| "Nothing that the plan allows serves all workloads together".to_owned());
        return Summary { sentence, cost: None, per_month: None, basis: None };
    };
    let [buys, rents] = problem.words_of_mix(mix);
    let month = money(row.per_month.p50);
    let all_cpu = mix
        .parts
        .iter()
        .map(|p| p.pool)
        .chain(mix.batches.iter().map(|b| b.1))
        .all(|p| problem.pools[p].way == Way::Cpu);
    let pays = |answer: &Answer| {
        answer.rent_or_buy.as_ref().map(|curve| (curve.pays_from_month, curve.rent.clone(), curve.buy.clone()))
    };
    let mut sentence = if buys.is_empty() {
        let verb = if all_cpu { "Stay on the CPU" } else { "Rent" };
        let what = if all_cpu {
            format!("{verb}: {rents}, {month} a month")
        } else {
            format!("{verb} {rents}: {month} a month")
        };
        match pays(answer) {
            Some((Some(at), _, buy)) => format!("{what}; buying {buy} pays from month {at} on"),
            Some((None, _, buy)) => format!("{what}; buying {buy} does not pay within 20 years"),
            None if bought.is_none() && plan.ways.iter().any(|way| way.is_bought()) => {
                format!("{what}; nothing that can be bought serves it all")
            }
            None => what,
        }
    } else {
        let also = if rents.is_empty() { String::new() } else { format!(" and rent {rents}") };
        let what = format!(
            "Buy {buys}{also}: {month} a month over {} months, {} at the start",
            plan.months,
            money(row.bill.capital)
        );
        match (pays(answer), rented) {
            (Some((Some(at), rent, _)), Some(other)) => format!(
                "{what}; pays from month {at} on against renting {rent} at {} a month",
                money(other.bill.total() / f64::from(plan.months))
            ),
            _ => what,
        }
    };
    if let Some(missed) = missed {
        sentence = format!("{missed}. For the rest: {sentence}");
    }
    let works = mix.parts.iter().flat_map(|part| {
        let device = problem.pools[part.pool].device;
        problem.works().map(|(n, _)| n).filter(|n| part.shares.iter().any(|s| s[*n] > 0.0)).map(move |n| (n, device))
    });
    let batched = mix.batches.iter().map(|(work, pool)| (*work, problem.pools[*pool].device));
    let basis = basis(problem, works.chain(batched));
    Summary { sentence, cost: Some(row.cost), per_month: Some(row.per_month), basis }
}
