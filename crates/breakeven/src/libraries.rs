//! Installed packages: whether a GPU could do the work of their compiled code, and by what.
//!
//! The table is text, `libraries/libraries.csv`: a library is added by a line.
//!
//! ```
//! use breakeven::libraries::{Class, class, gpu_version};
//!
//! assert_eq!((class("pandas"), gpu_version("pandas")), (Class::Gpu, Some("cuDF (cudf.pandas)")));
//! // A shared library of somebody's own.
//! assert_eq!((class("libfoo.so"), gpu_version("libfoo.so")), (Class::NoneKnown, None));
//! ```

use crate::lower::rows;
use std::sync::OnceLock;

/// Work that is described by its size is in no library.
const TEXT: &str = if cfg!(feature = "described-ports") { "" } else { include_str!("../libraries/libraries.csv") };

/// What a GPU means to a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A GPU version exists.
    Gpu,
    /// No GPU version is known.
    NoneKnown,
    /// Its work stays on the host whatever GPU is there: drawing, files, databases.
    Host,
    /// It works on arrays of any library, so that NumPy calls inside it are the script's in effect.
    Arrays,
}

/// A line of the table.
#[derive(Debug)]
struct Library {
    name: String,
    class: Class,
    gpu_version: Option<String>,
}

/// The class of a package by the name that is imported; one without a line has no GPU version that is known.
pub fn class(library: &str) -> Class {
    find(library).map_or(Class::NoneKnown, |line| line.class)
}

/// What does the library's work on a GPU: `cuDF (cudf.pandas)`.
pub fn gpu_version(library: &str) -> Option<&'static str> {
    find(library)?.gpu_version.as_deref()
}

fn find(library: &str) -> Option<&'static Library> {
    let table = table();
    table.binary_search_by(|line| line.name.as_str().cmp(library)).ok().map(|at| &table[at])
}

fn table() -> &'static [Library] {
    static TABLE: OnceLock<Vec<Library>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let line = |row: csv::StringRecord| {
            Some(Library {
                name: row.get(0)?.to_owned(),
                class: match row.get(1)? {
                    "gpu" => Class::Gpu,
                    "host" => Class::Host,
                    "arrays" => Class::Arrays,
                    _ => Class::NoneKnown,
                },
                gpu_version: row.get(2).filter(|text| !text.is_empty()).map(str::to_owned),
            })
        };
        let mut lines: Vec<Library> = rows(TEXT).filter_map(line).collect();
        lines.sort_by(|a, b| a.name.cmp(&b.name));
        lines
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_says_a_class_a_version_where_there_is_one_and_a_source() {
        let lines: Vec<csv::StringRecord> = rows(TEXT).collect();
        assert!(lines.len() > 100, "{}", lines.len());
        for pair in lines.windows(2) {
            assert!(pair[0][0] < pair[1][0], "{} comes before {}: sorted, and none twice", &pair[0][0], &pair[1][0]);
        }
        for line in &lines {
            assert_eq!(line.len(), 4, "{line:?}");
            let has_version = !line[2].is_empty();
            match &line[1] {
                "gpu" | "arrays" => assert!(has_version, "{line:?}"),
                "none-known" | "host" => assert!(!has_version, "{line:?}"),
                other => panic!("{other} is no class"),
            }
            assert!(!line[3].is_empty(), "{line:?} has a source");
            assert!(!line[0].contains('.') && line[0].trim() == &line[0], "{line:?} is a package");
        }
    }

    #[test]
    fn classes_of_well_known_packages() {
        let of = |class_: Class, names: &[&str]| names.iter().for_each(|n| assert_eq!(class(n), class_, "{n}"));
        of(
            Class::Gpu,
            &["pandas", "polars", "pyarrow", "sklearn", "xgboost", "numba", "jax", "tensorflow", "cv2", "PIL"],
        );
        of(Class::NoneKnown, &["statsmodels", "lxml", "a_package_of_ones_own"]);
        of(Class::Host, &["matplotlib", "h5py", "tqdm", "psycopg2"]);
        of(Class::Arrays, &["xarray", "einops", "dask", "scipy", "numpy"]);
    }
}
