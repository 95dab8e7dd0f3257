//! What changed as text, Markdown and JSON: the answer in a sentence or two, figures side by side, then names.

use super::{Change, Difference, Named, SAME, Unit};
use crate::report::{escaped, wrapped};
use breakeven::report::words::{UNKNOWN, bytes, count, printable, seconds};
use breakeven::report::{Align, Table};
use serde_json::{Value, json as value};

/// Names that are shown of each list, and how wide a line is.
const NAMES: usize = 8;
const WIDTH: usize = 80;
/// Parts of the time, whose changes add up to its own.
const PARTS: [&str; 7] =
    ["kernel_time", "idle_host", "idle_loader", "idle_wait", "idle_launch", "copies_alone", "communication_alone"];

/// The answer: how the time changed, and by what.
pub fn sentence(difference: &Difference) -> String {
    let what = if difference.of_step { "step" } else { "run" };
    let Some(time) = difference.change("time").filter(|time| time.difference().is_some()) else {
        return "How the time changed is unknown: a run has neither steps nor a GPU.".to_owned();
    };
    let stayed = time.relative().is_some_and(|part| part.abs() < SAME);
    let kernels = difference.change("kernel_time").filter(|change| change.relative().is_some());
    let kernels_changed = kernels.filter(|change| change.relative().is_some_and(|part| part.abs() >= SAME));
    let unit = time.before.unwrap_or(0.0).max(time.after.unwrap_or(0.0));
    let mut parts: Vec<&Change> = PARTS.iter().filter_map(|key| difference.change(key)).collect();
    parts.retain(|part| part.difference().is_some_and(|more| more.abs() >= SAME * unit));
    parts.sort_by(|a, b| b.difference().unwrap_or(0.0).abs().total_cmp(&a.difference().unwrap_or(0.0).abs()));
    let told = |parts: &[&Change]| parts.iter().take(3).map(|part| part_words(part)).collect::<Vec<_>>().join(", ");
    match (stayed, kernels_changed) {
        (true, Some(kernels)) => {
            let start = format!(
                "Kernel time {} while the {what} stayed the same ({})",
                moved(kernels),
                shown(time.after, Unit::Seconds)
            );
            parts.retain(|part| part.key != "kernel_time");
            if parts.is_empty() { format!("{start}.") } else { format!("{start}: {}.", told(&parts)) }
        }
        (true, None) => {
            let start = format!("The {what} stayed the same ({})", shown(time.after, Unit::Seconds));
            if parts.is_empty() { format!("{start}.") } else { format!("{start}, but {}.", told(&parts)) }
        }
        (false, _) => {
            let start = format!("The {what} {}", moved(time));
            if parts.is_empty() { format!("{start}.") } else { format!("{start}: {}.", told(&parts)) }
        }
    }
}

/// `fell 9 % (12 ms to 11 ms)`.
fn moved(change: &Change) -> String {
    let from_to = format!("({} to {})", shown(change.before, change.unit), shown(change.after, change.unit));
    match change.relative() {
        Some(part) if part < 0.0 => format!("fell {} {from_to}", part_of(-part)),
        Some(part) => format!("rose {} {from_to}", part_of(part)),
        None => format!("appeared {from_to}"),
    }
}

/// `kernel time −1 ms`.
fn part_words(change: &Change) -> String {
    format!("{} {}", change.words, signed(change.difference().unwrap_or(0.0), change.unit))
}

/// Below 10 % with one digit behind the point: changes are small.
fn part_of(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 9.95 && (percent - percent.round()).abs() >= 0.05 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

fn shown(figure: Option<f64>, unit: Unit) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded counts, not negative")]
    let counted = |x: f64| if x.fract() == 0.0 && x < 1e15 { count(x as u64) } else { format!("{x:.1}") };
    figure.map_or_else(
        || UNKNOWN.to_owned(),
        |x| match unit {
            Unit::Seconds => seconds(x),
            Unit::Count => counted(x),
            Unit::Bytes => bytes(x),
        },
    )
}

fn signed(x: f64, unit: Unit) -> String {
    let sign = if x < 0.0 { "−" } else { "+" };
    format!("{sign}{}", shown(Some(x.abs()), unit))
}

/// The change as a part of what it was, or what it means that there is none.
fn relative(change: &Change) -> String {
    match (change.before, change.after, change.relative()) {
        (None, ..) | (_, None, _) => UNKNOWN.to_owned(),
        (.., None) => "new".to_owned(),
        (.., Some(0.0)) => "same".to_owned(),
        (.., Some(part)) => format!("{}{}", if part < 0.0 { "−" } else { "+" }, part_of(part.abs())),
    }
}

fn figures(difference: &Difference) -> Table {
    let right = Align::Right;
    let head = if difference.of_step { "of a step" } else { "of the run" };
    let mut table =
        Table::new(&[(head, Align::Left), ("before", right), ("after", right), ("by", right), ("change", right)]);
    for change in &difference.changes {
        // What neither run has is no news.
        if change.before.unwrap_or(0.0) == 0.0 && change.after.unwrap_or(0.0) == 0.0 {
            continue;
        }
        table.row(vec![
            change.words.to_owned(),
            shown(change.before, change.unit),
            shown(change.after, change.unit),
            match change.difference() {
                None => UNKNOWN.to_owned(),
                Some(0.0) => String::new(),
                Some(more) => signed(more, change.unit),
            },
            relative(change),
        ]);
    }
    table
}

fn names(head: &'static str, all: &[Named]) -> Table {
    let right = Align::Right;
    let columns = [("before", right), ("after", right), ("by", right), (head, Align::Left)];
    let mut table = Table::new(&columns);
    for named in all.iter().filter(|named| named.difference() != 0.0).take(NAMES) {
        let side = |side: Option<(f64, f64)>| side.map_or_else(|| "not there".to_owned(), |(_, s)| seconds(s));
        let name = printable(&named.name, 200);
        table.row(vec![side(named.before), side(named.after), signed(named.difference(), Unit::Seconds), name]);
    }
    table
}

fn tables(difference: &Difference) -> Vec<Table> {
    let all = [
        figures(difference),
        names("kernel", &difference.kernels),
        names("host op", &difference.ops),
        names("source line", &difference.lines),
    ];
    all.into_iter().filter(|table| !table.is_empty()).collect()
}

/// For a terminal.
pub fn text(difference: &Difference) -> String {
    let mut lines = wrapped("", &sentence(difference));
    for table in tables(difference) {
        lines.push(String::new());
        let fits = ["kernel", "host op", "source line"].iter().fold(table, |table, name| table.cut(name, 8, WIDTH));
        lines.extend(fits.text(|_, _, cell| cell).lines().map(str::to_owned));
    }
    lines.push(String::new());
    for note in &difference.notes {
        lines.extend(wrapped("note: ", &printable(note, 300)));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect::<String>().trim_end().to_owned() + "\n"
}

/// For a pull request.
pub fn markdown(difference: &Difference) -> String {
    let mut out = format!("**{}**\n", escaped(&sentence(difference)));
    for table in tables(difference) {
        out += &format!("\n{}", table.map(escaped).markdown());
    }
    if !difference.notes.is_empty() {
        out.push('\n');
    }
    for note in &difference.notes {
        out += &format!("- {}\n", escaped(&printable(note, 300)));
    }
    out
}

/// For programs: `breakeven.diff/1`, every digit.
pub fn json(difference: &Difference) -> String {
    let changes = difference.changes.iter().map(|change| {
        value!({"key": change.key, "before": change.before, "after": change.after, "relative": change.relative()})
    });
    let list = |all: &[Named]| {
        let side = |side: Option<(f64, f64)>| side.map(|(count, s)| value!({"count": count, "time_s": s}));
        let one =
            |named: &Named| value!({"name": named.name, "before": side(named.before), "after": side(named.after)});
        all.iter().map(one).collect::<Vec<Value>>()
    };
    let all = value!({
        "schema": "breakeven.diff/1",
        "sentence": sentence(difference),
        "per": if difference.of_step { "step" } else { "run" },
        "before": difference.files[0],
        "after": difference.files[1],
        "changes": changes.collect::<Vec<Value>>(),
        "kernels": list(&difference.kernels),
        "ops": list(&difference.ops),
        "lines": list(&difference.lines),
        "notes": difference.notes,
    });
    format!("{all:#}\n")
}
