//! `breakeven plan PLAN.toml`: what to buy or rent for runs a month and their deadlines.

use crate::args::{PlanArgs, PlanFormat};
use crate::failure::{Failure, Outcome, say};
use crate::{cores, input, output};
use breakeven::Result;
use breakeven::hardware::Catalogue;
use breakeven::request::Typed;
use breakeven_plan::{Answered, Condition, GrowthText, Plan, PlanText, Question, WorkText, draw_up, report};
use breakeven_plan::{library, questions};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn plan(args: &PlanArgs) -> Outcome {
    output::apart(&[("--output", args.output.as_ref()), ("--html", args.html.as_ref())], &args.files)?;
    let conditions = args.fail_if.iter().map(|text| Condition::read(text)).collect::<Result<Vec<_>>>()?;
    let (text, folder) = plan_text(args)?;
    let override_text = input::catalogue_text(args.catalogue.as_deref(), text.cloud.region.as_deref())?;
    let catalogue = Catalogue::embedded().and(override_text.as_deref())?;
    let plan = Plan::of(&text, &catalogue)?;
    let today = input::today();
    let answered = output::working("estimating", || {
        let all = questions(&plan, &today).into_par_iter();
        all.map(|question| answered(question, &plan, &folder, override_text.as_ref()))
            .collect::<std::result::Result<Vec<_>, _>>()
    })?;
    let answer = output::working("planning", || draw_up(&plan, &catalogue, &answered, &today))?;
    if let Some(file) = &args.html {
        output::write_to(Some(file), report::html(&answer).as_bytes())?;
        output::wrote(file);
    }
    let shown = match args.format {
        PlanFormat::Text => report::text(&answer, args.quiet, output::columns()),
        PlanFormat::Json => report::json(&answer),
        PlanFormat::Markdown => report::markdown(&answer, args.quiet),
    };
    output::write_to(args.output.as_deref(), shown.as_bytes())?;
    let failed: Vec<_> = conditions.iter().filter(|condition| condition.fails(&answer)).collect();
    for condition in &failed {
        say(&format!("--fail-if: `{}` holds, or is not known", condition.text));
    }
    Ok(ExitCode::from(u8::from(!failed.is_empty())))
}

/// The plan file, or the plan that recordings and options mean; and the folder that recordings are looked for in.
fn plan_text(args: &PlanArgs) -> std::result::Result<(PlanText, PathBuf), Failure> {
    let is_plan = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    let (mut text, folder) = match args.files.as_slice() {
        [file] if is_plan(file) => {
            let text = breakeven_plan::read(&input::text(file)?).map_err(|mut error| {
                error.message = format!("{}: {}", file.display(), error.message);
                error
            })?;
            (text, file.parent().map(Path::to_owned).unwrap_or_default())
        }
        files if files.iter().any(|file| is_plan(file)) => {
            let message = "a plan file stands alone: it names its workloads itself";
            return Err(Failure::new("bad-plan", message, "add `[[workload]]` with `recording` to the plan file"));
        }
        files => {
            let work = |file: &PathBuf| WorkText { recording: Some(file.display().to_string()), ..WorkText::default() };
            (PlanText { workload: files.iter().map(work).collect(), ..PlanText::default() }, PathBuf::new())
        }
    };
    let typed = |text: &String| Typed::Text(text.clone());
    for work in &mut text.workload {
        work.runs_per_month = args.runs_per_month.as_ref().map(typed).or(work.runs_per_month.take());
        if args.deadline.is_some() || args.latency.is_some() {
            work.deadline = args.deadline.as_ref().map(typed);
            work.latency = args.latency.as_ref().map(typed);
        }
        work.growth = args.growth.clone().map(GrowthText::Text).or(work.growth.take());
        if !args.precision.is_empty() {
            work.precision.clone_from(&args.precision);
        }
    }
    text.months = args.months.or(text.months);
    text.currency = args.currency.clone().or(text.currency);
    text.per_usd = args.per_usd.or(text.per_usd);
    text.site.region = args.region.clone().or(text.site.region);
    text.site.electricity = args.electricity.as_ref().map(typed).or(text.site.electricity);
    for (given, list) in [
        (&args.gpu, &mut text.allow.gpus),
        (&args.provider, &mut text.allow.providers),
        (&args.way, &mut text.allow.ways),
    ] {
        if !given.is_empty() {
            list.clone_from(given);
        }
    }
    Ok((text, folder))
}

/// The engine's answer to one question. Errors name the workload.
fn answered(
    mut question: Question,
    plan: &Plan,
    folder: &Path,
    catalogue: Option<&String>,
) -> std::result::Result<Answered, Failure> {
    question.request.options.catalogue = catalogue.cloned();
    question.request.machine = Some(input::machine());
    let mut named = None;
    if let Some(recording) = &question.recording {
        let workload = input::workload(&folder.join(recording))?;
        named = library(&workload);
        question.request.workload = Some(Box::new(workload));
        question.request.machine = None;
    }
    let estimate = cores::answer(&question.request).map_err(|mut error| {
        let name = question.works.first().map_or("", |n| &plan.works[*n].name);
        error.message = format!("workload `{name}`: {}", error.message);
        error
    })?;
    question.request.workload = None;
    Ok(Answered { question, library: named, estimate })
}
