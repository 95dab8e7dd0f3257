//! GPUs as JSON, every figure with its source: `breakeven.gpus/1`.

use super::Gpu;
use super::figure::Value as Figure;
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
    let gpus: Vec<Value> = gpus.into_iter().map(gpu).collect();
    json!({ "schema": "breakeven.gpus/1", "gpus": gpus, "note": note })
}

fn gpu(gpu: &Gpu) -> Value {
    let figures = gpu.figures().iter().map(|f| {
        let value = match &f.value {
            Figure::Number(n) => json!(n),
            Figure::Text(text) => json!(text),
        };
        json!({ "figure": f.kind.name, "value": value, "unit": f.kind.unit, "source": f.source,
                "read": f.read.to_string(), "confidence": f.confidence.name(), "note": f.note })
    });
    json!({ "gpu": gpu.id(), "name": gpu.name(), "figures": figures.collect::<Vec<_>>() })
}
