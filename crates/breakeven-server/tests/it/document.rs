//! The OpenAPI document is what the server does, and no change of it goes unseen.

use super::Server;
use breakeven::request::Request;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn document() -> Value {
    serde_json::from_str(breakeven_server::document()).unwrap()
}

#[test]
fn no_change_goes_unseen() {
    let mut document = document();
    document["info"]["version"] = "…".into();
    // The formats have schemas of their own, and their own tests.
    let schemas = document["components"]["schemas"].as_object_mut().unwrap();
    schemas.retain(|name, _| !["request_", "estimate_", "workload_"].iter().any(|format| name.starts_with(format)));
    for format in ["request", "estimate", "workload"] {
        schemas[format] = json!("docs/schema");
    }
    insta::assert_json_snapshot!(document);
}

#[test]
fn every_route_of_it_is_there_and_takes_no_other_method() {
    let server = Server::start();
    assert_eq!(server.get("/api/v1/openapi.json").body, breakeven_server::document());
    for (path, methods) in document()["paths"].as_object().unwrap() {
        let allowed = methods.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(",");
        let reply =
            server.raw(format!("DELETE {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
        assert_eq!((reply.status, reply.header("allow")), (405, allowed.replace("get", "get,head").as_str()), "{path}");
        let example = &methods["post"]["requestBody"]["content"]["application/json"]["example"];
        if !example.is_null() {
            assert_eq!(server.post(path, example.to_string()).status, 200, "the example of {path}");
        }
    }
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 50);
    for reference in found {
        assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
}

/// The fields of a component.
fn fields(component: &str) -> BTreeSet<String> {
    let document = document();
    let schema = &document["components"]["schemas"][component];
    schema["properties"].as_object().unwrap_or_else(|| panic!("{component}")).keys().cloned().collect()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn requests_have_the_fields_that_the_engine_reads() {
    let request = Request { numbers: Some(Default::default()), ..Request::default() };
    let request = serde_json::to_value(request).unwrap();
    assert_eq!(fields("request_numbers"), keys(&request["numbers"]));
    assert_eq!(fields("request_options"), keys(&request["options"]));
}

/// Every field of `value` has a line in the component, and every field that the component promises is there.
fn is_described(value: &Value, component: &str) {
    let (has, told) = (keys(value), fields(component));
    let untold: Vec<_> = has.difference(&told).collect();
    assert!(untold.is_empty(), "docs/schema/estimate-1.schema.json does not say what {untold:?} of {component} is");
    for promised in document()["components"]["schemas"][component]["required"].as_array().unwrap() {
        assert!(has.contains(promised.as_str().unwrap()), "{component} has no {promised}");
    }
}

#[test]
fn answers_have_the_fields_that_it_promises() {
    let server = Server::start();
    let numbers = r#"{"numbers": {"flops": 1e13, "cpu_rate": 4e11, "values": 1e9}, "options": {"gpu": ["l4"]}}"#;
    let heat = include_str!("../../../../docs/examples/heat.breakeven.json");
    for question in [numbers, &format!(r#"{{"workload": {heat}}}"#)] {
        let answer = server.post("/api/v1/estimate", question).json();
        is_described(&answer, "estimate");
        is_described(&answer["workload"], "estimate_workload");
        is_described(&answer["summary"], "estimate_summary");
        is_described(&answer["baseline"], "estimate_baseline");
        is_described(&answer["estimates"][0], "estimate_gpu_estimate");
        let priced = answer["estimates"].as_array().unwrap().iter().find(|row| row["price"].is_object()).unwrap();
        is_described(&priced["price"], "estimate_price");
        for (list, component) in [("sites", "site"), ("reasons", "reason"), ("advice", "advice"), ("notes", "note")] {
            let found = answer[list].as_array().unwrap();
            found.iter().for_each(|one| is_described(one, &format!("estimate_{component}")));
        }
    }
}
