//! Which of the user's own terms moves the answer furthest from what the model has.

use super::kind;
use super::terms::{Given, Term, Terms, terms};
use crate::hardware::Device;
use crate::interval::{Basis, Interval};
use crate::quantity::Measure;

/// One sentence on the given term whose replacement by the catalogue's and the model's changes the time most; `None`
/// when nothing was given that the model has an opinion on, or none changes the time by more than 5 %.
pub(super) fn because(
    given: &Given,
    used: &Terms,
    device: &Device,
    time: Interval,
    evaluate: impl Fn(&Terms) -> Interval,
) -> Option<String> {
    let blank = Given {
        peak: None,
        utilisation: None,
        link: None,
        init: None,
        python_overhead: None,
        workload_factor: None,
        precision_factor: None,
        ..given.clone()
    };
    let model = terms(&blank, Some(device)).ok()?;
    let kept = 1.0 - model.python_overhead.value.p50;
    let rate = model.utilisation.value.scale(model.peak.value.p50 * kept);
    let mut candidates: Vec<(f64, String)> = Vec::new();
    let mut consider = |is_given: bool, changed: Terms, text: String| {
        if is_given {
            let ratio = libm::log(evaluate(&changed).p50 / time.p50);
            candidates.push((ratio.abs(), text));
        }
    };
    let own = |t: Term| Measure::FlopPerSec.format(t.value.p50);
    let assumed = used.peak.value.p50
        * used.utilisation.value.p50
        * (1.0 - used.python_overhead.value.p50)
        * used.workload_factor.value.p50
        * used.precision_factor.value.p50;
    consider(
        used.peak.basis == Basis::Given
            || used.utilisation.basis == Basis::Given
            || used.python_overhead.basis == Basis::Given,
        Terms {
            peak: model.peak,
            utilisation: model.utilisation,
            python_overhead: model.python_overhead,
            workload_factor: model.workload_factor,
            precision_factor: model.precision_factor,
            ..used.clone()
        },
        format!(
            "you assumed {} after all factors; {} {} on this card reaches {}–{} (peak {})",
            Measure::FlopPerSec.format(assumed),
            kind::precision_name(used.precision),
            kind::kind_name(used.kind),
            Measure::FlopPerSec.format(rate.p10),
            Measure::FlopPerSec.format(rate.p90),
            own(model.peak),
        ),
    );
    let link = |t: Term| Measure::BytesPerSec.format(t.value.p50);
    consider(
        used.link.basis == Basis::Given && model.link.value.p50.is_finite(),
        Terms { link: model.link, ..used.clone() },
        format!("you assumed a host link of {}; copies to this card reach about {}", link(used.link), link(model.link)),
    );
    let seconds = |t: Term| Measure::Seconds.format(t.value.p50);
    consider(
        used.init.basis == Basis::Given,
        Terms { init: model.init, ..used.clone() },
        format!("you assumed an initialisation of {}; {} is usual", seconds(used.init), seconds(model.init)),
    );
    candidates.into_iter().filter(|(size, _)| *size > 0.05).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, text)| text)
}
