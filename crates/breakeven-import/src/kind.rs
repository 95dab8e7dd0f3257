//! What wrote a file.

/// What wrote a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The profiler of PyTorch: Kineto's JSON.
    Kineto,
    /// rocprof of ROCm, version 1 or 2, as JSON.
    RocprofJson,
    /// rocprof of ROCm, any version, as tables.
    RocprofCsv,
    /// rocprofv3 of ROCm, as JSON.
    Rocprof3Json,
    /// Nsight Systems, exported as SQLite.
    Nsys,
    /// The profiler of JAX and TensorFlow: XPlane, as protobuf.
    Xplane,
    /// The same, as events in Chrome's format.
    XplaneJson,
    /// ONNX Runtime's profile of a session.
    OnnxRuntime,
    /// Events in Chrome's format of anything else.
    #[default]
    Chrome,
}

impl Kind {
    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kineto => "kineto",
            Self::RocprofJson => "rocprof-json",
            Self::RocprofCsv => "rocprof-csv",
            Self::Rocprof3Json => "rocprof3-json",
            Self::Nsys => "nsys-sqlite",
            Self::Xplane => "xplane",
            Self::XplaneJson => "xplane-json",
            Self::OnnxRuntime => "onnxruntime",
            Self::Chrome => "chrome",
        }
    }

    /// Whether memory set is told from kernels.
    pub(crate) const fn tells_memsets(self) -> bool {
        matches!(self, Self::Kineto | Self::Nsys | Self::Xplane)
    }
}
