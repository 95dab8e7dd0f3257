//! The page and the HTTP API of `breakeven serve`: text in, text out, by the one engine.
//!
//! [`run`] serves until Ctrl-C or SIGTERM, [`serve`] until it is told. Nothing that a request says is opened, fetched or
//! executed: a request carries everything its answer needs. What goes wrong is the engine's one error in JSON with its
//! status (`refusal.rs`); a panic of the engine ends one request, not the server.

mod guard;
mod listen;
mod openapi;
mod page;
mod refusal;
mod routes;
mod settings;
mod work;

pub use listen::{run, serve};
pub use openapi::document;
pub use settings::{Hosts, Settings};
