//! Builds what is generated and committed: `cargo xtask web` makes the pages, `cargo xtask catalogue` refreshes prices, `cargo xtask wasm-digits` proves that the
//! engine says the same in the browser as natively.

mod catalogue;
mod digits;
mod html;
mod shell;
mod wasm;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask web [--check] [PAGE]   build the pages of crates/breakeven-page/assets (--check: fail if one is stale);
                                          page.html or report.html builds that one alone
       cargo xtask catalogue [SOURCE=FILE …]  refresh the embedded prices and print what changes: from the lists of
                                          the Karpenter providers, or from files
       cargo xtask wasm-digits            answer 2 000 requests natively and on wasm, and compare the bytes";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["web"] => web::build(None).and_then(|pages| web::write_pages(&pages)),
        ["web", "--check"] => web::build(None).and_then(|pages| web::check(&pages)),
        ["web", "--check", page] => web::build(Some(page)).and_then(|pages| web::check(&pages)),
        ["web", page] => web::build(Some(page)).and_then(|pages| web::write_pages(&pages)),
        ["catalogue", ..] => catalogue::refresh(&args[1..]),
        ["wasm-digits"] => digits::check(),
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
