//! Other programs and files, with errors that name what was tried.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What went wrong, in one sentence.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}

/// Runs a program to its end; what it prints goes to the terminal.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|e| format!("cannot start {command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}

/// Runs a program and gives back its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let out = command.output().map_err(|e| format!("cannot start {command:?}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{command:?} failed: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr)));
    }
    String::from_utf8(out.stdout).map_err(|e| format!("{command:?} printed something that is not text: {e}"))
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

/// Writes a file, folders included.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    }
    std::fs::write(path, contents).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
