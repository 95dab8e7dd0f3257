//! CuPy's table without comments and without the callables that CuPy does not have, a third of it, and the costs without
//! comments and sources. The report carries its own engine: in it, what of NumPy's and SciPy's has no row is not in CuPy.
//! `cargo xtask web` writes the tables, `lean-catalogue` embeds them.

use std::collections::BTreeSet;
use std::fmt::Write;

/// What a row says of such a callable.
pub(super) const ABSENT: &str = "not in CuPy 14.2";

/// The column that says where a row was counted; no column before it has a comma.
const SOURCE: usize = 6;

/// The lines that are left.
pub fn lean() -> String {
    let absent = format!(",host,{ABSENT},,");
    let left = |line: &&str| !line.starts_with('#') && !line.ends_with(&absent);
    let short = |line: &str| {
        let columns = line.splitn(SOURCE + 1, ',').take(SOURCE).collect::<Vec<_>>().join(",");
        let columns = columns.replacen(",device,", ",,", 1);
        let trimmed = columns.trim_end_matches(',');
        // The counterpart's column is there, empty or not.
        let commas = 2_usize.saturating_sub(trimmed.matches(',').count());
        format!("{trimmed}{}\n", ",".repeat(commas))
    };
    super::CUPY.lines().filter(left).map(short).collect()
}

/// The rows of CuPy's and of PyTorch's table for these callables, which `described-ports` embeds.
pub fn described(callables: &BTreeSet<String>) -> [String; 2] {
    let wanted = |line: &&str| line.split_once(',').is_some_and(|(name, _)| callables.contains(name));
    [super::CUPY, super::TORCH].map(|table| table.lines().filter(wanted).map(|line| format!("{line}\n")).collect())
}

/// The costs of CuPy and of PyTorch, their figures and bases.
pub fn lean_costs() -> [String; 2] {
    super::COSTS.map(|text| {
        let mut lean = String::new();
        for row in crate::lower::rows(text) {
            let _ = writeln!(lean, "{}", row.iter().take(5).collect::<Vec<_>>().join(","));
        }
        lean
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{COSTS, Counterpart, costs::Costs, cupy, table::Table};

    #[test]
    fn lean_costs_are_the_same() {
        for (lean, whole) in lean_costs().into_iter().zip(COSTS) {
            assert!(lean.len() < whole.len() / 2, "{lean}");
            let lean = Costs::parse(Box::leak(lean.into_boxed_str()));
            assert_eq!(format!("{lean:?}"), format!("{:?}", Costs::parse(whole)));
        }
    }

    #[test]
    fn what_a_lean_table_leaves_out_is_not_in_cupy() {
        let lean = Table::parse(Box::leak(lean().into_boxed_str()));
        let mut absent = 0;
        for name in cupy().table().names() {
            match lean.row(name) {
                Some(_) => assert_eq!(lean.counterpart(name), cupy().table().counterpart(name)),
                None => {
                    absent += 1;
                    assert_eq!(cupy().counterpart(name), Counterpart::Host(ABSENT), "{name}");
                    assert!(super::super::of_numpy(name), "{name}");
                }
            }
        }
        assert!(absent > 700, "{absent}");
        for name in cupy().table().names() {
            assert_eq!(lean.has_namesake(name), cupy().table().has_namesake(name), "{name}");
        }
    }
}
