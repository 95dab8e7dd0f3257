//! The first line of a file: who the GPUs are, and what was watched.

use super::FORMAT;
use crate::gpu::{Busy, Gpu};
use crate::totals::Totals;
use breakeven::hardware::Vendor;
use serde_json::{Value, json};

/// More GPUs than any machine has.
const MOST: usize = 1024;

/// Makers by their names in files.
const VENDORS: [(Vendor, &str); 5] = [
    (Vendor::Nvidia, "nvidia"),
    (Vendor::Amd, "amd"),
    (Vendor::Intel, "intel"),
    (Vendor::Apple, "apple"),
    (Vendor::Other, "other"),
];

/// The name of a maker in files.
pub(crate) fn vendor(vendor: Vendor) -> &'static str {
    VENDORS.iter().find(|row| row.0 == vendor).map_or("other", |row| row.1)
}

/// The head of a session.
pub(super) fn written(totals: &Totals, interval_s: f64) -> String {
    let gpus: Vec<Value> = totals
        .gpus
        .iter()
        .map(|gpu| {
            json!({
                "label": gpu.label, "vendor": vendor(gpu.vendor), "name": gpu.name, "id": gpu.id, "memory": gpu.memory,
                "limit_w": gpu.limit_w, "link": gpu.link, "instance": gpu.instance, "awake": gpu.busy == Busy::Awake,
            })
        })
        .collect();
    json!({
        "format": FORMAT, "gpus": gpus, "cores": totals.cores, "what": totals.what, "interval_s": interval_s,
    })
    .to_string()
}

/// The totals of a session that has not begun, and its interval, s; `None` for what is no head of ours.
pub(super) fn read(line: &str) -> Option<(Totals, f64)> {
    let head: Value = serde_json::from_str(line).ok()?;
    (head["format"] == FORMAT).then_some(())?;
    let rows = head["gpus"].as_array()?;
    (rows.len() <= MOST).then_some(())?;
    let gpu = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let vendor = VENDORS.iter().find(|known| known.1 == text("vendor")).map_or(Vendor::Other, |known| known.0);
        Gpu {
            id: text("id"),
            memory: row["memory"].as_f64(),
            limit_w: row["limit_w"].as_f64(),
            link: row["link"].as_f64(),
            instance: row["instance"] == true,
            busy: if row["awake"] == true { Busy::Awake } else { Busy::Kernels },
            ..Gpu::new(text("label"), vendor, text("name"))
        }
    };
    let gpus: Vec<Gpu> = rows.iter().map(gpu).collect();
    let cores = head["cores"].as_u64().and_then(|cores| usize::try_from(cores).ok());
    let what = head["what"].as_str().map(str::to_owned);
    Some((Totals::new(&gpus, cores, what), head["interval_s"].as_f64().filter(|s| *s > 0.0).unwrap_or(0.1)))
}
