//! The tables of ports without the names that the tables of callables have. The report carries its own engine, and packed
//! these names would be half of what the ports' tables take. `cargo xtask web` writes them, `lean-catalogue` embeds them.

use super::TABLES;
use crate::lower::names;
use std::collections::BTreeMap;

/// What becomes of each callable, a line each in the order of [`names`] and nothing where it has no row; below, whole
/// rows of other names. With the file's name, a text for each port.
pub fn lean() -> [(&'static str, String); 2] {
    [("cupy.txt", short(TABLES[0])), ("torch.txt", short(TABLES[1]))]
}

fn short(table: &str) -> String {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let mut rows: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(',')).collect();
    let named: Vec<&str> = names().iter().map(|name| rows.remove(name).unwrap_or_default()).collect();
    let others: Vec<String> = rows.iter().map(|(name, row)| format!("{name},{row}")).collect();
    [named.join("\n"), others.join("\n")].join("\n")
}

/// The table that a short text stands for.
#[cfg(any(test, feature = "lean-catalogue"))]
pub(super) fn whole(short: &str) -> String {
    let mut names = names().into_iter();
    let row = |line: &str| match names.next() {
        Some(_) if line.is_empty() => String::new(),
        Some(name) => format!("{name},{line}\n"),
        None => format!("{line}\n"),
    };
    short.split('\n').map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::table::Table;

    #[test]
    fn a_lean_table_says_what_the_whole_one_does() {
        for (table, (_, lean)) in TABLES.iter().zip(lean()) {
            assert_eq!(format!("{:?}", Table::parse(&whole(&lean))), format!("{:?}", Table::parse(table)));
            assert!(lean.len() < table.len() / 2);
        }
    }
}
