//! CuPy's table without comments and without the callables that CuPy does not have, a third of it. The report carries its
//! own engine: in it, what of NumPy's and SciPy's has no row is not in CuPy. `cargo xtask web` writes the table,
//! `lean-catalogue` embeds it.

/// What a row says of such a callable.
pub(super) const ABSENT: &str = "not in CuPy 14.2";

/// The lines that are left.
pub fn lean() -> String {
    let absent = format!(",host,{ABSENT},,");
    let left = |line: &&str| !line.starts_with('#') && !line.ends_with(&absent);
    super::CUPY.lines().filter(left).map(|line| line.replacen(",device,", ",,", 1) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{Counterpart, cupy, table::Table};

    #[test]
    fn what_a_lean_table_leaves_out_is_not_in_cupy() {
        let lean = Table::parse(Box::leak(lean().into_boxed_str()));
        let mut absent = 0;
        for name in cupy().table.names() {
            match lean.row(name) {
                Some(_) => assert_eq!(lean.counterpart(name), cupy().table.counterpart(name)),
                None => {
                    absent += 1;
                    assert_eq!(cupy().counterpart(name), Counterpart::Host(ABSENT), "{name}");
                    assert!(super::super::of_numpy(name), "{name}");
                }
            }
        }
        assert!(absent > 700, "{absent}");
        for name in cupy().table.names() {
            assert_eq!(lean.has_namesake(name), cupy().table.has_namesake(name), "{name}");
        }
    }
}
