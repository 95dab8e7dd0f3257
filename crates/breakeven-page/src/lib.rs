//! The built page: one self-contained HTML file, written by `cargo xtask web` from `web/` and `crates/breakeven-wasm`.
//!
//! It is committed so that whoever serves it or writes it to disk needs neither Node nor a wasm toolchain.

/// The page, UTF-8 HTML. It makes no request of its own: engine, script and styles are inside.
///
/// ```
/// assert!(breakeven_page::PAGE.starts_with("<!doctype html>"));
/// ```
pub const PAGE: &str = include_str!("../assets/page.html");
