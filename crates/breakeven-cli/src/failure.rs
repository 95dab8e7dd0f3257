//! What goes wrong, as the user reads it: `error:` what was given and what is allowed, `hint:` the next step.

use breakeven::Error;
use breakeven::report::words;
use clap::error::ErrorKind;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Bad input: exit code 2.
const BAD_INPUT: u8 = 2;

/// Why a command ends without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user can mend it.
    Input(Error),
    /// Whoever reads our output has had enough: success.
    ReaderGone,
}

/// What a command comes to.
pub(crate) type Outcome = Result<ExitCode, Failure>;

impl Failure {
    /// Bad input told by the face itself.
    pub(crate) fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input(Error::new(code, message).hint(hint))
    }

    /// A file that could not be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "check who may read and write there",
            io::ErrorKind::IsADirectory => "name a file, not a folder",
            io::ErrorKind::StorageFull => "make room, or choose another place",
            _ => "try another file",
        };
        Self::new("file", format!("cannot {doing} {}: {}", path.display(), system_words(error)), hint)
    }

    /// Tells the user and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Input(error) => {
                say(&harmless(error).to_string());
                ExitCode::from(BAD_INPUT)
            }
            Self::ReaderGone => ExitCode::SUCCESS,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Input(error)
    }
}

/// What was given is repeated in the message: nothing of it may colour the terminal or feign a line of ours. Errors of one
/// file stand below each other, set in.
fn harmless(error: Error) -> Error {
    const LONGEST: usize = 2000;
    const NEXT: &str = "\n  ";
    let printable =
        |text: String| text.split(NEXT).map(|line| words::printable(line, LONGEST)).collect::<Vec<_>>().join(NEXT);
    Error { message: printable(error.message), hint: error.hint.map(printable), ..error }
}

/// Arguments that do not parse, help and version: clap's words in our form.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that has gone is no error here either.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            say(&error.render().to_string());
            ExitCode::from(BAD_INPUT)
        }
        _ => {
            let text = hinted(&error.render().to_string(), error.kind());
            say(&text.lines().map(|line| words::printable(line, 300)).collect::<Vec<_>>().join("\n"));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// What is wrong in one line, the next step in another; clap tells it in paragraphs.
fn hinted(text: &str, kind: ErrorKind) -> String {
    let (mut wrong, mut hints) = (Vec::new(), Vec::new());
    let told = text.split("\n\nUsage:").next().unwrap_or(text);
    for line in told.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(values) = line.strip_prefix("[possible values: ") {
            hints.push(format!("one of {}", values.trim_end_matches(']')));
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            // Nothing of ours takes an option as a value.
            hints.extend((!tip.starts_with("to pass '")).then(|| tip.to_owned()));
        } else if !line.starts_with("For more information") {
            wrong.push(line);
        }
    }
    let hint = match (hints.is_empty(), kind) {
        (false, _) => hints.join("; "),
        (true, ErrorKind::ArgumentConflict) => "give one of the two".to_owned(),
        (true, _) => "`--help` says what is allowed".to_owned(),
    };
    format!("{}\n hint: {hint}", wrong.join(" "))
}

/// A line to stderr; if nobody can read it, so be it.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end());
}

/// The system's words without Rust's `(os error 2)`, lowercase.
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
