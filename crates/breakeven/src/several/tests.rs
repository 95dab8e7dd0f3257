//! A small transformer, counted by hand on 2 and 4 copies, 4 tensor-parallel ranks and 4 stages; what holds of any layout.

use super::*;
use crate::answer::answer_request;
use crate::request::{Options, Request};
use crate::workload::op::{Collective, Pass, Rowwise};
use crate::workload::{Dtype, Entry, Step, samples};
use proptest::prelude::*;

/// Layers, width, hidden width, tokens of a step, steps.
const L: u64 = 4;
const D: u64 = 1024;
const H: u64 = 4096;
const T: u64 = 2048;
const STEPS: u64 = 20;
/// Parameters of the products: 12 d² a layer, in fp32.
const WEIGHTS: u64 = L * 12 * D * D * 4;

fn entry(name: &str, op: Op, phase: Phase, count: u64) -> Entry {
    let need = op.need(Dtype::F32).bytes as u64;
    Entry {
        count,
        phase: Some(phase),
        device: Some("cuda:0".to_owned()),
        read_bytes: need * 2 / 3,
        written_bytes: need / 3,
        ..Entry::untimed(0, name, op, Dtype::F32)
    }
}

fn product(m: u64, n: u64, k: u64) -> Op {
    Op::Matmul { m, n, k, batch: 1, bias: false }
}

fn attention(pass: Pass) -> Op {
    Op::Attention { pass, batch: 2, heads: 16, q_len: T / 2, kv_len: T / 2, head_dim: D / 16, causal: true }
}

fn gelu() -> Op {
    Op::Elementwise { n: T * H, inputs: 1, flop_per_element: 8.0, transcendental: true }
}

fn norm(pass: Pass) -> Op {
    Op::Rowwise { kind: Rowwise::LayerNorm, pass, rows: T, width: D }
}

/// Forward and backward of each layer, then AdamW.
fn transformer() -> Workload {
    let each = L * STEPS;
    let forward = [norm(Pass::Forward), product(T, 3 * D, D), attention(Pass::Forward), product(T, D, D)];
    let mlp = [product(T, H, D), gelu(), product(T, D, H)];
    let mut ops: Vec<Entry> =
        forward.into_iter().chain(mlp).map(|op| entry("aten.op", op, Phase::Forward, each)).collect();
    let shapes = |dims: [u64; 3]| {
        let [m, n, k] = dims;
        [product(m, k, n), product(k, n, m)]
    };
    let gradients = shapes([T, D, H])
        .into_iter()
        .chain([gelu()])
        .chain(shapes([T, H, D]))
        .chain(shapes([T, D, D]))
        .chain([attention(Pass::Backward)])
        .chain(shapes([T, 3 * D, D]))
        .chain([norm(Pass::Backward)]);
    ops.extend(gradients.map(|op| entry("aten.op", op, Phase::Backward, each)));
    let adam = Op::Elementwise { n: WEIGHTS / 4, inputs: 4, flop_per_element: 12.0, transcendental: false };
    ops.push(entry("aten._fused_adamw", adam, Phase::Optimizer, STEPS));
    let runs = |range: std::ops::Range<u32>| range.map(Step::Run).collect::<Vec<_>>();
    let (forward, all) = (7, ops.len() as u32);
    let step = vec![Step::Repeat(L, runs(0..forward)), Step::Repeat(L, runs(forward..all - 1)), Step::Run(all - 1)];
    let mut workload = samples::heat();
    (workload.ops, workload.order) = (ops, vec![Step::Repeat(STEPS, step)]);
    (workload.buffers, workload.markers, workload.waits) = (Vec::new(), Vec::new(), Vec::new());
    workload.host_code.clear();
    workload.unseen.clear();
    workload.program.name = "small.py".to_owned();
    (workload.program.wall_ns, workload.program.startup_ns, workload.program.idle_ns) = (1_000_000, 0, 0);
    workload.program.repeat_wall_ns.clear();
    workload.program.recorder = "torch-fake".to_owned();
    let roles = [("parameter", 1), ("gradient", 1), ("optimizer state", 2), ("activation", 10)];
    workload.program.peak_roles = roles.iter().map(|(role, times)| ((*role).to_owned(), times * WEIGHTS)).collect();
    workload.program.peak_bytes = 14 * WEIGHTS;
    workload.program.device_peak_bytes = 14 * WEIGHTS;
    workload
}

fn layout(text: &str) -> Layout {
    Layout::read(&Divided { parallel: Some(text.to_owned()), ..Divided::default() }).unwrap()
}

fn rank_of(text: &str) -> rank::Rank {
    let workload = transformer();
    rank::of(&workload, &layout(text), &Memory::of(&workload))
}

/// Bytes of all exchanges of one step, by kind.
fn exchanged(rank: &rank::Rank, kind: Collective) -> f64 {
    let of = |(i, sent): (&u32, &rank::Sent)| {
        if sent.kind == kind { sent.bytes * sent.times * rank.workload.ops[*i as usize].count as f64 } else { 0.0 }
    };
    rank.sent.iter().map(of).sum::<f64>() / STEPS as f64
}

fn asked(gpu: &str, several: Divided) -> Estimate {
    let options = Options { gpu: vec![gpu.to_owned()], several: Some(several), ..Options::default() };
    let workload = Some(Box::new(transformer()));
    answer_request(&Request { workload, options, ..Request::default() }).unwrap()
}

fn at(gpu: &str, gpus: u64, parallel: &str) -> Several {
    let gpus = Some(crate::request::Typed::Number(gpus as f64));
    asked(gpu, Divided { gpus, parallel: Some(parallel.to_owned()), ..Divided::default() }).several.unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

#[test]
fn copies_by_hand() {
    // Gradients of 12 × 1024² × 4 parameters in fp32, 201 MB, in buckets of 25 MiB; all of them once a step.
    assert_eq!(WEIGHTS, 201_326_592);
    for n in [2, 4] {
        let rank = rank_of(&format!("dp={n}"));
        assert!(close(exchanged(&rank, Collective::AllReduce), WEIGHTS as f64), "{n}");
        let buckets: u64 = rank.sent.keys().map(|i| rank.workload.ops[*i as usize].count).sum::<u64>() / STEPS;
        assert!((8..=17).contains(&buckets), "{buckets} buckets");
        // What a rank sends: 2(n−1)/n of it.
        let several = at("a100-sxm4-80gb", n, "dp");
        let sent = 2.0 * (n as f64 - 1.0) / n as f64 * WEIGHTS as f64 * STEPS as f64;
        assert!(close(several.at.sent_bytes, sent), "{} {sent}", several.at.sent_bytes);
    }
}

#[test]
fn shards_by_hand() {
    let full = WEIGHTS as f64;
    let of = |text: &str, kind| exchanged(&rank_of(text), kind);
    assert!(close(of("zero1=4", Collective::ReduceScatter), full) && close(of("zero1=4", Collective::AllGather), full));
    assert!(close(of("zero2=4", Collective::ReduceScatter), full) && close(of("zero2=4", Collective::AllGather), full));
    // Forward and backward each gather all of it.
    assert!(close(of("fsdp=4", Collective::ReduceScatter), full), "{}", of("fsdp=4", Collective::ReduceScatter));
    assert!(close(of("fsdp=4", Collective::AllGather), 2.0 * full), "{}", of("fsdp=4", Collective::AllGather));
}

#[test]
fn tensor_parallel_by_hand() {
    let rank = rank_of("tp=4");
    // Two all-reduces of T × d forward and two backward in each layer, and no gathering.
    let bytes = 4 * L * T * D * 4;
    assert!(close(exchanged(&rank, Collective::AllReduce), bytes as f64));
    assert_eq!(exchanged(&rank, Collective::AllGather), 0.0);
    // A quarter of every product and of attention; norms stay whole.
    let flop = |w: &Workload, of: &dyn Fn(&Op) -> bool| {
        w.ops.iter().filter(|e| of(&e.op)).map(|e| e.op.need(e.dtype).flop * e.count as f64).sum::<f64>()
    };
    let heavy = |op: &Op| matches!(op, Op::Matmul { .. } | Op::Attention { .. });
    assert!(close(flop(&rank.workload, &heavy), flop(&transformer(), &heavy) / 4.0));
    let norms = |op: &Op| matches!(op, Op::Rowwise { .. });
    assert!(close(flop(&rank.workload, &norms), flop(&transformer(), &norms)));
    assert_eq!(rank.division.of_weights, 1.0);
    let held = Memory::of(&transformer()).of_rank(&layout("tp=4"), &rank.division, false).unwrap();
    assert_eq!(held["parameter"], WEIGHTS as f64 / 4.0);
}

#[test]
fn copies_of_divided_layers_exchange_their_part() {
    let rank = rank_of("tp=2,dp=2");
    let of = |among| -> f64 {
        let count = |i: &u32| rank.workload.ops[*i as usize].count as f64;
        rank.sent.iter().filter(|(_, s)| s.among == among).map(|(i, s)| s.bytes * count(i)).sum::<f64>() / STEPS as f64
    };
    assert!(close(of(rank::Among::Data), WEIGHTS as f64 / 2.0));
    assert!(close(of(rank::Among::Tensor), (4 * L * T * D * 4) as f64));
}

#[test]
fn a_pipeline_by_hand() {
    let rank = rank_of("pp=4,micro=8");
    // A stage has a quarter of the layers, eight parts and three idle rounds: 11 rounds of a quarter of an eighth.
    assert_eq!(rank.shares[1][0], 11.0 / 4.0 / 8.0);
    // A hop forward and one back in each round.
    let hops: f64 = rank.sent.values().filter(|sent| sent.kind == Collective::SendRecv).map(|sent| sent.times).sum();
    assert_eq!(hops, 22.0);
    let held = |text: &str| {
        let held = Memory::of(&transformer()).of_rank(&layout(text), &rank.division, false).unwrap();
        (held["parameter"], held["activation"])
    };
    let full = WEIGHTS as f64;
    assert_eq!(held("pp=4,micro=8,gpipe"), (full / 4.0, 10.0 * full / 4.0));
    assert_eq!(held("pp=4,micro=8,1f1b"), (full / 4.0, 10.0 * full / 4.0 / 2.0));
    let several = at("h100-sxm5-80gb", 4, "pp=4,micro=8");
    let efficiency = several.at.efficiency.unwrap();
    assert!(efficiency < 8.0 / 11.0 && efficiency > 0.4, "{:?}", several.at);
}

#[test]
fn one_gpu_is_as_before_to_the_digit() {
    let workload = transformer();
    let options = Options { gpu: vec!["h100-sxm5-80gb".to_owned()], ..Options::default() };
    let request = Request { workload: Some(Box::new(workload)), options, ..Request::default() };
    let before = answer_request(&request).unwrap();
    for parallel in ["dp", "fsdp", "zero1", "tp=1", "pp=1"] {
        let mut after = asked(
            "h100-sxm5-80gb",
            Divided { gpus: Some("1".into()), parallel: Some(parallel.to_owned()), ..Divided::default() },
        );
        let several = after.several.take().unwrap();
        assert_eq!(several.at.time_s, before.estimates[0].time_s);
        assert_eq!(after.estimates, before.estimates);
    }
    let same = rank_of("dp=1");
    assert_eq!((same.workload.ops, same.sent.len()), (transformer().ops, 0));
}

#[test]
fn a_fast_network_hides_gradients_behind_the_backward_pass() {
    let nvlink = at("h100-sxm5-80gb", 8, "dp");
    assert!(nvlink.at.exposed_s < 0.7 * nvlink.at.communication_s, "{:?}", nvlink.at);
    let slow = asked(
        "h100-sxm5-80gb",
        Divided { gpus: Some("16".into()), network: Some("10Gb/s".into()), ..Divided::default() },
    );
    let slow = slow.several.unwrap();
    assert!(slow.at.efficiency.unwrap() < 0.5);
    assert_eq!(slow.at.held_back, "the network between nodes");
    assert!(slow.bends.is_some());
    assert_eq!(slow.curve.len(), 11);
}

#[test]
fn a_program_that_is_no_network_runs_on_each() {
    let request = |several| {
        let options = Options { gpu: vec!["l4".to_owned()], several: Some(several), ..Options::default() };
        answer_request(&Request { workload: Some(Box::new(samples::heat())), options, ..Request::default() })
    };
    let several = request(Divided { gpus: Some("4".into()), ..Divided::default() }).unwrap().several.unwrap();
    assert_eq!((several.mode, several.at.speedup.unwrap().p50), (Mode::IndependentRuns, 4.0));
    let refused = request(Divided { parallel: Some("tp=4".into()), ..Divided::default() }).unwrap_err();
    assert_eq!(refused.code, "bad-parallel");
}

#[test]
fn what_a_program_has_not_is_refused() {
    let refused = |parallel: &str| {
        let divided = Divided { parallel: Some(parallel.to_owned()), ..Divided::default() };
        let options = Options { gpu: vec!["l4".to_owned()], several: Some(divided), ..Options::default() };
        let workload = Some(Box::new(transformer()));
        answer_request(&Request { workload, options, ..Request::default() }).unwrap_err()
    };
    assert!(refused("pp=64").message.contains("layers"));
    assert!(refused("sideways").hint.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_gpu_does_more_than_one_alone(
        i in 0..6usize, copies in 0..4u32, gpu in 0..4usize,
    ) {
        let parallel = ["dp", "fsdp", "zero1", "zero2", "tp=2", "pp=2"][i];
        let gpu = ["a100-sxm4-80gb", "l4", "mi300x", "rtx-3090"][gpu];
        let several = at(gpu, 2 << copies, parallel);
        if let (Some(efficiency), Some(speedup)) = (several.at.efficiency, several.at.speedup) {
            prop_assert!(efficiency <= 1.0 && efficiency > 0.0, "{efficiency}");
            prop_assert!(speedup.p10 <= speedup.p50 && speedup.p50 <= speedup.p90);
        }
        prop_assert!(several.at.exposed_s <= several.at.communication_s * (1.0 + 1e-9) + 1e-3);
    }

    #[test]
    fn a_faster_network_is_never_slower(i in 0..5usize, rate in 1.0..400.0f64, k in 1.0..10.0f64) {
        let parallel = ["dp", "fsdp", "zero1", "tp=16", "pp=4"][i];
        let with = |rate: f64| {
            let divided = Divided {
                gpus: Some("32".into()),
                parallel: Some(parallel.to_owned()),
                network: Some(format!("{rate}Gb/s").as_str().into()),
                ..Divided::default()
            };
            asked("h100-sxm5-80gb", divided).several.unwrap().at.time_s.unwrap().p50
        };
        prop_assert!(with(rate * k) <= with(rate) * (1.0 + 1e-9));
    }
}

/// The example of docs/several.md.
fn example(gpu: &str, several: Divided) -> Estimate {
    let text = include_bytes!("../../../../docs/examples/transformer.breakeven.json");
    let workload = Some(Box::new(Workload::from_json(text).unwrap()));
    let options = Options { gpu: vec![gpu.to_owned()], several: Some(several), ..Options::default() };
    answer_request(&Request { workload, options, ..Request::default() }).unwrap()
}

#[test]
fn the_report_of_a_network_on_eight() {
    let e = example("h100-sxm5-80gb", Divided { gpus: Some("8".into()), ..Divided::default() });
    let text = crate::report::text(&e, &crate::report::TextOptions { width: Some(120), ..Default::default() });
    assert!(text.starts_with("8 × H100 SXM5 80GB (data parallel (DDP) × 8): "), "{text}");
    assert!(text.contains("held back by"), "{text}");
    for page in [crate::report::markdown(&e, false), crate::report::html(&e, false)] {
        assert!(page.contains("Several GPUs"));
    }
}
