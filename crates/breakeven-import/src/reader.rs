//! Which reader knows a file, by its first bytes, and what is said of files that none knows.

use crate::chrome::ChromeReader;
use crate::model::Trace;
use crate::nsys::NsysReader;
use crate::rocprof::{TablesReader, Version3Reader};
use crate::source::Source;
use crate::xplane::XplaneReader;
use breakeven::{Error, Result};

/// A format that can be read.
pub(crate) trait Reader {
    /// Whether a file that begins so is of this format.
    fn knows(&self, head: &[u8]) -> bool;
    /// All that the file holds.
    fn read(&self, source: Source) -> Result<Trace>;
}

/// Every format.
const READERS: [&dyn Reader; 5] = [&NsysReader, &XplaneReader, &Version3Reader, &ChromeReader, &TablesReader];

/// What is read, in messages.
const ALLOWED: &str = "traces of the PyTorch profiler, JAX, TensorFlow, rocprof and ONNX Runtime, exports of Nsight \
                       Systems as SQLite, and other events in Chrome's format; plain, gzip or zstd";

/// Reads a file with the reader that knows it.
pub(crate) fn read(source: Source) -> Result<Trace> {
    let head = &source.head;
    if head.is_empty() && source.ended_badly() {
        let message =
            format!("{} is packed, and what is packed is damaged or not whole: nothing of it can be read", source.name);
        return Err(Error::new("trace-read", message).hint("copy the file again"));
    }
    let known = known_otherwise(head);
    if let Some((what, hint)) = known {
        return Err(Error::new("trace-kind", format!("{} is {what}; read are {ALLOWED}", source.name)).hint(hint));
    }
    match READERS.iter().find(|reader| reader.knows(head)) {
        Some(reader) => reader.read(source),
        None => {
            let message = format!("{} is no trace that is known; read are {ALLOWED}", source.name);
            Err(Error::new("trace-kind", message).hint(
                "after `with torch.profiler.profile() as prof:`, `prof.export_chrome_trace(\"t.json.gz\")` writes one",
            ))
        }
    }
}

/// Whether a file in a folder is a trace: of JSON, only what has a word of profilers in it.
pub(crate) fn is_trace(head: &[u8]) -> bool {
    let has = |part: &str| memchr::memmem::find(head, part.as_bytes()).is_some();
    let json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let of_profiler = ["traceEvents", "schemaVersion", "\"ph\"", "rocprofiler-sdk-tool"].into_iter().any(has);
    known_otherwise(head).is_none() && (!json || of_profiler) && READERS.iter().any(|reader| reader.knows(head))
}

/// Whether a file is an XPlane.
pub(crate) fn is_xplane(head: &[u8]) -> bool {
    XplaneReader.knows(head)
}

/// What a file is that cannot be read, and the next step.
fn known_otherwise(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let has = |part: &str| memchr::memmem::find(head, part.as_bytes()).is_some();
    let text = head.trim_ascii_start();
    let squeezed: Vec<u8> = text.iter().take(64).copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Some(match () {
        () if text.is_empty() => ("empty", "record it again: the profiler may not have stopped"),
        () if has("\"breakeven.trace/1\"") => {
            ("totals that `breakeven import` saved", "`breakeven diff` compares them")
        }
        () if has("breakeven.workload/1") => ("a recorded workload", "`breakeven show FILE` reports on it"),
        () if squeezed.starts_with(b"[[") => (
            "a list of lists, as PyTorch's memory timeline: no trace",
            "export_chrome_trace of the same profile writes a trace",
        ),
        () if squeezed.starts_with(b"{\"schema\":") && has("\"nodes\"") => {
            ("an execution trace of PyTorch: a graph without times", "name the profiler's trace of the same run")
        }
        () if matches!(text.first(), Some(b'{' | b'[')) => return None,
        () if text.starts_with(b"module") || text.starts_with(b"#loc") => ("MLIR", "that is not read yet"),
        () if has("Counter_Name") && has("Kernel_Name") => {
            ("a table of rocprof's counters", "name the table of kernels beside it: `…kernel_trace.csv`")
        }
        () if has("TotalDurationNs") => {
            ("a table of rocprof's totals", "name the tables that it was made from: `…_trace.csv`")
        }
        () => return None,
    })
}
