//! What is said of a job, or why nothing is.

/// What is said of a row: of jobs that are judged the rule that held, of the others the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their words say it")]
pub enum Outcome {
    Unused,
    IdleGpus,
    CpuBound,
    SmallWork,
    LowUse,
    OneGpusWorth,
    WellUsed,
    PaysOnGpu,
    StaysOnCpu,
    Pending,
    Running,
    NeverRan,
    ElapsedUnknown,
    GpusUnknown,
    NoUse,
    PartialUse,
    TooShort,
    NoRecording,
    RecordingsDisagree,
    RecordingUnsure,
    Step,
    Duplicate,
    Superseded,
    BadRow,
}

use Outcome::{
    BadRow, CpuBound, Duplicate, ElapsedUnknown, GpusUnknown, IdleGpus, LowUse, NeverRan, NoRecording, NoUse,
    OneGpusWorth, PartialUse, PaysOnGpu, Pending, RecordingUnsure, RecordingsDisagree, Running, SmallWork, StaysOnCpu,
    Step, Superseded, TooShort, Unused, WellUsed,
};

/// Outcomes there are.
pub const OUTCOMES: usize = 24;

impl Outcome {
    /// Every one: what is judged, jobs that are not, rows that are no job of their own.
    pub const ALL: [Self; OUTCOMES] = [
        Unused,
        IdleGpus,
        CpuBound,
        SmallWork,
        LowUse,
        OneGpusWorth,
        WellUsed,
        PaysOnGpu,
        StaysOnCpu,
        Pending,
        Running,
        NeverRan,
        ElapsedUnknown,
        GpusUnknown,
        NoUse,
        PartialUse,
        TooShort,
        NoRecording,
        RecordingsDisagree,
        RecordingUnsure,
        Step,
        Duplicate,
        Superseded,
        BadRow,
    ];

    /// Whether a job was judged.
    pub const fn is_judged(self) -> bool {
        self as usize <= StaysOnCpu as usize
    }

    /// Whether the row counts as a job.
    pub const fn is_job(self) -> bool {
        (self as usize) < Step as usize
    }

    /// Whether its GPUs, or a part of them, are wasted.
    pub const fn is_waste(self) -> bool {
        self as usize <= OneGpusWorth as usize
    }

    /// For programs.
    pub const fn key(self) -> &'static str {
        match self {
            Unused => "unused-gpus",
            IdleGpus => "idle-gpus",
            CpuBound => "cpu-bound",
            SmallWork => "small-work",
            LowUse => "low-utilisation",
            OneGpusWorth => "one-gpus-worth",
            WellUsed => "well-used",
            PaysOnGpu => "pays-on-gpu",
            StaysOnCpu => "stays-on-cpu",
            Pending => "pending",
            Running => "running",
            NeverRan => "never-ran",
            ElapsedUnknown => "elapsed-unknown",
            GpusUnknown => "gpus-unknown",
            NoUse => "no-utilisation",
            PartialUse => "partial-utilisation",
            TooShort => "too-short",
            NoRecording => "no-recording",
            RecordingsDisagree => "recordings-disagree",
            RecordingUnsure => "recording-unsure",
            Step => "step",
            Duplicate => "duplicate",
            Superseded => "superseded",
            BadRow => "bad-row",
        }
    }

    /// For people, after a number of jobs or rows.
    pub const fn words(self) -> &'static str {
        match self {
            Unused => "never used a GPU",
            IdleGpus => "left some of their GPUs idle",
            CpuBound => "kept their GPUs waiting for CPUs",
            SmallWork => "would fit a smaller GPU or a slice",
            LowUse => "used their GPUs little",
            OneGpusWorth => "used several GPUs for at most the work of one",
            WellUsed => "used their GPUs",
            PaysOnGpu => "run on CPUs and would pay on a GPU",
            StaysOnCpu => "are right on CPUs",
            Pending => "had not started",
            Running => "were still running",
            NeverRan => "never ran",
            ElapsedUnknown => "ran for an unknown time",
            GpusUnknown => "had an unknown number of GPUs",
            NoUse => "had GPUs, and their use is not in the log",
            PartialUse => "had GPUs, and their use is known in part",
            TooShort => "ran for less than ten minutes",
            NoRecording => "ran on CPUs, and no recording is of their script",
            RecordingsDisagree => "ran on CPUs, and recordings of their script disagree",
            RecordingUnsure => "ran on CPUs, and the recording of their script is too close to call",
            Step => "are steps, joined with their jobs",
            Duplicate => "are rows that came before",
            Superseded => "are of running jobs whose end is in the log too",
            BadRow => "could not be read",
        }
    }
}

/// What to do about a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Advice {
    /// Nothing.
    #[default]
    Nothing,
    /// Ask for no GPU.
    NoGpu,
    /// Ask for so many GPUs.
    Gpus(u16),
    /// Ask for a slice of so many parts.
    Slice(u8),
    /// Ask for this GPU instead, by its number.
    Smaller(u16),
    /// Share the GPU with other jobs.
    Share,
    /// Give the job more CPUs, or load its data faster.
    MoreCpu,
    /// Try it on a GPU, as this recording says.
    TryGpu(u16),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_in_order_and_have_keys_of_their_own() {
        assert!(Outcome::ALL.iter().enumerate().all(|(at, outcome)| *outcome as usize == at));
        let keys: std::collections::BTreeSet<&str> = Outcome::ALL.iter().map(|outcome| outcome.key()).collect();
        assert_eq!(keys.len(), OUTCOMES);
        assert!(!WellUsed.is_waste() && StaysOnCpu.is_judged() && !Pending.is_judged() && Pending.is_job());
    }
}
