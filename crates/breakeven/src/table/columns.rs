//! The header of a table of kernels: which column holds what.

use super::row::short;
use crate::{Error, Result};

/// The dims that a row may have, by the names of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "`docs/cli.md` says what each means for each op")]
pub enum Dim {
    B,
    M,
    N,
    K,
    H,
    Cin,
    Cout,
    Ksize,
    Hw,
    Stride,
    Pad,
}

impl Dim {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();
    /// Every dim, in the order of the columns.
    pub const ALL: &'static [Self] = &[
        Self::B,
        Self::M,
        Self::N,
        Self::K,
        Self::H,
        Self::Cin,
        Self::Cout,
        Self::Ksize,
        Self::Hw,
        Self::Stride,
        Self::Pad,
    ];

    /// The header of its column.
    pub const fn name(self) -> &'static str {
        ["b", "m", "n", "k", "h", "cin", "cout", "ksize", "hw", "stride", "pad"][self as usize]
    }
}

/// The columns that an answer adds.
pub const RESULTS: [&str; 5] = ["time_us_p10", "time_us_p50", "time_us_p90", "bound_by", "note"];

/// Which column of a table holds what.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// Name of the op.
    pub op: usize,
    /// Element type.
    pub dtype: Option<usize>,
    /// Name of the device.
    pub gpu: Option<usize>,
    /// Each dim, in the order of [`Dim::ALL`].
    pub dims: [Option<usize>; Dim::COUNT],
}

impl Columns {
    /// Reads a header. Case and blanks around a name do not count; columns with other names are left alone.
    ///
    /// # Errors
    /// `table-header`: no `op`, no dim at all, a column twice, a column that we add, a unit on a dim, times in two
    /// units.
    pub fn read<'a>(header: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let names: Vec<String> = header
            .into_iter()
            .map(|name| name.trim_matches(['\u{feff}', ' ', '\t', '"']).to_ascii_lowercase())
            .collect();
        let found = || {
            let shown: Vec<String> = names.iter().take(30).map(|name| format!("`{}`", short(name))).collect();
            format!("found {}", if shown.is_empty() { "no column".into() } else { shown.join(", ") })
        };
        let allowed = "allowed are `op`, `gpu`, `dtype` and the dims b, m, n, k, h, cin, cout, ksize, hw, stride, pad";
        let bad = |message: String, hint: &str| Err(Error::new("table-header", message).hint(hint));
        for (i, name) in names.iter().enumerate() {
            if let Some(dim) = with_unit(name) {
                return bad(
                    format!(
                        "the column `{}` has a unit: dims are plain counts, in a column called `{dim}`",
                        short(name)
                    ),
                    "write counts of elements (4096), and 1 for none",
                );
            }
            if RESULTS[..4].contains(&name.as_str()) {
                return bad(
                    format!("the table has a column `{name}` already, and that is what is to be added"),
                    "rename it or leave it out",
                );
            }
            let ours = ["op", "gpu", "dtype"].contains(&name.as_str()) || Dim::ALL.iter().any(|d| d.name() == name);
            if ours && names[..i].contains(name) {
                return bad(format!("two columns are called `{name}`: {}", found()), "keep one of them");
            }
        }
        let times: Vec<&String> = names.iter().filter(|name| is_time(name)).collect();
        if let Some(other) = times.iter().find(|name| unit(name) != unit(times[0])) {
            return bad(
                format!("times in two units: `{}` and `{}`", short(times[0]), short(other)),
                "a table has its times in one unit; what is added is in microseconds",
            );
        }
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let dims: Vec<Option<usize>> = Dim::ALL.iter().map(|dim| find(dim.name())).collect();
        let Some(op) = find("op") else {
            let near =
                names.iter().find(|name| ["operation", "ops", "kernel", "name", "op_name"].contains(&name.as_str()));
            let separators = [("\t", "tabs"), (";", "semicolons"), ("|", "bars")];
            let other = separators.iter().find(|(sign, _)| names.len() == 1 && names[0].contains(sign));
            let hint = match (near, other) {
                (Some(name), _) => format!("is it called `{name}` here? Rename that column to `op`"),
                (_, Some((_, other))) => format!("cells are separated by commas: `op,b,m,n,k`; here by {other}"),
                _ => "the first line of the table names its columns: `op,b,m,n,k`".into(),
            };
            return bad(format!("no column is called `op`: {}; {allowed}", found()), &hint);
        };
        if dims.iter().all(Option::is_none) {
            return bad(
                format!("no column holds a dim: {}; {allowed}", found()),
                "a matmul has m, n and k, a soft-max b rows of h",
            );
        }
        let dims = dims.try_into().unwrap_or([None; Dim::COUNT]);
        Ok(Self { op, dtype: find("dtype"), gpu: find("gpu"), dims })
    }
}

/// The dim that a header like `m_kib`, `b (GB)` or `hw[px]` means.
fn with_unit(name: &str) -> Option<&'static str> {
    const UNITS: [&str; 14] = [
        "bytes", "kb", "mb", "gb", "kib", "mib", "gib", "px", "pixels", "elements", "k", "bits", "million", "thousand",
    ];
    let (dim, unit) = name.split_once(['_', ' ', '(', '['])?;
    let unit = unit.trim_matches([' ', '(', ')', '[', ']', '_']);
    let dim = Dim::ALL.iter().find(|d| d.name() == dim)?;
    UNITS.contains(&unit).then_some(dim.name())
}

/// Whether a header looks like a measured time: `latency_us`, `time_ms`.
fn is_time(name: &str) -> bool {
    let kind = name.split('_').next().unwrap_or_default();
    ["latency", "time", "duration", "elapsed"].contains(&kind) && ["ns", "us", "ms", "s"].contains(&unit(name))
}

fn unit(name: &str) -> &str {
    name.rsplit('_').next().unwrap_or_default()
}
