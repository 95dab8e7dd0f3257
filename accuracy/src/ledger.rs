//! The committed figures of watts and of NumPy on a CPU are good enough; those of kernels and networks are held in
//! `crates/breakeven/tests/accuracy.rs`.

use crate::power::Shipped;
use serde_json::Value;

#[test]
fn watts_of_left_out_gpus_are_within_their_thresholds() {
    let ledger: Value = serde_json::from_str(include_str!("../ledger-power.json")).expect("`power --format json`");
    let figure = |key: &str| ledger[key].as_f64().expect("a number");
    assert!(figure("watts_mean_ape") <= 0.15);
    assert!((0.70..=0.90).contains(&figure("watts_coverage80")));
    assert!(figure("watts_mean_ape") < figure("tdp_mean_ape") / 5.0);
    assert!(figure("capped_time_mean_ape") <= 0.08 && figure("runs") >= 200.0);
    assert!(figure("capped_time_mean_ape") < figure("uncapped_time_mean_ape"));
    let shipped: Vec<Shipped> = serde_json::from_value(ledger["shipped"].clone()).expect("a list");
    assert!(shipped.len() >= 15, "{}", shipped.len());
    // Or the ledger is older than the model: `power --leave-one-gpu-out --format json` makes it anew.
    assert!(shipped.iter().all(|job| job.moved() < 1e-6));
}

#[test]
fn numpy_on_a_cpu_is_within_its_thresholds() {
    for file in ["measured/epyc-zen5-numpy-1.csv", "measured/epyc-zen5-numpy-2.csv"] {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let report = crate::measured::score(&file, Some("epyc-9755"), Some(1), None).expect("the kit wrote it");
        let report = serde_json::to_value(report).expect("numbers");
        let figure = |key: &str| report["all"][key].as_f64().expect("a number");
        assert!(figure("median_ape") <= 0.32 && figure("bias").abs() <= 0.2, "{report}");
        assert!((0.65..=0.92).contains(&figure("coverage80")), "{report}");
        assert!(figure("n") >= 100.0);
    }
}
