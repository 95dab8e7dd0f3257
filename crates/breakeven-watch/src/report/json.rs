//! The totals with every digit, for programs: `breakeven.watch-totals/1`.

use super::sentence::sentences;
use crate::judge::judge;
use crate::reading::{Field, HEAT, POWER, SETTING};
use crate::save::vendor;
use crate::totals::{DeviceTotals, Totals};
use serde_json::{Map, Value, json as value};

/// `{"schema": "breakeven.watch-totals/1", "gpus": […], "host": {…}, …}`; what is not known is `null`.
pub fn json(totals: &Totals) -> String {
    let said = sentences(totals);
    let gpus: Vec<Value> = totals
        .gpus
        .iter()
        .zip(&totals.seen)
        .zip(&said)
        .map(|((gpu, seen), sentence)| {
            let verdict = judge(gpu, seen);
            value!({
                "label": gpu.label, "vendor": vendor(gpu.vendor), "name": gpu.name, "id": gpu.id,
                "memory_bytes": gpu.memory, "limit_w": gpu.limit_w, "link_bytes_per_s": gpu.link,
                "mig_instance": gpu.instance, "sentence": sentence,
                "held_back_by": verdict.held_back.key(), "lacks": verdict.lacks, "smaller": verdict.smaller,
                "mean": stats(seen, &Field::OF_GPUS, |seen, field| seen.stat(field).mean()),
                "most": stats(seen, &Field::OF_GPUS, |seen, field| seen.stat(field).most()),
                "watts": seen.watts(), "energy": energy(seen),
                "throttled": {
                    "power": seen.throttled_share(POWER), "heat": seen.throttled_share(HEAT),
                    "setting": seen.throttled_share(SETTING),
                },
                "idle_s": {
                    "copies": seen.idle.copies, "host": seen.idle.host, "neither": seen.idle.nothing,
                    "unknown": seen.idle.unknown,
                },
                "lost_at_s": seen.lost_at,
            })
        })
        .collect();
    let users: Vec<Value> = totals
        .users
        .all()
        .into_iter()
        .map(|(gpu, pid, user)| {
            value!({
                "gpu": totals.gpus.get(gpu).map(|gpu| &gpu.label), "pid": pid, "name": user.name,
                "busy": user.busy(), "most_memory_bytes": user.memory, "looks": user.looks,
            })
        })
        .collect();
    let notes: Vec<Value> =
        totals.notes.iter().map(|note| value!({"code": note.code, "text": note.text, "hint": note.hint})).collect();
    let all = value!({
        "schema": "breakeven.watch-totals/1",
        "what": totals.what, "seconds": totals.seconds, "samples": totals.samples, "missed": totals.missed,
        "gpus": gpus,
        "host": {
            "cores": totals.cores,
            "mean": stats(&totals.host, &[Field::Cores, Field::OwnCores], |seen, field| seen.stat(field).mean()),
            "energy": energy(&totals.host),
        },
        "processes": users,
        "notes": notes,
    });
    format!("{all:#}\n")
}

/// A value for each field that is one over time: counters, flags and bits are told elsewhere.
fn stats(seen: &DeviceTotals, fields: &[Field], of: impl Fn(&DeviceTotals, Field) -> Option<f64>) -> Value {
    let told = |field: &&Field| !matches!(field, Field::Joules | Field::Throttle | Field::Lost);
    let row = |field: &Field| (field.key().to_owned(), value!(of(seen, *field)));
    Value::Object(fields.iter().filter(told).map(row).collect::<Map<_, _>>())
}

fn energy(seen: &DeviceTotals) -> Value {
    let known = seen.meter.energy();
    value!({
        "joules": known.map(|(joules, _)| joules), "by": known.map(|(_, by)| by.key()),
        "known_s": seen.meter.known_s(), "counter_resets": seen.meter.resets(),
    })
}
