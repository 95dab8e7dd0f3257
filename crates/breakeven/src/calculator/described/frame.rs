//! Verbs over a dataframe: pandas on the CPU, cuDF on a GPU.

use super::super::kind::precision_name;
use super::{Asked, Described, entry, on_device, optional, part, program_of, read_back, whole};
use crate::estimate::Note;
use crate::report::words;
use crate::workload::{Dtype, Entry, Op, op::Dataframe};
use crate::{Error, Result};

/// Columns unless given.
const COLUMNS: f64 = 10.0;
/// Rows to a group.
const ROWS_PER_GROUP: f64 = 100.0;
/// Rows of a join to a row of its other table.
const ROWS_PER_MATCH: f64 = 10.0;
/// Rows of a filter to a row that is kept.
const ROWS_PER_KEPT: f64 = 2.0;
/// Letters of a text that is searched.
const LETTERS: f64 = 20.0;
/// Rows that are looked at in the end.
const SHOWN: f64 = 5.0;

/// A verb and what it is estimated as.
struct Verb {
    name: &'static str,
    /// What of cuDF is called, and the user's line.
    called: &'static str,
    line: &'static str,
    /// What there is of it, in words.
    with: &'static str,
    kind: Dataframe,
}

const VERBS: [Verb; 5] = [
    Verb {
        name: "group-by",
        called: "cudf.DataFrame.groupby",
        line: "df.groupby(\"key\").sum()",
        with: "100 rows to a group",
        kind: Dataframe::GroupBy,
    },
    Verb {
        name: "join",
        called: "cudf.DataFrame.merge",
        line: "df.merge(other, on=\"key\")",
        with: "a tenth as many rows in the other table, of which each row finds one",
        kind: Dataframe::Join,
    },
    Verb {
        name: "sort",
        called: "cudf.DataFrame.sort_values",
        line: "df.sort_values(\"key\")",
        with: "keys in any order",
        kind: Dataframe::Sort,
    },
    Verb {
        name: "filter",
        called: "cudf.DataFrame.__getitem__",
        line: "df[df[\"x\"] > 0]",
        with: "half of the rows kept",
        kind: Dataframe::Filter,
    },
    Verb {
        name: "contains",
        called: "cudf.Series.str.contains",
        line: "df[\"text\"].str.contains(\"abc\")",
        with: "20 letters to a row",
        kind: Dataframe::Text,
    },
];

/// The verb that was asked for: by its name, `-` or `_` between words.
fn named(asked: &Asked) -> Result<&'static Verb> {
    let Some(text) = &asked.numbers.verb else { return Ok(&VERBS[0]) };
    let plain = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
    let plain = if plain == "groupby" { "group-by".to_owned() } else { plain };
    VERBS.iter().find(|verb| verb.name == plain).ok_or_else(|| {
        Error::new("unknown-verb", format!("there is no verb `{}` of a dataframe", words::printable(text, 40)))
            .hint("group-by, join, sort, filter or contains")
            .field("verb")
    })
}

/// `df.groupby("key").sum()` or another verb over a key and columns of numbers.
///
/// # Errors
/// `unknown-verb`; as [`part`] for the counts.
pub(super) fn verb(asked: &Asked) -> Result<Described> {
    let rows = part(&asked.numbers.rows, "rows")?;
    let verb = named(asked)?;
    let texts = verb.kind == Dataframe::Text;
    if texts && asked.numbers.columns.is_some() {
        return Err(Error::new(
            "contradiction",
            "`columns` is of verbs over several columns, and `contains` takes one",
        )
        .hint("leave `columns` out")
        .field("columns"));
    }
    let columns = if texts { 1.0 } else { optional(&asked.numbers.columns, "columns", COLUMNS)? };
    let (dtype, width) = if texts { (Dtype::U8, LETTERS) } else { (asked.dtype, asked.dtype.bytes() as f64) };
    let out = match verb.kind {
        Dataframe::GroupBy => (rows / ROWS_PER_GROUP).max(1.0),
        Dataframe::Filter => (rows / ROWS_PER_KEPT).max(1.0),
        _ => rows,
    };
    let other = if verb.kind == Dataframe::Join { (rows / ROWS_PER_MATCH).max(1.0) } else { 0.0 };
    let frame = (rows * columns + 2.0 * other) * width;
    let result = out * if texts { 1.0 } else { columns * width };
    let [rows_, columns_, out_rows, other_rows] = [rows, columns, out, other].map(whole);
    let op =
        Op::Dataframe { kind: verb.kind, rows: rows_, columns: columns_, out_rows, keys: 1, other_rows, window: 0 };
    let shapes = Some(format!("[{rows_},{columns_}] -> [{out_rows},{columns_}]"));
    let mut work = Entry { shapes, ..entry(0, verb.called, op, dtype, result) };
    if texts {
        work.read_bytes = whole(frame);
    }
    let mut ops = vec![work];
    if verb.kind == Dataframe::Filter {
        let mask = Op::frame(Dataframe::Map, [rows, 1.0, rows].map(whole));
        ops.insert(0, entry(0, "cudf.Series.__gt__", mask, asked.dtype, rows));
    }
    let back = if verb.kind == Dataframe::GroupBy { result } else { result.min(SHOWN * columns * width) };
    ops.push(read_back(1, asked.given.data_out.unwrap_or(back)));
    let ops = on_device(0, asked.given.data.unwrap_or(frame), ops);
    let line = verb.line;
    let first = format!("out = {line}");
    let lines = [first.as_str(), if verb.kind == Dataframe::GroupBy { "print(out)" } else { "print(out.head())" }];
    let precision = if texts {
        String::new()
    } else {
        let default = if asked.given.precision.is_none() { " (pandas' default is fp64)" } else { "" };
        format!(" in {}{default}", precision_name(asked.dtype))
    };
    let text = format!(
        "asked by size: estimated as `{line}`{precision} with {}, by pandas on one core and by cuDF, to which the frame \
         is copied (`--data 0` if it is there already)",
        verb.with
    );
    // What the verb needs beside these while it runs is added where the device is known.
    let memory = frame + result;
    let notes = vec![Note::new("by-size", text)];
    Ok(Described { workload: program_of("pandas", &lines, ops, memory), notes, parameters: None })
}
