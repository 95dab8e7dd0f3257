//! What holds of every trace and model, whatever its bytes are.

use breakeven_import::{Given, Source, Summary, read, read_model, report};

/// Reads bytes as a trace: an error with a hint, or totals that add up and a report that fits its page.
pub fn sound(bytes: &[u8]) {
    let trace = match Source::from_bytes("fuzz", bytes).and_then(read) {
        Ok(trace) => trace,
        Err(error) => return assert!(error.hint.is_some(), "{error}"),
    };
    let all = Summary::of(vec![trace]);
    if let (Some(busy), Some(span)) = (all.busy_s, all.span_s) {
        assert!(0.0 <= busy && busy <= span);
    }
    let text = report::text(&all, false);
    assert!(text.lines().count() <= 24 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let _ = (report::text(&all, true), report::markdown(&all), report::json(&all, None));
}

/// Reads bytes as a model file: an error with a hint, or a workload that reads again.
pub fn sound_model(bytes: &[u8]) {
    let read = Source::from_bytes("fuzz", bytes).and_then(|source| read_model(source, &Given::default()));
    let model = match read {
        Ok(model) => model,
        Err(error) => return assert!(error.hint.is_some(), "{error}"),
    };
    let json = model.workload.to_json().expect("a workload is written");
    breakeven::workload::Workload::from_json(json.as_bytes()).expect("what is written is read");
}
