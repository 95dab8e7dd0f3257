//! What goes wrong, as the user reads it: `error:` what was given and what is allowed, `hint:` the next step.

use breakeven::Error;
use breakeven::report::{hanging, words};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::io::{self, IsTerminal, Write};
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
            let text = match quoted(error, std::env::args()) {
                Some(hint) => format!("{}\n hint: {hint}", wrong(&error.render().to_string())),
                None => hinted(&error.render().to_string(), error.kind()),
            };
            say(&text.lines().map(|line| words::printable(line, 300)).collect::<Vec<_>>().join("\n"));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// How to write a value with a space in it, where the word after one was taken for something else.
fn quoted(error: &clap::Error, given: impl Iterator<Item = String>) -> Option<String> {
    let Some(ContextValue::String(extra)) = error.get(ContextKind::InvalidArg) else { return None };
    let given: Vec<String> = given.collect();
    let at = given.iter().position(|word| word == extra && !word.starts_with('-'))?;
    let [option, value] = given.get(at.checked_sub(2)?..at)? else { return None };
    let takes_value = option.starts_with("--") && !option.contains('=') && !value.starts_with('-');
    takes_value.then(|| format!("a value with a space stands in quotation marks: {option} \"{value} {extra}\""))
}

/// What is wrong, without what follows it.
fn wrong(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
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

/// Lines to stderr, on a terminal within its width; if nobody can read them, so be it.
pub(crate) fn say(text: &str) {
    let width = io::stderr().is_terminal().then(|| crate::output::width(Some(io::stderr()))).flatten();
    let text = match width {
        Some(width) => within(text.trim_end(), usize::from(width)),
        None => text.trim_end().to_owned(),
    };
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Lines of at most `width` characters; what is set in stays set in.
fn within(text: &str, width: usize) -> String {
    let lines = text.lines().flat_map(|line| {
        let mark = ["error: ", " hint: ", "  "].into_iter().find(|mark| line.starts_with(mark)).unwrap_or("");
        let wide = line.chars().count() > width;
        if wide { hanging(mark, &line[mark.len()..], width) } else { vec![line.to_owned()] }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The system's words without Rust's `(os error 2)`, lowercase.
pub(crate) fn system_words(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_long_hint_hangs_below_its_mark() {
        let text = "error: no work was given\n hint: give a size, or an amount of work";
        let told = "error: no work was given\n hint: give a size, or\n       an amount of work";
        assert_eq!((within(text, 24), within(text, 80)), (told.to_owned(), text.to_owned()));
    }
}
