//! Where a file comes from: a path or stdin, plain or packed.

use breakeven::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
    path: Option<PathBuf>,
}

/// All of a file, for formats that are not read from front to back.
pub(crate) enum Whole {
    /// It lies there, not packed.
    Path(PathBuf),
    /// It is small.
    Memory(Vec<u8>),
    /// It was unpacked, or came as a stream.
    Spooled(NamedTempFile),
}

/// Streams up to here are kept in memory, bytes.
const SMALL: u64 = 64 << 20;

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
        let mut source = Self::from_reader(&name, Box::new(file))?;
        // Only what can be read twice: no pipe.
        let plain = matches!(source.rest.packing, Packing::Plain(_)) && path.is_file();
        source.path = plain.then(|| path.to_owned());
        Ok(source)
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
        Ok(Self { name: name.to_owned(), head, rest, given: 0, path: None })
    }

    /// Its first bytes, unpacked.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// All of it, to be read in any order.
    pub(crate) fn whole(mut self) -> Result<Whole> {
        if let Some(path) = self.path {
            return Ok(Whole::Path(path));
        }
        let name = self.name.clone();
        let mut bytes = Vec::new();
        self.by_ref().take(SMALL).read_to_end(&mut bytes).map_err(|e| unreadable(&name, &e))?;
        if (bytes.len() as u64) < SMALL {
            return Ok(Whole::Memory(bytes));
        }
        let unwritable = |e: &io::Error| {
            let hint = "unpack it yourself, where there is room, and name the unpacked file";
            Error::new("trace-read", format!("cannot unpack {name}: {e}")).hint(hint)
        };
        let mut file = NamedTempFile::new().map_err(|e| unwritable(&e))?;
        io::copy(&mut bytes.as_slice().chain(self), &mut file).map_err(|e| unwritable(&e))?;
        Ok(Whole::Spooled(file))
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
