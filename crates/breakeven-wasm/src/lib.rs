//! The engine for the page: text in, text out, in the browser.
//!
//! Everything is computed and rounded by the core; this crate only carries strings across the border. Requests are
//! `breakeven.request/1`, answers `breakeven.estimate/1` or a refusal.

use breakeven::answer::{answer_numbers, reply};
use breakeven::hardware::{Catalogue, catalogue, gpus_json};
use breakeven::interval::Interval;
use breakeven::report::{self, words};
use wasm_bindgen::prelude::wasm_bindgen;

/// The answer to a request that holds numbers, both JSON; what cannot be read gives `{"error": {…}}`.
#[wasm_bindgen]
pub fn answer(request: &str) -> String {
    reply(answer_numbers(request))
}

/// The answer to a request as the Markdown report of the command; `None` when there is none.
#[wasm_bindgen]
pub fn markdown(request: &str) -> Option<String> {
    answer_numbers(request).ok().map(|e| report::markdown(&e, false))
}

/// The calculator's formula, a line each.
#[wasm_bindgen]
pub fn formula() -> Vec<String> {
    report::FORMULA.map(str::to_owned).to_vec()
}

/// The names of the CPUs that can be compared with.
#[wasm_bindgen]
pub fn cpus() -> Vec<String> {
    Catalogue::embedded().cpus().iter().map(|cpu| cpu.device.name.clone()).collect()
}

/// Everyone who rents GPUs out.
#[wasm_bindgen]
pub fn providers() -> Vec<String> {
    Catalogue::embedded().providers().into_iter().map(str::to_owned).collect()
}

/// The figures of a GPU with their sources, `breakeven.gpus/1`; `None` for what is no id of the catalogue.
#[wasm_bindgen]
pub fn figures(gpu: &str) -> Option<String> {
    Catalogue::embedded().gpu(gpu).map(|gpu| gpus_json([gpu], None).to_string())
}

/// Title and address of a document that figures cite; nothing for one that the catalogue does not know.
#[wasm_bindgen]
pub fn source(id: &str) -> Vec<String> {
    let cited = catalogue::sources().into_iter().find(|source| source.id == id);
    cited.map_or_else(Vec::new, |source| vec![source.title, source.url])
}

/// A figure as every report prints it: `word("seconds", 1.3, 1.3, 1.3)` is `1.3 s`.
///
/// The name is that of a function of [`words`]. Those of a number take the middle; `range` takes the ends.
/// A name that is none of them gives [`words::UNKNOWN`].
#[wasm_bindgen]
pub fn word(name: &str, p10: f64, p50: f64, p90: f64) -> String {
    let interval = Interval { p10, p50, p90 };
    match name {
        "bytes" => words::bytes(p50),
        "bytes_per_s" => words::bytes_per_s(p50),
        "carbon" => words::carbon(interval),
        "cost" => words::usd(p50),
        "count" => words::count(p50 as u64),
        "energy" => words::energy(interval),
        "flop" => words::flop(p50),
        "flop_per_byte" => words::flop_per_byte(p50),
        "flop_per_s" => words::flop_per_s(p50),
        "memory" => words::memory(p50),
        "range" => words::range(interval),
        "seconds" => words::seconds(p50),
        "share" => words::share(p50),
        "speedup" => words::speedup(interval),
        "time" => words::time(interval),
        "times" => words::times(p50),
        "usd" => words::usd(p50),
        "usd_per_h" => words::usd_per_h(p50),
        _ => words::UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_reports() {
        assert_eq!(word("seconds", 1.3, 1.3, 1.3), "1.3 s");
        assert_eq!(word("times", 0.0, 19.23, 0.0), "19×");
        assert_eq!(word("furlongs", 1.0, 1.0, 1.0), words::UNKNOWN);
    }

    #[test]
    fn every_figure_has_a_document() {
        let json: serde_json::Value = serde_json::from_str(&figures("l4").unwrap()).unwrap();
        for figure in json["gpus"][0]["figures"].as_array().unwrap() {
            let id = figure["source"].as_str().unwrap();
            assert_eq!(source(id).len(), 2, "{id}");
        }
        assert_eq!((figures("no such GPU"), source("no such source")), (None, vec![]));
        assert!(providers().contains(&"AWS".to_owned()));
    }

    #[test]
    fn markdown_of_what_has_no_answer_is_none() {
        assert_eq!(markdown("{}"), None);
        assert!(markdown(r#"{"numbers": {"flops": "1 TFLOP"}}"#).is_some());
    }
}
