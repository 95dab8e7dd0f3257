//! Rows of a log in memory: lines, records of CSV, a batch of Arrow.

use crate::batch::Batch;
use crate::cells::{Cells, Value};
use crate::field::{Field, Layout};
use crate::mapping::Mapping;
use crate::values::{State, is_nothing, length, moment};

/// A table whose header is known.
#[derive(Clone, Debug)]
pub struct Table {
    /// For messages.
    pub name: String,
    /// Which column holds what.
    pub layout: Layout,
    /// What its words mean.
    pub mapping: Mapping,
    /// Between the cells of a line.
    pub delimiter: char,
}

/// Some rows of a table.
pub enum Block {
    /// Lines without quotes, as sacct writes them.
    Lines(String),
    /// Records of CSV.
    #[cfg(feature = "files")]
    Records(Vec<csv::StringRecord>),
    /// A batch of Arrow.
    Batch(Batch),
}

#[cfg(feature = "files")]
impl Cells for csv::StringRecord {
    fn value(&self, column: usize) -> Value<'_> {
        self.get(column).map_or(Value::Nothing, Value::Text)
    }
}

/// What takes rows, one after the other.
pub trait Rows {
    /// A row, by its place in the block.
    fn row<C: Cells + ?Sized>(&mut self, at: usize, cells: &C);
    /// A row that cannot be read, and why.
    fn bad(&mut self, at: usize, why: &str);
}

impl Block {
    /// Hands over every row.
    pub fn each(&self, table: &Table, rows: &mut impl Rows) {
        match self {
            Self::Lines(text) => {
                let mut cells = Vec::with_capacity(table.layout.width);
                for (at, line) in lines(text) {
                    cut(line, table, &mut cells);
                    match fitted(line, table, &mut cells) {
                        Ok(()) => rows.row(at, cells.as_slice()),
                        Err(why) => rows.bad(at, &why),
                    }
                }
            }
            #[cfg(feature = "files")]
            Self::Records(records) => {
                for (at, record) in records.iter().enumerate() {
                    if record.len() == table.layout.width {
                        rows.row(at, record);
                    } else {
                        rows.bad(at, &wrong_number(record.len(), table.layout.width));
                    }
                }
            }
            Self::Batch(batch) => (0..batch.rows()).for_each(|at| rows.row(at, &batch.row(at))),
        }
    }

    /// The id of a row, as it stands.
    pub fn id(&self, table: &Table, at: usize) -> String {
        let Some(column) = &table.layout.columns[Field::Id as usize] else { return String::new() };
        let shown = |value: Value<'_>| match value {
            Value::Text(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Moment(_) | Value::Nothing => String::new(),
        };
        match self {
            Self::Lines(text) => {
                let Some((_, line)) = lines(text).find(|(place, _)| *place == at) else { return String::new() };
                let mut cells = Vec::new();
                cut(line, table, &mut cells);
                let _ = fitted(line, table, &mut cells);
                shown(cells.as_slice().value(column.at[0]))
            }
            #[cfg(feature = "files")]
            Self::Records(records) => {
                records.get(at).map_or_else(String::new, |record| shown(record.value(column.at[0])))
            }
            Self::Batch(batch) => shown(batch.row(at).value(column.at[0])),
        }
    }
}

/// Lines that hold anything, by their first byte.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').filter_map(move |line| {
        let from = at;
        at += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        (!line.trim().is_empty()).then_some((from, line))
    })
}

/// The cells of a line.
fn cut<'a>(line: &'a str, table: &Table, cells: &mut Vec<&'a str>) {
    cells.clear();
    cells.extend(line.split(table.delimiter));
    // `sacct -p` ends each line in a delimiter, the header too.
    if cells.len() == table.layout.width + 1 && cells.last().is_some_and(|last| last.is_empty()) {
        cells.pop();
    }
}

/// Makes the cells as many as there are columns: a delimiter in free text, such as a job's name, has cut it. Where
/// more than
/// one column may be the one that was cut, the row is not read.
fn fitted<'a>(line: &'a str, table: &Table, cells: &mut Vec<&'a str>) -> Result<(), String> {
    let width = table.layout.width;
    if cells.len() == width {
        return Ok(());
    }
    let excess = cells.len().checked_sub(width).ok_or_else(|| wrong_number(cells.len(), width))?;
    let place = |cell: &str| cell.as_ptr() as usize - line.as_ptr() as usize;
    let mut found: Option<Vec<&str>> = None;
    for free in &table.layout.free {
        let Some(last) = cells.get(free + excess) else { continue };
        let whole = &line[place(cells[*free])..place(last) + last.len()];
        let mut tried = cells.clone();
        tried.splice(*free..=free + excess, [whole]);
        if plausible(&tried, &table.layout, &table.mapping) {
            if found.is_some() {
                return Err(format!("{}, and more than one may be the cut one", wrong_number(cells.len(), width)));
            }
            found = Some(tried);
        }
    }
    *cells = found.ok_or_else(|| wrong_number(cells.len(), width))?;
    Ok(())
}

/// Whether the cells of a line can be what their columns say.
fn plausible(cells: &[&str], layout: &Layout, mapping: &Mapping) -> bool {
    let fits = |field: Field, can_be: &dyn Fn(&str) -> bool| {
        let cell = layout.columns[field as usize].as_ref().and_then(|column| cells.get(column.at[0]));
        cell.is_none_or(|cell| is_nothing(cell.trim()) || can_be(cell))
    };
    let number = |cell: &str| cell.trim().parse::<f64>().is_ok();
    let known = |cell: &str| mapping.state(cell).or_else(|| State::known(cell)).is_some();
    let tres = |cell: &str| cell.contains('=');
    [Field::Submit, Field::Start, Field::End].into_iter().all(|field| fits(field, &|cell| moment(cell).is_some()))
        && [Field::Elapsed, Field::CpuTime, Field::Limit]
            .into_iter()
            .all(|field| fits(field, &|cell| length(cell).is_some()))
        && [Field::Nodes, Field::Cpus, Field::Gpus].into_iter().all(|field| fits(field, &number))
        && [Field::AllocTres, Field::ReqTres, Field::TresPeak, Field::TresMean]
            .into_iter()
            .all(|field| fits(field, &tres))
        && fits(Field::State, &known)
}

fn wrong_number(cells: usize, width: usize) -> String {
    format!("has {cells} cells, the header {width}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str, line: &str) -> Result<Vec<String>, String> {
        let names: Vec<&str> = header.split('|').collect();
        let mapping = Mapping::default();
        let table = Table { name: String::new(), layout: Layout::of(&names), mapping, delimiter: '|' };
        let mut cells = Vec::new();
        cut(line, &table, &mut cells);
        fitted(line, &table, &mut cells)?;
        Ok(cells.into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn a_delimiter_in_a_name_is_part_of_it() {
        let header = "JobID|JobName|State|Elapsed";
        assert_eq!(read(header, "1|a|b|COMPLETED|00:01:00").unwrap()[1], "a|b");
        assert_eq!(read(header, "1||x||COMPLETED|00:01:00").unwrap()[1], "|x|");
        assert_eq!(read(header, "1|a|COMPLETED|00:01:00|").unwrap().len(), 4);
        assert!(read(header, "1|a|COMPLETED").unwrap_err().contains("3 cells"));
        assert!(read("JobID|JobName|Comment|State", "1|a|b|c|FAILED").unwrap_err().contains("more than one"));
        assert!(read(header, "1|a|b|c|d").is_err());
    }
}
