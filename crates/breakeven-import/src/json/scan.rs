//! Where a JSON value ends, found without reading it.

use memchr::memchr2;

/// Why a value does not end here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The bytes end first.
    More,
    /// It is no JSON.
    Bad,
}

/// The first place from `at` on that is no blank.
pub(crate) fn blank(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
            Some(_) => return Ok(at),
            None => return Err(Stop::More),
        }
    }
}

/// The place behind the string whose first quote is at `at`.
pub(crate) fn string(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let mut at = at + 1;
    loop {
        let rest = bytes.get(at..).ok_or(Stop::More)?;
        let found = at + memchr2(b'"', b'\\', rest).ok_or(Stop::More)?;
        if bytes[found] == b'"' {
            return Ok(found + 1);
        }
        at = found + 2;
    }
}

/// The place behind the value that begins at `at`.
pub(crate) fn value(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at) {
        None => Err(Stop::More),
        Some(b'"') => string(bytes, at),
        Some(b'{' | b'[') => nested(bytes, at),
        Some(b',' | b':' | b'}' | b']') => Err(Stop::Bad),
        Some(_) => {
            let rest = &bytes[at..];
            let long = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
            match long {
                // No number or word is so long.
                Some(long) if long <= 400 => Ok(at + long),
                None if rest.len() <= 400 => Err(Stop::More),
                _ => Err(Stop::Bad),
            }
        }
    }
}

/// The place behind the object or array that begins at `at`. The two kinds of brackets are counted as one.
fn nested(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    let mut depth = 0_usize;
    loop {
        let rest = bytes.get(at..).ok_or(Stop::More)?;
        let found = rest.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')).ok_or(Stop::More)?;
        at += found;
        match bytes[at] {
            b'"' => {
                at = string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            _ => depth -= 1,
        }
        at += 1;
        if depth == 0 {
            return Ok(at);
        }
    }
}

/// A string as text, from the bytes between its quotes: escapes undone, those that do not exist left as they are, what
/// is not UTF-8 replaced.
pub(crate) fn text(bytes: &[u8]) -> String {
    if memchr::memchr(b'\\', bytes).is_none() {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = after;
        let (byte, [kind, after @ ..]) = (*first, after) else {
            plain.push(*first);
            continue;
        };
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        rest = after;
        match kind {
            b'n' => plain.push(b'\n'),
            b't' => plain.push(b'\t'),
            b'r' => plain.push(b'\r'),
            b'b' => plain.push(8),
            b'f' => plain.push(12),
            b'"' | b'\\' | b'/' => plain.push(*kind),
            b'u' => rest = unicode(after, &mut plain),
            other => plain.extend([b'\\', *other]),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Adds the character of `\u` and what follows; gives what is left. Halves of a pair without the other are replaced.
fn unicode<'a>(after: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
    let hex = |bytes: &[u8]| u32::from_str_radix(std::str::from_utf8(bytes).ok()?, 16).ok();
    let Some(first) = after.get(..4).and_then(hex) else {
        plain.extend(b"\\u");
        return after;
    };
    let second = match after.get(4..10) {
        Some([b'\\', b'u', low @ ..]) if (0xd800..0xdc00).contains(&first) => {
            hex(low).filter(|low| (0xdc00..0xe000).contains(low))
        }
        _ => None,
    };
    let (code, used) = match second {
        Some(low) => (0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00), 10),
        None => (first, 4),
    };
    let mut four = [0; 4];
    plain.extend(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut four).as_bytes());
    &after[used..]
}

#[cfg(test)]
mod tests {
    use super::{Stop, string, text, value};
    use proptest::prelude::*;

    #[test]
    fn where_values_end() {
        let ends = |bytes: &str| value(bytes.as_bytes(), 0);
        assert_eq!(ends("12.5,"), Ok(4));
        assert_eq!(ends("NaN}"), Ok(3));
        assert_eq!(ends("\"a\\\"b\"]"), Ok(6));
        assert_eq!(ends("{\"a\":[1,\"]}\"],}x"), Ok(15));
        assert_eq!(ends("12"), Err(Stop::More));
        assert_eq!(ends("[[1]"), Err(Stop::More));
        assert_eq!(ends("}"), Err(Stop::Bad));
        assert_eq!(string(b"\"abc\\", 0), Err(Stop::More));
    }

    #[test]
    fn escapes_good_and_bad() {
        assert_eq!(text(br"a\n\u00e9\ud83d\ude00\q\ud800x\u12"), "a\né😀\\q\u{fffd}x\\u12");
        assert_eq!(text(br"C:\new\"), "C:\new\\");
    }

    proptest! {
        #[test]
        fn strings_of_serde_come_back(given: String) {
            let json = serde_json::to_string(&given).unwrap();
            prop_assert_eq!(string(json.as_bytes(), 0), Ok(json.len()));
            prop_assert_eq!(text(&json.as_bytes()[1..json.len() - 1]), given);
        }
    }
}
