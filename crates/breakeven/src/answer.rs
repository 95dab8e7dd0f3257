//! One function for every face: JSON in, JSON out.

use crate::estimate::{Estimate, program};
use crate::report::words;
use crate::request::{Numbers, Options, Request};
use crate::{Error, Result, calculator};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// No message about a request is longer, characters: what was given is repeated in it.
const LONGEST: usize = 500;

/// Answers a request; the typed form of [`answer`].
///
/// # Errors
/// When the request itself is wrong: a name that is not in the catalogue, a quantity that does not read.
pub fn answer_request(request: &Request) -> Result<Estimate> {
    match (&request.numbers, &request.workload) {
        (Some(numbers), None) => calculator::calculate(numbers, request),
        (None, Some(workload)) => program::estimate(workload, request),
        _ => Err(Error::new("bad-request", "a request has either `numbers` or `workload`, not both and not neither")
            .hint("docs/api.md says what a request holds")),
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
    reply(read_request(request_json).and_then(|request| answer_request(&request)))
}

/// Reads a `breakeven.request/1`; a workload in it is checked as one from a file is.
///
/// # Errors
/// `bad-request` for what is no request, with the place; `bad-workload` for a workload that does not fit together.
pub fn read_request(json: &str) -> Result<Request> {
    let request: Request = read(json)?;
    request.workload.as_ref().map_or(Ok(()), |workload| workload.check())?;
    Ok(request)
}

/// A request that can only hold numbers. What reads and estimates workloads makes up half of the engine; a page that
/// shows nothing but the calculator goes without.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    #[serde(default)]
    today: String,
    numbers: Numbers,
    #[serde(default)]
    options: Options,
}

/// The estimate for a `breakeven.request/1` that holds numbers; with [`reply`] the same bytes as [`answer`].
///
/// # Errors
/// As [`answer_request`]; `bad-request` when the text holds anything but numbers and options.
pub fn answer_numbers(request_json: &str) -> Result<Estimate> {
    let Question { today, numbers, options } = read(request_json)?;
    calculator::calculate(&numbers, &Request { today, options, ..Request::default() })
}

/// An estimate or an error as the JSON that faces pass on.
pub fn reply(result: Result<Estimate>) -> String {
    let json = result.and_then(|e| serde_json::to_string(&e).map_err(|e| Error::new("internal", e.to_string())));
    json.unwrap_or_else(|e| {
        serde_json::json!({ "error": { "code": e.code, "message": e.message, "hint": e.hint, "field": e.field } })
            .to_string()
    })
}

/// Reads JSON; where it does not read, it is read again for the place.
///
/// # Errors
/// `bad-request`.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| {
        let path = match serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(json)) {
            Err(e) if e.path().iter().next().is_some() => format!(" at `{}`", e.path()),
            _ => String::new(),
        };
        let message = format!("the request does not read{path}: {error}");
        Error::new("bad-request", words::printable(&message, LONGEST)).hint("docs/api.md says what a request holds")
    })
}
