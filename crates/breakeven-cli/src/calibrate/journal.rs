//! What was measured until now, a line each beside the machine file, so that an interrupted calibration goes on.

use super::told::Line;
use crate::failure::{Failure, say, system_words};
use crate::input;
use breakeven::request::Machine;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the first line says: what is measured otherwise does not go together.
#[derive(PartialEq, Serialize, Deserialize)]
struct Head {
    version: String,
    machine: Machine,
    date: String,
    device: Option<String>,
}

/// The journal of one calibration.
pub(crate) struct Journal {
    path: PathBuf,
    file: Option<File>,
    /// Where lines cannot be kept any more, that has been said.
    told: bool,
}

impl Journal {
    /// Opens the journal beside `output`; what it holds already, where that is of today and of this machine. A last line that was
    /// cut short is left out.
    ///
    /// # Errors
    /// A folder that cannot be made or written to.
    pub(crate) fn open(output: &Path, afresh: bool, device: Option<&str>) -> Result<(Self, Vec<Line>), Failure> {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let path = output.with_file_name(name);
        let head = Head {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: input::machine(),
            date: input::today(),
            device: device.map(str::to_owned),
        };
        let kept = if afresh { Vec::new() } else { read(&path, &head) };
        let begun = rewritten(&path, &head, &kept).map_err(|error| Failure::file("write", &path, &error))?;
        Ok((Self { path, file: Some(begun), told: false }, kept))
    }

    /// Keeps a line. A full disk is said once; the calibration goes on without.
    pub(crate) fn keep(&mut self, line: &Line) {
        let Some(file) = &mut self.file else { return };
        let text = serde_json::to_string(line).unwrap_or_default() + "\n";
        if let Err(error) = file.write_all(text.as_bytes()) {
            self.file = None;
            if !std::mem::replace(&mut self.told, true) {
                let (path, why) = (self.path.display(), system_words(&error));
                say(&format!("warning: cannot write {path}: {why}; an interrupted calibration will begin anew"));
            }
        }
    }

    /// Takes it away: the machine file is there.
    pub(crate) fn finish(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The lines that go together with `head`.
fn read(path: &Path, head: &Head) -> Vec<Line> {
    let Ok(text) = fs::read_to_string(path) else { return Vec::new() };
    let mut lines = text.lines();
    let same = lines.next().is_some_and(|first| serde_json::from_str::<Head>(first).is_ok_and(|known| known == *head));
    if same { lines.map_while(|line| serde_json::from_str(line).ok()).collect() } else { Vec::new() }
}

/// A journal with these lines, open for more.
fn rewritten(path: &Path, head: &Head, lines: &[Line]) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut text = serde_json::to_string(head)? + "\n";
    for line in lines {
        text += &(serde_json::to_string(line)? + "\n");
    }
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}
