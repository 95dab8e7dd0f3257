//! Where results go: stdout, a file that appears whole or not at all, or a descriptor that the caller opened.

use crate::args::{Color, Format, ReportArgs};
use crate::failure::{Failure, say};
use breakeven::estimate::Estimate;
use breakeven::report::{self, TextOptions, words};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Does something that may take a second, and says so on a terminal while it does.
pub(crate) fn working<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let terminal = io::stderr().is_terminal();
    if terminal {
        let _ = write!(io::stderr(), "{what} …");
    }
    let done = work();
    if terminal {
        let _ = write!(io::stderr(), "\r\u{1b}[K");
    }
    done
}

/// The estimate in the format asked for, for `to` where `--output` names no file.
pub(crate) fn render(estimate: &Estimate, args: &ReportArgs, to: impl AsFd) -> String {
    match args.format {
        Format::Json => report::json(estimate),
        Format::Markdown => report::markdown(estimate, args.quiet),
        Format::Text => {
            let terminal = Some(to).filter(|to| args.output.is_none() && to.as_fd().is_terminal());
            let options = TextOptions {
                color: colored(args.color, terminal.is_some()),
                explain: args.explain,
                quiet: args.quiet,
                verbose: args.verbose,
                width: width(terminal),
            };
            report::text(estimate, &options)
        }
    }
}

/// Characters of a line on stdout where it is a terminal, or COLUMNS says so; a list for other programs is as wide as it is.
pub(crate) fn columns() -> Option<usize> {
    width(Some(io::stdout()).filter(IsTerminal::is_terminal)).map(usize::from)
}

/// Characters of a line: what COLUMNS says, or else what the terminal has.
pub(crate) fn width(terminal: Option<impl AsFd>) -> Option<u16> {
    const LEAST: u16 = 40;
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let has = || rustix::termios::tcgetwinsize(terminal?).ok().map(|size| size.ws_col);
    said.or_else(has).filter(|columns| *columns > 0).map(|columns| columns.max(LEAST))
}

/// The estimate to `--output` or stdout.
pub(crate) fn deliver(estimate: &Estimate, args: &ReportArgs) -> Result<(), Failure> {
    write_to(args.output.as_deref(), render(estimate, args, io::stdout()).as_bytes())
}

/// Says that a file beside the report is there, and how large it is.
pub(crate) fn wrote(file: &Path) {
    if let Ok(found) = file.metadata()
        && found.is_file()
    {
        let size = words::bytes(found.len() as f64);
        say(&format!("wrote {} ({size})", words::printable(&file.display().to_string(), 200)));
    }
}

/// Whether a file name means stdout, as `-` does everywhere.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// `text` to the file, or to stdout where none is named.
pub(crate) fn write_to(file: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match file {
        Some(path) if !is_stdout(path) => write_file(path, bytes).map_err(|e| Failure::file("write", path, &e)),
        _ => to_stdout(bytes),
    }
}

/// Refuses to write one file twice, or over one that is read: `files` are what is to be written, each with its option,
/// `read` what is read.
pub(crate) fn apart(files: &[(&str, Option<&PathBuf>)], read: &[PathBuf]) -> Result<(), Failure> {
    let mut taken: Vec<(PathBuf, &str)> = read.iter().map(|file| (place(file), "what is read")).collect();
    for &(option, file) in files {
        let Some(file) = file.filter(|file| !file.metadata().is_ok_and(|found| !found.is_file())) else { continue };
        let place = if is_stdout(file) { file.clone() } else { place(file) };
        if let Some((_, first)) = taken.iter().find(|(known, _)| *known == place) {
            let message = format!("{} is both {first} and {option}: one would overwrite the other", file.display());
            return Err(Failure::new("same-file", message, "give each a file of its own"));
        }
        taken.push((place, option));
    }
    Ok(())
}

/// The folder that a file is in.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a file is, or will be, whatever the way there.
fn place(file: &Path) -> PathBuf {
    let there = || Some(folder(file).canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(there).unwrap_or_else(|| file.to_owned())
}

/// The whole file or none of it.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = Pending::open(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// A file that appears when it is finished: a temporary one in the same folder, renamed. Devices and pipes are written
/// in place.
pub(crate) enum Pending {
    Place(File),
    Temporary(Box<tempfile::NamedTempFile>, PathBuf),
}

impl Pending {
    /// Errors name the file.
    pub(crate) fn new(path: &Path) -> Result<Self, Failure> {
        Self::open(path).map_err(|e| Failure::file("write", path, &e))
    }

    fn open(path: &Path) -> io::Result<Self> {
        if is_stdout(path) {
            return Ok(Self::Place(File::from(io::stdout().as_fd().try_clone_to_owned()?)));
        }
        if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Ok(Self::Place(OpenOptions::new().write(true).open(path)?));
        }
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A link stays a link: what it points to is replaced, or made.
        let pointed = || path.read_link().map(|to| folder(path).join(to));
        let target = path.canonicalize().or_else(|_| pointed()).unwrap_or_else(|_| path.to_owned());
        let mode = target.metadata().map_or(0o666, |m| m.permissions().mode());
        let permissions = Permissions::from_mode(mode);
        let file =
            tempfile::Builder::new().prefix(".breakeven-").permissions(permissions).tempfile_in(folder(&target))?;
        Ok(Self::Temporary(Box::new(file), target))
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Place(mut file) => file.flush(),
            Self::Temporary(file, target) => file.persist(target).map(drop).map_err(io::Error::from),
        }
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Place(file) => file.write(bytes),
            Self::Temporary(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Place(file) => file.flush(),
            Self::Temporary(file, _) => file.flush(),
        }
    }
}

/// Stdout, and whether whoever reads it has had enough.
#[derive(Default)]
pub(crate) struct Stdout {
    pub(crate) reader_gone: bool,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stdout().write(bytes);
        self.reader_gone |= written.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = io::stdout().flush();
        self.reader_gone |= flushed.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        flushed
    }
}

/// To a descriptor that the caller opened for us (`--report-fd 3`).
pub(crate) fn write_descriptor(fd: u32, bytes: &[u8]) -> Result<(), Failure> {
    open_descriptor(fd)?.write_all(bytes).or_else(|e| unless_reader_gone(fd_error(fd, &e), &e))
}

/// Opens `--report-fd`, so that a wrong one is told before a script starts.
pub(crate) fn open_descriptor(fd: u32) -> Result<File, Failure> {
    OpenOptions::new().append(true).open(format!("/dev/fd/{fd}")).map_err(|e| fd_error(fd, &e))
}

fn fd_error(fd: u32, error: &io::Error) -> Failure {
    let message = format!("cannot write to descriptor {fd}: {}", crate::failure::system_words(error));
    Failure::new("report-fd", message, format!("open it for writing, as in `breakeven run … {fd}>report.json`"))
}

fn to_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).or_else(|e| {
        unless_reader_gone(Failure::new("stdout", format!("cannot write to stdout: {e}"), "try --output FILE"), &e)
    })
}

fn unless_reader_gone(failure: Failure, error: &io::Error) -> Result<(), Failure> {
    Err(if error.kind() == io::ErrorKind::BrokenPipe { Failure::ReaderGone } else { failure })
}

/// Colour on a terminal that can, unless the user says otherwise (<https://no-color.org>).
pub(crate) fn colored(choice: Color, terminal: bool) -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    match choice {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb"),
    }
}
