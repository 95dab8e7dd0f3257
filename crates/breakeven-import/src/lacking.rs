//! What a file does not hold, in the words that all readers have for it.

use crate::model::Trace;
use breakeven::report::words::several;

impl Trace {
    /// GPUs without a name.
    pub(crate) fn note_nameless_gpus(&mut self) {
        if self.gpus.values().any(|gpu| gpu.name.is_none()) {
            self.note("no-gpu-name", "the file does not say which GPU it was");
        }
    }

    /// Events with a duration below 0.
    pub(crate) fn note_negative(&mut self, events: u64) {
        if events > 0 {
            let events = several(events, "event has", "events have");
            self.note("negative-duration", format!("{events} a negative duration; counted, without a time"));
        }
    }

    /// Copies of an unknown size.
    pub(crate) fn note_unsized_copies(&mut self) {
        let copies = self.copies.iter().filter(|copy| copy.bytes.is_none()).count() as u64;
        if copies > 0 {
            let copies = several(copies, "copy does", "copies do");
            self.note("no-bytes", format!("{copies} not say how much: rates leave such directions out"));
        }
    }

    /// Kernels whose launch is not in a file that has calls.
    pub(crate) fn note_without_launch(&mut self, kernels: u64) {
        if self.has_calls && kernels > 0 {
            let kernels = several(kernels, "kernel has", "kernels have");
            self.note("no-launch", format!("{kernels} no launch in the file"));
        }
    }

    /// Frames of Python's, which are no operations.
    pub(crate) fn note_frames(&mut self, frames: u64) {
        if frames > 0 {
            let frames = several(frames, "Python frame is", "Python frames are");
            self.note("python", format!("{frames} not added up"));
        }
    }
}
