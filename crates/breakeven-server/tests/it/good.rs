//! What the routes are for.

use super::Server;
use serde_json::json;

const HEAT: &str = include_str!("../../../../docs/examples/heat.breakeven.json");

#[test]
fn numbers_and_workloads_are_answered_as_the_engine_answers() {
    let server = Server::start();
    let numbers = json!({ "numbers": { "flops": "10 TFLOP", "cpu_rate": "400GFLOP/s" } }).to_string();
    let workload = format!(r#"{{"workload": {HEAT}, "options": {{"gpu": ["l4", "h100"]}}}}"#);
    for question in [numbers, workload] {
        let reply = server.post("/api/v1/estimate", &question);
        assert_eq!(reply.status, 200, "{reply:?}");
        let dated = question.replacen('{', r#"{"today": "2026-11-21", "#, 1);
        let request = breakeven::answer::read_request(&dated).unwrap();
        let estimate = breakeven::answer::answer_request(&request).unwrap();
        assert_eq!(reply.body, breakeven::report::json(&estimate));
        // What a request says of the day holds.
        let later = question.replacen('{', r#"{"today": "2031-01-01", "#, 1);
        assert!(server.post("/api/v1/estimate", &later).body.contains("old-prices"));
    }
}

#[test]
fn kernels_good_and_bad_come_back_in_their_order() {
    let server = Server::start();
    let rows = json!([{ "op": "matmul", "m": 64, "n": 64, "k": 64, "id": "a" }, { "op": "frobnicate", "id": "b" },
                      { "op": "add", "h": "1e6", "dtype": "f64", "id": ["c"] }]);
    let reply = server.post("/api/v1/kernels", json!({ "gpu": ["l4", "epyc-7763"], "rows": rows }).to_string());
    let answer = reply.json();
    let got: Vec<String> = answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| format!("{} {} {}", r["id"], r["gpu"], r["bound_by"]))
        .collect();
    assert_eq!(got.len(), 6);
    assert!(got[0].starts_with(r#""a" "l4" ""#) && got[1].starts_with(r#""a" "epyc-7763" ""#), "{got:?}");
    assert_eq!(got[2..4], [r#""b" "l4" null"#, r#""b" "epyc-7763" null"#]);
    assert_eq!((&answer["rows_read"], &answer["timed"], &answer["bad"]), (&json!(3), &json!(4), &json!(1)));
    let by_row =
        server.post("/api/v1/kernels", r#"{"rows": [{"op": "add", "h": 9, "gpu": "T4"}, {"op": "add", "h": 9}]}"#);
    assert_eq!(by_row.json()["rows"][1]["note"], "error: gpu is empty");
    let floor = |clock: &str| {
        let question = format!(r#"{{"as_measured": "{clock}", "gpu": ["t4"], "rows": [{{"op": "add", "h": 100}}]}}"#);
        server.post("/api/v1/kernels", question).json()["rows"][0]["time_us_p50"].as_f64().unwrap()
    };
    assert!(floor("events") > 2.0 * floor("device"));
}

#[test]
fn gpus_by_any_name() {
    let server = Server::start();
    let all = server.get("/gpus").json();
    assert_eq!(all["gpus"].as_array().unwrap().len(), breakeven::hardware::Catalogue::embedded().gpus().len());
    assert_eq!(all, server.get("/api/v1/gpus").json());
    let one = server.get("/api/v1/gpus?name=NVIDIA%20L4").json();
    assert_eq!((one["gpus"].as_array().unwrap().len(), &one["gpus"][0]["gpu"]), (1, &json!("l4")));
    assert_eq!(server.get("/gpus?name=zx81").refused(), (404, "unknown-gpu".into()));
    assert_eq!(server.get("/gpus?nmae=l4").refused(), (400, "bad-request".into()));
}

#[test]
fn the_pages_with_their_policies() {
    let server = Server::start();
    let [page, report] = ["/", "/report"].map(|path| server.get(path));
    for (reply, page) in [(&page, breakeven_page::PAGE), (&report, breakeven_page::REPORT)] {
        assert_eq!((reply.status, reply.body.as_str()), (200, page));
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        assert!(policy.ends_with("; frame-ancestors 'none'"), "{policy}");
    }
    for reply in [page, report, server.get("/gpus"), server.get("/nowhere"), server.post("/", "")] {
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("x-frame-options"), "deny");
        assert_eq!(reply.header("access-control-allow-origin"), "", "no other site may read this");
        assert!(reply.header("content-security-policy").starts_with("default-src 'none'"));
    }
    let head = server.raw(b"HEAD / HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn numbers_are_compared_with_the_servers_machine_unless_one_is_named() {
    let machine = |threads| breakeven::request::Machine { cpu_threads: threads, ..Default::default() };
    let server = Server::with(|settings| settings.machine = Some(machine(3)));
    let device = |more: &str| {
        let body = format!(r#"{{"numbers":{{"matmul":2000}},"options":{{"gpu":["l4"]}}{more}}}"#);
        server.post("/api/v1/estimate", body).json()["baseline"]["device"].clone()
    };
    assert_eq!(device(""), "CPU with 3 cores at 3.5 GHz");
    assert_eq!(device(r#","machine":{"cpu":"","cpu_threads":5}"#), "CPU with 5 cores at 3.5 GHz");
}
