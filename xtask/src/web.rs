//! The page: TypeScript checked and bundled by Node, everything put into one file.

use crate::html;
use crate::shell::{Result, output, read, root, run, write};
use crate::wasm;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = "crates/breakeven-page/assets/page.html";

/// Builds the page from its sources.
pub(crate) fn build() -> Result<String> {
    let bindings = wasm::build()?;
    let web = root().join("web");
    if !web.join("node_modules").exists() {
        run(Command::new("npm").current_dir(&web).args(["ci", "--silent"]))?;
    }
    run(Command::new(tool(&web, "tsc")).current_dir(&web).arg("--noEmit"))?;
    let bundle = |entry: &str| {
        output(Command::new(tool(&web, "esbuild")).current_dir(&web).args([
            entry,
            "--bundle",
            "--minify",
            "--format=esm",
            "--target=es2022",
            "--charset=utf8",
        ]))
    };
    let wasm = bindings.join("engine_bg.wasm");
    let wasm = std::fs::read(&wasm).map_err(|e| format!("cannot read {}: {e}", wasm.display()))?;
    html::assemble(&html::Parts {
        template: &read(&web.join("src/page.html"))?,
        script: &bundle("src/main.ts")?,
        style: &bundle("src/page.css")?,
        wasm: &wasm,
    })
}

/// Puts the page where the other crates take it from.
pub(crate) fn write_page(page: &str) -> Result<()> {
    write(&root().join(PAGE), page.as_bytes())?;
    eprintln!("{PAGE}: {} bytes, {} compressed", page.len(), html::deflate(page.as_bytes())?.len());
    Ok(())
}

/// Fails if the committed page is not what the sources give.
pub(crate) fn check(page: &str) -> Result<()> {
    if read(&root().join(PAGE))? == page {
        Ok(())
    } else {
        Err(format!("{PAGE} is stale; run `cargo xtask web` and commit it"))
    }
}

fn tool(web: &Path, name: &str) -> PathBuf {
    web.join("node_modules/.bin").join(name)
}
