//! Reading `breakeven.workload/1`.
//!
//! What is read has been checked: see [`Workload::check`]. A sound file is read in one pass; only when it is not, it is
//! read again to say where and why.

use super::{FORMAT, Workload};
use crate::error::{Error, Result};
use crate::place;
use serde::Deserialize;

/// What a file says of itself, whatever else it holds.
#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    optional_fields: Vec<String>,
}

impl Workload {
    /// Reads a workload file, uncompressed.
    ///
    /// Unknown fields are refused, except those that the file itself lists in `optional_fields`.
    ///
    /// # Errors
    /// `not-a-workload` for other kinds of data, `newer-format` for a later version, `bad-workload` for a file that is
    /// cut off, has unknown fields or values that cannot be; each says where.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        match serde_json::from_slice::<Self>(bytes) {
            Ok(workload) => workload.check().map_err(|e| foreign(bytes).unwrap_or(e)).map(|()| workload),
            Err(_) => match serde_json::from_slice::<Label>(bytes) {
                Ok(label) if !label.optional_fields.is_empty() && foreign(bytes).is_none() => {
                    without_optional(bytes, &label.optional_fields)
                }
                _ => Err(explain(bytes)),
            },
        }
    }
}

/// The error for data that is no workload of this version, if that is what it is.
fn foreign(bytes: &[u8]) -> Option<Error> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Some(
            Error::new("not-a-workload", "the workload is compressed with gzip").hint("unpack it with `gunzip`"),
        );
    }
    let start = bytes.iter().find(|b| !b.is_ascii_whitespace());
    if start != Some(&b'{') {
        let what = if start.is_none() { "the workload file is empty" } else { "this is not a workload file" };
        return Some(Error::new("not-a-workload", what).hint(RECORD));
    }
    let label: Label = serde_json::from_slice(bytes).ok()?;
    match label.format.as_deref() {
        Some(FORMAT) => None,
        Some(format) => {
            let version = format.strip_prefix("breakeven.workload/").and_then(|v| v.parse::<u64>().ok());
            Some(match version {
                Some(2..) => Error::new("newer-format", format!("the file is {}; this reads {FORMAT}", shown(format)))
                    .hint("a newer breakeven wrote it: upgrade with `pip install --upgrade breakeven`"),
                _ => Error::new("not-a-workload", format!("`format` is {}; a workload has {FORMAT}", shown(format)))
                    .hint(RECORD),
            })
        }
        None => {
            Some(Error::new("not-a-workload", format!("`format` is missing; a workload has {FORMAT}")).hint(RECORD))
        }
    }
}

const RECORD: &str = "`breakeven run SCRIPT --save FILE` writes one";

/// Reads again, keeping track of the place.
fn explain(bytes: &[u8]) -> Error {
    if let Some(error) = foreign(bytes) {
        return error;
    }
    match serde_json::from_slice::<Workload>(bytes) {
        Ok(_) => Error::new("bad-workload", "the workload could not be read"),
        Err(e) => bad(&place::of(bytes, &e), &e),
    }
}

fn bad(path: &str, error: &serde_json::Error) -> Error {
    let at = if path.is_empty() { String::new() } else { format!(" at `{}`", limited(path)) };
    if error.is_eof() {
        return Error::new("bad-workload", format!("the workload ends too early{at}, after line {}", error.line()))
            .hint("the file was cut off: copy it again or record again");
    }
    let text = error.to_string();
    let said = text.split(" at line ").next().unwrap_or(&text);
    let out = Error::new("bad-workload", format!("the workload is not sound{at}: {}", limited(said)));
    match unknown_field(&text) {
        Some(hint) => out.hint(hint),
        None => out.hint(format!(
            "line {}, column {}; docs/workload-format.md explains every field",
            error.line(),
            error.column()
        )),
    }
}

/// The hint for serde's "unknown field `x`, expected one of `a`, `b`".
fn unknown_field(text: &str) -> Option<String> {
    let mut quoted = text.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let given = quoted.next()?;
    let nearest = quoted.min_by_key(|known| strsim::osa_distance(given, known))?;
    if strsim::osa_distance(given, nearest) <= given.len().div_ceil(2) {
        return Some(format!("did you mean `{nearest}`?"));
    }
    Some("a newer breakeven may have written it: upgrade with `pip install --upgrade breakeven`".to_owned())
}

/// Reads again with the fields of these names left out.
fn without_optional(bytes: &[u8], optional: &[String]) -> Result<Workload> {
    let mut value = serde_json::from_slice(bytes).map_err(|e| bad("", &e))?;
    drop_fields(&mut value, optional);
    // As text again, so that there is one reader.
    let text = serde_json::to_vec(&value).map_err(|e| bad("", &e))?;
    let workload: Workload = serde_json::from_slice(&text).map_err(|_| explain(&text))?;
    workload.check()?;
    Ok(workload)
}

/// serde_json refuses to nest deeper than 128, which bounds the recursion.
fn drop_fields(value: &mut serde_json::Value, names: &[String]) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| !names.iter().any(|n| n == name));
            fields.values_mut().for_each(|v| drop_fields(v, names));
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|v| drop_fields(v, names)),
        _ => {}
    }
}

fn shown(text: &str) -> String {
    format!("`{}`", limited(text))
}

fn limited(text: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut out: String = text.chars().take(300).map(clean).collect();
    if text.chars().nth(300).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
