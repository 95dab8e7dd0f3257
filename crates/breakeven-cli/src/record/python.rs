//! Which Python runs the script.

use crate::failure::{Failure, say};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Python that has the recorder, and how we came to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Python {
    /// To execute.
    pub(crate) path: PathBuf,
    /// In words: `--python`, `VIRTUAL_ENV`, …
    pub(crate) why: &'static str,
}

/// The first Python with the package: the one named; or that of the virtual environment, the one beside this binary
/// (where a wheel puts it), the one on PATH.
///
/// # Errors
/// The Python named does not exist or lacks the package; no Python has it.
pub(crate) fn find(named: Option<&Path>) -> Result<Python, Failure> {
    if let Some(path) = named {
        let path = on_path(path.as_os_str()).ok_or_else(|| {
            let message = format!("there is no Python {}", path.display());
            Failure::new("no-python", message, "name an executable, such as --python ~/venv/bin/python")
        })?;
        if !has_package(&path) {
            return Err(lacks_package(&path));
        }
        return Ok(Python { path, why: "--python" });
    }
    let candidates = candidates();
    let Some(found) = candidates.iter().position(|python| has_package(&python.path)) else {
        return Err(match candidates.first() {
            Some(python) => lacks_package(&python.path),
            None => Failure::new(
                "no-python",
                "there is no Python here",
                "install Python 3.10 or newer, or name one by --python",
            ),
        });
    };
    if found > 0 {
        let (wanted, taken) = (&candidates[0], &candidates[found]);
        say(&format!(
            "note: {} ({}) has no package breakeven; running {} ({})",
            wanted.path.display(),
            wanted.why,
            taken.path.display(),
            taken.why
        ));
    }
    candidates.into_iter().nth(found).ok_or_else(|| unreachable!("`found` is an index of it"))
}

fn lacks_package(python: &Path) -> Failure {
    let message = format!("{} has no package breakeven: it cannot record", python.display());
    Failure::new("no-package", message, format!("{} -m pip install breakeven", python.display()))
}

/// In the order of preference, those that exist.
fn candidates() -> Vec<Python> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(|root| PathBuf::from(root).join("bin"));
    let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    let in_folder = |folder: Option<PathBuf>, why| {
        let found = folder.and_then(|f| ["python3", "python"].into_iter().map(|n| f.join(n)).find(|p| p.is_file()));
        found.map(|path| Python { path, why })
    };
    let on_path = ["python3", "python"].into_iter().find_map(|name| on_path(name.as_ref()));
    let all = [
        in_folder(environment, "the virtual environment"),
        in_folder(beside, "beside breakeven"),
        on_path.map(|path| Python { path, why: "on PATH" }),
    ];
    let mut unique: Vec<Python> = Vec::new();
    for python in all.into_iter().flatten() {
        if unique.iter().all(|known| known.path != python.path) {
            unique.push(python);
        }
    }
    unique
}

/// A name looked up on PATH, a path as it is.
fn on_path(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return path.is_file().then(|| path.to_owned());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|p| p.is_file())
}

/// Whether that Python can import the recorder: by a look into its site-packages, else by asking it (which takes as
/// long as a start of Python).
fn has_package(python: &Path) -> bool {
    installed_beside(python) || asked(python)
}

fn installed_beside(python: &Path) -> bool {
    let Some(root) = python.parent().and_then(Path::parent) else { return false };
    // Only a virtual environment has one version of Python under its `lib`.
    if !root.join("pyvenv.cfg").is_file() {
        return false;
    }
    let versions = fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("site-packages/breakeven/_run.py").is_file())
}

fn asked(python: &Path) -> bool {
    let question = "import importlib.util as u, sys; sys.exit(u.find_spec('breakeven._run') is None)";
    let mut ask = Command::new(python);
    ask.args(["-c", question]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success())
}
