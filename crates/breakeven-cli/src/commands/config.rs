//! `breakeven config`: every setting, its value, and the file that says so.

use crate::config::{self, Settings};
use crate::failure::Outcome;
use crate::output;
use breakeven::report::{Align::Left, Table, words};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn config(settings: &Settings) -> Outcome {
    let mut table = Table::new(&[("setting", Left), ("value", Left), ("from", Left)]);
    for (name, example) in config::NAMES {
        let (value, place) = match settings.get(name) {
            Some(setting) => (setting.values.join(", "), setting.place.clone()),
            None => (String::new(), format!("not set; write it like {example}")),
        };
        table.row(vec![name.to_owned(), words::printable(&value, 60), words::printable(&place, 200)]);
    }
    output::write_to(None, table.text(|_, _, cell| cell).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
