//! Group-by of a dataframe: pandas on the CPU, cuDF on a GPU.

use super::super::kind::precision_name;
use super::{Asked, Described, entry, on_device, optional, part, program_of, read_back, whole};
use crate::Result;
use crate::estimate::Note;
use crate::workload::{Entry, Op, op::Dataframe};

/// Columns unless given.
const COLUMNS: f64 = 10.0;
/// Rows to a group.
const ROWS_PER_GROUP: f64 = 100.0;

/// `df.groupby("key").sum()`: a key and columns of numbers, a hundred rows to a group.
pub(super) fn group_by(asked: &Asked) -> Result<Described> {
    let rows = part(&asked.numbers.rows, "rows")?;
    let columns = optional(&asked.numbers.columns, "columns", COLUMNS)?;
    let groups = (rows / ROWS_PER_GROUP).max(1.0);
    let width = asked.dtype.bytes() as f64;
    let (whole_frame, result) = (rows * columns * width, groups * columns * width);
    let kind = Dataframe::GroupBy;
    let op = Op::frame(kind, [rows, columns, groups].map(whole));
    let shapes = Some(format!("[{0},{1}] -> [{2},{1}]", whole(rows), whole(columns), whole(groups)));
    let verb = Entry { shapes, ..entry(0, "cudf.DataFrame.groupby", op, asked.dtype, result) };
    let back = asked.given.data_out.unwrap_or(result);
    let ops = on_device(0, asked.given.data.unwrap_or(whole_frame), vec![verb, read_back(1, back)]);
    let lines = ["sums = df.groupby(\"key\").sum()", "print(sums)"];
    let precision = precision_name(asked.dtype);
    let default = if asked.given.precision.is_none() { " (pandas' default is fp64)" } else { "" };
    let text = format!(
        "asked by size: estimated as `df.groupby(\"key\").sum()` in {precision}{default} with 100 rows to a group, by \
         pandas on one core and by cuDF, to which the frame is copied (`--data 0` if it is there already)"
    );
    let memory = 2.0 * whole_frame + result;
    let notes = vec![Note::new("by-size", text)];
    Ok(Described { workload: program_of("pandas", &lines, ops, memory), notes, parameters: None })
}
