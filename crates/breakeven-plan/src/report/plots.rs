//! Curves and the front as SVG.

use crate::answer::Answer;
use crate::describe::{money, span};
use breakeven::report::escape;
use std::fmt::Write;

/// Size of a drawing, and what its axes leave.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 708.0;
const BOTTOM: f64 = 188.0;
const TOP: f64 = 14.0;

/// Points of one colour.
struct Series<'a> {
    class: &'static str,
    name: &'a str,
    points: Vec<(f64, f64)>,
    /// Drawn as dots, each with its text.
    dots: Option<Vec<String>>,
}

/// Every plot that has something to show.
pub(super) fn plots(a: &Answer) -> String {
    let mut out = String::new();
    let money = |x: f64| money(x, &a.currency);
    if let Some(curve) = &a.rent_or_buy {
        let of = |rent: bool| {
            curve.months.iter().map(|p| (f64::from(p.month), if rent { p.rent } else { p.buy })).collect::<Vec<_>>()
        };
        let series = [line("compute", &curve.rent, of(true)), line("memory", &curve.buy, of(false))];
        out += &drawn(
            "Paid until the end of a month",
            &series,
            |x| format!("month {x:.0}"),
            money,
            curve.pays_from_month.map(f64::from),
        );
        let of = |rent: bool| {
            curve
                .utilisation
                .iter()
                .map(|p| (p.utilisation * 100.0, if rent { p.rent } else { p.buy }))
                .collect::<Vec<_>>()
        };
        let series = [line("compute", "rent by the hour", of(true)), line("memory", "one bought GPU", of(false))];
        let crossing = curve.pays_from_utilisation.map(|u| u * 100.0);
        out += &drawn("A month by utilisation", &series, |x| format!("{x:.0} %"), money, crossing);
    }
    if a.front.len() > 1 {
        let points = a.front.iter().map(|p| (p.turnaround_s, p.per_month)).collect();
        let dots =
            a.front.iter().map(|p| format!("{}: {} a month, {}", p.option, money(p.per_month), span(p.turnaround_s)));
        let series = Series { class: "sync", name: "", points, dots: Some(dots.collect()) };
        out += &drawn("Cost of a month against time to a result", &[series], span, money, None);
    }
    out
}

fn line<'a>(class: &'static str, name: &'a str, points: Vec<(f64, f64)>) -> Series<'a> {
    Series { class, name, points, dots: None }
}

fn drawn(
    title: &str,
    series: &[Series<'_>],
    x_words: impl Fn(f64) -> String,
    y_words: impl Fn(f64) -> String,
    mark: Option<f64>,
) -> String {
    let all = || series.iter().flat_map(|s| s.points.iter());
    if all().count() < 2 {
        return String::new();
    }
    let (low, high) = all().fold((f64::INFINITY, 0.0f64), |(low, high), p| (low.min(p.0), high.max(p.0)));
    let top = all().map(|p| p.1).fold(f64::MIN_POSITIVE, f64::max);
    let place = |&(x, y): &(f64, f64)| {
        let across = if high > low { (x - low) / (high - low) } else { 0.5 };
        (LEFT + across * (RIGHT - LEFT), BOTTOM - y / top * (BOTTOM - TOP))
    };
    let mut svg = String::new();
    for (y, value) in [(BOTTOM, 0.0), ((BOTTOM + TOP) / 2.0, top / 2.0), (TOP, top)] {
        let _ = writeln!(svg, "<line class=\"rule\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y}\" y2=\"{y}\"/>");
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 6.0, y + 4.0, y_words(value));
    }
    for s in series {
        let points: Vec<(f64, f64)> = s.points.iter().map(place).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(svg, "<polyline class=\"line {}\" points=\"{}\"/>", s.class, path.join(" "));
        for ((x, y), text) in points.iter().zip(s.dots.iter().flatten()) {
            let _ = writeln!(
                svg,
                "<circle class=\"dot {}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"><title>{}</title></circle>",
                s.class,
                escape(text)
            );
        }
    }
    if let Some(at) = mark.filter(|at| (low..=high).contains(at)) {
        let (x, _) = place(&(at, 0.0));
        let _ = writeln!(svg, "<line class=\"mark\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>");
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{}\">{}</text>", x + 4.0, TOP + 10.0, x_words(at));
    }
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", HEIGHT - 10.0, x_words(low));
    let _ = writeln!(svg, "<text x=\"{RIGHT}\" y=\"{}\" text-anchor=\"end\">{}</text>", HEIGHT - 10.0, x_words(high));
    let named = series.iter().filter(|s| !s.name.is_empty());
    let keys: String = named.map(|s| format!(" <span class=\"key {}\"></span>{}", s.class, escape(s.name))).collect();
    format!(
        "<figure><figcaption>{title}{keys}</figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{title}\">\n{svg}</svg></figure>\n"
    )
}
