//! One function for every face: JSON in, JSON out.

use crate::estimate::{Estimate, program};
use crate::request::Request;
use crate::{Error, Result, calculator};

/// Answers a request; the typed form of [`answer`].
///
/// # Errors
/// When the request itself is wrong: a name that is not in the catalogue, a quantity that does not read.
pub fn answer_request(request: &Request) -> Result<Estimate> {
    match (&request.numbers, &request.workload) {
        (Some(numbers), None) => calculator::calculate(numbers, request),
        (None, Some(workload)) => program::estimate(workload, request),
        _ => Err(Error::new("bad-request", "a request has either `numbers` or `workload`, not both and not neither")),
    }
}

/// Answers a `breakeven.request/1` with a `breakeven.estimate/1`, or with
/// `{"error": {"code", "message", "hint", "field"}}`.
///
/// ```
/// let request = r#"{"today": "2026-11-21", "numbers": {"flops": "10,000 GFLOP", "data": "1GB", "cpu_rate": "400GFLOP/s",
///     "peak": "12.5TFLOP/s", "utilization": "100%", "python_overhead": 0, "link": "32GB/s", "data_out": 0,
///     "init": "468.75ms"}, "options": {"gpu": ["RTX 3080"]}}"#;
/// assert!(breakeven::answer::answer(request).contains(r#""speedup":{"p10":19.23"#));
/// assert!(breakeven::answer::answer("{").starts_with(r#"{"error":{"code":"bad-request""#));
/// ```
pub fn answer(request_json: &str) -> String {
    let result = serde_json::from_str::<Request>(request_json)
        .map_err(|e| Error::new("bad-request", format!("the request does not read: {e}")))
        .and_then(|request| answer_request(&request))
        .and_then(|e| serde_json::to_string(&e).map_err(|e| Error::new("internal", e.to_string())));
    result.unwrap_or_else(|e| {
        serde_json::json!({ "error": { "code": e.code, "message": e.message, "hint": e.hint, "field": e.field } })
            .to_string()
    })
}
