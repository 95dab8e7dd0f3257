//! What every report shows, as tables and lines.

use crate::answer::{Answer, OptionRow};
use crate::bill::Bill;
use crate::describe::{cents, money, span};
use breakeven::interval::Interval;
use breakeven::report::words::{UNKNOWN, count, number, percent, printable, range, seconds, time};
use breakeven::report::{Align, Table};

/// Months of the curve that are shown beside its first, its crossing and its last.
const SHOWN_MONTHS: [u32; 9] = [0, 1, 3, 6, 12, 24, 36, 48, 60];

/// Columns of words.
const NAMES: [&str; 6] = ["what", "way", "runs", "bound by", "basis", "fastest on"];

/// A part of the report: a heading, a table, lines below it.
#[derive(Default)]
pub(super) struct Section {
    /// The heading.
    pub(super) title: String,
    /// Names of the columns.
    pub(super) columns: Vec<String>,
    /// Cells, row by row; the first is a name.
    pub(super) rows: Vec<Vec<String>>,
    /// Sentences.
    pub(super) lines: Vec<String>,
}

impl Section {
    fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { title: title.into(), columns, ..Self::default() }
    }

    fn told(title: &str, lines: Vec<String>) -> Self {
        Self { lines, ..Self::new(title, &[]) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.lines.is_empty()
    }

    /// As text and Markdown are made of it.
    pub(super) fn table(&self) -> Table {
        let align = |n, name: &str| if n == 0 || NAMES.contains(&name) { Align::Left } else { Align::Right };
        let columns: Vec<_> =
            self.columns.iter().enumerate().map(|(n, name)| (name.as_str(), align(n, name))).collect();
        let mut table = Table::new(&columns);
        self.rows.iter().for_each(|row| table.row(row.clone()));
        table
    }
}

/// Every part that has something to show, in order.
pub(super) fn sections(a: &Answer) -> Vec<Section> {
    let all = [
        unmet(a),
        options(a),
        bills(a),
        mix(a),
        months(a),
        utilisation(a),
        front(a),
        turns(a),
        workloads(a),
        assumed(a),
        Section::told("Notes", a.notes.clone()),
    ];
    all.into_iter().filter(|section| !section.is_empty()).collect()
}

fn or_unknown(text: Option<String>) -> String {
    text.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// `$310 [$280–$400]`.
pub(super) fn with_range(i: Interval, currency: &str) -> String {
    let [low, middle, high] = [i.p10, i.p50, i.p90].map(|x| money(x, currency));
    if low == high { middle } else { format!("{middle} [{low}–{high}]") }
}

fn unmet(a: &Answer) -> Section {
    let lines = a.unmet.iter().flat_map(|unmet| {
        let first = match (unmet.at_best_s, unmet.late_s, &unmet.gpu) {
            (Some(best), Some(late), Some(gpu)) => format!(
                "{}: {} at best, on {gpu}; its deadline of {} is missed by {}",
                unmet.workload,
                seconds(best),
                seconds(unmet.deadline_s),
                seconds(late)
            ),
            _ => format!("{}: {}", unmet.workload, unmet.why.clone().unwrap_or_default()),
        };
        let would = unmet.would.iter().map(|would| format!("would do: {would}"));
        [first].into_iter().chain(would.collect::<Vec<_>>())
    });
    Section::told("Cannot be met", lines.collect())
}

fn options(a: &Answer) -> Section {
    let mut section = Section::new(
        "Options, everything on one kind",
        &[
            "way",
            "what",
            "a month",
            "over the horizon",
            "energy, kWh",
            "CO2e, kg",
            "busy",
            "wait",
            "to result",
            "bound by",
            "basis",
        ],
    );
    for o in &a.options {
        match (&o.missed, o.cost, o.per_month) {
            (None, Some(cost), Some(month)) => section.rows.push(vec![
                o.way.words().to_owned(),
                printable(&o.what, 70),
                with_range(month, &a.currency),
                money(cost.p50, &a.currency),
                or_unknown(o.energy_kwh.map(|i| number(i.p50))),
                or_unknown(o.co2_kg.map(|i| number(i.p50))),
                or_unknown(o.utilisation.map(percent)),
                or_unknown(o.wait_s.map(span)),
                or_unknown(o.turnaround_s.map(span)),
                or_unknown(o.bound_by.clone()),
                or_unknown(o.basis.map(|b| format!("{b:?}").to_lowercase())),
            ]),
            (missed, ..) => {
                let on = if o.what.is_empty() { String::new() } else { format!(" ({})", printable(&o.what, 60)) };
                section.lines.push(format!("{}{on}: {}", o.way.words(), missed.clone().unwrap_or_default()));
            }
        }
    }
    let priced = a.options.iter().filter(|o| o.meets).filter_map(|o| price(o, &a.currency));
    section.lines.extend(priced);
    section
}

/// What an option is priced by, with the day.
fn price(o: &OptionRow, currency: &str) -> Option<String> {
    let day = if o.date.is_empty() { String::new() } else { format!(", {}", o.date) };
    let what = match (o.per_hour, o.price) {
        (Some(per_hour), _) => format!("{per_hour:.4} {currency} an hour"),
        (None, Some([gpu, machine])) => {
            format!("{} a GPU, {} the machine around it", cents(gpu, currency), cents(machine, currency))
        }
        (None, None) => return None,
    };
    let instance = if o.instance.is_empty() { String::new() } else { format!(" {}", printable(&o.instance, 40)) };
    Some(format!("price of {}: {what} ({}{instance}{day})", o.way.words(), printable(&o.provider, 100)))
}

fn bill_cells(bill: &Bill, currency: &str) -> Vec<String> {
    let parts = [
        bill.capital,
        bill.rent,
        bill.electricity,
        bill.cooling,
        bill.hosting,
        bill.staff,
        bill.data,
        -bill.resale,
        bill.total(),
    ];
    parts.iter().map(|x| if x.abs() < 0.005 { String::new() } else { cents(*x, currency) }).collect()
}

fn bills(a: &Answer) -> Section {
    let mut section = Section::new(
        format!("Bill over {} months", a.months),
        &["way", "capital", "rent", "electricity", "cooling", "hosting", "staff", "data", "resale", "total"],
    );
    let of_ways = a.options.iter().filter_map(|o| Some((o.way.words(), o.bill.as_ref()?)));
    let all = of_ways.chain(a.mix.as_ref().filter(|mix| !mix.is_single).map(|mix| ("cheapest mix", &mix.bill)));
    for (name, bill) in all {
        section.rows.push([vec![name.to_owned()], bill_cells(bill, &a.currency)].concat());
    }
    section
}

fn units(units: &[f64]) -> String {
    let (first, last) = (units.first().copied().unwrap_or(0.0), units.last().copied().unwrap_or(0.0));
    if first == last { format!("{last}") } else { format!("{first} to {last}") }
}

fn mix(a: &Answer) -> Section {
    let mut section = Section::new("Cheapest mix", &["device", "way", "units", "busy", "wait", "runs"]);
    let Some(mix) = &a.mix else { return section };
    let gap = match mix.gap {
        Some(gap) if gap < 1e-9 => "proven to be the optimum of its program".to_owned(),
        Some(gap) => format!("within {:.2} % of the optimum of its program", gap * 100.0),
        None => "no bound on the optimum is known".to_owned(),
    };
    let single = if mix.is_single { ", no mix is cheaper than this single kind" } else { "" };
    section.lines.push(format!(
        "{}: {} a month{single}; {gap}",
        printable(&mix.what, 300),
        with_range(mix.per_month, &a.currency)
    ));
    for part in &mix.parts {
        let runs = part.runs.iter().take(4).map(|(name, share)| format!("{} of {name}", percent(*share)));
        let more = if part.runs.len() > 4 { format!(" and {} more", part.runs.len() - 4) } else { String::new() };
        section.rows.push(vec![
            part.device.clone(),
            part.way.words().to_owned(),
            if part.slots > 1.0 { format!("{} × {}", units(&part.units), part.slots) } else { units(&part.units) },
            percent(part.utilisation),
            span(part.wait_s),
            runs.collect::<Vec<_>>().join(", ") + &more,
        ]);
    }
    for batch in &mix.batches {
        section.rows.push(vec![
            batch.device.clone(),
            format!("{}, batches", batch.way.words()),
            format!("{}", batch.machines),
            UNKNOWN.to_owned(),
            UNKNOWN.to_owned(),
            format!(
                "{}: {} batches, {} h charged a month",
                batch.workload,
                number(batch.starts_per_month),
                number(batch.charged_h_per_month)
            ),
        ]);
    }
    section
}

fn months(a: &Answer) -> Section {
    let mut section =
        Section::new("Rent against purchase, paid until the end of a month (resale apart)", &["month", "rent", "buy"]);
    let Some(curve) = &a.rent_or_buy else { return section };
    let last = curve.months.last().map_or(0, |point| point.month);
    let shown = |month: u32| SHOWN_MONTHS.contains(&month) || month == last || Some(month) == curve.pays_from_month;
    for point in curve.months.iter().filter(|point| shown(point.month)) {
        section.rows.push(vec![point.month.to_string(), cents(point.rent, &a.currency), cents(point.buy, &a.currency)]);
    }
    section.lines.push(format!("rent: {}; buy: {}", curve.rent, curve.buy));
    section.lines.push(match curve.pays_from_month {
        Some(month) => format!("buying has cost no more from month {month} on"),
        None => "buying does not come to cost less within 20 years".to_owned(),
    });
    section
}

fn utilisation(a: &Answer) -> Section {
    let mut section = Section::new(
        "Rent against purchase, a month by the utilisation of one bought GPU",
        &["utilisation", "rent", "buy"],
    );
    let Some(curve) = &a.rent_or_buy else { return section };
    for point in curve.utilisation.iter().filter(|point| ((point.utilisation * 20.0).round() as u32).is_multiple_of(4))
    {
        section.rows.push(vec![
            percent(point.utilisation),
            cents(point.rent, &a.currency),
            cents(point.buy, &a.currency),
        ]);
    }
    if !section.rows.is_empty() {
        section.lines.push(match curve.pays_from_utilisation {
            Some(u) => format!("buying costs less from a utilisation of {:.1} % on", u * 100.0),
            None => "renting by the hour costs less at any utilisation".to_owned(),
        });
    }
    section
}

fn front(a: &Answer) -> Section {
    let mut section =
        Section::new("Cost against time: what nothing beats in both", &["option", "a month", "to result, mean"]);
    for point in &a.front {
        section.rows.push(vec![
            printable(&point.option, 70),
            money(point.per_month, &a.currency),
            span(point.turnaround_s),
        ]);
    }
    section
}

fn turns(a: &Answer) -> Section {
    let lines = a.turns.iter().map(|turn| {
        format!(
            "{}: at {} ({} × as planned), {} costs least of the single kinds",
            turn.input,
            turn.at,
            number(turn.factor),
            turn.then
        )
    });
    Section::told("What turns the decision", lines.collect())
}

fn workloads(a: &Answer) -> Section {
    let mut section = Section::new(
        "Workloads",
        &["workload", "runs a month", "to be ready in", "fastest on", "a run there", "GPUs", "planned for"],
    );
    for w in &a.workloads {
        let runs = |x: f64| if x >= 1.0 { count(x.round() as u64) } else { number(x) };
        let grows = w.runs_last_month != w.runs_per_month;
        section.rows.push(vec![
            w.name.clone(),
            if grows {
                format!("{} to {}", runs(w.runs_per_month), runs(w.runs_last_month))
            } else {
                runs(w.runs_per_month)
            },
            if w.promise == "latency" { format!("{} (95 %)", seconds(w.deadline_s)) } else { seconds(w.deadline_s) },
            or_unknown(w.fastest.as_ref().map(|f| match &f.precision {
                Some(precision) => format!("{} ({precision})", f.gpu),
                None => f.gpu.clone(),
            })),
            or_unknown(w.fastest.as_ref().map(|f| {
                let around = if f.time_s.p10 < f.time_s.p90 { format!(" {}", range(f.time_s)) } else { String::new() };
                format!("{}{around}", time(f.time_s))
            })),
            w.gpus.to_string(),
            if w.met { "yes" } else { "no" }.to_owned(),
        ]);
        if let Some(lacking) = &w.lacking {
            section.lines.push(format!("{} cannot run on: {}", w.name, printable(lacking, 400)));
        }
    }
    section
}

fn assumed(a: &Answer) -> Section {
    let lines = a.assumed.iter().map(|x| format!("{} = {}: {}", x.key, x.text, x.why));
    Section::told("Assumed, where the plan gives nothing (money in US dollars)", lines.collect())
}
