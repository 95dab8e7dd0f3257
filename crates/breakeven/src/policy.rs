//! `--fail-if`: a condition on the answer that a script or a pipeline can act on.

use crate::estimate::{Estimate, GpuEstimate};
use crate::report::words;
use crate::{Error, Result};

const KEYS: [&str; 7] = ["speedup", "time_s", "cost_usd", "energy_wh", "co2_g", "coverage", "wins_on"];
const OPERATORS: [&str; 6] = ["<=", ">=", "==", "!=", "<", ">"];

/// Whether the condition holds, so that the run fails: `[any|all] key operator number`, on the p50 of the best GPU or,
/// with `any` and `all`, of the GPUs that were estimated. A figure that is not known fails the policy: a pipeline must
/// not pass on what nobody knows.
///
/// # Errors
/// `bad-policy` for text of another form, naming what is allowed.
pub fn fails(text: &str, e: &Estimate) -> Result<bool> {
    let Condition { over, comparison } = Condition::read(text)?;
    let holds = |g: &GpuEstimate| comparison.holds(figure(&comparison.key, g, e));
    Ok(match over {
        Over::Any => e.estimates.iter().any(holds),
        Over::All => e.estimates.iter().all(holds),
        Over::Best => {
            let best = e.estimates.iter().find(|g| Some(&g.gpu) == e.summary.best_gpu.as_ref());
            best.map_or_else(|| comparison.holds(whole(&comparison.key, e)), holds)
        }
    })
}

/// Checks the form without an answer at hand, before long work starts.
///
/// # Errors
/// As [`fails`].
pub fn check(text: &str) -> Result<()> {
    Condition::read(text).map(|_| ())
}

enum Over {
    Best,
    Any,
    All,
}

struct Condition {
    over: Over,
    comparison: Comparison,
}

impl Condition {
    fn read(text: &str) -> Result<Self> {
        let plain = text.trim();
        let (over, rest) = match plain.split_once(char::is_whitespace) {
            Some(("any", rest)) => (Over::Any, rest),
            Some(("all", rest)) => (Over::All, rest),
            _ => (Over::Best, plain),
        };
        let comparison = Comparison::read(rest, text, &KEYS, "`speedup<2` or `any cost_usd>0.01`")?;
        Ok(Self { over, comparison })
    }
}

/// A figure by its key, compared with a number: what every `--fail-if` comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The figure.
    pub key: String,
    operator: &'static str,
    number: f64,
}

impl Comparison {
    /// Reads `key operator number` from `part`, a part of the `text` that was given; `like` shows in the hint how to write it.
    ///
    /// ```
    /// use breakeven::policy::Comparison;
    /// let comparison = Comparison::read("waste > 5", "waste > 5", &["waste"], "`waste > 5`").unwrap();
    /// assert!(comparison.holds(Some(6.0)) && !comparison.holds(Some(5.0)) && comparison.holds(None));
    /// ```
    ///
    /// # Errors
    /// `bad-policy` for text of another form, naming what is allowed.
    pub fn read(part: &str, text: &str, keys: &[&str], like: &str) -> Result<Self> {
        let refuse = |why: String| {
            let hint = format!("write it like {like}; keys are {}", keys.join(", "));
            Err(Error::new("bad-policy", why).hint(hint).field("fail_if"))
        };
        let shown = words::printable(text, 60);
        let found =
            OPERATORS.iter().filter_map(|o| part.find(o).map(|at| (at, *o))).min_by_key(|(at, o)| (*at, 2 - o.len()));
        let Some((at, operator)) = found else {
            return refuse(format!("`{shown}` compares nothing: one of {} is needed", OPERATORS.join(" ")));
        };
        let key = part[..at].trim().to_owned();
        if !keys.contains(&key.as_str()) {
            return refuse(format!("`{}` is not a figure that `{shown}` can compare", words::printable(&key, 40)));
        }
        match part[at + operator.len()..].trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Self { key, operator, number }),
            _ => refuse(format!("`{shown}` does not end in a number")),
        }
    }

    /// Whether it holds of this figure; of one that is not known it does: a pipeline must not pass on what nobody knows.
    pub fn holds(&self, figure: Option<f64>) -> bool {
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

fn figure(key: &str, g: &GpuEstimate, e: &Estimate) -> Option<f64> {
    match key {
        "speedup" => g.speedup.map(|i| i.p50),
        "time_s" => g.time_s.map(|i| i.p50),
        "cost_usd" => g.cost_usd.map(|i| i.p50),
        "energy_wh" => g.energy_wh.map(|i| i.p50),
        "co2_g" => g.co2_g.map(|i| i.p50),
        _ => whole(key, e),
    }
}

fn whole(key: &str, e: &Estimate) -> Option<f64> {
    match key {
        "coverage" => Some(e.workload.coverage),
        "wins_on" => Some(f64::from(e.summary.wins_on)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        for text in ["speedup<2", " any cost_usd >= 0.01", "all time_s>1e3", "coverage < 0.8", "wins_on==0"] {
            assert!(check(text).is_ok(), "{text}");
        }
        for text in ["", "speedup", "speed<2", "speedup<", "speedup<two", "speedup<nan", "<2", "each speedup<2"] {
            let e = check(text).unwrap_err();
            assert!(e.hint.unwrap().contains("speedup<2"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,60}") {
            let _ = check(&text);
        }
    }
}
