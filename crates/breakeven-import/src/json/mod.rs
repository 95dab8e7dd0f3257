//! JSON as tracers write it: in pieces, and with what strict readers refuse.
//!
//! Control characters in strings, escapes that do not exist, commas too many, NaN and keys that come twice (the last
//! one holds) are all met in files of bug reports, and none of them stops the reading.

mod event;
mod scan;
mod tree;
mod walk;
mod window;

pub(crate) use event::{Event, members};
pub(crate) use scan::text;
pub(crate) use tree::{Climber, Go, climb};
pub(crate) use walk::{Ending, Visitor, walk};
pub(crate) use window::Window;
