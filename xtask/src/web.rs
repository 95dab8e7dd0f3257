//! The pages: TypeScript checked and bundled by Node, everything of a page put into one file.

use crate::html;
use crate::shell::{Result, output, read, root, run, write};
use crate::wasm;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a page is made of; paths from `web/src`.
struct Source {
    name: &'static str,
    engine: (&'static str, &'static str),
    features: &'static [&'static str],
    template: &'static str,
    script: &'static str,
    style: &'static str,
    /// `esm`, or `iife` for a script that is a worker's, too: opened from disk, a page cannot start a module as one.
    format: &'static str,
}

const SOURCES: [Source; 2] = [
    Source {
        name: "page.html",
        engine: ("breakeven-wasm", "engine"),
        features: wasm::OF_CALCULATOR,
        template: "page.html",
        script: "main.ts",
        style: "page.css",
        format: "esm",
    },
    Source {
        name: "report.html",
        engine: ("breakeven-report-wasm", "report_engine"),
        features: wasm::OF_REPORT,
        template: "report/report.html",
        script: "report/main.ts",
        style: "report/report.css",
        format: "iife",
    },
];

/// A built page: its file, and what is in it.
pub(crate) struct Page {
    path: String,
    text: String,
}

/// Builds the pages from their sources; where a name is given, that one alone.
pub(crate) fn build(only: Option<&str>) -> Result<Vec<Page>> {
    let known = || SOURCES.map(|source| source.name).join(", ");
    if let Some(name) = only.filter(|name| SOURCES.iter().all(|source| source.name != *name)) {
        return Err(format!("there is no page `{name}`; there are {}", known()));
    }
    let web = root().join("web");
    if !web.join("node_modules").exists() {
        run(Command::new("npm").current_dir(&web).args(["ci", "--silent"]))?;
    }
    // Both, whatever is wanted: all sources are checked together, against the types of both engines.
    let engines = SOURCES.iter().map(|source| wasm::build(source.engine.0, source.engine.1, source.features));
    let engines = engines.collect::<Result<Vec<PathBuf>>>()?;
    run(Command::new(tool(&web, "tsc")).current_dir(&web).arg("--noEmit"))?;
    let wanted = SOURCES.iter().zip(engines).filter(|(source, _)| only.is_none_or(|only| only == source.name));
    wanted.map(|(source, engine)| page(&web, source, &engine)).collect()
}

fn page(web: &Path, source: &Source, engine: &Path) -> Result<Page> {
    let bundle = |entry: &str| {
        output(Command::new(tool(web, "esbuild")).current_dir(web).arg(format!("src/{entry}")).args([
            "--bundle",
            "--minify",
            &format!("--format={}", source.format),
            "--target=es2022",
            "--charset=utf8",
        ]))
    };
    // A fiftieth smaller than the bundler makes it: every byte of a report counts.
    let squeezed = |script: String| {
        let file = engine.join(format!("{}.js", source.name));
        write(&file, script.as_bytes())?;
        let module = (source.format == "esm").then_some("--module");
        output(Command::new(tool(web, "terser")).arg(file).args(module).args([
            "--compress",
            "passes=3,ecma=2020",
            "--mangle",
        ]))
    };
    let wasm = engine.join(format!("{}_bg.wasm", source.engine.1));
    let wasm = std::fs::read(&wasm).map_err(|e| format!("cannot read {}: {e}", wasm.display()))?;
    let text = html::assemble(&html::Parts {
        template: &read(&web.join("src").join(source.template))?,
        script: &squeezed(bundle(source.script)?)?,
        style: &bundle(source.style)?,
        wasm: &wasm,
    })?;
    Ok(Page { path: format!("crates/breakeven-page/assets/{}", source.name), text })
}

/// Puts the pages where the other crates take them from.
pub(crate) fn write_pages(pages: &[Page]) -> Result<()> {
    for Page { path, text } in pages {
        write(&root().join(path), text.as_bytes())?;
        eprintln!("{path}: {} bytes, {} compressed", text.len(), html::deflate(text.as_bytes())?.len());
    }
    Ok(())
}

/// Fails if a committed page is not what the sources give.
pub(crate) fn check(pages: &[Page]) -> Result<()> {
    for Page { path, text } in pages {
        if read(&root().join(path))? != *text {
            return Err(format!("{path} is stale; run `cargo xtask web` and commit it"));
        }
    }
    Ok(())
}

fn tool(web: &Path, name: &str) -> PathBuf {
    web.join("node_modules/.bin").join(name)
}
