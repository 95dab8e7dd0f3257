//! One file a command.

mod completions;
mod estimate;
mod gpus;

pub(crate) use completions::completions;
pub(crate) use estimate::estimate;
pub(crate) use gpus::gpus;
