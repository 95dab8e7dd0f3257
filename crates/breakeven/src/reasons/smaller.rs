//! What a PyTorch program would take of a GPU's memory in half precision, or if it kept less for its gradients.

use crate::report::words;
use crate::workload::{Dtype, Entry, Op, Pass, Phase, Workload};
use std::collections::BTreeMap;

/// What is alive when the optimizer steps, whatever was done to take less until then.
const KEPT: [&str; 3] = ["parameter", "gradient", "optimizer state"];
const ACTIVATION: &str = "activation";
/// What a change must come down to, to be a word's worth.
const WORTH: f64 = 0.95;

/// How a program that takes `needs` bytes could take `has`, in words, or what does not suffice; nothing where neither
/// applies. Five networks were recorded to take 4 to 16 % less than this says with checkpoints, and as much in half precision.
pub(super) fn how(workload: &Workload, needs: f64, has: f64) -> Option<String> {
    let roles = &workload.program.peak_roles;
    let share = needs / roles.values().map(|&bytes| bytes as f64).sum::<f64>();
    if !share.is_finite() || workload.cut_short() {
        return None;
    }
    // Of each role what there was at most, and as much less of it in half precision.
    let mut sums: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (role, entry, bytes) in made(workload) {
        let sum = sums.entry(role).or_default();
        *sum =
            [sum[0] + bytes, sum[1] + if matches!(entry.dtype, Dtype::F32 | Dtype::Tf32) { bytes / 2.0 } else { 0.0 }];
    }
    let of = |role: &str| sums.get(role).copied().unwrap_or_default();
    let phase = |wanted| workload.ops.iter().filter(move |e| e.phase == Some(wanted));
    // A list of parameters' worth that is made on the way, of which no buffer tells the length.
    let on_way = phase(Phase::Optimizer).filter(|e| !e.name.ends_with('_')).map(|e| e.written_bytes).max().unwrap_or(0);
    let (given, within) = kept(workload);
    let takes = |checkpoints: bool, half: bool| {
        let halved = |role: &str| {
            let [all, less] = of(role);
            if half && all > 0.0 { 1.0 - less / all } else { 1.0 }
        };
        let at_peak = |role: &str, bytes: u64| {
            let all = bytes as f64;
            let kept = if checkpoints && role == ACTIVATION { all.min(given + all * within) } else { all };
            kept * halved(role)
        };
        // In the block that is first, and last to be gone through backward: nearly all gradients are there.
        let in_first = |role: &str| roles.get(role).map_or(0.0, |&bytes| bytes as f64 * halved(role));
        let in_first = if checkpoints { in_first(ACTIVATION) * within + in_first("temporary") } else { 0.0 };
        let kept: f64 = KEPT.iter().map(|role| of(role)[0] * halved(role)).sum();
        let before: f64 = roles.iter().map(|(role, &bytes)| at_peak(role, bytes)).sum();
        share * before.max(kept + in_first.max(on_way as f64 * halved(KEPT[0])))
    };
    // What runs backward only where a checkpoint has a part run again.
    let forward = |e: &Entry| {
        matches!(e.op, Op::Attention { pass: Pass::Forward, .. })
            || matches!(e.name.as_str(), "aten.addmm" | "aten.convolution" | "aten.native_layer_norm")
    };
    let trains = phase(Phase::Backward).next().is_some() && !phase(Phase::Backward).any(forward);
    let ways = [
        (trains, false, "with activation checkpointing"),
        (false, true, "in bfloat16"),
        (trains, true, "in bfloat16 with activation checkpointing"),
    ];
    let mut least = (needs, "");
    for (checkpoints, half, way) in ways {
        let bytes = takes(checkpoints, half);
        if bytes < WORTH * least.0 && least.0 > has {
            least = (bytes, way);
        }
    }
    let (bytes, way) = least;
    let even = if bytes > has { "even " } else { "" };
    (!way.is_empty()).then(|| format!("; {even}{way} they take about {}", words::memory(bytes)))
}

/// Role, maker and bytes of all arrays that an op made, those of a kind together at their most.
fn made(workload: &Workload) -> impl Iterator<Item = (&str, &Entry, f64)> {
    workload.buffers.iter().filter_map(|buffer| {
        let entry = workload.ops.get(buffer.producer? as usize)?;
        Some((buffer.role.as_deref()?, entry, buffer.bytes as f64 * buffer.peak_live as f64))
    })
}

/// What activation checkpointing leaves of the activations: bytes that blocks of the network were given, and the share of
/// all that lies outside of them and in one of them at a time. Blocks are what has a number in the path of its module
/// (`encoder.layer.3`).
fn kept(workload: &Workload) -> (f64, f64) {
    let mut blocks: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (_, entry, bytes) in made(workload).filter(|(role, ..)| *role == ACTIVATION) {
        let module =
            workload.sites.get(entry.site as usize).and_then(|site| site.module.as_deref()).unwrap_or_default();
        let block = blocks.entry(block(module)).or_default();
        // The last that is made in it is what the next one is given.
        *block = [block[0] + bytes, bytes];
    }
    let all: f64 = blocks.values().map(|block| block[0]).sum();
    let outside = blocks.remove("").unwrap_or_default()[0];
    let most = blocks.values().fold(0.0, |most: f64, block| most.max(block[0]));
    (blocks.values().map(|block| block[1]).sum(), ((outside + most) / all).min(1.0))
}

/// The block that a module is part of: its path up to the first number; empty where there is none.
fn block(module: &str) -> &str {
    let mut end = 0;
    for part in module.split('.') {
        end += part.len();
        if part.parse::<u32>().is_ok() {
            return &module[..end];
        }
        end += 1;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::CUT_SHORT;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const GIB: f64 = (1_u64 << 30) as f64;

    /// Four blocks that keep three tensors of `each` bytes, the last of which goes to the next block; parameters and their
    /// gradients; at the peak no gradient is there yet.
    fn training(each: u64, parameters: u64, dtype: &str) -> Value {
        let site = |block: u64| json!({"file": "a.py", "line": 3, "module": format!("blocks.{block}.up")});
        let op = |site: u64, phase: &str, name: &str| json!({"site": site, "name": name, "op": "opaque", "dtype": dtype, "count": 1, "phase": phase});
        let buffer = |producer: u64, bytes: u64, role: &str| json!({"producer": producer, "bytes": bytes, "count": 1, "peak_live": 1, "role": role});
        let mut ops: Vec<Value> = (0..12).map(|at| op(at / 3, "forward", "aten.mul")).collect();
        ops.push(op(3, "backward", "aten.mul"));
        let mut buffers: Vec<Value> = (0..12).map(|at| buffer(at, each, "activation")).collect();
        buffers.extend([buffer(0, parameters, "parameter"), buffer(12, parameters, "gradient")]);
        json!({
            "format": "breakeven.workload/1",
            "program": {"name": "a.py", "wall_ns": 1, "exit": {"code": 0}, "peak_roles": {"activation": 12 * each, "parameter": parameters}},
            "sites": (0..4).map(site).collect::<Vec<_>>(),
            "ops": ops, "order": (0..13).collect::<Vec<_>>(), "buffers": buffers,
        })
    }

    fn said(workload: &Value, has: f64) -> Option<String> {
        let workload = Workload::from_json(workload.to_string().as_bytes()).unwrap();
        let needs: f64 = workload.program.peak_roles.values().map(|&bytes| bytes as f64).sum();
        how(&workload, needs, has)
    }

    #[test]
    fn the_least_change_that_suffices_is_named() {
        let gib = 1 << 30;
        let of = |has: f64| said(&training(gib, 2 * gib, "f32"), has * GIB).unwrap();
        // Of 12 GiB of activations 3 stay within a block, and 4 go from one to the next.
        assert_eq!(of(13.0), "; with activation checkpointing they take about 9 GiB");
        assert_eq!(of(8.0), "; in bfloat16 they take about 7 GiB");
        assert_eq!(of(5.0), "; in bfloat16 with activation checkpointing they take about 4.5 GiB");
        assert_eq!(of(4.0), "; even in bfloat16 with activation checkpointing they take about 4.5 GiB");
        assert_eq!(
            said(&training(gib, 0, "bf16"), GIB).unwrap(),
            "; even with activation checkpointing they take about 7 GiB"
        );
    }

    #[test]
    fn parameters_and_gradients_stay_whatever_is_done() {
        let gib = 1 << 30;
        let said = said(&training(gib, 20 * gib, "bf16"), 30.0 * GIB);
        assert_eq!(said, None, "40 GiB at the step, more than the peak that was seen");
    }

    #[test]
    fn what_recomputes_already_is_not_told_to() {
        let gib = 1 << 30;
        let mut again = training(gib, 0, "f32");
        again["ops"][12]["name"] = json!("aten.addmm");
        assert_eq!(said(&again, 7.0 * GIB).unwrap(), "; in bfloat16 they take about 6 GiB");
        let mut only_forward = training(gib, 0, "f32");
        only_forward["ops"][12]["phase"] = json!("forward");
        assert_eq!(said(&only_forward, GIB).unwrap(), "; even in bfloat16 they take about 6 GiB");
    }

    #[test]
    fn nothing_is_said_of_what_was_cut_short_or_has_no_roles() {
        let mut cut = training(1 << 30, 0, "f32");
        cut["program"]["exit"] = json!({"code": 1});
        cut["unseen"] = json!([{"reason": CUT_SHORT[0], "text": "refused"}]);
        assert_eq!(said(&cut, GIB), None);
        let mut bare = training(1 << 30, 0, "f32");
        bare["program"]["peak_roles"] = json!({});
        assert_eq!(said(&bare, GIB), None);
    }

    proptest! {
        #[test]
        fn any_workload_is_answered(each in any::<u64>(), parameters in any::<u64>(), has in 0.0..1e20) {
            let each = each >> 4;
            if let Some(said) = said(&training(each, parameters, "f32"), has) {
                prop_assert!(!said.contains("NaN") && !said.contains("inf"), "{said}");
            }
        }
    }

    #[test]
    fn blocks_are_up_to_the_first_number() {
        assert_eq!(block("encoder.layer.3.attention.0"), "encoder.layer.3");
        assert_eq!(block("12"), "12");
        assert_eq!(block("head"), "");
    }
}
