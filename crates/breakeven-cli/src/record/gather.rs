//! What the script's processes wrote: one file each, merged into one workload.

use crate::failure::say;
use crate::input;
use breakeven::workload::Workload;
use breakeven::workload::merge::{merge, tag_process};
use std::fs;
use std::path::{Path, PathBuf};

/// The workload of every process that wrote one, the script's own first; `None` when none did.
pub(crate) fn gather(folder: &Path, pid: u32) -> Option<Workload> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".breakeven.json"));
    files.sort_by_key(|path| (process(path) != Some(pid), path.clone()));
    let mut parts = Vec::new();
    for file in &files {
        match input::workload(file) {
            Ok(mut part) => {
                if let Some(other) = process(file).filter(|other| *other != pid) {
                    tag_process(&mut part, other);
                }
                parts.push(part);
            }
            Err(failure) => {
                say("warning: what one process recorded does not read, and is left out");
                failure.report();
            }
        }
    }
    merge(parts)
}

/// The process id that a file is named by: `1234.breakeven.json`, `1234-1.breakeven.json`.
fn process(file: &Path) -> Option<u32> {
    let name = file.file_name()?.to_str()?;
    name.split(['.', '-']).next()?.parse().ok()
}
