//! A JSON text of any size, gone through as a tree: branches are entered, taken whole, or passed by.

use super::scan::{Stop, string, value};
use super::walk::{Ending, Halt, more, next, pass};
use super::window::Window;
use std::io;

/// What to do with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    /// Go through what it holds.
    Enter,
    /// Take it whole.
    Take,
    /// Leave it.
    Pass,
}

/// Who goes through a tree. A path is the keys from the root; those of elements of arrays are empty.
pub(crate) trait Climber {
    /// What to do with the value at a path.
    fn go(&mut self, path: &[Vec<u8>]) -> Go;
    /// Takes a value as it stands.
    fn take(&mut self, path: &[Vec<u8>], value: &[u8]);
}

/// No branch that is entered lies deeper.
const DEEPEST: usize = 16;

/// Goes through all that a file holds, as far as it is JSON.
pub(crate) fn climb(window: &mut Window<'_>, climber: &mut impl Climber) -> io::Result<Ending> {
    let mut ending = Ending::default();
    match branch(window, &mut Vec::new(), climber) {
        Ok(()) => {}
        Err(Halt::Cut) => ending.cut = Some(window.passed() + window.rest().len() as u64),
        Err(Halt::Io(error)) => return Err(error),
    }
    Ok(ending)
}

/// The object or array that is next.
fn branch(window: &mut Window<'_>, path: &mut Vec<Vec<u8>>, climber: &mut impl Climber) -> Result<(), Halt> {
    let object = next(window)? == b'{';
    window.advance(1);
    path.push(Vec::new());
    loop {
        match next(window)? {
            b'}' | b']' => {
                window.advance(1);
                path.pop();
                return Ok(());
            }
            b',' => {
                window.advance(1);
                continue;
            }
            b'"' if object => {
                let end = whole(window, string)?;
                if let Some(key) = path.last_mut() {
                    key.clear();
                    key.extend_from_slice(&window.rest()[1..end - 1]);
                }
                window.advance(end);
                if next(window)? != b':' {
                    return Err(Halt::Cut);
                }
                window.advance(1);
            }
            _ if object => return Err(Halt::Cut),
            _ => {}
        }
        let nested = matches!(next(window)?, b'{' | b'[');
        match climber.go(path) {
            Go::Enter if nested && path.len() < DEEPEST => branch(window, path, climber)?,
            Go::Pass if nested => pass(window)?,
            go => {
                let end = whole(window, value)?;
                if go == Go::Take {
                    climber.take(path, &window.rest()[..end]);
                }
                window.advance(end);
            }
        }
    }
}

/// Has all of a value at hand, and gives the place behind it.
fn whole(window: &mut Window<'_>, end: fn(&[u8], usize) -> Result<usize, Stop>) -> Result<usize, Halt> {
    loop {
        match end(window.rest(), 0) {
            Ok(end) => return Ok(end),
            Err(Stop::More) => more(window)?,
            Err(Stop::Bad) => return Err(Halt::Cut),
        }
    }
}
