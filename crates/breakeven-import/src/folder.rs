//! The traces in a folder: of JAX and TensorFlow the last run, of others all.

use crate::reader::{is_trace, is_xplane};
use crate::source::{Source, unreadable};
use breakeven::{Error, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// No folder lies deeper, and no more files are looked at.
const DEEPEST: usize = 8;
const MOST: usize = 10_000;

/// The traces that a path means: of a folder those in it, else the path itself.
///
/// # Errors
/// `trace-read` for a folder that cannot be listed or holds no trace.
pub fn traces(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    walk(path, 0, &mut files)?;
    let mut by_folder: BTreeMap<&Path, Vec<(&PathBuf, bool)>> = BTreeMap::new();
    for file in &files {
        let Ok(source) = Source::open(file) else { continue };
        if is_trace(source.head()) {
            let folder = file.parent().unwrap_or(path);
            by_folder.entry(folder).or_default().push((file, is_xplane(source.head())));
        }
    }
    // `plugins/profile/2026_11_28_15_23_02`: a run each, in order of time.
    let is_run = |folder: &Path| folder.parent().is_some_and(|parent| parent.ends_with("plugins/profile"));
    let last_run = by_folder.keys().copied().filter(|folder| is_run(folder)).max();
    let mut found = Vec::new();
    for (folder, files) in by_folder {
        if is_run(folder) && Some(folder) != last_run {
            continue;
        }
        // Beside an XPlane lies the same as JSON, with less in it.
        let xplanes = files.iter().any(|(_, xplane)| *xplane);
        found.extend(files.into_iter().filter(|(_, xplane)| *xplane || !xplanes).map(|(file, _)| file.clone()));
    }
    if found.is_empty() {
        let error = Error::new("trace-read", format!("{} is a folder, and holds no trace", path.display()));
        return Err(error.hint("name a trace, or the folder that a profiler wrote its files to"));
    }
    Ok(found)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let name = folder.display().to_string();
    let entries = fs::read_dir(folder).map_err(|e| unreadable(&name, &e))?;
    let mut entries: Vec<_> = entries.filter_map(std::result::Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if hidden || files.len() >= MOST {
            continue;
        }
        // Links to folders may lead back.
        if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), depth + 1, files)?;
        } else if entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
