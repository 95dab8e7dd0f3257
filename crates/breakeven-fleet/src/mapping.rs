//! A mapping file: which column of a foreign table is what, in which unit, and what its states mean.

use crate::field::{Column, Field, Kind, Layout};
use crate::values::{State, unit};
use breakeven::report::words::printable;
use breakeven::{Error, Result};
use toml_edit::{DocumentMut, Item, Value};

/// A mapping, before it has met a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    columns: Vec<(Field, Vec<String>, f64)>,
    states: Vec<(String, State)>,
}

impl Mapping {
    /// Reads a mapping in TOML:
    ///
    /// ```
    /// let mapping = breakeven_fleet::Mapping::read(r#"
    /// [columns]
    /// id = "name"
    /// elapsed = { column = "duration", unit = "ms" }
    /// gpus = { columns = ["num_gpu", "gpu_milli"], scale = 0.001 }
    /// [states]
    /// Succeeded = "COMPLETED"
    /// "#);
    /// assert!(mapping.is_ok());
    /// ```
    ///
    /// # Errors
    /// `mapping` for what is no TOML, for fields, units and states that are not known.
    pub fn read(text: &str) -> Result<Self> {
        let document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| wrong(e.message().to_owned()))?;
        let mut mapping = Self::default();
        for (section, item) in document.iter() {
            let Some(table) = item.as_table_like() else { return Err(wrong(format!("`{section}` is no section"))) };
            for (key, item) in table.iter() {
                match section {
                    "columns" => mapping.columns.push(column(key, item)?),
                    "states" => mapping.states.push(state(key, item)?),
                    _ => return Err(wrong(format!("[{section}] is neither [columns] nor [states]"))),
                }
            }
        }
        if mapping.columns.is_empty() {
            return Err(wrong("it maps no column".to_owned()));
        }
        Ok(mapping)
    }

    /// The layout of a table with these columns: what is mapped, else what is known by its name.
    ///
    /// # Errors
    /// `mapping` for a column that the table does not have.
    pub fn layout(&self, names: &[&str]) -> Result<Layout> {
        let mut layout = Layout::of(names);
        for (field, columns, scale) in &self.columns {
            let place = |column: &String| {
                names.iter().position(|name| name.trim() == column).ok_or_else(|| {
                    let have = printable(&names.join(", "), 300);
                    wrong(format!(
                        "the table has no column `{}` for `{}`; it has {have}",
                        printable(column, 60),
                        field.key()
                    ))
                })
            };
            let at = columns.iter().map(place).collect::<Result<Vec<_>>>()?;
            layout.columns[*field as usize] = Some(Column { at, scale: *scale });
        }
        Ok(layout)
    }

    /// What a word of the log means.
    pub fn state(&self, word: &str) -> Option<State> {
        self.states.iter().find(|(known, _)| known == word).map(|(_, state)| *state)
    }
}

fn column(key: &str, item: &Item) -> Result<(Field, Vec<String>, f64)> {
    let field = Field::named(key)?;
    let form = || wrong(format!("`{key}` is a column's name, or {{ column = \"…\", unit = \"…\", scale = … }}"));
    if let Some(name) = item.as_str() {
        return Ok((field, vec![name.to_owned()], 1.0));
    }
    let table = item.as_table_like().ok_or_else(form)?;
    let (mut names, mut scale) = (Vec::new(), 1.0);
    for (option, item) in table.iter() {
        let text = || item.as_str().ok_or_else(form);
        match option {
            "column" => names.push(text()?.to_owned()),
            "columns" => {
                let all = item.as_array().ok_or_else(form)?;
                names.extend(
                    all.iter()
                        .map(|name| name.as_str().map(str::to_owned).ok_or_else(form))
                        .collect::<Result<Vec<_>>>()?,
                );
            }
            "unit" => scale *= unit(field.kind(), text()?)?,
            "scale" => {
                let number = item.as_value().and_then(|value| match value {
                    Value::Integer(n) => Some(*n.value() as f64),
                    Value::Float(x) => Some(*x.value()),
                    _ => None,
                });
                scale *= number.filter(|x| x.is_finite() && *x > 0.0).ok_or_else(form)?;
            }
            _ => {
                return Err(wrong(format!(
                    "`{key}` takes column, columns, unit and scale, not `{}`",
                    printable(option, 40)
                )));
            }
        }
    }
    let several = names.len() > 1 && field.kind() == Kind::Text;
    if names.is_empty() || several {
        return Err(if several { wrong(format!("`{key}` is text: it has one column")) } else { form() });
    }
    Ok((field, names, scale))
}

fn state(word: &str, item: &Item) -> Result<(String, State)> {
    let state = item.as_str().and_then(State::known);
    let state = state
        .ok_or_else(|| wrong(format!("`{}` is to be a state of Slurm, such as \"COMPLETED\"", printable(word, 40))))?;
    Ok((word.to_owned(), state))
}

fn wrong(what: String) -> Error {
    let hint = "as in `[columns]`, `id = \"job\"`, `elapsed = { column = \"duration\", unit = \"ms\" }`";
    Error::new("mapping", format!("the mapping cannot be used: {what}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_multiply_and_units_scale() {
        let text =
            "[columns]\nelapsed = {column='d', unit='ms'}\ngpus = {columns=['n','milli'], scale=0.001}\nid='job'";
        let layout = Mapping::read(text).unwrap().layout(&["job", "d", "n", "milli"]).unwrap();
        assert_eq!(layout.columns[Field::Elapsed as usize], Some(Column { at: vec![1], scale: 0.001 }));
        assert_eq!(layout.columns[Field::Gpus as usize], Some(Column { at: vec![2, 3], scale: 0.001 }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, part) in [
            ("[columns]\nspeed = 'x'", "`speed`"),
            ("[columns]\nelapsed = {column='d', unit='parsec'}", "parsec"),
            ("[columns]\nid = 3", "`id`"),
            ("[states]\nDone = 'gone'", "`Done`"),
            ("id = 'x'", "`id`"),
            ("[columns", "cannot be used"),
        ] {
            let error = Mapping::read(text).unwrap_err();
            assert!(error.message.contains(part), "{text}: {error}");
        }
        let missing = Mapping::read("[columns]\nid = 'job'").unwrap().layout(&["a", "b"]).unwrap_err();
        assert!(missing.message.contains("no column `job`") && missing.message.contains("a, b"), "{missing}");
    }
}
