//! XPlane, as the profiler of JAX and TensorFlow writes it: protobuf, read field by field.

mod fill;
mod hlo;
mod plane;
mod wire;
mod words;

pub(crate) use words::{DeviceLine, HostEvent, bytes_of, contains_others, device_line, device_number, loads};

use crate::kind::Kind;
use crate::model::Trace;
use crate::reader::Reader;
use crate::source::{Source, unreadable};
use breakeven::report::words::several;
use breakeven::{Error, Result};
use fill::Fill;
use plane::Plane;
use std::io::{self, Read};
use wire::varint;

/// Reads it.
pub(crate) struct XplaneReader;

/// The planes of a file are its first field.
const PLANES: u64 = 1;

impl Reader for XplaneReader {
    /// A plane begins with its number, its name, or both, and names are paths.
    fn knows(&self, head: &[u8]) -> bool {
        let plane = head.strip_prefix(&[0x0a]).and_then(varint).map_or(&b""[..], |(_, plane)| plane);
        let named = plane.strip_prefix(&[0x08]).and_then(varint).map_or(plane, |(_, rest)| rest);
        let Some((long, name)) = named.strip_prefix(&[0x12]).and_then(varint) else { return false };
        let name = &name[..name.len().min(usize::try_from(long).unwrap_or(usize::MAX))];
        name.starts_with(b"/host:") || name.starts_with(b"/device:") || name == b"Task Environment"
    }

    fn read(&self, mut source: Source) -> Result<Trace> {
        let name = source.name.clone();
        let trace = Trace {
            file: name.clone(),
            kind: Kind::Xplane,
            holds_kernels: true,
            holds_copies: true,
            ..Trace::default()
        };
        let mut fill = Fill::new(trace);
        // Kernels find their source by the plane of metadata, which may come after them.
        let (mut waiting, mut cut) = (Vec::new(), false);
        while let Some(field) = next_field(&mut source).map_err(|e| unreadable(&name, &e))? {
            cut |= field.cut;
            if field.number != PLANES {
                continue;
            }
            let plane = Plane::of(&field.bytes, field.cut);
            cut |= plane.broken;
            if device_number(&String::from_utf8_lossy(plane.name)).is_some() {
                waiting.push((field.bytes, field.cut));
            } else {
                fill.plane(&plane);
            }
        }
        waiting.iter().for_each(|(plane, cut)| fill.plane(&Plane::of(plane, *cut)));
        if fill.count.planes == 0 {
            let error = Error::new("trace-read", format!("{name} is an XPlane that is damaged or not whole"));
            return Err(error.hint("copy the file again"));
        }
        let named = std::mem::take(&mut fill.named);
        fill.trace.describe(|gpu| named.get(&gpu).cloned());
        if cut || source.ended_badly() {
            let lost = match fill.count.nameless {
                0 => String::new(),
                n => format!(
                    "; {} left out, for the names are lost",
                    several(n, "event of a GPU is", "events of GPUs are")
                ),
            };
            fill.trace.note("cut-short", format!("the file is damaged or not whole: what is whole was read{lost}"));
        }
        notes(&mut fill);
        Ok(fill.trace)
    }
}

/// A field of the file.
struct Field {
    number: u64,
    bytes: Vec<u8>,
    /// It ends before its end.
    cut: bool,
}

/// The next field; `None` at the end.
fn next_field(from: &mut impl Read) -> io::Result<Option<Field>> {
    let Some(key) = read_varint(from)? else { return Ok(None) };
    let cut = Ok(Some(Field { number: 0, bytes: Vec::new(), cut: true }));
    let long = match key & 7 {
        0 => {
            let cut = read_varint(from)?.is_none();
            return Ok(Some(Field { number: key >> 3, bytes: Vec::new(), cut }));
        }
        1 => 8,
        2 => match read_varint(from)? {
            Some(long) => long,
            None => return cut,
        },
        5 => 4,
        _ => {
            // No protobuf from here on.
            io::copy(from, &mut io::sink())?;
            return cut;
        }
    };
    let mut bytes = Vec::new();
    from.take(long).read_to_end(&mut bytes)?;
    let cut = (bytes.len() as u64) < long;
    Ok(Some(Field { number: key >> 3, bytes, cut }))
}

fn read_varint(from: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    loop {
        if from.take(1).read_to_end(&mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.last().is_some_and(|byte| byte & 0x80 == 0) || bytes.len() >= 10 {
            return Ok(varint(&bytes).map(|(n, _)| n));
        }
    }
}

fn notes(fill: &mut Fill) {
    let alone = fill.without_launch();
    let (trace, count) = (&mut fill.trace, &fill.count);
    if !trace.has_gpu() {
        trace.note("no-gpu-events", "no device plane has a kernel: JAX or TensorFlow ran on the CPU");
    }
    trace.note_nameless_gpus();
    trace.note_negative(count.negative);
    trace.note_unsized_copies();
    trace.note_without_launch(alone);
    trace.note_frames(count.frames);
    trace.note("metadata", "the recording machine's name was not copied");
}
