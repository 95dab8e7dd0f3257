//! `breakeven show FILE…`: saved workloads again.

use super::{drawing, estimate::policy, sizes};
use crate::args::ShowArgs;
use crate::config::Settings;
use crate::failure::{Failure, Outcome};
use crate::{cores, input, output};
use breakeven::request::{Options, Request, Sized, Sizes};
use breakeven::workload::Workload;
use breakeven::workload::merge::merge;
use std::path::PathBuf;

/// Runs the command.
pub(crate) fn show(args: &ShowArgs, settings: &Settings) -> Outcome {
    let stdout = PathBuf::from("-");
    let output = args.report.output.as_ref().unwrap_or(&stdout);
    output::apart(&[&[("the report", Some(output))][..], &args.drawing.files()].concat(), &args.files)?;
    let parts = output::working("reading", || {
        args.files.iter().map(|file| input::workload(file)).collect::<Result<Vec<_>, Failure>>()
    })?;
    let (workload, sizes) = match &args.scale {
        Some(list) => of_sizes(parts, list)?,
        None => (merge(in_order(parts, &args.files)), None),
    };
    let request = Request {
        today: input::today(),
        workload: workload.map(Box::new),
        sizes,
        options: Options { timeline: args.drawing.wanted(), ..args.program.of(args.options.options(settings)?) },
        ..Request::default()
    };
    let mut answer = output::working("estimating", || cores::answer(&request))?;
    if let Some(workload) = &request.workload {
        drawing::write(&args.drawing, workload, &request, &mut answer, args.report.quiet)?;
    }
    output::deliver(&answer, &args.report)?;
    Ok(policy(&answer))
}

/// The parts in the order in which they began, whatever the order of their files: the first one is the parent.
fn in_order(parts: Vec<Workload>, files: &[PathBuf]) -> Vec<Workload> {
    let mut parts: Vec<_> = parts.into_iter().zip(files).collect();
    parts.sort_by_key(|(part, file)| (part.program.start_unix_ms.unwrap_or(u64::MAX), *file));
    parts.into_iter().map(|(part, _)| part).collect()
}

/// The files as runs of the sizes in `list`.
fn of_sizes(parts: Vec<Workload>, list: &str) -> Result<(Option<Workload>, Option<Sizes>), Failure> {
    let scales = sizes::read(list)?;
    if parts.len() != scales.others.len() + 1 {
        let message = format!("--scale names {} sizes, and there are {} files", scales.others.len() + 1, parts.len());
        return Err(Failure::new("bad-sizes", message, "one size for each file, in the same order"));
    }
    let mut parts = parts;
    let main = parts.remove(scales.main_at);
    let run =
        |(workload, (_, scale)): (Workload, &(String, f64))| Sized { scale: *scale, workload: Box::new(workload) };
    let others = parts.into_iter().zip(&scales.others).map(run).collect();
    Ok((Some(main), Some(Sizes { now: scales.main.1, others })))
}
