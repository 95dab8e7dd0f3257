//! Asking about a workload, as a face does.

use breakeven::answer::answer_request;
use breakeven::estimate::Estimate;
use breakeven::request::{Options, Request};
use breakeven::workload::Workload;

pub(crate) fn ask(workload: Workload, options: Options) -> Estimate {
    let request =
        Request { today: "2026-11-21".into(), workload: Some(Box::new(workload)), options, ..Request::default() };
    answer_request(&request).unwrap()
}

pub(crate) fn on(gpu: &str) -> Options {
    Options { gpu: vec![gpu.into()], ..Options::default() }
}
