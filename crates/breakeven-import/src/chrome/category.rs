//! What an event is, by its category: the words of every version of PyTorch's profiler.

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Kernel,
    Copy,
    Memset,
    /// A call of the host into the GPU's library.
    Call,
    HostOp,
    Annotation,
    /// Known, and nothing that is added up.
    Aside,
    /// Counters of kernels in the place of kernels.
    Counters,
    /// No word of PyTorch's.
    Other,
}

/// Words of the profiler. The first versions wrote them with capitals.
const WORDS: [(&[u8], Category); 31] = [
    (b"kernel", Category::Kernel),
    (b"concurrent_kernel", Category::Kernel),
    (b"cpu_op", Category::HostOp),
    (b"operator", Category::HostOp),
    (b"python_function", Category::Aside),
    (b"cuda_runtime", Category::Call),
    (b"cuda_driver", Category::Call),
    (b"ac2g", Category::Aside),
    (b"gpu_memcpy", Category::Copy),
    (b"memcpy", Category::Copy),
    (b"gpu_memset", Category::Memset),
    (b"memset", Category::Memset),
    (b"user_annotation", Category::Annotation),
    (b"gpu_user_annotation", Category::Aside),
    (b"runtime", Category::Call),
    (b"hip_runtime", Category::Call),
    (b"hip_driver", Category::Call),
    (b"xpu_runtime", Category::Call),
    (b"xpu_driver", Category::Call),
    (b"privateuse1_runtime", Category::Call),
    (b"privateuse1_driver", Category::Call),
    (b"mtia_runtime", Category::Call),
    (b"glow_runtime", Category::Call),
    (b"cuda_sync", Category::Aside),
    (b"cpu_instant_event", Category::Aside),
    (b"fwdbwd", Category::Aside),
    (b"async_gpu", Category::Aside),
    (b"async_cpu_to_gpu", Category::Aside),
    (b"overhead", Category::Aside),
    (b"trace", Category::Aside),
    (b"cuda_profiler_range", Category::Counters),
];

/// What an event of this category is.
pub(crate) fn category(word: &[u8]) -> Category {
    let known = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
    known.map_or(Category::Other, |(_, category)| *category)
}
