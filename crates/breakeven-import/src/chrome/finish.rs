//! The end of a file: what its parts are tied by, and what is told in notes.

use super::build::Build;
use crate::kind::Kind;
use crate::model::Trace;
use breakeven::report::words::several;

impl Build {
    /// The finished file, and whether it holds an event at all.
    pub(super) fn finish(mut self) -> (Trace, bool) {
        self.trace.kind = match () {
            () if self.kineto => Kind::Kineto,
            () if self.processes.rocprof => Kind::RocprofJson,
            () if self.processes.xla => Kind::XplaneJson,
            () if self.onnxruntime => Kind::OnnxRuntime,
            () => Kind::Chrome,
        };
        self.ties.tie(&mut self.trace);
        self.shapes.settle(&mut self.trace);
        self.describe();
        self.notes();
        let has_events = self.trace.events > 0;
        (self.trace, has_events)
    }

    /// Names of the GPUs that did something.
    fn describe(&mut self) {
        let described = &self.described;
        let first = described.first().map(|(_, name)| name);
        // ROCm numbers the devices of its events from another start than those that it describes.
        let all_alike = first.filter(|first| described.iter().all(|(_, name)| name == *first));
        self.trace
            .describe(|gpu| described.iter().find(|(id, _)| *id == gpu).map(|(_, name)| name).or(all_alike).cloned());
    }

    fn notes(&mut self) {
        let trace = &mut self.trace;
        let count = &self.count;
        if count.counters > 0 {
            let kernels = several(count.counters, "kernel is", "kernels are");
            trace.note("counters", format!("{kernels} there by hardware counters alone, without their times"));
        }
        if !trace.has_gpu() {
            let why = match trace.kind {
                Kind::Chrome => "this is no GPU trace: it has no kernels and no copies, only host time by name",
                Kind::OnnxRuntime => {
                    "this is no GPU trace: ONNX Runtime's profile has the host time of operators alone"
                }
                Kind::XplaneJson => "no device plane has a kernel: JAX or TensorFlow ran on the CPU",
                _ => "no kernel is in the file: the profiler did not record the GPU, or nothing ran on one",
            };
            trace.note("no-gpu-events", why);
        }
        trace.note_nameless_gpus();
        trace.note_negative(count.negative);
        if count.untimed > 0 {
            let events = several(count.untimed, "event has", "events have");
            trace.note("no-time", format!("{events} no time that can be; counted, without a time"));
        }
        trace.note_unsized_copies();
        if trace.has_calls {
            trace.note_without_launch(self.ties.without_launch());
        }
        trace.note_frames(count.frames);
        if count.blocks > 0 {
            let blocks = several(count.blocks, "block", "blocks");
            let machine = if count.host_name { ", the recording machine's name among them," } else { "" };
            let text =
                format!("{blocks} of metadata{machine} not copied: such blocks may hold an environment or credentials");
            trace.note("metadata", text);
        }
    }
}
