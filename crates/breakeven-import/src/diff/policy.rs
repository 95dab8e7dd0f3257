//! `--fail-if`: a condition on what changed that a pipeline can act on.

use super::{Difference, keys};
use breakeven::report::words::printable;
use breakeven::{Error, Result};

const OPERATORS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

/// What is compared with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// The change as a part of what it was: `+10%`.
    Relative,
    /// The change in s, or in number: `+0.005`.
    Difference,
    /// The figure of the second run: `0.2`.
    After,
}

/// A condition: `key operator [+|-]number[%]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As it was given.
    pub text: String,
    key: &'static str,
    operator: &'static str,
    number: f64,
    of: Of,
}

impl Condition {
    /// Reads a condition.
    ///
    /// ```
    /// use breakeven_import::diff::Condition;
    /// assert!(Condition::read("time > +10%").is_ok() && Condition::read("speed > 2").is_err());
    /// ```
    ///
    /// # Errors
    /// `bad-policy` for text of another form, naming what is allowed.
    pub fn read(text: &str) -> Result<Self> {
        let shown = printable(text, 60);
        let refuse = |why: String| {
            let hint = format!("write it like `time > +10%` or `launches > 5000`; keys are {}", keys().join(", "));
            Err(Error::new("bad-policy", why).hint(hint).field("fail_if"))
        };
        let found =
            OPERATORS.iter().filter_map(|o| text.find(o).map(|at| (at, *o))).min_by_key(|(at, o)| (*at, 2 - o.len()));
        let Some((at, operator)) = found else {
            return refuse(format!("`{shown}` compares nothing: one of {} is needed", OPERATORS.join(" ")));
        };
        let key = text[..at].trim();
        let Some(key) = keys().into_iter().find(|known| *known == key) else {
            return refuse(format!("`{}` is not a figure that `{shown}` can compare", printable(key, 40)));
        };
        let rest = text[at + operator.len()..].trim();
        let (number, percent) = rest.strip_suffix('%').map_or((rest, false), |number| (number.trim_end(), true));
        let number: f64 = match number.parse() {
            Ok(number) if f64::is_finite(number) => number,
            _ => return refuse(format!("`{shown}` does not end in a number, like `+10%`")),
        };
        let of = match rest.starts_with(['+', '-']) {
            _ if percent => Of::Relative,
            true => Of::Difference,
            false => Of::After,
        };
        let number = if percent { number / 100.0 } else { number };
        Ok(Self { text: text.to_owned(), key, operator, number, of })
    }

    /// Whether it holds, so that the run fails. A figure that is not known fails it: a pipeline must not pass on what
    /// nobody knows.
    pub fn fails(&self, difference: &Difference) -> bool {
        let change = difference.change(self.key);
        let figure = change.and_then(|change| match self.of {
            // From nothing to something is more than any part.
            Of::Relative if change.before == Some(0.0) && change.after > Some(0.0) => Some(f64::INFINITY),
            Of::Relative => change.relative(),
            Of::Difference => change.difference(),
            Of::After => change.after,
        });
        let Some(x) = figure else { return true };
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
