//! The engine for the page: text in, text out, in the browser.
//!
//! Everything is computed and rounded by the core; this crate only carries strings across the border. Requests are
//! `breakeven.request/1`, answers `breakeven.estimate/1` or a refusal.

use breakeven::answer::{answer_numbers, reply};
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
    answer_numbers(request).ok().map(|e| report::markdown(&e))
}

/// The calculator's formula, a line each.
#[wasm_bindgen]
pub fn formula() -> Vec<String> {
    report::FORMULA.map(str::to_owned).to_vec()
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
        "cost" => words::cost(interval),
        "energy" => words::energy(interval),
        "flop" => words::flop(p50),
        "flop_per_byte" => words::flop_per_byte(p50),
        "flop_per_s" => words::flop_per_s(p50),
        "memory" => words::memory(p50),
        "percent" => words::percent(p50),
        "range" => words::range(interval),
        "seconds" => words::seconds(p50),
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
    fn markdown_of_what_has_no_answer_is_none() {
        assert_eq!(markdown("{}"), None);
        assert!(markdown(r#"{"numbers": {"flops": "1 TFLOP"}}"#).is_some());
    }
}
