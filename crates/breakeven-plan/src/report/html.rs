//! The answer as one page for the browser: plots and tables that sort, nothing loaded from elsewhere, light and dark.

use super::plots::plots;
use super::sections::{Section, sections, with_range};
use crate::answer::Answer;
use breakeven::report::escape;

/// The styles, and the script that sorts, inside the page.
const STYLE: &str = include_str!("page.css");
const SORT: &str = include_str!("sort.js");

/// The whole page.
pub fn html(a: &Answer) -> String {
    let title = escape(&a.name);
    let mut body = format!(
        "<p class=\"soft\">breakeven plan · {title} · {} months · prices as of {}</p>\n",
        a.months,
        escape(&a.today)
    );
    body += &format!("<h1>{}</h1>\n", escape(&a.summary.sentence));
    if let Some(cost) = a.summary.cost {
        body += &format!(
            "<p class=\"soft\">{} over the horizon, resale counted</p>\n",
            escape(&with_range(cost, &a.currency))
        );
    }
    body += &format!("<div class=\"plots\">\n{}</div>\n", plots(a));
    body += &sections(a).iter().map(section).collect::<String>();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · breakeven plan</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <script>\n{SORT}</script>\n</body>\n</html>\n"
    )
}

fn section(s: &Section) -> String {
    let cells = |tag: &str, cells: &[String]| {
        let all: String = cells.iter().map(|cell| format!("<{tag}>{}</{}>", escape(cell), &tag[..2])).collect();
        format!("<tr>{all}</tr>\n")
    };
    let mut out = format!("<h2>{}</h2>\n", escape(&s.title));
    if !s.rows.is_empty() {
        let rows: String = s.rows.iter().map(|row| cells("td", row)).collect();
        let header = cells("th scope=\"col\"", &s.columns);
        out +=
            &format!("<div class=\"wide\"><table>\n<thead>{header}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n");
    }
    if !s.lines.is_empty() {
        let lines: String = s.lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
        out += &format!("<ul>\n{lines}</ul>\n");
    }
    out
}
