//! Bars as SVG: what wastes GPU hours, and whose.

use super::words::hours;
use crate::fleet::Fleet;
use crate::names::Of;
use crate::outcome::Outcome;
use breakeven::report::{escape, words::printable};
use std::fmt::Write;

/// Size of a drawing and its parts.
const WIDTH: f64 = 720.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 90.0;
const ROW: f64 = 24.0;
/// Bars of a drawing.
const MOST: usize = 10;

/// A bar: its name, what is certain, what needs a look.
type Bar = (String, f64, f64);

/// All drawings that show anything.
pub(super) fn all(fleet: &Fleet<'_>) -> String {
    let by_rule = Outcome::ALL.iter().zip(&fleet.totals.freed).filter(|(outcome, _)| outcome.is_waste());
    let rules = by_rule.map(|(outcome, both)| (outcome.key().to_owned(), both[0].gpu_s.get(), both[1].gpu_s.get()));
    let groups = |of: Of| -> Vec<Bar> {
        fleet.groups(of).into_iter().map(|(name, group)| (name, group.certain_s.get(), group.look_s.get())).collect()
    };
    [
        drawn("GPU hours freed, by rule", rules.collect()),
        drawn("GPU hours freed, by user", groups(Of::User)),
        drawn("GPU hours freed, by account", groups(Of::Account)),
        drawn("GPU hours freed, by partition", groups(Of::Partition)),
    ]
    .concat()
}

fn drawn(title: &str, mut bars: Vec<Bar>) -> String {
    bars.retain(|(_, certain, look)| certain + look > 0.0);
    bars.sort_by(|a, b| (b.1 + b.2).total_cmp(&(a.1 + a.2)));
    bars.truncate(MOST);
    let Some(most) = bars.iter().map(|(_, certain, look)| certain + look).reduce(f64::max) else {
        return String::new();
    };
    let height = ROW * bars.len() as f64 + 6.0;
    let mut svg = String::new();
    for (at, (name, certain, look)) in bars.iter().enumerate() {
        let y = ROW * at as f64 + 4.0;
        let scale = (WIDTH - LEFT - RIGHT) / most;
        let (first, second) = (certain * scale, look * scale);
        let name = escape(&printable(name, 28));
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{name}</text>", LEFT - 8.0, y + 14.0);
        for (class, x, width) in [("certain", LEFT, first), ("look", LEFT + first, second)] {
            if width > 0.0 {
                let _ = writeln!(
                    svg,
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"18\"/>"
                );
            }
        }
        let (x, y, sum) = (LEFT + first + second + 6.0, y + 14.0, hours(certain + look));
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.0}\">{sum} h</text>");
    }
    format!(
        "<figure><figcaption>{title} <span class=\"key certain\"></span>certain \
         <span class=\"key look\"></span>needs a look</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{title}\">\n{svg}</svg></figure>\n"
    )
}
