//! A model file as `import` answers it: its workload, estimated as `show` estimates a recording.

use super::{drawing, estimate::policy, run::save};
use crate::args::ImportArgs;
use crate::config::Settings;
use crate::failure::Outcome;
use crate::{cores, input, output};
use breakeven::estimate::{ModelFile, Note};
use breakeven::request::{Options, Request};
use breakeven_import::{Given, Model, Source, read_model};

/// Reads the file and reports on it.
pub(super) fn import(source: Source, args: &ImportArgs, settings: &Settings) -> Outcome {
    let dims: Vec<&str> = args.model.dim.iter().map(String::as_str).collect();
    let given = Given::read(&args.model.shape, &dims, args.model.runs.unwrap_or(1))?;
    let mut model = output::working("reading", || read_model(source, &given))?;
    // The CPU to compare with is that of whoever asks, also when the workload is shown again.
    let machine = input::machine();
    (model.workload.program.cpu, model.workload.program.cpu_threads) = (machine.cpu, machine.cpu_threads);
    let about = about(&model);
    if let Some(file) = &args.save {
        save(&model.workload, file)?;
    }
    let request = Request {
        today: input::today(),
        workload: Some(Box::new(model.workload)),
        options: Options { timeline: args.drawing.wanted(), ..args.options.options(settings)? },
        ..Request::default()
    };
    let mut answer = output::working("estimating", || cores::answer(&request))?;
    answer.model = Some(about);
    if let Some(workload) = &request.workload {
        drawing::write(&args.drawing, workload, &request, &mut answer, args.report.quiet)?;
    }
    output::deliver(&answer, &args.report)?;
    Ok(policy(&answer))
}

/// What the file says of itself, for the answer.
fn about(model: &Model) -> ModelFile {
    ModelFile {
        kind: model.kind.to_owned(),
        version: model.version.clone(),
        producer: model.producer.clone(),
        parameters: model.parameters,
        parameter_bytes: model.parameter_bytes,
        ops: model.ops.values().sum(),
        op_types: model.ops.clone(),
        not_read: model.not_read.iter().map(|note| Note::new(note.code, note.text.clone())).collect(),
    }
}
