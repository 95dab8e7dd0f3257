//! Events in Chrome's format: PyTorch's profiler, rocprof's JSON, and anything else as host time by name.

mod args;
mod build;
mod category;
mod finish;
mod onnxruntime;
mod process;
mod shapes;
mod tie;

use crate::json::{Window, walk};
use crate::model::Trace;
use crate::reader::Reader;
use crate::source::{Source, unreadable};
use breakeven::report::words::several;
use breakeven::{Error, Result};
use build::Build;

/// Reads them.
pub(crate) struct ChromeReader;

impl Reader for ChromeReader {
    fn knows(&self, head: &[u8]) -> bool {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        match text {
            [b'{', rest @ ..] => matches!(rest.trim_ascii_start().first(), None | Some(b'"' | b'}' | b',')),
            [b'[', rest @ ..] => matches!(rest.trim_ascii_start().first(), None | Some(b'{' | b']')),
            _ => false,
        }
    }

    fn read(&self, mut source: Source) -> Result<Trace> {
        let name = source.name.clone();
        let mut build = Build::new(&name);
        let mark = source.head.starts_with(b"\xef\xbb\xbf");
        let mut window = Window::new(&mut source);
        if mark {
            window.more().map_err(|e| unreadable(&name, &e))?;
            window.advance(3);
        }
        let ending = walk(&mut window, &mut build).map_err(|e| unreadable(&name, &e))?;
        let (trace, is_trace) = build.finish();
        let mut trace = trace;
        if !is_trace && ending.cut.is_none() {
            let message = format!("{name} is JSON without events: no trace");
            return Err(
                Error::new("trace-kind", message).hint("a trace has `traceEvents`; name the profiler's own file")
            );
        }
        if let Some(at) = ending.cut {
            let packed = if source.ended_badly() { "; what is packed is damaged or not whole" } else { "" };
            let text = format!("the file ends in the middle, after {}{packed}", several(at, "byte", "bytes"));
            trace.note("cut-short", text);
        }
        if ending.broken > 0 {
            let places = several(ending.broken, "place is", "places are");
            trace.note("broken", format!("{places} no JSON and were passed over to the next event"));
        }
        Ok(trace)
    }
}
