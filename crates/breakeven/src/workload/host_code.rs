//! Host time outside recorded ops, by line: Python, native code, waiting.

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
