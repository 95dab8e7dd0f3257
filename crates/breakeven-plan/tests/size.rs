//! A plan as large as teams have: 50 workloads, every GPU of the catalogue, every way to pay.

use breakeven::answer::answer_request;
use breakeven::hardware::Catalogue;
use breakeven_plan::{Answered, Plan, draw_up, questions, read};

/// Workloads whose matrices differ; `times` as many runs as a small team has.
fn plan(workloads: usize, times: usize) -> Plan {
    let work = |n: usize| {
        let size = 2000 + 517 * n;
        let (runs, hours) = (times * (50 + 997 * (n * 7 % 13)), 1 + n % 24);
        format!(
            "[[workload]]\nname = \"w{n}\"\nnumbers = {{ matmul = {size} }}\nruns_per_month = {runs}\ndeadline = \"{hours}h\"\n"
        )
    };
    let text: String = (0..workloads).map(work).collect();
    Plan::of(&read(&text).unwrap(), Catalogue::embedded()).unwrap()
}

fn answered(plan: &Plan) -> Vec<Answered> {
    let all = questions(plan, "2026-11-30").into_iter();
    all.map(|question| {
        let estimate = answer_request(&question.request).unwrap();
        Answered { question, library: None, estimate }
    })
    .collect()
}

#[test]
fn fifty_workloads_are_planned_within_a_hundredth_of_the_optimum() {
    for times in [1, 300] {
        let plan = plan(50, times);
        let began = std::time::Instant::now();
        let answers = answered(&plan);
        let estimated = began.elapsed();
        let answer = draw_up(&plan, Catalogue::embedded(), &answers, "2026-11-30").unwrap();
        println!("estimates {estimated:?}, plan {:?}: {}", began.elapsed() - estimated, answer.summary.sentence);
        let mix = answer.mix.unwrap();
        println!("{:?} {} {}", mix.gap, mix.left_out, mix.what);
        assert!(mix.gap.unwrap() <= 0.01, "{:?} {}", mix.gap, mix.left_out);
        assert!(answer.unmet.is_empty());
    }
}
