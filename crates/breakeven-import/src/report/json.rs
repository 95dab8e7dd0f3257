//! The summary with every digit, for programs: `breakeven.trace/1`.

use crate::summary::{HostTotal, KernelTotal, Summary, Times};
use serde_json::{Value, json as value};

/// `{"schema": "breakeven.trace/1", "files": […], "trace": {…}}`; what is not known is `null`, and a note says why.
pub fn json(summary: &Summary) -> String {
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
        || value!({"count": null, "mean_s": null, "least_s": null, "most_s": null}),
        |steps| {
            value!({
                "count": steps.count, "mean_s": steps.mean_s, "least_s": steps.least_s, "most_s": steps.most_s,
            })
        },
    );
    let notes: Vec<Value> =
        summary.not_read.iter().map(|note| value!({"code": note.code, "text": note.text})).collect();
    let all = value!({
        "schema": "breakeven.trace/1",
        "files": summary.files,
        "trace": {
            "kind": summary.kind.name(),
            "gpus": gpus,
            "kernels": summary.kernels, "kernel_s": summary.kernel_s,
            "busy_s": summary.busy_s, "idle_s": summary.idle_s, "span_s": summary.span_s,
            "longest_gap_s": summary.longest_gap_s,
            "causes": causes,
            "steps": steps,
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
