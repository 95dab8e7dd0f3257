//! `breakeven diff BEFORE AFTER`: what changed between two traces.

use super::import::read_all;
use crate::args::{DiffArgs, TraceFormat};
use crate::failure::{Outcome, say};
use crate::output;
use breakeven::Result;
use breakeven_import::diff::{Condition, Difference, Side, json, markdown, text};
use breakeven_import::{Source, Summary};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn diff(args: &DiffArgs) -> Outcome {
    let given = [args.before.clone(), args.after.clone()];
    output::apart(&[("--output", args.output.as_ref())], &given)?;
    let conditions = args.fail_if.iter().map(|text| Condition::read(text)).collect::<Result<Vec<_>>>()?;
    let difference = Difference::of(&side(&args.before)?, &side(&args.after)?);
    let shown = match args.format {
        TraceFormat::Text => text(&difference),
        TraceFormat::Json => json(&difference),
        TraceFormat::Markdown => markdown(&difference),
    };
    output::write_to(args.output.as_deref(), shown.as_bytes())?;
    let failed: Vec<_> = conditions.iter().filter(|condition| condition.fails(&difference)).collect();
    for condition in &failed {
        say(&format!("--fail-if: `{}` holds, or is not known", condition.text));
    }
    Ok(ExitCode::from(u8::from(!failed.is_empty())))
}

/// A run: totals that were saved, or traces.
fn side(path: &Path) -> Result<Side> {
    if !path.is_dir() {
        let mut source = Source::open(path)?;
        if Side::is_saved(source.head()) {
            let mut text = String::new();
            let _ = source.read_to_string(&mut text);
            return Side::saved(&path.display().to_string(), &text);
        }
        if path.as_os_str() == "-" {
            return Ok(Side::of(&Summary::of(vec![breakeven_import::read(source)?])));
        }
    }
    Ok(Side::of(&Summary::of(read_all(&[path.to_owned()])?)))
}
