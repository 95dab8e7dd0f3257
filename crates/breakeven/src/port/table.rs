//! The counterpart table of a port.

use super::Counterpart;
use super::work::Passes;
use crate::lower::rows;

/// One callable.
#[derive(Debug)]
pub(super) struct Row {
    name: String,
    place: Place,
    /// The counterpart's name, or why there is none.
    text: String,
    /// Kernels in all, where the library's source says.
    pub(super) kernels: Option<u32>,
    /// Reads a value back.
    pub(super) waits: bool,
    /// Passes over its arrays.
    pub(super) passes: Passes,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Device,
    View,
    Host,
}

/// Rows by name.
#[derive(Debug)]
pub(super) struct Table(Vec<Row>);

impl Table {
    pub(super) fn parse(text: &'static str) -> Self {
        let row = |r: csv::StringRecord| {
            let (name, text) = (r.get(0)?, r.get(2)?);
            Some(Row {
                name: name.to_owned(),
                place: match r.get(1)? {
                    // What most of a lean table are.
                    "device" | "" => Place::Device,
                    "view" => Place::View,
                    _ => Place::Host,
                },
                text: if text.is_empty() { namesake(name) } else { text.to_owned() },
                kernels: r.get(3).and_then(|k| k.parse().ok()),
                waits: r.get(4) == Some("waits"),
                passes: r.get(5).and_then(Passes::parse).unwrap_or(Passes::ONE),
            })
        };
        let mut table: Vec<Row> = rows(text).filter_map(row).collect();
        table.sort_by(|a, b| a.name.cmp(&b.name));
        Self(table)
    }

    pub(super) fn row(&self, name: &str) -> Option<&Row> {
        self.0.binary_search_by(|row| row.name.as_str().cmp(name)).ok().map(|at| &self.0[at])
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|row| row.name.as_str())
    }

    /// Whether something of this last name is in the same package (`scipy.sparse.`) and does not stay on the host.
    pub(super) fn has_namesake(&self, function: &str) -> bool {
        let mut dots = function.match_indices('.').map(|(dot, _)| dot);
        let (Some(_), Some(package), Some(last)) = (dots.next(), dots.next(), function.rfind('.')) else {
            return false;
        };
        let (package, name) = (&function[..=package], &function[last..]);
        let from = self.0.partition_point(|row| row.name.as_str() < package);
        let mut all = self.0[from..].iter().take_while(|row| row.name.starts_with(package));
        all.any(|row| row.name.ends_with(name) && !matches!(row.place, Place::Host))
    }

    /// What becomes of a callable; `None` where neither it nor the ufunc it is a method of has a row.
    pub(super) fn counterpart(&self, name: &str) -> Option<Counterpart<'_>> {
        if let Some(row) = self.row(name) {
            return Some(match row.place {
                Place::Device => Counterpart::Device(&row.text),
                Place::View => Counterpart::View(&row.text),
                Place::Host => Counterpart::Host(&row.text),
            });
        }
        let (ufunc, method) = name.rsplit_once('.')?;
        match (method, self.counterpart(ufunc)?) {
            ("outer", counterpart) => Some(counterpart),
            ("reduce" | "accumulate" | "reduceat" | "at", _) => {
                Some(Counterpart::Host("the library has no such method of this ufunc"))
            }
            _ => None,
        }
    }
}

/// The callable's own name, where its package stands in the library; PyTorch's callables are the library's.
fn namesake(name: &str) -> String {
    for (package, own) in [("numpy.", "cupy."), ("scipy.", "cupyx.scipy.")] {
        if let Some(rest) = name.strip_prefix(package) {
            return format!("{own}{rest}");
        }
    }
    name.to_owned()
}
