//! The OpenAPI document: `openapi.json` beside this, and the published schemas of the formats, a component each.

use serde_json::{Map, Value};
use std::sync::LazyLock;

const PATHS: &str = include_str!("openapi.json");
/// Component, and the schema file of `docs/schema` that it is.
const FORMATS: [(&str, &str); 3] = [
    ("request", include_str!("../../../docs/schema/request-1.schema.json")),
    ("workload", include_str!("../../../docs/schema/workload-1.schema.json")),
    ("estimate", include_str!("../../../docs/schema/estimate-1.schema.json")),
];

/// The document as it is served.
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| format!("{:#}\n", assemble()));
    &DOCUMENT
}

fn assemble() -> Value {
    let mut document: Value = parse(PATHS);
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    for (format, text) in FORMATS {
        let components = &mut document["components"]["schemas"];
        for (name, schema) in components_of(format, parse(text)) {
            components[name] = schema;
        }
    }
    document
}

/// A schema and its parts as components: the parts of `request` are called `request_numbers` and so on.
fn components_of(format: &str, mut schema: Value) -> Map<String, Value> {
    let fields = schema.as_object_mut().into_iter();
    let parts: Vec<Value> =
        fields.flat_map(|f| ["$schema", "$id", "$defs"].map(|key| f.remove(key))).flatten().collect();
    let parts = parts.into_iter().filter_map(|part| match part {
        Value::Object(parts) => Some(parts),
        _ => None,
    });
    let mut components: Map<String, Value> =
        parts.flatten().map(|(name, part)| (format!("{format}_{name}"), part)).collect();
    components.insert(format.to_owned(), schema);
    components.values_mut().for_each(|component| point(component, format));
    components
}

/// Makes references point to components.
fn point(schema: &mut Value, format: &str) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                let name = match (target.strip_prefix("#/$defs/"), target.strip_prefix("urn:breakeven:")) {
                    (Some(part), _) => format!("{format}_{part}"),
                    (_, Some(other)) => other.split(':').next().unwrap_or_default().to_owned(),
                    _ => return,
                };
                *target = format!("#/components/schemas/{name}");
            }
            fields.values_mut().for_each(|value| point(value, format));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| point(value, format)),
        _ => {}
    }
}

/// Text that is part of this program; the tests read it.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
