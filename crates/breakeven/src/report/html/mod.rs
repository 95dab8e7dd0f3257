//! The report for a browser: whole without a script, nothing loaded from elsewhere, readable with and without colours, on paper and by
//! a screen reader. Each chart has its table.

mod charts;
mod curve;

use super::sentence::{chosen, ended_early};
use super::table::{Align, Cells, Table};
use super::{held_back, help, remarks, rows, several, words};
use crate::estimate::{Estimate, GpuEstimate, Price, Verdict};
use crate::interval::Interval;

/// GPUs that are shown at once; more are folded away.
const TOP: usize = 10;

/// The report as the inside of a page: `#answer`, then `#what-if` for whoever can ask again, then `#detail`.
///
/// It is whole without a script, makes no request, and has no style of its own: no attribute `style`, so that a page
/// may forbid them. Where it is to be `quiet`, `#detail` is empty.
pub fn html(e: &Estimate, quiet: bool) -> String {
    let mut out = format!("<div id=\"answer\">\n{}{}{}", verdict(e), charts::bars(e), tiles(e));
    for line in held_back(e).into_iter().chain(remarks::remarks(e)) {
        out += &format!("<p>{}</p>\n", escape(&line));
    }
    out += "</div>\n<div id=\"what-if\"></div>\n<div id=\"detail\">\n";
    if quiet {
        return out + "</div>\n";
    }
    let lines = format!("Source lines by their time on the CPU, and on {}", on(e));
    out += &section("gpus", "GPUs", devices(e));
    out += &section("several", "Several GPUs", charts::scaling(e) + &table(&several::table(e), "As GPUs are added"));
    out += &section("parts", "Where the time goes", charts::parts(e));
    out += &section("lines", "Hot lines", table(&rows::sites(e, usize::MAX), &lines));
    out += &section("timeline", "In the course of the run", charts::timeline(e));
    out += &section("kernels", "Kernels by length", charts::kernels(e));
    out += &section("memory", "Memory", charts::memory(e));
    out += &section("break-even", "Break-even", curve::curves(e));
    out += &section("advice", "Would help", advice(e));
    out += &section("reasons", "Why", reasons(e));
    out += &section("clocks", "The script’s own clocks", list(e.timers.iter().map(|timer| timer.text.as_str())));
    out += &section("turns", "What would turn it", list(e.robustness.iter().map(|flip| flip.text.as_str())));
    out += &section("footprint", "Memory by precision", table(&rows::footprint(e), "What the values take"));
    out += &section("notes", "Notes", list(e.notes.iter().map(|note| note.text.as_str())));
    let coverage = remarks::coverage(e).join(" · ");
    out += &format!("<p class=\"soft\">coverage: {}</p>\n</div>\n", escape(&coverage));
    out
}

/// What was asked about, the answer in the largest letters, and in a sentence.
fn verdict(e: &Estimate) -> String {
    let named = chosen(e);
    let (key, big) = match named {
        Some(g) if g.fits == Some(false) => ("cpu", "Does not fit".to_owned()),
        Some(GpuEstimate { verdict: Verdict::Gpu, speedup: Some(speedup), .. }) => {
            ("gpu", format!("{} faster", words::times(speedup.p50)))
        }
        Some(g) => match g.verdict {
            Verdict::Gpu => ("gpu", "GPU is faster".to_owned()),
            Verdict::Cpu => ("cpu", "CPU is faster".to_owned()),
            Verdict::Either => ("either", "Too close to call".to_owned()),
            Verdict::Unknown => ("unknown", "Not enough evidence".to_owned()),
        },
        None => ("unknown", "No GPU to compare with".to_owned()),
    };
    let ran = if ended_early(e).is_some() { ", as far as it ran" } else { "" };
    let on = if named.is_some() { format!(" <small>on {}{ran}</small>", on(e)) } else { String::new() };
    format!(
        "<p class=\"soft name\">{}</p>\n<p class=\"big {key}\">{big}{on}</p>\n<h1>{}</h1>\n",
        escape(&words::printable(&e.workload.name, 80)),
        escape(&words::printable(&e.summary.sentence, 400))
    )
}

/// Time, money, energy, carbon and memory of a run on the GPU that the page speaks of, beside the CPU's.
fn tiles(e: &Estimate) -> String {
    let Some(g) = chosen(e).filter(|g| g.time_s.is_some()) else { return String::new() };
    let cpu = &e.baseline;
    let tile = |name: &str, gpu: Option<String>, cpu: Option<String>| {
        let Some(gpu) = gpu else { return String::new() };
        let cpu = cpu.map_or_else(String::new, |cpu| format!(" <small>CPU {cpu}</small>"));
        format!("<div><dt>{name}</dt><dd>{gpu}{cpu}</dd></div>\n")
    };
    let tiles = [
        tile("Time", g.time_s.map(words::time), cpu.time_s.map(words::time)),
        tile("Cost", g.cost_usd.map(words::cost), cpu.cost_usd.map(words::cost)),
        tile("Energy", g.energy_wh.map(words::energy), cpu.energy_wh.map(words::energy)),
        tile("Carbon", g.co2_g.map(words::carbon), cpu.co2_g.map(words::carbon)),
        tile("GPU memory", g.peak_bytes.map(words::memory), None),
    ];
    format!("<dl class=\"tiles\">\n{}</dl>\n", tiles.concat())
}

/// The first devices, all of them folded away; or as many as were asked for.
fn devices(e: &Estimate) -> String {
    let all = e.estimates.len();
    if let Some(top) = rows::top(e) {
        return ranking(e, top, "The first devices");
    }
    if all <= TOP {
        return ranking(e, TOP, "Every device");
    }
    let first = ranking(e, TOP, "The first devices");
    format!("{first}<details><summary>All {all} GPUs</summary>\n{}</details>\n", ranking(e, all, "Every device"))
}

/// The table of devices. Figures carry their value beside their words, for who wants to sort them.
fn ranking(e: &Estimate, top: usize, caption: &str) -> String {
    let middle = |i: Option<Interval>| i.map(|i| i.p50);
    let b = &e.baseline;
    let price = |price: &Option<Price>| price.as_ref().map(|p| p.usd_per_h);
    // By column of the table.
    let figures = |time, speedup, cost, memory, energy, carbon, price| {
        [None, middle(time), speedup, middle(cost), memory, middle(energy), middle(carbon), price]
    };
    let cpu = b.time_s.map(|_| figures(b.time_s, Some(1.0), b.cost_usd, None, b.energy_wh, b.co2_g, price(&b.price)));
    let gpus = rows::shown_first(e)
        .take(top)
        .map(|g| figures(g.time_s, middle(g.speedup), g.cost_usd, g.peak_bytes, g.energy_wh, g.co2_g, price(&g.price)));
    let values: Vec<[Option<f64>; 8]> = cpu.into_iter().chain(gpus).collect();
    let value = |row: usize, column: usize| *values.get(row)?.get(column)?;
    let days = rows::priced(e, top).map_or_else(String::new, |days| format!("; {}", escape(&days)));
    table_of(&rows::gpus(e, top), &(caption.to_owned() + &days), " class=\"sorts\"", &value)
}

/// Nothing where there is nothing to say.
fn section(id: &str, heading: &str, body: String) -> String {
    if body.is_empty() { body } else { format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{body}</section>\n") }
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let items: String = items.map(|item| format!("<li>{}</li>\n", escape(&words::printable(item, 600)))).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

fn reasons(e: &Estimate) -> String {
    let mut out = String::new();
    for reason in &e.reasons {
        let at = reason.site.iter().chain(&reason.also).map(|line| words::printable(line, 120));
        let at: Vec<String> = reason.share.map(words::share).into_iter().chain(at).collect();
        let at = if at.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(&at.join(", "))) };
        let figures: Vec<String> =
            reason.evidence.iter().map(|figure| format!("{} {}", figure.name.replace('_', " "), figure.text)).collect();
        out += &format!(
            "<li><strong>{}</strong>{at}<br>{} {}<br><small>{}</small></li>\n",
            escape(&reason.code),
            escape(&words::printable(&reason.cause, 600)),
            escape(&words::printable(&reason.remedy, 600)),
            escape(&words::printable(&figures.join(" · "), 600)),
        );
    }
    if out.is_empty() { out } else { format!("<ul>\n{out}</ul>\n") }
}

fn advice(e: &Estimate) -> String {
    let (mut out, mut codes) = (String::new(), 0);
    for advice in &e.advice {
        out += &format!(
            "<li><strong>{}</strong><br>{}\n",
            escape(&help::line(advice)),
            escape(&words::printable(&advice.why, 400))
        );
        if let Some(risk) = &advice.risk {
            out += &format!("<br><small>Mind: {}</small>\n", escape(&words::printable(risk, 400)));
        }
        for code in [&advice.patch, &advice.ready].into_iter().flatten() {
            let lines: Vec<String> = code.lines().take(30).map(|line| words::printable(line, 300)).collect();
            // Two regions of one name are told apart by nobody who hears them.
            codes += 1;
            out += &format!(
                "<pre tabindex=\"0\" role=\"region\" aria-label=\"Code {codes}\"><code>{}</code></pre>\n",
                escape(&lines.join("\n"))
            );
        }
        out += "</li>\n";
    }
    let together = help::together(e);
    out += &together.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect::<String>();
    if out.is_empty() { out } else { format!("<ul>\n{out}</ul>\n") }
}

/// A table that scrolls by itself where it is too wide.
fn table(table: &Table, caption: &str) -> String {
    table_of(table, caption, "", &|_, _| None)
}

/// The same with an attribute of the table, and for the figures of row and column what they are.
fn table_of(table: &Table, caption: &str, attribute: &str, value: &dyn Fn(usize, usize) -> Option<f64>) -> String {
    if table.is_empty() {
        return String::new();
    }
    let line = |cells: Cells<'_>, tag: &str, row: Option<usize>| {
        let cell = |(column, text, align): (usize, &str, Align)| {
            let class = if align == Align::Right { " class=\"right\"" } else { "" };
            let extra = match row {
                None => " scope=\"col\"".to_owned(),
                Some(row) => value(row, column).map_or_else(String::new, |value| format!(" data-value=\"{value:e}\"")),
            };
            format!("<{tag}{class}{extra}>{}</{tag}>", escape(text))
        };
        format!("<tr>{}</tr>\n", cells.into_iter().map(cell).collect::<String>())
    };
    let (header, rows) = table.cells();
    let rows: String = rows.into_iter().enumerate().map(|(row, cells)| line(cells, "td", Some(row))).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table{attribute}>\n\
         <caption>{caption}</caption>\n<thead>{}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        line(header, "th", None)
    )
}

/// What a chart shows, as a table that is folded away.
fn behind(table_html: String) -> String {
    format!("<details><summary>The same as a table</summary>\n{table_html}</details>\n")
}

/// A drawing of SVG elements, as wide and high as that; it scrolls by itself where the screen is narrower than its letters
/// allow.
fn drawing(says: &str, (width, height): (f64, f64), inside: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{says}\"><svg class=\"drawing\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{says}\">\n{inside}</svg></div>\n"
    )
}

/// The GPU that the page speaks of, for headings.
fn on(e: &Estimate) -> String {
    chosen(e).map_or_else(String::new, |g| escape(&words::printable(&g.name, 60)))
}

/// Text as HTML has it, and values of attributes in quotes.
///
/// ```
/// assert_eq!(breakeven::report::escape("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;

    /// Tags opened and closed in order; elements that have no end tag are left out.
    fn well_formed(page: &str) {
        const ALONE: [&str; 6] = ["meta", "br", "!doctype", "line", "polyline", "rect"];
        let mut open: Vec<&str> = Vec::new();
        for part in page.split('<').skip(1) {
            let tag = part.split('>').next().expect("a tag ends");
            let name = tag.trim_start_matches('/').split_whitespace().next().expect("a tag has a name");
            if let Some(closed) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(closed), "in {tag}");
            } else if !ALONE.contains(&name) && !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn a_page_holds_what_the_report_holds() {
        let e = examples::program();
        let page = html(&e, false);
        well_formed(&page);
        for text in [e.summary.sentence.as_str(), "Held back by", "Fusing the 7", "Breaks even at", "heat.py:14"] {
            assert!(page.contains(&escape(text)), "{text}");
        }
        let tables = page.matches("<table").count();
        assert_eq!(tables, page.matches("<caption>").count());
        for never in ["http:", "https:", "<script", " style="] {
            assert!(!page.contains(never), "{never}");
        }
        well_formed(&html(&examples::numbers(), false));
    }

    #[test]
    fn hostile_names_stay_text() {
        let mut e = examples::program();
        let evil = "<script>alert('x')</script>\u{202e}\"onload=\"";
        e.workload.name = evil.to_owned();
        e.summary.sentence = evil.to_owned();
        for site in &mut e.sites {
            site.file = evil.to_owned();
            site.text = evil.to_owned();
        }
        for advice in &mut e.advice {
            advice.title = evil.to_owned();
            advice.patch = Some(evil.to_owned());
        }
        let page = html(&e, false);
        well_formed(&page);
        assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains("\"onload"));
    }
}
