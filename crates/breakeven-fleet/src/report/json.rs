//! A fleet with every digit, for programs: `breakeven.fleet/1`.

use super::tables::notes;
use super::words::{advice, evidence};
use crate::fleet::Fleet;
use crate::names::KINDS;
use crate::outcome::Outcome;
use crate::tally::{Freed, Group, Hours};
use breakeven::interval::Interval;
use serde_json::{Map, Value, json as value};

/// Groups of one kind; the rest is one.
const MOST: usize = 1000;

/// `{"schema": "breakeven.fleet/1", "totals": {…}, …}`; what is not known is `null`.
pub fn json(fleet: &Fleet<'_>) -> String {
    let totals = &fleet.totals;
    let mut sums = hours(&totals.all);
    let of = &totals.lacking;
    for (key, without) in [
        ("gpu_hours", of.gpu_hours),
        ("cpu_hours", of.cpu_hours),
        ("wall_hours", of.wall_hours),
        ("wait_hours", of.wait_hours),
        ("node_hours", of.node_hours),
    ] {
        if without > 0 && without + totals.pending() >= totals.all.jobs {
            sums.insert(key.to_owned(), Value::Null);
        }
    }
    let judged = value!(totals.judged());
    let (cost, drawn) = (totals.usd.get(), totals.kwh.get());
    let known = |x: Interval, lacking: u64| (x.p90 > 0.0 || lacking == 0).then_some(x);
    let (cost, drawn) = (known(cost, totals.lacking.usd), known(drawn, totals.lacking.kwh));
    for (key, figure) in [
        ("judged", judged),
        ("usd", value!(cost.map(|usd| usd.p50))),
        ("kwh", value!(drawn.map(|kwh| kwh.p50))),
        ("usd_range", value!(cost)),
        ("kwh_range", value!(drawn)),
        ("running", Value::Object(hours(&totals.running))),
        ("jobs_lacking", lacking(fleet)),
    ] {
        sums.insert(key.to_owned(), figure);
    }
    let rows = |judged: bool| {
        let counted = Outcome::ALL.iter().zip(totals.rows).filter(|(outcome, _)| outcome.is_judged() == judged);
        Value::Object(counted.map(|(outcome, rows)| (outcome.key().to_owned(), value!(rows))).collect())
    };
    let waste: Vec<Value> = Outcome::ALL
        .iter()
        .zip(&totals.freed)
        .flat_map(|(outcome, both)| {
            both.iter().zip([true, false]).map(move |(freed, certain)| (outcome, freed, certain))
        })
        .filter(|(_, freed, _)| freed.jobs > 0)
        .map(|(outcome, freed, certain)| {
            let mut row = saved(freed);
            row.insert("rule".to_owned(), value!(outcome.key()));
            row.insert("certain".to_owned(), value!(certain));
            Value::Object(row)
        })
        .collect();
    let all_saved = |certain: bool| {
        let mut all = saved(&totals.freed(certain));
        all.insert("wait_hours".to_owned(), value!(fleet.freed_wait(certain) / 3600.0));
        Value::Object(all)
    };
    let mut groups: Map<String, Value> =
        KINDS.iter().map(|of| (of.key().to_owned(), grouped(&fleet.groups(*of)))).collect();
    groups.insert("gpu".to_owned(), grouped(&fleet.models()));
    let notes: Vec<Value> = notes(fleet).into_iter().map(|(code, text)| value!({"code": code, "text": text})).collect();
    let basis = if totals.measured > 0 && totals.measured == totals.all.jobs { "measured" } else { "modelled" };
    let price = if fleet.context.models.given().usd_per_gpu_h.is_some() { "given" } else { "assumed" };
    let all = value!({
        "schema": "breakeven.fleet/1",
        "sentence": super::sentence(fleet),
        "rows": fleet.rows(),
        "totals": sums,
        "basis": {"usd": price, "kwh": basis, "hours": "measured"},
        "judged": rows(true),
        "not_judged": rows(false),
        "certain": all_saved(true),
        "needs_a_look": all_saved(false),
        "waste": waste,
        "by": groups,
        "worst": worst(fleet),
        "notes": notes,
    });
    format!("{all:#}\n")
}

fn hours(sums: &Hours) -> Map<String, Value> {
    let of = |s: crate::tally::Sum| value!(s.get() / 3600.0);
    [
        ("jobs", value!(sums.jobs)),
        ("gpu_hours", of(sums.gpu_s)),
        ("cpu_hours", of(sums.cpu_s)),
        ("wall_hours", of(sums.wall_s)),
        ("wait_hours", of(sums.wait_s)),
        ("node_hours", of(sums.node_s)),
    ]
    .into_iter()
    .map(|(key, figure)| (key.to_owned(), figure))
    .collect()
}

fn lacking(fleet: &Fleet<'_>) -> Value {
    let of = &fleet.totals.lacking;
    value!({
        "gpu_hours": of.gpu_hours, "cpu_hours": of.cpu_hours, "wall_hours": of.wall_hours,
        "wait_hours": of.wait_hours, "node_hours": of.node_hours, "usd": of.usd, "kwh": of.kwh,
    })
}

fn saved(freed: &Freed) -> Map<String, Value> {
    let priced = freed.unpriced < freed.jobs || freed.jobs == 0;
    let drawn = freed.kwh.get();
    [
        ("jobs", value!(freed.jobs)),
        ("gpu_hours", value!(freed.gpu_s.get() / 3600.0)),
        ("usd", value!(priced.then(|| freed.usd.get()))),
        ("kwh", value!((drawn.p90 > 0.0 || freed.jobs == 0).then_some(drawn))),
        ("jobs_without_price", value!(freed.unpriced)),
    ]
    .into_iter()
    .map(|(key, figure)| (key.to_owned(), figure))
    .collect()
}

fn grouped(groups: &[(String, Group)]) -> Value {
    let mut rows: Vec<Value> = groups.iter().take(MOST).map(|(name, group)| one(Some(name), group)).collect();
    if groups.len() > MOST {
        let mut rest = Group::default();
        groups[MOST..].iter().for_each(|(_, group)| rest.merge(group));
        rows.push(one(None, &rest));
    }
    value!({"groups": groups.len(), "rows": rows})
}

/// A group; without a name all that are not among the first.
fn one(name: Option<&str>, group: &Group) -> Value {
    let hours = |s: crate::tally::Sum| s.get() / 3600.0;
    let known = |which: usize, figure: f64| (group.known[which] > 0).then_some(figure);
    value!({
        "name": name, "jobs": group.jobs, "judged": group.judged, "wasting": group.wasting,
        "gpu_hours": known(0, hours(group.gpu_s)), "cpu_hours": known(1, hours(group.cpu_s)),
        "gpu_wait_hours": hours(group.gpu_wait_s), "usd": known(2, group.usd.get()),
        "certain_gpu_hours": hours(group.certain_s), "certain_usd": group.certain_usd.get(),
        "look_gpu_hours": hours(group.look_s), "look_usd": group.look_usd.get(),
    })
}

fn worst(fleet: &Fleet<'_>) -> Value {
    let context = &fleet.context;
    let row = |job: &crate::fleet::Worst| {
        let (row, judged) = (&job.row, &job.row.judged);
        value!({
            "id": job.id, "rule": judged.outcome.key(), "certain": judged.certain,
            "evidence": evidence(row, context), "advice": advice(row, context),
            "gpus": row.gpus, "gpu_use": row.usage.mean, "gpu_peak": row.usage.peak,
            "gpu_memory_bytes": row.usage.memory, "wall_hours": judged.wall_s / 3600.0,
            "freed_gpu_hours": judged.freed_gpu_s / 3600.0, "freed_usd": judged.freed_usd,
            "freed_kwh": judged.freed_kwh,
        })
    };
    Value::Array(fleet.worst.iter().flatten().map(row).collect())
}
