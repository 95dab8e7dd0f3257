//! The report as one page: no script, nothing loaded from elsewhere, readable with and without colours, on paper and by
//! a screen reader. Each chart has its table.

mod charts;

use super::sentence::chosen;
use super::table::{Align, Cells, Table};
use super::{held_back, help, rows, words};
use crate::estimate::Estimate;

/// Forbids all but the page's own style, should a name of other people's making ever get through as markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// GPUs that are shown at once; more are folded away.
const TOP: usize = 10;

/// The whole page.
pub fn html(e: &Estimate) -> String {
    let title = escape(&words::printable(&e.workload.name, 80));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · breakeven</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n",
        include_str!("style.css")
    );
    out +=
        &format!("<p class=\"soft\">{title}</p>\n<h1>{}</h1>\n", escape(&words::printable(&e.summary.sentence, 400)));
    for line in held_back(e).into_iter().chain(rows::remarks(e)) {
        out += &format!("<p>{}</p>\n", escape(&line));
    }
    out += &section("Time", charts::bars(e) + &devices(e));
    out += &section("Where the time goes", charts::parts(e));
    out += &section("Break-even", charts::curve(e));
    out += &section("Hot lines", table(&rows::sites(e, usize::MAX), "Source lines by their time on the CPU"));
    out += &section("In the course of the run", charts::timeline(e));
    out += &section("Why", reasons(e));
    out += &section("Would help", advice(e));
    out += &section("The script’s own clocks", list(e.timers.iter().map(|timer| timer.text.as_str())));
    out += &section("What would turn it", list(e.robustness.iter().map(|flip| flip.text.as_str())));
    out += &section("Memory by precision", table(&rows::footprint(e), "What the values take"));
    out += &section("Notes", list(e.notes.iter().map(|note| note.text.as_str())));
    out += &format!("<p class=\"soft\">{}</p>\n</main>\n</body>\n</html>\n", escape(&rows::coverage(e)));
    out
}

/// The first devices; all of them folded away.
fn devices(e: &Estimate) -> String {
    let first = table(&rows::gpus(e, TOP), "The first devices");
    let all = e.estimates.len();
    if all <= TOP {
        return first;
    }
    let whole = table(&rows::gpus(e, usize::MAX), "Every device");
    format!("{first}<details><summary>All {all} GPUs</summary>\n{whole}</details>\n")
}

/// Nothing where there is nothing to say.
fn section(heading: &str, body: String) -> String {
    if body.is_empty() { body } else { format!("<section>\n<h2>{heading}</h2>\n{body}</section>\n") }
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let items: String = items.map(|item| format!("<li>{}</li>\n", escape(&words::printable(item, 600)))).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

fn reasons(e: &Estimate) -> String {
    let mut out = String::new();
    for reason in &e.reasons {
        let at = reason.site.iter().chain(&reason.also).map(|line| words::printable(line, 120));
        let at: Vec<String> = reason.share.map(words::percent).into_iter().chain(at).collect();
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
    let mut out = String::new();
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
            out += &format!("<pre><code>{}</code></pre>\n", escape(&lines.join("\n")));
        }
        out += "</li>\n";
    }
    let together = help::together(e);
    out += &together.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect::<String>();
    if out.is_empty() { out } else { format!("<ul>\n{out}</ul>\n") }
}

/// A table that scrolls by itself where it is too wide.
fn table(table: &Table, caption: &str) -> String {
    if table.is_empty() {
        return String::new();
    }
    let line = |cells: Cells<'_>, tag: &str, scope: &str| {
        let cell = |(text, align): (&str, Align)| {
            let class = if align == Align::Right { " class=\"right\"" } else { "" };
            format!("<{tag}{scope}{class}>{}</{tag}>", escape(text))
        };
        format!("<tr>{}</tr>\n", cells.into_iter().map(cell).collect::<String>())
    };
    let (header, rows) = table.cells();
    let rows: String = rows.into_iter().map(|row| line(row, "td", "")).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\n<caption>{caption}</caption>\n\
         <thead>{}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        line(header, "th", " scope=\"col\"")
    )
}

/// What a chart shows, as a table that is folded away.
fn behind(table_html: String) -> String {
    format!("<details><summary>The same as a table</summary>\n{table_html}</details>\n")
}

/// The GPU that the page speaks of, for headings.
fn on(e: &Estimate) -> String {
    chosen(e).map_or_else(String::new, |g| escape(&words::printable(&g.name, 60)))
}

/// For text and for values of attributes in double quotes.
fn escape(text: &str) -> String {
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
        let page = html(&e);
        well_formed(&page);
        for text in [e.summary.sentence.as_str(), "Held back by", "Fusing the 7", "Breaks even at", "heat.py:14"] {
            assert!(page.contains(&escape(text)), "{text}");
        }
        let tables = page.matches("<table>").count();
        assert_eq!(tables, page.matches("<caption>").count());
        assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"));
        well_formed(&html(&examples::numbers()));
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
        let page = html(&e);
        well_formed(&page);
        assert!(!page.contains("<script") && !page.contains('\u{202e}') && !page.contains("\"onload"));
    }
}
