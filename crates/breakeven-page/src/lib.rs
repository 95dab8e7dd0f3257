//! The built pages, each one self-contained HTML file, written by `cargo xtask web` from `web/` and the engine as wasm.
//!
//! They are committed so that whoever serves them or writes them to disk needs neither Node nor a wasm toolchain.

use base64::{Engine, prelude::BASE64_STANDARD};

/// The calculator, UTF-8 HTML. It makes no request of its own: engine, script and styles are inside.
///
/// ```
/// assert!(breakeven_page::PAGE.starts_with("<!doctype html>"));
/// ```
pub const PAGE: &str = include_str!("../assets/page.html");

/// The report page without a report: a workload file can be dropped on it.
pub const REPORT: &str = include_str!("../assets/report.html");

/// Where the parts of a report go, in the order of the page: each mark stands before a default and after the same mark
/// again.
const MARKS: [&str; 5] = [
    "<!--breakeven:title-->",
    "<!--breakeven:body-->",
    "<!--breakeven:asked-->",
    "<!--breakeven:file-->",
    "<!--breakeven:sizes-->",
];

/// What a report page holds.
#[derive(Clone, Copy, Debug)]
pub struct Content<'a> {
    /// What the report is of; any text.
    pub title: &'a str,
    /// The report as HTML, shown before any script runs.
    pub body: &'a str,
    /// The options that were asked under, JSON.
    pub options: &'a str,
    /// The workload file, raw DEFLATE.
    pub workload: &'a [u8],
    /// The runs of other sizes that were asked about with it (`sizes` of a request, JSON), raw DEFLATE; or nothing.
    pub sizes: &'a [u8],
}

/// The report page with a report in it. Whatever the title and the options say, they end no element.
///
/// ```
/// let content = breakeven_page::Content { title: "</title>", body: "<h1>19×</h1>", options: "{}", workload: &[], sizes: &[] };
/// let page = breakeven_page::report(&content);
/// assert!(page.contains("<title>&lt;/title> · breakeven</title>") && page.contains("<h1>19×</h1>"));
/// ```
pub fn report(content: &Content<'_>) -> String {
    let title = content.title.replace('&', "&amp;").replace('<', "&lt;") + " · breakeven";
    let asked = script("asked", "application/json", &content.options.replace('<', "\\u003c"));
    let packed = |id: &str, bytes: &[u8]| script(id, "application/octet-stream", &BASE64_STANDARD.encode(bytes));
    let [file, sizes] = [packed("file", content.workload), packed("sizes", content.sizes)];
    fill(REPORT, [&title, content.body, &asked, &file, &sizes])
}

fn script(id: &str, kind: &str, text: &str) -> String {
    format!("<script id=\"{id}\" type=\"{kind}\">{text}</script>")
}

/// `page` with `parts` instead of its defaults. A page that lacks a mark stays as it is: the tests see to the built one.
fn fill(page: &str, parts: [&str; MARKS.len()]) -> String {
    let mut out = String::with_capacity(page.len() + parts.iter().map(|part| part.len()).sum::<usize>());
    let mut rest = page;
    for (mark, part) in MARKS.into_iter().zip(parts) {
        let Some((before, after)) = rest.split_once(mark) else { continue };
        let Some((_, after)) = after.split_once(mark) else { continue };
        out.push_str(before);
        out.push_str(part);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_page_has_every_mark_twice_and_in_order() {
        let places = MARKS.map(|mark| REPORT.match_indices(mark).map(|(at, _)| at).collect::<Vec<_>>());
        assert!(places.iter().all(|at| at.len() == 2), "{places:?}");
        assert!(places.concat().is_sorted(), "{places:?}");
    }

    #[test]
    fn options_of_hostile_text_end_no_script() {
        let content = Content {
            title: "t",
            body: "",
            options: r#"{"gpu":["</script><script>x"]}"#,
            workload: b"\0\xff",
            sizes: b"\xff",
        };
        let page = report(&content);
        assert_eq!(page.matches("</script").count(), REPORT.matches("</script").count());
        assert!(page.contains(r#"{"gpu":["\u003c/script>\u003cscript>x"]}"#));
    }
}
