//! What the script's processes wrote: one file each, merged into one workload.

use crate::failure::say;
use crate::input;
use breakeven::workload::merge::{merge, tag_process, without_sleep};
use breakeven::workload::{Unseen, Workload};
use std::fs;
use std::path::{Path, PathBuf};

/// The workload of every process that wrote one, the script's own first; `None` when none did. A fork's child begins
/// with an empty file: where it is still empty, it has not come to write.
pub(crate) fn gather(folder: &Path, pid: u32) -> Option<Workload> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".breakeven.json"));
    files.sort_by_key(|path| (process(path) != Some(pid), path.clone()));
    let mut parts = Vec::new();
    let mut silent = 0;
    for file in &files {
        if fs::metadata(file).is_ok_and(|data| data.len() == 0) {
            silent += 1;
            continue;
        }
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
    without_sleep(&mut parts);
    let mut merged = merge(parts)?;
    if silent > 0 {
        merged.unseen.push(Unseen {
            reason: "child-not-recorded".to_owned(),
            text: "a child process left nothing: it was killed, or still running when the script ended".to_owned(),
            ns: 0,
            count: silent,
        });
    }
    Some(merged)
}

/// The process id that a file is named by: `1234.breakeven.json`, `1234-1.breakeven.json`.
fn process(file: &Path) -> Option<u32> {
    let name = file.file_name()?.to_str()?;
    name.split(['.', '-']).next()?.parse().ok()
}
