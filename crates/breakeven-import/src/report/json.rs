//! The summary with every digit, for programs: `breakeven.trace/1`.

use crate::carry::Carried;
use crate::reasons::{advice, reasons};
use crate::summary::{HostTotal, KernelTotal, StepTotal, StreamTotal, Summary, Times};
use serde_json::{Value, json as value};

/// `{"schema": "breakeven.trace/1", "files": […], "trace": {…}}`; what is not known is `null`, and a note says why.
/// With `carried`, what the same takes on other GPUs.
pub fn json(summary: &Summary, carried: Option<&Carried>) -> String {
    let gpus: Vec<Value> = summary
        .gpus
        .iter()
        .map(|gpu| {
            value!({
                "file": gpu.file, "rank": gpu.rank, "number": gpu.number, "name": gpu.name,
                "kernels": gpu.kernels, "kernel_s": gpu.kernel_s, "busy_s": gpu.busy_s, "span_s": gpu.span_s,
                "copies": gpu.copies, "copy_s": gpu.copy_s, "memsets": gpu.memsets,
            })
        })
        .collect();
    let copies: Vec<Value> = summary
        .copies
        .iter()
        .map(|copy| {
            value!({
                "direction": copy.direction.name(), "count": copy.times.count, "time_s": copy.times.seconds,
                "bytes": copy.bytes,
            })
        })
        .collect();
    let causes = summary.causes.map(|causes| {
        value!({
            "copy_s": causes.copy_s, "communication_s": causes.communication_s, "launch_s": causes.launch_s,
            "sync_s": causes.sync_s, "loading_s": causes.loading_s, "host_s": causes.host_s,
        })
    });
    let steps = summary.steps.as_ref().map_or_else(
        || value!({"count": null, "mean_s": null, "median_s": null, "least_s": null, "most_s": null}),
        |steps| {
            let slow = |step: &StepTotal| {
                value!({
                    "number": step.number, "time_s": step.time_s, "busy_s": step.busy_s, "kernel_s": step.kernel_s,
                    "kernels": step.kernels, "loading_s": step.loading_s,
                })
            };
            value!({
                "count": steps.count, "mean_s": steps.mean_s, "median_s": steps.median_s, "least_s": steps.least_s,
                "most_s": steps.most_s, "mean_busy_s": steps.mean_busy_s, "mean_kernel_s": steps.mean_kernel_s,
                "mean_kernels": steps.mean_kernels,
                "slow": steps.slow.iter().map(slow).collect::<Vec<_>>(),
            })
        },
    );
    let streams = |stream: &StreamTotal| {
        value!({
            "gpu": stream.gpu, "stream": stream.stream, "count": stream.count, "busy_s": stream.busy_s,
        })
    };
    let small = summary.small.as_ref().map(|small| {
        value!({
            "count": small.times.count, "time_s": small.times.seconds, "idle_before_s": small.idle_before_s,
            "name": small.name,
        })
    });
    let reasons = reasons(summary).into_iter().map(|reason| value!({"code": reason.code, "time_s": reason.seconds}));
    let advice = advice(summary).into_iter().map(|advice| value!({"code": advice.code, "up_to_s": advice.up_to_s}));
    let notes: Vec<Value> =
        summary.not_read.iter().map(|note| value!({"code": note.code, "text": note.text})).collect();
    let mut all = value!({
        "schema": "breakeven.trace/1",
        "files": summary.files,
        "trace": {
            "kind": summary.kind.name(),
            "gpus": gpus,
            "kernels": summary.kernels, "kernel_s": summary.kernel_s,
            "busy_s": summary.busy_s, "idle_s": summary.idle_s, "span_s": summary.span_s,
            "longest_gap_s": summary.longest_gap_s,
            "causes": causes,
            "reasons": reasons.collect::<Vec<_>>(),
            "advice": advice.collect::<Vec<_>>(),
            "steps": steps,
            "streams": summary.streams.iter().map(streams).collect::<Vec<_>>(),
            "small_kernels": small,
            "modules": summary.modules.iter().map(host).collect::<Vec<_>>(),
            "lines": summary.lines.iter().map(host).collect::<Vec<_>>(),
            "classes": summary.classes.iter().map(kernel).collect::<Vec<_>>(),
            "top": summary.top.iter().map(kernel).collect::<Vec<_>>(),
            "copies": copies,
            "launches": summary.launches.map(times),
            "graph_launches": summary.graph_launches.map(times),
            "waits": summary.waits.map(times),
            "ops": summary.ops.iter().map(host).collect::<Vec<_>>(),
            "host": summary.host.iter().map(host).collect::<Vec<_>>(),
            "not_read": notes,
        },
    });
    if let Some(carried) = carried {
        all["carried"] = super::carried::json(carried);
    }
    format!("{all:#}\n")
}

fn times(times: Times) -> Value {
    value!({"count": times.count, "time_s": times.seconds})
}

fn kernel(kernel: &KernelTotal) -> Value {
    value!({
        "class": kernel.class.name(), "name": kernel.name, "count": kernel.times.count, "time_s": kernel.times.seconds,
    })
}

fn host(host: &HostTotal) -> Value {
    value!({"name": host.name, "count": host.times.count, "time_s": host.times.seconds})
}
