//! The session as one page for the browser: no script, nothing loaded from elsewhere, light and dark.

use super::{plots, sentence::sentences, tables, words};
use crate::history::History;
use crate::totals::Totals;
use breakeven::report::{escape, words::printable};

/// The styles, inside the page.
const STYLE: &str = include_str!("page.css");

/// The whole page.
pub fn html(totals: &Totals, history: &History) -> String {
    let title = totals.what.as_deref().unwrap_or("the whole machine");
    let title = escape(&printable(title, 200));
    let mut body = format!("<p class=\"soft\">breakeven watch · {title}</p>\n");
    for sentence in sentences(totals) {
        body += &format!("<h1>{}</h1>\n", escape(&sentence));
    }
    let energy = plots::energy(totals).map_or_else(String::new, |energy| format!(" · GPUs {energy}"));
    let host = words::host(totals).map_or_else(String::new, |host| format!(" · {host}"));
    body += &format!("<p class=\"soft\">{}</p>\n", escape(&(words::watched(totals) + &energy + &host)));
    body += &tables::all(totals).iter().map(table).collect::<String>();
    for (n, gpu) in totals.gpus.iter().enumerate() {
        let name = format!("GPU {} {}", printable(&gpu.label, 8), printable(&gpu.name, 60));
        body += &section(&name, &plots::of_gpu(totals, history, n));
    }
    body += &section("Host", &plots::of_host(totals, history));
    let notes: String = totals
        .notes
        .iter()
        .map(|note| {
            let hint = note.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
            format!("<li>{}</li>\n", escape(&printable(&(note.text.clone() + &hint), 600)))
        })
        .collect();
    if !notes.is_empty() {
        body += &format!("<h2>Notes</h2>\n<ul>\n{notes}</ul>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · breakeven watch</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn section(name: &str, drawn: &str) -> String {
    if drawn.is_empty() {
        return String::new();
    }
    format!("<h2>{}</h2>\n<div class=\"plots\">\n{drawn}</div>\n", escape(name))
}

fn table(rows: &tables::Rows) -> String {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        let all: String = cells.map(|cell| format!("<{tag}>{}</{}>", escape(cell), &tag[..2])).collect();
        format!("<tr>{all}</tr>\n")
    };
    let header = cells("th scope=\"col\"", &mut rows.columns.iter().copied());
    let body: String = rows.rows.iter().map(|row| cells("td", &mut row.iter().map(String::as_str))).collect();
    format!(
        "<div class=\"wide\"><table>\n<caption>{}</caption>\n<thead>{header}</thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        rows.caption
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;
    use crate::reading::{Field, Note, Reading, Sample};
    use breakeven::hardware::Vendor;

    #[test]
    fn a_page_is_whole_loads_nothing_and_hostile_names_stay_text() {
        let gpus = [Gpu::new("0", Vendor::Nvidia, "<script>L4</script>")];
        let mut totals = Totals::new(&gpus, Some(4), Some("python \"><script>".to_owned()));
        let mut history = History::new(1, 0.1, 100);
        for n in 0..50 {
            let mut reading = Reading::default();
            reading.set(Field::Busy, if (20..24).contains(&n) { None } else { Some(0.5) });
            let sample = Sample { at: f64::from(n) / 10.0, gpus: vec![reading], ..Sample::default() };
            totals.take(&sample);
            history.take(&sample);
        }
        totals.notes.push(Note::new("x", "</ul><script>"));
        let page = html(&totals, &history);
        assert!(!page.contains("<script") && !page.contains("http"), "{page}");
        assert_eq!(page.matches("<polyline").count(), 2, "a gap parts the line");
        assert!(page.contains("prefers-color-scheme: dark") && page.ends_with("</html>\n"));
        for tag in ["table", "figure", "svg", "div", "h2"] {
            assert_eq!(page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}
