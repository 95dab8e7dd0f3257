//! What holds of every plan: more work never costs less, more time and more choice never more, a mix never more than
//! its
//! best part.

use breakeven::hardware::Catalogue;
use breakeven_plan::{Answer, Plan, draw_up, read};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Work {
    l4: f64,
    h100: f64,
    runs: f64,
    deadline_h: f64,
    at_once: u32,
    interruptible: bool,
}

fn work() -> impl Strategy<Value = Work> {
    (1.0..20_000.0f64, 1.0..10.0f64, 1.0..3000.0f64, 1.0..48.0f64, 1u32..5, any::<bool>()).prop_map(
        |(l4, faster, runs, deadline_h, at_once, interruptible)| Work {
            l4,
            h100: l4 / faster,
            runs,
            deadline_h,
            at_once,
            interruptible,
        },
    )
}

fn drawn(works: &[Work], growth: f64, more: &str) -> Answer {
    let one = |w: &Work| {
        format!(
            "[[workload]]\ntimes = {{ l4 = {}, h100-sxm5-80gb = {} }}\nruns_per_month = {}\ndeadline = {}\nat_once = {}\n\
             interruptible = {}\ngrowth = {growth}\n",
            w.l4,
            w.h100,
            w.runs.ceil(),
            w.deadline_h * 3600.0,
            w.at_once,
            w.interruptible
        )
    };
    let text: String = works.iter().map(one).collect();
    let prices = "[rent.on-demand]\nl4 = 0.8\nh100-sxm5-80gb = 3.0\n[rent.spot]\nl4 = 0.3\nh100-sxm5-80gb = 1.4\n[buy.gpu]\nl4 = 2500\n";
    let plan = Plan::of(&read(&(text + prices + more)).unwrap(), Catalogue::embedded()).unwrap();
    draw_up(&plan, Catalogue::embedded(), &[], "2026-11-30").unwrap()
}

/// What the mix costs, and the most that the optimum may be below it.
fn cost(answer: &Answer) -> Option<(f64, f64)> {
    if !answer.unmet.is_empty() {
        return None;
    }
    let mix = answer.mix.as_ref()?;
    Some((mix.cost.p50, mix.cost.p50 * (1.0 - mix.gap.unwrap_or(1.0))))
}

/// The cheapest single kind.
fn single(answer: &Answer) -> Option<f64> {
    answer
        .options
        .iter()
        .filter_map(|o| o.cost.map(|c| c.p50))
        .min_by(f64::total_cmp)
        .filter(|_| answer.unmet.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn more_runs_never_cost_less(works in prop::collection::vec(work(), 1..4), factor in 1.0..3.0f64) {
        let more: Vec<Work> = works.iter().map(|w| Work { runs: w.runs * factor, ..w.clone() }).collect();
        let (few, many) = (drawn(&works, 0.0, ""), drawn(&more, 0.0, ""));
        if let (Some(few), Some(many)) = (single(&few), single(&many)) {
            prop_assert!(few <= many * (1.0 + 1e-9), "{few} {many}");
        }
        if let (Some((_, few)), Some((many, _))) = (cost(&few), cost(&many)) {
            prop_assert!(few <= many * (1.0 + 1e-6), "{few} {many}");
        }
    }

    #[test]
    fn a_later_deadline_never_costs_more(works in prop::collection::vec(work(), 1..4), factor in 1.0..4.0f64) {
        let more: Vec<Work> = works.iter().map(|w| Work { deadline_h: w.deadline_h * factor, ..w.clone() }).collect();
        let (soon, late) = (drawn(&works, 0.0, ""), drawn(&more, 0.0, ""));
        prop_assert!(late.unmet.len() <= soon.unmet.len());
        if let (Some(soon), Some(late)) = (single(&soon), single(&late)) {
            prop_assert!(late <= soon * (1.0 + 1e-9), "{soon} {late}");
        }
        if let (Some((soon, _)), Some((_, late))) = (cost(&soon), cost(&late)) {
            prop_assert!(late <= soon * (1.0 + 1e-6), "{soon} {late}");
        }
    }

    #[test]
    fn more_choice_never_costs_more(works in prop::collection::vec(work(), 1..4), growth in -0.02..0.04f64) {
        let narrow = drawn(&works, growth, "[allow]\ngpus = [\"l4\"]\nways = [\"on-demand\", \"workstation\"]\n");
        let wide = drawn(&works, growth, "[allow]\ngpus = [\"l4\", \"h100-sxm5-80gb\"]\n");
        prop_assert!(wide.unmet.len() <= narrow.unmet.len());
        if let (Some(narrow), Some(wide)) = (single(&narrow), single(&wide)) {
            prop_assert!(wide <= narrow * (1.0 + 1e-9), "{narrow} {wide}");
        }
        if let (Some((narrow, _)), Some((_, wide))) = (cost(&narrow), cost(&wide)) {
            prop_assert!(wide <= narrow * (1.0 + 1e-6), "{narrow} {wide}");
        }
    }

    #[test]
    fn the_mix_never_costs_more_than_its_best_part(works in prop::collection::vec(work(), 1..5), growth in -0.02..0.04f64) {
        let answer = drawn(&works, growth, "");
        if let (Some(single), Some(mix)) = (single(&answer), answer.mix.as_ref()) {
            prop_assert!(mix.cost.p50 <= single * (1.0 + 1e-9), "{single} {}", mix.cost.p50);
            prop_assert!(mix.gap.is_none_or(|gap| (0.0..=1.0).contains(&gap)));
        }
        for option in &answer.options {
            let Some(cost) = option.cost else { continue };
            prop_assert!(cost.p10 <= cost.p50 && cost.p50 <= cost.p90 && cost.p10.is_finite());
            let total = option.bill.as_ref().map(breakeven_plan::Bill::total);
            prop_assert_eq!(total, Some(cost.p50));
            prop_assert!(option.utilisation.is_some_and(|u| (0.0..=1.0 + 1e-9).contains(&u)), "{:?}", option.utilisation);
        }
    }
}

/// A figure anywhere between two powers of ten.
fn power(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|exponent| 10f64.powf(exponent))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn extremes_are_planned_or_said_to_be_unmet(
        (time, runs, deadline) in (power(-6.0, 14.0), power(0.0, 8.9), power(-3.0, 14.0)),
        (interruptions, rent, price) in (0.0..60.0f64, power(-6.0, 6.0), power(-2.0, 9.0)),
        (months, growth, storage) in (1u32..240, -0.5..0.02f64, power(0.0, 14.0)),
    ) {
        let text = format!(
            "months = {months}\n[[workload]]\ntimes = {{ l4 = {time:e}, cpu = {time:e} }}\nruns_per_month = {:e}\n\
             deadline = {deadline:e}\ngrowth = {growth:e}\nstorage = {storage:e}\n\
             [spot]\ninterruptions_per_hour = {interruptions:e}\n[rent.spot]\nl4 = {rent:e}\n[buy.gpu]\nl4 = {price:e}\n",
            runs.floor()
        );
        let plan = Plan::of(&read(&text).unwrap(), Catalogue::embedded()).unwrap();
        let answer = draw_up(&plan, Catalogue::embedded(), &[], "2026-11-30").unwrap();
        prop_assert!(!answer.summary.sentence.is_empty());
        prop_assert!(answer.summary.cost.is_some() || !answer.unmet.is_empty() || answer.options.iter().all(|o| !o.meets));
        for cost in answer.options.iter().filter_map(|o| o.cost).chain(answer.summary.cost) {
            prop_assert!(cost.p10.is_finite() && cost.p90.is_finite() && cost.p10 <= cost.p90, "{text}{cost:?}");
        }
        prop_assert!(breakeven_plan::report::html(&answer).ends_with("</html>\n"));
        prop_assert!(!breakeven_plan::report::text(&answer, false, Some(60)).contains("NaN"), "{text}");
    }
}
