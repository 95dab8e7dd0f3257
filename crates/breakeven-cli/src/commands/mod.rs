//! One file a command.

mod completions;
mod config;
mod cpus;
mod diff;
mod doctor;
mod drawing;
mod estimate;
mod figures;
mod gpus;
mod grids;
mod import;
mod kernels;
mod misplaced;
mod prices;
mod run;
mod serve;
mod show;
mod sizes;
mod typed;
mod update;

pub(crate) use completions::completions;
pub(crate) use config::config;
pub(crate) use cpus::cpus;
pub(crate) use diff::diff;
pub(crate) use doctor::doctor;
pub(crate) use estimate::estimate;
pub(crate) use gpus::gpus;
pub(crate) use grids::grids;
pub(crate) use import::import;
pub(crate) use kernels::kernels;
pub(crate) use prices::prices;
pub(crate) use run::run;
pub(crate) use serve::serve;
pub(crate) use show::show;
