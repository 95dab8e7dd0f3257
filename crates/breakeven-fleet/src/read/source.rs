//! Files by path, folder or stdin, plain or packed.

use breakeven::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// No folder lies deeper, and no more files are read.
const DEEPEST: usize = 8;
const MOST: usize = 1_000_000;
/// Bytes by which a file is known.
const HEAD: usize = 1 << 16;

/// A file that can be read more than once.
pub(super) struct Source {
    /// Its name as it was given.
    pub(super) name: String,
    path: PathBuf,
    /// Where stdin was written to.
    kept: Option<NamedTempFile>,
}

/// A file from its beginning.
pub(super) enum Opened {
    /// Text, unpacked, and how it begins.
    Text(Box<dyn BufRead + Send>, String),
    /// Parquet.
    Parquet(File),
}

/// The files that paths mean: of a folder all in it, `-` is stdin.
///
/// # Errors
/// `log-read` for what cannot be read.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        if path.as_os_str() == "-" {
            let mut kept = NamedTempFile::new().map_err(|e| unreadable("stdin", &e))?;
            io::copy(&mut io::stdin().lock(), &mut kept).map_err(|e| unreadable("stdin", &e))?;
            found.push(Source { name: "stdin".to_owned(), path: kept.path().to_owned(), kept: Some(kept) });
        } else if path.is_dir() {
            walk(path, 0, &mut found)?;
        } else {
            found.push(Source { name, path: path.clone(), kept: None });
        }
    }
    if found.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let error = Error::new("log-read", format!("there is no file in {}", named.join(", ")));
        return Err(error.hint("name a job log, or the folder that holds some"));
    }
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<Source>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|e| unreadable(&folder.display().to_string(), &e))?;
    let mut entries: Vec<_> = entries.filter_map(std::result::Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        if entry.file_name().as_encoded_bytes().starts_with(b".") || found.len() >= MOST {
            continue;
        }
        // Links to folders may lead back.
        if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), depth + 1, found)?;
        } else if entry.path().is_file() {
            found.push(Source { name: entry.path().display().to_string(), path: entry.path(), kept: None });
        }
    }
    Ok(())
}

impl Source {
    /// Its path, which may tell the job that it is of.
    pub(super) fn path(&self) -> Option<&Path> {
        self.kept.is_none().then_some(&self.path)
    }

    /// Opens it at its beginning. Gzip (of one member or many), zstd and Parquet are known by their first bytes.
    ///
    /// # Errors
    /// `log-read` for what cannot be opened.
    pub(super) fn open(&self) -> Result<Opened> {
        let broken = |e: io::Error| unreadable(&self.name, &e);
        let mut file = File::open(&self.path).map_err(broken)?;
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic).map_err(broken)?;
        file.rewind().map_err(broken)?;
        let bytes: Box<dyn Read + Send> = match magic.as_slice() {
            b"PAR1" => return Ok(Opened::Parquet(file)),
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::new(file).map_err(broken)?),
            _ => Box::new(file),
        };
        let mut text = BufReader::with_capacity(HEAD, bytes);
        let head = text.fill_buf().map(<[u8]>::to_vec).unwrap_or_default();
        Ok(Opened::Text(Box::new(text), String::from_utf8_lossy(&head).into_owned()))
    }
}

/// A file that could not be read, in the system's words.
pub(super) fn unreadable(name: &str, error: &io::Error) -> Error {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_lowercase();
    Error::new("log-read", format!("cannot read {name}: {words}")).hint("check the path, and who may read there")
}
