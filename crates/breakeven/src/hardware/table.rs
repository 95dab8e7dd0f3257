//! Reading the catalogue's CSV text, with errors that name the line.

use crate::{Error, Result};
use std::ops::RangeInclusive;

/// Far above any catalogue written by hand.
const MAX_BYTES: usize = 16 << 20;

/// One line of a table: its number in the text and its fields, trimmed.
pub(super) struct Row<'r> {
    file: &'r str,
    table: &'r str,
    fields: &'r csv::StringRecord,
}

impl<'r> Row<'r> {
    /// Its number, counted from 1 as editors do.
    pub(super) fn line(&self) -> u64 {
        let Some(start) = self.fields.position() else { return 1 };
        // The position is where the line before ended: blank lines and comments may follow.
        let rest = self.table.get(start.byte() as usize..).unwrap_or("");
        let skipped = rest.lines().take_while(|line| line.is_empty() || line.starts_with('#')).count();
        start.line() + skipped as u64
    }

    /// The field of column `n`.
    pub(super) fn text(&self, n: usize) -> &'r str {
        self.fields.get(n).unwrap_or("").trim()
    }

    /// An error about this line. `what` says what was given and what is allowed.
    pub(super) fn error(&self, what: impl std::fmt::Display) -> Error {
        line_error(self.file, self.line(), what)
    }

    /// The number in column `n`, within `range`; `what` names it in errors.
    pub(super) fn number(&self, n: usize, what: impl FnOnce() -> String, range: &RangeInclusive<f64>) -> Result<f64> {
        let text = self.text(n);
        // The range also refuses NaN and the infinities, which Rust reads as numbers.
        text.parse().ok().filter(|value| range.contains(value)).ok_or_else(|| {
            let (min, max) = (range.start(), range.end());
            self.error(format!("{} is {}: a plain number from {min} to {max} is allowed", what(), shown(text)))
        })
    }

    /// The date in column `n`.
    pub(super) fn date(&self, n: usize) -> Result<super::Date> {
        let text = self.text(n);
        super::Date::parse(text)
            .ok_or_else(|| self.error(format!("the date is {}: YYYY-MM-DD is allowed", shown(text))))
    }

    /// The text in column `n`, which may not be empty; `what` names it.
    pub(super) fn required(&self, n: usize, what: &str) -> Result<&'r str> {
        match self.text(n) {
            "" => Err(self.error(format!("{what} is empty: every line needs one"))),
            text => Ok(text),
        }
    }
}

/// Errors of a text, gathered so that all are told at once.
#[derive(Debug, Default)]
pub(super) struct Errors {
    /// Those that are told one by one: at most [`TOLD`].
    told: Vec<Error>,
    count: usize,
}

/// How many errors are told one by one.
const TOLD: usize = 20;

impl Errors {
    /// What was read, or `None` with the error kept.
    pub(super) fn keep<T>(&mut self, read: Result<T>) -> Option<T> {
        read.map_err(|error| {
            self.count += 1;
            if self.told.len() < TOLD {
                self.told.push(error);
            }
        })
        .ok()
    }

    /// `value` where there was no error; one error as it is, several as one that lists them, each with its line.
    ///
    /// # Errors
    /// Those that were kept.
    pub(super) fn or<T>(self, file: &str, value: T) -> Result<T> {
        let first = match self.told.as_slice() {
            [] => return Ok(value),
            [only] => return Err(only.clone()),
            [first, ..] => first,
        };
        let told = self.told.iter().map(|error| {
            let message = error.message.strip_prefix(file).unwrap_or(&error.message).trim_start();
            let hint = error.hint.iter().map(|hint| format!("\n    ({hint})"));
            format!("\n  {message}{}", hint.collect::<String>())
        });
        let more = match self.count - self.told.len() {
            0 => String::new(),
            more => format!("\n  and {more} more"),
        };
        let message = format!("{file} has {} errors:{}{more}", self.count, told.collect::<String>());
        Err(Error::new(first.code, message))
    }
}

/// An error about a line that was read before.
pub(super) fn line_error(file: &str, line: u64, what: impl std::fmt::Display) -> Error {
    Error::new("catalogue-line", format!("{file} line {line}: {what}"))
}

/// Calls `each` for every line of `text` below a header, with the place of that header among `headers`. A line that is
/// a header begins a table; lines that start with `#` are comments.
///
/// # Errors
/// Text of more than 16 MiB, a first line that is none of `headers`, a line with another number of fields than its
/// header, and whatever `each` refuses: all of them in one.
pub(super) fn for_each_row(
    file: &str,
    text: &str,
    headers: &[&[&str]],
    mut each: impl FnMut(usize, Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut errors = Errors::default();
    gather_rows(file, text, headers, &mut errors, |table, row, errors| {
        errors.keep(each(table, row));
    })?;
    errors.or(file, ())
}

/// As [`for_each_row`], with errors about single lines put into `errors`.
///
/// # Errors
/// What makes the rest of the text unreadable: its size, a first line that is no header, broken CSV.
pub(super) fn gather_rows(
    file: &str,
    text: &str,
    headers: &[&[&str]],
    errors: &mut Errors,
    mut each: impl FnMut(usize, Row<'_>, &mut Errors),
) -> Result<()> {
    if text.len() > MAX_BYTES {
        return Err(Error::new("catalogue-size", format!("{file} has {} bytes: 16 MiB are allowed", text.len())));
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).flexible(true).from_reader(text.as_bytes());
    let mut fields = csv::StringRecord::new();
    let mut table = None;
    loop {
        let line = reader.position().line();
        let more = reader.read_record(&mut fields).map_err(|e| {
            Error::new("catalogue-line", format!("{file} line {line}: this is no CSV text: {}", shown(&e.to_string())))
        })?;
        if !more {
            break;
        }
        let row = Row { file, table: text, fields: &fields };
        let first = row.text(0);
        let begins = |header: &&[&str]| header[0] == first && fields.iter().map(str::trim).eq(header.iter().copied());
        if let Some(header) = headers.iter().position(begins) {
            table = Some(header);
            continue;
        }
        let Some(table) = table else {
            let given = fields.iter().take(20).collect::<Vec<_>>().join(",");
            return Err(row.error(format!("the first line is {}", shown(&given))).hint(expected(headers, row.text(0))));
        };
        let header = headers[table];
        if fields.len() != header.len() {
            let message = format!("{} fields: {} are allowed ({})", fields.len(), header.len(), header.join(","));
            let error = row.error(message).hint("a value with a comma in it goes between double quotes");
            errors.keep::<()>(Err(error));
            continue;
        }
        each(table, row, errors);
    }
    if table.is_none() {
        return Err(Error::new("catalogue-line", format!("{file} is empty")).hint(expected(headers, "")));
    }
    Ok(())
}

/// What the first line has to be: the header that begins like the one given, else any.
fn expected(headers: &[&[&str]], given: &str) -> String {
    let begins = |header: &&&[&str]| header[0].eq_ignore_ascii_case(given.trim_start_matches('\u{feff}'));
    match (headers, headers.iter().find(begins)) {
        ([only], _) | (_, Some(only)) => format!("the first line has to be `{}`", only.join(",")),
        _ => {
            let all = headers.iter().map(|header| format!("`{}`", header.join(","))).collect::<Vec<_>>();
            format!("a table begins with one of {}", all.join(", "))
        }
    }
}

/// What a user gave, safe to print: quoted, control and bidirectional characters escaped, cut after 60 characters.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::from("`");
    for (n, c) in text.chars().enumerate() {
        if n == 60 {
            out.push('…');
            break;
        }
        if c == '"' || c == '\'' { out.push(c) } else { out.extend(c.escape_debug()) }
    }
    out.push('`');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Result<Vec<(u64, String)>> {
        let mut out = Vec::new();
        for_each_row("t.csv", text, &[&["a", "b"]], |_, row| {
            out.push((row.line(), row.text(1).to_owned()));
            Ok(())
        })?;
        Ok(out)
    }

    #[test]
    fn a_header_begins_a_table() {
        let tables: [&[&str]; 2] = [&["a", "b"], &["c", "d", "e"]];
        let mut out = Vec::new();
        for_each_row("t.csv", "c,d,e\n1,2,3\n\n a , b\n4,5\nc,d,e\n6,7,8\n", &tables, |table, row| {
            out.push((table, row.text(0).to_owned(), row.line()));
            Ok(())
        })
        .unwrap();
        assert_eq!(out, [(1, "1".into(), 2), (0, "4".into(), 5), (1, "6".into(), 7)]);
        let refused = |text: &str| for_each_row("t.csv", text, &tables, |_, _| Ok(())).unwrap_err().to_string();
        let first = "error: t.csv line 1: the first line is";
        assert_eq!(refused("C,d\n"), format!("{first} `C,d`\n hint: the first line has to be `c,d,e`"));
        assert_eq!(refused("x,y\n"), format!("{first} `x,y`\n hint: a table begins with one of `a,b`, `c,d,e`"));
        assert!(refused("a,b\nc,d,e\n1,2\n").starts_with("error: t.csv line 3: 2 fields: 3 are allowed (c,d,e)"));
    }

    #[test]
    fn lines_are_numbered_as_an_editor_does() {
        let text = "# a comment\na,b\n\n1, x \n\"q\nq\",y\n2,z\n";
        assert_eq!(lines(text).unwrap(), [(4, "x".into()), (5, "y".into()), (7, "z".into())]);
    }

    #[test]
    fn bad_tables_are_refused_with_the_line() {
        insta::assert_snapshot!(lines("a,c\n").unwrap_err(), @r#"
        error: t.csv line 1: the first line is `a,c`
         hint: the first line has to be `a,b`
        "#);
        insta::assert_snapshot!(lines("").unwrap_err(), @r#"
        error: t.csv is empty
         hint: the first line has to be `a,b`
        "#);
        insta::assert_snapshot!(lines("a,b\n1\n").unwrap_err(), @r#"
        error: t.csv line 2: 1 fields: 2 are allowed (a,b)
         hint: a value with a comma in it goes between double quotes
        "#);
    }

    #[test]
    fn what_is_shown_is_harmless() {
        assert_eq!(shown("a\u{202e}\0b'"), "`a\\u{202e}\\0b'`");
        assert_eq!(shown(&"x".repeat(1000)).chars().count(), 63);
    }
}
