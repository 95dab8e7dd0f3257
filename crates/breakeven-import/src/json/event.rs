//! One event of `traceEvents`: its members as they stand in the file.

use super::scan::{Stop, blank, string, value};

/// The members of an event that are ever looked at, without the quotes of strings; empty where missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Event<'a> {
    pub(crate) phase: &'a [u8],
    pub(crate) category: &'a [u8],
    pub(crate) name: &'a [u8],
    pub(crate) ts: &'a [u8],
    pub(crate) dur: &'a [u8],
    pub(crate) pid: &'a [u8],
    pub(crate) tid: &'a [u8],
    /// The whole object.
    pub(crate) args: &'a [u8],
}

/// The event whose brace is at the beginning, and how long it is.
pub(crate) fn event(bytes: &[u8]) -> Result<(Event<'_>, usize), Stop> {
    let mut event = Event::default();
    let end = object(bytes, 0, |key, member| {
        let place = match key {
            b"ph" => &mut event.phase,
            b"cat" => &mut event.category,
            b"name" => &mut event.name,
            b"ts" => &mut event.ts,
            b"dur" => &mut event.dur,
            b"pid" => &mut event.pid,
            b"tid" => &mut event.tid,
            b"args" => &mut event.args,
            _ => return,
        };
        *place = inner(member);
    })?;
    Ok((event, end))
}

/// Without its quotes, where it is a string.
fn inner(member: &[u8]) -> &[u8] {
    match member {
        [b'"', inner @ .., b'"'] => inner,
        all => all,
    }
}

/// Tells of each member of the object whose brace is at `at`; gives the place behind it.
fn object<'a>(bytes: &'a [u8], at: usize, mut tell: impl FnMut(&'a [u8], &'a [u8])) -> Result<usize, Stop> {
    let mut at = at + 1;
    loop {
        at = blank(bytes, at)?;
        match bytes[at] {
            b'}' => return Ok(at + 1),
            b',' => at += 1,
            b'"' => {
                let key = string(bytes, at)?;
                let colon = blank(bytes, key)?;
                if bytes[colon] != b':' {
                    return Err(Stop::Bad);
                }
                let from = blank(bytes, colon + 1)?;
                let to = value(bytes, from)?;
                tell(&bytes[at + 1..key - 1], &bytes[from..to]);
                at = to;
            }
            _ => return Err(Stop::Bad),
        }
    }
}

/// The members of a whole object, as far as it is one: keys without quotes, values as they stand.
pub(crate) fn members<'a>(bytes: &'a [u8], tell: impl FnMut(&'a [u8], &'a [u8])) {
    if bytes.first() == Some(&b'{') {
        // What comes before the fault has been told.
        let _ = object(bytes, 0, tell);
    }
}
