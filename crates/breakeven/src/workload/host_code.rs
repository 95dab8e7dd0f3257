//! Host time outside recorded ops, by line: Python, native code, waiting.

use super::{Site, Workload};
use serde::{Deserialize, Serialize};

/// Host time at one line, as a sampler of the main thread found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostCode {
    /// The line of the script, an index into `Workload::sites`; absent where no line is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
    /// What the host did.
    pub kind: HostKind,
    /// Whose code ran: a top-level package (`polars`, `sklearn`) or the file name of a shared library (`libfoo.so`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The function that the line called: `PyLazyFrame.collect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Wall time that the samples stand for, ns.
    pub ns: u64,
    /// Samples taken there.
    #[serde(default)]
    pub samples: u64,
}

/// The three kinds of host time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    /// Bytecode, builtins and the standard library: understood, it stays on the host.
    Python,
    /// A compiled function that is no recorded op: not understood, but for libraries whose work stays on the host.
    Native,
    /// Files, sockets, locks, sleep: understood, it stays on the host.
    Waiting,
}

impl Workload {
    /// Host time that was sampled at the line of `site`.
    pub fn host_code_at<'a>(&'a self, site: &'a Site) -> impl Iterator<Item = &'a HostCode> {
        let here = |row: &&HostCode| {
            row.site.and_then(|index| self.sites.get(index as usize)).is_some_and(|at| at.same_line(site))
        };
        self.host_code.iter().filter(here)
    }

    /// Sites at which code of this library was sampled, or called an op; some more than once.
    pub fn sites_of<'a>(&'a self, library: &'a str) -> impl Iterator<Item = &'a Site> {
        let sampled = self.host_code.iter().filter(move |row| row.library.as_deref() == Some(library));
        let called = self.ops.iter().filter(move |entry| entry.library.as_deref() == Some(library));
        let sites = sampled.filter_map(|row| row.site).chain(called.map(|entry| entry.site));
        sites.filter_map(|site| self.sites.get(site as usize))
    }
}
