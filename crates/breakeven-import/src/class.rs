//! What a kernel does, by its name.

/// What a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// NCCL, RCCL and their kin.
    Communication,
    /// Attention in one kernel.
    Attention,
    /// Convolutions.
    Convolution,
    /// Products of matrices.
    Gemm,
    /// Normalisation.
    Norm,
    /// Softmax and the losses built on it.
    Softmax,
    /// What optimizers do to many tensors at once.
    Optimizer,
    /// Fused by a compiler: Triton, Inductor, XLA.
    Fused,
    /// Sums and their kin.
    Reduction,
    /// Sorting and selecting.
    Sort,
    /// Gather, scatter, embedding.
    Indexing,
    /// Pooling and resizing.
    Pooling,
    /// Random numbers.
    Random,
    /// Copies and transpositions that are kernels.
    Copy,
    /// A value for each element.
    Elementwise,
    /// None of these.
    Other,
}

/// Parts of names in lower case, the more telling first.
const PARTS: [(Class, &[&str]); 15] = [
    (Class::Communication, &["nccl", "rccl", "allreduce", "all_reduce", "allgather", "reduce_scatter", "oneshot_all"]),
    (Class::Fused, &["triton_", "_fusion"]),
    (Class::Attention, &["flash", "fmha", "attention", "attn", "mha_"]),
    (
        Class::Convolution,
        &[
            "conv",
            "wgrad",
            "dgrad",
            "fprop",
            "winograd",
            "cudnn::cnn",
            "miopen",
            "igemm_",
            "im2col",
            "col2im",
            "scudnn",
        ],
    ),
    (
        Class::Gemm,
        &[
            "gemm",
            "cijk_",
            "gemv",
            "matmul",
            "cutlass",
            "nvjet",
            "xmma",
            "splitk",
            "cublas",
            "rocblas",
            "dot_kernel",
            "bmm_",
        ],
    ),
    (Class::Norm, &["_norm", "layernorm", "batchnorm", "groupnorm", "rmsnorm", "bn_fw", "bn_bw", "cudnn::bn"]),
    (Class::Softmax, &["softmax", "nll_loss", "cross_entropy", "crossentropy"]),
    (Class::Optimizer, &["multi_tensor_apply", "adam", "sgd_"]),
    (Class::Sort, &["sort", "topk", "gathertopk", "radix"]),
    (Class::Indexing, &["index", "gather", "scatter", "embedding", "permute"]),
    (Class::Pooling, &["pool", "upsample", "interpolat"]),
    (Class::Reduction, &["reduce", "reduction", "cumsum", "scan", "welford"]),
    (Class::Random, &["distribution", "random", "dropout", "philox", "curand"]),
    (Class::Copy, &["copy", "transpose", "nchwtonhwc", "nhwctonchw", "catarray", "memcpy"]),
    (Class::Elementwise, &["elementwise", "fill", "functor", "pointwise", "convert"]),
];

impl Class {
    /// The class of a kernel by its name, as the file writes it.
    ///
    /// ```
    /// use breakeven_import::Class;
    /// assert_eq!(Class::of(b"Cijk_Ailk_Bljk_SB_MT128x64x8"), Class::Gemm);
    /// assert_eq!(Class::of(b"ncclDevKernel_AllReduce_Sum_f32_RING_LL"), Class::Communication);
    /// ```
    pub fn of(name: &[u8]) -> Self {
        let lower = name.to_ascii_lowercase();
        let has = |part: &&str| {
            // To convert is no convolution.
            let mut found = memchr::memmem::find_iter(&lower, part.as_bytes());
            found.any(|at| *part == "convert" || !lower[at..].starts_with(b"convert"))
        };
        PARTS.iter().find(|(_, parts)| parts.iter().any(has)).map_or(Self::Other, |(class, _)| *class)
    }

    /// Its stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Communication => "communication",
            Self::Attention => "attention",
            Self::Convolution => "convolution",
            Self::Gemm => "gemm",
            Self::Norm => "norm",
            Self::Softmax => "softmax",
            Self::Optimizer => "optimizer",
            Self::Fused => "fused",
            Self::Reduction => "reduction",
            Self::Sort => "sort",
            Self::Indexing => "indexing",
            Self::Pooling => "pooling",
            Self::Random => "random",
            Self::Copy => "copy",
            Self::Elementwise => "element-wise",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Class;

    #[test]
    fn names_of_every_library() {
        for (name, class) in [
            ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)", Class::Convolution),
            ("ampere_sgemm_128x64_tn", Class::Gemm),
            ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT", Class::Gemm),
            ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>", Class::Norm),
            ("fmha_cutlassF_f16_aligned_64x64_rf_sm80", Class::Attention),
            ("triton_red_fused_add_mean_mul_pow_rsqrt_0", Class::Fused),
            ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", Class::Elementwise),
            ("wrapped_convert.kd", Class::Elementwise),
            ("addition_kernel", Class::Other),
        ] {
            assert_eq!(Class::of(name.as_bytes()), class, "{name}");
        }
    }
}
