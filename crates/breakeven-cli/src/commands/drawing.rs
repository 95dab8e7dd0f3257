//! `--trace FILE`: the predicted timeline for Perfetto; `--html FILE`: the report as a page.

use crate::args::DrawingArgs;
use crate::failure::{Failure, say};
use crate::output::{self, Pending};
use breakeven::estimate::{Estimate, trace};
use breakeven::report::words;
use breakeven::request::{Options, Request};
use breakeven::workload::Workload;
use breakeven_page::Content;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes what is asked for beside the report. The sketch of the timeline stays in `answer` only where it is wanted there.
pub(super) fn write(
    args: &DrawingArgs,
    workload: &Workload,
    request: &Request,
    answer: &mut Estimate,
    quiet: bool,
) -> Result<(), Failure> {
    if let Some(file) = &args.html {
        output::write_to(Some(file), page(workload, request, answer, quiet)?.as_bytes())?;
        output::wrote(file);
    }
    if !args.timeline {
        answer.timeline = None;
    }
    trace_file(args, workload, &request.options, answer)
}

/// The report page: what `answer` says, and what was asked beside it so that the page can ask again.
fn page(workload: &Workload, request: &Request, answer: &Estimate, quiet: bool) -> Result<String, Failure> {
    let packed = pack(&workload.to_json()?);
    let sizes = request.sizes.as_ref().map(|sizes| pack(&serde_json::to_string(sizes).unwrap_or_default()));
    let options = serde_json::to_string(&request.options).unwrap_or_default();
    let (title, body) = (words::printable(&answer.workload.name, 80), breakeven::report::html(answer, quiet));
    let sizes = sizes.unwrap_or_default();
    let content = Content { title: &title, body: &body, options: &options, workload: &packed, sizes: &sizes };
    Ok(breakeven_page::report(&content))
}

/// Raw DEFLATE.
fn pack(text: &str) -> Vec<u8> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    packer.write_all(text.as_bytes()).and_then(|()| packer.finish()).unwrap_or_default()
}

/// The timeline of `workload` on the GPU that `answer` speaks of.
fn trace_file(args: &DrawingArgs, workload: &Workload, options: &Options, answer: &Estimate) -> Result<(), Failure> {
    let Some(file) = &args.trace else { return Ok(()) };
    let gpu: Vec<String> = answer.summary.shown_gpu.iter().cloned().collect();
    let request = Request {
        today: crate::input::today(),
        options: Options { gpu, max_price: None, ..options.clone() },
        ..Request::default()
    };
    let mut out = Out::new(file)?;
    let mut failed = None;
    let drawn = output::working("drawing", || {
        trace(workload, &request, |bytes| {
            if failed.is_none() {
                failed = out.write_all(bytes).err();
            }
        })
    })?;
    match failed {
        Some(e) => Err(Failure::file("write", file, &e)),
        None => out.finish().map_err(|e| Failure::file("write", file, &e)),
    }?;
    output::wrote(file);
    if drawn.left_out > 0 {
        say(&format!(
            "note: the trace holds {} events; {} more, of rounds like these, are blocks",
            drawn.events, drawn.left_out
        ));
    }
    Ok(())
}

/// A file that appears when it is whole, packed where its name ends in `.gz`.
enum Out {
    Plain(BufWriter<Pending>),
    Packed(Box<GzEncoder<BufWriter<Pending>>>),
}

impl Out {
    fn new(file: &Path) -> Result<Self, Failure> {
        let plain = BufWriter::new(Pending::new(file)?);
        let packed = file.extension().is_some_and(|e| e == "gz");
        Ok(if packed { Self::Packed(Box::new(GzEncoder::new(plain, Compression::fast()))) } else { Self::Plain(plain) })
    }

    fn finish(self) -> io::Result<()> {
        let plain = match self {
            Self::Plain(plain) => plain,
            Self::Packed(packed) => packed.finish()?,
        };
        plain.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Packed(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Packed(out) => out.flush(),
        }
    }
}
