//! Calls on data frames: the verb of the table, and the sizes that the recorder tells as `facts`.
//!
//! | fact | what |
//! |---|---|
//! | `verb` | what this call does, where the name alone does not say: `df[mask]` is a `filter`, `df["a"]` a `view` |
//! | `rows`, `columns`, `bytes` | of what it reads; letters of text are bytes |
//! | `out_rows`, `out_bytes` | of what it gives: groups, matches, rows kept |
//! | `keys`, `other_rows`, `window` | key columns; rows of a join's other side; rows of a window |
//! | `dtype` | of most of the columns, as the workload format names it |
//! | `copied_in`, `copied_out` | bytes that the call itself copies to the device and back: a file, a Polars query |

use super::{Call, Lowered};
use crate::workload::op::{Dataframe, Direction};
use crate::workload::{Dtype, Op, Part};
use serde::Deserialize;

/// What a call on a data frame does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Work with columns.
    Does(Dataframe),
    /// Names, slices and what is only noted until it is needed: no kernel.
    View,
    /// The host takes values: `to_numpy`, `len` of a mask, printing.
    Read,
    /// Made of what the host has, or read by it.
    Host,
}

impl Verb {
    /// The verb that a row of the table, or the fact `verb`, names.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "view" => Self::View,
            "read" => Self::Read,
            "host" => Self::Host,
            other => Self::Does(serde_json::from_value(other.into()).ok()?),
        })
    }
}

impl std::fmt::Display for Verb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::View => f.write_str("view"),
            Self::Read => f.write_str("read"),
            Self::Host => f.write_str("host"),
            Self::Does(kind) => {
                f.write_str(serde_json::to_value(kind).ok().as_ref().and_then(|v| v.as_str()).unwrap_or("op"))
            }
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Facts {
    verb: Option<String>,
    rows: u64,
    columns: u64,
    bytes: u64,
    out_rows: u64,
    out_bytes: u64,
    keys: u64,
    other_rows: u64,
    window: u64,
    dtype: Option<Dtype>,
    copied_in: u64,
    copied_out: u64,
}

/// The op of a call on a data frame; nothing but a dispatch where its facts do not read.
pub(super) fn lower(verb: Verb, call: &Call) -> Lowered {
    let facts: Option<Facts> = call.keyword("facts").and_then(|text| serde_json::from_str(text).ok());
    let Some(facts) = facts else {
        let op = if matches!(verb, Verb::View) { Op::View } else { Op::Opaque };
        return Lowered { op, dtype: Dtype::F64, read: 0, written: 0 };
    };
    let verb = facts.verb.as_deref().and_then(Verb::parse).unwrap_or(verb);
    let dtype = facts.dtype.unwrap_or(Dtype::F64);
    let (read, written) = (facts.bytes, facts.out_bytes);
    let op = match verb {
        Verb::View => return Lowered { op: Op::View, dtype, read: 0, written: 0 },
        Verb::Read => return Lowered { op: Op::HostRead { bytes: read }, dtype, read, written: 0 },
        Verb::Host => Op::HostOnly,
        Verb::Does(kind) => copying(work(kind, &facts), dtype, &facts),
    };
    Lowered { op, dtype, read, written }
}

fn work(kind: Dataframe, facts: &Facts) -> Op {
    let &Facts { rows, columns, out_rows, keys, other_rows, window, .. } = facts;
    Op::Dataframe { kind, rows, columns, out_rows, keys: keys.max(1), other_rows, window }
}

/// With the copies that the call makes by itself.
fn copying(op: Op, dtype: Dtype, facts: &Facts) -> Op {
    if facts.copied_in == 0 && facts.copied_out == 0 {
        return op;
    }
    let copy = |direction, bytes| {
        let op = Op::Transfer { direction, bytes, pinned: false, asynchronous: false };
        (bytes > 0).then(|| Part::new(op, Dtype::U8, 1))
    };
    let work = Part { read_bytes: facts.bytes, written_bytes: facts.out_bytes, ..Part::new(op, dtype, 1) };
    let parts = [copy(Direction::H2d, facts.copied_in), Some(work), copy(Direction::D2h, facts.copied_out)];
    Op::Routine { parts: parts.into_iter().flatten().collect() }
}

#[cfg(test)]
mod tests {
    use crate::lower::{Call, Lowered, lower};
    use crate::workload::op::Dataframe;
    use crate::workload::{Dtype, Op};
    use proptest::prelude::*;

    fn told(name: &str, facts: &str) -> Lowered {
        let keywords = [("facts", facts)];
        lower(&Call { name, inputs: &[], outputs: &[], keywords: &keywords, scalar_result: false })
    }

    #[test]
    fn a_group_by_has_its_groups() {
        let facts = r#"{"rows": 1000, "columns": 3, "bytes": 24000, "out_rows": 10, "out_bytes": 240, "keys": 2}"#;
        let lowered = told("pandas.DataFrameGroupBy.sum", facts);
        let op = Op::Dataframe {
            kind: Dataframe::GroupBy,
            rows: 1000,
            columns: 3,
            out_rows: 10,
            keys: 2,
            other_rows: 0,
            window: 0,
        };
        assert_eq!(lowered, Lowered { op, dtype: Dtype::F64, read: 24_000, written: 240 });
    }

    #[test]
    fn facts_say_what_the_name_does_not() {
        let facts = |verb: &str| format!(r#"{{"verb": "{verb}", "rows": 10, "columns": 1, "bytes": 80}}"#);
        let op = |verb: &str| told("pandas.DataFrame.__getitem__", &facts(verb)).op;
        assert_eq!((op("view"), op("read")), (Op::View, Op::HostRead { bytes: 80 }));
        assert_eq!(op("filter"), Op::frame(Dataframe::Filter, [10, 1, 0]));
        assert_eq!(op("host"), Op::HostOnly);
    }

    #[test]
    fn a_file_is_copied_before_it_is_parsed() {
        let facts = r#"{"rows": 10, "columns": 1, "bytes": 80, "copied_in": 90}"#;
        let Op::Routine { parts } = told("pandas.read_csv", facts).op else { panic!() };
        assert!(matches!(parts[0].op, Op::Transfer { bytes: 90, .. }), "{parts:?}");
        assert!(matches!(parts[1].op, Op::Dataframe { kind: Dataframe::ReadCsv, .. }), "{parts:?}");
        assert_eq!((parts.len(), parts[1].read_bytes), (2, 80));
    }

    #[test]
    fn facts_that_do_not_read_are_not_understood() {
        assert_eq!(told("pandas.DataFrame.merge", r#"{"rows": -3}"#).op, Op::Opaque);
    }

    proptest! {
        #[test]
        fn no_facts_make_it_panic(text in ".*", rows: u64, bytes: u64) {
            told("pandas.DataFrame.merge", &text);
            told("pandas.DataFrame.merge", &format!(r#"{{"rows": {rows}, "bytes": {bytes}, "copied_out": {bytes}}}"#));
        }
    }
}
