//! Where a file comes from: a path or stdin, plain or packed.

use breakeven::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

/// The first bytes by which a file is known.
const HEAD: u64 = 4096;

/// A file that has been opened: its first bytes, and a stream of all of it, unpacked.
pub struct Source {
    /// Its name as it was given.
    pub(crate) name: String,
    /// Its first bytes, unpacked.
    pub(crate) head: Vec<u8>,
    rest: Unpacked,
    given: usize,
}

impl Source {
    /// Opens a file; `-` is stdin. Gzip (of one member or many) and zstd are known by their first bytes.
    ///
    /// # Errors
    /// `trace-read` for what cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        if path.as_os_str() == "-" {
            return Self::from_reader("stdin", Box::new(io::stdin()));
        }
        if path.is_dir() {
            let error = Error::new("trace-read", format!("{name} is a folder, not a file"));
            return Err(error.hint(format!("name the files in it: {}/*", name.trim_end_matches('/'))));
        }
        let file = File::open(path).map_err(|e| unreadable(&name, &e))?;
        Self::from_reader(&name, Box::new(file))
    }

    /// A file that is in memory.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        Self::from_reader(name, Box::new(Cursor::new(bytes.to_vec())))
    }

    /// A stream with a name for messages.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn from_reader(name: &str, mut from: Box<dyn Read>) -> Result<Self> {
        let mut magic = Vec::new();
        from.by_ref().take(4).read_to_end(&mut magic).map_err(|e| unreadable(name, &e))?;
        let bytes: Box<dyn Read> = Box::new(Cursor::new(magic.clone()).chain(from));
        let packing = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Packing::Gzip(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, bytes))),
            [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd(zstd::Decoder::new(bytes).map_err(|e| unreadable(name, &e))?),
            _ => Packing::Plain(bytes),
        };
        let mut rest = Unpacked { packing, ended_badly: false };
        let mut head = Vec::new();
        rest.by_ref().take(HEAD).read_to_end(&mut head).map_err(|e| unreadable(name, &e))?;
        Ok(Self { name: name.to_owned(), head, rest, given: 0 })
    }

    /// Whether what was packed ended before its end, or was damaged.
    pub(crate) const fn ended_badly(&self) -> bool {
        self.rest.ended_badly
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let head = &self.head[self.given..];
        if head.is_empty() {
            return self.rest.read(buffer);
        }
        let n = head.len().min(buffer.len());
        buffer[..n].copy_from_slice(&head[..n]);
        self.given += n;
        Ok(n)
    }
}

/// A stream, unpacked. What cannot be unpacked ends it.
struct Unpacked {
    packing: Packing,
    ended_badly: bool,
}

enum Packing {
    Plain(Box<dyn Read>),
    Gzip(MultiGzDecoder<BufReader<Box<dyn Read>>>),
    Zstd(zstd::Decoder<'static, BufReader<Box<dyn Read>>>),
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.packing {
            Packing::Plain(from) => return from.read(buffer),
            _ if self.ended_badly => return Ok(0),
            Packing::Gzip(from) => from.read(buffer),
            Packing::Zstd(from) => from.read(buffer),
        };
        match read {
            // The system's own errors have a number; the others are about what is packed.
            Err(error) if error.raw_os_error().is_none() && error.kind() != io::ErrorKind::Interrupted => {
                self.ended_badly = true;
                Ok(0)
            }
            read => read,
        }
    }
}

/// A file that could not be read, in the system's words.
pub(crate) fn unreadable(name: &str, error: &io::Error) -> Error {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_lowercase();
    Error::new("trace-read", format!("cannot read {name}: {words}")).hint("check the path, and who may read there")
}
