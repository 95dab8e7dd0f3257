//! Cells as values: moments, lengths of time, amounts of memory, shares, states, what Slurm counts.

mod amount;
mod state;
mod time;
mod tres;

pub use amount::{amount, bytes, share, unit};
pub use state::State;
pub use time::{Moment, length, moment};
pub use tres::{Gres, Tres, gres};

/// Words by which Slurm says that it does not know, or that there is no limit.
pub(crate) fn is_nothing(text: &str) -> bool {
    const WORDS: [&str; 10] =
        ["", "unknown", "none", "n/a", "[n/a]", "invalid", "unlimited", "partition_limit", "not_set", "null"];
    text.len() <= 15 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}
