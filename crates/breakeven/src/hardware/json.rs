//! GPUs and CPUs as JSON, every figure with its source: `breakeven.gpus/1`, `breakeven.cpus/1`.

use super::figure::{Figure, Value as Worth};
use super::{Cpu, Gpu};
use serde_json::{Value, json};

/// The list that faces pass on; `note` says what a name stood for.
///
/// ```
/// use breakeven::hardware::{Catalogue, gpus_json};
/// let list = gpus_json(Catalogue::embedded().gpus(), None);
/// assert_eq!(list["schema"], "breakeven.gpus/1");
/// assert!(list["gpus"].as_array().unwrap().iter().any(|gpu| gpu["gpu"] == "l4"));
/// ```
pub fn gpus_json<'a>(gpus: impl IntoIterator<Item = &'a Gpu>, note: Option<String>) -> Value {
    let all = gpus.into_iter().map(|gpu| device("gpu", gpu.id(), gpu.name(), gpu.figures()));
    json!({ "schema": "breakeven.gpus/1", "gpus": all.collect::<Value>(), "note": note })
}

/// The list of CPUs; `note` says what a name stood for.
///
/// ```
/// use breakeven::hardware::{Catalogue, cpus_json};
/// let list = cpus_json(Catalogue::embedded().cpus(), None);
/// assert_eq!(list["schema"], "breakeven.cpus/1");
/// assert!(list["cpus"].as_array().unwrap().iter().any(|cpu| cpu["cpu"] == "epyc-7763"));
/// ```
pub fn cpus_json<'a>(cpus: impl IntoIterator<Item = &'a Cpu>, note: Option<String>) -> Value {
    let all = cpus.into_iter().map(|cpu| device("cpu", &cpu.device.id, &cpu.device.name, cpu.figures()));
    json!({ "schema": "breakeven.cpus/1", "cpus": all.collect::<Value>(), "note": note })
}

fn device(kind: &str, id: &str, name: &str, figures: &[Figure]) -> Value {
    let figures = figures.iter().map(|f| {
        let value = match &f.value {
            Worth::Number(n) => json!(n),
            Worth::Text(text) => json!(text),
        };
        json!({ "figure": f.kind.name, "value": value, "unit": f.kind.unit, "source": f.source,
                "read": f.read.to_string(), "confidence": f.confidence.name(), "note": f.note })
    });
    json!({ kind: id, "name": name, "figures": figures.collect::<Value>() })
}
