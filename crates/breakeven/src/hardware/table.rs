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
        Error::new("catalogue-line", format!("{} line {}: {what}", self.file, self.line()))
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

/// Calls `each` for every line of `text` below the header. Lines that start with `#` are comments.
///
/// # Errors
/// Text of more than 16 MiB, another header than `header`, a line with another number of fields, and whatever
/// `each` refuses.
pub(super) fn for_each_row(
    file: &str,
    text: &str,
    header: &[&str],
    mut each: impl FnMut(Row<'_>) -> Result<()>,
) -> Result<()> {
    if text.len() > MAX_BYTES {
        return Err(Error::new("catalogue-size", format!("{file} has {} bytes: 16 MiB are allowed", text.len())));
    }
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).flexible(true).from_reader(text.as_bytes());
    let mut fields = csv::StringRecord::new();
    let mut first = true;
    loop {
        let line = reader.position().line();
        let more = reader.read_record(&mut fields).map_err(|e| {
            Error::new("catalogue-line", format!("{file} line {line}: this is no CSV text: {}", shown(&e.to_string())))
        })?;
        if !more {
            break;
        }
        let row = Row { file, table: text, fields: &fields };
        if first {
            if !fields.iter().map(str::trim).eq(header.iter().copied()) {
                let given = fields.iter().take(header.len() + 1).collect::<Vec<_>>().join(",");
                return Err(row
                    .error(format!("the first line is {}", shown(&given)))
                    .hint(format!("the first line has to be `{}`", header.join(","))));
            }
            first = false;
            continue;
        }
        if fields.len() != header.len() {
            return Err(row
                .error(format!("{} fields: {} are allowed ({})", fields.len(), header.len(), header.join(",")))
                .hint("a value with a comma in it goes between double quotes"));
        }
        each(row)?;
    }
    if first {
        return Err(Error::new("catalogue-line", format!("{file} is empty"))
            .hint(format!("the first line has to be `{}`", header.join(","))));
    }
    Ok(())
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
        for_each_row("t.csv", text, &["a", "b"], |row| {
            out.push((row.line(), row.text(1).to_owned()));
            Ok(())
        })?;
        Ok(out)
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
