//! The report in 24 lines: what matters most comes first, and what has no room is left to `--verbose`.

use super::terminal::Terminal;
use super::wrap::{cut, hanging_at_most};
use super::{first_fix, help, notes, remarks, rows, several, text, why, words};
use crate::estimate::{Advice, Estimate};

/// Lines of the report, but for what the user asked for by `--top`, `--timeline` or `--explain`.
const LINES: usize = 24;
/// Blank line, coverage, and the way to the rest.
const LAST: usize = 3;
/// Rows of a table, and of one below many first lines.
const ROWS: usize = 3;
const FEW_ROWS: usize = 2;
/// Characters of a source line before other columns go.
const CODE: usize = 16;
/// More first lines are many.
const MANY: usize = 5;

/// What follows the `first` lines.
pub(super) fn lines(e: &Estimate, terminal: &Terminal, explain: bool, first: usize) -> Vec<String> {
    let rows = if first > MANY { FEW_ROWS } else { ROWS };
    let mut page = Page { lines: Vec::new(), room: LINES.saturating_sub(first + LAST) };
    let two = |mark: &str, line: &str| terminal.dim_mark(mark, hanging_at_most(2, mark, line, terminal.width));
    let notes = notes::first(e).into_iter().take(3);
    let mut notes =
        notes.map(|note| (note.code.as_str(), two("note: ", &words::printable(&note.text, 600)))).peekable();
    // Times of a busy machine are doubtful, whatever else there is to tell.
    let busy = notes.next_if(|(code, _)| *code == "busy-machine").map_or_else(Vec::new, |(_, lines)| lines);
    page.room = page.room.saturating_sub(busy.len());
    let gpus = text::gpus(e, terminal, rows, false);
    if rows::top(e).is_some() {
        page.always(gpus);
    } else {
        page.add(gpus);
    }
    if e.several.is_some() {
        page.always(terminal.table(&several::table(e).without(&several::SPARE, terminal.width)));
    }
    let footprint = rows::footprint(e);
    if !footprint.is_empty() {
        page.add(terminal.table(&footprint.cut("for", rows::LEAST, terminal.width)));
    }
    if !e.sites.is_empty() {
        let lines = rows::sites(e, rows).cut("code", CODE, terminal.width);
        let lines = lines.without(&rows::SPARE_OF_LINES, terminal.width).cut("code", rows::LEAST, terminal.width);
        page.add(terminal.table(&lines));
    }
    page.always(text::timeline(e));
    let formula = text::formula(e, terminal, explain);
    if explain {
        page.always(formula);
    } else {
        page.add(formula);
    }
    page.lines.push(String::new());
    if let Some(reason) = why::main(e) {
        page.add(two("why: ", &reason));
    }
    for advice in others(e) {
        page.add(two("would help: ", &help::line(advice)));
    }
    page.lines.extend(busy);
    for (_, lines) in notes {
        page.add(lines);
    }
    page.lines.push(terminal.dim(&coverage(e, terminal.width)));
    page.lines.push(terminal.dim("more: --verbose"));
    page.lines
}

/// Two more pieces of advice than the first lines have; what helps on both sides once, where it helps more.
fn others(e: &Estimate) -> Vec<&Advice> {
    let told = usize::from(first_fix(e).is_some());
    let is_new =
        |(i, advice): &(usize, &Advice)| *i >= told && e.advice[..*i].iter().all(|before| before.id != advice.id);
    e.advice.iter().enumerate().filter(is_new).map(|(_, advice)| advice).take(2).collect()
}

/// As much of the coverage line as one line holds.
fn coverage(e: &Estimate, width: usize) -> String {
    let mut parts = remarks::coverage(e).into_iter();
    let mut line = format!("coverage: {}", parts.next().unwrap_or_default());
    for part in parts {
        let longer = format!("{line} · {part}");
        if longer.chars().count() > width {
            break;
        }
        line = longer;
    }
    cut(&line, width)
}

/// Lines as long as there is room.
struct Page {
    lines: Vec<String>,
    room: usize,
}

impl Page {
    /// These lines, also where there is no room for them.
    fn always(&mut self, lines: Vec<String>) {
        self.room = self.room.saturating_sub(lines.len());
        self.lines.extend(lines);
    }

    /// All of these lines, or none.
    fn add(&mut self, lines: Vec<String>) {
        if lines.len() <= self.room {
            self.room -= lines.len();
            self.lines.extend(lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TextOptions, examples, text};
    use crate::estimate::{Estimate, Note, Side};

    fn shown(e: &Estimate) -> String {
        text(e, &TextOptions::default())
    }

    #[test]
    fn a_busy_machine_is_told_of_whatever_else_there_is() {
        let mut e = examples::program();
        let note = |code| Note::new(code, format!("{code} {}", "and so on ".repeat(12)));
        e.notes.extend(["monthly-bill", "gpu-name", "script-cut", "unseen", "busy-machine"].map(note));
        for top in [None, Some(5)] {
            e.options = serde_json::json!({ "top": top });
            let text = shown(&e);
            assert!(text.contains("note: busy-machine") && text.lines().count() <= 24, "{text}");
        }
    }

    #[test]
    fn more_rows_leave_less_room_for_the_rest() {
        let mut e = examples::program();
        for (top, sites) in [(3, true), (5, true), (8, false)] {
            e.options = serde_json::json!({ "top": top });
            let text = shown(&e);
            assert_eq!(text.contains("\n  heat.py:14 "), sites, "{text}");
            assert!(text.lines().count() <= 24 && text.contains("\ncoverage: "), "{text}");
        }
    }

    #[test]
    fn what_helps_on_both_sides_is_told_once() {
        let mut e = examples::program();
        let advice = e.advice[0].clone();
        let named = |id: &str, side| crate::estimate::Advice {
            id: id.to_owned(),
            side,
            title: id.to_owned(),
            ..advice.clone()
        };
        e.advice = vec![
            named("float32", Side::Gpu),
            named("float32", Side::Cpu),
            named("numexpr", Side::Cpu),
            named("numexpr", Side::Gpu),
        ];
        let text = shown(&e);
        assert_eq!((text.matches("float32").count(), text.matches("numexpr").count()), (1, 1), "{text}");
        e.advice.swap(0, 1);
        assert_eq!(shown(&e).matches("float32").count(), 1, "the first is of the CPU: none stands above");
    }
}
