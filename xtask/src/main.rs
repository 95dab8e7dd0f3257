//! Builds what is generated and committed: `cargo xtask web` makes the page, `cargo xtask wasm-digits` proves that the
//! engine says the same in the browser as natively.

mod digits;
mod html;
mod shell;
mod wasm;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask web [--check]   build crates/breakeven-page/assets/page.html (--check: fail if it is stale)
       cargo xtask wasm-digits     answer 2 000 requests natively and on wasm, and compare the bytes";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["web"] => web::build().and_then(|page| web::write_page(&page)),
        ["wasm-digits"] => digits::check(),
        ["web", "--check"] => web::build().and_then(|page| web::check(&page)),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
