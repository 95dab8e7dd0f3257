//! A fleet as one page for the browser: plots, tables that sort, nothing loaded from elsewhere, light and dark.

use super::{plots, sentence, tables};
use crate::fleet::Fleet;
use breakeven::report::escape;

/// The styles and the script, inside the page.
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Rows of a table.
const SHOWN: usize = 200;

/// The whole page.
pub fn html(fleet: &Fleet<'_>) -> String {
    let mut body = format!("<p class=\"soft\">breakeven fleet</p>\n<h1>{}</h1>\n", escape(&sentence(fleet)));
    let drawn = plots::all(fleet);
    if !drawn.is_empty() {
        body += &format!("<div class=\"plots\">\n{drawn}</div>\n");
    }
    body += &tables::all(fleet, SHOWN).iter().map(table).collect::<String>();
    let notes: String =
        tables::notes(fleet).iter().map(|(code, note)| format!("<li>{} ({code})</li>\n", escape(note))).collect();
    if !notes.is_empty() {
        body += &format!("<h2>Notes</h2>\n<ul>\n{notes}</ul>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>breakeven fleet</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n"
    )
}

fn table(rows: &tables::Rows) -> String {
    let header: String = rows
        .columns
        .iter()
        .map(|(name, _)| format!("<th scope=\"col\"><button type=\"button\">{}</button></th>", escape(name)))
        .collect();
    let cell = |(shown, sorted): &tables::Cell| match sorted {
        Some(number) => format!("<td data-n=\"{number}\">{}</td>", escape(shown)),
        None => format!("<td class=\"text\">{}</td>", escape(shown)),
    };
    let body: String =
        rows.rows.iter().map(|row| format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>())).collect();
    format!(
        "<h2 id=\"{}\">{}</h2>\n<div class=\"wide\"><table>\n<thead><tr>{header}</tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n",
        rows.key,
        escape(&rows.caption)
    )
}
