//! What is compressed comes back, and loops as people write them stay small.

use super::*;
use crate::workload::order::expand;
use proptest::prelude::*;

fn compress(entries: impl IntoIterator<Item = u32>) -> (Vec<Step>, Vec<u32>) {
    let (mut sequence, mut all) = (Sequence::new(), Vec::new());
    let mut by_short_cut = Sequence::new();
    for entry in entries {
        sequence.push(entry);
        if !by_short_cut.push_foretold(entry) {
            by_short_cut.push(entry);
        }
        all.push(entry);
    }
    assert_eq!(sequence.len(), all.len() as u64);
    assert_eq!(by_short_cut.len(), all.len() as u64);
    assert_eq!(by_short_cut.clone().finish(), sequence.clone().finish());
    assert!(sequence.is_exact());
    (sequence.finish(), all)
}

fn size(steps: &[Step]) -> usize {
    steps.iter().map(|s| if let Step::Repeat(_, body) = s { 1 + size(body) } else { 1 }).sum()
}

/// Comes back unchanged and in at most `nodes` steps.
#[track_caller]
fn check(entries: impl IntoIterator<Item = u32>, nodes: usize) {
    let (steps, all) = compress(entries);
    assert!(expand(&steps).eq(all));
    assert!(size(&steps) <= nodes, "{} steps", size(&steps));
}

/// The same pseudo-random numbers each time.
fn noise(n: u64) -> impl Iterator<Item = u32> {
    (0..n).scan(1_u64, |state, _| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((*state >> 33) as u32)
    })
}

#[test]
fn a_single_op_in_a_loop_is_one_step() {
    check(std::iter::repeat_n(3, 1_000_000), 2);
}

#[test]
fn nested_loops_are_as_small_as_their_source() {
    check((0..1000).flat_map(|_| (0..1000).flat_map(|_| [0, 1, 2])), 50);
    check((0..1000).flat_map(|_| [9].into_iter().chain((0..50).flat_map(|_| [0, 1, 2])).chain([8])), 50);
    check((0..100).flat_map(|_| (0..100).flat_map(|_| (0..10).flat_map(|_| [0, 0, 1]).chain([2])).chain([3])), 50);
}

#[test]
fn two_phases_of_a_loop_are_told_apart() {
    check((0..5000).flat_map(|i| if i < 2000 { [0, 1, 2] } else { [0, 1, 3] }), 30);
    check((0..50).flat_map(|_| (0..20).flat_map(|_| [0, 1]).chain((0..30).flat_map(|_| [2, 1]))), 60);
}

#[test]
fn a_branch_taken_now_and_then_is_part_of_the_loop() {
    check((0..100_000).flat_map(|i| if i % 10 == 9 { vec![0, 1, 2, 7, 8] } else { vec![0, 1, 2] }), 60);
    check((0..20_000).flat_map(|i| vec![if i % 2 == 0 { 5 } else { 6 }, 1, 2, 3]), 40);
}

#[test]
fn a_long_body_of_few_entries_is_found() {
    let body: Vec<u32> = noise(3000).map(|r| r % 50).collect();
    check((0..20).flat_map(|_| body.clone()), 2 * body.len() + 200);
    let binary: Vec<u32> = noise(2000).map(|r| r % 2).collect();
    check((0..20).flat_map(|_| binary.clone()), 2 * binary.len() + 200);
}

#[test]
fn loops_that_grow_cost_one_step_each_round() {
    check((0..300).flat_map(|n| (0..n).flat_map(|_| [1, 2]).chain([3])), 1500);
}

#[test]
fn a_random_order_needs_no_more_than_itself() {
    let (steps, all) = compress(noise(1_000_000).map(|r| r % 50));
    assert!(expand(&steps).eq(all));
    let json = serde_json::to_string(&steps).unwrap();
    assert!(json.len() < 4_000_000, "{} bytes", json.len());
}

#[test]
fn an_order_too_long_to_keep_keeps_its_counts() {
    let mut sequence = Sequence::new();
    let mut counts = vec![0_u64; 1000];
    for entry in noise(6_000_000).map(|r| r % 1000) {
        sequence.push(entry);
        counts[entry as usize] += 1;
    }
    assert!(!sequence.is_exact());
    let steps = sequence.finish();
    assert_eq!(crate::workload::order::counts(&steps, 1000), Some(counts));
    assert!(size(&steps) < 2_200_000);
}

/// Loops in loops with branches, as a program would run them.
fn program() -> impl Strategy<Value = Vec<u32>> {
    let leaf = prop::collection::vec(0..4_u32, 1..4);
    leaf.prop_recursive(4, 64, 4, |inner| {
        prop_oneof![
            (1..6_usize, inner.clone()).prop_map(|(times, body)| body.repeat(times)),
            prop::collection::vec(inner, 1..4).prop_map(|parts| parts.concat()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_compressed_comes_back(entries in prop::collection::vec(0..3_u32, 0..300)) {
        let (steps, all) = compress(entries);
        prop_assert!(expand(&steps).eq(all));
    }

    #[test]
    fn programs_come_back(entries in program(), times in 1..5_usize) {
        let (steps, all) = compress(entries.repeat(times));
        prop_assert!(expand(&steps).eq(all));
        let text = serde_json::to_string(&steps).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Step>>(&text).unwrap(), steps);
    }
}
