//! The parts of a summary.

use crate::class::Class;
use crate::model::Direction;

/// How often, and how long together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// How long together, s.
    pub seconds: f64,
}

/// One GPU in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuTotal {
    /// The file.
    pub file: String,
    /// The rank of the process, where the file says.
    pub rank: Option<i64>,
    /// Its number.
    pub number: i64,
    /// Its name, where the file says.
    pub name: Option<String>,
    /// Kernels that ran on it; `None` where the file holds none of any GPU.
    pub kernels: Option<u64>,
    /// The sum of their durations, s; `None` where none has one.
    pub kernel_s: Option<f64>,
    /// The union of kernels, copies and memsets, s.
    pub busy_s: Option<f64>,
    /// From the first to the last of them, s.
    pub span_s: Option<f64>,
    /// Copies; `None` where the file holds none of any GPU.
    pub copies: Option<u64>,
    /// The sum of their durations, s.
    pub copy_s: Option<f64>,
    /// Memory set; `None` where the file tells it from nothing else.
    pub memsets: Option<u64>,
}

/// Where the time went in which no kernel computed, s, of all GPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Causes {
    /// Copies ran and no kernel; `None` where the files do not hold both.
    pub copy_s: Option<f64>,
    /// Communication ran and no other kernel.
    pub communication_s: f64,
    /// Nothing ran while the host was launching; `None` where the file has no calls of the host.
    pub launch_s: Option<f64>,
    /// Nothing ran while the host waited for the GPU.
    pub sync_s: Option<f64>,
    /// Nothing ran while the host fetched the next batch.
    pub loading_s: Option<f64>,
    /// Nothing ran while the host did anything else.
    pub host_s: Option<f64>,
}

/// Kernels of one kind, or of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelTotal {
    /// What they do.
    pub class: Class,
    /// How many they are, and how long together.
    pub times: Times,
    /// The name that has most of the time.
    pub name: String,
}

/// Copies of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyTotal {
    /// Which way.
    pub direction: Direction,
    /// How many, and how long together.
    pub times: Times,
    /// How much; `None` where one of them does not say.
    pub bytes: Option<u64>,
}

/// A stream of a GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamTotal {
    /// The number of its GPU.
    pub gpu: i64,
    /// Its own number, where the file says.
    pub stream: Option<i64>,
    /// Kernels, copies and memsets on it.
    pub count: u64,
    /// The union of them, s.
    pub busy_s: f64,
}

/// Short kernels that come again and again, each launched by itself: what a CUDA graph would launch as one.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallKernels {
    /// How many, and how long together.
    pub times: Times,
    /// How long nothing ran directly before them, s: the most that one launch for all of them could save.
    pub idle_before_s: f64,
    /// The name that comes most often.
    pub name: String,
}

/// Host work of one name, without what it calls.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTotal {
    /// Its name.
    pub name: String,
    /// How often, and how long together without what it calls.
    pub times: Times,
}

/// Steps of the loop that the program marked.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// How many are whole.
    pub count: u64,
    /// Their mean, s.
    pub mean_s: f64,
    /// The one in the middle, s.
    pub median_s: f64,
    /// The shortest, s.
    pub least_s: f64,
    /// The longest, s.
    pub most_s: f64,
    /// How long a GPU was busy in the mean, s; `None` where none was.
    pub mean_busy_s: Option<f64>,
    /// How long the kernels that began in a step took, of each GPU, in the mean, s.
    pub mean_kernel_s: Option<f64>,
    /// How many they were.
    pub mean_kernels: Option<f64>,
    /// Those much longer than the one in the middle, the longest first.
    pub slow: Vec<StepTotal>,
}

/// One step, and what its time went into beyond that of a usual one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTotal {
    /// Its number.
    pub number: i64,
    /// How long it took, s.
    pub time_s: f64,
    /// How long the GPUs that it used were busy, in the mean, s.
    pub busy_s: Option<f64>,
    /// The time of the kernels that began in it, of each GPU, s.
    pub kernel_s: Option<f64>,
    /// How many they were.
    pub kernels: Option<f64>,
    /// How long the host fetched data, s.
    pub loading_s: f64,
}
