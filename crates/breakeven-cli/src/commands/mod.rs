//! One file a command.

mod completions;
mod doctor;
mod estimate;
mod gpus;
mod prices;

pub(crate) use completions::completions;
pub(crate) use doctor::doctor;
pub(crate) use estimate::estimate;
pub(crate) use gpus::gpus;
pub(crate) use prices::prices;
