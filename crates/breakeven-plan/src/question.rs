//! What the engine is asked for a plan: each distinct workload once, in each precision allowed.

use crate::plan::{Plan, Source};
use breakeven::estimate::Estimate;
use breakeven::port;
use breakeven::request::{Options, Request};
use breakeven::workload::Workload;

/// A question to the engine. Where `recording` is set, the face puts that workload into the request.
#[derive(Clone, Debug)]
pub struct Question {
    /// Workloads of the plan that it is about, by their place.
    pub works: Vec<usize>,
    /// The saved workload, by its path.
    pub recording: Option<String>,
    /// The precision asked for.
    pub precision: Option<String>,
    /// What is asked.
    pub request: Request,
}

/// An answer of the engine, with the question.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The question.
    pub question: Question,
    /// The GPU library that the program needs; `None` for numbers.
    pub library: Option<&'static str>,
    /// On every GPU of the catalogue.
    pub estimate: Estimate,
}

/// Every question of a plan; none for workloads whose times are given.
pub fn questions(plan: &Plan, today: &str) -> Vec<Question> {
    let mut all: Vec<(&Source, bool, Question)> = Vec::new();
    for (n, work) in plan.works.iter().enumerate() {
        let precisions = match work.precision.as_slice() {
            [] => vec![None],
            some => some.iter().cloned().map(Some).collect(),
        };
        for precision in precisions {
            let same = |(source, warm, q): &&mut (&Source, bool, Question)| {
                *source == &work.source && *warm == work.warm && q.precision == precision
            };
            if let Some((.., known)) = all.iter_mut().find(same) {
                known.works.push(n);
                continue;
            }
            let options = Options { exclude_startup: work.warm, ..Options::default() };
            let mut request = Request { today: today.to_owned(), options, ..Request::default() };
            let recording = match &work.source {
                Source::Times(..) => continue,
                Source::Numbers(numbers) => {
                    let mut numbers = numbers.clone();
                    numbers.precision = precision.clone().or(numbers.precision);
                    request.numbers = Some(*numbers);
                    None
                }
                Source::Recording(path) => {
                    request.options.precision.clone_from(&precision);
                    Some(path.clone())
                }
            };
            all.push((&work.source, work.warm, Question { works: vec![n], recording, precision, request }));
        }
    }
    all.into_iter().map(|(.., question)| question).collect()
}

/// The GPU library of a program: that of its first call on arrays.
pub fn library(workload: &Workload) -> Option<&'static str> {
    workload.ops.iter().find(|entry| entry.op.is_array_work()).map(|entry| port::of(&entry.name).name)
}
