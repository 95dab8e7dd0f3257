//! A million ops: size of the file, CPU seconds to read it, and to estimate it on every GPU of the catalogue.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin million_ops`

use breakeven::answer::answer_request;
use breakeven::request::{Options, Request};
use breakeven::workload::{Sequence, Step, Workload};
use serde_json::{Value, json};

const OPS: u64 = 1_000_000;

fn main() {
    let uniform = (1, vec![0; OPS as usize]);
    let random = |entries: u32| (entries, random_order(entries));
    let distinct = (200_000, (0..OPS as u32).map(|i| i % 200_000).collect());
    println!("{:<34} {:>9} {:>9} {:>9} {:>9} {:>6}", "a million ops", "file MB", "order s", "read s", "answer s", "GPUs");
    for (name, (entries, order)) in [
        ("uniform loop", uniform),
        ("random order over 50 entries", random(50)),
        ("random order over 5 000 entries", random(5000)),
        ("200 000 distinct shapes", distinct),
    ] {
        let start = cpu_seconds();
        let mut sequence = Sequence::new();
        order.iter().for_each(|e| sequence.push(*e));
        let steps = sequence.finish();
        let compressed = cpu_seconds() - start;
        let text = workload(entries, &order, &steps);
        let start = cpu_seconds();
        let workload = Workload::from_json(text.as_bytes()).expect("a workload of our own making");
        let read = cpu_seconds() - start;
        let request = Request {
            today: "2026-11-21".into(),
            workload: Some(Box::new(workload)),
            options: Options::default(),
            ..Request::default()
        };
        // The best of three: the first pays for pages.
        let mut best = f64::INFINITY;
        let mut gpus = 0;
        for _ in 0..3 {
            let start = cpu_seconds();
            gpus = answer_request(&request).expect("an answer").estimates.len();
            best = best.min(cpu_seconds() - start);
        }
        let mb = text.len() as f64 / 1e6;
        println!("{name:<34} {mb:>9.2} {compressed:>9.3} {read:>9.3} {best:>9.3} {gpus:>6}");
    }
}

/// CPU time of this thread so far: other work on the machine does not count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let ns: f64 = text.split(' ').next().and_then(|t| t.parse().ok()).expect("nanoseconds on a core");
    ns * 1e-9
}

/// A fixed pseudo-random order (xorshift).
fn random_order(entries: u32) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..OPS)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % u64::from(entries)) as u32
        })
        .collect()
}

fn workload(entries: u32, order: &[u32], steps: &[Step]) -> String {
    let mut counts = vec![0u64; entries as usize];
    order.iter().for_each(|e| counts[*e as usize] += 1);
    let ops: Vec<Value> = counts
        .iter()
        .enumerate()
        .map(|(i, count)| {
            let n = 10 + i as u64;
            json!({
                "site": i % 50, "name": "numpy.add", "dtype": "f64", "count": count,
                "op": { "elementwise": { "n": n, "inputs": 2, "flop_per_element": 1.0 } },
                "read_bytes": n * 16, "written_bytes": n * 8, "cpu_ns": count * 600, "gap_ns": count * 200,
            })
        })
        .collect();
    let sites: Vec<Value> = (1..=50).map(|line| json!({ "file": "bench.py", "line": line })).collect();
    let program = json!({ "name": "bench.py", "wall_ns": 1_000_000_000u64, "exit": { "code": 0 } });
    json!({ "format": "breakeven.workload/1", "program": program, "sites": sites, "ops": ops, "order": steps })
        .to_string()
}
