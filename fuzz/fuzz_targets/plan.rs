//! Any text as a plan file: no panic; what is accepted has figures that can be computed with, and is drawn up.
#![no_main]

use breakeven::hardware::Catalogue;
use breakeven_plan::{Plan, Source, draw_up, read, report};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // As it is, and as the rest of a plan that has a workload, which random bytes seldom hit.
    let work = "[[workload]]\ntimes = { l4 = 60, cpu = 900 }\nruns_per_month = 100\n";
    for text in [text.to_owned(), format!("{work}{text}"), format!("{text}\n{work}")] {
        let Ok(plan) = read(&text).and_then(|text| Plan::of(&text, Catalogue::embedded())) else { continue };
        assert!(plan.months > 0 && !plan.works.is_empty() && !plan.ways.is_empty());
        for work in &plan.works {
            assert!(work.runs > 0.0 && work.deadline_s > 0.0 && work.at_once >= 1.0);
            assert!(work.runs.is_finite() && work.deadline_s.is_finite() && work.growth > -1.0);
        }
        // Times need no engine: such plans are followed to their end.
        if plan.works.len() < 4 && plan.works.iter().all(|work| matches!(work.source, Source::Times(..))) {
            let answer = draw_up(&plan, Catalogue::embedded(), &[], "2026-11-30").expect("plans draw up");
            assert!(answer.summary.cost.is_none_or(|cost| cost.p10.is_finite() && cost.p90.is_finite()));
            assert!(!report::text(&answer, false, None).is_empty() && report::html(&answer).ends_with("</html>\n"));
        }
    }
});
