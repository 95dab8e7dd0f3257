//! The archive that torch.export writes: a zip with the program as JSON.

use crate::source::{Source, Whole};
use breakeven::{Error, Result};
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use zip::ZipArchive;

/// Longer programs are not read, bytes.
const LONGEST: u64 = 128 << 20;

/// The program of an archive.
///
/// # Errors
/// `model-kind` for zips of other kinds, `model-read` for what does not read.
pub(super) fn program(source: Source) -> Result<Value> {
    let name = source.name.clone();
    match source.whole()? {
        Whole::Memory(bytes) => json(Cursor::new(bytes), &name),
        Whole::Path(path) => {
            let file = File::open(&path).map_err(|error| crate::source::unreadable(&name, &error))?;
            json(BufReader::new(file), &name)
        }
        Whole::Spooled(file) => json(BufReader::new(file), &name),
    }
}

fn json(from: impl Read + Seek, name: &str) -> Result<Value> {
    let damaged = |what: &str| {
        Error::new("model-read", format!("{name} is a zip whose {what}"))
            .hint("export the program again, or copy the file again")
    };
    let mut archive = ZipArchive::new(from).map_err(|_| damaged("list of contents is damaged or not there"))?;
    let names: Vec<String> = archive.file_names().flatten().map(|known| known.into_owned()).collect();
    let is_program = |known: &&String| {
        let known = known.as_str();
        known.ends_with("serialized_exported_program.json")
            || known.ends_with(".json") && (known.contains("/models/") || known.starts_with("models/"))
    };
    let Some(entry) = names.iter().filter(is_program).min() else {
        let what = if names.iter().any(|known| known.ends_with("/data.pkl") || known == "data.pkl") {
            "weights saved by torch.save, or TorchScript: no program with shapes"
        } else if names.iter().any(|known| known.ends_with(".cpp") || known.ends_with(".so")) {
            "compiled by AOTInductor: its program is machine code"
        } else {
            "a zip without an exported program"
        };
        return Err(Error::new("model-kind", format!("{name} is {what}"))
            .hint("`torch.export.save(torch.export.export(model, args), \"model.pt2\")` writes what is read"));
    };
    let mut text = Vec::new();
    let file = archive.by_name(entry).map_err(|_| damaged("program cannot be unpacked"))?;
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|_| damaged("program cannot be unpacked"))?;
    if text.len() as u64 > LONGEST {
        return Err(damaged("program is longer than any that is read"));
    }
    serde_json::from_slice(&text).map_err(|error| damaged(&format!("program is no JSON: {error}")))
}
