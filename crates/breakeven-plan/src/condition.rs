//! `--fail-if`: a condition on a plan that a pipeline can act on.

use crate::answer::Answer;
use breakeven::report::words::printable;
use breakeven::{Error, Result};

const OPERATORS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

type Figure = fn(&Answer) -> Option<f64>;

/// What can be compared: of the mix that the first line tells of.
const KEYS: &[(&str, Figure)] = &[
    ("cost", |a| Some(a.summary.cost?.p50)),
    ("per_month", |a| Some(a.summary.per_month?.p50)),
    ("per_month_p90", |a| Some(a.summary.per_month?.p90)),
    ("capital", |a| Some(a.mix.as_ref()?.bill.capital)),
    ("energy_kwh", |a| Some(a.mix.as_ref()?.bill.energy_kwh)),
    ("co2_kg", |a| Some(a.mix.as_ref()?.bill.co2_kg)),
    ("gap", |a| a.mix.as_ref()?.gap),
    ("unmet", |a| Some(a.unmet.len() as f64)),
    ("buying_pays_from_month", |a| Some(f64::from(a.rent_or_buy.as_ref()?.pays_from_month?))),
];

/// A condition: `per_month > 500`.
#[derive(Clone, Debug)]
pub struct Condition {
    /// As written.
    pub text: String,
    figure: Figure,
    operator: &'static str,
    number: f64,
}

impl Condition {
    /// Reads `key operator number`.
    ///
    /// # Errors
    /// `bad-policy` for text of another form, naming what is allowed.
    pub fn read(text: &str) -> Result<Self> {
        let shown = printable(text, 60);
        let names: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
        let refuse = |why: String| {
            let hint = format!("write it like `per_month > 500` or `unmet > 0`; keys are {}", names.join(", "));
            Error::new("bad-policy", why).hint(hint).field("fail_if")
        };
        let found =
            OPERATORS.iter().filter_map(|o| text.find(o).map(|at| (at, *o))).min_by_key(|(at, o)| (*at, 2 - o.len()));
        let Some((at, operator)) = found else {
            return Err(refuse(format!("`{shown}` compares nothing: one of {} is needed", OPERATORS.join(" "))));
        };
        let key = text[..at].trim();
        let Some((_, figure)) = KEYS.iter().find(|(name, _)| *name == key) else {
            return Err(refuse(format!("`{}` is not a figure of a plan", printable(key, 40))));
        };
        match text[at + operator.len()..].trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Self { text: text.to_owned(), figure: *figure, operator, number }),
            _ => Err(refuse(format!("`{shown}` does not end in a number"))),
        }
    }

    /// Whether it holds; what is not known fails a pipeline, which must not pass on it.
    pub fn fails(&self, answer: &Answer) -> bool {
        let Some(x) = (self.figure)(answer) else { return true };
        match self.operator {
            "<" => x < self.number,
            ">" => x > self.number,
            "<=" => x <= self.number,
            ">=" => x >= self.number,
            "==" => x == self.number,
            _ => x != self.number,
        }
    }
}
