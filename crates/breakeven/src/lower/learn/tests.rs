//! What calls of estimators come to, by hand-made facts; laws of all algorithms.

use super::*;
use crate::lower::{Rule, callable, callables, lower};
use crate::workload::Part;
use proptest::prelude::*;

fn parts(name: &str, facts: &str) -> Vec<Part> {
    let keywords = [("facts", facts)];
    match lower(&Call { name, inputs: &[], outputs: &[], keywords: &keywords, scalar_result: false }).op {
        Op::Routine { parts } => parts,
        op => panic!("{name}: {op:?}"),
    }
}

fn flop(name: &str, facts: &str) -> f64 {
    let dtype = crate::workload::Dtype::F32;
    Op::Routine { parts: parts(name, facts) }.flop(dtype).get()
}

#[test]
fn kmeans_multiplies_with_its_centres_each_round() {
    let of = |rounds: u32| {
        flop(
            "sklearn.cluster.KMeans.fit",
            &format!(r#"{{"n": 1000, "d": 50, "dtype": "f32", "clusters": 10, "iterations": {rounds}}}"#),
        )
    };
    // A product, two operations a distance, a sum a value, and little beside.
    let round = 2.0 * 1000.0 * 50.0 * 10.0 + 2.0 * 1000.0 * 10.0 + 1000.0 * 50.0;
    assert!(((of(30) - of(10)) / 20.0 / round - 1.0).abs() < 0.05, "{}", (of(30) - of(10)) / 20.0);
}

#[test]
fn the_covariance_of_a_pca_is_counted() {
    let facts = r#"{"n": 100000, "d": 100, "dtype": "f32", "order": "F", "components": 10}"#;
    let fit = flop("sklearn.decomposition.PCA.fit", facts);
    assert!(fit > 2.0 * 1e5 * 1e4 && fit < 2.2 * 1e5 * 1e4, "{fit}");
}

/// Only where rows lie together, and the algorithm wants columns.
#[test]
fn the_host_puts_rows_into_columns() {
    let turned = |name: &str, order: &str| {
        let facts = format!(r#"{{"n": 100000, "d": 1024, "dtype": "f32", "order": "{order}"}}"#);
        parts(name, &facts).iter().any(|part| matches!(part.op, Op::Transfer { direction: Direction::H2h, .. }))
    };
    use crate::workload::op::Direction;
    assert!(turned("sklearn.decomposition.PCA.transform", "C") && !turned("sklearn.decomposition.PCA.transform", "F"));
    assert!(!turned("sklearn.linear_model.Ridge.fit", "C"));
}

#[test]
fn what_does_not_read_is_not_understood() {
    for facts in ["", "[]", r#"{"n": -1}"#, r#"{"n": "many"}"#] {
        let keywords = [("facts", facts)];
        let name = "sklearn.svm.SVC.fit";
        let lowered = lower(&Call { name, inputs: &[], outputs: &[], keywords: &keywords, scalar_result: false });
        assert_eq!(lowered.op, Op::Opaque, "{facts}");
    }
}

/// Each algorithm has a callable, and a call that keeps it on the host is no routine.
#[test]
fn every_algorithm_is_someones() {
    for &algorithm in Algorithm::ALL {
        assert!(callables().iter().any(|c| matches!(c.rule, Rule::Learn(a, _) if a == algorithm)), "{algorithm:?}");
    }
    assert_eq!(callable("sklearn.svm.SVC.predict_proba").unwrap().rule, Rule::HostOnly);
    assert_eq!(callable("sklearn.pipeline.Pipeline.fit").unwrap().rule, Rule::Composite);
}

proptest! {
    /// More rows are never less work, and nothing overflows.
    #[test]
    fn more_rows_are_more_work(
        which in 0..Algorithm::ALL.len(),
        phase in prop::sample::select(vec![Phase::Fit, Phase::Use, Phase::Both]),
        n in 1_u64..1 << 34,
        d in 1_u64..1 << 16,
        more in 1_u64..1 << 34,
    ) {
        let work = |n: u64| {
            let facts = format!(r#"{{"n": {n}, "d": {d}, "dtype": "f32", "order": "C", "fitted": 1000, "rounds": 3}}"#);
            let keywords = [("facts", facts.as_str())];
            let call = Call { name: "", inputs: &[], outputs: &[], keywords: &keywords, scalar_result: false };
            let op = op(Algorithm::ALL[which], phase, &call).op;
            let dtype = crate::workload::Dtype::F32;
            (op.flop(dtype).get(), op.min_bytes(dtype).get())
        };
        let (less, greater) = (work(n), work(n + more));
        prop_assert!(less.0.is_finite() && less.0 <= greater.0 * 1.001 && less.1 <= greater.1 * 1.05);
    }
}
