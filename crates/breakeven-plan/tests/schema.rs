//! Every answer is what docs/schema/plan-1.schema.json says, with every key.

use breakeven::answer::answer_request;
use breakeven::hardware::Catalogue;
use breakeven_plan::{Answered, Plan, draw_up, questions, read, report};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../../docs/schema/plan-1.schema.json");

/// The first place where `value` is not what `schema` says; of JSON Schema as much as the file uses.
fn wrong(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return wrong(root, root.pointer(path.trim_start_matches('#')).expect("a definition"), value, at);
    }
    if let Some(some) = schema["oneOf"].as_array() {
        let each: Vec<_> = some.iter().map(|schema| wrong(root, schema, value, at)).collect();
        return if each.iter().any(Option::is_none) { None } else { each.into_iter().next().flatten() };
    }
    let named = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |kind: &Value| kind == named || kind == "number" && named == "integer";
    let fits = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    let listed = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    if !fits || !listed || !schema["const"].is_null() && schema["const"] != *value {
        return Some(format!("{at} is {value}"));
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        return items.iter().enumerate().find_map(|(n, item)| wrong(root, schema, item, &format!("{at}[{n}]")));
    }
    let (fields, known) = (value.as_object()?, schema["properties"].as_object()?);
    let missing = known.keys().find(|key| !fields.contains_key(*key)).map(|key| format!("{at}.{key} is missing"));
    missing.or_else(|| {
        fields.iter().find_map(|(key, value)| match known.get(key) {
            Some(schema) => wrong(root, schema, value, &format!("{at}.{key}")),
            None => Some(format!("{at}.{key} is not in the schema")),
        })
    })
}

fn answer(text: &str) -> Value {
    let plan = Plan::of(&read(text).unwrap(), Catalogue::embedded()).unwrap();
    let answers: Vec<Answered> = questions(&plan, "2026-11-30")
        .into_iter()
        .map(|question| {
            let estimate = answer_request(&question.request).unwrap();
            Answered { question, library: None, estimate }
        })
        .collect();
    let answer = draw_up(&plan, Catalogue::embedded(), &answers, "2026-11-30").unwrap();
    serde_json::from_str(&report::json(&answer)).unwrap()
}

#[test]
fn answers_are_what_the_schema_says() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let served = "[[workload]]\nnumbers = { matmul = 20000 }\nruns_per_month = 400_000\nprecision = [\"fp32\", \"bf16\"]\n\
                  [[workload]]\ntimes = { l4 = \"20min\", cpu = \"9d\" }\nruns_per_month = 700\ndeadline = \"6h\"\n\
                  [buy.gpu]\nl4 = 2500\n[cluster]\ngpu = \"l4\"\nper_hour = 0.4\n";
    let late = "[[workload]]\ntimes = { l4 = \"20h\" }\nruns_per_month = 7\ndeadline = \"6h\"\n";
    for text in [served, late] {
        let answer = answer(text);
        assert_eq!(wrong(&schema, &schema, &answer, "answer"), None);
    }
}

#[test]
fn the_check_finds_what_is_wrong() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut answer = answer("[[workload]]\ntimes = { l4 = \"20h\" }\nruns_per_month = 7\n");
    answer["months"] = json!("many");
    assert_eq!(wrong(&schema, &schema, &answer, "answer").unwrap(), "answer.months is \"many\"");
    answer["months"] = json!(36);
    answer["surprise"] = json!(1);
    assert!(wrong(&schema, &schema, &answer, "answer").unwrap().contains("surprise"));
}
