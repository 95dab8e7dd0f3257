//! Where in a JSON text something is wrong, as people would say it: `ops[3].dtype`.

/// The path of what a reader had come to when it stopped; empty at the top. `error` says how far that was.
///
/// ```
/// let text = r#"{"ops": [{"n": 1}, {"n": [2, -3]}]}"#;
/// let error = serde_json::from_str::<std::collections::BTreeMap<String, Vec<std::collections::BTreeMap<String, u8>>>>(text);
/// assert_eq!(breakeven::place::of(text.as_bytes(), &error.unwrap_err()), "ops[1].n");
/// ```
pub fn of(text: &[u8], error: &serde_json::Error) -> String {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    path(&text[..(before + error.column()).min(text.len())])
}

/// A list or object that is open, and the place in it.
enum Open {
    Index(usize),
    Key(String),
}

fn path(read: &[u8]) -> String {
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = read.get(at) {
        match byte {
            b'{' => open.push(Open::Key(String::new())),
            b'[' => open.push(Open::Index(0)),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Open::Index(index)) => *index += 1,
                Some(Open::Key(key)) => key.clear(),
                None => {}
            },
            b'"' => {
                let end = end_of_text(read, at + 1);
                if let (Some(Open::Key(key)), Some(text)) = (open.last_mut(), read.get(at + 1..end))
                    && key.is_empty()
                    && end < read.len()
                {
                    *key = String::from_utf8_lossy(text).into_owned();
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    let mut out = String::new();
    for open in &open {
        match open {
            Open::Index(index) => out += &format!("[{index}]"),
            Open::Key(key) if key.is_empty() => {}
            Open::Key(key) if out.is_empty() => out += key,
            Open::Key(key) => out += &format!(".{key}"),
        }
    }
    out
}

/// Where the text that begins at `from` has its closing quote, or where everything ends.
fn end_of_text(read: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = read.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    read.len()
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn paths_lead_to_what_was_read_last() {
        for (read, expected) in [
            ("", ""),
            ("{", ""),
            (r#"{"a"#, ""),
            (r#"{"a""#, "a"),
            (r#"{"a": {"b": [1, 2, {"c": "x"#, "a.b[2].c"),
            (r#"{"a": {"b\"]": [1, 2], "d": "]}"#, "a.d"),
            (r#"{"a": {"b": 1}"#, "a"),
            (r#"{"a": {"b": 1}, "#, ""),
            ("[[1], [2, 3", "[1][1]"),
            ("]]}}", ""),
        ] {
            assert_eq!(path(read.as_bytes()), expected, "{read}");
        }
    }
}
