//! The published JSON Schema says the same as the reader.

use super::Workload;
use super::samples::{HEAT, workloads};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/workload-1.schema.json"));

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Whether `value` is valid, for the keywords that this schema uses; any other keyword panics.
fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    if let Some(allowed) = schema.as_bool() {
        return allowed;
    }
    schema.as_object().unwrap().iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$id" | "$defs" | "$comment" | "title" | "description" => true,
        "$ref" => valid(root, root.pointer(&rule.as_str().unwrap()[1..]).unwrap(), value),
        "type" => match rule {
            Value::Array(types) => types.iter().any(|t| is(t, value)),
            one => is(one, value),
        },
        "const" => rule == value,
        "enum" => rule.as_array().unwrap().contains(value),
        "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|x| x <= rule.as_f64().unwrap()),
        "minItems" => value.as_array().is_none_or(|v| v.len() as u64 >= rule.as_u64().unwrap()),
        "oneOf" => rule.as_array().unwrap().iter().filter(|s| valid(root, s, value)).count() == 1,
        "required" => value
            .as_object()
            .is_none_or(|o| rule.as_array().unwrap().iter().all(|k| o.contains_key(k.as_str().unwrap()))),
        "properties" => value
            .as_object()
            .is_none_or(|o| rule.as_object().unwrap().iter().all(|(k, s)| o.get(k).is_none_or(|v| valid(root, s, v)))),
        "additionalProperties" => value.as_object().is_none_or(|o| {
            o.iter()
                .all(|(k, v)| schema.pointer("/properties").and_then(|p| p.get(k)).is_some() || valid(root, rule, v))
        }),
        "prefixItems" => value
            .as_array()
            .is_none_or(|v| rule.as_array().unwrap().iter().zip(v).all(|(s, item)| valid(root, s, item))),
        "items" => value.as_array().is_none_or(|v| {
            let prefix = schema.get("prefixItems").map_or(0, |p| p.as_array().unwrap().len());
            v.iter().skip(prefix).all(|item| valid(root, rule, item))
        }),
        other => panic!("the schema uses {other}"),
    })
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("the schema uses type {other}"),
    }
}

/// Paths of every value in a document.
fn paths(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(o) => o.iter().for_each(|(k, v)| paths(v, &format!("{at}/{}", k.replace('/', "~1")), all)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| paths(v, &format!("{at}/{i}"), all)),
        _ => {}
    }
}

#[test]
fn the_documented_example_is_valid() {
    assert!(valid(&schema(), &schema(), &serde_json::from_str(HEAT).unwrap()));
}

proptest! {
    #[test]
    fn what_is_written_is_valid(workload in workloads()) {
        let value = serde_json::to_value(&workload).unwrap();
        prop_assert!(valid(&schema(), &schema(), &value), "{}", value);
    }

    #[test]
    fn what_is_spoilt_is_refused_by_both(workload in workloads(), place in any::<Index>(), how in 0..7_usize) {
        let mut value = serde_json::to_value(&workload).unwrap();
        let mut all = Vec::new();
        paths(&value, "", &mut all);
        let path: &String = place.get(&all);
        let spoilt = value.pointer_mut(path).unwrap();
        match (how, &mut *spoilt) {
            (0, Value::Object(o)) => drop(o.insert("mood".to_owned(), json!(1))),
            (1, Value::Object(o)) => drop(o.keys().next().cloned().and_then(|first| o.remove(&first))),
            (2, _) => *spoilt = json!(-1),
            (3, _) => *spoilt = json!(1e308),
            (4, _) => *spoilt = json!("spoilt"),
            (5, _) => *spoilt = json!([]),
            _ => *spoilt = json!(1.5),
        }
        let by_schema = valid(&schema(), &schema(), &value);
        match Workload::from_json(value.to_string().as_bytes()) {
            Ok(_) => prop_assert!(by_schema, "read, but not valid: {}", value),
            // What needs a second look at the file (indices, sums) is beyond a schema.
            Err(e) => prop_assert!(!by_schema || e.message.contains("is not sound: `"), "valid, but {}: {}", e, value),
        }
    }
}
