//! A session in a file: `breakeven.watch/1`, packed.
//!
//! The file is a row of zstd frames, one a minute, each whole by itself, so that a run that is killed loses its last minute
//! alone. Unpacked (`zstdcat`) it is lines of text. The first is the head, JSON: the format, the GPUs, what was watched.
//! Then each frame has
//!
//! - `samples N`,
//! - a line for each value that is known at all, `0.watts` or `host.cores`, with N differences as [`code`] writes them,
//!   `at` (ms) and `whole` among them,
//! - `users` and, where there is something new, `note`, both JSON.
//!
//! The last frame ends with `end` and how many samples were missed. Values are rounded to the steps of
//! [`Field::ALL`](crate::Field::ALL).

pub(crate) mod code;
mod columns;
mod head;
mod read;
mod write;

pub(crate) use head::vendor;
pub use read::{Event, Reader, replay};
pub use write::Writer;

/// What the head says of the format.
pub(crate) const FORMAT: &str = "breakeven.watch/1";
