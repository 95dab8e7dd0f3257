//! Text as blocks of rows: lines as they stand, or records of CSV.

use crate::read::source::unreadable;
use crate::table::Block;
use breakeven::{Error, Result};
use std::io::{BufRead, Read};

/// Bytes and rows of a block, or so.
const BYTES: usize = 4 << 20;
const ROWS: usize = 16_384;
/// No row is longer, bytes: a quote that is never closed would swallow the rest of the file.
const LONGEST: usize = 16 << 20;

/// A text that is read block by block.
pub(super) enum Text {
    /// Lines; the line that the next block begins with.
    Lines { from: Box<dyn BufRead + Send>, next: String, name: String },
    /// Records.
    Records { from: Box<csv::Reader<Box<dyn BufRead + Send>>>, name: String },
}

impl Text {
    /// A text from its beginning; its header is left out.
    ///
    /// # Errors
    /// `log-read` for what cannot be read.
    pub(super) fn new(
        mut from: Box<dyn BufRead + Send>,
        name: &str,
        delimiter: char,
        header: bool,
        quoted: bool,
    ) -> Result<Self> {
        let name = name.to_owned();
        if quoted {
            let delimiter = u8::try_from(delimiter).unwrap_or(b',');
            let mut builder = csv::ReaderBuilder::new();
            let builder = builder.flexible(true).has_headers(header).delimiter(delimiter).buffer_capacity(1 << 16);
            return Ok(Self::Records { from: Box::new(builder.from_reader(from)), name });
        }
        let mut next = String::new();
        while header && next.trim().is_empty() {
            next.clear();
            if line(&mut from, &mut next).map_err(|e| unreadable(&name, &e))? == 0 {
                break;
            }
        }
        next.clear();
        Ok(Self::Lines { from, next, name })
    }

    /// The next rows, or nothing at the end. A job and its steps stay together where they lie together.
    ///
    /// # Errors
    /// `log-cut` where the text ends in the middle, with all before it read.
    pub(super) fn next(&mut self) -> Result<Option<Block>> {
        match self {
            Self::Lines { from, next, name } => {
                let mut text = std::mem::take(next);
                loop {
                    let start = text.len();
                    match line(from, &mut text) {
                        Ok(0) => break,
                        Ok(_) => {}
                        Err(error) if text.is_empty() => return Err(cut(name, &error)),
                        // What is there is told first, and the error again at the next call.
                        Err(_) => break,
                    }
                    let id = text[start..].split('|').next().unwrap_or_default();
                    if start > BYTES && !id.contains('.') {
                        *next = text.split_off(start);
                        break;
                    }
                    if text.len() - start > LONGEST {
                        return Err(Error::new("log-read", format!("{name} has a line of more than 16 MiB")));
                    }
                }
                Ok((!text.is_empty()).then_some(Block::Lines(text)))
            }
            Self::Records { from, name } => {
                let mut records = Vec::new();
                let mut record = csv::ByteRecord::new();
                let mut bytes = 0;
                while records.len() < ROWS && bytes < BYTES {
                    match from.read_byte_record(&mut record) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(error) if records.is_empty() => return Err(cut(name, &error)),
                        Err(_) => break,
                    }
                    bytes += record.as_slice().len();
                    if record.as_slice().len() > LONGEST {
                        return Err(Error::new(
                            "log-read",
                            format!("{name} has a row of more than 16 MiB: is a quote left open?"),
                        ));
                    }
                    records.push(csv::StringRecord::from_byte_record_lossy(record.clone()));
                }
                Ok((!records.is_empty()).then_some(Block::Records(records)))
            }
        }
    }
}

/// One more line, whatever its bytes.
fn line(from: &mut Box<dyn BufRead + Send>, into: &mut String) -> std::io::Result<usize> {
    let mut bytes = Vec::new();
    let read = from.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut bytes)?;
    match String::from_utf8(bytes) {
        Ok(text) => into.push_str(&text),
        Err(error) => into.push_str(&String::from_utf8_lossy(error.as_bytes())),
    }
    Ok(read)
}

fn cut(name: &str, error: &dyn std::fmt::Display) -> Error {
    let message = format!("{name} is not whole: {error}");
    Error::new("log-cut", message).hint("copy it again; what lies before the end is reported")
}
