//! `--fail-if`: a condition on a fleet that a script can act on.

use crate::fleet::Fleet;
use breakeven::Result;
use breakeven::policy::Comparison;

/// Figures that can be compared.
const KEYS: [&str; 9] = [
    "certain_gpu_hours",
    "certain_usd",
    "certain_kwh",
    "certain_share",
    "look_gpu_hours",
    "wasting_jobs",
    "gpu_hours",
    "judged_share",
    "bad_rows",
];

/// Reads a condition: `certain_share > 0.05`.
///
/// ```
/// use breakeven_fleet::policy::read;
/// assert!(read("certain_usd > 1000").is_ok() && read("waste > 5").is_err());
/// ```
///
/// # Errors
/// `bad-policy` for text of another form, naming what is allowed.
pub fn read(text: &str) -> Result<Comparison> {
    Comparison::read(text, text, &KEYS, "`certain_share > 0.05` or `certain_usd > 1000`")
}

/// Whether it holds, so that the run fails; where the figure is not known it does.
pub fn fails(comparison: &Comparison, fleet: &Fleet<'_>) -> bool {
    let totals = &fleet.totals;
    let (certain, look) = (totals.freed(true), totals.freed(false));
    let hours = totals.all.gpu_s.get() / 3600.0;
    let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let figure = match comparison.key.as_str() {
        "certain_gpu_hours" => Some(certain.gpu_s.get() / 3600.0),
        "certain_usd" => (certain.unpriced == 0).then(|| certain.usd.get().p50),
        "certain_kwh" => Some(certain.kwh.get().p50),
        "certain_share" => share(certain.gpu_s.get() / 3600.0, hours),
        "look_gpu_hours" => Some(look.gpu_s.get() / 3600.0),
        "wasting_jobs" => Some((certain.jobs + look.jobs) as f64),
        "gpu_hours" => Some(hours).filter(|_| totals.lacking.gpu_hours == 0),
        "judged_share" => share(totals.judged() as f64, totals.all.jobs as f64),
        _ => Some(totals.rows[crate::outcome::Outcome::BadRow as usize] as f64),
    };
    comparison.holds(figure)
}
