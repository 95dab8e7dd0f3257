//! The tables of a report, and its notes.

use super::words::{advice, energy, evidence, hours, large, money, remedy};
use crate::fleet::Fleet;
use crate::job::Oddity;
use crate::names::{KINDS, Of};
use crate::outcome::Outcome;
use crate::tally::Group;
use Align::{Left, Right};
use breakeven::report::words::{UNKNOWN, count, percent, printable, several, usd};
use breakeven::report::{Align, Table};

/// A table with what it is of.
pub(super) struct Rows {
    /// For programs.
    pub(super) key: &'static str,
    pub(super) caption: String,
    pub(super) columns: Vec<(&'static str, Align)>,
    /// Cells, each with the number that it shows, to sort by.
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A cell as it is shown, and as it is sorted.
pub(super) type Cell = (String, Option<f64>);

impl Rows {
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(&self.columns);
        for row in &self.rows {
            table.row(row.iter().map(|(shown, _)| shown.clone()).collect());
        }
        table
    }
}

fn text(text: impl Into<String>) -> Cell {
    (text.into(), None)
}

fn figure(x: f64, shown: impl Fn(f64) -> String) -> Cell {
    if x.is_finite() { (shown(x), Some(x)) } else { text(UNKNOWN) }
}

fn number(n: u64) -> Cell {
    figure(n as f64, |_| count(n))
}

/// Every table that has rows; of groups and jobs as many as are asked for.
pub(super) fn all(fleet: &Fleet<'_>, most: usize) -> Vec<Rows> {
    let mut tables = vec![totals(fleet), waste(fleet)];
    tables.extend(KINDS.map(|of| groups(of.key(), &format!("By {}", of.key()), fleet.groups(of), most, hashed(of))));
    tables.push(groups("gpu", "By GPU", fleet.models(), most, false));
    tables.extend([worst(fleet, most), unjudged(fleet)]);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Names that may be hashes are shown whole.
fn hashed(of: Of) -> bool {
    of != Of::Partition
}

fn totals(fleet: &Fleet<'_>) -> Rows {
    let totals = &fleet.totals;
    let lacking = &totals.lacking;
    let without = [lacking.gpu_hours, lacking.cpu_hours, lacking.wall_hours, lacking.node_hours, lacking.wait_hours];
    let row = |name: &str, hours: &crate::tally::Hours, spent: [Cell; 2]| {
        // Of a sum of which nothing is known not even a 0 is told.
        let sum = |(s, without): (crate::tally::Sum, u64)| {
            let unknown = s.get() == 0.0 && without > 0 && without + totals.pending() >= totals.all.jobs;
            figure(if unknown { f64::NAN } else { s.get() }, super::words::hours)
        };
        let [usd, kwh] = spent;
        let mut cells = vec![text(name), number(hours.jobs)];
        let sums = [hours.gpu_s, hours.cpu_s, hours.wall_s, hours.node_s, hours.wait_s];
        cells.extend(sums.into_iter().zip(without).map(sum));
        cells.extend([usd, kwh]);
        cells
    };
    let (cost, drawn) = (totals.usd.get(), totals.kwh.get());
    let spent = [
        if cost.p50 > 0.0 { (money(cost), Some(cost.p50)) } else { text(UNKNOWN) },
        if drawn.p50 > 0.0 { figure(drawn.p50, large) } else { text(UNKNOWN) },
    ];
    let mut rows = vec![row("all", &totals.all, spent)];
    if totals.running.jobs > 0 {
        rows.push(row("still running", &totals.running, [text(""), text("")]));
    }
    Rows {
        key: "totals",
        caption: format!("{} judged; hours are allocated × elapsed", percent(share(totals.judged(), totals.all.jobs))),
        columns: vec![
            ("jobs", Left),
            ("number", Right),
            ("GPU h", Right),
            ("CPU h", Right),
            ("wall h", Right),
            ("node h", Right),
            ("waiting h", Right),
            ("cost", Right),
            ("kWh", Right),
        ],
        rows,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn waste(fleet: &Fleet<'_>) -> Rows {
    let mut rows = Vec::new();
    for (outcome, both) in Outcome::ALL.iter().zip(&fleet.totals.freed) {
        for (freed, certain) in both.iter().zip([true, false]).filter(|(freed, _)| freed.jobs > 0) {
            let (cost, drawn) = (freed.usd.get(), freed.kwh.get());
            let known = freed.unpriced < freed.jobs;
            rows.push(vec![
                text(outcome.words()),
                text(if certain { "certain" } else { "look" }),
                number(freed.jobs),
                figure(freed.gpu_s.get(), hours),
                figure(if known { cost.p50 } else { f64::NAN }, usd),
                figure(if drawn.p90 > 0.0 { drawn.p50 } else { f64::NAN }, energy),
                text(remedy(*outcome)),
            ]);
        }
    }
    let wait = |certain: bool| fleet.freed_wait(certain);
    Rows {
        key: "waste",
        caption: format!(
            "Jobs that …; what needs a look frees at most this. Waiting that it frees, by partition, at least: {} h \
             for certain, {} h with a look",
            hours(wait(true)),
            hours(wait(false))
        ),
        columns: vec![
            ("jobs that", Left),
            ("", Left),
            ("number", Right),
            ("GPU h freed", Right),
            ("cost", Right),
            ("energy", Right),
            ("what to do", Left),
        ],
        rows,
    }
}

fn groups(key: &'static str, caption: &str, groups: Vec<(String, Group)>, most: usize, long: bool) -> Rows {
    // A log without such names has one group, of all.
    let groups = if groups.len() == 1 && groups[0].0.starts_with('(') { Vec::new() } else { groups };
    let left = groups.len().saturating_sub(most);
    let mut shown: Vec<(String, Group)> = groups.iter().take(most).cloned().collect();
    if left > 0 {
        let mut rest = Group::default();
        groups[most..].iter().for_each(|(_, group)| rest.merge(group));
        shown.push((format!("… {} more", count(left as u64)), rest));
    }
    let row = |(name, group): &(String, Group)| {
        vec![
            text(printable(name, if long { 60 } else { 40 })),
            number(group.jobs),
            number(group.judged),
            figure(known(group, 0, group.gpu_s.get()), hours),
            figure(known(group, 1, group.cpu_s.get()), hours),
            number(group.wasting),
            figure(group.certain_s.get(), hours),
            figure(if group.certain_usd.get() > 0.0 { group.certain_usd.get() } else { f64::NAN }, usd),
            figure(group.look_s.get(), hours),
        ]
    };
    Rows {
        key,
        caption: caption.to_owned(),
        columns: vec![
            (key, Left),
            ("jobs", Right),
            ("judged", Right),
            ("GPU h", Right),
            ("CPU h", Right),
            ("waste", Right),
            ("certain GPU h", Right),
            ("cost", Right),
            ("look GPU h", Right),
        ],
        rows: shown.iter().map(row).collect(),
    }
}

fn worst(fleet: &Fleet<'_>, most: usize) -> Rows {
    let context = &fleet.context;
    let mut worst: Vec<_> = fleet.worst.iter().flatten().collect();
    worst.sort_by(|a, b| {
        let weight = |job: &crate::judge::Judged| (job.certain, job.freed_gpu_s);
        weight(&b.row.judged).partial_cmp(&weight(&a.row.judged)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let row = |job: &&crate::fleet::Worst| {
        let judged = &job.row.judged;
        vec![
            text(printable(&job.id, 30)),
            text(judged.outcome.key()),
            text(if judged.certain { "certain" } else { "look" }),
            text(evidence(&job.row, context)),
            text(advice(&job.row, context)),
            figure(judged.freed_gpu_s, hours),
        ]
    };
    Rows {
        key: "worst",
        caption: "The jobs that free most, with the evidence".to_owned(),
        columns: vec![
            ("job", Left),
            ("rule", Left),
            ("", Left),
            ("evidence", Left),
            ("what to do", Left),
            ("GPU h freed", Right),
        ],
        rows: worst.iter().take(most).map(row).collect(),
    }
}

fn unjudged(fleet: &Fleet<'_>) -> Rows {
    let rows = Outcome::ALL.iter().zip(fleet.totals.rows).filter(|(outcome, rows)| !outcome.is_judged() && *rows > 0);
    Rows {
        key: "not_judged",
        caption: format!(
            "Not judged; with {} judged that is every one of {}",
            count(fleet.totals.judged()),
            several(fleet.rows(), "row", "rows")
        ),
        columns: vec![("rows that", Left), ("number", Right), ("reason", Left)],
        rows: rows.map(|(outcome, rows)| vec![text(outcome.words()), number(rows), text(outcome.key())]).collect(),
    }
}

/// A sum of a group, where it is known of any of its jobs.
fn known(group: &Group, which: usize, figure: f64) -> f64 {
    if group.known[which] > 0 { figure } else { f64::NAN }
}

/// What a reader should know: how figures are meant, what is lacking, what was odd.
pub(super) fn notes(fleet: &Fleet<'_>) -> Vec<(&'static str, String)> {
    let totals = &fleet.totals;
    let mut notes = Vec::new();
    let dates: Vec<String> = (0..fleet.by_model.len())
        .filter_map(|model| fleet.context.models.gpu(u16::try_from(model).ok()?).price_date.clone())
        .collect();
    if let Some((oldest, newest)) = dates.iter().min().zip(dates.iter().max()) {
        let when = if oldest == newest { oldest.clone() } else { format!("{oldest} to {newest}") };
        notes.push((
            "prices",
            format!("money is the cheapest rent of each GPU on demand, as listed {when}; --price gives your own"),
        ));
    }
    let lacking = [
        (totals.lacking.gpu_hours, "GPU hours"),
        (totals.lacking.cpu_hours, "CPU hours"),
        (totals.lacking.wall_hours, "wall hours"),
        (totals.lacking.wait_hours, "waiting hours"),
        (totals.lacking.node_hours, "node hours"),
        (totals.lacking.usd, "cost"),
        (totals.lacking.kwh, "energy"),
    ];
    let told: Vec<String> = lacking
        .iter()
        .filter(|(jobs, _)| *jobs > 0)
        .map(|(jobs, what)| format!("{what} of {}", several(*jobs, "job", "jobs")))
        .collect();
    if !told.is_empty() {
        notes.push(("unknown", format!("not known, and in no sum: {}", told.join(", "))));
    }
    for (oddity, jobs) in Oddity::ALL.iter().zip(fleet.odd).filter(|(_, jobs)| *jobs > 0) {
        notes.push((oddity.key(), format!("{} {}", several(jobs, "job", "jobs"), oddity.words())));
    }
    for (field, (cells, example)) in &fleet.unread.0 {
        let cells = several(*cells, "cell", "cells");
        notes.push((
            "unread",
            format!("{cells} of `{}` could not be read, such as `{}`", field.key(), printable(example, 60)),
        ));
    }
    notes.extend(fleet.examples.iter().map(|example| ("bad-row", printable(example, 200))));
    notes.extend(fleet.notes.iter().map(|(code, note)| (*code, printable(note, 300))));
    if fleet.totals.running.jobs > 0 {
        notes.push((
            "running",
            "jobs that were still running count with what they had so far; XDMoD counts them when they end".to_owned(),
        ));
    }
    notes
}

/// Text that stays text in Markdown.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
