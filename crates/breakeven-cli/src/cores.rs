//! The engine, its GPUs spread over the cores of this machine.

use breakeven::answer::answer_request_by;
use breakeven::estimate::Estimate;
use breakeven::request::Request;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Starting threads takes about as long: what is shorter is not spread.
const SHORT: Duration = Duration::from_millis(1);

/// [`breakeven::answer::answer_request`] on all cores.
pub(crate) fn answer(request: &Request) -> breakeven::Result<Estimate> {
    answer_request_by(request, &|jobs, job| {
        let began = Instant::now();
        (0..jobs.min(1)).for_each(job);
        if began.elapsed() < SHORT {
            (1..jobs).for_each(job);
        } else {
            (1..jobs).into_par_iter().for_each(job);
        }
    })
}
