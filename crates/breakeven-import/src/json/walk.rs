//! The whole of a file: the blocks of its top level, and each event of `traceEvents`.

use super::event::{Event, event};
use super::scan::{Stop, blank, string, value};
use super::window::Window;
use std::io;

/// Who is told what a file holds.
pub(crate) trait Visitor {
    /// An event.
    fn event(&mut self, event: &Event<'_>);
    /// A block of the top level: its key without quotes, its value as it stands; none where it is too long.
    fn block(&mut self, key: &[u8], value: Option<&[u8]>);
}

/// How a file ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// After how many bytes the file ended in the middle.
    pub(crate) cut: Option<u64>,
    /// Places that were no JSON and were passed over.
    pub(crate) broken: u64,
}

/// A block of the top level that is longer is not looked at, bytes.
const LONGEST_BLOCK: usize = 8 << 20;
/// After so many broken places the rest is left alone.
const MOST_BROKEN: u64 = 1000;
/// Keys that an event begins with, as far as tracers go.
const FIRST_KEYS: [&[u8]; 8] =
    [b"\"ph\"", b"\"cat\"", b"\"name\"", b"\"pid\"", b"\"tid\"", b"\"ts\"", b"\"args\"", b"\"id\""];

/// Why the walk ends early.
pub(super) enum Halt {
    Cut,
    Io(io::Error),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Tells `visitor` all that a file holds.
pub(crate) fn walk(window: &mut Window<'_>, visitor: &mut impl Visitor) -> io::Result<Ending> {
    let mut ending = Ending::default();
    match top(window, visitor, &mut ending) {
        Ok(()) => {}
        Err(Halt::Cut) => ending.cut = Some(window.passed() + window.rest().len() as u64),
        Err(Halt::Io(error)) => return Err(error),
    }
    Ok(ending)
}

/// The first byte that is no blank, left at hand.
pub(super) fn next(window: &mut Window<'_>) -> Result<u8, Halt> {
    loop {
        let rest = window.rest();
        match blank(rest, 0) {
            Ok(at) => {
                let byte = rest[at];
                window.advance(at);
                return Ok(byte);
            }
            Err(_) => {
                let all = rest.len();
                window.advance(all);
                more(window)?;
            }
        }
    }
}

pub(super) fn more(window: &mut Window<'_>) -> Result<(), Halt> {
    if window.more()? { Ok(()) } else { Err(Halt::Cut) }
}

fn top(window: &mut Window<'_>, visitor: &mut impl Visitor, ending: &mut Ending) -> Result<(), Halt> {
    if next(window)? == b'[' {
        return events(window, visitor, ending);
    }
    window.advance(1);
    loop {
        match next(window)? {
            b'}' => return Ok(()),
            b'"' => member(window, visitor, ending)?,
            b',' => window.advance(1),
            _ => {
                ending.broken += 1;
                if ending.broken > MOST_BROKEN {
                    return Err(Halt::Cut);
                }
                window.advance(1);
            }
        }
    }
}

/// One key of the top level with its value.
fn member(window: &mut Window<'_>, visitor: &mut impl Visitor, ending: &mut Ending) -> Result<(), Halt> {
    let key = loop {
        match string(window.rest(), 0) {
            Ok(end) => break end,
            Err(_) => more(window)?,
        }
    };
    let name = window.rest()[1..key - 1].to_vec();
    window.advance(key);
    if next(window)? != b':' {
        ending.broken += 1;
        return Ok(());
    }
    window.advance(1);
    if next(window)? == b'[' && name == b"traceEvents" {
        return events(window, visitor, ending);
    }
    loop {
        let rest = window.rest();
        match value(rest, 0) {
            Ok(end) => {
                visitor.block(&name, Some(&rest[..end]));
                window.advance(end);
                return Ok(());
            }
            Err(Stop::More) if rest.len() < LONGEST_BLOCK => more(window)?,
            Err(Stop::More) => {
                visitor.block(&name, None);
                return pass(window);
            }
            Err(Stop::Bad) => {
                ending.broken += 1;
                return Ok(());
            }
        }
    }
}

/// Leaves an object, array or string of any length behind.
pub(super) fn pass(window: &mut Window<'_>) -> Result<(), Halt> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    loop {
        let rest = window.rest();
        for (at, byte) in rest.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 && !in_string {
                window.advance(at + 1);
                return Ok(());
            }
        }
        let all = rest.len();
        window.advance(all);
        more(window)?;
    }
}

/// The array of events whose bracket is next.
fn events(window: &mut Window<'_>, visitor: &mut impl Visitor, ending: &mut Ending) -> Result<(), Halt> {
    window.advance(1);
    loop {
        let found = match next(window)? {
            b']' => {
                window.advance(1);
                return Ok(());
            }
            b',' => {
                window.advance(1);
                continue;
            }
            b'{' => event(window.rest()).map(|(event, end)| {
                visitor.event(&event);
                end
            }),
            _ => value(window.rest(), 0),
        };
        match found {
            Ok(end) => window.advance(end),
            Err(Stop::More) => more(window)?,
            Err(Stop::Bad) => {
                ending.broken += 1;
                if ending.broken > MOST_BROKEN {
                    return Err(Halt::Cut);
                }
                window.advance(1);
                resume(window)?;
            }
        }
    }
}

/// Leaves behind what is before the next event.
fn resume(window: &mut Window<'_>) -> Result<(), Halt> {
    loop {
        let rest = window.rest();
        for at in memchr::memchr_iter(b'{', rest) {
            let follows = blank(rest, at + 1).map(|key| FIRST_KEYS.iter().any(|first| rest[key..].starts_with(first)));
            let before = rest[..at].trim_ascii_end().last();
            // Events stand behind a comma; an object within one, behind a colon.
            if follows == Ok(true) && before == Some(&b',') {
                window.advance(at);
                return Ok(());
            }
        }
        // A comma and blanks may stand before the rest of it.
        let seen = rest.len().saturating_sub(256);
        window.advance(seen);
        more(window)?;
    }
}
