//! One function for every face: JSON in, JSON out.

use crate::estimate::Estimate;
use crate::estimate::program::{self, Each, one_by_one};
use crate::growth::check_sizes;
use crate::report::words;
use crate::request::{Numbers, Options, Request};
use crate::{Error, Result, calculator, place};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// No message about a request is longer, characters: what was given is repeated in it.
const LONGEST: usize = 500;

/// Answers a request; the typed form of [`answer`].
///
/// # Errors
/// When the request itself is wrong: a name that is not in the catalogue, a quantity that does not read.
pub fn answer_request(request: &Request) -> Result<Estimate> {
    answer_request_by(request, &one_by_one)
}

/// [`answer_request`], with the GPUs of a program spread by `each`.
///
/// # Errors
/// As [`answer_request`].
pub fn answer_request_by(request: &Request, each: Each) -> Result<Estimate> {
    if request.sizes.is_some() && request.workload.is_none() {
        return Err(Error::new("bad-request", "`sizes` are of a recorded program, and there is no `workload`")
            .hint("docs/api.md says what a request holds"));
    }
    request.sizes.as_ref().map_or(Ok(()), check_sizes)?;
    if request.options.several.is_some() && request.workload.is_none() {
        return Err(Error::new("bad-parallel", "only a recorded program is divided among GPUs, and these are numbers")
            .hint("`gpus` of the numbers, with `scaling_efficiency`, shares an amount of work")
            .field("several"));
    }
    match (&request.numbers, &request.workload) {
        (Some(numbers), None) => calculator::calculate(numbers, request),
        (None, Some(workload)) => program::estimate_by(workload, request, each),
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

/// A request that can only hold numbers: a page that shows nothing but the calculator goes without what reads workloads.
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
/// As [`answer_request`]; `bad-request` when the text holds anything but numbers and options, without the place: the
/// page writes its requests itself, and three more readers would be a tenth of it.
pub fn answer_numbers(request_json: &str) -> Result<Estimate> {
    let Question { today, numbers, options } = serde_json::from_str(request_json)
        .map_err(|e| Error::new("bad-request", words::printable(&e.to_string(), LONGEST)))?;
    calculator::calculate(&numbers, &Request { today, options, ..Request::default() })
}

/// An estimate or an error as the JSON that faces pass on.
pub fn reply(result: Result<Estimate>) -> String {
    let json = result.and_then(|e| serde_json::to_string(&e).map_err(|e| Error::new("internal", e.to_string())));
    json.unwrap_or_else(|e| refusal(&e))
}

/// An error as the JSON that faces pass on.
pub fn refusal(e: &Error) -> String {
    serde_json::json!({ "error": { "code": e.code, "message": e.message, "hint": e.hint, "field": e.field } })
        .to_string()
}

/// Reads JSON.
///
/// # Errors
/// `bad-request`, with the place.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    let refused = |text: &str, error: &serde_json::Error| {
        let path = place::of(text.as_bytes(), error);
        let at = if path.is_empty() { path } else { format!(" at `{path}`") };
        let message = format!("the request does not read{at}: {error}");
        Error::new("bad-request", words::printable(&message, LONGEST)).hint("docs/api.md says what a request holds")
    };
    let error = match serde_json::from_str(json) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    // JSON knows one kind of number: a count may come as 5.0 from a language that has no other.
    if error.to_string().starts_with("invalid type: floating point") {
        let mut value: Value = serde_json::from_str(json).map_err(|e| refused(json, &e))?;
        counts(&mut value);
        let text = value.to_string();
        return serde_json::from_str(&text).map_err(|e| refused(&text, &e));
    }
    Err(refused(json, &error))
}

/// Makes whole floats integers, as far as floats count without gaps.
fn counts(value: &mut Value) {
    const GAPLESS: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|x| x.fract() == 0.0 && (-GAPLESS..=GAPLESS).contains(x));
            if let (true, Some(x)) = (number.is_f64(), whole) {
                *value = if x < 0.0 { Value::from(x as i64) } else { Value::from(x as u64) };
            }
        }
        Value::Array(values) => values.iter_mut().for_each(counts),
        Value::Object(fields) => fields.values_mut().for_each(counts),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_written_as_floats() {
        let request =
            |top: &str| read_request(&format!(r#"{{"numbers": {{"flops": 1e9}}, "options": {{"top": {top}}}}}"#));
        assert_eq!(request("5.0").unwrap().options.top, Some(5));
        let program = r#"{"name": "x", "wall_ns": 1, "exit": {"signal": -9.0}}"#;
        let request_of = format!(r#"{{"workload": {{"format": "breakeven.workload/1", "program": {program}}}}}"#);
        let exit = read_request(&request_of).unwrap().workload.unwrap().program.exit;
        assert_eq!(exit, crate::workload::Exit::Signal(-9));
        for wrong in ["5.5", "-5.0", "1e300"] {
            assert!(request(wrong).unwrap_err().message.contains("`options.top`"), "{wrong}");
        }
    }

    #[test]
    fn a_workload_in_a_request_is_checked_as_one_from_a_file() {
        let op = r#"{"site": 7, "name": "x", "op": "view", "dtype": "f32", "count": 1}"#;
        let workload =
            format!(r#"{{"format": "breakeven.workload/1", "program": {{"name": "x", "wall_ns": 1}}, "ops": [{op}]}}"#);
        let error = read_request(&format!(r#"{{"workload": {workload}}}"#)).unwrap_err();
        assert_eq!(error, crate::workload::Workload::from_json(workload.as_bytes()).unwrap_err());
    }
}
