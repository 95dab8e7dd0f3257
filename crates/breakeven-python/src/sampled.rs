//! Time outside recorded ops as it was sampled, by line, kind and library.

use crate::event::Sites;
use breakeven::workload::{HostCode, HostKind};
use std::collections::BTreeMap;

/// What is told apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    /// The line of the script, among [`Sampled::lines`].
    pub(crate) site: Option<u32>,
    pub(crate) kind: HostKind,
    /// `polars`, whose compiled code ran.
    pub(crate) library: Option<String>,
    /// `PyLazyFrame.collect`.
    pub(crate) function: Option<String>,
}

/// Rows with their time, ns, and samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampled {
    rows: BTreeMap<Row, (u64, u64)>,
    /// The lines, apart from the places of ops: whether a line is met in a sample is a matter of chance.
    pub(crate) lines: Sites,
    /// Time that was sampled and found no room, ns: it is divided like the rest.
    pub(crate) lost_ns: u64,
}

impl Sampled {
    /// So much more time of a row, and so many samples.
    pub(crate) fn add(&mut self, row: Row, ns: u64, samples: u64) {
        let (all, count) = self.rows.entry(row).or_default();
        *all += ns;
        *count += samples;
    }

    /// The rows as they are written, with their lines among `sites`.
    pub(crate) fn host_code(&self, sites: &mut Sites) -> Vec<HostCode> {
        let told: u64 = self.rows.values().map(|&(ns, _)| ns).sum();
        let scale = if told > 0 { 1.0 + self.lost_ns as f64 / told as f64 } else { 1.0 };
        let mut line = |of: u32| Some(sites.intern(self.lines.list().get(of as usize)?.clone()));
        let code = |(row, &(ns, samples)): (&Row, &(u64, u64))| HostCode {
            site: row.site.and_then(&mut line),
            kind: row.kind,
            library: row.library.clone(),
            function: row.function.clone(),
            ns: (ns as f64 * scale) as u64,
            samples,
        };
        self.rows.iter().map(code).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven::workload::Site;

    #[test]
    fn rows_add_up_and_what_found_no_room_is_divided_among_them() {
        let mut sampled = Sampled::default();
        let mut sites = Sites::default();
        let at = |line| Site { file: "a.py".to_owned(), line, ..Site::default() };
        assert!(sampled.host_code(&mut sites).is_empty());
        sites.intern(at(7));
        assert_eq!([3, 4].map(|line| sampled.lines.intern(at(line))), [0, 1]);
        let row = |site| Row { site, kind: HostKind::Python, library: None, function: None };
        sampled.add(row(Some(1)), 300, 3);
        sampled.add(row(None), 100, 1);
        sampled.add(row(Some(1)), 100, 1);
        sampled.lost_ns = 500;
        let found: Vec<_> =
            sampled.host_code(&mut sites).iter().map(|code| (code.site, code.ns, code.samples)).collect();
        assert_eq!(found, [(None, 200, 1), (Some(1), 800, 4)]);
    }
}
