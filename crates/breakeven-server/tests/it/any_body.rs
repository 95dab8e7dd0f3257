//! Whatever the body, the answer is JSON and no fault of the server's.

use super::Server;
use breakeven::estimate::Estimate;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static SERVER: LazyLock<Server> = LazyLock::new(Server::start);
const HEAT: &str = include_str!("../../../../docs/examples/heat.breakeven.json");

fn answered(path: &str, body: &[u8]) -> Result<(), TestCaseError> {
    let reply = SERVER.post(path, body);
    prop_assert!(reply.status < 500, "{:?} gives {:?}", String::from_utf8_lossy(&body[..body.len().min(2000)]), reply);
    prop_assert!(reply.json().is_object());
    // An interval is whole or null, never three nulls.
    let whole =
        reply.status != 200 || path.ends_with("kernels") || serde_json::from_str::<Estimate>(&reply.body).is_ok();
    prop_assert!(whole, "{:?} gives {:?}", String::from_utf8_lossy(&body[..body.len().min(2000)]), reply);
    Ok(())
}

/// Numbers at the edges, and text that is nearly a quantity, a name, a path.
fn leaf() -> impl Strategy<Value = Value> {
    let edges = [0, 1, u64::MAX, u64::from(u32::MAX), 1 << 53, i64::MAX as u64];
    let floats = [0.0, -0.0, -1.0, 1e308, -1e308, 5e-324, 1e-300, 0.5];
    let texts = [
        "",
        "1 TFLOP",
        "-1",
        "1e308 EFLOP",
        "40%",
        "nan",
        "inf",
        "l4",
        "h100",
        "cpu",
        "../../x",
        "\u{202e}\0",
        "speedup<2",
        "f64",
        "training",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|x| json!(x)),
        select(edges.map(Value::from).to_vec()),
        select(floats.map(Value::from).to_vec()),
        select(texts.map(Value::from).to_vec()),
        any::<String>().prop_map(Value::from),
    ]
}

fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// An object of some of these fields.
fn object(names: Vec<String>) -> impl Strategy<Value = Value> {
    let value = prop_oneof![4 => leaf(), 1 => tree()];
    prop::collection::btree_map(select(names), value, 0..6)
        .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
}

fn names(of: &str) -> Vec<String> {
    let request = breakeven::request::Request { numbers: Some(Default::default()), ..Default::default() };
    serde_json::to_value(request).unwrap()[of].as_object().unwrap().keys().cloned().collect()
}

/// Every place in a value where there is neither list nor object.
fn leaves(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| leaves(value, format!("{at}/{key}"), found)),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(i, value)| leaves(value, format!("{at}/{i}"), found))
        }
        _ => found.push(at),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn of_any_bytes(body in prop::collection::vec(any::<u8>(), 0..300)) {
        answered("/api/v1/estimate", &body)?;
        answered("/api/v1/kernels", &body)?;
    }

    #[test]
    fn of_any_json(body in tree()) {
        answered("/api/v1/estimate", body.to_string().as_bytes())?;
        answered("/api/v1/kernels", json!({ "rows": [body], "gpu": ["l4"] }).to_string().as_bytes())?;
    }

    #[test]
    fn of_numbers_and_options_of_any_kind(numbers in object(names("numbers")), options in object(names("options"))) {
        answered("/api/v1/estimate", json!({ "numbers": numbers, "options": options }).to_string().as_bytes())?;
    }

    #[test]
    fn of_rows_of_any_kind(rows in prop::collection::vec(
        object(["op", "gpu", "dtype", "b", "m", "n", "k", "h", "cin", "cout", "ksize", "hw", "stride", "pad", "id"].map(String::from).to_vec()), 0..5,
    ), op in select(breakeven::table::ops().map(|(name, ..)| name).collect::<Vec<_>>())) {
        let mut rows = json!(rows);
        if let Some(fields) = rows.get_mut(0).and_then(Value::as_object_mut) {
            fields.insert("op".into(), json!(op));
        }
        answered("/api/v1/kernels", json!({ "rows": rows }).to_string().as_bytes())?;
        rows.as_array_mut().unwrap().iter_mut().for_each(|row| { row.as_object_mut().unwrap().remove("gpu"); });
        answered("/api/v1/kernels", json!({ "rows": rows, "gpu": ["l4", "epyc-7763"] }).to_string().as_bytes())?;
    }

    #[test]
    fn of_little_or_nothing_to_do(zeros in prop::collection::btree_map(select(names("numbers")), select(vec![0.0, 5e-324, 1e-9, 1.0]), 0..12)) {
        answered("/api/v1/estimate", json!({ "numbers": zeros, "options": { "gpu": ["l4"] } }).to_string().as_bytes())?;
    }

    #[test]
    fn of_a_workload_with_one_value_changed(place in any::<Index>(), value in leaf(), gpu in select(vec!["l4", "mi300x"])) {
        let mut workload: Value = serde_json::from_str(HEAT).unwrap();
        let mut places = Vec::new();
        leaves(&workload, String::new(), &mut places);
        *workload.pointer_mut(&places[place.index(places.len())]).unwrap() = value;
        answered("/api/v1/estimate", json!({ "workload": workload, "options": { "gpu": [gpu] } }).to_string().as_bytes())?;
    }
}

#[test]
fn of_a_workload_with_each_number_at_its_ends() {
    let workload: Value = serde_json::from_str(HEAT).unwrap();
    let mut places = Vec::new();
    leaves(&workload, String::new(), &mut places);
    for place in places.iter().filter(|place| workload.pointer(place).is_some_and(Value::is_number)) {
        for end in [json!(0), json!(u64::MAX), json!(1e308), json!(5e-324), json!(-1)] {
            let mut changed = workload.clone();
            *changed.pointer_mut(place).unwrap() = end;
            answered(
                "/api/v1/estimate",
                json!({ "workload": changed, "options": { "gpu": ["l4"] } }).to_string().as_bytes(),
            )
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        }
    }
}
